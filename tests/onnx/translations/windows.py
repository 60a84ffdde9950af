# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools."""

from program import Value, listed, literal, of
from translations.elementwise import centred
from translations.movement import padded
from translations.reductions import reduced


def extra_behind(places, extent, low, size, stride):
    """The padding behind a dim with which windows have so many places, no more than they reach."""
    return (places - 1) * stride + size - extent - low


def windows_of(p, outputs, inputs, kernel, back=False, padding=None):
    """For each spatial axis the text of a window, its kernel's dims given as dims or as numbers."""
    n = len(inputs)
    strides, dilations = p.attribute("strides") or [1] * n, p.attribute("dilations") or [1] * n
    pads, auto = p.attribute("pads") or [0] * 2 * n, p.attribute("auto_pad", "NOTSET")
    texts = []
    for k in range(n):
        extent = kernel[k] if isinstance(kernel[k], int) else kernel[k].extent
        size = dilations[k] * (extent - 1) + 1
        low = pads[k]
        if padding is not None:
            low = padding[k]
        elif auto.startswith("SAME"):
            all_of = max(extra_behind(outputs[k].extent, inputs[k].extent, 0, size, strides[k]), 0)
            low = all_of // 2 if auto == "SAME_UPPER" else all_of - all_of // 2
        high = extra_behind(outputs[k].extent, inputs[k].extent, low, size, strides[k])
        how = [f".stride = {strides[k]}", f".dilation = {dilations[k]}", f".padding = {{{low}, {high}}}"]
        if auto == "SAME_UPPER" and padding is None and not back:
            how[2] = ".padding = mt::same_padding"
        texts.append(f"mt::window({inputs[k]}, {outputs[k]}, {kernel[k]}, {{{', '.join(how)}}})")
    return ", ".join(texts)


def in_groups(p, x, axis, groups):
    return p.split(x, axis, [groups, x.dims[axis].extent // groups]) if groups > 1 else x


@of("Conv", "ConvInteger")
def conv(p):
    groups = p.attribute("group", 1)
    if p.op == "Conv":
        x, w = p.input(0, ones=True), p.input(1, ones=True)
    else:
        x, w = (centred(p, i, i + 2, p.dims(p.array(i).shape, True)) for i in (0, 1))
    x, w = in_groups(p, x, 1, groups), in_groups(p, w, 0, groups)
    group = []
    if groups > 1:
        group = [x.dims[1]]
        w = p.renamed(w, 0, group[0])
        x, w = Value(x.code, [x.dims[0]] + x.dims[2:], x.dtype), Value(w.code, w.dims[1:], w.dtype)
    w = p.renamed(w, 1, x.dims[1])
    places = [p.dim(n) for n in p.result().shape[2:]]
    dims = [x.dims[0]] + group + [w.dims[0]] + places
    windows = windows_of(p, places, x.dims[2:], w.dims[2:])
    y = p.let(f"conv({x}, {w}, {listed(dims)}, {windows})", dims, x.dtype)
    y = p.merge(y, 1, 2) if groups > 1 else y
    if p.has(2) and p.op == "Conv":
        y = p.let(f"{y} + {p.input(2, [y.dims[1]])}", y.dims, y.dtype)
    p.output(0, y)


@of("ConvTranspose")
def conv_transposed(p):
    groups = p.attribute("group", 1)
    y, w = p.input(0, ones=True), p.input(1, ones=True)
    n = len(y.dims) - 2
    y, w = in_groups(p, y, 1, groups), in_groups(p, w, 0, groups)
    group = []
    if groups > 1:
        group = [y.dims[1]]
        w = p.renamed(w, 0, group[0])
        y, w = Value(y.code, [y.dims[0]] + y.dims[2:], y.dtype), Value(w.code, w.dims[1:], w.dtype)
    w = p.renamed(w, 0, y.dims[1])
    places = [p.dim(e) for e in p.result().shape[2:]]
    strides, dilations = p.attribute("strides") or [1] * n, p.attribute("dilations") or [1] * n
    low = (p.attribute("pads") or [0] * n)[:n]
    if p.attribute("output_shape") or p.attribute("auto_pad", "NOTSET").startswith("SAME"):
        added = p.attribute("output_padding") or [0] * n
        for k in range(n):
            reached = strides[k] * (y.dims[2 + k].extent - 1) + dilations[k] * (w.dims[2 + k].extent - 1) + 1
            total = reached + added[k] - places[k].extent
            low[k] = total // 2 if p.attribute("auto_pad", "NOTSET") == "SAME_UPPER" else total - total // 2
    windows = windows_of(p, y.dims[2:], places, w.dims[2:], True, low)
    dims = [y.dims[0]] + group + [w.dims[1]] + places
    x = p.let(f"conv_transposed({y}, {w}, {listed(dims)}, {windows})", dims, y.dtype)
    x = p.merge(x, 1, 2) if groups > 1 else x
    p.output(0, x)


@of("MaxPool", "AveragePool", "LpPool")
def pool(p):
    x = p.input(0, [None if k < 2 and n == 1 else p.dim(n) for k, n in enumerate(p.array(0).shape)])
    counts_padding = p.attribute("count_include_pad", 0)
    if counts_padding and p.attribute("ceil_mode", 0):  # the padding counts, but not what a last window overhangs
        n = len(x.dims) - 2
        pads = p.attribute("pads") or [0] * 2 * n
        for k in range(n):
            x = padded(p, x, 2 + k, pads[k], pads[k + n], 0)
        p.attributes["pads"], counts_padding = [0] * 2 * n, 0
    places = [p.dim(n) for n in p.result().shape[2:]]
    windows = windows_of(p, places, x.dims[2:], list(p.attribute("kernel_shape")))
    dims = x.dims[:2] + places
    if p.op == "MaxPool":
        y = p.let(f"max_pool({x}, {windows})", dims, x.dtype)
    elif p.op == "LpPool":
        power = p.attribute("p", 2)
        y = p.let(f"power(sum_pool(power(abs({x}), {power}), {windows}), {1 / power!r})", dims, x.dtype)
    else:
        over = "" if counts_padding else ", mt::mean_over::elements"
        y = p.let(f"mean_pool({x}, {windows}{over})", dims, x.dtype)
    p.output(0, y)


@of("GlobalAveragePool", "GlobalMaxPool")
def global_pool(p):
    x = p.input(0)
    p.output(0, reduced(p, "max" if p.op == "GlobalMaxPool" else "mean", x, range(2, len(x.dims))))


@of("LRN")
def local_response(p):
    x = p.input(0)
    size = p.attribute("size")
    there = p.dim(x.dims[1].extent)
    low = (size - 1) // 2
    window = f"mt::window({x.dims[1]}, {there}, {size}, {{.padding = {{{low}, {size - 1 - low}}}}})"
    sums = p.let(f"rename(sum_pool({x} * {x}, {window}), {there}, {x.dims[1]})", x.dims, x.dtype)
    alpha, beta, bias = (literal(p.attribute(n, d)) for n, d in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    p.output(0, p.let(f"{x} / power({bias} + {alpha} / {size} * {sums}, {beta})", x.dims, x.dtype))
