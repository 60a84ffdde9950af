#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the function reference as pages for a browser, from the docstrings of the headers. It needs doxygen.

    docs/reference/generate.py FOLDER [--doxygen PROGRAM]

contents.txt lists the names; their signatures and descriptions come from doxygen. A name without a description, an
error code that docs/errors.md lacks, an mt::name in a docstring that nothing has, and a warning of doxygen are errors.
"""

import argparse
import collections
import html
import os
import pathlib
import re
import subprocess
import sys

from signatures import OF_TOOLS, index_of, is_public, line_of, plain_type, signature, text_of

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
# The pages in which the section about a name is looked for, the first ones first.
GUIDES = ("language", "layouts", "running", "data", "checkpoints", "experts", "each", "images", "performance",
          "large-codes", "translating", "devices", "howto/add-an-operation", "howto/add-a-pass", "howto/add-a-device")
TAGS = {"itemizedlist": "ul", "listitem": "li", "para": "p", "programlisting": "pre", "bold": "b", "emphasis": "em",
        "computeroutput": "code", "verbatim": "pre", "preformatted": "pre"}
# A name in code: mt::NAME, mt::nn::NAME, mt::datasets::NAME, NAME(…), NAME<…>, NAME{…} or `NAME`.
USE = re.compile(r"\bmt::(?:nn::|datasets::)?(\w+)|(?<![\w.:>])(\w+)(?=[({]|<[\w\"])|\bnn::(\w+)|`(\w+)`")
HOW_TO_READ = (
    "A signature shows each parameter by what it takes: a <code>handle</code> is a tensor of a program, a "
    "<code>dim_type</code> a dim, a <code>scope</code> the scope <code>s</code>, <code>auto</code> anything. "
    "A parameter in brackets may be left out, and <code>...</code> stands for several. <code>mt</code> is the namespace "
    "<code>meshtensor</code>. Functions of tensors are found without it: <code>softmax(x, length)</code>.")
# Templates that doxygen cannot match are no fault of a docstring.
UNREADABLE = re.compile(r"no (uniquely )?matching|Internal inconsistency|recursive class relation")
SIGNS = {"sp": " ", "ndash": "--", "mdash": "—", "nonbreakablespace": " ", "linebreak": "<br>"}

sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "tests/docs"))
from links import anchors  # noqa: E402  pylint: disable=wrong-import-position


class Writer:
    def __init__(self, index, folder):
        self.index, self.folder, self.found = index, folder, []
        self.codes = set(anchors((PROJECT / "docs/errors.md").read_text(encoding="utf-8")))
        self.words = {word for name in index for word in name.split("::")}
        guides = [(f"docs/{page}.md", *part) for page in GUIDES for part in sections(PROJECT / f"docs/{page}.md")]
        lessons = [(f"tests/learn/{file.name}", "", file.read_text(encoding="utf-8"))
                   for file in sorted((PROJECT / "tests/learn").glob("*.cpp"))]
        self.uses = [[(path, anchor, collections.Counter(map(max, USE.findall(text)))) for path, anchor, text in places]
                     for places in (guides, lessons)]

    def link(self, path, shown, anchor=""):
        return f'<a href="{os.path.relpath(PROJECT / path, self.folder)}{"#" + anchor if anchor else ""}">{shown}</a>'

    def code(self, match):
        if match[0].lower() not in self.codes:
            self.found.append(f"{self.where}: docs/errors.md has no {match[0]}")
        return self.link("docs/errors.md", match[0], match[0].lower())

    def prose(self, e):
        """A part of a description as HTML."""
        out = html.escape(e.text or "", quote=False)
        for child in e:
            inner = self.prose(child)
            if child.tag == "simplesect":
                inner = "".join(self.prose(p) for p in child.findall("para"))
                inner = f'</p><div class="field"><b>{text_of(child, "title")}</b><div>{inner}</div></div><p>'
            elif child.tag in TAGS:
                inner = f"<{TAGS[child.tag]}>{inner}</{TAGS[child.tag]}>"
            else:
                inner = SIGNS.get(child.tag, inner + ("\n" if child.tag == "codeline" else ""))
            out += inner + html.escape(child.tail or "", quote=False)
        for name in re.findall(r"\bmt::((?:\w+::)*\w+)", e.text or "") if e.tag == "computeroutput" else ():
            if name.split("::")[-1] not in self.words:
                self.found.append(f"{self.where}: nothing is called mt::{name}")
        is_code = e.tag in ("computeroutput", "programlisting", "codeline", "highlight", "verbatim")
        return out if is_code or "<a" in out else re.sub(r"(?<!\w)[TGSMRC]\d\d\b", self.code, out)

    def description(self, e):
        parts = [*e.findall("briefdescription/para"), *e.findall("detaileddescription/para")]
        return re.sub(r"<p>\s*</p>", "", "".join(f"<p>{self.prose(part)}</p>" for part in parts))

    def members(self, e, owner, source):
        """The members that have a description, the fields of a plain struct, and the values of an enumeration."""
        of_class = [m for m in e.iter("memberdef") if is_public(m) and not OF_TOOLS.search(signature(m, ""))]
        plain = all(m.get("kind") == "variable" or m.get("static") == "yes" or not self.description(m) for m in of_class)
        for m in [*of_class, *e.findall("enumvalue")]:
            name, said = text_of(m, "name"), self.description(m)
            if m.tag == "enumvalue" or m.get("kind") == "variable":
                line = rf"^\s*(?:[\w:<>,.* ]*\s)?{re.escape(name)}\b(?!\().*?(?:// (.*))?$"
                note = next((found[1] for line_ in source if (found := re.match(line, line_)) and found[1]), "")
                if m.get("static") != "yes":
                    said = said or re.sub(r"`(.*?)`", r"<code>\1</code>", html.escape(note))
                kind, start = (plain_type(text_of(m, part)) for part in ("type", "initializer"))
                shown = name if m.tag == "enumvalue" else f"{kind} {name} {start}"
                if said or m.tag == "enumvalue" or (plain and m.get("static") != "yes"):
                    yield shown, said
            elif said and m.get("kind") == "function" and "constexpr" not in name:
                yield signature(m, ("s." if owner == "scope" else "") + name), said

    def entry(self, name, shown, has_members=True):
        self.where = f"mt::{shown}"
        all_elements = [*self.index.get(shown, ()), *(self.index.get(name, ()) if name != shown else ())]
        elements = [e for e in all_elements or self.index.get(f"nn::{name}", ()) if is_public(e)]
        if not elements:
            self.found.append(f"{self.where}: there is no such name, or users may not call it")
            return ""
        signatures, said, members = [], [], []
        for e in elements:
            body = re.match(r"= ?(?:nn::)?(?:meshtensor::)?(detail::\w+)", text_of(e, "initializer"))
            calls = [c for space in ("nn::", "") for c in self.index.get(f"{space}{body[1]}::operator()", ())] if body else []
            if calls or name == shown or e is elements[0]:
                signatures += [signature(c, f"mt::{shown}") for c in calls or [e] if is_public(c)]
            said.append(self.description(e))
            file, start, _ = line_of(e)
            source = (PROJECT / "include" / file).read_text(encoding="utf-8").splitlines()[start - 1:]
            if has_members and (e.tag == "compounddef" or e.get("kind") == "enum"):
                members += self.members(e, shown, source[: int(e.find("location").get("bodyend", start)) - start + 1])
        if not any(said):
            self.found.append(f"{self.where}: {file}:{start} has no description")
        rows = "".join(f"<dt><code>{html.escape(re.sub(rf'{name}(?=[(<])', shown, member))}</code></dt><dd>{text}</dd>"
                       for member, text in dict(members).items())
        places = [self.link(f"include/{file}", file)] + [self.link(p, label, a) for p, label, a in self.about(shown)]
        return (f'<article id="{shown}"><h3>{shown}</h3><pre class="call">' +
                "\n".join(html.escape(s) for s in dict.fromkeys(signatures)) + "</pre>" + "\n".join(dict.fromkeys(said)) +
                (f"<dl>{rows}</dl>" if rows else "") + f'<p class="see">{" · ".join(places)}</p></article>')

    def about(self, name):
        """The section of a guide and the lesson that name it most often."""
        last = name.split("::")[-1]
        for places in self.uses:
            path, anchor, uses = max(places, key=lambda place: min(place[2][last], 3))  # more often is no better
            if uses[last]:
                yield path, path.split("/", 1)[1] + (f": {anchor.replace('-', ' ')}" if anchor else ""), anchor


def sections(path):
    """The anchor and the text of each section of a page."""
    text = path.read_text(encoding="utf-8")
    blank = re.sub(r"^```.*?^```", lambda m: re.sub(r"^#", " ", m[0], flags=re.M), text, flags=re.M | re.S)
    return zip(anchors(text), re.split(r"^#+ .*$", blank, flags=re.M)[1:])


def contents():
    """The pages, each with its title, its readers and its sections of (class, shown name, whether with members)."""
    pages = []
    for line in (HERE / "contents.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            pages.append((*map(str.strip, line[2:].split("|")), []))
        elif line.startswith("- "):
            pages[-1][3].append((line[2:], []))
        elif line and not line.startswith("#"):
            pages[-1][3][-1][1].extend((word.rstrip("!").split("=")[-1], word.rstrip("!").split("=")[0], word[-1] != "!")
                                       for word in line.split())
    return pages


def page_of(title, body, pages):
    links = "".join(f'<a href="{file}.html">{name}</a>' for file, name, *_ in [("index", "Reference"), *pages])
    return (f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title} · meshtensor</title><style>{(HERE / 'style.css').read_text(encoding='utf-8')}</style>"
            f"<nav>{links}</nav><main><h1>{title}</h1>{body}</main></html>\n")


def write(folder, doxygen):
    """Writes all pages; returns their names, everything that doxygen found, and the errors."""
    folder.mkdir(parents=True, exist_ok=True)
    setup = (HERE / "Doxyfile").read_text(encoding="utf-8") + f'\nOUTPUT_DIRECTORY = "{folder}"\n'
    run = subprocess.run([doxygen, "-"], input=setup, text=True, capture_output=True, cwd=PROJECT, check=False)
    writer, pages, names = Writer(index_of(folder / "xml"), folder), contents(), []
    for file, title, readers, parts in pages:
        body = [f"<p>{readers}</p>"]
        for part, listed in parts:
            body.append(f'<h2>{part}</h2><p class="names">' + " ".join(f'<a href="#{n}">{n}</a>' for _, n, _ in listed) + "</p>")
            body += [writer.entry(*name) for name in listed]
            names += [(shown, file) for _, shown, _ in listed]
        (folder / f"{file}.html").write_text(page_of(title, "\n".join(body), pages), encoding="utf-8")
    table = "".join(f'<dt><a href="{file}.html">{title}</a></dt><dd>{readers}</dd>' for file, title, readers, _ in pages)
    listed = " ".join(f'<a href="{file}.html#{n}">{n}</a>' for n, file in sorted(names, key=lambda n: n[0].split("::")[-1]))
    (folder / "index.html").write_text(page_of("Reference", f"<p>{HOW_TO_READ}</p><dl>{table}</dl><h2>All names</h2>"
                                               f'<p class="names">{listed}</p>', pages), encoding="utf-8")
    found = [line for line in run.stderr.splitlines() if "warning: " in line and not UNREADABLE.search(line)]
    found += dict.fromkeys(writer.found)
    if run.returncode != 0 and not found:
        found = ["doxygen failed"]
    return names, writer.index, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--doxygen", default="doxygen")
    given = parser.parse_args()
    names, _, found = write(given.folder.resolve(), given.doxygen)
    print("\n".join(found) if found else f"{len(names)} names are in {given.folder / 'index.html'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
