# SPDX-License-Identifier: Apache-2.0
"""Pretty-printers of gdb for modules, names, placements and views.

    gdb -x cmake/gdb/meshtensor.py PROGRAM        or, in gdb or in .gdbinit: source .../meshtensor.py

    print m                    a module: its counts, then the text of emit/print.hpp, of `print elements` nodes at most
    mt_text m                  that text of all nodes; before gdb 13, where `print m` gives only the counts, the one way
    print $mt_type(m, 5)       the type of the value %5: f32[batch/data, hidden]
    print $mt_node(m, 3)       the line of the node 3 of a module
    print n, print v           a node, a value, a name, a placement, a shape, a view with its first elements, a diagnostic

All is read from memory and no function is called, so it works on a core dump, too. Compile with -O0 -g, and with
-DMESHTENSOR_EARLY=0 to stop in passes. Without its module a value shows ids in the place of names: f32[0/1, 2].
"""

import decimal
import os.path
import re
import struct

import gdb

MOST_DIMS = 8
MOST_AXES = 6
NONE = 0xFFFF  # meshtensor::no_id
REDUCTIONS = ("", "sum", "max", "min")


# ---- scalars ----


def enumerator(value):
    """`add` of a value of the enumeration meshtensor::function; a number that has no name as it is."""
    number = int(value)
    for field in value.type.strip_typedefs().fields():
        if field.enumval == number:
            return field.name.rsplit("::", 1)[-1]
    return str(number)


def enumerator_of(type_name, number):
    return enumerator(gdb.Value(int(number)).cast(gdb.lookup_type(type_name)))


def dtype_text(value):
    text = enumerator(value)
    return "bool" if text == "boolean" else text


def name_text(value):
    words = b"".join(int(value[w]).to_bytes(8, "little") for w in ("w0", "w1", "w2", "w3"))
    return words.split(b"\0", 1)[0].decode("utf-8", "replace")


def literal(number):
    """As std::to_chars writes a double: the shortest text that gives it again."""
    if number != number or number in (float("inf"), float("-inf")):
        return repr(number)
    sign, digits, exponent = decimal.Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    if not text:
        return "-0" if sign else "0"
    short = text.rstrip("0")
    exponent += len(text) - len(short)
    point = len(short) + exponent  # digits before the point
    if exponent >= 0:
        fixed = str(abs(int(number)))  # all digits of a great integer
    elif point > 0:
        fixed = short[:point] + "." + short[point:]
    else:
        fixed = "0." + "0" * -point + short
    scientific = short[0] + ("." + short[1:] if len(short) > 1 else "") + f"e{'-' if point < 1 else '+'}{abs(point - 1):02}"
    return ("-" if sign else "") + (fixed if len(fixed) <= len(scientific) else scientific)


# ---- dims and placements ----


def shape_list(value):
    return [int(value["at"][i]) for i in range(min(int(value["count"]), MOST_DIMS))]


class Placement:
    """The bits of meshtensor::placement: of each axis 4 for a dim's position plus 1, 3 for its place, 2 for a reduction."""

    def __init__(self, value):
        bits = int(value["bits"])
        self.axes = [(a, (bits >> 9 * a & 15) - 1, bits >> 9 * a + 4 & 7, bits >> 9 * a + 7 & 3) for a in range(MOST_AXES)]

    def of_dim(self, position):
        return [axis for _, axis in sorted((order, a) for a, at, order, _ in self.axes if at == position)]

    def partial(self):
        return [(a, REDUCTIONS[kind]) for a, _, _, kind in self.axes if kind != 0]


def dims_text(dims, placement, dim, axis):
    """`batch/data, hidden | partial model`, as speller::dims; `dim` and `axis` give names."""
    text = ", ".join("/".join([dim(d)] + [axis(a) for a in placement.of_dim(i)]) for i, d in enumerate(dims))
    parts = [("" if kind == "sum" else kind + " ") + axis(a) for a, kind in placement.partial()]
    return text + (" " if text and parts else "") + ("| partial " + ", ".join(parts) if parts else "")


