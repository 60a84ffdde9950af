# SPDX-License-Identifier: Apache-2.0
"""Compares policies of replicas by the losses that they reach with equal samples.

    python3 bench/regimes.py build/quickstart/examples/digits IMAGES LABELS

It trains the example digits with each policy and each seed, and prints one table. All trainings of a seed see the same
images in the same order. A row has the mean of all seeds, and ± half of the range. The last column is the difference of
the held-out loss from that of synchronous replicas, which train with an all_reduce.
"""

import argparse
import re
import subprocess
import time

POLICIES = {
    "synchronous": ["--regime", "synchronous"],
    "stochastic_gradient_push": ["--regime", "stochastic_gradient_push"],
    "overlapped_gradient_push": ["--regime", "overlapped_gradient_push"],
    "stochastic_gradient_push, random_out_degrees": ["--regime", "stochastic_gradient_push", "--topology", "random_out_degrees"],
    "overlapped_gradient_push, random_out_degrees": ["--regime", "overlapped_gradient_push", "--topology", "random_out_degrees"],
    "the same without weights: decentralized_sgd": ["--regime", "decentralized_sgd", "--topology", "random_out_degrees"],
}
LAST = re.compile(r"epoch +\d+: loss ([\d.]+), held out ([\d.]+), ([\d.]+) %")


def outcome(command):
    """The loss, the held-out loss and the accuracy of the last epoch."""
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(number) for number in LAST.findall(text)[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("images")
    parser.add_argument("labels")
    parser.add_argument("--replicas", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()

    begin = time.monotonic()
    found = {name: [] for name in POLICIES}
    for seed in range(given.seeds):
        for name, options in POLICIES.items():
            command = [given.program, given.images, given.labels, str(given.epochs), "--seed", str(seed)]
            found[name].append(outcome(command + options + ["--replicas", str(given.replicas)]))

    def mean(name, column):
        return sum(row[column] for row in found[name]) / given.seeds

    def text(name, column, digits):
        values = [row[column] for row in found[name]]
        return f"{mean(name, column):.{digits}f} ±{(max(values) - min(values)) / 2:.{digits}f}"

    print(f"{given.replicas} replicas, {given.epochs} epochs, {given.seeds} seeds, {time.monotonic() - begin:.0f} s")
    print("| policy | loss | held-out loss | accuracy, % | held-out loss, difference |")
    print("|---|---|---|---|---|")
    for name in POLICIES:
        change = 100 * (mean(name, 1) / mean("synchronous", 1) - 1)
        print(f"| {name} | {text(name, 0, 4)} | {text(name, 1, 4)} | {text(name, 2, 2)} | {change:+.1f} % |")


if __name__ == "__main__":
    main()
