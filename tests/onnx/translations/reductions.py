# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans along an axis, and products."""

import numpy
from program import DTYPES, Value, listed, literal, of


def axes_of(p, i, rank):
    axes = p.numbers(i, p.attribute("axes"))
    return [a % rank for a in axes] if axes else list(range(rank))


def reduced(p, function, x, axes, dtype=None):
    over = [x.dims[a] for a in axes if x.dims[a] is not None]
    dims = [None if a in axes else d for a, d in enumerate(x.dims)]
    code = f"{function}({x}, {', '.join(map(str, over))})" if over else str(x)
    return p.let(code, dims, dtype or x.dtype)


REDUCTIONS = {
    "ReduceL1": lambda p, x, axes: reduced(p, "sum", p.let(f"abs({x})", x.dims, x.dtype), axes),
    "ReduceL2": lambda p, x, axes: applied(p, "sqrt({})", summed_squares(p, x, axes)),
    "ReduceLogSum": lambda p, x, axes: applied(p, "log({})", reduced(p, "sum", x, axes)),
    "ReduceLogSumExp": lambda p, x, axes: log_sum_exp(p, x, axes),
    "ReduceMax": lambda p, x, axes: reduced(p, "any" if x.dtype == "bool" else "max", x, axes),
    "ReduceMean": lambda p, x, axes: reduced(p, "mean", x, axes),
    "ReduceMin": lambda p, x, axes: reduced(p, "all" if x.dtype == "bool" else "min", x, axes),
    "ReduceSum": lambda p, x, axes: reduced(p, "sum", x, axes),
    "ReduceSumSquare": lambda p, x, axes: summed_squares(p, x, axes),
}


def applied(p, code, x):
    return p.let(code.format(x), x.dims, x.dtype)


def summed_squares(p, x, axes):
    return reduced(p, "sum", p.let(f"{x} * {x}", x.dims, x.dtype), axes)


def log_sum_exp(p, x, axes):
    dims = [None if a in axes else d for a, d in enumerate(x.dims)]
    assert axes == list(range(axes[0], axes[-1] + 1)), p.name
    one = p.merge(x, axes[0], len(axes))
    return p.let(f"logsumexp({one}, {one.dims[axes[0]]})", dims, x.dtype)


@of(*REDUCTIONS)
def reduction(p):
    x = p.input(0)
    if p.attribute("noop_with_empty_axes", 0) and not p.numbers(1):
        return p.output(0, p.let(str(x), x.dims, x.dtype))
    y = REDUCTIONS[p.op](p, x, axes_of(p, 1, len(x.dims)))
    if not p.attribute("keepdims", 1):
        y = Value(y.code, [d for a, d in enumerate(y.dims) if a not in axes_of(p, 1, len(x.dims))], y.dtype)
    p.output(0, y)


@of("ArgMax", "ArgMin")
def arg(p):
    x = p.input(0)
    axis = p.attribute("axis", 0) % len(x.dims)
    along, n = x.dims[axis], x.dims[axis].extent
    y = x if p.op == "ArgMax" else p.let(f"-{x}", x.dims, x.dtype)
    dims = [None if a == axis else d for a, d in enumerate(x.dims)]
    if p.attribute("select_last_index", 0):
        code = f"{n - 1} - argmax(reverse({y}, {along}), {along})"
    else:
        code = f"argmax({y}, {along})"
    if not p.attribute("keepdims", 1):
        del dims[axis]
    p.output(0, p.let(code, dims, "int64"))


@of("Softmax", "LogSoftmax", "Hardmax")
def softmax(p):
    x = p.input(0)
    axis = p.attribute("axis", -1) % len(x.dims)
    along = x.dims[axis]
    code = {
        "Softmax": f"softmax({x}, {along})",
        "LogSoftmax": f"log_softmax({x}, {along})",
        "Hardmax": f"one_hot(argmax({x}, {along}), {along}, {DTYPES[x.dtype]})",
    }[p.op]
    p.output(0, p.let(code, x.dims, x.dtype))


