# SPDX-License-Identifier: Apache-2.0
"""Attention, and embeddings that rotate."""

import math

from program import DTYPES, Value, listed, of


def heads_apart(p, i, heads):
    """[batch, heads, length, size], of that or of [batch, length, heads · size]."""
    x = p.input(i, ones=True)
    if len(x.dims) == 4:
        return x
    x = p.split(x, 2, [heads, x.dims[2].extent // heads])
    return Value(x.code, [x.dims[0], x.dims[2], x.dims[1], x.dims[3]], x.dtype)


def with_past(p, x, past, i):
    if not p.has(past):
        return x
    before = p.input(past, x.dims[:2] + [p.dim(p.array(past).shape[2])] + x.dims[3:])
    both = p.dim(before.dims[2].extent + x.dims[2].extent)
    dims = x.dims[:2] + [both] + x.dims[3:]
    y = p.let(f"concat({before}, {before.dims[2]}, {x}, {x.dims[2]}, {both})", dims, x.dtype)
    if p.asks_for(i):
        p.output(i, y)
    return y


@of("Attention", "FlexAttention")
def attention(p):
    shape = p.array(0).shape
    q = heads_apart(p, 0, p.attribute("q_num_heads"))
    k, v = (heads_apart(p, i, p.attribute("kv_num_heads")) for i in (1, 2))
    batch, heads, length, size = q.dims
    k, v = (p.renamed(x, 0, batch) for x in (k, v))
    v = p.renamed(p.renamed(v, 1, k.dims[1]), 2, k.dims[2])
    k = p.renamed(k, 3, size)
    flex = p.op == "FlexAttention"
    if not flex:
        k, v = with_past(p, k, 4, 1), with_past(p, v, 5, 2)
        if p.has(4):
            v = p.renamed(v, 2, k.dims[2])
    past = p.array(4).shape[2] if p.has(4) and not flex else 0
    memory, few = k.dims[2], k.dims[1]
    if few.extent != heads.extent:
        q = p.split(q, 1, [few.extent, heads.extent // few.extent])
        q = p.renamed(q, 1, few)
        apart = q.dims[1:3]
    else:
        q = p.renamed(q, 1, few)
        apart = [few]
    all_dims = [batch] + apart + [length, memory]
    dtype = q.dtype
    real = DTYPES[dtype]
    scale = p.attribute("scale") or 1 / math.sqrt(size.extent)
    row, column = f"iota(s, {length}, mt::i64)", f"iota(s, {memory}, mt::i64)"
    seen, bias = [], None
    if p.has(3) and not flex:
        bias = mask_of(p, 3, batch, apart, heads, length, memory)
        if bias.dtype == "bool":
            seen, bias = [str(bias)], None
    valid = None
    if p.has(6):
        valid = p.input(6, [batch])
        seen.append(f"{column} < {valid}")
    offset = f"({valid} - {length.extent})" if valid else str(past)
    left, right = p.attribute("left_window_size", -1), p.attribute("right_window_size", -1)
    if p.attribute("is_causal", 0):
        seen.append(f"{column} <= {row} + {offset}")
    if left >= 0:
        seen.append(f"{row} + {offset} - {column} <= {left}")
    if right >= 0:
        seen.append(f"{column} - {row} - {offset} <= {right}")
    softcap = p.attribute("softcap", 0.0)
    mask = p.let(" && ".join(f"({e})" for e in seen), all_dims, "bool") if seen else None
    wanted = [batch] + apart + [length, v.dims[3]]
    plain = bias is None and not softcap and not p.attribute("scale") and not p.asks_for(3)
    if plain:  # the library's own
        more = f", {mask}" if mask else ""
        y = p.let(f"mt::nn::dot_product_attention({q}, {k}, {v}, {length}, {memory}, {size}{more})", wanted, dtype)
    else:
        scores = [p.let(f"einsum({q}, {k}, {listed(all_dims)}) * {scale!r}", all_dims, dtype)]
        capped = f"{softcap!r} * tanh({scores[0]} / {softcap!r})"
        scores.append(p.let(capped, all_dims, dtype) if softcap else scores[0])
        x = p.let(f"{scores[1]} + {bias}", all_dims, dtype) if bias else scores[1]
        if mask:
            x = p.let(f"select({mask}, {x}, -std::numeric_limits<double>::infinity())", all_dims, dtype)
        scores += [x, p.let(f"softmax({x}, {memory})", all_dims, dtype)]
        y = p.let(f"einsum({scores[3]}, {v}, {listed(wanted)})", wanted, dtype)
        if p.asks_for(3):
            given = scores[p.attribute("qk_matmul_output_mode", 0)]
            if len(apart) > 1:
                given = p.merge(given, 1, 2)
            p.output(3, given)
    if len(apart) > 1:
        y = p.merge(y, 1, 2)
    if len(shape) == 3:
        y = p.merge(Value(y.code, [y.dims[0], y.dims[2], y.dims[1], y.dims[3]], dtype), 2, 2)
    p.output(0, y)


def mask_of(p, i, batch, apart, heads, length, memory):
    """A mask whose axes are aligned at the last; a shorter one sees nothing behind its end."""
    shape = p.array(i).shape
    full = [batch, heads, length, memory][4 - len(shape) :]
    short = p.dim(shape[-1]) if shape[-1] != memory.extent else None
    dims = [d if n == d.extent and d.extent > 1 else None for d, n in zip(full, shape, strict=True)]
    dims = dims[:-1] + [short or memory]
    own_heads = None
    if heads in dims:
        own_heads = p.dim(heads.extent)
        dims[dims.index(heads)] = own_heads
    x = p.input(i, dims)
    if short:
        around = "false" if x.dtype == "bool" else "-std::numeric_limits<double>::infinity()"
        wide = dims[:-1] + [memory]
        if x.dtype == "bool":
            x = p.cast(x, "uint8")
            x = p.let(f"pad({x}, {short}, {memory}, 0) != 0", wide, "bool")
        else:
            x = p.let(f"pad({x}, {short}, {memory}, 0, {around})", wide, x.dtype)
    if own_heads:
        axis = x.dims.index(own_heads)
        new = x.dims[:axis] + apart + x.dims[axis + 1 :]
        into = f"rename({x}, {own_heads}, {apart[0]})", f"split({x}, {own_heads}, {listed(apart)})"
        code = into[0] if len(apart) == 1 else into[1]
        x = p.let(code, new, x.dtype)
    return x


@of("RotaryEmbedding")
def rotary(p):
    x = p.input(0, ones=True)
    flat = len(x.dims) == 3
    if flat:
        heads = p.attribute("num_heads")
        x = p.split(x, 2, [heads, x.dims[2].extent // heads])
        x = Value(x.code, [x.dims[0], x.dims[2], x.dims[1], x.dims[3]], x.dtype)
    batch, heads, length, size = x.dims
    turned = p.attribute("rotary_embedding_dim", 0) or size.extent
    half = p.dim(turned // 2)
    if p.has(3):
        rows = p.dim(p.array(1).shape[0])
        at = p.input(3, [batch, length])
        tables = [p.input(i, [rows, half]) for i in (1, 2)]
        both = [p.let(f"gather({t}, {at}, {rows})", [batch, length, half], x.dtype) for t in tables]
    else:
        both = [p.input(i, [batch, length, half]) for i in (1, 2)]
    dims = [batch, heads, length, half]
    if p.attribute("interleaved", 0):
        a, b = (p.let(f"slice({x}, {size}, {half}, {k}, 2)", dims, x.dtype) for k in (0, 1))
    else:
        a, b = (p.let(f"slice({x}, {size}, {half}, {k * half.extent})", dims, x.dtype) for k in (0, 1))
    c, d = both
    re = p.let(f"{a} * {c} - {b} * {d}", dims, x.dtype)
    im = p.let(f"{a} * {d} + {b} * {c}", dims, x.dtype)
    two, whole = p.dim(2), p.dim(turned)
    pair = p.let(f"stack({{{re}, {im}}}, {two})", [two] + dims, x.dtype)
    order = [half, two] if p.attribute("interleaved", 0) else [two, half]
    y = p.let(f"merge({pair}, {listed(order)}, {whole})", dims[:3] + [whole], x.dtype)
    if turned != size.extent:
        rest, all_of = p.dim(size.extent - turned), p.dim(size.extent)
        left = p.let(f"slice({x}, {size}, {rest}, {turned})", dims[:3] + [rest], x.dtype)
        y = p.let(f"concat({y}, {whole}, {left}, {rest}, {all_of})", dims[:3] + [all_of], x.dtype)
    if flat:
        y = p.merge(Value(y.code, [y.dims[0], y.dims[2], y.dims[1], y.dims[3]], x.dtype), 2, 2)
    p.output(0, y)
