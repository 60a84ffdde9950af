#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how the headers depend on each other and on other libraries, and that each operation has files and a test of
its name.

layers.py FOLDER       the folder include/meshtensor
layers.py --self-test  that each rule below is caught when broken
"""

import pathlib
import re
import sys
import tempfile

# A header includes from its own folder or from one before it.
LAYERS = ["base", "comm", "mesh", "tensor", "graph", "op", "nn", "regime", "pass", "emit", "device", "array", "job", "run", "eager", "inspect", "io",
          "train", "datasets"]

# Libraries beside the core: nothing outside of their folder includes it, and its names are in a namespace of its own.
BESIDE = ["datasets"]

# Each library has one door: what its headers are called, and where they may be included.
DOORS = [
    ("MPI", r"mpi\.h$", r"comm/mpi(\.hpp|/)"),
    ("oneDNN", r"(oneapi/dnnl/|dnnl)", r"device/cpu/"),
    ("a CBLAS", r"(cblas|openblas)", r"device/cpu/"),
    ("OpenMP", r"omp\.h$", r"device/cpu/"),
    ("oneTBB", r"(tbb/|oneapi/tbb)", r"device/cpu/"),
    ("xsimd", r"xsimd/", r"device/cpu/"),
    ("xtensor", r"(xtensor|xtl)/", r"array/xtensor\.hpp$"),
    ("zlib", r"zlib\.h$", r"datasets/gzip\.hpp$"),
    ("libjpeg", r"(jpeglib|jerror)\.h$", r"datasets/image/jpeg\.hpp$"),
    ("libpng", r"png\.h$", r"datasets/image/png\.hpp$"),
    ("sentencepiece", r"sentencepiece_", r"datasets/text/(learn_)?subwords\.hpp$"),
    ("xxHash", r"xxhash\.h$", None),
    ("fmt", r"fmt/", None),  # one header, wherever it is
]

# What comes with the compiler and the operating system.
SYSTEM = re.compile(r"([a-z_]+|(sys|linux)/\w+\.h|(unistd|sched|pthread|signal|fcntl|dlfcn|poll|time|immintrin|cxxabi)\.h)$")

# Each room has a table of all operations. A row names the operation's definition, which is in the file of the operation.
ROOMS = [
    ("op", "table.hpp", r"struct {}_rule\b"),
    ("device/cpu/nodes", "table.hpp", r"class {}_kernel\b"),
    ("device/cuda/nodes", "table.hpp", r"inline node_work {}_of\(node_setup const&"),
    ("emit/stablehlo", "table.hpp", r"inline value {}\(emission& e, node const&"),
]
# The tests of an operation, too, are in the file of its name.
TESTS = "tests/unit/op"

# A definition that more headers need than the file of the operation can serve.
ELSEWHERE = {("op", "all_to_all_rows"): "detail/all_to_all_rows_rule"}

LONG = 250  # lines: a header has one idea
# Headers that are longer, with the reason.
LONGER = {
    "device/pjrt/api.hpp": "the declarations of a foreign C interface, which have one order",
    "pass/differentiate.hpp": "its functions call each other: a region's gradient is made of its nodes' and of regions'",
}

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]')
NAMESPACE = re.compile(r"^namespace meshtensor(?:::(\w+))?")
MACRO = re.compile(r"^\s*#\s*(define|undef)\b")
# A directive of C++20, whatever it was meant to be: nvcc and newer compilers take it for one.
DIRECTIVE = re.compile(r"^\s*(export\s+)?(module|import)\b")


def check(root):
    """All that is wrong under root, one line each."""
    found = []
    doors = {}
    for path in sorted(root.rglob("*.hpp")):
        name = path.relative_to(root).as_posix()
        folder = name.split("/")[0] if "/" in name else None  # None: the umbrella
        if folder is not None and folder not in LAYERS:
            found.append(f"{name}: the folder {folder} is not in the list of tests/layers.py")
            continue
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONG and name not in LONGER:
            found.append(f"{name}: has {text.count(chr(10))} lines; {LONG} are the most, unless LONGER has a reason")
        if "#pragma once" not in text:
            found.append(f"{name}: has no #pragma once")
        for number, line in enumerate(text.splitlines(), 1):
            at = f"{name}:{number}"
            space = NAMESPACE.match(line)
            if space and (folder in BESIDE) != (space[1] in BESIDE):
                found.append(f"{at}: the names of a folder {', '.join(BESIDE)}, and of no other, are in its namespace")
            if name != "base/config.hpp" and MACRO.match(line):
                found.append(f"{at}: macros belong in base/config.hpp")
            if DIRECTIVE.match(line):
                found.append(f"{at}: a line that begins so is a directive: meshtensor::module")
            include = INCLUDE.match(line)
            if include:
                found += check_include(root, path, name, folder, include.group(1), at, doors)
    found += check_operations(root)
    found += check_tests(root)
    for library, names in doors.items():
        if len(names) > 1:
            found.append(f"{library} has {len(names)} doors: {', '.join(sorted(names))}")
    return found


def operations(root):
    """The primitives that are operations: from the first to the last of graph/primitive.hpp that a device computes."""
    path = root / "graph/primitive.hpp"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    names = re.findall(r"^  (\w+),", text.partition("enum class primitive")[2].partition("count_")[0], re.MULTILINE)
    return names[names.index("constant"):names.index("extension") + 1] + ["iteration"] if names else []


def check_operations(root):
    """In every room, each operation is defined in the file of its name, and its row of the table names the definition.

    A row may also name what computes another operation, too, or a reason: a name that the table's page declares.
    """
    names = operations(root)
    for room, table, defines in ROOMS:
        page = root / room / table
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        rows = dict(re.findall(r"\bprimitive::(\w+), (\w+)", text))
        reasons = set(re.findall(r"^(?:using|inline constexpr std::nullptr_t) (\w+) = ", text, re.MULTILINE))
        own = {name: re.search(r"\w*\{\}\w*", defines).group().format(name) for name in names}
        of = {}
        for path in sorted((root / room).rglob("*.hpp")):
            content = path.read_text(encoding="utf-8")
            for name in names:
                if re.search("^" + defines.format(name), content, re.MULTILINE):
                    of.setdefault(name, []).append(path.relative_to(root / room).with_suffix("").as_posix())
        for name in names:
            wanted = [ELSEWHERE.get((room, name), name)] if rows.get(name) == own[name] else None
            if of.get(name) != wanted:
                yield f"{room}: '{name}' is defined in {of.get(name)}, but its row of {table} needs it in {wanted}"
            elif wanted is None and rows.get(name) not in reasons | {own[other] for other in of}:
                yield f"{room}/{table}: the row of '{name}' names {rows.get(name)}, which no operation defines"


def check_tests(root):
    """Each operation has a test of its name, which includes the operation's header and has cases."""
    tests = root.parent.parent / TESTS
    for name in operations(root):
        path = tests / f"{name}.cpp"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if not path.is_file():
            yield f"{TESTS}: there is no {name}.cpp, which tests the operation '{name}'"
        elif not re.search(r"^TEST_CASE\(", text, re.MULTILINE):
            yield f"{TESTS}/{name}.cpp: has no TEST_CASE"
        elif f'#include "meshtensor/op/{name}.hpp"' not in text:
            yield f"{TESTS}/{name}.cpp: does not include meshtensor/op/{name}.hpp"


