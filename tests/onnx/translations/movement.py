# SPDX-License-Identifier: Apache-2.0
"""Nodes that move, repeat or make elements."""

import math

from program import DTYPES, Value, listed, literal, of


@of("Transpose")
def transpose(p):
    x = p.input(0)
    order = p.attribute("perm", list(reversed(range(len(x.dims)))))
    p.output(0, x, [x.dims[a] for a in order])


def reshaped(p, x, shape):
    whole = p.merge(x, 0, len(x.dims))
    return p.split(whole, 0, shape)


@of("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def reshape(p):
    p.output(0, reshaped(p, p.input(0, ones=True), p.result().shape))


@of("Expand")
def expand(p):
    dims = p.dims(p.result().shape)
    shape = p.array(0).shape
    own = [d if n != 1 else None for d, n in zip(dims[len(dims) - len(shape) :], shape, strict=True)]
    p.output(0, p.input(0, own), dims)


@of("Concat")
def concat(p):
    arrays = [p.array(i) for i in range(len(p.node.input))]
    axis = p.attribute("axis") % arrays[0].ndim
    dims = p.dims(arrays[0].shape, True)
    all_of = None
    for i, array in enumerate(arrays):
        own = dims[:axis] + [p.dim(array.shape[axis])] + dims[axis + 1 :]
        x = p.input(i, own)
        if all_of is None:
            all_of = x
            continue
        both = p.dim(all_of.dims[axis].extent + array.shape[axis])
        code = f"concat({all_of}, {all_of.dims[axis]}, {x}, {own[axis]}, {both})"
        all_of = p.let(code, dims[:axis] + [both] + dims[axis + 1 :], x.dtype)
    p.output(0, all_of)


@of("Split")
def split(p):
    x = p.input(0)
    axis = p.attribute("axis", 0) % len(x.dims)
    first = 0
    for i in range(len(p.node.output)):
        part = p.dim(p.result(i).shape[axis])
        dims = x.dims[:axis] + [part] + x.dims[axis + 1 :]
        p.output(i, p.let(f"slice({x}, {x.dims[axis]}, {part}, {first})", dims, x.dtype))
        first += part.extent


@of("Slice")
def slice_of(p):
    x = p.input(0)
    starts, ends = p.numbers(1), p.numbers(2)
    axes, steps = p.numbers(3, list(range(len(starts)))), p.numbers(4, [1] * len(starts))
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis %= len(x.dims)
        taken = range(x.dims[axis].extent)[start:end:step]
        part = p.dim(len(taken))
        dims = x.dims[:axis] + [part] + x.dims[axis + 1 :]
        x = p.let(f"slice({x}, {x.dims[axis]}, {part}, {taken[0]}, {step})", dims, x.dtype)
    p.output(0, x)


def padded(p, x, axis, low, high, value):
    """Numbers around an axis; negative counts leave elements out, as `slice` does."""
    cut_low, cut_high = max(-low, 0), max(-high, 0)
    if cut_low or cut_high:
        kept = p.dim(x.dims[axis].extent - cut_low - cut_high)
        dims = x.dims[:axis] + [kept] + x.dims[axis + 1 :]
        x = p.let(f"slice({x}, {x.dims[axis]}, {kept}, {cut_low})", dims, x.dtype)
    if low <= 0 and high <= 0:
        return x
    wide = p.dim(x.dims[axis].extent + max(low, 0) + max(high, 0))
    dims = x.dims[:axis] + [wide] + x.dims[axis + 1 :]
    return p.let(f"pad({x}, {x.dims[axis]}, {wide}, {max(low, 0)}, {value})", dims, x.dtype)


@of("Pad")
def pad(p):
    x = p.input(0)
    mode = p.attribute("mode", "constant")
    axes = [a % len(x.dims) for a in p.numbers(3, list(range(len(x.dims))))]
    pads = p.numbers(1)
    value = literal(p.array(2).reshape(-1)[0]) if p.has(2) else "0"
    for k, axis in enumerate(axes):
        low, high = pads[k], pads[k + len(axes)]
        if low == 0 and high == 0:
            continue
        if mode == "constant":
            x = padded(p, x, axis, low, high, value)
            continue
        along, n = x.dims[axis], x.dims[axis].extent
        wide = p.dim(n + low + high)
        place = p.let(f"iota(s, {wide}, mt::i64) - {low}", [wide], "int64")
        code = {
            "edge": f"minimum(maximum({place}, 0), {n - 1})",
            "reflect": f"{n - 1} - abs({n - 1} - abs({place}))",
            "wrap": f"{place} % {n}",
        }[mode]
        dims = x.dims[:axis] + [wide] + x.dims[axis + 1 :]
        x = p.let(f"gather({x}, {code}, {along})", dims, x.dtype)
    p.output(0, x)


@of("CenterCropPad")
def centre(p):
    x = p.input(0)
    axes = [a % len(x.dims) for a in p.attribute("axes", list(range(len(x.dims))))]
    for axis, wanted in zip(axes, p.numbers(1), strict=True):
        now = x.dims[axis].extent
        more = wanted - now
        low = more // 2 if more >= 0 else -(-more // 2)
        x = padded(p, x, axis, low, more - low, 0)
    p.output(0, x)


@of("Tile")
def tile(p):
    x = p.input(0)
    for axis, count in enumerate(p.numbers(1)):
        times = p.dim(count)
        dims = x.dims[:axis] + [times] + x.dims[axis:]
        x = p.merge(p.let(f"broadcast({x}, {listed(dims)})", dims, x.dtype), axis, 2)
    p.output(0, x)


@of("DepthToSpace", "SpaceToDepth")
def blocks(p):
    x = p.input(0, ones=True)
    size, mode = p.attribute("blocksize"), p.attribute("mode", "DCR")
    n, c, h, w = x.dims
    if p.op == "DepthToSpace":
        inner = c.extent // size**2
        x = p.split(x, 1, [size, size, inner] if mode == "DCR" else [inner, size, size])
        tall, wide, deep = x.dims[1:4] if mode == "DCR" else (x.dims[2], x.dims[3], x.dims[1])
        x = p.merge(Value(x.code, [n, deep, h, tall, w, wide], x.dtype), 2, 2)
        x = p.merge(x, 3, 2)
    else:
        x = p.split(x, 2, [h.extent // size, size])
        x = p.split(x, 4, [w.extent // size, size])
        _, _, rows, tall, columns, wide = x.dims
        order = [tall, wide, c] if mode == "DCR" else [c, tall, wide]
        x = p.merge(Value(x.code, [n] + order + [rows, columns], x.dtype), 1, 3)
    p.output(0, x)


@of("Trilu")
def triangle(p):
    x = p.input(0, ones=True)
    k = p.numbers(1, [0])[0]
    row, column = (f"iota(s, {d}, mt::i64)" for d in x.dims[-2:])
    seen = f"{column} - {row} {'>=' if p.attribute('upper', 1) else '<='} {k}"
    p.output(0, p.let(f"select({seen}, {x}, 0)", x.dims, x.dtype))


@of("EyeLike")
def eye(p):
    dims = p.dims(p.result().shape)
    row, column = (f"iota(s, {d}, mt::i32)" for d in dims)
    p.output(0, p.let(f"{column} - {row} == {p.attribute('k', 0)}", dims, "bool"))


@of("Range")
def arithmetic_progression(p):
    d = p.dim(p.result().shape[0])
    start, delta = p.input(0), p.input(2)
    dtype = start.dtype
    p.output(0, p.let(f"{start} + iota(s, {d}, {DTYPES[dtype]}) * {delta}", [d], dtype))


@of("ConstantOfShape")
def constant(p):
    array = p.result()
    dims = p.dims(array.shape)
    value = literal(array.reshape(-1)[0])
    p.output(0, p.let(f"full(s, {value}, {DTYPES[str(array.dtype)]}, {listed(dims)})", dims, str(array.dtype)))


@of("Shape", "Size")
def extents(p):
    x = p.input(0, ones=True)
    if p.op == "Size":
        product = " * ".join(f"extent({d})" for d in x.dims)
        return p.output(0, p.let(f"full(s, {product}, mt::i64)", [], "int64"))
    dims = x.dims[slice(p.attribute("start", 0), p.attribute("end", len(x.dims)))]
    d = p.dim(len(dims))
    each = ", ".join(f"full(s, extent({e}), mt::i64)" for e in dims)
    p.output(0, p.let(f"stack({{{each}}}, {d})", [d], "int64"))


@of("HannWindow", "HammingWindow", "BlackmanWindow")
def window(p):
    """The number of elements is a constant of the program."""
    n = p.numbers(0)[0]
    d = p.dim(n)
    turn = 2 * math.pi / (n if p.attribute("periodic", 1) else n - 1)
    place = p.let(f"iota(s, {d}, mt::f32) * {turn!r}", [d], "float32")
    code = {
        "HannWindow": "0.5 - 0.5 * cos({x})",
        "HammingWindow": f"{25 / 46!r} - {21 / 46!r} * cos({{x}})",
        "BlackmanWindow": "0.42 - 0.5 * cos({x}) + 0.08 * cos(2 * {x})",
    }[p.op]
    p.output(0, p.let(code.format(x=place), [d], "float32"))


@of("Resize", "Upsample")
def resize(p):
    x = p.input(0)
    mode = p.attribute("mode", "nearest")
    how = "nearest" if mode == "nearest" else "linear"
    if p.attribute("coordinate_transformation_mode") == "align_corners":
        how = "corners"
    for axis, now in enumerate(p.result().shape):
        if x.dims[axis] is not None and x.dims[axis].extent != now:
            d = p.dim(now)
            dims = x.dims[:axis] + [d] + x.dims[axis + 1 :]
            x = p.let(f"resize({x}, {x.dims[axis]}, {d}, mt::interpolation::{how})", dims, x.dtype)
    p.output(0, x)
