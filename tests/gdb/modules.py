#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if gdb's printers show the modules of a program as the program prints them itself, and other values as below.

modules.py GDB PRINTERS PROGRAM FOLDER
"""

import pathlib
import re
import subprocess
import sys

SKIPPED = 77  # as ctest is told

# Runs in gdb: writes the text of each module that the program shows, then that of other values.
INSIDE = r"""
import gdb
gdb.execute("set print elements 0")
gdb.execute("set width 0")
gdb.Breakpoint("debug_module")
gdb.Breakpoint("debug_values")
gdb.execute("run >'{printed}'", to_string=True)
with open("{seen}", "w", encoding="utf-8") as out:
    while gdb.selected_inferior().pid != 0:
        if gdb.selected_frame().name().endswith("debug_values"):
            for expression in {expressions}:
                out.write(gdb.execute("print " + expression, to_string=True))
            out.write(gdb.execute("mt_text m", to_string=True).splitlines()[2] + "\n" + gdb.execute("frame", to_string=True))
        else:
            out.write(gdb.execute("print m", to_string=True) + "====\n")
        gdb.execute("continue", to_string=True)
"""

# What `print` shows of the values at the end of modules.cpp.
VALUES = {
    "n": "einsum in region 0, operands links[3..5), results links[5..6)",
    "v": "f32[0, 2] of node 3, result 0",
    "label": '"batch"',
    "layout": "[1/0/2 | partial 1, max 3]",
    "numbers": "f32[4: 3 of 6 from 3, 1: 2] at 0x… = {0.5, 2, 1, 2.5, 1.5, 3}",
    "found": '"S02 no reason"',
    "v.dims": "[0, 2]",
    "$mt_type(m, 3)": '"f32[batch, inner]"',
    "$mt_node(&m, 3)": '"%3: f32[batch, inner] = einsum(%0, %1) over model  # programs.hpp:…"',
}


def main():
    gdb, printers, program = sys.argv[1:4]
    folder = pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    printed, seen, inside = folder / "printed.txt", folder / "seen.txt", folder / "inside.py"
    inside.write_text(INSIDE.format(printed=printed, seen=seen, expressions=list(VALUES)), encoding="utf-8")
    seen.unlink(missing_ok=True)
    run = subprocess.run([gdb, "-nx", "-batch", "-x", printers, "-x", inside, program], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    if not seen.exists():
        print(f"gdb cannot run a program here, or has no Python:\n{run.stdout}")
        return SKIPPED
    *modules, values = seen.read_text(encoding="utf-8").split("====\n")
    *wanted, _ = printed.read_text(encoding="utf-8").split("====\n")
    values = values.split("\n")
    wrong = [] if len(modules) == len(wanted) > 50 else [f"{len(modules)} modules were seen, {len(wanted)} printed"]
    for got, text in zip(modules, wanted):
        counts, _, got = got.partition("\n")
        if not re.match(r".*module: \d+ nodes, ", counts):
            wrong.append(f"counts: {counts}")
        if got != text:
            lines = next(((a, b) for a, b in zip(got.split("\n"), text.split("\n")) if a != b), ("another length", ""))
            wrong.append("gdb:     {}\nprogram: {}".format(*lines))
    for (expression, text), got in zip(VALUES.items(), values):
        got = re.sub(r"programs.hpp:\d+", "programs.hpp:…", re.sub(r"0x[0-9a-f]+", "0x…", got))
        got = re.sub(r"^\$\d+ = (\(.*?&\) )?(@0x…: )?", "", got)
        if got != text:
            wrong.append(f"{expression}:\n  gdb:    {got}\n  wanted: {text}")
    text, frame = (values[len(VALUES):] + ["", ""])[:2]
    if not text.startswith("  %0: f32[batch, model]"):
        wrong.append(f"mt_text: {text}")
    if not re.search(r"m=module: [^\n]* axes, ", frame):  # on one line
        wrong.append(f"a frame shows more than the counts of a module: {frame}")
    print("\n".join(wrong) + "\n" + run.stdout[-2000:] if wrong else f"{len(modules)} modules and {len(VALUES)} values")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
