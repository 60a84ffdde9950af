#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small faults in the library by rules, and counts how many of them the tests find.

    mutants.py [--count 300] [--seed 1] [--rooms pass,op,comm,run,io,job] [--tests REGEX] [--results FILE] [--jobs 2]
    mutants.py --list             the faults that would be tried, one a line
    mutants.py --self-test        that the rules make what they say

A mutant is one statement or condition of a header with a condition negated, a bound moved, an operator, a number or an
index exchanged, or the statement left out. `--seed` draws them by hash.

All mutants are compiled into one build of the tests, in build/mutants, each behind a switch that is read at run time,
and passes run at start-up. Those that do not compile are replaced by others. Each test runs once to say which switches
it comes by, and then with each of those mutants, the quickest test first, until one fails. Compilers evaluate much of
the library, the tracing of programs above all; no switch can be turned there. What no test comes by at run time is
therefore tried as plain text: it is compiled into tests of headers near it, and those whose executable changes are run
(`--compiled` says how many tests; 0: none). What changes no executable at all counts for nothing.

The results are written line by line below the hash of the tree, so that the same command goes on where it was ended.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import mutate

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
KILLED, SURVIVED, UNSEEN = "killed", "SURVIVED", "changes nothing"
SWITCH = "meshtensor_mutants::on"

# The header that the copy's headers include. A switch is off while the compiler evaluates.
SWITCHES = """// SPDX-License-Identifier: Apache-2.0
// Switches of the mutants. MESHTENSOR_MUTANT turns one on; MESHTENSOR_MUTANTS_REACHED names a file for those met.
#pragma once
#include <fcntl.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <string>
#include <type_traits>
namespace meshtensor_mutants {
inline constinit std::atomic<int> chosen{-1}, file{-1};
inline constinit std::atomic<bool> reached[COUNT] = {};
inline int choose() {
  char const* const number = std::getenv("MESHTENSOR_MUTANT");
  char const* const list = std::getenv("MESHTENSOR_MUTANTS_REACHED");
  if (list != nullptr) file = ::open(list, O_WRONLY | O_CREAT | O_APPEND, 0666);
  return chosen = number == nullptr ? 0 : std::atoi(number);
}
inline bool is_on(int id) {
  int c = chosen.load(std::memory_order_relaxed);
  if (c < 0) c = choose();
  if (file >= 0 && !reached[id].exchange(true)) {
    std::string const line = std::to_string(id) + "\\n";
    [[maybe_unused]] auto const written = ::write(file, line.data(), line.size());
  }
  return c == id;
}
template <int Id>
[[gnu::noinline]] constexpr bool on() {
  if (std::is_constant_evaluated()) return false;
  return is_on(Id);
}
}  // namespace meshtensor_mutants
"""


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # below include/meshtensor
    begin: int  # of the unit in the file's text
    end: int
    kind: str  # condition, loop, return, statement or value: how a switch is put around it
    rule: str
    new: str  # the unit with the fault

    def key(self, text):
        """What names it, wherever in the file it stands, with the text around it for what stands there twice."""
        around = text[max(0, self.begin - 60) : self.end]
        return hashlib.sha256(f"{self.file}\0{around}\0{self.rule}\0{self.new}".encode()).hexdigest()[:12]


# ---- The rules ----------------------------------------------------------------------------------------------------

EXCHANGED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-",
             "-": "+", "*": "+", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "*=": "+=", "|": "&", "&": "|", "<<": ">>",
             ">>": "<<", "|=": "&=", "&=": "|="}
OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|\*=|\|=|&=|[<>+\-*/%|&])(?= )")
NUMBER = re.compile(r"(?<![\w.'])(\d+)(?![\w.'])")
INDEX = re.compile(r"\[([a-z]\w*)\]")
STEP = re.compile(r"\+\+|--")
NOT = re.compile(r"(?<![\w)\]])!(?=[a-z(])")
KEYWORDS = r"(?:return|if|for|while|do|switch|case|default|else|break|continue|goto|throw|using|typedef|template|" \
           r"struct|class|union|enum|namespace|typename|static_assert|friend|public|private|protected|static|" \
           r"constexpr|consteval|inline|extern|requires|concept|operator|auto|const|co_\w+|asm|delete|try|catch)\b"
