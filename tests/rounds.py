#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one round of all tests: the part `main` and some pieces of tests/parts.txt, others in each round.

    rounds.py --round N --tree HASH [--begun SECONDS] [--runner COMMAND]     what .ci/run does
    rounds.py --list              which pieces each round has
    rounds.py --check             that tests/parts.txt fits tests/run.sh
    rounds.py --self-test         that each fault is found

A piece is a part of tests/run.sh, or a fraction of one, as `sanitize:2/6`. Pieces are packed in their order into as few
rounds of 61 minutes as it takes. Nobody chooses: the round is N modulo their number, and random numbers come from the
hash of the tree. The minutes of parts.txt are scaled by the time of `main` on this machine. A piece that would end after
minute 80 is not run. That is a failure, unless the machine was 1.3 times as slow as that of parts.txt.
"""

import argparse
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import results

HERE = pathlib.Path(__file__).resolve().parent
ROUND = 61  # minutes of all pieces of a round; 1.3 times as many end before LAST_END
LAST_END = 80  # no piece starts that would end later
LAST_KILL = 88  # a piece that still runs then is ended, so that the outcome is printed at all
MAIN_AT_MOST, PIECE_AT_MOST = 25, 40
SLOW = 1.3
SAMPLE = 3  # one case in so many of the products


@dataclasses.dataclass
class Piece:
    name: str
    minutes: float

    @property
    def part(self):
        return self.name.partition(":")[0]

    @property
    def fraction(self):
        """K and N of PART:K/N; 1 and 1 of a whole part."""
        found = re.fullmatch(r"[a-z-]+:(\d+)/(\d+)", self.name)
        return (int(found[1]), int(found[2])) if found else (1, 1)


@dataclasses.dataclass
class Outcome:
    piece: Piece
    what: str  # passed, failed or NOT RUN
    minutes: float = 0.0
    passed: int = 0
    failed: int = 0
    why: str = ""


# ---- What decides -------------------------------------------------------------------------------------------------


def pieces_of(text):
    """The rows of parts.txt in order."""
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Piece(row[0], float(row[1])) for row in rows]


def faults_of(pieces, parts):
    """All that is wrong with the rows, as sentences. `parts` are those of tests/run.sh."""
    wrong = []
    if not pieces or pieces[0].name != "main":
        wrong.append("the first row is not main")
    names = [p.name for p in pieces]
    wrong += [f"{name} has more than one row" for name in sorted({n for n in names if names.count(n) > 1})]
    for p in pieces:
        most = MAIN_AT_MOST if p.name == "main" else PIECE_AT_MOST
        if not 0 < p.minutes <= most:
            wrong.append(f"{p.name} takes {p.minutes:g} minutes, more than {most}: split it, as in {p.part}:1/2")
        if p.part not in ["main", *parts]:
            wrong.append(f"tests/run.sh has no part {p.part}")
    for part in parts:
        found = sorted(p.fraction for p in pieces if p.part == part)
        n = found[0][1] if found else 0
        if found != [(k + 1, n) for k in range(n)] or not found:
            wrong.append(f"the rows of {part} are not all of it: {', '.join(f'{k}/{m}' for k, m in found) or 'none'}")
    return wrong


def packed(pieces):
    """The pieces of each round: main, and those that have room beside it, each in the first round that has."""
    main, *others = pieces
    rounds = []
    for p in others:
        fits = (r for r in rounds if sum(q.minutes for q in r) + p.minutes <= ROUND)
        one = next(fits, None)
        if one is None:
            rounds.append(one := [main])
        one.append(p)
    return rounds or [[main]]


def words_of(tree):
    """Eight numbers of 32 bits from the tree's hash: each purpose takes another one."""
    digest = hashlib.sha256(tree.encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]


def environment_of(piece, tree):
    """What the tests draw from: other numbers for main, for each other piece and for seeded defects."""
    main, defects = words_of(tree)[:2]
    own = main if piece.name == "main" else words_of(f"{tree} {piece.name}")[2]
    return {"MESHTENSOR_SEED": str(own), "MESHTENSOR_SAMPLE": str(SAMPLE), "MESHTENSOR_DEFECTS_SEED": str(defects)}


def slowness(main, took):
    """How many times as long main took as its row says. A fast main says nothing of builds that are not its own."""
    return max(1.0, took / main.minutes)


