#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what docs/index.md lacks: a line for a page, a variable, an option of an example, an area of errors, a section.
Each page must begin with whom it is for, and with an example.

    tests/docs/index.py [PROJECT]
    tests/docs/index.py --self-test

links.py says which of the index's links lead nowhere.
"""

import pathlib
import re
import sys
import tempfile

from links import anchors

# Pages whose sections stand in the index, each with the deepest level of those headings.
SECTIONS = {"language": 3, "layouts": 2, "running": 2, "data": 2, "checkpoints": 2, "performance": 2}
# The first link in an item of a list, which the item is about. An item may belong to another one.
ITEM = re.compile(r"^ *(?:\d+\.|-) [^\[\n]*\[[^]]*\]\(([^)\s:#]+)", re.M)
VARIABLE = re.compile(r"MESHTENSOR_[A-Z_]*[A-Z]")


def read(path):
    return path.read_text(encoding="utf-8")


def all_pages(project):
    return [*project.glob("*.md"), *project.glob("docs/**/*.md"), *project.glob("bench/*.md")]


def beginnings(project):
    """Pages that do not begin with their readers and an example."""
    for page in all_pages(project):
        lines = read(page).splitlines()
        if not re.search(r"\b(?:[Tt]his page|It)\b[^.]*\b(?:for|shows|lets|tells)\b", "\n".join(lines[:6])):
            yield f"{page.relative_to(project)} does not say at its beginning whom it is for"
        if not re.search(r"^```|\b[Ff]or example\b|\bexample is\b", "\n".join(lines[:20]), re.M):
            yield f"{page.relative_to(project)} has no example at its beginning"


def findings(project):
    docs = project / "docs"
    index = read(docs / "index.md")
    links = {(docs / link.partition("#")[0]).resolve(): set() for link in re.findall(r"\]\(([^)\s:]+)\)", index)}
    for link in re.findall(r"\]\(([^)\s:]+)\)", index):
        links[(docs / link.partition("#")[0]).resolve()].add(link.partition("#")[2])

    lines = {(docs / link).resolve() for link in ITEM.findall(index)}
    for page in all_pages(project):
        if page.resolve() not in lines and page.name != "index.md":
            yield f"a line for the page {page.relative_to(project)}"
    for name, deepest in SECTIONS.items():
        page = docs / f"{name}.md"
        if not page.exists():
            continue
        text = read(page)
        levels = re.findall(r"^(#+) ", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
        for level, anchor in zip(levels, anchors(text)):
            if 1 < len(level) <= deepest and anchor not in links.get(page.resolve(), ()):
                yield f"the section docs/{name}.md#{anchor}"

    users = [project / "README.md", *docs.glob("*.md")]
    pages = "\n".join(read(page) for page in users if page.name != "index.md")
    headers = "\n".join(re.findall(r'"(MESHTENSOR_[A-Z_]+)"', "\n".join(map(read, (project / "include").rglob("*.hpp")))))
    for name in sorted({*VARIABLE.findall(pages), *VARIABLE.findall(headers)} - set(VARIABLE.findall(index))):
        yield f"the variable {name}"

    declared = set(re.findall(r'"(--[a-z-]+)', "\n".join(map(read, (project / "examples").rglob("*.[ch]pp")))))
    named = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", " ".join(re.findall(r"`[^`\n]+`", pages))))
    for name in sorted(option for option in declared & named if f"`{option}`" not in index):
        yield f"the option {name}"
    for letter in sorted(set(re.findall(r"^### ([A-Z])\d\d$", read(docs / "errors.md"), re.M))):
        if not re.search(rf"^\| {letter} \|.*errors\.md#", index, re.M):
            yield f"the errors {letter}"

    terms = re.findall(r"^\| ([^|]+) \| \[", index.partition("\n## Terms\n")[2], re.M)
    plain = [re.sub(r"[^a-z0-9 ]", "", term.lower()) for term in terms]
    for before, after in zip(plain, plain[1:]):
        if before > after:
            yield f"the alphabet: '{after}' stands behind '{before}'"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder).resolve()
        for name in ("docs", "include", "examples"):
            (project / name).mkdir()
        begins = "This page is for a test. For example, it has this.\n"
        (project / "README.md").write_text(begins + "`--size 3` `--gone` `-DMESHTENSOR_ON=1` MESHTENSOR_OFF\n")
        (project / "include/a.hpp").write_text('"MESHTENSOR_READ" MESHTENSOR_INTERNAL\n')
        (project / "examples/a.cpp").write_text('"--size" "--silent"\n')
        (project / "docs/errors.md").write_text(begins + "### T01\n### R02\n")
        (project / "docs/layouts.md").write_text(begins + "# Layouts\n## Here\n## There\n### Below\n")
        (project / "docs/index.md").write_text(begins + "1. [a](../README.md) and [e](errors.md)\n"
                                               "- The [l](layouts.md#here) `MESHTENSOR_OFF`\n"
                                               "| T | [types](errors.md#t01) |\n\n## Terms\n\n| b | [x](errors.md) |\n"
                                               "| a | [x](errors.md) |\n")
        (project / "docs/lost.md").write_text("# Lost\n")
        found = [*sorted(findings(project)), *sorted(beginnings(project))]
    expected = ["a line for the page docs/errors.md", "a line for the page docs/lost.md",
                "the alphabet: 'a' stands behind 'b'", "the errors R", "the option --size",
                "the section docs/layouts.md#there", "the variable MESHTENSOR_ON", "the variable MESHTENSOR_READ",
                "docs/lost.md does not say at its beginning whom it is for",
                "docs/lost.md has no example at its beginning"]
    return [] if found == expected else [f"found {found}"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        project = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
        found = [*(f"docs/index.md lacks {missing}" for missing in findings(project)), *beginnings(project)]
    print("\n".join(found) if found else "the index is complete")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