# ---- modules ----


class Module:
    """A meshtensor::module as the text of emit/print.hpp."""

    def __init__(self, value):
        self.m = value
        self.count = {table: int(value[table + "_count"]) for table in (
            "node", "value", "link", "region", "name", "dim", "axis", "number", "path", "site", "variable", "request", "call",
            "extension")}
        self.declarations = declarations()

    def summary(self):
        counts = [(self.count[table], table) for table in ("node", "value", "region", "variable", "dim", "axis")]
        plural = {"axis": "axes"}
        return "module: " + ", ".join(f"{n} {table if n == 1 else plural.get(table, table + 's')}" for n, table in counts)

    # Rows of tables; one that does not exist is a question mark.

    def label(self, i):
        return name_text(self.m["names"][i]) if i < self.count["name"] else "?"

    def dim(self, d):
        return self.label(int(self.m["dims"][d]["label"])) if d < self.count["dim"] else "?"

    def axis(self, a):
        return self.label(int(self.m["axes"][a]["label"])) if a < self.count["axis"] else f"axis {a}"

    def axes(self, mask):
        return ", ".join(self.axis(a) for a in range(MOST_AXES) if mask >> a & 1)

    def path(self, p):
        if p >= self.count["path"]:
            return ""
        row = self.m["paths"][p]
        outer = self.path(int(row["parent"]))
        return (outer + "/" if outer else "") + self.label(int(row["label"]))

    def typed(self, row):
        dims = dims_text(shape_list(row["dims"]), Placement(row["layout"]), self.dim, self.axis)
        return f"{dtype_text(row['type'])}[{dims}]"

    def type(self, v):
        return self.typed(self.m["values"][v]) if v < self.count["value"] else "?"

    def number(self, i, inner=False):
        if i >= self.count["number"]:
            return "?"
        row = self.m["numbers"][i]
        kind, first, second = enumerator(row["kind"]), int(row["first"]), int(row["second"])
        if kind == "literal":
            exact = row["value"]
            return str(int(float(exact["real"])) + int(exact["rest"])) if int(exact["rest"]) else literal(float(exact["real"]))
        if kind == "named":
            return self.label(first)
        if kind == "extent":
            return f"extent({self.dim(first)})"
        if kind in ("updates", "most_updates"):
            return f"{kind}({self.path(first)})"
        if kind != "expression":
            return "step" if kind == "schedule" else kind
        function = enumerator(row["f"])
        sign = {"add": " + ", "subtract": " - ", "multiply": " * ", "divide": " / "}.get(function)
        if sign is None:
            both = second != NONE
            return f"{function}({self.number(first)}{', ' + self.number(second) if both else ''})"
        text = self.number(first, True) + sign + self.number(second, True)
        return f"({text})" if inner else text

    def origin(self, n):
        site, where = int(n["site"]), self.path(int(n["path"]))
        text = ""
        if site < self.count["site"] and int(self.m["sites"][site]["line"]) != 0:
            row = self.m["sites"][site]
            file = row["file"].string() if int(row["file"]) != 0 else ""
            text = f"{os.path.basename(file)}:{int(row['line'])}"
        return text + (" " if text and where else "") + where

    def links(self, l):
        first = int(l["first"])
        return [int(self.m["links"][first + i]) for i in range(int(l["count"]))]

    # The lines above the entries.

    def tables(self):
        yield from self.line_of("dims ", map(self.dim_row, range(self.count["dim"])))
        yield from self.line_of("mesh ", map(self.axis_row, range(self.count["axis"])))
        for i in range(self.count["variable"]):
            row = self.m["variables"][i]
            start, number = enumerator(row["start"]), self.number(int(row["number"]))
            first = {"automatic": "", "constant": f" = {number}"}.get(start, f" = {start}({number})")
            yield f"{'parameter' if row['trainable'] else 'state'} {self.path(int(row['path']))}: {self.typed(row)}{first}"

    @staticmethod
    def line_of(word, rows):
        text = ", ".join(rows)
        if text:
            yield word + text

    def dim_row(self, d):
        row = self.m["dims"][d]
        kind, value = enumerator(row["kind"]), int(row["value"])
        first, second = self.dim(int(row["first"])), self.dim(int(row["second"]))
        return self.dim(d) + {
            "fixed": f" = {value}", "product": f" = {first} * {second}", "sum": f" = {first} + {second}",
            "shifted": f" = {first} {'-' if value < 0 else '+'} {abs(value)}", "same": f" = {first}",
            "blocks": f" = shards of {first}", "in_block": f" = {first} / {second}"}.get(kind, "")

    def axis_row(self, a):
        extent = int(self.m["axes"][a]["extent"])
        return self.axis(a) + (f" = {extent}" if extent else "")

    # Nodes.

    def lines(self, most=None):
        """The text of a module, of `most` nodes at most."""
        yield from self.tables()
        inside = {}
        for i in range(self.count["node"] if most is None else min(most, self.count["node"])):
            inside.setdefault(int(self.m["nodes"][i]["region"]), []).append(i)
        for r in range(self.count["region"]):
            row = self.m["regions"][r]
            if enumerator(row["kind"]) == "entry" and not row["removed"]:
                yield "entry " + self.label(int(row["label"]))
                yield from self.nodes(r, inside, 2)
        if most is not None and most < self.count["node"]:
            yield f"... {self.count['node'] - most} more nodes: set print elements 0"
        if int(self.m["report"]["size"]) != 0:
            yield "report " + diagnostic_text(self.m["report"])

    def nodes(self, r, inside, indent):
        rows = [(self.results(n), self.action(n), self.origin(n), n) for n in map(self.node, inside.get(r, []))
                if enumerator(n["kind"]) != "argument"]  # printed with its region
        left = max((len(row[0]) for row in rows if len(row[0]) <= 48), default=0)
        right = max((len(row[1]) for row in rows if len(row[1]) <= 48), default=0)
        for results, action, origin, n in rows:
            line = " " * indent + results.ljust(left) + ("  = " if results else "    ") + action.ljust(right)
            yield (line + ("  # " + origin if origin else "")).rstrip(" ")
            for k, region in enumerate(self.links(n["regions"])):
                yield from self.region(n, k, region, inside, indent + 2)

    def node(self, i):
        return self.m["nodes"][i]

    def line_of_node(self, i):
        n = self.node(i)
        results, origin = self.results(n), self.origin(n)
        return (results + " = " if results else "") + self.action(n) + ("  # " + origin if origin else "")

    def region(self, n, k, r, inside, indent):
        if r >= self.count["region"]:
            return
        row, kind = self.m["regions"][r], enumerator(n["kind"])
        word = {"composite": "body", "kernel": "body"}.get(enumerator(row["kind"]), enumerator(row["kind"]))
        if kind == "cond":
            word = "otherwise" if k else "then"
        arguments, results = self.links(row["arguments"]), self.links(row["results"])
        typed = [f"%{v}: {self.type(v)}" for v in arguments]
        refs = self.refs(results)
        if kind == "repeat":
            loop = Loop(n)
            taken = grouped(typed, (("carry", loop.carries), ("stacked", loop.stacked), ("invariant", None)))
            given = grouped(refs, (("carry", loop.carries), ("sum", loop.sums), ("stack", None)))
        else:
            taken, given = ", ".join(typed), ", ".join(refs)
        yield " " * indent + word + (" " + taken if taken else "")
        yield from self.nodes(r, inside, indent + 2)
        yield " " * (indent + 2) + "give" + (" " + given if given or kind != "repeat" else "")

    @staticmethod
    def refs(ids):
        return ["%?" if v == NONE else f"%{v}" for v in ids]

    def results(self, n):
        return ", ".join(f"%{v}: {self.type(v)}" for v in self.links(n["results"]))

    def own_name(self, n):
        kind = enumerator(n["kind"])
        if kind == "call":
            return self.label(int(self.m["calls"][int(n["attribute"][0])]["label"]))
        if kind == "extension":
            return self.label(int(self.m["extensions"][int(n["function"])]["label"]))
        return None

    def action(self, n):
        kind, operands = enumerator(n["kind"]), ", ".join(self.refs(self.links(n["operands"])))
        a = attributes_of(n)
        reduction = REDUCTIONS[int(n["function"])] if int(n["function"]) < len(REDUCTIONS) else "?"
        if kind == "input":
            return f"input({self.label(a[0])})"
        if kind in ("read", "write"):
            path = self.path(int(self.m["variables"][a[0]]["path"])) if a[0] < self.count["variable"] else "?"
            return f"read({path})" if kind == "read" else f"write({operands}, {path})"
        if kind in ("output", "watch"):
            return f"{kind}({operands}, {self.label(a[0])})"
        if kind == "repeat":
            loop = Loop(n)
            groups = (("carry", loop.carries), ("stacked", loop.stacked), ("invariant", None))
            inner = grouped(self.refs(self.links(n["operands"])), groups)
            return f"repeat {self.dim(loop.dim)}{' backwards' if loop.reversed else ''}{' (' + inner if inner else ''})"
        if kind == "composite":
            return f"{self.label(a[0])}({operands})"
        if kind in ("all_reduce", "reduce_scatter"):
            into = f" into {self.dim(a[1])}" if kind == "reduce_scatter" else ""
            return f"{kind} {reduction}({operands}) over {self.axes(a[0])}{into}"
        if kind in ("all_gather", "local_slice"):
            return f"{kind}({operands}) over {self.axes(a[0])} of {self.dim(a[1])}"
        if kind == "all_to_all":
            return f"{kind}({operands}) over {self.axes(a[0])} from {self.dim(a[2])} to {self.dim(a[1])}"
        return self.operation(n, kind, operands, a, reduction)

    def operation(self, n, kind, operands, a, reduction):
        """Prints an operation as its declaration says."""
        called = self.own_name(n) or operation_text(n)
        if kind == "constant":
            return f"constant({self.number(a[0])})"
        if kind == "random":
            how = "uniform" if int(n["function"]) == 0 else "normal"
            return f"{how}({self.path(int(n['path']))} #{int(n['ordinal'])})"
        if kind == "reduce":
            return f"{reduction}({operands}){self.lost(n)}"
        if kind == "einsum":
            return f"einsum({operands}){self.lost(n)}"
        more = self.words(n, kind, a)
        return f"{called}({operands}{', ' if operands and more else ''}{more})"

    def lost(self, n):
        """` over embed`: the dims that the operands have and the result lacks."""
        dims = []
        for v in self.links(n["operands"]):
            if v < self.count["value"]:
                dims += [d for d in shape_list(self.m["values"][v]["dims"]) if d not in dims]
        for v in self.links(n["results"])[:1]:
            if v < self.count["value"]:
                kept = shape_list(self.m["values"][v]["dims"])
                dims = [d for d in dims if d not in kept]
        return " over " + ", ".join(map(self.dim, dims)) if dims else ""

    def words(self, n, kind, a):
        """The declaration's text, such as `along {0}[ at {1}]`, with a node's attributes filled in."""
        if kind == "extension":
            declaration = self.m["extensions"][int(n["function"])]["rules"]["declares"]
        elif self.declarations is not None:
            declaration = self.declarations["of"][int(n["kind"])]
        else:  # the program has no table of declarations: numbers
            return "attributes " + ", ".join(map(str, a)) if any(a) else ""
        pattern = declaration["text"].string()

        def filled(match):
            return self.attribute(enumerator(declaration["attributes"][int(match[1])]["kind"]), a, int(match[1]))

        def optional(match):
            k = int(re.search(r"{(\d)}", match[1])[1])
            return match[1] if a[k] != NONE else ""

        return re.sub(r"{(\d)}", filled, re.sub(r"\[([^]]*)\]", optional, pattern))

    def attribute(self, kind, a, k):
        if kind == "request":
            return self.requested(a)
        return {"dim": self.dim, "number": self.number, "place": self.number, "name": self.label}.get(kind, str)(a[k])

    def requested(self, a):
        rows = []
        for i in range(a[0], min(a[0] + a[1], self.count["request"])):
            row = self.m["requests"][i]
            axes = [self.label(int(row["axes"][k])) for k in range(int(row["count"]))]
            rows.append("/".join([self.dim(int(row["dim"]))] + axes) + ("" if axes else " whole"))
        return ", ".join(rows)