def check_include(root, path, name, folder, included, at, doors):
    target = None
    if included.startswith("meshtensor/"):
        target = root / included[len("meshtensor/"):]
    elif (path.parent / included).is_file():
        target = path.parent / included
    if target is not None:
        if not target.is_file():
            return [f"{at}: there is no {included}"]
        other = target.resolve().relative_to(root.resolve()).as_posix().split("/")[0]
        if folder is None:
            if other in [*BESIDE, *(f"{library}.hpp" for library in BESIDE)] and not name == f"{other.removesuffix('.hpp')}.hpp":
                return [f"{at}: {other} is a library beside the core: its users include it"]
            return []
        if other not in LAYERS:
            return [f"{at}: the umbrella is for users only"]
        if LAYERS.index(other) > LAYERS.index(folder):
            return [f"{at}: {folder} comes before {other} and may not include {included}"]
        return []
    for library, headers, door in DOORS:
        if re.match(headers, included):
            if door is None:
                doors.setdefault(library, set()).add(name)
            elif not re.match(door, name):
                return [f"{at}: {library} is included only in {door.replace(chr(92), '').rstrip('$')}"]
            return []
    return [] if SYSTEM.match(included) else [f"{at}: {included} has no door in tests/layers.py"]


def self_test():
    once = "#pragma once\n"
    names = ["extension", "iteration", "constant", "gather"]
    good = {
        "base/config.hpp": once + "#ifdef __clang__\n#define A 1\n#endif\n",
        "base/text.hpp": once + "#include <fmt/core.h>\n#include <vector>\n",
        "tensor/dim.hpp": once + '#include "meshtensor/base/text.hpp"\n#include "../base/config.hpp"\n',
        "comm/mpi.hpp": once + "#include <mpi.h>\n",
        "device/cpu/dot.hpp": once + "#include <oneapi/dnnl/dnnl.hpp>\n#include <xsimd/xsimd.hpp>\n#include <unistd.h>\n",
        "array/xtensor.hpp": once + "#include <xtensor/xarray.hpp>\nmeshtensor::module m;\n",
        "datasets/gzip.hpp": once + "#include <zlib.h>\n",
        "datasets/image/jpeg.hpp": once + "#include <cstdio>\n#include <jpeglib.h>\n",
        "datasets/image/png.hpp": once + "#include <png.h>\n",
        "datasets/text/learn_subwords.hpp": once + "#include <sentencepiece_trainer.h>\n",
        "meshtensor.hpp": once + '#include "meshtensor/array/xtensor.hpp"\n',
        "datasets.hpp": once + '#include "meshtensor/datasets/gzip.hpp"\n',
        "datasets/text/words.hpp": once + '#include "meshtensor/base/text.hpp"\nnamespace meshtensor::datasets {}\n',
        "train/stop.hpp": once + "namespace meshtensor::train {}\n",
        "graph/primitive.hpp": once + "enum class primitive {\n  iteration,\n  constant,\n  gather,\n  extension,\n  count_\n};\n",
        **{f"op/{name}.hpp": f"{once}struct {name}_rule {{}};\n" for name in names},
        "op/table.hpp": once + "".join(f"table_row<primitive::{name}, {name}_rule>,\n" for name in names),
        "device/cpu/nodes/gather.hpp": once + "class gather_kernel final : node_kernel {};\n",
        "device/cpu/nodes/table.hpp": once + "using by_own_loops = no_kernel;\ntable_row<primitive::gather, gather_kernel>,\n" +
                                      "".join(f"table_row<primitive::{name}, by_own_loops>,\n" for name in names[:-1]),
        **{f"device/cuda/nodes/{name}.hpp": f"{once}inline node_work {name}_of(node_setup const& s) {{}}\n" for name in names[1:]},
        "device/cuda/nodes/table.hpp": once + "inline constexpr std::nullptr_t refused = nullptr;\n" +
                                       "{primitive::extension, refused},\n" +
                                       "".join(f"{{primitive::{name}, {name}_of}},\n" for name in names[1:]),
        **{f"emit/stablehlo/{name}.hpp": f"{once}inline value {name}(emission& e, node const&) {{}}\n" for name in names[1:]},
        "emit/stablehlo/table.hpp": once + "{primitive::extension, gather},\n" +
                                    "".join(f"{{primitive::{name}, {name}}},\n" for name in names[1:]),
    }
    tests = {f"../../{TESTS}/{name}.cpp": f'#include "meshtensor/op/{name}.hpp"\nTEST_CASE("values") {{}}\n' for name in names}
    bad = {
        "base/long.hpp": once + "int x;\n" * 300,
        "tensor/a.hpp": once + '#include "meshtensor/array/xtensor.hpp"\n',
        "base/b.hpp": once + '#include "../tensor/dim.hpp"\n',
        "base/c.hpp": once + '#include "meshtensor/base/absent.hpp"\n',
        "base/d.hpp": once + '#include "meshtensor/meshtensor.hpp"\n',
        "comm/local.hpp": once + "#include <mpi.h>\n",
        "device/reference.hpp": once + "#include <tbb/parallel_for.h>\n",
        "run/executable.hpp": once + "#include <xtensor/xview.hpp>\n",
        "run/text.hpp": once + "#include <fmt/core.h>\n",
        "datasets/text/text.hpp": once + "#include <zlib.h>\n",
        "datasets/text/lines.hpp": once + "namespace meshtensor {}\n",
        "datasets/text/pairs.hpp": once + "namespace meshtensor::detail {}\n",
        "datasets/text/bleu.hpp": once + '#include "meshtensor/meshtensor.hpp"\n',
        "train/curves.hpp": once + "namespace meshtensor::datasets {}\n",
        "train/epochs.hpp": once + '#include "meshtensor/datasets/gzip.hpp"\n',
        "train/units.hpp": once + '#include "meshtensor/datasets.hpp"\n',
        "umbrella.hpp": once + '#include "meshtensor/datasets/gzip.hpp"\n',
        "whole.hpp": once + '#include "meshtensor/datasets.hpp"\n',
        "datasets/image/image.hpp": once + "#include <jpeglib.h>\n",
        "datasets/image/crops.hpp": once + "#include <png.h>\n",
        "datasets/text/tokens.hpp": once + "#include <sentencepiece_processor.h>\n",
        "op/e.hpp": once + "#include <boost/any.hpp>\n",
        "op/f.hpp": once + "#define F 1\n",
        "op/g.hpp": once + "#  undef A\n",
        "op/h.hpp": "int h;\n",
        "misc/i.hpp": once,
        "graph/j.hpp": once + "  module const& m;\n",
        "op/lookup.hpp": once + "struct gather_rule : rule {};\n",
        "op/k.hpp": once + "struct gather_rule {};\n",
        "emit/stablehlo/movement.hpp": once + "inline value gather(emission& e, node const& n) {}\n",
        "device/cuda/nodes/lookup.hpp": once + "inline node_work gather_of(node_setup const& s) {}\n",
        # a definition that no row names
        "device/cuda/nodes/extension.hpp": once + "inline node_work extension_of(node_setup const& s) {}\n",
        "device/cpu/nodes/constant.hpp": once + "class constant_kernel final : node_kernel {};\n",
        "device/cpu/nodes/lookup.hpp": once + "class gather_kernel final : node_kernel {};\n",
    }
    bad_rows = {
        "op/table.hpp": ("primitive::gather, gather_rule", "primitive::gather, constant_rule"),
        "device/cpu/nodes/table.hpp": ("primitive::constant, by_own_loops", "primitive::constant, unknown"),
        "device/cuda/nodes/table.hpp": ("{primitive::gather, gather_of},\n", ""),
        "emit/stablehlo/table.hpp": ("primitive::extension, gather", "primitive::extension, extension"),
    }
    bad_tests = [("TEST_CASE", "// TEST_CASE"), ("op/gather", "op/constant")]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "include/meshtensor"

        def write(files):
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")

        write({**good, **tests})
        wrong = [f"refused what is right: {line}" for line in check(root)]
        for name, text in bad.items():
            write({name: text})
            if len(check(root)) != 1:
                wrong.append(f"did not find exactly one fault in {name}: {check(root)}")
            (root / name).unlink()
        for name, (right, changed) in bad_rows.items():
            write({name: good[name].replace(right, changed)})
            if len(check(root)) != 1:
                wrong.append(f"did not find exactly one fault in the rows of {name}: {check(root)}")
            write({name: good[name]})
        test = f"../../{TESTS}/gather.cpp"
        for right, changed in bad_tests:
            write({test: tests[test].replace(right, changed)})
            if len(check(root)) != 1:
                wrong.append(f"did not find exactly one fault in a test with '{changed}': {check(root)}")
        (root / test).unlink()
        if len(check(root)) != 1:
            wrong.append(f"did not find that an operation has no test: {check(root)}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        if len(sys.argv) != 2:
            sys.exit(__doc__)
        root = pathlib.Path(sys.argv[1])
        found = check(root) if list(root.rglob("*.hpp")) else [f"no header found under {root}"]
    print("\n".join(found) if found else "all is in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
