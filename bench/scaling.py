# SPDX-License-Identifier: Apache-2.0
"""Runs lm_step on growing meshes and prints how the time of a step grows. See bench/scaling.sh."""

import argparse
import json
import os
import statistics
import subprocess

BATCH = 16


def step(program, launcher, arguments, threads):
    environment = dict(os.environ, MESHTENSOR_THREADS=str(threads))
    done = subprocess.run([*launcher, program, *map(str, arguments)], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE)
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def beside_threads(given, rest):
    """Two ranks with a thread each beside one rank with two threads, in turn."""
    ways = {"data=2": ["--data", 2], "model=2": ["--model", 2]}
    ratios = {way: [] for way in ways}
    for _ in range(given.rounds):
        one = step(given.program, [], ["--steps", given.steps, *rest], 2)["step_ms"]
        for way, arguments in ways.items():
            two = step(given.program, ["mpirun", "-n", "2"], [*arguments, "--steps", given.steps, *rest], 1)["step_ms"]
            ratios[way].append(one / two)
    for way, values in ratios.items():
        print(f"two ranks, {way}: {statistics.median(values):.3f} of the speed of two threads "
              f"({min(values):.3f} to {max(values):.3f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", default="1 2", help="real ranks, with a thread each")
    parser.add_argument("--simulated", default="8 64 512")
    parser.add_argument("--gbit", type=float, default=25)
    parser.add_argument("--latency", type=float, default=10, help="microseconds")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=0,
                        help="instead: so often two ranks with a thread each beside one with two threads")
    given, rest = parser.parse_known_args()
    if given.rounds:
        return beside_threads(given, rest)

    print(f"{'processors':>16} {'batch':>7} {'step, ms':>10} {'efficiency':>11} {'exposed, ms':>12} {'network, ms':>12} "
          f"{'received, MB':>13}")
    alone = {}

    def row(processors, batch, label, launcher, extra):
        it = step(given.program, launcher, ["--data", processors, "--batch", batch, "--steps", given.steps, *extra, *rest],
                  1)
        per_window = it["step_ms"] / batch * processors
        base = alone.setdefault("", per_window)
        print(f"{label:>16} {batch:>7} {it['step_ms']:>10.1f} {base / per_window:>11.3f} {it['exposed_ms']:>12.2f} "
              f"{it['network_ms']:>12.2f} {it['received_mb']:>13.1f}", flush=True)

    for n in map(int, given.ranks.split()):
        launcher = ["mpirun", "-n", str(n)] if n > 1 else []
        row(n, BATCH * n, f"{n} ranks", launcher, [])
        if n > 1:
            row(n, BATCH, f"{n} ranks", launcher, [])
    model = ["--gbit", given.gbit, "--latency", given.latency]
    for n in map(int, given.simulated.split()):
        row(n, BATCH * n, f"{n} simulated", [], model)
        if n <= BATCH:
            row(n, BATCH, f"{n} simulated", [], model)


if __name__ == "__main__":
    main()