class Loop:
    """The counts in the attributes of a repeat: see meshtensor::loop."""

    def __init__(self, n):
        self.dim, self.carries, self.stacked, last = (int(n["attribute"][k]) for k in range(4))
        self.sums, self.reversed = last >> 1, last & 1


def grouped(items, groups):
    """`carry %1; invariant %2`: the groups that are not empty; the last one takes what is left."""
    texts, at = [], 0
    for word, count in groups:
        end = len(items) if count is None else at + count
        if items[at:end]:
            texts.append(f"{word} {', '.join(items[at:end])}")
        at = end
    return "; ".join(texts)


def attributes_of(n):
    return [int(n["attribute"][k]) for k in range(n["attribute"].type.range()[1] + 1)]


def operation_text(n):
    """The function of an elementwise node, else the primitive."""
    kind = enumerator(n["kind"])
    return enumerator_of("meshtensor::function", n["function"]) if kind == "elementwise" else kind


def declarations():
    """The table of all primitives' declarations; None if the program does not have it in memory."""
    try:
        table = gdb.parse_and_eval("meshtensor::detail::declarations")
        table["of"][0]["text"].string()
        return table
    except gdb.error:
        return None


def diagnostic_text(value):
    size = int(value["size"])
    return value["text"].string("utf-8", "replace", size) if size > 0 else ""


