# SPDX-License-Identifier: Apache-2.0
"""Nodes that compute element by element, and those that quantize."""

from program import listed, literal, of


UNARY = {
    "Abs": "abs({x})",
    "Acosh": "log({x} + sqrt({x} * {x} - 1))",
    "Asinh": "sign({x}) * log(abs({x}) + sqrt({x} * {x} + 1))",
    "Atanh": "0.5 * log((1 + {x}) / (1 - {x}))",
    "Ceil": "-floor(-{x})",
    "Cos": "cos({x})",
    "Cosh": "0.5 * (exp({x}) + exp(-{x}))",
    "Erf": "erf({x})",
    "Exp": "exp({x})",
    "Floor": "floor({x})",
    "HardSwish": "{x} * minimum(maximum({x} / 6 + 0.5, 0), 1)",
    "Identity": "{x}",
    "IsNaN": "{x} != {x}",
    "Log": "log({x})",
    "Mish": "{x} * tanh(maximum({x}, 0) + log(1 + exp(-abs({x}))))",
    "Neg": "-{x}",
    "Not": "!{x}",
    "OptionalGetElement": "{x}",
    "Reciprocal": "1 / {x}",
    "Relu": "relu({x})",
    "Sigmoid": "sigmoid({x})",
    "Sign": "sign({x})",
    "Sin": "sin({x})",
    "Sinh": "0.5 * (exp({x}) - exp(-{x}))",
    "Softplus": "maximum({x}, 0) + log(1 + exp(-abs({x})))",
    "Softsign": "mt::softsign({x})",
    "Sqrt": "sqrt({x})",
    "Tan": "sin({x}) / cos({x})",
    "Tanh": "tanh({x})",
}
# With attributes, and what they are where a node has none.
UNARY_WITH = {
    "Binarizer": ("select({x} > {threshold}, full(s, 1, mt::f32), 0)", {"threshold": 0.0}),
    "Celu": ("maximum({x}, 0) + minimum({alpha} * (exp({x} / {alpha}) - 1), 0)", {"alpha": 1.0}),
    "Elu": ("select({x} < 0, {alpha} * (exp({x}) - 1), {x})", {"alpha": 1.0}),
    "HardSigmoid": ("maximum(minimum({alpha} * {x} + {beta}, 1), 0)", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": ("select({x} < 0, {alpha} * {x}, {x})", {"alpha": 0.01}),
    "Selu": (
        "{gamma} * select({x} > 0, {x}, {alpha} * (exp({x}) - 1))",
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    "Shrink": (
        "select({x} < -{lambd}, {x} + {bias}, select({x} > {lambd}, {x} - {bias}, 0))",
        {"lambd": 0.5, "bias": 0.0},
    ),
    "Swish": ("{x} * sigmoid({alpha} * {x})", {"alpha": 1.0}),
    "ThresholdedRelu": ("select({x} > {alpha}, {x}, 0)", {"alpha": 1.0}),
}


@of(*UNARY, *UNARY_WITH)
def unary(p):
    x = p.input(0)
    code, defaults = (UNARY[p.op], {}) if p.op in UNARY else UNARY_WITH[p.op]
    numbers = {name: literal(p.attribute(name, default)) for name, default in defaults.items()}
    p.output(0, p.let(code.format(x=x, **numbers), x.dims, "bool" if p.op == "IsNaN" else x.dtype))


@of("Gelu")
def gelu(p):
    x = p.input(0)
    function = "gelu_tanh" if p.attribute("approximate", "none") == "tanh" else "gelu"
    p.output(0, p.let(f"mt::{function}({x})", x.dims, x.dtype))


@of("IsInf")
def is_inf(p):
    x = p.input(0)
    sides = []
    if p.attribute("detect_positive", 1):
        sides.append(f"{x} > 3.4028234663852886e38")
    if p.attribute("detect_negative", 1):
        sides.append(f"{x} < -3.4028234663852886e38")
    p.output(0, p.let(" || ".join(sides), x.dims, "bool"))


def rounded(p, x):
    """To the nearest integer, of two the even one."""
    up = p.let(f"floor({x} + 0.5)", x.dims, x.dtype)
    return p.let(f"select({up} - {x} == 0.5 && {up} % 2 == 1, {up} - 1, {up})", x.dims, x.dtype)


@of("Round")
def round_to_even(p):
    p.output(0, rounded(p, p.input(0)))


BINARY = {
    "Add": "{a} + {b}",
    "And": "{a} && {b}",
    "Div": "{a} / {b}",
    "Equal": "{a} == {b}",
    "Greater": "{a} > {b}",
    "GreaterOrEqual": "{a} >= {b}",
    "Less": "{a} < {b}",
    "LessOrEqual": "{a} <= {b}",
    "Mul": "{a} * {b}",
    "Or": "{a} || {b}",
    "PRelu": "select({a} < 0, {a} * {b}, {a})",
    "Sub": "{a} - {b}",
    "SwiGLU": "{a} * sigmoid({alpha} * {a}) * {b}",
    "Xor": "{a} != {b}",
}


@of(*BINARY)
def binary(p):
    (a, b), dims = p.aligned([0, 1])
    code = BINARY[p.op].format(a=a, b=b, alpha=p.attribute("alpha", 1.0))
    p.output(0, p.let(code, dims, str(p.result().dtype)))


@of("Mod")
def mod(p):
    (a, b), dims = p.aligned([0, 1])
    if p.attribute("fmod", 0):  # the sign of the dividend
        p.output(0, p.let(f"sign({a}) * (abs({a}) % abs({b}))", dims, a.dtype))
    else:
        p.output(0, p.let(f"{a} % {b}", dims, a.dtype))


@of("Pow")
def power(p):
    (a, b), dims = p.aligned([0, 1])
    wide = "float32" if a.dtype == "float32" else "float64"
    a, b = (x if x.dtype.startswith("float") else p.cast(x, wide) for x in (a, b))
    if a.dtype != b.dtype:
        b = p.cast(b, a.dtype)
    x = p.let(f"power({a}, {b})", dims, a.dtype)
    p.output(0, x)


@of("Max", "Min", "Sum", "Mean")
def variadic(p):
    values, dims = p.aligned(range(len(p.node.input)))
    code = str(values[0])
    for x in values[1:]:
        code = f"{p.op.lower()}imum({code}, {x})" if p.op in ("Max", "Min") else f"{code} + {x}"
    x = p.let(code, dims, values[0].dtype)
    p.output(0, p.let(f"{x} / {len(values)}", dims, x.dtype) if p.op == "Mean" else x)


@of("Where")
def where(p):
    (c, a, b), dims = p.aligned([0, 1, 2])
    p.output(0, p.let(f"select({c}, {a}, {b})", dims, a.dtype))


@of("Clip")
def clip(p):
    x = p.input(0)
    if p.has(1):
        x = p.let(f"maximum({x}, {p.input(1)})", x.dims, x.dtype)
    if p.has(2):
        x = p.let(f"minimum({x}, {p.input(2)})", x.dims, x.dtype)
    p.output(0, p.let(str(x), x.dims, x.dtype))


@of("Cast", "CastLike")
def cast(p):
    x = p.input(0)
    p.output(0, p.cast(x, str(p.result().dtype)))


@of("Dropout")
def dropout(p):
    """Of an evaluation, or at rate 0: in a training the kept elements are drawn otherwise."""
    x = p.input(0)
    p.output(0, p.let(f'mt::nn::dropout(s / "dropout", {x}, 0)', x.dims, x.dtype))
    if p.asks_for(1):
        p.output(1, p.let(f"{x} == {x}", x.dims, "bool"))


# ---- quantization ----

def quantized(p, x, scale, zero):
    """The nearest integer to x / scale, plus a zero point, within u8."""
    ratio = p.let(f"{x} / {scale}", x.dims, x.dtype)
    shifted = p.let(f"{rounded(p, ratio)} + {p.cast(zero, x.dtype)}", x.dims, x.dtype)
    return p.cast(p.let(f"minimum(maximum({shifted}, 0), 255)", x.dims, x.dtype), "uint8")


def along_axis(p, x, i):
    """A scale or zero point of x: one number, one for each index of an axis, or one for each block along it."""
    array = p.array(i)
    axis = p.attribute("axis", 1)
    if array.ndim <= 1:
        return p.input(i, [x.dims[axis]] if array.size > 1 else [None] * array.ndim)
    size = p.attribute("block_size")
    own = [d if k != axis else p.dim(array.shape[k]) for k, d in enumerate(x.dims)]
    blocks = p.input(i, own)
    each = p.dim(size)
    dims = own[:axis] + [own[axis], each] + own[axis + 1 :]
    many = p.let(f"broadcast({blocks}, {listed(dims)})", dims, blocks.dtype)
    dims = list(x.dims)
    return p.let(f"merge({many}, {listed([own[axis], each])}, {x.dims[axis]})", dims, blocks.dtype)


@of("QuantizeLinear")
def quantize(p):
    x = p.input(0)
    p.output(0, quantized(p, x, along_axis(p, x, 1), along_axis(p, x, 2)))


@of("DequantizeLinear")
def dequantize(p):
    x = p.input(0)
    scale, zero = along_axis(p, x, 1), along_axis(p, x, 2)
    difference = p.let(f"{p.cast(x, 'int32')} - {p.cast(zero, 'int32')}", x.dims, "int32")
    p.output(0, p.let(f"{p.cast(difference, 'float32')} * {scale}", x.dims, "float32"))


@of("DynamicQuantizeLinear")
def quantize_by_range(p):
    x = p.input(0)
    dtype = x.dtype
    low, high = (p.let(f"{f}imum({f[:3]}({x}), 0)", [], dtype) for f in ("min", "max"))
    scale = p.let(f"({high} - {low}) / 255", [], dtype)
    zero = rounded(p, p.let(f"minimum(maximum(-{low} / {scale}, 0), 255)", [], dtype))
    p.output(0, quantized(p, x, scale, zero))
    p.output(1, scale)
    p.output(2, zero)


def centred(p, i, zero, dims):
    x = p.cast(p.input(i, dims), "int32")
    if not p.has(zero):
        return x
    array = p.array(zero)
    z = p.cast(p.input(zero, [None] * array.ndim if array.size == 1 else [dims[0]]), "int32")
    return p.let(f"{x} - {z}", x.dims, "int32")


@of("MatMulInteger", "QLinearMatMul")
def matmul_of_integers(p):
    quantizes = p.op == "QLinearMatMul"
    left, right = p.array(0).shape, p.array(3 if quantizes else 1).shape
    batch = p.dims(left[:-2])
    m, k, n = p.dim(left[-2]), p.dim(left[-1]), p.dim(right[-1])
    a = centred(p, 0, 2, batch + [m, k])
    b = centred(p, 3 if quantizes else 1, 5 if quantizes else 3, batch + [k, n])
    y = p.let(f"einsum({a}, {b}, {listed(batch + [m, n])})", batch + [m, n], "int32")
    if quantizes:
        y = requantized(p, y)
    p.output(0, y)


def requantized(p, y):
    scales = [p.input(i, [None] * p.array(i).ndim) for i in (1, 4, 6)]
    x = p.let(f"{p.cast(y, 'float32')} * ({scales[0]} * {scales[1]})", y.dims, "float32")
    return quantized(p, x, scales[2], p.input(7, [None] * p.array(7).ndim))
