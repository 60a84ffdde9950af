#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs StableHLO programs that a test has written on XLA's CPU, and compares what they give with what was expected.

stablehlo_on_xla.py TEST FOLDER [NAME...]

TEST is run with MESHTENSOR_STABLEHLO_CASES=FOLDER; of what it writes there NAME.mlir is a program, NAME.txt lists its
arguments and results, NAME.bin has their elements, for each of the replicas one after the other. Every text is parsed,
verified, brought to version 1.0.0, compiled for its replicas, one device each, and run.

Without jax, which brings jaxlib and its StableHLO, the test is skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
MOST_REPLICAS = 8
TOLERANCE = {"f64": 1e-10, "f32": 1e-5, "bf16": 1e-2}  # of the greatest element; other dtypes are exact

os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={MOST_REPLICAS}"
os.environ["NPROC"] = str(2 * MOST_REPLICAS)  # XLA's threads: those that wait for others hold one each
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
try:
    import jax
    import ml_dtypes
    import numpy as np
    from jax.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
except ImportError as e:
    print(f"skipped: programs are run on XLA by jax, which is not here: pip install jax ({e})")
    sys.exit(1 if os.environ.get("CI") == "true" else SKIPPED)  # as tests/support/python.hpp

jax.config.update("jax_enable_x64", True)
TYPES = {"f64": np.float64, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64,
         "u64": np.uint64, "u8": np.uint8, "bool": np.bool_}


def read(path):
    """The number of replicas, then arguments and results: of each its dtype and an array for every replica."""
    data = path.with_suffix(".bin").read_bytes()
    lines = [line.split() for line in path.with_suffix(".txt").read_text().splitlines()]
    replicas, at = int(lines[0][1]), 0
    ports = {"argument": [], "result": []}
    for what, dtype, *shape in lines[1:]:
        shape = [int(n) for n in shape]
        count = int(np.prod(shape, dtype=np.int64))
        parts = []
        for _ in range(replicas):
            parts.append(np.frombuffer(data, TYPES[dtype], count, at).reshape(shape))
            at += parts[-1].nbytes
        ports[what].append((dtype, parts))
    assert at == len(data), f"{path.name} has {len(data)} bytes, its list {at}"
    return replicas, ports["argument"], ports["result"]


def compiled(text, replicas):
    with mlir.make_ir_context():
        assert ir.Module.parse(text).operation.verify()
        stablehlo.serialize_portable_artifact_str(text, "1.0.0")
    devices = jax.devices("cpu")[:replicas]
    options = xla_client.CompileOptions()
    for o in (options, options.executable_build_options):
        o.num_replicas, o.num_partitions = replicas, 1
    options.device_assignment = xla_client.DeviceAssignment.create(np.arange(replicas).reshape(replicas, 1))
    return devices[0].client.compile_and_load(text, xla_client.DeviceList(tuple(devices)), options), devices


def run(program, devices, arguments):
    """What every replica gives, result by result."""
    everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), "r"), jax.sharding.PartitionSpec())
    given = []
    for _, parts in arguments:
        placed = [jax.device_put(part, device) for part, device in zip(parts, devices)]
        given.append(jax.make_array_from_single_device_arrays(parts[0].shape, everywhere, placed))
    outputs = program.execute_sharded(given).disassemble_into_single_device_arrays()
    return [[np.asarray(part) for part in parts] for parts in outputs]


def difference(got, wanted, dtype):
    """How far the worst element is off, in units of the greatest that was expected."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return float("inf")
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    finite = wanted[np.isfinite(wanted)]
    scale = max(1e-30, np.abs(finite).max(initial=0))
    with np.errstate(invalid="ignore"):
        off = np.where(same, 0, np.abs(got - wanted) / scale)
    return float(np.nan_to_num(off, nan=np.inf).max(initial=0))


def check(path):
    replicas, arguments, results = read(path)
    program, devices = compiled(path.read_text(), replicas)
    outputs = run(program, devices, arguments)
    assert len(outputs) == len(results), f"{len(outputs)} results instead of {len(results)}"
    worst, faults = 0.0, []
    floats = {dtype for dtype, _ in arguments + results if dtype in ("f64", "f32", "bf16")}
    coarsest = max((TOLERANCE[dtype] for dtype in floats), default=0)  # what is made from bf16 is no finer in f32
    for i, ((dtype, wanted), got) in enumerate(zip(results, outputs)):
        for rank in range(replicas):
            off = difference(got[rank], wanted[rank], dtype)
            worst = max(worst, off)
            if off > (coarsest if dtype in floats else 0):
                faults.append(f"result {i} ({dtype}) of replica {rank} is off by {off:.3g}")
    print(f"{path.stem}: {replicas} replicas, {len(results)} results, off by {worst:.2g}", flush=True)
    for fault in faults[:4]:
        print("  " + fault)
    return not faults


def main():
    test, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    if not names:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run([test], check=True, env={**os.environ, "MESHTENSOR_STABLEHLO_CASES": str(folder)})
    programs = [folder / f"{n}.mlir" for n in names] or sorted(folder.glob("*.mlir"))
    failed = []
    for path in programs:
        try:
            good = check(path)
        except Exception as e:  # noqa: BLE001: what XLA says about one program, the others are still tried
            print(f"{path.stem}: {str(e)[:600]}")
            good = False
        failed += [] if good else [path.stem]
    print(f"{len(programs) - len(failed)} of {len(programs)} programs give what was expected")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