STATEMENT = re.compile(rf"(?!{KEYWORDS})(?:\+\+|--|\*)?[a-z_](?:[\w:.]|->|\[[^][]*\])*"
                       r"(?: (?:[-+*/|&%^]|<<|>>)?= |\(|\+\+|--|,|$)")
VALUE = re.compile(r"(?!constexpr\b|static\b|using\b|inline\b|extern\b)"
                   r"[A-Za-z_][\w:<>, ]*[\w>] (?:const )?[&*]? ?[a-z]\w* = ")


def blanked(text):
    """The text with comments, strings, characters and lines of the preprocessor as blanks of the same length."""
    pattern = r"//[^\n]*|/\*.*?\*/|R\"\((?:.|\n)*?\)\"|\"(?:\\.|[^\"\\\n])*\"|(?<![\w])'(?:\\.|[^'\\\n])+'|^#[^\n]*"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M | re.S)


def closing(code, at):
    """Where the bracket at `at` is closed."""
    depth = 0
    for i in range(at, len(code)):
        depth += code[i] in "([{"
        depth -= code[i] in ")]}"
        if depth == 0:
            return i
    return -1


def ends_at(code, at):
    """Where the statement that begins at `at` ends, if it has no braces."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in "{}" or depth < 0:
            return -1
        depth += code[i] in "(["
        depth -= code[i] in ")]"
        if code[i] == ";" and depth == 0:
            return i
    return -1


def outside_of_brackets(code, mark):
    depth = 0
    for i, letter in enumerate(code):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if depth == 0 and code.startswith(mark, i):
            return True
    return False


def units_of(text):
    """(begin, end, kind) of what a switch can be put around: conditions, values that are returned or that a variable
    begins with, and statements."""
    code = blanked(text)
    for m in re.finditer(r"\b(if|while) \(", code):
        begin, end = m.end(), closing(code, m.end() - 1)
        if end > 0 and not re.search(r"[;{}]| = ", code[begin:end]):
            yield begin, end, "condition" if m[1] == "if" else "loop"
    for m in re.finditer(r"\bfor \(", code):
        end = closing(code, m.end() - 1)
        parts = [i for i in range(m.end(), end) if code[i] == ";" and ends_at(code, m.end()) >= 0]
        if len(parts) == 2 and code[parts[0] + 1 : parts[1]].strip() and "{" not in code[m.end() : end]:
            yield parts[0] + 2, parts[1], "loop"
    for m in re.finditer(r"\breturn (?=[^;{\[])", code):
        end = ends_at(code, m.end())
        if end > 0:
            yield m.start(), end + 1, "return"
    for m in re.finditer(r"(?:[;{})]|\belse)(?:\s+)(?=[A-Za-z_+*-])", code):
        end = ends_at(code, m.end())
        if end < 0 or (m[0][0] == ")" and code[m.end() : end].startswith(("const", "noexcept", "override"))):
            continue
        statement = code[m.end() : end]
        if STATEMENT.match(statement):
            yield m.end(), end + 1, "statement"
        elif m[0][0] != ")" and (value := VALUE.match(statement)) and not outside_of_brackets(statement, ","):
            if not re.match(r"\s*[\[{]", statement[value.end() :]):
                yield m.end() + value.end(), end, "value"


def mutants_of(file, text):
    """All mutants of a header. Each has one fault."""
    code = blanked(text)
    for begin, end, kind in units_of(text):
        old, plain = text[begin:end], code[begin:end]

        def made(rule, at, length, by, begin=begin, end=end, kind=kind, old=old):
            return Mutant(file, begin, end, kind, rule, old[:at] + by + old[at + length :])

        if kind == "condition":
            yield made("negate", 0, len(old), f"!({old})")
            yield made("always", 0, len(old), "true")
        if kind in ("condition", "loop"):  # a loop that never ends would only take time
            yield made("never", 0, len(old), "false")
        if kind == "statement":
            yield made("leave out", 0, len(old), ";")
        for m in OPERATOR.finditer(plain):
            yield made(f"{m[0]} for {EXCHANGED[m[0]]}", m.start(), len(m[0]), EXCHANGED[m[0]])
        for m in STEP.finditer(plain):
            yield made("step", m.start(), 2, "--" if m[0] == "++" else "++")
        for m in NOT.finditer(plain):
            yield made("no not", m.start(), 1, "")
        for m in NUMBER.finditer(plain):
            yield made("number", m.start(), len(m[0]), str(int(m[0]) + 1))
            if m[0] == "1":
                yield made("number", m.start(), 1, "0")
        nearby = set(INDEX.findall(code[max(0, begin - 600) : end + 600]))
        for m in INDEX.finditer(plain):
            for other in sorted(nearby - {m[1]})[:3]:
                yield made("index", m.start(1), len(m[1]), other)


def switched(mutant, number, text):
    """The unit with the mutant behind a switch."""
    old, on = text[mutant.begin : mutant.end], f"{SWITCH}<{number}>()"
    new = mutant.new.replace("\n", " ")
    if mutant.kind in ("condition", "loop"):
        return f"{on} ? static_cast<bool>({new}) : static_cast<bool>({old})"
    if mutant.kind == "value":
        return f"{on} ? ({new}) : ({old})"
    return f"{{ if ({on}) {{ {new} }} else {{ {old} }} }}"


def put_in(text, chosen):
    """The header with mutants, {number: mutant}, of which no two share a unit; and the lines on which each stands."""
    lines, original = {}, text
    for number, m in sorted(chosen.items(), key=lambda item: -item[1].begin):
        text = text[: m.begin] + switched(m, number, text) + text[m.end :]
    head, rest = text.split("#pragma once\n", 1)
    text = head + "#pragma once\n#include \"meshtensor/mutants.hpp\"\n" + rest
    for number in chosen:
        at = text.index(f"{SWITCH}<{number}>()")
        first = text.count("\n", 0, at) + 1
        lines[number] = first, first + original.count("\n", chosen[number].begin, chosen[number].end)
    return text, lines


ROOT_TEXT = {}  # of each header below include/meshtensor, as it is in the project


def text_of(file):
    if file not in ROOT_TEXT:
        ROOT_TEXT[file] = (ROOT / mutate.HEADERS / file).read_text(encoding="utf-8")
    return ROOT_TEXT[file]


def drawn(rooms, seed):
    """All mutants of these rooms in the order of the draw, one of each unit."""
    found = []
    for room in rooms:
        for path in sorted((ROOT / mutate.HEADERS / room).rglob("*.hpp")):
            file = str(path.relative_to(ROOT / mutate.HEADERS))
            found += mutants_of(file, text_of(file)) if "#pragma once\n" in text_of(file) else []
    found.sort(key=lambda m: hashlib.sha256(f"{seed} {m.key(text_of(m.file))} {m.begin}".encode()).digest())
    taken = collections.defaultdict(list)  # of each file the units that have a mutant: no other may overlap
    for m in found:
        if all(m.end <= begin or end <= m.begin for begin, end in taken[m.file]):
            taken[m.file].append((m.begin, m.end))
            yield m


def described(m):
    text = text_of(m.file)
    old, new = re.sub(r"\s+", " ", text[m.begin : m.end]), re.sub(r"\s+", " ", m.new)
    return f"{m.file}:{text.count(chr(10), 0, m.begin) + 1} {m.rule}: {old} => {new}"


# ---- One build with all switches ------------------------------------------------------------------------------------


class Build:
    """A copy of the project with mutants behind switches, and its tests."""

    def __init__(self, pattern, jobs):
        self.root, self.jobs = ROOT / "build/mutants/tree", jobs
        self.pattern, self.environment = re.compile(pattern), mutate.environment()
        # As .ci/run has it: one case in three.
        self.environment["MESHTENSOR_SAMPLE"] = os.environ.get("MESHTENSOR_SAMPLE", "3")
        self.lines = {}

    def write(self, chosen):
        """Puts the mutants into the copy. Files that stay the same are not touched."""
        mutate.copy_project(self.root, self.texts(chosen))

    def texts(self, chosen):
        files = collections.defaultdict(dict)
        for number, m in chosen.items():
            files[m.file][number] = m
        texts = {f"{mutate.HEADERS}/mutants.hpp": SWITCHES.replace("COUNT", str(max(chosen, default=0) + 1))}
        for file, those in files.items():
            texts[f"{mutate.HEADERS}/{file}"], lines = put_in(text_of(file), those)
            self.lines.update({n: (file, *where) for n, where in lines.items()})
        return texts

    def guilty(self, output, chosen):
        """The mutants on whose lines a compiler found errors."""
        found = set()
        for file, line in re.findall(r"include/meshtensor/(\S+?\.hpp):(\d+):\d+: (?:fatal )?error:", output):
            where = {n: self.lines[n] for n in chosen if self.lines[n][0] == file}
            found |= {n for n, (_, first, last) in where.items() if first <= int(line) <= last}
        return found

    def front_end(self):
        """What the compiler says of the headers alone: most of what does not compile is found in seconds."""
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
            headers = sorted({where[0] for where in self.lines.values()})
            file.write("#include <meshtensor/meshtensor.hpp>\n")
            file.writelines(f"#include <meshtensor/{h}>\n" for h in headers if not re.search(r"(^|/)mpi|cpu/", h))
            file.flush()
            return subprocess.run(["g++", "-std=c++20", "-w", "-fsyntax-only", "-fmax-errors=0", "-DMESHTENSOR_EARLY=0",
                                   "-I", self.root / "include", file.name], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False).stdout

    def configure(self):
        subprocess.run(["cmake", "--preset", "release", "-DMESHTENSOR_JOINED=ON", "-DMESHTENSOR_BENCH=OFF",
                        "-DMESHTENSOR_EXAMPLES=OFF", "-DMESHTENSOR_EARLY=OFF", "-DCMAKE_CXX_FLAGS=-w",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
                        f"-DPython3_EXECUTABLE={self.environment['MESHTENSOR_PYTHON']}"],
                       cwd=self.root, check=True, stdout=subprocess.DEVNULL, env=self.environment)

    def tests(self):
        """The tests of main that start an executable of the build, whose names match: (name, command, properties)."""
        shown = subprocess.run(["ctest", "--test-dir", self.root / "build/release", "-L", "^main$",
                                "--show-only=json-v1"], stdout=subprocess.PIPE, check=True, text=True).stdout
        commands = {}  # ctest leaves out those whose executables are not built yet
        for file in (self.root / "build/release").rglob("CTestTestfile.cmake"):
            for name, words in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", file.read_text(), re.M):
                commands[name] = [re.sub(r"\\(.)", r"\1", w) for w in re.findall(r'"((?:\\.|[^"\\])*)"', words)]
        for test in json.loads(shown)["tests"]:
            command = commands.get(test["name"], [])
            properties = {p["name"]: p["value"] for p in test["properties"]}
            if any(w.endswith(".test") for w in command) and self.pattern.search(test["name"]):
                yield test["name"], command, properties

    def build(self):
        """What the build tool says of the executables of the tests."""
        programs = sorted({w for _, command, _ in self.tests() for w in command if w.endswith(".test")})
        targets = [str(pathlib.Path(p).relative_to(self.root / "build/release")) for p in programs]
        built = subprocess.run(["cmake", "--build", self.root / "build/release", "--parallel", str(self.jobs),
                                "--target", *targets, "--", "-k0"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                               env=self.environment)
        return built.returncode, built.stdout, [p for p in programs if pathlib.Path(p).exists()]

    def emitted(self, programs):
        """The mutants that are in one of these executables."""
        found = set()
        for program in programs:
            output = subprocess.run(["nm", program], stdout=subprocess.PIPE, check=False).stdout
            symbols = output.decode(errors="replace")
            found |= {int(n) for n in re.findall(r"_ZN18meshtensor_mutants2onILi(\d+)EEEbv", symbols)}
        return found

    def run(self, test, limit, mutant=0, reached=None):
        """Whether a test passes, and in how many seconds, with a mutant turned on or with a list of those reached."""
        _, command, properties = test
        env = dict(self.environment, MESHTENSOR_MUTANT=str(mutant))
        env.update(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []) if "MESHTENSOR_SAMPLE" not in pair)
        env["MPIEXEC_TIMEOUT"] = str(int(limit) + 1)
        if reached:
            env["MESHTENSOR_MUTANTS_REACHED"] = str(reached)
        begin = time.monotonic()
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   cwd=properties.get("WORKING_DIRECTORY", self.root / "build/release/tests"))
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end_group(process)
            return False, time.monotonic() - begin
        words = properties.get("FAIL_REGULAR_EXPRESSION", [])
        passes = process.returncode == 0 and not any(re.search(w, output.decode(errors="replace")) for w in words)
        return passes, time.monotonic() - begin


def end_group(process):
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.communicate()


def choose(build, candidates, count):
    """The first `count` mutants that compile and are in an executable; {number: mutant}."""
    chosen, out, number = {}, set(), 0
    for attempt in range(12):
        bad = None
        while bad is None or bad:
            while len(chosen) < count and (m := next(candidates, None)):
                number += 1
                chosen[number] = m
            build.write(chosen)
            bad = build.guilty(build.front_end(), chosen)
            for n in bad:
                out.add(chosen.pop(n))
        if attempt == 0:
            build.configure()
        code, output, programs = build.build()
        bad = build.guilty(output, chosen)
        if code != 0 and not bad:
            raise SystemExit(f"the build fails, and no mutant is to blame:\n{output[-3000:]}")
        for n in bad:
            out.add(chosen.pop(n))
        print(f"{len(chosen)} mutants; {len(out)} do not compile", flush=True)
        if not bad:
            return chosen, build.emitted(programs)
    raise SystemExit("mutants that do not compile do not come to an end")


def recorded(build, jobs):
    """Of each test its seconds and the switches that it comes by. Tests that fail without any mutant are left out."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=ROOT / "build/mutants"))

    def one(item):
        number, test = item
        passes, seconds = build.run(test, 1800, 0, folder / str(number))
        listed = folder / str(number)
        return test, passes, seconds, {int(n) for n in listed.read_text().split()} if listed.exists() else set()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(one, enumerate(build.tests())))
    for test, passes, _, _ in found:
        if not passes:
            print(f"{test[0]} fails or is skipped without any mutant, and is left out", flush=True)
    return sorted(((t, s, r) for t, p, s, r in found if p), key=lambda f: f[1])