def may_start(piece, elapsed, slow):
    return elapsed + piece.minutes * slow <= LAST_END


def run_round(pieces, clock, run):
    """Runs the pieces that have time. `run(piece, minutes)` gives an outcome, and ends the piece after so many."""
    outcomes, slow = [], 1.0
    for p in pieces:
        begun = clock()
        if not may_start(p, begun, slow):
            why = f"at minute {begun:.0f}, {p.minutes * slow:.0f} more would end after minute {LAST_END}"
            outcomes.append(Outcome(p, "NOT RUN", why=why))
            continue
        outcomes.append(run(p, LAST_KILL - begun))
        outcomes[-1].minutes = clock() - begun
        if p.name == "main":
            slow = slowness(p, outcomes[-1].minutes)
    for o in outcomes:
        if o.what == "NOT RUN" and slow < SLOW:
            o.failed = 1
            o.why += f"; the machine was {slow:.2f} times as slow as in parts.txt, and {SLOW} would excuse it"
    return outcomes


def closing_lines(outcomes):
    lines = []
    for o in outcomes:
        counts = f"{o.passed} passed, {o.failed} failed" if o.what != "NOT RUN" else ""
        line = f"{o.piece.name:18} {o.what:8} {o.minutes:6.1f} of {o.piece.minutes:3.0f} min  {counts}"
        lines.append(line.rstrip() + (f"  ({o.why})" if o.why else ""))
    lines.append(f"{sum(o.passed for o in outcomes)} passed, {sum(o.failed for o in outcomes)} failed")
    return lines


# ---- What runs ----------------------------------------------------------------------------------------------------


