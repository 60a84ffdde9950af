# SPDX-License-Identifier: Apache-2.0
"""Seeds defects and sees that tests catch them. See tests/mutate.sh."""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
HEADERS = "include/meshtensor"
READ_BY = {"probe/stablehlo_on_xla": "probe/stablehlo"}  # tests that Python makes of what another one writes


@dataclasses.dataclass
class Defect:
    what: str
    file: str
    old: str
    new: str
    tests: list


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


class Copy:
    """A copy of the project with a build of its own, in which no file reads headers that another has read."""

    def __init__(self, number):
        self.root = ROOT / "build/mutate" / str(number)
        self.fine = set()
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()
        shutil.rmtree(self.root / "include", ignore_errors=True)
        for file in files:
            to = self.root / file
            source = (ROOT / file).read_bytes() if (ROOT / file).is_file() else None
            if source is not None and (not to.is_file() or to.read_bytes() != source):
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(source)
        subprocess.run(["cmake", "--preset", "release", "-DMESHTENSOR_SHARED_HEADERS=OFF", "-DMESHTENSOR_BENCH=OFF",
                        "-DMESHTENSOR_EXAMPLES=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"],
                       cwd=self.root, check=True, stdout=subprocess.DEVNULL)

    def caught_by(self, defect):
        """The test that fails, or does not compile; '' if none does. Each must pass without the defect."""
        for test in defect.tests:
            if test not in self.fine and not self.passes(test):
                raise SystemExit(f"{test} fails without any defect")
            self.fine.add(test)
        path = self.root / HEADERS / defect.file
        source = path.read_text(encoding="utf-8")
        path.write_text(seed(source, defect), encoding="utf-8")
        try:
            for test in defect.tests:
                if not self.passes(test):
                    return test
            return ""
        finally:
            path.write_text(source, encoding="utf-8")

    def passes(self, test):
        name, _, ranks = test.partition(":")
        build = self.root / "build/release"
        built_test = READ_BY.get(name, name)
        target = "test_" + re.sub(r"\W", "_", built_test)
        built = subprocess.run(["cmake", "--build", build, "--target", target], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        if built.returncode != 0:
            if "unknown target" in built.stdout or "No rule to make target" in built.stdout:
                raise SystemExit(f"mutations.txt: there is no test {name}")
            return False
        program = build / "tests" / (built_test + ".test")
        command = [program] if not ranks else ["mpirun", "-n", ranks, program]
        if name in READ_BY:
            command = [sys.executable, HERE / (name + ".py"), program, build / "tests" / name]
        try:
            code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900).returncode
        except subprocess.TimeoutExpired:
            return False
        if code == 77:
            raise SystemExit(f"{test} is skipped here: it needs what this machine lacks")
        return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    chosen = [d for d in defects() if not given.words or any(w in d.what for w in given.words)]
    for d in chosen:
        seed((ROOT / HEADERS / d.file).read_text(encoding="utf-8"), d)
    print(f"{len(chosen)} defects, each text is there once", flush=True)
    if given.check:
        return 0

    free = queue.Queue()
    for number in range(given.jobs):
        free.put(Copy(number))

    def tried(defect):
        copy, begin = free.get(), time.monotonic()
        try:
            by = copy.caught_by(defect)
        finally:
            free.put(copy)
        print(f"{'caught by ' + by if by else 'NOT CAUGHT':40} {time.monotonic() - begin:5.0f} s  {defect.what}",
              flush=True)
        return bool(by)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        caught = list(pool.map(tried, chosen))
    print(f"{sum(caught)} of {len(caught)} defects are caught")
    return 0 if all(caught) else 1


if __name__ == "__main__":
    sys.exit(main())