def killed_by(build, number, known):
    """The first test that fails with the mutant; '' if none does."""
    for test, seconds, reached in known:
        if number in reached and not build.run(test, 4 * seconds + 30, number)[0]:
            return test[0]
    return ""


# ---- What only compilers evaluate -----------------------------------------------------------------------------------


def near(file, tests):
    """Tests in the order in which they are likely to see a header: by the words that their names share."""
    words = set(re.findall(r"[a-z]{3,}", file)) | {file.split("/")[0]}

    def score(name):
        own = set(re.findall(r"[a-z]{3,}", name)) | {part for part in name.split("/")}
        return -len(words & own) - (name.startswith("unit/" + file.split("/")[0] + "/")), name

    return sorted(tests, key=score)


def compiled_finding(copy, m, tests, plain):
    """What tests say of a mutant that is plain text. Those whose executable it does not change are not run."""
    path = copy.root / mutate.HEADERS / m.file
    text, changed = text_of(m.file), []
    try:
        for test in tests:
            program = copy.root / "build/release/tests" / f"{test}.test"
            if test not in plain:
                path.write_text(text, encoding="utf-8")
                if copy.outcome(test).outcome != mutate.MISSED:
                    plain[test] = None
                else:
                    plain[test] = hashlib.sha256(program.read_bytes()).digest()
            if plain[test] is None:
                continue
            path.write_text(text[: m.begin] + m.new + text[m.end :], encoding="utf-8")
            finding = copy.outcome(test)
            if finding.outcome == mutate.BROKEN:
                return finding
            if finding.outcome == mutate.CAUGHT:
                return mutate.Finding(KILLED, test)
            if hashlib.sha256(program.read_bytes()).digest() != plain[test]:
                changed.append(test)
        if changed:
            return mutate.Finding(SURVIVED, f"changes {' '.join(changed)}")
        return mutate.Finding(UNSEEN, " ".join(tests))
    except mutate.Wrong as e:
        return mutate.Finding(mutate.ERROR, str(e))
    finally:
        path.write_text(text, encoding="utf-8")