# ---- printers ----


def is_summary():
    """Whether a value is printed as an argument of a frame. Before gdb 13 nobody knows, so it may be one."""
    return not hasattr(gdb, "print_options") or gdb.print_options().get("summary", False)


class Printer:
    def __init__(self, value):
        self.value = value


class ModulePrinter(Printer):
    def to_string(self):
        m, most = Module(self.value), gdb.parameter("print elements")
        return m.summary() if is_summary() else "\n".join([m.summary(), *m.lines(most)])


class NamePrinter(Printer):
    def to_string(self):
        return name_text(self.value)

    def display_hint(self):
        return "string"


class DiagnosticPrinter(NamePrinter):
    def to_string(self):
        return diagnostic_text(self.value)


class ShapePrinter(Printer):
    def to_string(self):
        return f"[{', '.join(map(str, shape_list(self.value)))}]"


class PlacementPrinter(Printer):
    """`[0/1, 2/0/3 | partial 4]`: positions of dims with the axes that shard them; those of whole dims are left out."""

    def to_string(self):
        p = Placement(self.value)
        sharded = [i for i in range(MOST_DIMS) if p.of_dim(i)]
        text = ", ".join("/".join(map(str, [i] + p.of_dim(i))) for i in sharded)
        parts = ", ".join(f"{kind} {a}" if kind != "sum" else str(a) for a, kind in p.partial())
        return "[" + text + (" " if text and parts else "") + ("| partial " + parts if parts else "") + "]"


