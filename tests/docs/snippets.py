#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if the C++ snippets of a page compile, and if its whole program prints what the page says.

snippets.py PAGE SOURCE [--read HEADERS LIBRARY] COMPILER ARGUMENTS...

A fence ```cpp holds declarations, or a whole program if they include its headers itself; ```cpp main holds statements of a
main function, ```cpp program statements of a program, with s, the scope. What they may use stands in prelude.hpp, and in
the headers that the page itself names, `#include <meshtensor/...>`. All snippets of a page, but for whole programs, are
one file, SOURCE. A fence ```text right after a whole program is its output. LDLIBS in the environment names the
libraries of programs, if not -lfmt. HEADERS are headers that the compiler has read, LIBRARY what was compiled with them;
so only the snippets are left to compile.
"""

import os
import pathlib
import re
import subprocess
import sys

# What snippets may use besides prelude.hpp: the variables of a main function, the tensors of a program.
MAIN = "mt::job const& job, mt::store& weights, prelude::executable& step, prelude::images_array const& images"
PROGRAM = """auto x = s.input("x", s.real(), batch, d_model);
auto token = s.input("token", mt::i32, batch);
auto start = s.input("start", s.real(), d_model);
auto bias = s.parameter("bias", d_model);
auto weight = s.parameter("weight", d_model, d_ff);
auto table = s.parameter("table", vocab, d_model);
auto weight_of_one = s.parameter("weight_of_one", d_model);
"""

NAMED = re.compile(r"`(#include <meshtensor/[^>`]+>)`")
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def collect(page):
    """The joint file of a page, and its whole programs with their outputs."""
    text = page.read_text(encoding="utf-8")
    joint, programs, number = ['#include "docs/prelude.hpp"', *NAMED.findall(text)], [], 0
    fences = list(FENCE.finditer(text))
    for k, fence in enumerate(fences):
        kind, body = fence.group(1).strip(), fence.group(2)
        if not kind.startswith("cpp"):
            continue
        number += 1
        here = f'#line {line_of(text, fence.start(2))} "{page.name}"\n{body}'
        if "#include" in body:
            after = fences[k + 1] if k + 1 < len(fences) else None
            output = after.group(2) if after and after.group(1).strip() == "text" else None
            programs.append((here, output))
        elif kind == "cpp":
            body_of_main = here.replace("int main(", f"int main_{number}(")
            joint.append(f"namespace snippet_{number} {{\nusing namespace prelude;\n{body_of_main}}}")
        elif kind == "cpp main":
            joint.append(f"void snippet_{number}({MAIN}) {{\nusing namespace prelude;\n{here}}}")
        elif kind == "cpp program":
            joint.append(f"struct snippet_{number} {{\nconstexpr void operator()(mt::scope auto s) const {{\n"
                         f"using namespace prelude;\n{PROGRAM}{here}}}\n}};\n"
                         f"constexpr auto traced_{number} = mt::trace<snippet_{number}>();")
        else:
            return None, f"{page.name}:{line_of(text, fence.start())}: no such kind of snippet: {kind}"
    return ("\n".join(joint) + "\n" if number > len(programs) else None, programs), None


def call(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    return run.returncode, run.stdout


def main():
    page, source = map(pathlib.Path, sys.argv[1:3])
    compiler, level, compiled = sys.argv[3:], "-O1", []
    if compiler[0] == "--read":
        headers, library, *compiler = compiler[1:]
        compiler += ["-DMESHTENSOR_COMPILED=1", "-include", headers]
        level, compiled = "-O0", [library]
    found, wrong = collect(page)
    if wrong:
        return wrong
    joint, programs = found
    source.parent.mkdir(parents=True, exist_ok=True)
    if joint:
        source.write_text(joint, encoding="utf-8")
        code, output = call([*compiler, level, "-Wno-unused", "-Wno-unused-parameter", "-Wno-return-type", "-fsyntax-only",
                             str(source)])
        if code != 0:
            return f"{output}\nthe snippets of {page.name} do not compile"
    for k, (program, expected) in enumerate(programs):
        alone = source.with_name(f"{source.stem}_{k}.cpp")
        binary = alone.with_suffix("")
        alone.write_text(program, encoding="utf-8")
        libraries = os.environ.get("LDLIBS", "-lfmt").split()
        code, output = call([*compiler, level, str(alone), *compiled, "-pthread", *libraries, "-o", str(binary)])
        if code != 0:
            return f"{output}\na program of {page.name} does not compile"
        code, output = call([str(binary)])
        if code != 0 or (expected is not None and output != expected):
            return f"{output}\na program of {page.name} ended with {code} and printed this instead of:\n{expected}"
    print("no snippets" if not joint and not programs else "the snippets compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
