# SPDX-License-Identifier: Apache-2.0
"""Seeds defects and sees that tests catch them. See tests/mutate.sh."""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
HEADERS = "include/meshtensor"
READ_BY = {"probe/stablehlo_on_xla": "probe/stablehlo"}  # tests that Python makes of what another one writes
LIMIT = 900  # seconds of a test
CAUGHT, MISSED, BROKEN, ERROR = "caught", "NOT CAUGHT", "DOES NOT COMPILE", "ERROR"

# What compilers say of a program that is C++ and whose constants come out otherwise: a check of a test fails in them.
OF_CONSTANTS = re.compile(r"static assertion|not a constant expression|constexpr (evaluation|loop)|constant evaluation")


@dataclasses.dataclass
class Defect:
    what: str
    file: str
    old: str
    new: str
    tests: list


@dataclasses.dataclass
class Finding:
    outcome: str  # one of the four above
    by: str = ""  # the test that fails; else what is wrong


class Wrong(Exception):
    """A fault of the list or of the machine: it says nothing about the tests."""


def defects():
    text = (HERE / "mutations.txt").read_text(encoding="utf-8")
    for block in re.split(r"^= ", text, flags=re.MULTILINE)[1:]:
        lines = block.rstrip().splitlines()
        part = {"-": [], "+": [], "@": []}
        for line in lines[2:]:
            if line:
                part[line[0]].append(line[2:])
        yield Defect(lines[0], lines[1], "\n".join(part["-"]), "\n".join(part["+"]), " ".join(part["@"]).split())


def seed(source, defect):
    """The file with the defect. Blanks at line ends and starts count for nothing."""
    pattern = r"\s+".join(re.escape(word) for word in defect.old.split())
    found = re.findall(pattern, source)
    if len(found) != 1:
        raise SystemExit(f"mutations.txt: '{defect.what}': the text is {len(found)} times in {defect.file}")
    return re.sub(pattern, lambda _: defect.new, source)


def is_of_constants(output):
    """Whether all errors of a compiler are of constants, which it computed as the program says."""
    errors = re.findall(r"^.*\berror: .*$", output, re.MULTILINE)
    return bool(errors) and all(OF_CONSTANTS.search(e) for e in errors)


