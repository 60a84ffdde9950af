# SPDX-License-Identifier: Apache-2.0
"""torchvision's ResNet beside bench/run/resnet_step.cpp, in turn: medians of rounds, and ratios within a round.

    python3 torch_resnet_in_turn.py [--evaluate] [--dtype f32|bf16] [--batch 8] [--rounds 3] [--ours PROGRAM]
    python3 torch_resnet_in_turn.py --alone …        PyTorch's line of one round

PyTorch runs channels first and last; the faster one counts. In evaluations its norms are folded into the convolutions.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

BEGIN = time.time()


def alone(given):
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # a thread that spins takes the time of another program's
    import torch
    import torchvision
    from torch.nn import functional

    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    model = torchvision.models.get_model(f"resnet{given.depth}")
    images = torch.randn(given.batch, 3, given.size, given.size)
    labels = torch.randint(0, 1000, (given.batch,))
    if given.format == "nhwc":
        model, images = (each.to(memory_format=torch.channels_last) for each in (model, images))
    if given.evaluate:  # norms folded into convolutions, as a user does who wants speed
        from torch.fx.experimental.optimization import fuse
        model = fuse(model.eval())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4) if not given.evaluate else None

    def loss_of():
        with torch.autocast("cpu", torch.bfloat16, enabled=given.dtype == "bf16"):
            return functional.cross_entropy(model(images).float(), labels)

    def step():
        if given.evaluate:
            with torch.no_grad():
                return loss_of().item()
        loss = loss_of()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    first = step()
    start_up = time.time() - BEGIN
    step()
    took = []
    for _ in range(given.steps):
        begin = time.perf_counter()
        step()
        took.append(time.perf_counter() - begin)
    print(json.dumps({"peer": f"PyTorch {torch.__version__.split('+')[0]} {given.format}", "step_ms": statistics.median(took) * 1e3,
                      "start_up_s": start_up, "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                      "loss_first": first}))


def line_of(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default="build/quickstart/bench/run/resnet_step")
    parser.add_argument("--depth", type=int, default=50)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--formats", type=lambda text: text.split(","), default=["nchw", "nhwc"])
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--format", choices=["nchw", "nhwc"], default="nchw")
    given = parser.parse_args()
    if given.alone:
        return alone(given)
    shared = ["--depth", given.depth, "--batch", given.batch, "--size", given.size, "--dtype", given.dtype, "--steps",
              given.steps, "--threads", given.threads, *(["--evaluate"] if given.evaluate else [])]
    rounds = []
    for _ in range(given.rounds):
        ours = line_of([given.ours, *shared])
        peers = [line_of([sys.executable, __file__, "--alone", "--format", f, *shared]) for f in given.formats]
        best = min(peers, key=lambda peer: peer["step_ms"])
        rounds.append((ours, best, best["step_ms"] / ours["step_ms"]))
        print(f"ours {ours['step_ms']:.0f} ms; " + "; ".join(f"{p['peer']} {p['step_ms']:.0f} ms" for p in peers) +
              f"; ours is faster by {rounds[-1][2]:.2f}", flush=True)
    middle = lambda key, which: statistics.median(r[which][key] for r in rounds)
    print(f"resnet{given.depth} {'evaluate' if given.evaluate else 'train'} {given.dtype} batch {given.batch}: ours "
          f"{middle('step_ms', 0):.0f} ms, PyTorch {middle('step_ms', 1):.0f} ms, ratio "
          f"{statistics.median(r[2] for r in rounds):.2f} ({min(r[2] for r in rounds):.2f} to {max(r[2] for r in rounds):.2f}); "
          f"peak {middle('peak_rss_mb', 0):.0f} of {middle('peak_rss_mb', 1):.0f} MB, {middle('peak_over_planned', 0):.3f} of the plan; "
          f"start to first loss less a step {middle('start_up_s', 0) - middle('step_ms', 0) / 1e3:.2f} s, PyTorch's "
          f"{middle('start_up_s', 1) - middle('step_ms', 1) / 1e3:.2f} s")
    return 0


sys.exit(main())
