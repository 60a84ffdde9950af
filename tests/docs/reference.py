#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the function reference, and says which names of users it lacks, and which entries it could not make.

    tests/docs/reference.py FOLDER [DOXYGEN]
    tests/docs/reference.py --self-test     of how names are found in programs

Users' names are those of the snippets in README and docs/, and those in tests/learn: mt::NAME, members of a scope, and
functions that are called without mt::, which the compiler finds by their operands.
"""

import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
REFERENCE = PROJECT / "docs/reference"
sys.dont_write_bytecode = True
sys.path.insert(0, str(REFERENCE))
import generate  # noqa: E402  pylint: disable=wrong-import-position

FENCE = re.compile(r"^```cpp[^\n]*\n(.*?)^```$", re.M | re.S)


def programs():
    pages = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    for page in pages:
        yield page, "\n".join(FENCE.findall(page.read_text(encoding="utf-8")))
    for lesson in sorted((PROJECT / "tests/learn").glob("*.cpp")):
        yield lesson, lesson.read_text(encoding="utf-8")


def missing(text, listed, members, functions):
    """The names in a program that are not among `listed`, nor members of a scope among `members`."""
    code = re.sub(r"//[^\n]*", "", text)
    own = set(re.findall(r"\b(?:auto|void|int|bool|struct|double|float)&?&? (\w+)", code))
    for name in sorted(set(re.findall(r"\b(?:mt|meshtensor)::((?:\w+::)*\w+)", code)) - {"nn", "detail"}):
        parts = name.split("::")
        if not any("::".join(parts[:k]) in listed for k in range(1, len(parts) + 1)):
            yield f"mt::{name}"
    for name in sorted(set(re.findall(r"\bs\.(\w+)\(", code)) - members):
        yield f"s.{name}"
    for name in sorted((set(re.findall(r"(?<![\w.:>])(\w+)\(", code)) & functions) - own - listed):
        yield f"{name}(…)"


def findings(folder, doxygen):
    names, index, found = generate.write(folder, doxygen)
    yield from found
    listed = {name for name, _ in names}
    scope = (folder / "operations.html").read_text(encoding="utf-8")
    eager = (folder / "run.html").read_text(encoding="utf-8").split('id="eager"')[1].split("</article>")[0]
    members = set(re.findall(r"<dt><code>s\.(\w+)", scope) + re.findall(r"<dt><code>(\w+)", eager))
    functions = {name.split("::")[-1] for name, found in index.items() if re.fullmatch(r"(?:nn::)?\w+", name) and any(
        e.get("kind") == "function" and re.search(r"meshtensor/(op|nn)/", e.find("location").get("file"))
        and generate.is_public(e) for e in found)}
    if len(members) < 8 or len(functions) < 60:
        yield f"only {len(members)} members of a scope and {len(functions)} functions were read"
    for file, text in programs():
        for name in missing(text, listed | {name.split("::")[-1] for name in listed}, members, functions):
            yield f"{file.relative_to(PROJECT)}: {name} has no entry: add it to docs/reference/contents.txt"


def self_test():
    text = "mt::sum(x); mt::job::as_threads(); mt::nn::linear(); mt::gone(x); s.input(\"x\"); s.lost(1); tanh(x); y.tanh(x); // mt::a"
    found = list(missing(text, {"sum", "job", "nn::linear"}, {"input"}, {"tanh", "sum"}))
    return [] if found == ["mt::gone", "s.lost", "tanh(…)"] else [f"found {found}"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        found = list(findings(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "doxygen"))
    print("\n".join(found) if found else "every name has an entry")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
