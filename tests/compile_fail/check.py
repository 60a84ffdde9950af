#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if the compiler refuses a file with every sentence that the file expects, where a user looks for it.

check.py README FILE COMPILER ARGUMENTS...
check.py --measure README COMPILER ARGUMENTS... [-- FILE...]    prints how many cases say it well, and which do not

A case says it well if there is one error, which has the sentence, and a line of the file stands within two lines of it
(the compiler's excerpts of the source are not counted). All cases must, except those of exceptions.txt, each of which
has its reason there. A case that says it well is no exception.
"""

import os
import re
import subprocess
import sys

SHOWN = 5  # of the lines that the README's grep finds, those in which the sentence must stand
NEAR = 2  # lines between `error:` and the user's own line
HERE = os.path.dirname(os.path.abspath(__file__))


def joined(text):
    """A sentence in one piece, which clang would cut short if it were one constant."""
    return re.sub(r'"\}, (?:\w+::)*text<\d+>\{"', "", text)


def words(text):
    """One line, single blanks, plain quotes: compilers break and decorate lines differently, and escape quotes."""
    return " ".join(re.sub("[\u2018\u2019]", "'", joined(text)).replace("\\'", "'").replace('\\"', '"').split())


def pattern(readme):
    """What the README has users grep for."""
    with open(readme, encoding="utf-8") as file:
        found = re.findall(r"grep -E '([^']*)'", file.read())
    if len(found) != 1:
        sys.exit(f"{readme} does not say what to grep for")
    return found[0]


def kind_of(compiler):
    return "clang" if "clang" in os.path.basename(compiler) else "gcc"


def is_program(line):
    """Whether a line of a case may be wrong itself: not those that only ask for the trace."""
    return not re.search("try_trace|is_valid|is_accepted", line)


def said(source, text, expected, output):
    """The number of errors; whether the first has the sentences; whether one that has them is near a line of the file."""
    lines = [joined(line) for line in output.splitlines() if not re.match(r"\s*\d* \|", line)]
    errors = [i for i, line in enumerate(lines) if re.search(r"(^|\s)error:", line)]
    of_file, near = re.compile(rf"\b{re.escape(os.path.basename(source))}:(\d+)"), False
    own = text.splitlines()
    has = [all(words(sentence) in words("\n".join(lines[first:last])) for sentence in expected)
           for first, last in zip(errors, errors[1:] + [len(lines)])]
    for i, has_it in zip(errors, has):
        around = "\n".join(lines[max(0, i - NEAR):i + NEAR + 1])
        near = near or (has_it and any(is_program(own[int(n) - 1]) for n in of_file.findall(around)))
    return len(errors), bool(has) and has[0], near


def compiled(source, compiler, arguments):
    """The text of a file, the sentences that it expects, and what the compiler does with it."""
    kind = kind_of(compiler)
    with open(source, encoding="utf-8") as file:
        text = file.read()
    first = re.findall(rf"^// expect(?: {kind})?: (.*)$", text, re.MULTILINE)
    flags = " ".join(re.findall(rf"^// flags {kind}: (.*)$", text, re.MULTILINE)).split()
    command = [compiler, *arguments, *flags, "-fsyntax-only", source]
    plain = {**os.environ, "LC_ALL": "C"}  # quotes as in ASCII
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=plain, check=False)
    return text, first, run.returncode, run.stdout.decode("utf-8", "replace")


def exceptions(kind):
    """The cases that need not say it well with this compiler."""
    with open(os.path.join(HERE, "exceptions.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {row[0] for row in rows if kind in row[1:]}


def check(readme, source, compiler, arguments):
    kind = kind_of(compiler)
    text, first, code, output = compiled(source, compiler, arguments)
    anywhere = re.findall(rf"^// also(?: {kind})?: (.*)$", text, re.MULTILINE)
    if not first:
        return f"{source} has no line `// expect: ...` for {kind}"
    print(output)
    if code == 0:
        return f"{source} compiles, but must not"
    if code < 0 or "internal compiler error" in output:
        return f"the compiler broke down over {source}"
    shown = [line for line in output.splitlines() if re.search(pattern(readme), line)][:SHOWN]
    missing = [f"the first {SHOWN} lines of grep do not say: {line}" for line in first
               if words(line) not in words("\n".join(shown))]
    missing += [f"the compiler did not say: {line}" for line in anywhere if words(line) not in words(output)]
    name = os.path.splitext(os.path.basename(source))[0]
    count, in_first, near = said(source, text, first, output)
    is_well_said = count == 1 and in_first and near
    if not is_well_said and name not in exceptions(kind):
        missing.append(f"{count} errors, the sentence {'is' if in_first else 'is not'} in the first one, and a line of the "
                       f"file {'is' if near else 'is not'} near: exceptions.txt does not have this case")
    if is_well_said and name in exceptions(kind):
        missing.append("the case says it well: remove it from exceptions.txt")
    return "\n".join(missing)


def measure(compiler, arguments, sources):
    rows = []
    for source in sources:
        text, first, _, output = compiled(source, compiler, arguments)
        rows.append((os.path.splitext(os.path.basename(source))[0], *said(source, text, first, output)))
    for name, count, in_first, near in rows:
        if not (count == 1 and in_first and near):
            print(f"{kind_of(compiler)} {name}: {count} errors, in the first: {in_first}, near a line: {near}")
    print(f"{len(rows)} cases, {sum(row[1] for row in rows)} errors; {sum(row[1] == 1 for row in rows)} with one error; "
          f"{sum(row[2] for row in rows)} have the sentence in the first; {sum(row[3] for row in rows)} near a line; "
          f"{sum(row[1] == 1 and row[2] and row[3] for row in rows)} say it well")


def main():
    if sys.argv[1] == "--measure":
        _, compiler, *arguments = sys.argv[2:]
        files = sorted(os.path.join(HERE, file) for file in os.listdir(HERE) if file.endswith(".cpp"))
        if "--" in arguments:
            files = arguments[arguments.index("--") + 1:]
            arguments = arguments[:arguments.index("--")]
        return measure(compiler, arguments, files)
    readme, source, compiler, *arguments = sys.argv[1:]
    return check(readme, source, compiler, arguments)


if __name__ == "__main__":
    sys.exit(main() or 0)
