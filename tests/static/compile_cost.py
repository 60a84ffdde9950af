#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a program costs the compiler, within 5 % of the numbers that the program states:

    // operations: how many operations the compiler evaluates for the costliest constant. More: a pass got slower.
    // functions: how many functions its object has at -O0. More: it instantiates more templates.

Less is worth a new number. A file with `// program: README.md` states the numbers of the first program of that page.

    compile_cost.py COMPILER PROGRAM FLAG... [--read FLAG...]   the check; exit code 77 if the compiler is not the one of
                                                                the numbers; --read: flags for headers that are read
                                                                already, which would bring functions of their own
    compile_cost.py --count COMPILER PROGRAM FLAG...            finds the numbers

A compiler gives up at the limit -fconstexpr-ops-limit, so two limits are enough for the check.
"""

import math
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]


def compiles(command, limit):
    result = subprocess.run([*command, "-fsyntax-only", f"-fconstexpr-ops-limit={limit}"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0 and "constexpr-ops-limit" not in result.stdout:
        raise SystemExit(result.stdout)
    return result.returncode == 0


def count_operations(command):
    low, high = 1 << 16, 1 << 31
    while high - low > low // 200:
        middle = math.isqrt(low * high)
        low, high = (low, middle) if compiles(command, middle) else (middle, high)
    return high


def count_functions(command, folder):
    made = pathlib.Path(folder) / "program.o"
    subprocess.run([*command, "-fconstexpr-ops-limit=2000000000", "-O0", "-c", "-o", str(made)], check=True)
    symbols = subprocess.run(["nm", "--defined-only", str(made)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return len(re.findall(r"^\w+ [TtWw] ", symbols, re.M))


def stated_in(text, what):
    found = re.search(rf"^// {what}: (.+)$", text, re.M)
    return found and found.group(1)


def main():
    arguments = sys.argv[1:]
    counts = arguments[0] == "--count"
    compiler, program, *flags = arguments[1:] if counts else arguments
    read = flags.index("--read") if "--read" in flags else len(flags)
    flags, read_flags = flags[:read], flags[read + 1:]
    about = subprocess.run([compiler, "-dM", "-E", "-x", "c++", "/dev/null"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    if not counts and ("__clang__" in about or not re.search(r"__GNUC__ 12\b", about)):
        print("skipped: the numbers hold for g++ 12")
        return SKIPPED
    text = pathlib.Path(program).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        source = program
        if page := stated_in(text, "program"):
            source = pathlib.Path(folder) / "program.cpp"
            fences = (ROOT / page).read_text(encoding="utf-8").split("```cpp\n")[1:]
            whole = next(f for f in fences if "#include" in f.split("```")[0])  # not a part of a program
            source.write_text(whole.split("```")[0], encoding="utf-8")
        bare = [compiler, *flags, "-fconstexpr-loop-limit=100000000", str(source)]
        command = [*bare, *read_flags]
        if counts:
            print(f"// operations: {count_operations(command)}\n// functions: {count_functions(bare, folder)}")
            return 0
        wrong = []
        operations = int(stated_in(text, "operations"))
        if not compiles(command, operations * 105 // 100):
            wrong.append(f"the costliest constant takes more than {operations} operations by 5 %: which pass got slower?")
        elif compiles(command, operations * 95 // 100):
            wrong.append(f"the costliest constant takes less than {operations} operations by 5 %")
        if functions := int(stated_in(text, "functions") or 0):
            found = count_functions(bare, folder)
            if abs(found - functions) * 20 > functions:
                wrong.append(f"the program has {found} functions at -O0, not {functions}: what does it instantiate?")
    for sentence in wrong:
        print(f"{program}: {sentence} `compile_cost.py --count` finds the numbers")
    return 1 if wrong else 0


sys.exit(main())
