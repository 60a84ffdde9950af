#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how many operations the compiler evaluates for the costliest constant of a program: within 5 % of the number
that the program states. It costs more when a pass got slower to compile, and less is worth a new number.

    evaluation_cost.py COMPILER PROGRAM FLAG...     the check; exit code 77 if the compiler is not the one of the number
    evaluation_cost.py --count COMPILER PROGRAM FLAG...   finds the number

A compiler gives up at the limit -fconstexpr-ops-limit, so two limits are enough for the check.
"""

import pathlib
import re
import subprocess
import sys

SKIPPED = 77


def compiles(command, limit):
    result = subprocess.run([*command, f"-fconstexpr-ops-limit={limit}"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0 and "constexpr-ops-limit" not in result.stdout:
        raise SystemExit(result.stdout)
    return result.returncode == 0


def count(command):
    low, high = 1 << 16, 1 << 31
    while high - low > low // 500:
        middle = (low + high) // 2
        low, high = (low, middle) if compiles(command, middle) else (middle, high)
    return high


def main():
    arguments = sys.argv[1:]
    counts = arguments[0] == "--count"
    compiler, program, *flags = arguments[1:] if counts else arguments
    command = [compiler, *flags, "-fconstexpr-loop-limit=100000000", "-fsyntax-only", program]
    if counts:
        print(count(command))
        return 0
    about = subprocess.run([compiler, "-dM", "-E", "-x", "c++", "/dev/null"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    if "__clang__" in about or not re.search(r"__GNUC__ 12\b", about):
        print("skipped: the number holds for g++ 12")
        return SKIPPED
    stated = int(re.search(r"^// operations: (\d+)$", pathlib.Path(program).read_text(encoding="utf-8"), re.M).group(1))
    if not compiles(command, stated * 105 // 100):
        print(f"{program}: the costliest constant takes more than {stated} operations by 5 %: which pass got slower? "
              f"--count finds the number")
        return 1
    if compiles(command, stated * 95 // 100):
        print(f"{program}: the costliest constant takes less than {stated} operations by 5 %: state what --count finds")
        return 1
    return 0


sys.exit(main())