# ---- Its own test -------------------------------------------------------------------------------------------------

SAMPLE = """// a < b in a comment
#pragma once
namespace n {
struct s {
  int member = 3;
  int f(int a, int const* p, int i, int at) const {
    if (a < 2 && !p) return a + 1;
    for (int k = 0; k < a; ++k) {
      total += p[i] * p[at];
    }
    int const b = a == 1 ? "a < b"[0] : g(a, 7);
    auto const h = [&] { return b >= 3; };
    while (a != 0) --a;
    if constexpr (sizeof(int) < 8) do_it(h);
    return p[i];
  }
};
}
"""


def self_test():
    wrong = []
    units = [(SAMPLE[b:e], kind) for b, e, kind in units_of(SAMPLE)]
    expected = [("a < 2 && !p", "condition"), ("a != 0", "loop"), ("k < a", "loop"), ("return a + 1;", "return"),
                ("return b >= 3;", "return"), ("return p[i];", "return"), ("total += p[i] * p[at];", "statement"),
                ("--a;", "statement"), ("do_it(h);", "statement"), ('a == 1 ? "a < b"[0] : g(a, 7)', "value")]
    missing, more = set(expected) - set(units), set(units) - set(expected) - {("3", "value")}
    wrong += [f"it misses the unit {u}" for u in missing] + [f"it takes {u} for a unit" for u in more]
    faults = {m.new for m in mutants_of("x.hpp", SAMPLE)}
    wanted = ["a <= 2 && !p", "a < 3 && !p", "a < 2 || !p", "a < 2 && p", "!(a < 2 && !p)", "k <= a", "return a - 1;",
              "return a + 0;", "return b > 3;", "return p[at];", "total -= p[i] * p[at];", "total += p[at] * p[at];",
              ";", "++a;", 'a != 1 ? "a < b"[0] : g(a, 7)']
    wrong += [f"no mutant is '{w}'" for w in wanted if w not in faults]
    all_of = list(mutants_of("x.hpp", SAMPLE))
    if any(SAMPLE[m.begin : m.end] == m.new for m in all_of):
        wrong.append("a mutant changes nothing")
    chosen, taken = {}, []
    for m in all_of:
        if all(m.end <= b or e <= m.begin for b, e in taken):
            taken.append((m.begin, m.end))
            chosen[len(taken)] = m
    ROOT_TEXT["x.hpp"] = SAMPLE
    text, lines = put_in(SAMPLE, chosen)
    for number, m in chosen.items():
        plain = SAMPLE.count("\n", 0, m.begin) + 2  # the include is one line more
        if lines[number][0] != plain:
            wrong.append(f"mutant {number} is said to be on line {lines[number]}, not {plain}")
    back = re.sub(rf"{SWITCH}<\d+>\(\) \? static_cast<bool>\(.*?\) : static_cast<bool>\((.*?)\)(?=[;)])", r"\1", text)
    if f"{SWITCH}<1>()" not in text or "if constexpr (sizeof(int) < 8)" not in back:
        wrong.append(f"the switches are put so: {text}")
    if len({m.key(SAMPLE) for m in all_of}) != len(all_of):
        wrong.append("two mutants have one name")
    first, second = ([m.new for _, m in zip(range(40), drawn(["op"], seed))] for seed in (1, 2))
    if first == second or first != [m.new for _, m in zip(range(40), drawn(["op"], 1))]:
        wrong.append("the seed does not draw, or draws otherwise each time")
    if near("op/reduce.hpp", ["unit/pass/fuse", "unit/io/files", "unit/op/reduce_sums"])[0] != "unit/op/reduce_sums":
        wrong.append("tests of the same name are not the nearest")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--rooms", default="pass,op,comm,run,io,job")
    parser.add_argument("--tests", default="", help="only tests whose names match")
    parser.add_argument("--compiled", type=int, default=6, help="tests for a mutant that compilers alone evaluate")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/mutants/results.txt")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        wrong = self_test()
        print("\n".join(wrong) if wrong else "each fault is found")
        return 1 if wrong else 0
    candidates = drawn(given.rooms.split(","), given.seed)
    if given.list:
        for _, m in zip(range(given.count), candidates):
            print(described(m))
        return 0
    return run(given, candidates)


