#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Formats the sources, or says which are not formatted; lints lines and licences.

    tests/format.py [--fix] [--formatter CLANG_FORMAT] [FILE...]       all sources, if no file is named

The formatter is clang-format of the version that tests/requirements.txt pins, from PyPI: versions format differently.
One rule is ours: a dim or an axis, declared as an empty struct with one constant of it, stands on one line.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

PROJECT = pathlib.Path(__file__).resolve().parent.parent
LICENCE = "SPDX-License-Identifier: Apache-2.0"
SUBJECT = 72  # letters of a commit's subject
SUBJECTS_SINCE = "739c8fd95f10"
COLUMNS = 120
AT_ONCE = 50  # files that one process formats
SKIPPED = 77  # as ctest is told


def pinned():
    text = (PROJECT / "tests/requirements.txt").read_text(encoding="utf-8")
    return re.search(r"^clang-format==(\S+)", text, re.MULTILINE)[1]


def found(given):
    """The formatter's path; ends the process if it is not there in the pinned version."""
    own = PROJECT / "build/python/bin/clang-format"
    path = given or (own if own.exists() else shutil.which("clang-format"))
    version = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True, check=True) if path else None
    said = version.stdout if version else "absent"
    if f"version {pinned()}" not in said:
        print(f"clang-format is {said.strip()}; needed is {pinned()}: pip install clang-format=={pinned()}")
        sys.exit(1 if os.environ.get("CI") == "true" or given else SKIPPED)
    return binary(path)


def binary(path):
    """The program of the package from PyPI, whose command is a script around it."""
    script = pathlib.Path(path).resolve()
    inside = script.parent.parent.glob("lib/python*/site-packages/clang_format/data/bin/clang-format")
    return next(inside, path)


def on_one_line(text):
    def joined(match):
        line = f"{match[1]} {{}} {match[2]}"
        return line if len(line) <= COLUMNS else match[0]

    split = r"^( *(?:inline |static )?constexpr struct [^\n{]*) \{\n *\} (\w+;.*)$"
    return re.sub(split, joined, text, flags=re.MULTILINE)


def formatted(formatter, paths):
    """The formatted text of each file. One process formats many files in place, so it gets copies of them."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [pathlib.Path(folder, *path.parts[1:]) for path in paths]
        for path, copy in zip(paths, copies):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        subprocess.run([formatter, f"--style=file:{PROJECT / '.clang-format'}", "-i", *copies], check=True)
        return [on_one_line(copy.read_text(encoding="utf-8")) for copy in copies]


# Words that had a meaning of their own here and have a name in the field; one of them is an identifier, or a word of a
# page, again only by mistake.
RETIRED = re.compile(
    r"\b(hall_?|stations?_?|circle_|seats?_?|meetings?_?|crew_?|patience|wishes|device_wishes|wishes_of|wisher|"
    r"mixed_words|mixed_rule|over_all|heirs|side_by_side|remembering|when_used|mpi_flights?|flights|unfinished|placer|"
    r"examine|delivered|author|mark_of_plan|(lowered|stages)::mark|slopes?_\w*|slopes|threads_job|lockstep_job|mpi_job|"
    r"mt::processors|processors_mesh|leave_out_of_steps|kept_subwords|kept_file|asked_row|place::(filled|window)|"
    r"linearity::(alone|together)|moved_piece|(each|copy|pack|unpack)_piece|(auto|const|shape|struct|using) turned|"
    r"host_twins|twins_|straight_(line|code|device)|in_straight_line|where_it_lies|lies_\w+|order_list|"
    r"queued_task|recorded_(orders|tasks)|scope_place|captured_steps|exchanges_of_report|planned_exchange|"
    r"device_exchange|prepare_exchange|instruction_kind::exchange|"
    r"(auto|double|const|const&) slope|hands_memory_to_mpi|hands_on|takes_away|join_away|record_away|known_call|ends_first|cuda::peers)\b")
# Attention has queries, keys, values and an output.
RETIRED_IN_ATTENTION = re.compile(r"\b(questions?|answers?|asked|seen)(_|\b)")


def lints(path, text):
    if LICENCE not in text[:80]:
        yield f"{path}: the first line is not // {LICENCE}"
    riddle = re.match(r"// SPDX.*\n// ((What|Which|Where|How|That|Whether|When|Who)\b.*)", text)
    if path.suffix == ".hpp" and riddle:
        yield f"{path}: begins with '{riddle[2]}': say what the header does, verb first, or name the thing"
    yield from retired_names(path, text)
    yield from wide_lines(path, text)


def retired_names(path, text):
    patterns = [RETIRED, RETIRED_IN_ATTENTION] if "attention" in str(path) else [RETIRED]
    for retired in (found for pattern in patterns for found in pattern.finditer(f"{path.stem}\n{text}")):
        yield f"{path}: '{retired[0]}' is a retired name"


def wide_lines(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        width = sum(not unicodedata.combining(letter) for letter in line)
        if width > COLUMNS and "http" not in line:
            yield f"{path}:{number}: {width} columns; {COLUMNS} are the most"


def wide_prose(path, text):
    """Lines of a page outside of tables and of what programs print."""
    blank_rows = re.sub(r"^(```.*?^```|\|.*?)$", lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S)
    yield from wide_lines(path, blank_rows)


def long_subjects():
    """Commits since SUBJECTS_SINCE whose subject is too long for a list of one line each. Nothing without a repository."""
    log = subprocess.run(["git", "-C", PROJECT, "log", "--no-merges", "--format=%h %s", f"{SUBJECTS_SINCE}..HEAD"],
                         capture_output=True, text=True, check=False)
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT:
            yield f"{commit}: the subject has {len(subject)} letters; {SUBJECT} are the most: {subject}"


def conflict_markers():
    """Lines that a merge left behind, in any file that git knows."""
    found = subprocess.run(["git", "-C", PROJECT, "grep", "-nE", "^(<<<<<<<|>>>>>>>) "], capture_output=True, text=True,
                           check=False)
    for line in found.stdout.splitlines():
        yield f"{line}: a merge left this line"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--formatter")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    formatter = found(given.formatter)
    files = [path.resolve() for path in given.files] or [
        path for folder in ("include", "cmake", "tests", "examples", "bench")
        for path in sorted((PROJECT / folder).rglob("*"))]
    files = [path for path in files if path.suffix in (".hpp", ".cpp", ".cu")]
    if not files:
        sys.exit("no source file is there")
    findings = []
    shares = [files[first:first + AT_ONCE] for first in range(0, len(files), AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        texts = [text for share in pool.map(lambda share: formatted(formatter, share), shares) for text in share]
    for path, text in zip(files, texts):
        here = path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path
        if text != path.read_text(encoding="utf-8"):
            if given.fix:
                path.write_text(text, encoding="utf-8")
            else:
                findings.append(f"{here}: tests/format.py --fix would change it")
        findings += lints(here, text)
    if not given.files:
        for path in [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "bench").rglob("*.md")]:
            text = path.read_text(encoding="utf-8")
            findings += wide_prose(path.relative_to(PROJECT), text)
            if path.name != "CHANGELOG.md":  # which says what was renamed
                findings += retired_names(path.relative_to(PROJECT), text)
        findings += long_subjects()
        findings += conflict_markers()
        defects = pathlib.Path("tests/mutations.txt")
        findings += retired_names(defects, (PROJECT / defects).read_text(encoding="utf-8"))
    print("\n".join(findings) if findings else f"{len(files)} files are formatted")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
