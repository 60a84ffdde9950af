# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers."""

from program import listed, of


@of("RNN", "GRU", "LSTM")
def recurrent(p):
    batch_first = p.attribute("layout", 0) == 1
    x = p.input(0, ones=True)
    batch, time = (x.dims[0], x.dims[1]) if batch_first else (x.dims[1], x.dims[0])
    size = x.dims[2]
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[p.op]
    hidden = p.dim(p.attribute("hidden_size"))
    before, gate = p.dim(hidden.extent), p.dim(gates)
    sides = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[p.attribute("direction", "forward")]
    side = p.dim(len(sides))
    rows = p.dim(gates * hidden.extent)
    given = {"w": p.input(1, [side, rows, size]), "r": p.input(2, [side, rows, before])}
    given = {n: p.let(f"split({m}, {rows}, {listed([gate, hidden])})", [], m.dtype) for n, m in given.items()}
    two, three = p.dim(2), p.dim(3)
    if p.has(3):
        both = p.dim(2 * rows.extent)
        b = p.input(3, [side, both])
        given["b"] = p.let(f"split({b}, {both}, {listed([two, gate, hidden])})", [], b.dtype)
    if p.has(7):
        all_of = p.dim(3 * hidden.extent)
        peep = p.input(7, [side, all_of])
        given["p"] = p.let(f"split({peep}, {all_of}, {listed([three, hidden])})", [], peep.dtype)
    ends, each = [], []
    for k, back in enumerate(sides):
        one = p.dim(1)
        own = {n: p.let(f"sum(slice({v}, {side}, {one}, {k}), {one})", [], v.dtype) for n, v in given.items()}
        own.update(two=two, three=three)
        start = f"full(s, 0, mt::f32, {listed([batch, hidden])})"
        starts = [start, start] if p.op == "LSTM" else [start]
        for i in range(len(starts)):
            if p.has(5 + i):
                starts[i] = f"sum({p.input(5 + i, [side, batch, hidden])}, {side})"
        h0 = p.let(f"std::tuple({', '.join(starts)})" if len(starts) > 1 else starts[0], [], "float32")
        along = p.let(f"reverse({x}, {time})" if back else str(x), [], "float32")
        body = cell(p, own, batch, size, hidden, before, gate)
        both = p.let(f'mt::scan(s / "cell_{k}", {time}, {h0}, {along}, {body})', [], "float32")
        last = f"std::get<0>({both})"
        each_of = [f"std::get<{i}>({last})" for i in range(len(starts))] if len(starts) > 1 else [last]
        ends.append([p.let(code, [batch, hidden], "float32") for code in each_of])
        h = p.let(f"std::get<1>({both})", [time, batch, hidden], "float32")
        each.append(p.let(f"reverse({h}, {time})", h.dims, h.dtype) if back else h)

    def joined(values):
        d = p.dim(len(values))
        return p.let(f"stack({{{', '.join(map(str, values))}}}, {d})", [d] + values[0].dims, "float32"), d

    if p.asks_for(0):
        y, d = joined(each)
        p.output(0, y, [batch, time, d, hidden] if batch_first else [time, d, batch, hidden])
    for i in range(len(ends[0])):
        if p.asks_for(1 + i):
            y, d = joined([e[i] for e in ends])
            p.output(1 + i, y, [batch, d, hidden] if batch_first else [d, batch, hidden])


def cell(p, own, batch, size, hidden, before, gate):
    """The body of a scan: what it carries, and the hidden state once more."""
    every = listed([batch, gate, hidden])
    one = p.dim(1)

    def part(of, k, count=gate):
        return f"sum(slice({of}, {count}, {one}, {k}), {one})"

    def biased(code, k):
        return f"{code} + {part(own['b'], k, own['two'])}" if "b" in own else code

    from_x = f"einsum(now, {own['w']}, {every})"
    from_h = f"einsum(rename(last, {hidden}, {before}), {own['r']}, {every})"
    lines = [
        f"auto from_x = {biased(from_x, 0)};",
        f"auto from_h = {biased(from_h, 1)};",
        "auto sums = from_x + from_h;",
    ]
    if p.op == "RNN":
        lines += [f"auto next = tanh({part('sums', 0)});"]
    elif p.op == "GRU":
        again = f"einsum(rename(reset * last, {hidden}, {before}), {part(own['r'], 2)}, {listed([batch, hidden])})"
        if "b" in own:
            again += " + " + part(part(own["b"], 1, own["two"]), 2)
        if p.attribute("linear_before_reset", 0):
            again = f"reset * {part('from_h', 2)}"
        lines += [
            f"auto update = sigmoid({part('sums', 0)});",
            f"auto reset = sigmoid({part('sums', 1)});",
            f"auto fresh = tanh({part('from_x', 2)} + {again});",
            "auto next = (1 - update) * fresh + update * last;",
        ]
    else:
        peep = [""] * 3
        if "p" in own:
            cells = ("kept", "keeps", "kept")
            peep = [f" + {c} * {part(own['p'], k, own['three'])}" for k, c in enumerate(cells)]
        lines += [
            f"auto takes = sigmoid({part('sums', 0)}{peep[0]});",
            f"auto forgets = sigmoid({part('sums', 2)}{peep[2]});",
            f"auto keeps = forgets * kept + takes * tanh({part('sums', 3)});",
            f"auto next = sigmoid({part('sums', 1)}{peep[1]}) * tanh(keeps);",
        ]
    carried, carry = ("auto last, auto kept", "std::tuple(next, keeps)") if p.op == "LSTM" else ("auto last", "next")
    return f"[=](auto, {carried}, auto now) {{ {' '.join(lines)} return std::tuple({carry}, next); }}"
