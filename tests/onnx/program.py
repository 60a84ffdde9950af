# SPDX-License-Identifier: Apache-2.0
"""One of ONNX's node cases as a C++ program of the library: names of dims and values, inputs, outputs, statements."""

import re
import string

import ml_dtypes
import numpy
import onnx

DTYPES = {
    "float64": "mt::f64",
    "float32": "mt::f32",
    "bfloat16": "mt::bf16",
    "int32": "mt::i32",
    "int64": "mt::i64",
    "uint8": "mt::u8",
    "bool": "mt::boolean",
}
TRANSLATIONS = {}  # for each kind of node a function that writes it into a Program
LETTERS = [letter for letter in string.ascii_lowercase if letter not in "sx"]  # s is the scope, x0 is a value


def of(*ops):
    """Keeps a function as the translation of these kinds of nodes."""

    def keep(function):
        TRANSLATIONS.update(dict.fromkeys(ops, function))
        return function

    return keep


def array_of(value):
    """The elements of a case's input or output, or None for what is no dense tensor."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    return value if isinstance(value, (numpy.ndarray, numpy.generic)) else None


def dtype_of(array):
    return "bfloat16" if array.dtype == ml_dtypes.bfloat16 else str(array.dtype)


def literal(value):
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    return repr(value.item() if isinstance(value, (numpy.generic, numpy.ndarray)) else value)


class Dim:
    """A dim of the library: `a<3>` is called "a" and has 3 elements."""

    def __init__(self, letter, extent):
        self.letter, self.extent = letter, int(extent)

    def __str__(self):
        return f"{self.letter}<{self.extent}>"


class Value:
    """A value of the program: for each axis of ONNX its dim, or None where the extent is 1 and the program has no dim.

    ONNX broadcasts axes of extent 1, the library what a tensor lacks.
    """

    def __init__(self, code, dims, dtype):
        self.code, self.dims, self.dtype = code, list(dims), dtype

    def __str__(self):
        return self.code

    @property
    def real(self):
        """The dims that the library's tensor has."""
        return [d for d in self.dims if d is not None]


def listed(dims):
    return "to(" + ", ".join(str(d) for d in dims if d is not None) + ")"


