#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if each error code of the sources has one section in the page of errors, and each section has a code.

error_codes.py PAGE FOLDER...
"""

import pathlib
import re
import sys

CODE = re.compile(r'(?:"|meshtensor )([TGSMR]\d\d|C[01]\d)(?=[:," ])')


def main():
    page, *folders = map(pathlib.Path, sys.argv[1:])
    used = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.[hc]pp")):
        for line in path.read_text(encoding="utf-8").splitlines():
            for code in CODE.findall(re.sub(r"(^|\s)//.*", "", line)):
                used.setdefault(code, path.as_posix())
    sections = re.findall(r"^### (\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    wrong = [f"{code} ({used[code]}) has no section in {page.name}" for code in sorted(set(used) - set(sections))]
    wrong += [f"{page.name} has a section {code}, which nothing uses" for code in sorted(set(sections) - set(used))]
    wrong += [f"{page.name} has two sections {code}" for code in sorted({c for c in sections if sections.count(c) > 1})]
    if len(used) < 50:
        wrong.append(f"only {len(used)} codes were found")
    print("\n".join(wrong) if wrong else f"{len(used)} codes, each with its section")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
