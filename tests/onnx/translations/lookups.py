# SPDX-License-Identifier: Apache-2.0
"""Nodes that read or write at positions."""

from program import listed, of


def from_start(p, index, n):
    """Negative positions count from the end; the library has none."""
    return p.let(f"select({index} < 0, {index} + {n}, {index})", index.dims, index.dtype)


@of("Gather", "ArrayFeatureExtractor")
def gather(p):
    x = p.input(0)
    axis = p.attribute("axis", 0 if p.op == "Gather" else -1) % len(x.dims)
    index = from_start(p, p.input(1), x.dims[axis].extent)
    dims = x.dims[:axis] + index.dims + x.dims[axis + 1 :]
    p.output(0, p.let(f"gather({x}, {index}, {x.dims[axis]})", dims, x.dtype))


@of("GatherElements")
def gather_elements(p):
    x = p.input(0)
    axis = p.attribute("axis", 0) % len(x.dims)
    dims = x.dims[:axis] + [p.dim(p.array(1).shape[axis])] + x.dims[axis + 1 :]
    index = from_start(p, p.input(1, dims), x.dims[axis].extent)
    p.output(0, p.let(f"gather({x}, {index}, {x.dims[axis]})", dims, x.dtype))


def places(p, index, first, extents, own):
    """The places that the last axis of an input says, by axes that are merged into one."""
    last = p.dim(len(extents))
    x = p.input(index, own + [last])
    total = ""
    for k, n in enumerate(extents):
        one = p.dim(1)
        at = p.let(f"sum(slice({x}, {last}, {one}, {k}), {one})", own, x.dtype)
        at = from_start(p, at, n)
        total = f"({total}) * {n} + {at}" if total else str(at)
    return p.let(total, own, x.dtype)


@of("GatherND")
def gather_nd(p):
    x = p.input(0)
    batch = p.attribute("batch_dims", 0)
    shape = p.array(1).shape
    count = shape[-1]
    own = x.dims[:batch] + p.dims(shape[batch:-1])
    at = places(p, 1, batch, [d.extent for d in x.dims[batch : batch + count]], own)
    table = p.merge(x, batch, count)
    dims = own + table.dims[batch + 1 :]
    p.output(0, p.let(f"gather({table}, {at}, {table.dims[batch]})", dims, x.dtype))


def scattered(p, x, at, update, axis):
    along = x.dims[axis]
    if p.attribute("reduction", "none") == "add":
        sums = f"scatter_add({update}, {at}, {along}, {listed(x.dims)})"
        return p.let(f"{x} + {sums}", x.dims, x.dtype)
    return p.let(f"put({x}, {update}, {along}, {at})", x.dims, x.dtype)


@of("ScatterElements", "Scatter")
def scatter_elements(p):
    x = p.input(0)
    axis = p.attribute("axis", 0) % len(x.dims)
    dims = x.dims[:axis] + [p.dim(p.array(1).shape[axis])] + x.dims[axis + 1 :]
    at = from_start(p, p.input(1, dims), x.dims[axis].extent)
    p.output(0, scattered(p, x, at, p.input(2, dims), axis))


@of("ScatterND")
def scatter_nd(p):
    x = p.input(0)
    shape = p.array(1).shape
    count = shape[-1]
    own = p.dims(shape[:-1])
    extents = [d.extent for d in x.dims[:count]]
    at = places(p, 1, 0, extents, own)
    table = p.merge(x, 0, count)
    y = scattered(p, table, at, p.input(2, own + table.dims[1:]), 0)
    p.output(0, p.split(y, 0, extents) if count > 1 else y)


@of("TensorScatter")
def tensor_scatter(p):
    x = p.input(0)
    axis = p.attribute("axis", -2) % len(x.dims)
    many = p.dim(p.array(1).shape[axis])
    update = p.input(1, x.dims[:axis] + [many] + x.dims[axis + 1 :])
    first = p.input(2, [x.dims[0]])
    place = p.let(f"{first} + iota(s, {many}, mt::i64)", [x.dims[0], many], "int64")
    if p.attribute("mode", "linear") == "circular":
        place = p.let(f"{place} % {x.dims[axis].extent}", place.dims, "int64")
    p.output(0, p.let(f"put({x}, {update}, {x.dims[axis]}, {place})", x.dims, x.dtype))


@of("OneHot")
def one_hot(p):
    index = p.input(0)
    depth = p.dim(p.array(1).reshape(-1)[0])
    axis = p.attribute("axis", -1) % (len(index.dims) + 1)
    dims = index.dims[:axis] + [depth] + index.dims[axis:]
    at = from_start(p, p.cast(index, "int64"), depth.extent)
    two = p.dim(2)
    values = p.input(2, [two])
    hot = p.let(f"one_hot({at}, {depth}, mt::i64)", dims, "int64")
    p.output(0, p.let(f"gather({values}, {hot}, {two})", dims, values.dtype))


@of("ReverseSequence")
def reverse_sequence(p):
    x = p.input(0)
    time, batch = p.attribute("time_axis", 0), p.attribute("batch_axis", 1)
    length = p.input(1, [x.dims[batch]])
    along = x.dims[time]
    place = p.let(f"iota(s, {along}, mt::i64)", [along], "int64")
    there = p.dim(along.extent)
    at = p.let(
        f"rename(select({place} < {length}, {length} - 1 - {place}, {place}), {along}, {there})",
        [there, x.dims[batch]],
        "int64",
    )
    dims = [there if a == time else d for a, d in enumerate(x.dims)]
    p.output(0, p.let(f"gather({x}, {at}, {along})", dims, x.dtype))
