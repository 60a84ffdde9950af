#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if clang-format would change nothing and every source names its licence: format.py CLANG_FORMAT PROJECT."""

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
LICENCE = "SPDX-License-Identifier: Apache-2.0"
bare = [str(path) for path in map(pathlib.Path, files) if LICENCE not in path.read_text(encoding="utf-8")[:80]]
if bare:
    print(f"the first line of these is not // {LICENCE}:")
    print("\n".join(bare))
sys.exit(run.returncode or bool(bare))
