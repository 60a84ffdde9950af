# SPDX-License-Identifier: Apache-2.0
"""PyTorch beside bench/run/windows.cpp, in turn: pools and depthwise convolutions, f32, channels last, 8 images.

    python3 torch_windows.py [--ours PROGRAM] [--threads 1] [--rounds 5] [--steps 9]

A line for each operation and direction: milliseconds of ours and PyTorch's, medians of the rounds, and PyTorch's time
divided by ours, the median and the range.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F

WAYS = ("forward", "data", "weights")


def pool(kind, size, channels):
    x = torch.randn(8, channels, size, size).to(memory_format=torch.channels_last).requires_grad_()
    run = {"max": lambda: F.max_pool2d(x, 3, 2, 1), "mean": lambda: F.avg_pool2d(x, 3, 2, 1),
           "sum": lambda: F.avg_pool2d(x, 3, 2, 1, divisor_override=1)}[kind]
    return run, (x,)


def depthwise(size, channels):
    x = torch.randn(8, channels, size, size).to(memory_format=torch.channels_last).requires_grad_()
    k = torch.randn(channels, 1, 3, 3).to(memory_format=torch.channels_last).requires_grad_()
    return (lambda: F.conv2d(x, k, padding=1, groups=channels)), (x, k)


def peer(case, steps):
    """Milliseconds forward, and of the gradient of each input alone, in turn as in ours: medians of the steps."""
    run, inputs = case
    dy = torch.randn_like(run())
    took = []
    for _ in range(steps):
        times = [time.perf_counter()]
        y = run()
        times.append(time.perf_counter())
        for one in inputs:
            torch.autograd.grad(y, one, dy, retain_graph=True)
            times.append(time.perf_counter())
        took.append([1e3 * (b - a) for a, b in zip(times, times[1:])])
    return [statistics.median(column) for column in zip(*took)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default="build/quickstart/bench/run/windows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=9)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    cases = {"max 112": pool("max", 112, 64), "sum 112": pool("sum", 112, 64), "mean 112": pool("mean", 112, 64),
             "depthwise 112": depthwise(112, 64), "depthwise 14": depthwise(14, 512)}
    rows = {}
    environment = dict(os.environ, MESHTENSOR_THREADS=str(given.threads))
    for case in cases.values():
        peer(case, 3)
    for _ in range(given.rounds):
        for name, case in cases.items():
            command = [given.ours, name, str(given.steps)]
            ours = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)["ms"]
            for way, a, b in zip(WAYS, ours, peer(case, given.steps)):
                rows.setdefault((name, way), []).append((a, b))
    print(f"{given.threads} thread(s), PyTorch {torch.__version__}; ms: ours, PyTorch, ratio (range)")
    for (name, way), pairs in rows.items():
        ours, theirs = (statistics.median(column) for column in zip(*pairs))
        ratios = sorted(b / a for a, b in pairs)
        print(f"{name:14} {way:8} {ours:8.2f} {theirs:8.2f}   {statistics.median(ratios):5.2f} "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f})")


main()
