#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which links between pages lead nowhere: to a file that is not there, or to a heading that a page does not have.

    tests/docs/links.py [PROJECT]     all pages, and the pages that comments of the sources name
    tests/docs/links.py --self-test
"""

import pathlib
import re
import sys
import tempfile


def plain(text):
    """A page without the code in it."""
    return re.sub(r"^(```|~~~).*?^\1|`[^`\n]*`", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)


def anchors(text):
    """The names that a host gives to headings: small letters, hyphens for blanks, no marks; numbered if they repeat."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.M | re.S), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        same = sum(f == name or re.fullmatch(re.escape(name) + r"-\d+", f) is not None for f in found)
        found.append(name if same == 0 else f"{name}-{same}")
    return found


def links(path, text):
    if path.suffix == ".md":
        body = plain(text)
        return [(body.count("\n", 0, m.start()) + 1, m[1]) for m in re.finditer(r"\]\(([^)\s]+)\)", body)
                if not re.match(r"[a-z]+:", m[1])]
    return [(text.count("\n", 0, m.start()) + 1, m[1]) for m in re.finditer(r"\b(docs/[\w/-]+\.md(?:#[\w-]+)?)", text)]


def findings(project):
    files = [*project.glob("*.md"), *(project / "docs").rglob("*.md"), *(project / "bench").rglob("*.md")]
    files += [f for folder in ("include", "examples", "tests", "bench", "cmake") for f in (project / folder).rglob("*")
              if f.suffix in (".hpp", ".cpp", ".sh", ".cmake")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        for line, link in links(file, text):
            name, _, anchor = link.partition("#")
            start = file.parent if file.suffix == ".md" else project
            target = (start / name).resolve() if name else file
            where = f"{file.relative_to(project)}:{line}: {link}"
            if not target.exists():
                yield f"{where}: there is no such file"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                yield f"{where}: the page has no such heading"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder).resolve()
        (project / "docs").mkdir()
        (project / "include").mkdir()
        (project / "docs/a.md").write_text("# One `two`: three\n# B\n# B\n```\n# no heading\n```\n[x](b.md) [y](#b-1)\n")
        (project / "include/a.hpp").write_text("// docs/a.md#one-two-three docs/a.md#no-heading docs/c.md\n")
        (project / "README.md").write_text("[x](docs/a.md#b-1) `[y](none)` [z](https://a.b) [w](docs/a.md#b-2)\n")
        found = sorted(findings(project))
    expected = ["README.md:1: docs/a.md#b-2: the page has no such heading",
                "docs/a.md:7: b.md: there is no such file",
                "include/a.hpp:1: docs/a.md#no-heading: the page has no such heading",
                "include/a.hpp:1: docs/c.md: there is no such file"]
    return [] if found == expected else [f"found {found}"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        found = list(findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
    print("\n".join(found) if found else "all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
