#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if the compiler refuses a file with every sentence that the file expects.

check.py FILE COMPILER ARGUMENTS...
"""

import os
import re
import subprocess
import sys


def words(text):
    """One line, single blanks, plain quotes: compilers break and decorate lines differently, and escape quotes."""
    return " ".join(re.sub("[\u2018\u2019]", "'", text).replace("\\'", "'").split())


def main():
    source, compiler, *arguments = sys.argv[1:]
    kind = "clang" if "clang" in os.path.basename(compiler) else "gcc"
    with open(source, encoding="utf-8") as file:
        text = file.read()
    lines = re.findall(rf"^// expect(?: {kind})?: (.*)$", text, re.MULTILINE)
    flags = " ".join(re.findall(rf"^// flags {kind}: (.*)$", text, re.MULTILINE)).split()
    if not lines:
        return f"{source} has no line `// expect: ...` for {kind}"

    command = [compiler, *arguments, *flags, "-fsyntax-only", source]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = run.stdout.decode("utf-8", "replace")
    print(output)
    if run.returncode == 0:
        return f"{source} compiles, but must not"
    if run.returncode < 0 or "internal compiler error" in output:
        return f"the compiler broke down over {source}"
    missing = [line for line in lines if words(line) not in words(output)]
    return "\n".join(f"the compiler did not say: {line}" for line in missing)


if __name__ == "__main__":
    sys.exit(main() or 0)