def hash_of_tree():
    """The hash that git would give to the files as they are, committed or not."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "GIT_INDEX_FILE": str(pathlib.Path(folder) / "index")}
        subprocess.run(["git", "add", "-A"], cwd=ROOT, check=True, env=env)
        return subprocess.run(["git", "write-tree"], cwd=ROOT, check=True, env=env, text=True,
                              stdout=subprocess.PIPE).stdout.strip()


def copy_project(to, texts=()):
    """Brings a folder up to date with the project, but for `texts` of some files. Files that are the same keep their
    times, so nothing is rebuilt."""
    texts = dict(texts)
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    wanted = {f for f in files if (ROOT / f).is_file()} | set(texts)
    for path in [*(to / "include").rglob("*"), *(to / "tests").rglob("*")]:
        if path.is_file() and str(path.relative_to(to)) not in wanted:
            path.unlink()
    for file in wanted:
        target, source = to / file, texts[file].encode() if file in texts else (ROOT / file).read_bytes()
        if not target.is_file() or target.read_bytes() != source:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source)
            if file not in texts:
                shutil.copymode(ROOT / file, target)


def environment():
    """Every case of the products and the same random programs each time, so that what is caught once is caught again."""
    own = ROOT / "build/python/bin/python"
    python = str(own) if own.exists() else sys.executable
    generator = {} if "CMAKE_GENERATOR" in os.environ or not shutil.which("ninja") else {"CMAKE_GENERATOR": "Ninja"}
    return {**os.environ, **generator, "MESHTENSOR_PYTHON": python, "MESHTENSOR_SAMPLE": "1", "MESHTENSOR_SEED": "1"}


class Copy:
    """A copy of the project with a build of its own, in which no file reads headers that another has read."""

    def __init__(self, name, folder=ROOT / "build/mutate"):
        self.root = folder / str(name)
        self.fine = set()
        self.environment = environment()
        copy_project(self.root)
        subprocess.run(["cmake", "--preset", "release", "-DMESHTENSOR_SHARED_HEADERS=OFF", "-DMESHTENSOR_BENCH=OFF",
                        "-DMESHTENSOR_EXAMPLES=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"],
                       cwd=self.root, check=True, stdout=subprocess.DEVNULL, env=self.environment)

    def found(self, defect):
        """What the defect's tests say of it. The one that fails must pass without it."""
        path = self.root / HEADERS / defect.file
        source = path.read_text(encoding="utf-8")
        finding = Finding(MISSED)
        try:
            path.write_text(seed(source, defect), encoding="utf-8")
            for test in defect.tests:
                finding = self.outcome(test)
                if finding.outcome != MISSED:
                    break
        except Wrong as e:
            return Finding(ERROR, str(e))
        finally:
            path.write_text(source, encoding="utf-8")
        if finding.outcome != MISSED and test not in self.fine:
            try:
                if self.outcome(test).outcome != MISSED:
                    return Finding(ERROR, f"{test} fails without any defect")
            except Wrong as e:
                return Finding(ERROR, str(e))
            self.fine.add(test)
        return finding

    def outcome(self, test):
        """Whether a test catches what is in the copy now."""
        name, _, ranks = test.partition(":")
        build = self.root / "build/release"
        built_test = READ_BY.get(name, name)
        target = "test_" + re.sub(r"\W", "_", built_test)
        built = subprocess.run(["cmake", "--build", build, "--target", target, "--parallel", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
        if built.returncode != 0:
            if "unknown target" in built.stdout or "No rule to make target" in built.stdout:
                raise Wrong(f"there is no test {name}")
            if is_of_constants(built.stdout):
                return Finding(CAUGHT, test)
            said = re.search(r"\berror: .*", built.stdout)
            return Finding(BROKEN, f"{test}: {said[0] if said else built.stdout[-200:]}")
        program = build / "tests" / (built_test + ".test")
        command = [program] if not ranks else ["mpirun", "-n", ranks, program]
        if name in READ_BY:
            command = [self.environment["MESHTENSOR_PYTHON"], HERE / (name + ".py"), program, build / "tests" / name]
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=LIMIT, env=self.environment,
                                  cwd=build / "tests").returncode
        except subprocess.TimeoutExpired:
            return Finding(CAUGHT, test)
        if code == 77:
            raise Wrong(f"{test} is skipped here: it needs what this machine lacks")
        return Finding(MISSED) if code == 0 else Finding(CAUGHT, test)


class Record:
    """What was found on a tree, kept in a file line by line, so that a run that was ended goes on where it was."""

    def __init__(self, path, tree):
        self.path, self.found = path, {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if lines[:1] != [f"tree {tree}"]:
            path.write_text(f"tree {tree}\n", encoding="utf-8")
            lines = []
        for line in lines[1:]:
            outcome, _, by, what = line.split("\t")
            if outcome != ERROR:
                self.found[what] = Finding(outcome, by)
        self.lock = threading.Lock()

    def add(self, what, finding, seconds):
        by = re.sub(r"\s+", " ", finding.by)
        with self.lock:
            self.found[what] = finding
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{finding.outcome}\t{seconds:.0f} s\t{by}\t{what}\n")
            print(f"{finding.outcome:16} {seconds:5.0f} s  {what}{'  (' + by + ')' if by else ''}", flush=True)


def in_order_of(number, chosen):
    """The defects in an order that the number draws, for a sample that grows until its time is over."""
    return sorted(chosen, key=lambda d: hashlib.sha256(f"{number} {d.what}".encode()).hexdigest())


def run(chosen, record, jobs, minutes):
    """Tries those of which nothing is known, and none after so many minutes. Gives what is known then, by description."""
    begin = time.monotonic()
    left = [d for d in chosen if d.what not in record.found]
    free = queue.Queue()
    for number in range(min(jobs, len(left))):
        free.put(Copy(number))

    def tried(defect):
        if minutes and time.monotonic() - begin > minutes * 60:
            return
        copy, begun = free.get(), time.monotonic()
        try:
            finding = copy.found(defect)
        finally:
            free.put(copy)
        record.add(defect.what, finding, time.monotonic() - begun)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(tried, left))
    return {d.what: record.found[d.what] for d in chosen if d.what in record.found}


def self_test():
    wrong = []
    outputs = {
        "": False,
        "a.hpp:3:1: error: expected ';'": False,
        "tests/a.cpp:3:1: error: static assertion failed: sum": True,
        "tests/a.cpp:3:1: error: static assertion failed\na.hpp:9:9: error: 'x' was not declared": False,
        "a.hpp:9:9: error: expression '<throw-expression>' is not a constant expression": True,
        "ninja: build stopped": False,
    }
    wrong += [f"'{text}' counts as {'a' if not expected else 'no'} failed check of constants"
              for text, expected in outputs.items() if is_of_constants(text) != expected]
    all_of = list(defects())
    names = [d.what for d in all_of]
    wrong += [f"two defects are called '{n}'" for n in sorted({n for n in names if names.count(n) > 1})]
    wrong += [f"'{d.what}' names no test" for d in all_of if not d.tests]
    wrong += [f"'{d.what}': {test} needs its number of ranks, as in {test}:4" for d in all_of for test in d.tests
              if test.startswith("mpi/") and ":" not in test]
    if {d.what for d in in_order_of(1, all_of)} != set(names) or in_order_of(1, all_of)[:9] == in_order_of(2, all_of)[:9]:
        wrong.append("two numbers draw the same sample, or one loses a defect")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a" / "found.txt"
        record = Record(path, "abc")
        record.add("one", Finding(CAUGHT, "unit/a"), 3)
        record.add("two", Finding(ERROR, "no\tsuch\ntest"), 3)
        again, other = Record(path, "abc").found, Record(path, "abd").found
        if list(again) != ["one"] or again["one"].by != "unit/a" or other:
            wrong.append(f"a run that goes on knows {again}, and one of another tree {other}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/mutate/results.txt")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    if given.self_test:
        wrong = self_test()
        print("\n".join(wrong) if wrong else "each fault is found")
        return 1 if wrong else 0
    chosen = [d for d in defects() if not given.words or any(w in d.what for w in given.words)]
    for d in chosen:
        seed((ROOT / HEADERS / d.file).read_text(encoding="utf-8"), d)
    if given.list:
        for d in chosen:
            print(f"{d.what}  [{d.file}: {', '.join(d.tests)}]")
    print(f"{len(chosen)} defects, each text is there once", flush=True)
    if given.check or given.list:
        return 0
    if given.minutes:
        chosen = in_order_of(os.environ.get("MESHTENSOR_DEFECTS_SEED", time.strftime("%Y-%m-%d")), chosen)
    tree = hash_of_tree()
    print(f"tree {tree}; results in {given.results}", flush=True)
    found = run(chosen, Record(given.results, tree), given.jobs, given.minutes)
    outcomes = [f.outcome for f in found.values()]
    for what, finding in found.items():
        if finding.outcome != CAUGHT:
            print(f"{finding.outcome}: {what}{'  (' + finding.by + ')' if finding.by else ''}")
    print(f"{outcomes.count(CAUGHT)} of {len(found)} defects are caught; {len(chosen) - len(found)} were not tried")
    return 0 if found and outcomes.count(CAUGHT) == len(found) and (given.minutes or len(found) == len(chosen)) else 1


if __name__ == "__main__":
    sys.exit(main())
