#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the one fence of a page that has these words: fence.py PAGE WORDS"""

import pathlib
import re
import sys

page, words = sys.argv[1:]
text = pathlib.Path(page).read_text(encoding="utf-8")
found = [f for f in re.findall(r"^```[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if words in f]
if len(found) != 1:
    sys.exit(f"{page} has {len(found)} fences with '{words}', not one")
print(found[0], end="")
