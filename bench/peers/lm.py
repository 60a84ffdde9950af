# SPDX-License-Identifier: Apache-2.0
"""What the peers of the language model share: sizes, data, clocks, and one line of JSON."""

import argparse
import json
import resource
import sys
import time

STARTED = time.time()

SIZES = {
    "lm": dict(layers=6, d_model=512, heads=8, d_ff=2048, length=128, batch=16, vocab=256),
    "lm_base": dict(layers=12, d_model=768, heads=12, d_ff=3072, length=256, batch=4, vocab=256),
    "tiny": dict(layers=2, d_model=64, heads=4, d_ff=256, length=16, batch=1, vocab=256),
}


def options(description, modes, dtypes):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--size", choices=SIZES, default="lm")
    parser.add_argument("--mode", choices=modes, default=modes[0])
    parser.add_argument("--dtype", choices=dtypes, default="f32")
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    for name in SIZES["lm"]:
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=0)
    given = parser.parse_args()
    size = dict(SIZES[given.size])
    size.update({name: getattr(given, name) for name in size if getattr(given, name)})
    return given, size


def batches(size):
    """Bytes in which each follows from the one before, so that there is something to learn."""
    import numpy

    random = numpy.random.default_rng(1)
    while True:
        text = random.integers(0, 64, (size["batch"], size["length"]))
        yield text, text * 3 % 64


def flops(size):
    """Of a training step: those of its matrix products forward, three times; attention as if nothing were masked."""
    tokens, model = size["batch"] * size["length"], size["d_model"]
    layer = 2 * tokens * (4 * model * model + 2 * model * size["d_ff"]) + 4 * tokens * size["length"] * model
    return 3 * (size["layers"] * layer + 2 * tokens * model * size["vocab"])


def measure(peer, given, size, step):
    """`step()` trains once and returns the loss."""
    begin = time.time()
    first = float(step())
    start_up = time.time() - STARTED
    first_step = time.time() - begin
    for _ in range(2):
        step()
    took = []
    for _ in range(given.steps):
        begin = time.time()
        last = float(step())
        took.append(time.time() - begin)
    took.sort()
    median = took[len(took) // 2]
    print(json.dumps({
        "peer": peer, "device": given.device, "workload": given.size, "dtype": given.dtype, "step_ms": median * 1e3,
        "min_ms": took[0] * 1e3,
        "gflops": flops(size) / median * 1e-9, "first_step_s": first_step, "start_up_s": start_up,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "loss_first": first,
        "loss_last": last}))
    sys.stdout.flush()