def end(process):
    """Ends the process with all that it started."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def run_piece(runner, tree, piece, minutes, place=HERE.parent / "build/results"):
    """Runs tests/run.sh for a piece, counts its tests by ctest's own files, and ends it after so many minutes."""
    folder = place / re.sub(r"\W+", "_", piece.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn = environment_of(piece, tree)
    command = [*runner, *([] if piece.name == "main" else ["--part", piece.name])]
    print(f"\n== {piece.name}: {' '.join(f'{k}={v}' for k, v in drawn.items())} {' '.join(command)}", flush=True)
    process = subprocess.Popen(command, env={**os.environ, **drawn, "MESHTENSOR_RESULTS": str(folder)},
                               stdin=subprocess.DEVNULL, start_new_session=True)
    why = ""
    try:
        code = process.wait(timeout=minutes * 60)
    except subprocess.TimeoutExpired:
        code, why = 1, f"it was ended at minute {LAST_KILL}"
    finally:
        if process.returncode is None:
            end(process)
    return judged(piece, code, results.tests_of(folder), why)


def judged(piece, code, tests, why=""):
    """What the tests of a piece and the exit code of what ran them amount to."""
    part = piece.part
    passed = sum(t.what == "passed" for t in tests)
    failed = sum(t.what == "failed" for t in tests) + len(results.not_excused(tests, part))
    if not tests:
        why = why or "it ran no test"
    elif code != 0 and not failed:
        why = why or f"exit code {code}, though no test failed"
    if why:
        failed += 1
    return Outcome(piece, "failed" if failed else "passed", 0.0, passed, failed, why)


def run_all(given):
    pieces = pieces_of((HERE / "parts.txt").read_text(encoding="utf-8"))
    wrong = faults_of(pieces, parts_of_runner())
    if wrong:
        print("tests/parts.txt: " + "\ntests/parts.txt: ".join(wrong))
        return 1
    rounds = packed(pieces)
    chosen = rounds[given.round % len(rounds)]
    print(f"Round {given.round % len(rounds) + 1} of {len(rounds)}: {', '.join(p.name for p in chosen)}", flush=True)
    begun = given.begun or time.time()
    runner = given.runner.split()
    parts = sorted({p.part for p in chosen[1:]})
    if code := subprocess.run([*runner, "--install", *(w for p in parts for w in ("--with", p))],
                              stdin=subprocess.DEVNULL, check=False).returncode:
        print(f"What the tests need could not be installed (exit code {code}).\n0 passed, 1 failed")
        return 1
    outcomes = run_round(chosen, lambda: (time.time() - begun) / 60,
                         lambda p, minutes: run_piece(runner, given.tree, p, minutes))
    print("\n" + "\n".join(closing_lines(outcomes)), flush=True)
    return 1 if any(o.failed for o in outcomes) else 0


def parts_of_runner():
    text = (HERE / "run.sh").read_text(encoding="utf-8")
    return re.search(r"^all_parts=\((.*)\)$", text, re.MULTILINE)[1].split()


# ---- Its own test -------------------------------------------------------------------------------------------------


def packing_faults():
    wrong = []
    main = Piece("main", 20)
    cases = {  # minutes of the others: rounds as numbers of minutes
        (): [[20]],
        (45,): [[20, 45]],
        (45, 1): [[20, 45], [20, 1]],
        (30, 30, 11, 11): [[20, 30, 11], [20, 30, 11]],
        (36, 36, 36, 5, 5, 5, 5): [[20, 36, 5], [20, 36, 5], [20, 36, 5], [20, 5]],
    }
    for minutes, expected in cases.items():
        made = packed([main, *(Piece(f"p{i}", m) for i, m in enumerate(minutes))])
        if [[p.minutes for p in r] for r in made] != expected:
            wrong.append(f"{minutes} are packed as {made}")
        if sorted(p.name for r in made for p in r[1:]) != [f"p{i}" for i in range(len(minutes))]:
            wrong.append(f"{minutes}: a piece is lost or runs twice: {made}")
    return wrong


def row_faults():
    right = "# rows\nmain 20\n\na 10\nb:1/2 40\nb:2/2 30.5\n"
    changes = {
        "right": (right, 0),
        "main is not first": ("a 10\nmain 20\nb:1/2 40\nb:2/2 3", 1),
        "main too long": (right.replace("main 20", "main 26"), 1),
        "a piece too long": (right.replace("b:1/2 40", "b:1/2 41"), 1),
        "no time": (right.replace("a 10", "a 0"), 1),
        "a third is missing": (right.replace("2/2", "2/3"), 1),
        "twice": (right + "a 10\n", 2),  # its rows are not all of it, either
        "no part": (right + "c 10\n", 1),
        "a part is missing": ("main 20\nb:1/2 40\nb:2/2 3", 1),
    }
    found = {name: faults_of(pieces_of(text), ["a", "b"]) for name, (text, _) in changes.items()}
    return [f"{name}: {found[name]}" for name, (_, count) in changes.items() if len(found[name]) != count]


def choosing_faults():
    wrong = []
    rounds = packed([Piece("main", 20), *(Piece(f"p{i}", 40) for i in range(7))])
    if {tuple(p.name for p in rounds[n % len(rounds)]) for n in range(100, 107)} != {("main", f"p{i}") for i in range(7)}:
        wrong.append("seven rounds that follow each other do not run everything")
    words = words_of("tree")
    if len(set(words)) != 8 or words == words_of("other") or max(words) >= 1 << 32:
        wrong.append(f"the words of a tree are {words}")
    a, b = (environment_of(Piece(n, 1), "tree") for n in ("main", "sanitize:1/6"))
    if len({a["MESHTENSOR_SEED"], b["MESHTENSOR_SEED"], a["MESHTENSOR_DEFECTS_SEED"]}) != 3:
        wrong.append("two purposes take the same number")
    classes = {words_of(str(n))[0] % 6 for n in range(200)}
    if len(classes) != 6:
        wrong.append(f"seeds of trees fall into the classes {classes} of six alone")
    return wrong


def running_faults():
    """Rounds on a clock of our own: what each piece takes, and what comes of it."""
    row = [Piece("main", 20), Piece("a", 20), Piece("b", 15), Piece("c", 5)]
    cases = {  # factor, installation, who fails: what each comes to, how many failures
        "as the rows say": (1, 0, "", ["passed"] * 4, 0),
        "a test fails": (1, 0, "a", ["passed", "failed", "passed", "passed"], 1),
        "main fails": (1, 0, "main", ["failed", "passed", "passed", "passed"], 1),
        "a long installation": (1, 28, "", ["passed", "passed", "NOT RUN", "passed"], 1),
        "a little slow": (1.25, 0, "", ["passed"] * 4, 0),
        "slow": (1.5, 0, "", ["passed", "passed", "NOT RUN", "passed"], 0),
        "very slow": (3, 0, "", ["passed", "NOT RUN", "NOT RUN", "passed"], 0),
        "slow, and a test fails": (1.5, 0, "c", ["passed", "passed", "NOT RUN", "failed"], 1),
    }
    wrong = []
    for name, (factor, installation, fails, expected, failures) in cases.items():
        now = [float(installation)]

        def run(piece, minutes, now=now, factor=factor, fails=fails):
            now[0] += min(minutes, piece.minutes * factor)
            bad = piece.name == fails
            return Outcome(piece, "failed" if bad else "passed", 0.0, 9 - bad, int(bad))

        outcomes = run_round(row, lambda now=now: now[0], run)
        if [o.what for o in outcomes] != expected or sum(o.failed for o in outcomes) != failures:
            wrong.append(f"{name}: {closing_lines(outcomes)}")
        if now[0] > LAST_KILL:
            wrong.append(f"{name}: it ended at minute {now[0]}")
        passed = 9 * sum(w == "passed" for w in expected) + 8 * sum(w == "failed" for w in expected)
        if closing_lines(outcomes)[-1] != f"{passed} passed, {failures} failed":
            wrong.append(f"{name}: the last line is {closing_lines(outcomes)[-1]}")
    if may_start(Piece("x", 10), 71, 1) or may_start(Piece("x", 10), 60, 2.1) or not may_start(Piece("x", 10), 70, 1):
        wrong.append("a piece starts that would end after the last minute, or one that would not does not start")
    return wrong


def judging_faults():
    """What exit codes and files of ctest come to: nothing that did not run, or not whole, is green."""
    one = Piece("a:1/2", 1)
    test = results.Test
    cases = {
        "green": (0, [test("t", "passed")], "passed", 1, 0),
        "a failure": (8, [test("t", "passed"), test("u", "failed")], "failed", 1, 1),
        "no test": (0, [], "failed", 0, 1),
        "a build that fails": (2, [test("t", "passed")], "failed", 1, 1),
        "a skipped test": (8, [test("t", "passed"), test("u", "skipped")], "failed", 1, 1),
        "a failure behind exit code 0": (0, [test("u", "failed")], "failed", 0, 1),
    }
    wrong = []
    for name, (code, tests, what, passed, failed) in cases.items():
        o = judged(one, code, tests)
        if (o.what, o.passed, o.failed) != (what, passed, failed):
            wrong.append(f"{name}: {o}")
    return wrong


def process_faults():
    """Real processes: what they print as results is read, and one that does not end is ended with its children."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "runner"
        script.write_text("#!/bin/bash\n[ \"$2\" != hangs ] || sleep 1000\ncat >\"$MESHTENSOR_RESULTS/x.xml\" <<'X'\n"
                          '<testsuite><testcase name="t" status="run"/></testsuite>\nX\n', encoding="utf-8")
        script.chmod(0o755)
        begun = time.monotonic()
        for name, minutes, expected in (("main", 2, "passed"), ("ends", 2, "passed"), ("hangs", 0.02, "failed")):
            o = run_piece([str(script)], "tree", Piece(name, 1), minutes, pathlib.Path(folder) / "results")
            if o.what != expected:
                wrong.append(f"a piece that {name}: {o}")
        if time.monotonic() - begun > 240:
            wrong.append("a piece that hangs was not ended in time")
    return wrong


def self_test():
    return [*packing_faults(), *row_faults(), *choosing_faults(), *running_faults(), *judging_faults(),
            *process_faults()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--tree", default="no tree")
    parser.add_argument("--begun", type=float, help="when it began, in seconds since 1970")
    parser.add_argument("--runner", default=str(HERE / "run.sh"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if not (given.list or given.check or given.self_test):
        return run_all(given)
    pieces = pieces_of((HERE / "parts.txt").read_text(encoding="utf-8"))
    if given.list:
        for i, r in enumerate(packed(pieces)):
            print(f"{i}: {sum(p.minutes for p in r):g} min: {', '.join(p.name for p in r)}")
        return 0
    wrong = self_test() if given.self_test else faults_of(pieces, parts_of_runner())
    print("\n".join(wrong) if wrong else "no fault is found" if given.check else "each fault is found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