class ValuePrinter(Printer):
    def to_string(self):
        v = self.value
        dims = dims_text(shape_list(v["dims"]), Placement(v["layout"]), str, str)
        return f"{dtype_text(v['type'])}[{dims}] of node {int(v['node'])}, result {int(v['index'])}"


class NodePrinter(Printer):
    def to_string(self):
        n = self.value
        links = {what: range(int(n[what]["first"]), int(n[what]["first"]) + int(n[what]["count"]))
                 for what in ("operands", "results", "regions")}
        parts = [f"{what} links[{l.start}..{l.stop})" for what, l in links.items() if len(l) != 0]
        attributes = attributes_of(n)
        parts += ["attributes " + ", ".join(map(str, attributes))] if any(attributes) else []
        return f"{operation_text(n)} in region {int(n['region'])}" + "".join(", " + p for p in parts)


class ViewPrinter(Printer):
    """`f32[0: 4 of 8 from 4, 2: 6] at 0x...` and its elements, row-major; dims are rows of the module's table."""

    def dims(self):
        return range(min(int(self.value["count"]), MOST_DIMS))

    def to_string(self):
        v, texts = self.value, []
        for i in self.dims():
            extent, total, origin = (int(v[field][i]) for field in ("extent", "total", "origin"))
            part = f" of {total} from {origin}" if total not in (0, extent) else ""
            texts.append(f"{int(v['dim'][i])}: {extent}{part}")
        return f"{dtype_text(v['type'])}[{', '.join(texts)}] at {int(v['data']):#x}"

    def children(self):
        v = self.value
        data, form = int(v["data"]), self.element()
        if data == 0:
            return
        extents, strides = ([int(v[field][i]) for i in self.dims()] for field in ("extent", "stride"))
        index, size = [0] * len(extents), 1
        for extent in extents:
            size *= extent
        for k in range(size):
            at = data + sum(i * s for i, s in zip(index, strides)) * struct.calcsize(form)
            yield str(k), self.read(form, at)
            for d in reversed(range(len(extents))):
                index[d] += 1
                if index[d] < extents[d]:
                    break
                index[d] = 0

    def element(self):
        return {"f64": "d", "f32": "f", "bf16": "H", "i32": "i", "i64": "q", "u8": "B"}.get(dtype_text(self.value["type"]), "?")

    def read(self, form, at):
        raw = bytes(gdb.selected_inferior().read_memory(at, struct.calcsize(form)))
        if form == "H":  # bf16: the upper half of an f32
            form, raw = "f", b"\0\0" + raw
        number = struct.unpack("<" + form, raw)[0]
        return f"{number:.7g}" if form == "f" else str(number).lower() if form == "?" else str(number)

    def display_hint(self):
        return "array"