def run(given, candidates):
    tree = f"{mutate.hash_of_tree()} seed {given.seed} rooms {given.rooms} tests {given.tests}"
    record = mutate.Record(given.results, tree)
    build = Build(given.tests, given.jobs)
    chosen, emitted = choose(build, candidates, given.count)
    known = recorded(build, given.jobs)
    reached = set().union(*(r for _, _, r in known)) if known else set()
    print(f"{len(chosen)} mutants; {len(emitted)} are in an executable, {len(reached)} are reached by "
          f"{len(known)} tests", flush=True)

    def tried(number):
        name = described(chosen[number])
        if name not in record.found:
            begin = time.monotonic()
            by = killed_by(build, number, known)
            record.add(name, mutate.Finding(KILLED if by else SURVIVED, by or "reached"), time.monotonic() - begin)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(tried, sorted(reached & set(chosen))))
    left = {n: m for n, m in chosen.items() if n not in reached and described(m) not in record.found}
    if given.compiled and left:
        copy, plain = mutate.Copy("plain", ROOT / "build/mutants"), {}
        names = sorted({re.sub(r"\.\d+$", "", t[0]) for t, _, _ in known if "mpirun" not in t[1][0]})
        for n, m in left.items():
            begin = time.monotonic()
            finding = compiled_finding(copy, m, near(m.file, names)[: given.compiled], plain)
            if finding.outcome == UNSEEN and n in emitted:
                finding = mutate.Finding(SURVIVED, "no test reaches it")
            record.add(described(m), finding, time.monotonic() - begin)
    known_of = [record.found[described(m)] for m in chosen.values() if described(m) in record.found]
    outcomes = collections.Counter(finding.outcome for finding in known_of)
    tried_all = outcomes[KILLED] + outcomes[SURVIVED]
    print(f"{outcomes[KILLED]} of {tried_all} mutants are killed; {outcomes[UNSEEN]} change no executable that was "
          f"tried, {outcomes[mutate.BROKEN]} do not compile in one, {outcomes[mutate.ERROR]} could not be tried, "
          f"{len(chosen) - sum(outcomes.values())} were not")
    for m in chosen.values():
        finding = record.found.get(described(m))
        if finding and finding.outcome == SURVIVED:
            print(f"SURVIVED ({finding.by}): {described(m)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
