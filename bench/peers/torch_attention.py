# SPDX-License-Identifier: Apache-2.0
"""PyTorch: the attention of bench/run/attention.cpp, `torch_attention.py --length N`."""

import argparse
import json
import resource
import time

import torch
from torch.nn import functional

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--length", type=int, default=2048)
parser.add_argument("--steps", type=int, default=7)
given = parser.parse_args()
batch = max(1, 8192 // given.length)
shape = (batch, 8, given.length, 64)
query, key, value = (torch.randn(shape, requires_grad=True) for _ in range(3))
gradient = torch.randn(shape)


def step():
    query.grad = key.grad = value.grad = None
    functional.scaled_dot_product_attention(query, key, value, is_causal=True).backward(gradient)


for _ in range(2):
    step()
took = []
for _ in range(given.steps):
    begin = time.time()
    step()
    took.append(time.time() - begin)
took.sort()
median = took[len(took) // 2]
flops = 0.5 * (2 * 2 + 2 * 5) * batch * 8 * given.length**2 * 64
print(json.dumps({
    "peer": f"PyTorch {torch.__version__.split('+')[0]}", "workload": f"attention {given.length}", "dtype": "f32",
    "step_ms": median * 1e3, "min_ms": took[0] * 1e3, "gflops": flops / median * 1e-9,
    "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