@of("CumSum")
def cumulative(p):
    x = p.input(0)
    axis = p.numbers(1)[0] % len(x.dims)
    options = [f".{name} = true" for name in ("exclusive", "reverse") if p.attribute(name, 0)]
    p.output(0, p.let(f"cumulative_sum({x}, {x.dims[axis]}, {{{', '.join(options)}}})", x.dims, x.dtype))


@of("TopK")
def top_k(p):
    x = p.input(0)
    axis = p.attribute("axis", -1) % len(x.dims)
    best = p.dim(p.numbers(1)[0])
    least = not p.attribute("largest", 1)
    y = p.let(f"-{x}", x.dims, x.dtype) if least else x
    both = p.let(f"top_k({y}, {x.dims[axis]}, {best})", [], "")
    dims = x.dims[:axis] + [best] + x.dims[axis + 1 :]
    p.output(0, p.let(f"{'-' if least else ''}std::get<0>({both})", dims, x.dtype))
    p.output(1, p.let(f"std::get<1>({both})", dims, "int32"))


# ---- products ----

@of("MatMul")
def matmul(p):
    left, right = p.array(0).shape, p.array(1).shape
    k = p.dim(right[0] if len(right) == 1 else right[-2])
    m, n = ([p.dim(left[-2])] if len(left) > 1 else []), ([p.dim(right[-1])] if len(right) > 1 else [])
    batch = p.dims(numpy.broadcast_shapes(left[:-2], right[:-2]))

    def own(shape):
        count = max(len(shape) - 2, 0)
        return [d if e != 1 else None for d, e in zip(batch[len(batch) - count :], shape, strict=False)][:count]

    a, b = p.input(0, own(left) + m + [k]), p.input(1, own(right) + [k] + n)
    dims = batch + m + n
    p.output(0, p.let(f"einsum({a}, {b}, {listed(dims)})", dims, a.dtype))


@of("Gemm")
def gemm(p):
    a, b = p.array(0).shape, p.array(1).shape
    m, k = (p.dim(e) for e in (reversed(a) if p.attribute("transA", 0) else a))
    n = p.dim(b[0] if p.attribute("transB", 0) else b[1])
    x = p.input(0, [k, m] if p.attribute("transA", 0) else [m, k])
    alpha, beta = literal(p.attribute("alpha", 1.0)), p.attribute("beta", 1.0)
    if alpha == "1.0" and beta == 1 and p.array(2) is not None and p.array(2).shape == (1, n.extent):
        if not p.attribute("transB", 0):  # a layer of the library
            p.keep("linear/weight", 1), p.keep("linear/bias", 2)
            return p.output(0, p.let(f'mt::nn::linear(s / "linear", {x}, {k}, {n})', [m, n], x.dtype))
    w = p.input(1, [n, k] if p.attribute("transB", 0) else [k, n])
    y = p.let(f"einsum({x}, {w}, {listed([m, n])}) * {alpha}", [m, n], x.dtype)
    if p.has(2):
        shape = p.array(2).shape
        own = [d if e != 1 else None for d, e in zip([m, n][2 - len(shape) :], shape, strict=True)]
        y = p.let(f"{y} + {p.input(2, own)} * {literal(beta)}", [m, n], x.dtype)
    p.output(0, y)


@of("Einsum")
def einsum(p):
    left, _, right = p.attribute("equation").replace(" ", "").partition("->")
    terms = left.split(",")
    letters = {}
    for i, term in enumerate(terms):
        for letter, extent in zip(term, p.array(i).shape, strict=True):
            letters.setdefault(letter, p.dim(extent))
    values = [p.input(i, [letters[e] for e in term]) for i, term in enumerate(terms)]
    dims = [letters[e] for e in right]
    p.output(0, p.let(f"einsum({', '.join(map(str, values))}, {listed(dims)})", dims, values[0].dtype))
