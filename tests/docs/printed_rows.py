#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if a page's tables have the rows that a program prints.

printed_rows.py PAGE COUNT PROGRAM     a row is a name and numbers, `ZeRO 1  0.175809  6144`; COUNT rows are needed
"""

import re
import subprocess
import sys


def main():
    page, count, program = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    printed = subprocess.run([program], stdout=subprocess.PIPE, check=True, text=True).stdout
    rows = [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]
    rows = [[*row[:1], *" ".join(row[1:]).split()] for row in rows]
    rows = [row for row in rows if len(row) > 2 and all(re.fullmatch(r"[\d.]+", cell) for cell in row[1:])]
    with open(page, encoding="utf-8") as file:
        told = {tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in file if "|" in line}
    missing = [row for row in rows if tuple(row) not in told]
    for row in missing:
        print(f"{page} has no row | {' | '.join(row)} |")
    if len(rows) != count:
        print(f"{program} prints {len(rows)} rows, not {count}:\n{printed}")
    return 1 if missing or len(rows) != count else 0


if __name__ == "__main__":
    sys.exit(main())