PRINTERS = {"module": ModulePrinter, "name": NamePrinter, "diagnostic": DiagnosticPrinter, "shape": ShapePrinter,
            "placement": PlacementPrinter, "value": ValuePrinter, "node": NodePrinter, "view": ViewPrinter}


def printer_of(value):
    type_ = value.type
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value, type_ = value.referenced_value(), type_.target()
    found = re.fullmatch(r"meshtensor::(\w+)", type_.unqualified().strip_typedefs().tag or "")
    return PRINTERS[found[1]](value) if found and found[1] in PRINTERS else None


class TypeFunction(gdb.Function):
    """$mt_type(MODULE, VALUE): the type of a value, such as f32[batch/data, hidden]."""

    def __init__(self):
        super().__init__("mt_type")

    def invoke(self, module, value):
        return Module(whole(module)).type(int(value))


class NodeFunction(gdb.Function):
    """$mt_node(MODULE, NODE): the line of a node, such as %4: f32[batch] = multiply(%2, %3)."""

    def __init__(self):
        super().__init__("mt_node")

    def invoke(self, module, node):
        return Module(whole(module)).line_of_node(int(node))


class TextCommand(gdb.Command):
    """mt_text MODULE: the text of a module, as meshtensor::text_of gives it."""

    def __init__(self):
        super().__init__("mt_text", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        for line in Module(whole(gdb.parse_and_eval(argument))).lines():
            gdb.write(line + "\n")


def whole(value):
    """The module that a module, a reference or a pointer is."""
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        return value.dereference()
    return value.referenced_value() if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF) else value


gdb.pretty_printers.append(printer_of)
TypeFunction()
NodeFunction()
TextCommand()
