#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up the cases that the property tests assert to try, `at_least(13000, …)`, and fails if they are too few.

cases.py FOLDER LEAST  the folder tests/property, and how many there shall be; every test file asserts a number
cases.py --self-test   that each fault is found
"""

import pathlib
import re
import sys
import tempfile

ASSERTED = re.compile(r"\bat_least\(([^,]*),")
COMMENT = re.compile(r"//.*")


def asserted(text):
    """The numbers that a file asserts, in order; None for what is no plain number."""
    code = "\n".join(COMMENT.sub("", line) for line in text.splitlines())
    return [int(n) if re.fullmatch(r"\s*\d+", n) else None for n in ASSERTED.findall(code)]


def check(folder, least):
    """The sum, and all that is wrong, one line each."""
    wrong, total = [], 0
    for path in sorted(folder.glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        numbers = asserted(text)
        if not numbers and "TEST_CASE" in text:
            wrong.append(f"{path.name} does not say how many cases it tries: at_least(number, tried)")
        if None in numbers:
            wrong.append(f"{path.name}: at_least takes a number as it stands, so that it can be added up here")
        total += sum(n for n in numbers if n is not None)
    if total < least:
        wrong.append(f"the property tests assert {total} cases, {least - total} too few")
    return total, wrong


def self_test():
    files = {"a.cpp": "at_least(60, t.tried);\n  property::at_least(30, f(1, 2));\n", "b.cpp": "at_least(10, t.tried);\n",
             "shared.cpp": "int helper();\n"}
    faults = {
        "too few": {"b.cpp": "at_least(9, t.tried);\n"},
        "none": {"c.cpp": "TEST_CASE() { CHECK(tried > 0); }\n"},
        "in a comment": {"c.cpp": "TEST_CASE() {}  // at_least(10, tried)\n"},
        "no plain number": {"c.cpp": "at_least(10 * count, tried);\n"},
    }
    wrong = []
    for name, changes in {"right": {}, **faults}.items():
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {**files, **changes}.items():
                (pathlib.Path(folder) / file).write_text(text, encoding="utf-8")
            found = check(pathlib.Path(folder), 100)[1]
        if len(found) != (name != "right"):
            wrong.append(f"{name}: found {found}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong, text = self_test(), "each fault is found"
    else:
        total, wrong = check(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
        text = f"{total} cases are asserted"
    print("\n".join(wrong) if wrong else text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
