#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if the compiler refuses a file with every sentence that the file expects, where a user looks for it.

check.py README FILE COMPILER ARGUMENTS...
"""

import os
import re
import subprocess
import sys

SHOWN = 5  # of the lines that the README's grep finds, those in which the sentence must stand


def words(text):
    """One line, single blanks, plain quotes: compilers break and decorate lines differently, and escape quotes."""
    return " ".join(re.sub("[\u2018\u2019]", "'", text).replace("\\'", "'").replace('\\"', '"').split())


def pattern(readme):
    """What the README has users grep for."""
    with open(readme, encoding="utf-8") as file:
        found = re.findall(r"grep -E '([^']*)'", file.read())
    if len(found) != 1:
        sys.exit(f"{readme} does not say what to grep for")
    return found[0]


def main():
    readme, source, compiler, *arguments = sys.argv[1:]
    kind = "clang" if "clang" in os.path.basename(compiler) else "gcc"
    with open(source, encoding="utf-8") as file:
        text = file.read()
    first = re.findall(rf"^// expect(?: {kind})?: (.*)$", text, re.MULTILINE)
    anywhere = re.findall(rf"^// also(?: {kind})?: (.*)$", text, re.MULTILINE)
    flags = " ".join(re.findall(rf"^// flags {kind}: (.*)$", text, re.MULTILINE)).split()
    if not first:
        return f"{source} has no line `// expect: ...` for {kind}"

    command = [compiler, *arguments, *flags, "-fsyntax-only", source]
    plain = {**os.environ, "LC_ALL": "C"}  # quotes as in ASCII
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=plain, check=False)
    output = run.stdout.decode("utf-8", "replace")
    print(output)
    if run.returncode == 0:
        return f"{source} compiles, but must not"
    if run.returncode < 0 or "internal compiler error" in output:
        return f"the compiler broke down over {source}"
    shown = [line for line in output.splitlines() if re.search(pattern(readme), line)][:SHOWN]
    missing = [f"the first {SHOWN} lines of grep do not say: {line}" for line in first
               if words(line) not in words("\n".join(shown))]
    missing += [f"the compiler did not say: {line}" for line in anywhere if words(line) not in words(output)]
    return "\n".join(missing)


if __name__ == "__main__":
    sys.exit(main() or 0)
