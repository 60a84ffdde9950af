#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if the table of limits in the page of errors has the values, codes and sentences of the sources.

limits.py PAGE INCLUDE
"""

import pathlib
import re
import sys

ROW = re.compile(r"^\| ([^|]+) \| (\d+) \| (none|`MESHTENSOR_MAX_NODES`) \| ([A-Z]\d\d) \| ([^|]+) \|$", re.MULTILINE)
CONSTANT = re.compile(r"inline constexpr int (max_\w+) = ([^;]+);")


def constants(config):
    """The limits as they are by default, by name."""
    known = {"in_proportion": lambda usual: usual}
    nodes = re.search(r"define MESHTENSOR_MAX_NODES (\d+)", config)[1]
    for name, expression in CONSTANT.findall(config.replace("MESHTENSOR_MAX_NODES;", nodes + ";")):
        known[name] = eval(expression.replace("/", "//"), {}, known)  # of numbers and names of these
    return known


def faults(row, limits, grows, text):
    """What is wrong with a row; `text` is that of all headers, literals that follow each other joined."""
    what, value, macro, code, sentence = row
    counted = re.fullmatch(r"the program has more than \d+ (.*)", sentence)
    if counted:
        call = re.search(rf'make_room\([^;]*?(max_\w+), "{code}", (?:"{re.escape(counted[1])}[",]|.*region_rows)', text)
        if not call or f'"{counted[1]}' not in text:
            yield f"'{what}': nothing reports {code} of '{counted[1]}'"
        elif limits[call[1]] != int(value) or (call[1] in grows) != (macro != "none"):
            yield f"'{what}': {call[1]} is {limits[call[1]]}, and {'grows' if call[1] in grows else 'does not grow'}"
    elif not re.search(rf"{code}:? {re.escape(sentence)}", text):
        yield f"'{what}': no header has '{code} {sentence}'"
    if value not in sentence.split():
        yield f"'{what}': the sentence does not have the value {value}"


def main():
    page, include = map(pathlib.Path, sys.argv[1:])
    config = (include / "base/config.hpp").read_text(encoding="utf-8")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(include.rglob("*.hpp")))
    text = re.sub(r'"\s*\n\s*"', "", text)
    limits = constants(config)
    text = re.sub(r'" << max_(\w+)\s*<< "', lambda name: str(limits[f"max_{name[1]}"]), text)
    grows = set(re.findall(r"(max_\w+) = (?:in_proportion|max_nodes|MESHTENSOR_MAX_NODES)", config))
    rows = ROW.findall(page.read_text(encoding="utf-8"))
    wrong = [fault for row in rows for fault in faults(row, limits, grows, text)]
    if len(rows) < 20:
        wrong.append(f"only {len(rows)} rows were found")
    print("\n".join(wrong) if wrong else f"{len(rows)} limits are as the sources have them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
