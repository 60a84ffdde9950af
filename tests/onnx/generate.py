#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the node cases of ONNX as C++ programs of the library, and their inputs and expected outputs as a file.

generate.py FOLDER FILES    writes programs_0.cpp …, their list cases.cpp, and cases.safetensors into FOLDER

Without the package onnx the list is empty, and the test is skipped.
"""

import collections
import json
import pathlib
import re
import sys
import warnings

warnings.simplefilter("ignore")
try:
    import numpy

    numpy.random.seed(0)  # the package draws some inputs when it is imported
    from onnx.backend.test.case.node import collect_testcases
except ImportError as missing:
    collect_testcases = None
    print(f"no node cases of ONNX: {missing}")
else:
    import program
    import reasons
    import translations  # noqa: F401 (it fills program.TRANSLATIONS)

NAMES_OF_FILE = {
    "float64": "F64",
    "float32": "F32",
    "bfloat16": "BF16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "bool": "BOOL",
}


def reason_of_types(case):
    """Why no program of the library can have the values of a case, or None."""
    ((given, wanted),) = case.data_sets
    arrays = [program.array_of(value) for value in [*given, *wanted]]
    if any(a is None for a in arrays):
        return "no sequences and no values that may be absent"
    if any(a.dtype == object for a in arrays):
        return "no texts in programs"
    if any(program.dtype_of(a) not in program.DTYPES for a in arrays):
        return "another dtype"
    operands = [a for a in arrays[: len(given)] if a.ndim > 1]  # an empty list of axes is a constant of a program
    if any(a.size == 0 for a in operands + arrays[len(given) :]):
        return "an extent of 0 (T06)"
    return None


def kinds_left_out():
    tables = {**reasons.NO_OPERATION, **reasons.NOT_WRITTEN}
    return {op: why for why, ops in tables.items() for op in ops}


def reason_of(case, used):
    """Why a case is left out, or None. Keeps the reasons that are used."""
    op, label = case.model.graph.node[0].op_type, case.name.removeprefix("test_")
    if "_expanded" in case.name:
        return "several nodes that stand for one, which is a case itself"
    found = [why for why, names in reasons.CASES.items() if re.fullmatch(names, label)]
    used.update(found)
    if op in kinds_left_out():
        used.add(op)
        found.append(kinds_left_out()[op])
    assert len(found) < 2, f"{case.name} is left out twice: {found}"
    return found[0] if found else reason_of_types(case)


def write_tensors(path, tensors):
    """In the format of safetensors, whose package writes no bf16 of numpy."""
    header, offset = {}, 0
    for name, array in tensors.items():
        header[name] = {
            "dtype": NAMES_OF_FILE[program.dtype_of(array)],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(array.tobytes())


def write_programs(path, number, programs):
    bodies = "\n".join(body for _, body in programs)
    entries = "".join(f'  all.push_back(listed<{name}>("{name}"));\n' for name, _ in programs)
    path.write_text(
        f"""#include "onnx/node_case.hpp"

namespace onnx_cases {{
namespace {{

{bodies}
}}  // namespace

void add_{number}(std::vector<node_case>& all) {{
  all.reserve(all.size() + {len(programs)});
{entries}}}

}}  // namespace onnx_cases
""",
        encoding="utf-8",
    )


def write_list(path, files, tensors):
    declared = "".join(f"void add_{i}(std::vector<node_case>&);\n" for i in range(files))
    added = "".join(f"  add_{i}(all);\n" for i in range(files))
    path.write_text(
        f"""#include "onnx/node_case.hpp"

namespace onnx_cases {{

{declared}
std::vector<node_case> written_cases() {{
  std::vector<node_case> all;
{added}  return all;
}}
char const* file_of_tensors() {{ return {json.dumps(str(tensors))}; }}

}}  // namespace onnx_cases
""",
        encoding="utf-8",
    )


def translated(cases):
    """The text of each program, and the tensors of all; prints what is left out, and why."""
    programs, left_out, used, tensors = [], collections.Counter(), set(), {}
    for case in cases:
        why = reason_of(case, used)
        if why is not None:
            left_out[why] += 1
            continue
        p = program.Program(case)
        assert p.op in program.TRANSLATIONS, f"{case.name}: no translation of {p.op}, and no reason to leave it out"
        program.TRANSLATIONS[p.op](p)
        programs.append((p.name, p.text()))
        for kind, values in (("input", p.fed), ("variable", p.kept), ("output", p.wanted)):
            tensors.update({f"{p.name}:{kind}:{name}": array for name, array in values.items()})
    unused = ({*reasons.CASES} | {*kinds_left_out()}) - used
    assert not unused, f"left out, but there is no such case: {sorted(unused)}"
    print(f"{len(programs)} of {len(cases)} node cases of ONNX are programs; the others:")
    for why, count in left_out.most_common():
        print(f"  {count} {why}")
    return programs, tensors


def main(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    programs = []
    if collect_testcases is not None:
        programs, tensors = translated(collect_testcases(""))
        write_tensors(folder / "cases.safetensors", tensors)
    size = -(-len(programs) // files)
    for i in range(files):
        write_programs(folder / f"programs_{i}.cpp", i, programs[i * size : (i + 1) * size])
    write_list(folder / "cases.cpp", files, folder / "cases.safetensors")


main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
