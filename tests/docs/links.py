#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which links between pages lead nowhere: to a file that is not there, or to a heading that a page does not have.
Commands that run a test must name one that is there, and a case of it.

    tests/docs/links.py [PROJECT]     all pages, and the pages that comments of the sources name
    tests/docs/links.py --self-test
"""

import fnmatch
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


RUN = re.compile(r"tests/run\.sh ((?:data|fuzz|learn|mpi|probe|property|unit)/[a-z0-9_/]+)")
CASE = re.compile(r'build/release/tests/([\w/]+)\.test -tc="([^"]*)"')


def commands(project, file, text):
    """Commands of a page whose test or case is not there."""
    for found in [*RUN.finditer(text), *CASE.finditer(text)]:
        where = f"{file.relative_to(project)}:{text.count(chr(10), 0, found.start()) + 1}: {found[1]}"
        test = project / "tests" / f"{found[1]}.cpp"
        if not test.exists() and not test.with_suffix("").is_dir():
            yield f"{where}: there is no such test"
        elif found.lastindex == 2:
            cases = re.findall(r'TEST_CASE\("([^"]*)"', test.read_text(encoding="utf-8"))
            if not any(fnmatch.fnmatch(case, found[2]) for case in cases):
                yield f"{where}: no case is called {found[2]}"


def findings(project):
    files = [*project.glob("*.md"), *(project / "docs").rglob("*.md"), *(project / "bench").rglob("*.md")]
    files += [f for folder in ("include", "examples", "tests", "bench", "cmake") for f in (project / folder).rglob("*")
              if f.suffix in (".hpp", ".cpp", ".sh", ".cmake")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".md":
            yield from commands(project, file, text)
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
        (project / "tests/unit").mkdir(parents=True)
        (project / "tests/unit/a.cpp").write_text('TEST_CASE("a case")\n')
        (project / "bench").mkdir()
        (project / "bench/a.md").write_text("`tests/run.sh unit/a` `tests/run.sh unit/b`\n"
                                            '`build/release/tests/unit/a.test -tc="*case"` '
                                            '`build/release/tests/unit/a.test -tc="*c"`\n')
        found = sorted(findings(project))
    expected = ["README.md:1: docs/a.md#b-2: the page has no such heading",
                "bench/a.md:1: unit/b: there is no such test",
                "bench/a.md:2: unit/a: no case is called *c",
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