class Program:
    def __init__(self, case):
        self.name = case.name
        (self.node,) = case.model.graph.node
        self.op = self.node.op_type
        self.opset = max(o.version for o in case.model.opset_import if o.domain == self.node.domain)
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in self.node.attribute}
        ((given, wanted),) = case.data_sets
        self.given = dict(zip([n for n in self.node.input if n], map(array_of, given), strict=True))
        self.wanted = dict(zip([n for n in self.node.output if n], map(array_of, wanted), strict=True))
        self.fed = {}  # the names of inputs, and their elements
        self.kept = {}  # the paths of parameters and states, and their elements
        self.lines = []
        self.letters = iter(LETTERS)
        self.outputs = set()

    # ---- what the node says ----

    def attribute(self, name, default=None):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def has(self, i):
        return i < len(self.node.input) and self.node.input[i] != ""

    def array(self, i, default=None):
        """The elements of an input as constants of the program: axes, shapes, counts."""
        return self.given[self.node.input[i]] if self.has(i) else default

    def numbers(self, i, default=None):
        array = self.array(i)
        return default if array is None else [int(n) for n in array.reshape(-1)]

    def result(self, i=0):
        return self.wanted[self.node.output[i]]

    def asks_for(self, i):
        return i < len(self.node.output) and self.node.output[i] != ""

    # ---- statements ----

    def dim(self, extent):
        return Dim(next(self.letters), extent)

    def dims(self, shape, ones=False):
        return [self.dim(n) if n != 1 or ones else None for n in shape]

    def let(self, code, dims, dtype):
        label = f"x{len(self.lines)}"
        self.lines.append(f"auto {label} = {code};")
        return Value(label, dims, dtype)

    def input(self, i, dims=None, ones=False):
        """Input number i, with these dims or new ones; axes of extent 1 have none, unless `ones`."""
        name, array = self.node.input[i], self.array(i)
        dims = self.dims(array.shape, ones) if dims is None else dims
        assert [1 if d is None else d.extent for d in dims] == list(array.shape), (self.name, name)
        dtype = dtype_of(array)
        self.fed[name] = array
        along = "".join(f", {d}" for d in dims if d is not None)
        return self.let(f's.input("{name}", {DTYPES[dtype]}{along})', dims, dtype)

    def keep(self, path, i):
        """Input number i is the value of a parameter or state of a layer."""
        self.kept[path] = self.array(i)

    def aligned(self, numbers):
        """These inputs with common dims, aligned at their last axes, and the dims of what they broadcast to."""
        arrays = [self.array(i) for i in numbers]
        shape = numpy.broadcast_shapes(*[a.shape for a in arrays])
        dims = self.dims(shape)
        values = []
        for i, a in zip(numbers, arrays, strict=True):
            own = dims[len(dims) - a.ndim :]
            values.append(self.input(i, [d if n != 1 else None for d, n in zip(own, a.shape, strict=True)]))
        return values, dims

    def cast(self, x, dtype):
        return x if x.dtype == dtype else self.let(f"cast({x}, {DTYPES[dtype]})", x.dims, dtype)

    def split(self, x, axis, extents):
        """An axis as several, the last of which varies fastest. All of them have dims, also those of extent 1."""
        parts = [self.dim(n) for n in extents]
        if x.dims[axis] is None:
            x = self.broadcast(x, axis)
        dims = x.dims[:axis] + parts + x.dims[axis + 1 :]
        return self.let(f"split({x}, {x.dims[axis]}, {listed(parts)})", dims, x.dtype)

    def merge(self, x, first, count):
        """`count` axes from `first` on as one, by the library's order: the last varies fastest."""
        parts = [d for d in x.dims[first : first + count] if d is not None]
        if not parts:
            return Value(x.code, x.dims[:first] + [None] + x.dims[first + count :], x.dtype)
        if len(parts) == 1:
            return Value(x.code, x.dims[:first] + parts + x.dims[first + count :], x.dtype)
        joined = self.dim(numpy.prod([d.extent for d in parts]))
        dims = x.dims[:first] + [joined] + x.dims[first + count :]
        return self.let(f"merge({x}, {listed(parts)}, {joined})", dims, x.dtype)

    def broadcast(self, x, axis):
        """A dim of extent 1 for an axis that has none."""
        one = self.dim(1)
        dims = x.dims[:axis] + [one] + x.dims[axis + 1 :]
        return self.let(f"broadcast({x}, {listed(dims)})", dims, x.dtype)

    def renamed(self, x, axis, dim):
        dims = x.dims[:axis] + [dim] + x.dims[axis + 1 :]
        return self.let(f"rename({x}, {x.dims[axis]}, {dim})", dims, x.dtype)

    def output(self, i, x, dims=None):
        """Gives x as output number i, with its dims in this order; those that it lacks are broadcast."""
        array = self.result(i)
        dims = x.dims if dims is None else dims
        shape = [1 if d is None else d.extent for d in dims]
        assert shape == list(array.shape), (self.name, shape, array.shape)
        x = self.cast(x, dtype_of(array))
        wanted = [d for d in dims if d is not None]
        lacking = [d for d in wanted if d not in x.real]
        if lacking:
            x = self.let(f"broadcast({x}, {listed(wanted)})", wanted, x.dtype)
        elif len(wanted) > 1:
            x = self.let(f"transpose({x}, {listed(wanted)})", wanted, x.dtype)
        label = self.node.output[i]
        self.lines.append(f's.output("{label}", {x});')
        self.outputs.add(label)

    def used_lines(self):
        """The statements without those whose value nobody uses; their inputs are not fed."""
        kept = []
        for line in reversed(self.lines):
            label = re.match(r"auto (x\d+) = ", line)
            if label is None or any(re.search(rf"\b{label[1]}\b", other) for other in kept):
                kept.append(line)
            elif given := re.search(r's\.input\("(.*?)"', line):
                del self.fed[given[1]]
        return kept[::-1]

    def text(self):
        assert self.outputs == set(self.wanted), (self.name, self.outputs, set(self.wanted))
        body = "\n".join("    " + line for line in self.used_lines())
        return f"struct {self.name} {{\n  constexpr void operator()(mt::scope auto s) const {{\n{body}\n  }}\n}};\n"
