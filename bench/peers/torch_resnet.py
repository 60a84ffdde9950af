# SPDX-License-Identifier: Apache-2.0
"""PyTorch: the training step of bench/run/resnet_on_pjrt.cpp, on images that are on the host at its beginning."""

import argparse
import json
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
parser.add_argument("--mode", choices=["eager", "compile"], default="eager")
parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--steps", type=int, default=20)
given = parser.parse_args()

import torch
import torchvision

# f32 is not rounded to TF32 before convolutions either.
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.benchmark = True
torch.manual_seed(0)
model = torchvision.models.resnet50(weights=None).to(given.device, memory_format=torch.channels_last).train()
run = torch.compile(model) if given.mode == "compile" else model
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4)
images = torch.randn(given.batch, given.size, given.size, 3).permute(0, 3, 1, 2)  # channels last, as ours
labels = torch.randint(0, 1000, (given.batch,))


def step():
    x, y = images.to(given.device), labels.to(given.device)
    with torch.autocast(given.device, torch.bfloat16, enabled=given.dtype == "bf16"):
        loss = torch.nn.functional.cross_entropy(run(x).float(), y, label_smoothing=0.1)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


begin = time.time()
first = step()
first_step = time.time() - begin
for _ in range(2):
    step()
took = []
for _ in range(given.steps):
    begin = time.time()
    last = step()
    took.append(time.time() - begin)
took.sort()
median = took[len(took) // 2]
print(json.dumps({"peer": f"PyTorch {torch.__version__.split('+')[0]} {given.mode}", "device": given.device,
                  "workload": "resnet50", "dtype": given.dtype, "batch": given.batch, "step_ms": median * 1e3,
                  "min_ms": took[0] * 1e3, "images_per_s": given.batch / median, "first_step_s": first_step,
                  "loss_first": first, "loss_last": last}))
