# SPDX-License-Identifier: Apache-2.0
"""Norms and losses."""

from program import DTYPES, listed, literal, of
from translations.reductions import REDUCTIONS, reduced


def moments(p, x, axes):
    centre = reduced(p, "mean", x, axes)
    middle = p.let(f"{x} - {centre}", x.dims, x.dtype)
    return centre, middle, reduced(p, "mean", p.let(f"{middle} * {middle}", x.dims, x.dtype), axes)


def is_default(epsilon):
    return abs(epsilon - 1e-5) < 1e-10


@of("BatchNormalization")
def batch_norm(p):
    x = p.input(0)
    epsilon = literal(p.attribute("epsilon", 1e-5))
    if not p.attribute("training_mode", 0):
        for i, path in enumerate(("gain", "bias", "mean", "variance")):
            p.keep(f"norm/{path}", i + 1)
        how = f"{{.statistics = mt::nn::batch_statistics::running, .epsilon = {epsilon}}}"
        code = f'mt::nn::batch_norm(s / "norm", {x}, {x.dims[1]}, mt::nn::batch_norm_options{how})'
        return p.output(0, p.let(code, x.dims, x.dtype))
    # Its running variance is that of a batch, the library's that of a sample.
    gain, bias, mean, variance = (p.input(i, [x.dims[1]]) for i in range(1, 5))
    centre, middle, spread = moments(p, x, [a for a in range(len(x.dims)) if a != 1])
    p.output(0, p.let(f"{middle} * rsqrt({spread} + {epsilon}) * {gain} + {bias}", x.dims, x.dtype))
    momentum = p.attribute("momentum", 0.9)
    for i, (kept, now) in enumerate(((mean, centre), (variance, spread))):
        p.output(i + 1, p.let(f"{kept} * {momentum} + {now} * {1 - momentum}", [x.dims[1]], x.dtype))


@of("LayerNormalization")
def layer_norm(p):
    x = p.input(0)
    axis = p.attribute("axis", -1) % len(x.dims)
    axes = list(range(axis, len(x.dims)))
    epsilon = p.attribute("epsilon", 1e-5)
    _, middle, spread = moments(p, x, axes)
    centre = reduced(p, "mean", x, axes)
    scale = p.let(f"rsqrt({spread} + {literal(epsilon)})", spread.dims, x.dtype)
    if len(axes) == 1 and is_default(epsilon):
        p.keep("norm/gain", 1), p.keep("norm/bias", 2)
        y = p.let(f'mt::nn::layer_norm(s / "norm", {x}, {x.dims[axis]})', x.dims, x.dtype)
    else:
        gain, bias = p.input(1, x.dims[axis:]), p.input(2, x.dims[axis:])
        y = p.let(f"{middle} * {scale} * {gain} + {bias}", x.dims, x.dtype)
    for i, value in enumerate((y, centre, scale)):
        if p.asks_for(i):
            p.output(i, value)


@of("RMSNormalization")
def rms_norm(p):
    x = p.input(0)
    axis = p.attribute("axis", -1) % len(x.dims)
    axes = list(range(axis, len(x.dims)))
    epsilon = p.attribute("epsilon", 1e-5)
    if len(axes) == 1 and is_default(epsilon):
        p.keep("norm/gain", 1)
        return p.output(0, p.let(f'mt::nn::rms_norm(s / "norm", {x}, {x.dims[axis]})', x.dims, x.dtype))
    square = reduced(p, "mean", p.let(f"{x} * {x}", x.dims, x.dtype), axes)
    gain = p.input(1, x.dims[axis:])
    p.output(0, p.let(f"{x} * rsqrt({square} + {literal(epsilon)}) * {gain}", x.dims, x.dtype))


@of("InstanceNormalization", "GroupNormalization")
def norm_of_images(p):
    x = p.input(0)
    epsilon = p.attribute("epsilon", 1e-5)
    if p.op == "InstanceNormalization":
        groups, apart, over = [], x, [d for d in x.dims[2:] if d is not None]
        code = f'mt::nn::instance_norm(s / "norm", {x}, {x.dims[1]}, '
    else:
        apart = p.split(x, 1, [p.attribute("num_groups"), x.dims[1].extent // p.attribute("num_groups")])
        groups, over = apart.dims[1:3], x.dims[2:]
        code = f'mt::nn::group_norm(s / "norm", {x}, {x.dims[1]}, {listed(groups)}, '
    if is_default(epsilon):
        p.keep("norm/gain", 1), p.keep("norm/bias", 2)
        return p.output(0, p.let(code + ", ".join(map(str, over)) + ")", x.dims, x.dtype))
    _, middle, spread = moments(p, apart, range(2, len(apart.dims)))
    gain, bias = p.input(1, [x.dims[1]]), p.input(2, [x.dims[1]])
    y = p.let(f"{middle} * rsqrt({spread} + {literal(epsilon)})", apart.dims, x.dtype)
    if groups:
        y = p.let(f"merge({y}, {listed(groups)}, {x.dims[1]})", x.dims, x.dtype)
    p.output(0, p.let(f"{y} * {gain} + {bias}", x.dims, x.dtype))


@of("MeanVarianceNormalization")
def mean_and_variance(p):
    x = p.input(0)
    _, middle, spread = moments(p, x, p.attribute("axes", [0, 2, 3]))
    p.output(0, p.let(f"{middle} / (sqrt({spread}) + 1e-9)", x.dims, x.dtype))


@of("LpNormalization")
def lp_norm(p):
    x = p.input(0)
    axes = [p.attribute("axis", -1) % len(x.dims)]
    size = REDUCTIONS["ReduceL1" if p.attribute("p", 2) == 1 else "ReduceL2"](p, x, axes)
    p.output(0, p.let(f"select({size} == 0, 0, {x} / {size})", x.dims, x.dtype))


# ---- losses ----

@of("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(p):
    x = p.input(0)
    classes = x.dims[1]
    target = p.input(1, [x.dims[0]] + x.dims[2:])
    ignored = p.attribute("ignore_index")
    plain = ignored is None and not p.has(2)
    takes_logits = p.op == "SoftmaxCrossEntropyLoss"
    logs = p.let(f"log_softmax({x}, {classes})", x.dims, x.dtype) if takes_logits else x
    if takes_logits and plain:
        each = p.let(f"mt::nn::cross_entropy({x}, {target}, {classes})", target.dims, x.dtype)
    else:
        each = p.let(f"-gather({logs}, {target}, {classes})", target.dims, x.dtype)
    weight = None
    if p.has(2):
        weight = p.let(f"gather({p.input(2, [classes])}, {target}, {classes})", target.dims, x.dtype)
    if ignored is not None:
        number = str(weight) if weight else f"full(s, 1, {DTYPES[x.dtype]})"
        weight = p.let(f"select({target} == {ignored}, 0, {number})", target.dims, x.dtype)
    if weight:
        each = p.let(f"{each} * {weight}", target.dims, x.dtype)
    kind = p.attribute("reduction", "mean")
    if kind == "none":
        y = each
    elif kind == "sum":
        y = p.let(f"sum({each})", [], x.dtype)
    elif weight:
        y = p.let(f"sum({each}) / sum({weight})", [], x.dtype)
    else:
        y = p.let(f"mean({each})", [], x.dtype)
    p.output(0, y)
    if p.asks_for(1):
        p.output(1, logs)
