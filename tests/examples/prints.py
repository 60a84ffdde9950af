#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if a program ends with 0 and prints what the comment `Prints:` of its source says.

prints.py SOURCE PROGRAM ARGUMENT...     a line `...` of the comment stands for any lines

Numbers may differ by a twentieth or by one of their last digit, because processors round sums differently.
"""

import re
import subprocess
import sys

NUMBER = re.compile(r"[-+]?\d+(?:\.(\d+))?(e[-+]\d+)?%?")


def said_in(source):
    """The lines of the comment, without blanks at their ends."""
    with open(source, encoding="utf-8") as file:
        comment = re.search(r"^// Prints:\n//\n((?://     .*\n)+)", file.read(), re.MULTILINE)
    return [line[7:].rstrip() for line in comment[1].splitlines()] if comment else None


def is_like(said, printed):
    """Whether two lines have the same words, and numbers that are nearly equal."""
    if NUMBER.sub("#", said).split() != NUMBER.sub("#", printed).split():
        return False
    for a, b in zip(NUMBER.finditer(said), NUMBER.finditer(printed)):
        x, y = float(a[0].rstrip("%")), float(b[0].rstrip("%"))
        last_digit = 10.0 ** -len(a[1] or "") if a[2] is None else 1e-5
        is_count = a[1] is None and a[2] is None
        if x != y and (is_count or abs(x - y) > max(0.05 * abs(x), 1.01 * last_digit)):
            return False
    return True


def first_difference(said, printed):
    """The first line of `said` that `printed` lacks in its place; nothing if there is none."""
    at, skips = 0, False
    for line in said:
        if line == "...":
            skips = True
            continue
        while skips and at < len(printed) and not is_like(line, printed[at]):
            at += 1
        if at == len(printed) or not is_like(line, printed[at]):
            return line
        at, skips = at + 1, False
    return None if skips or at == len(printed) else f"nothing after '{printed[at - 1] if at else ''}'"


def main():
    source, *command = sys.argv[1:]
    said = said_in(source)
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout)
    if said is None:
        print(f"{source} does not say what it prints: `// Prints:`, then `//`, then lines that begin with `//     `")
        return 1
    missing = first_difference(said, [line.rstrip() for line in run.stdout.splitlines()])
    if missing is not None:
        print(f"the output is not that of the comment; it lacks: {missing}")
    return run.returncode or (1 if missing is not None else 0)


def self_test():
    said = ["step 0  loss 1.50", "...", "step 9  loss 0.020", "differ by 2e-07"]
    right = [["step 0  loss 1.51", "x", "step 9  loss 0.021", "differ by 9e-08"], ["step 0 loss 1.50", *said[2:]]]
    wrong = [["step 0  loss 1.60", *said[2:]], ["step 0  loss 1.50", "step 8  loss 0.020", said[3]], said[:1],
             [said[0], said[2]], [said[0], said[2], said[3], "more"], [said[0], said[2], "differ by 2e-03"]]
    return any(first_difference(said, r) for r in right) or not all(first_difference(said, w) for w in wrong)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main())
