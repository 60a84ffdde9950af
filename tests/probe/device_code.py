#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with nvcc for two architectures, reads what became of each of them, and runs the program.

device_code.py NVCC SOURCE.cu OUT INCLUDE

What nvcc cannot have in device code it may leave out without a word, and the rest of the kernel with it: so every
kernel must store something, and neither trap nor call. It must not contract a multiplication and an addition on its own
either; where the build has an instruction for both, as x86 has with -mfma, the polynomials of base/math.hpp use it, and
the second run looks for that.

The test is skipped with a CUDA before 13.
"""

import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
ARCHITECTURES = [80, 90]
FLAGS = [
    "-std=c++20",
    "-O2",
    "--expt-relaxed-constexpr",  # the host's constexpr functions are the device's
    "-fmad=false",  # as -ffp-contract=off
    "-Xcompiler=-ffp-contract=off",
    "-DMESHTENSOR_MAX_NODES=1024",  # its front end copies a module for every evaluation that reads it
    "-diag-suppress=186,445",  # counting to the size of an empty pack; a parameter that only a lambda's body uses
]
FUSED = re.compile(r"\bfma\.rn\.f(32|64)")


def call(command):
    print(" ".join(map(str, command)), flush=True)
    subprocess.run(command, check=True)


def kernels(ptx):
    """The code of each kernel, by name."""
    parts = ptx.read_text().split(".entry ")[1:]
    return {part[: part.index("(")]: part[: part.index("\n}")] for part in parts}


def wrong(name, code):
    """What is wrong with a kernel, whatever the build."""
    if not re.search(r"\bst(\.global)?\.", code):
        yield f"{name} stores nothing: something in it is no device code"
    for word in ("trap", "call"):
        if re.search(rf"^\s*(@%p\d+ )?{word}\b", code, re.MULTILINE):
            yield f"{name} has a {word}"


def main():
    nvcc, source, out, include = map(pathlib.Path, sys.argv[1:])
    version = re.search(r"release (\d+)", subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout)
    if version is None or int(version[1]) < 13:
        print(f"skipped: kernels are tried with CUDA 13 and later; {nvcc} is of an earlier one")
        return SKIPPED
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    program, fused = out / source.stem, out / "fused.ptx"
    common = [nvcc, *FLAGS, f"-I{include}", source]
    call([*common, *(f"-gencode=arch=compute_{a},code=sm_{a}" for a in ARCHITECTURES), "--keep", f"--keep-dir={out}",
          "-o", program])
    found = []
    for a in ARCHITECTURES:
        code = kernels(out / f"{source.stem}.compute_{a}.ptx")
        print(f"sm_{a}: {len(code)} kernels")
        found += [w for name in code for w in wrong(name, code[name])] if code else ["no kernels"]
        found += [f"{name} contracts on its own" for name in code if FUSED.search(code[name])]
    if not found:
        call([*common, f"-arch=sm_{ARCHITECTURES[-1]}", "-Xcompiler=-mfma", "-ptx", "-o", fused])
        code = kernels(fused)
        found += [w for name in code for w in wrong(name, code[name])]
        if not any(map(FUSED.search, code.values())):
            found.append("no kernel multiplies and adds at once where the build does")
    print("\n".join(found))
    return 1 if found else subprocess.run([program], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
