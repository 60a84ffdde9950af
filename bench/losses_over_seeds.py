#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains an example under several policies of replicas, with equal samples, and prints the losses over seeds.

    losses_over_seeds.py [--seeds 5] [--replicas 8] [--regimes LIST] [--value REGEX] PROGRAM ARGUMENT...

For example, with the text that the transformer shall learn:

    bench/losses_over_seeds.py build/quickstart/examples/transformer --text FILE --steps 600 --sample-bytes 0

`plain` stands for the training without replicas. The value is the last match of REGEX in a program's output. The table
has the mean over the seeds, ± half of the range, and the difference from the first policy.
"""

import argparse
import re
import statistics
import subprocess
import sys

REGIMES = "plain,synchronous,stochastic_gradient_push,overlapped_gradient_push,decentralized_sgd"


def value_of(command, pattern):
    """The last value that the program prints. Its exit code may say that the training was short."""
    output = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    found = re.findall(pattern, output)
    if not found:
        sys.exit(f"{' '.join(command)} prints nothing like '{pattern}':\n{output[-2000:]}")
    return float(found[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--replicas", type=int, default=8)
    parser.add_argument("--regimes", default=REGIMES)
    parser.add_argument("--value", default=r"held[- ]out(?: loss)? +([\d.]+)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    regimes = given.regimes.split(",")
    values = {regime: [] for regime in regimes}
    for seed in range(1, given.seeds + 1):
        for regime in regimes:  # in turn, so that an interrupted run has compared all of them
            how = [] if regime == "plain" else ["--regime", regime, "--replicas", str(given.replicas)]
            values[regime].append(value_of([*given.command, "--seed", str(seed), *how], given.value))
            print(f"seed {seed}, {regime}: {values[regime][-1]:.4f}", flush=True)
    print("\n| policy | value | difference |\n|---|---|---|")
    first = statistics.mean(values[regimes[0]])
    for regime, all_seeds in values.items():
        mean, half = statistics.mean(all_seeds), (max(all_seeds) - min(all_seeds)) / 2
        print(f"| {regime} | {mean:.4f} ±{half:.4f} | {(mean / first - 1) * 100:+.1f} % |")


if __name__ == "__main__":
    main()
