# SPDX-License-Identifier: Apache-2.0
"""How long steps of PyTorch's DistributedDataParallel over gloo take, with the parameters of regime_steps in as many
layers, which sleep instead of computing: the peer of bench/run/regime_steps.cpp. Started once for each rank, by
bench/regimes_on_slow_links.sh, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""
import argparse, json, math, os, time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

LAYERS = 8


def sleep(seconds, due=[0.0]):
    """Sleeps; what it slept too long is taken from the next."""
    due[0] += seconds
    if due[0] < 1e-3:
        return
    begin = time.monotonic()
    time.sleep(due[0])
    due[0] -= time.monotonic() - begin


class Stage(torch.autograd.Function):
    """A layer that takes a third of its time forwards, and two thirds backwards, before its gradient is there."""

    @staticmethod
    def forward(ctx, x, weight, seconds):
        ctx.seconds = seconds
        ctx.gradient = torch.empty_like(weight)
        sleep(seconds / 3)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        sleep(2 * ctx.seconds / 3)
        return g, ctx.gradient, None


class Model(torch.nn.Module):
    def __init__(self, width, seconds):
        super().__init__()
        self.weights = torch.nn.ParameterList(torch.zeros(width, width) for _ in range(LAYERS))
        self.seconds = seconds

    def forward(self, x):
        for weight in self.weights:
            x = Stage.apply(x, weight, self.seconds / LAYERS)
        return x


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--mbit", type=float, default=100)
    p.add_argument("--compute", type=float, default=0.4)
    p.add_argument("--megabytes", type=float, default=4)
    p.add_argument("--steps", type=int, default=16)
    p.add_argument("--bucket-mb", type=float, nargs="*", default=[25, 0.4])
    a = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    width = round(math.sqrt(a.megabytes * 1e6 / 4 / LAYERS))
    for bucket in a.bucket_mb:
        model = DistributedDataParallel(Model(width, a.compute), bucket_cap_mb=bucket, gradient_as_bucket_view=True)
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.zeros(1, width, requires_grad=True)
        for step in range(8 + a.steps):
            if step == 8:
                begin = time.monotonic()
            sgd.zero_grad(set_to_none=True)
            model(x).mean().backward()
            sgd.step()
        took = (time.monotonic() - begin) / a.steps
        if dist.get_rank() == 0:
            print(json.dumps({"regime": f"PyTorch DDP, buckets of {bucket:g} MB", "mbit": a.mbit,
                              "measured_ms": round(1e3 * took, 1)}), flush=True)
    dist.destroy_process_group()


main()
