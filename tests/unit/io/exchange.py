# SPDX-License-Identifier: Apache-2.0
"""The other side of exchange.cpp, by the safetensors package: reads what was exported, writes what is to be imported.

exchange.py EXPORTED TO_IMPORT
"""

import struct
import sys

import numpy
import safetensors
from safetensors.numpy import load_file, save_file

rows, columns = 4, 6


def numbers(dtype):
    return numpy.arange(rows * columns).reshape(rows, columns).astype(dtype)


exported, to_import = sys.argv[1:]

# By the package's own reader; numpy has no bf16, so that tensor is looked at as bytes.
with open(exported, "rb") as file:
    raw = dict(safetensors.deserialize(file.read()))
bf16 = raw.pop("values/bf16")
assert bf16["dtype"] == "BF16" and bf16["shape"] == [rows, columns], bf16
assert [struct.unpack("<f", b"\0\0" + bytes(bf16["data"][2 * i : 2 * i + 2]))[0] for i in range(24)] == list(range(24))
assert {name: (t["dtype"], t["shape"]) for name, t in raw.items()} == {
    "values/f64": ("F64", [rows, columns]),
    "lm_head.weight": ("F32", [columns, rows]),
    "values/i32": ("I32", [rows, columns]),
    "values/i64": ("I64", [rows, columns]),
    "values/u8": ("U8", [rows, columns]),
    "values/bool": ("BOOL", [rows, columns]),
    "values/one": ("F32", []),
}, raw
with safetensors.safe_open(exported, framework="np") as file:
    assert file.metadata()["format"] == "pt" and file.metadata()["dims:values/f64"] == "rows,columns", file.metadata()
    for name, dtype in [("f64", "float64"), ("i32", "int32"), ("i64", "int64"), ("u8", "uint8")]:
        found = file.get_tensor("values/" + name)
        assert found.dtype == dtype and (found == numbers(dtype)).all(), (name, found)
    assert (file.get_tensor("values/bool") == (numbers("int64") % 3 == 0)).all()
    assert (file.get_tensor("lm_head.weight") == numbers("float32").T / 2).all()
    assert (file.get_slice("lm_head.weight")[1:3] == numbers("float32").T[1:3] / 2).all()
    assert file.get_tensor("values/one") == 2.5

# What comes back is everything plus 100, under other names, with a tensor that nobody wants.
save_file(
    {
        "model.f32.weight": numpy.ascontiguousarray((numbers("float32") / 2 + 100).T),
        "values/f64": numbers("float64") + 100,
        "values/i32": numbers("int32") + 100,
        "values/i64": numbers("int64") + 100,
        "values/u8": numbers("uint8") + 100,
        "values/bool": numbers("int64") % 3 != 0,
        "values/one": numpy.array(-0.5, dtype="float32"),
        "rotary.cached": numpy.zeros((2, 2, 2), dtype="float16"),
    },
    to_import,
    metadata={"format": "pt"},
)

# The same with bf16, by the package's own writer; what it takes has changed.
bf16 = numpy.array([struct.unpack("<H", struct.pack("<f", i + 100)[2:])[0] for i in range(24)], dtype="uint16")
if hasattr(safetensors, "TensorSpec"):
    tensor = safetensors.TensorSpec(
        dtype="bfloat16", shape=[rows, columns], data_ptr=bf16.ctypes.data, data_len=bf16.nbytes
    )
else:
    tensor = {"dtype": "bfloat16", "shape": [rows, columns], "data": bf16.tobytes()}
with open(to_import + ".bf16", "wb") as file:
    file.write(safetensors.serialize({"values/bf16": tensor}, None))
