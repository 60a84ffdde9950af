#!/usr/bin/env python3
"""Passes if clang-format would change nothing: format.py CLANG_FORMAT PROJECT."""

import pathlib
import re
import subprocess
import sys

formatter, project = sys.argv[1], pathlib.Path(sys.argv[2])
files = [
    str(path)
    for folder in ("include", "tests", "examples", "bench")
    for path in sorted((project / folder).rglob("*"))
    if path.suffix in (".hpp", ".cpp", ".cu")
]
if not files:
    sys.exit("no source file found under " + str(project))
run = subprocess.run([formatter, "--dry-run", "-Werror", *files], stderr=subprocess.PIPE, text=True, check=False)
wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: error: code should be clang-formatted", run.stderr, re.MULTILINE)))
if wrong:
    print("clang-format would change these; run clang-format -i on them:")
    print("\n".join(wrong))
elif run.returncode != 0:
    print(run.stderr)
else:
    print(len(files), "files are formatted")
sys.exit(run.returncode)
