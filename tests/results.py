#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what ctest writes of its tests, and fails where tests were skipped that nothing excuses.

    results.py FILE PART        FILE: ctest --output-junit; PART: the part of tests/run.sh that these tests are of
    results.py --self-test      that each fault is found

A skipped test looks green. Where CI=true each must therefore be in tests/skips.txt, with the hardware, the data or the
system that the machine lacks for it. What can be installed is no excuse.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
LACKS = ("hardware", "data", "system")


@dataclasses.dataclass
class Test:
    name: str
    what: str  # passed, failed or skipped
    why: str = ""


@dataclasses.dataclass
class Excuse:
    part: str
    name: str
    lacks: str
    why: str


def tests_of_file(path):
    """The tests of one run of ctest. A test that ctest could not start has failed, though ctest calls it skipped."""
    tests = []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        skipped, status = case.find("skipped"), case.get("status")
        by_itself = skipped is not None and skipped.get("message", "").startswith("SKIP_")
        what = "passed" if status == "run" else "skipped" if by_itself or status == "disabled" else "failed"
        said = re.search(r"^skipped: .*", case.findtext("system-out") or "", re.MULTILINE)
        tests.append(Test(case.get("name"), what, said[0] if said else ""))
    return tests


def tests_of(folder):
    """Those of all runs whose files lie in a folder; a file that cannot be read is a test that failed."""
    tests = []
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        try:
            tests += tests_of_file(path)
        except xml.etree.ElementTree.ParseError as e:
            tests.append(Test(str(path), "failed", str(e)))
    return tests


def excuses(text):
    rows = [line.split(None, 3) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Excuse(*row) for row in rows]


def committed_excuses():
    return excuses((HERE / "skips.txt").read_text(encoding="utf-8"))


def not_excused(tests, part, excused=None):
    """The skipped tests of a part that have no row in skips.txt."""
    rows = committed_excuses() if excused is None else excused
    names = {e.name for e in rows if e.part == part and e.lacks in LACKS and e.why}
    return [t for t in tests if t.what == "skipped" and t.name not in names]


def self_test():
    """ctest itself writes what is read here: a test of each outcome, and one that several others need."""
    cases = {
        "passes": ("true", "", "passed"), "fails": ("false", "", "failed"), "absent": ("./no_such_program", "", "failed"),
        "code": ("bash -c 'echo skipped: no card; exit 77'", "SKIP_RETURN_CODE 77", "skipped"),
        "words": ("echo skipped: no zlib", "SKIP_REGULAR_EXPRESSION ^skipped:", "skipped"),
        "hangs": ("sleep 60", "TIMEOUT 1", "failed"), "refuses": ("false", "WILL_FAIL ON", "passed"),
        "disabled": ("true", "DISABLED ON", "skipped"), "fixture": ("false", "FIXTURES_SETUP ground", "failed"),
        "above": ("true", "FIXTURES_REQUIRED ground", "failed"),
        "odd": ("printf '\\x01\\xff<&'", "", "passed"),
    }
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for name, (command, properties, _) in cases.items():
            words = " ".join(f"[=[{w}]=]" for w in ["bash", "-c", command])
            lines.append(f"add_test([=[{name}]=] {words})")
            if properties:
                key, value = properties.split(" ", 1)
                lines.append(f"set_tests_properties([=[{name}]=] PROPERTIES {key} [=[{value}]=])")
        lines[lines.index("add_test([=[absent]=] [=[bash]=] [=[-c]=] [=[./no_such_program]=])")] = (
            "add_test([=[absent]=] [=[./no_such_program]=])")
        pathlib.Path(folder, "CTestTestfile.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")
        written = pathlib.Path(folder, "x.xml")
        subprocess.run(["ctest", "--test-dir", folder, "--output-junit", written], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        tests = {t.name: t for t in tests_of(folder)}
        if set(tests) != set(cases):
            wrong.append(f"of the tests {sorted(cases)} it reads {sorted(tests)}")
        for name, test in tests.items():
            if test.what != cases[name][2]:
                wrong.append(f"{name} counts as {test.what}")
        if "code" in tests and tests["code"].why != "skipped: no card":
            wrong.append(f"the reason of a skipped test is read as '{tests['code'].why}'")
        pathlib.Path(folder, "y.xml").write_text("<testsuite><testcase", encoding="utf-8")
        if sum(t.what == "failed" for t in tests_of(folder)) != 1 + sum(c[2] == "failed" for c in cases.values()):
            wrong.append("a file that ends early is no failure")
    two = [Test("a", "skipped"), Test("b", "skipped"), Test("c", "passed")]
    rows = {"": ["a", "b"], "main a hardware no card": ["b"], "cuda a hardware no card": ["a", "b"],
            "main a package no cli11": ["a", "b"], "# main a data x\nmain b data no texts": ["a"]}
    for text, expected in rows.items():
        found = [t.name for t in not_excused(two, "main", excuses(text))]
        if found != expected:
            wrong.append(f"with '{text}' not excused are {found}")
    for e in committed_excuses():
        if e.lacks not in LACKS:
            wrong.append(f"skips.txt: {e.name} lacks {e.lacks}, which is none of {', '.join(LACKS)}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
        print("\n".join(wrong) if wrong else "each fault is found")
        return 1 if wrong else 0
    path, part = sys.argv[1:]
    found = not_excused(tests_of_file(path), part)
    for t in found:
        print(f"{t.name} was skipped, and tests/skips.txt has no row for it in the part {part}. {t.why}".rstrip())
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
