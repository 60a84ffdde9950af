#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what docs/index.md lacks: a page, a variable, an option of an example, an area of errors, or a section.

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
VARIABLE = re.compile(r"MESHTENSOR_[A-Z_]*[A-Z]")


def read(path):
    return path.read_text(encoding="utf-8")


def findings(project):
    docs = project / "docs"
    index = read(docs / "index.md")
    links = {(docs / link.partition("#")[0]).resolve(): set() for link in re.findall(r"\]\(([^)\s:]+)\)", index)}
    for link in re.findall(r"\]\(([^)\s:]+)\)", index):
        links[(docs / link.partition("#")[0]).resolve()].add(link.partition("#")[2])

    for page in [*project.glob("*.md"), *docs.rglob("*.md"), *project.glob("bench/*.md")]:
        if page.resolve() not in links and page.name not in ("index.md", "CHANGELOG.md"):
            yield f"the page {page.relative_to(project)}"
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
        (project / "README.md").write_text("`--size 3` `--gone` `-DMESHTENSOR_ON=1` MESHTENSOR_OFF\n")
        (project / "include/a.hpp").write_text('"MESHTENSOR_READ" MESHTENSOR_INTERNAL\n')
        (project / "examples/a.cpp").write_text('"--size" "--silent"\n')
        (project / "docs/errors.md").write_text("### T01\n### R02\n")
        (project / "docs/layouts.md").write_text("# Layouts\n## Here\n## There\n### Below\n")
        (project / "docs/index.md").write_text("[a](../README.md) [l](layouts.md#here) `MESHTENSOR_OFF`\n"
                                               "| T | [types](errors.md#t01) |\n\n## Terms\n\n| b | [x](errors.md) |\n"
                                               "| a | [x](errors.md) |\n")
        (project / "docs/lost.md").write_text("# Lost\n")
        found = sorted(findings(project))
    expected = ["the alphabet: 'a' stands behind 'b'", "the errors R", "the option --size", "the page docs/lost.md",
                "the section docs/layouts.md#there", "the variable MESHTENSOR_ON", "the variable MESHTENSOR_READ"]
    return [] if found == expected else [f"found {found}"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        lacks = findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
        found = [f"docs/index.md lacks {missing}" for missing in lacks]
    print("\n".join(found) if found else "the index is complete")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
