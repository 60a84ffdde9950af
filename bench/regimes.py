# SPDX-License-Identifier: Apache-2.0
"""Compares policies of replicas by the losses that they reach with equal samples.

    python3 bench/regimes.py build/quickstart/examples/digits IMAGES LABELS

It trains the example digits with each policy and each seed, and prints one table. All trainings of a seed see the same
images in the same order. A row has the mean of all seeds, and ± half of the range. The last column is the difference of
the held-out loss from that of synchronous replicas, which train with an all_reduce. With `--keep FILE`, the outcomes are
kept in a file, and a second call trains only what is not there.
"""

import argparse
import json
import pathlib
import re
import subprocess

POLICIES = {
    "synchronous": ["--regime", "synchronous"],
    "stochastic_gradient_push": ["--regime", "stochastic_gradient_push"],
    "overlapped_gradient_push": ["--regime", "overlapped_gradient_push"],
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
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--keep", type=pathlib.Path)
    given = parser.parse_args()

    kept = json.loads(given.keep.read_text()) if given.keep and given.keep.exists() else {}
    found = {name: [] for name in POLICIES}
    for seed in range(given.seeds):
        for name, options in POLICIES.items():
            arguments = [str(given.epochs), "--seed", str(seed), *options, "--replicas", str(given.replicas)]
            key = " ".join(arguments)
            if key not in kept:
                kept[key] = outcome([given.program, given.images, given.labels, *arguments])
                if given.keep:
                    given.keep.write_text(json.dumps(kept))
            found[name].append(kept[key])

    def mean(name, column):
        return sum(row[column] for row in found[name]) / given.seeds

    def text(name, column, digits):
        values = [row[column] for row in found[name]]
        return f"{mean(name, column):.{digits}f} ±{(max(values) - min(values)) / 2:.{digits}f}"

    print(f"{given.replicas} replicas, {given.epochs} epochs, {given.seeds} seeds")
    print("| policy | loss | held-out loss | accuracy, % | held-out loss, difference |")
    print("|---|---|---|---|---|")
    for name in POLICIES:
        change = 100 * (mean(name, 1) / mean("synchronous", 1) - 1)
        print(f"| {name} | {text(name, 0, 4)} | {text(name, 1, 4)} | {text(name, 2, 2)} | {change:+.1f} % |")


if __name__ == "__main__":
    main()
