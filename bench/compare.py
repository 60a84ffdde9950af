#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ours and its peers in turn, and prints one table: medians over rounds, their spread, and ratios within a round.

compare.sh lm|lm_base|tiny|attention [--dtype f32|bf16|f64] [--peers torch,jax] [--rounds 5] [--check] [sizes]

Sizes of one's own: --d-model 640 --heads 10 --d-ff 2560 --length 200 --layers 3 --batch 8 --vocab 50000. With --check the exit code is
1 where a target is missed. PyTorch and JAX are installed into an environment of their own when they are asked for first.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
SIZES = ["layers", "d-model", "heads", "d-ff", "length", "batch", "vocab"]
PACKAGES = {"torch": ["torch", "numpy"], "jax": ["jax[cpu]", "numpy"]}
# What must be reached: of ours alone, and over the best mode of a peer.
TARGETS = {
    ("lm", "f32"): {"products": 0.90, "PyTorch": 1.10}, ("lm_base", "f32"): {"products": 0.90, "PyTorch": 1.10},
    ("lm", "bf16"): {"products": 0.80, "PyTorch": 1.20}, ("lm_base", "bf16"): {"products": 0.80, "PyTorch": 1.20},
    ("tiny", "f32"): {"PyTorch": 10}, ("attention", "f32"): {"PyTorch": 1.2},
}


def python_with(environment, peers):
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    for peer in peers:
        if subprocess.run([python, "-c", f"import {peer}"], capture_output=True).returncode != 0:
            print(f"installing {peer} into {environment}", file=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[peer]], check=True)
    return python


def last_line(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def commands(given, python):
    """Of one workload: how each contestant is started."""
    if given.workload == "attention":
        for length in given.lengths:
            yield f"attention {length}", [given.programs / "attention", "--length", length]
            if "torch" in given.peers:
                yield f"attention {length}", [python, HERE / "peers/torch_attention.py", "--length", length]
        return
    sizes = [part for name in SIZES if (value := getattr(given, name.replace("-", "_"))) for part in ("--" + name, value)]
    peer = ["--dtype", given.dtype, "--size", given.workload, *sizes]
    yield given.workload, [given.programs / "lm_step", *peer]
    if "torch" in given.peers:
        yield given.workload, [python, HERE / "peers/torch_lm.py", "--mode", "eager", *peer]
        if not given.no_compile:
            yield given.workload, [python, HERE / "peers/torch_lm.py", "--mode", "compile", *peer]
    if "jax" in given.peers:
        yield given.workload, [python, HERE / "peers/jax_lm.py", *peer]


def spread(values):
    middle = statistics.median(values)
    return f"{middle:.4g}" if len(values) == 1 else f"{middle:.4g} ±{(max(values) - min(values)) / 2 / middle:.0%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=["lm", "lm_base", "tiny", "attention"])
    parser.add_argument("--dtype", choices=["f32", "bf16", "f64"], default="f32")
    parser.add_argument("--peers", type=lambda text: [p for p in text.split(",") if p], default=["torch"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lengths", type=lambda text: [int(n) for n in text.split(",")], default=[512, 2048, 8192])
    parser.add_argument("--no-compile", action="store_true", help="PyTorch eager only")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--environment", type=pathlib.Path, required=True)
    for name in SIZES:
        parser.add_argument("--" + name, type=int, default=0)
    given = parser.parse_args()
    unknown = [p for p in given.peers if p not in PACKAGES]
    if unknown:
        parser.error(f"no peer is called {', '.join(unknown)}; there are {', '.join(PACKAGES)}")
    python = python_with(given.environment.resolve(), given.peers)

    results = {}  # by workload and peer, one entry a round
    for _ in range(given.rounds):
        for workload, command in commands(given, python):
            line = last_line(command)
            results.setdefault(workload, {}).setdefault(line["peer"], []).append(line)

    missed = []
    columns = ["", "step, ms", "GFLOP/s", "start to end of first step, s", "peak resident, MB", "ours is faster by"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for workload, peers in results.items():
        ours = peers["meshtensor"]
        target = TARGETS.get((given.workload, given.dtype), {})
        best = {}  # of a peer's modes
        for peer, lines in peers.items():
            ratios = [theirs["step_ms"] / mine["step_ms"] for theirs, mine in zip(lines, ours)]
            cells = [f"{workload}: {peer}", spread([l["step_ms"] for l in lines]), spread([l["gflops"] for l in lines]),
                     spread([l["start_up_s"] for l in lines]) if "start_up_s" in lines[0] else "",
                     spread([l["peak_rss_mb"] for l in lines]), "" if peer == "meshtensor" else spread(ratios)]
            print("| " + " | ".join(cells) + " |")
            kind = peer.split()[0]
            if kind in target:
                best[kind] = min(best.get(kind, float("inf")), statistics.median(ratios))
        if "alone_over_step" in ours[0]:
            share = [l["alone_over_step"] for l in ours]
            print(f"\n{workload}: its own products alone take {spread(share)} of a step\n")
            if statistics.median(share) < target.get("products", 0):
                missed.append(f"{workload}: products alone over a step is {spread(share)}, wanted {target['products']}")
        missed += [f"{workload}: {ratio:.3f} times as fast as {kind}, wanted {target[kind]}"
                   for kind, ratio in best.items() if ratio < target[kind]]
    for sentence in missed:
        print("missed: " + sentence)
    return 1 if given.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
