#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what doxygen found in the headers, and writes a signature as a user writes the call."""

import collections
import re
import xml.etree.ElementTree as ET

REFUSED = re.compile(r"\b(builder|value_id|\w*refus(ed|al)\w*|not_of_numbers)\b")  # ours, and calls that do not compile

# Types of the graph and of engines, by which a member is known to be for tools.
OF_TOOLS = re.compile(r"\b(module|binding|function_ref|path_id|dynamic_array|rank_context|plan|session|job_runner)\b")


def text_of(element, path="."):
    found = element.find(path)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def line_of(element):
    place = element.find("location")
    return place.get("file"), int(place.get("bodystart", place.get("line"))), int(place.get("line"))


def index_of(xml):
    """Everything by its name behind `meshtensor::`, in the order of the sources."""
    found = collections.defaultdict(list)
    for file in sorted(xml.glob("*.xml")):
        for compound in ET.parse(file).getroot().findall("compounddef"):
            kind, name = compound.get("kind"), text_of(compound, "compoundname").replace("MESHTENSOR_ARCH::", "")
            name = name.removeprefix("meshtensor::")
            if kind in ("class", "struct", "concept"):
                found[name].append(compound)
            for member in compound.iter("memberdef") if kind != "file" else ():
                inside = re.sub(r"^meshtensor(::MESHTENSOR_ARCH)?::", "", f"{name}::{text_of(member, 'name')}")
                found[inside].append(member)
                for value in member.findall("enumvalue"):
                    found[f"{inside}::{text_of(value, 'name')}"] = []
    for all_of_name in found.values():
        all_of_name.sort(key=line_of)
    return found


def is_public(e):
    parameters = " ".join(text_of(p) for p in [*e.findall("param"), *e.findall("templateparamlist/param")])
    return not (e.get("prot") in ("private", "protected") or text_of(e, "detaileddescription").startswith("Rejects") or
                "eager/array_op" in line_of(e)[0] or REFUSED.search(parameters))


def plain_type(text):
    """A type as users write it, without the parts that only refuse wrong calls."""
    text = re.sub(r"\bat< (\w+), .*> const &", r"\1", re.sub(r"\bnamed<.*> const &|named_here const &", "name", text))
    text = re.sub(r"< (.*?) >", r"<\1>", re.sub(r"< (.*?) >", r"<\1>", text)).replace("meshtensor::", "")
    text = re.sub(r"\bstd::string(_view)?\b( const &)?", "string", re.sub(r"\bdetail::\w+(<.*>)?", "auto", text))
    return re.sub(r" const(?=[&*])|(?<=\w)&$", "", re.sub(r" ([&*]+)", r"\1", text)).replace("std::filesystem::path", "path")


def signature(e, name):
    """`mt::cast<dtype To>(handle x)`: template parameters stand by their constraints where a call deduces them."""
    constraints, parameters, used = {}, [], set()
    for p in e.findall("templateparamlist/param"):
        kind, own = re.match(r"(.*?)\s*(\w*)$", f"{text_of(p, 'type')} {text_of(p, 'declname')}".strip()).groups()
        constraints[own] = re.sub(r"^(class|typename|detail::argument)\b", "auto", kind), text_of(p, "defval")
    for p in e.findall("param"):
        kind, own, default = text_of(p, "type"), text_of(p, "declname"), text_of(p, "defval")
        used.update(re.findall(r"\w+", kind))
        if own == "where" or re.search(r"\b(\w+_)?line(_of)?\b", kind):
            continue
        of_own = re.match(r"(\w+)< ([\w, .]+) >( const &)?$", kind)  # such as to_dims<D...>
        if of_own and all(word in constraints for word in re.findall(r"\w+", of_own[2])):
            kind, own = of_own[1].replace("dtype_constant", "dtype"), own or {"to_dims": "to", "dtype_constant": "type"}.get(of_own[1], "")
        bare, pack = re.match(r"(?:typename )?(\w+)(?: const)? ?(?:&&?)?(\.\.\.)?$", kind), ""
        if bare and bare[1] in constraints:
            kind, unless = constraints[bare[1]]
            kind, pack = kind.removesuffix("..."), "..." if bare[2] or kind.endswith("...") else ""
            own = own if own or len(bare[1]) == 1 else bare[1].lower()
            if unless == "detail::no_dim":  # up to so many dims
                kind, pack, own, default = "dim_type", "...", "along", ""
        shown = f"{plain_type(kind).removesuffix(' auto')}{pack} {own}".strip() + (f" = {plain_type(default)}" if default not in ("", "{}") else "")
        if not (pack and parameters and parameters[-1] == shown):
            parameters.append(f"[{shown}]" if default == "{}" else shown)
    explicit = [f"{kind} {own}" for own, (kind, unless) in constraints.items()
                if kind and own not in used | {"Reason"} and "detail" not in kind + unless and unless != "lazy"]
    listed = re.sub(r"((?:handle \w, ){2})(?:handle \w, ){2,}", r"\1..., ", ", ".join(parameters))
    if e.get("kind") in ("variable", "typedef", "enum") or e.tag == "compounddef":
        return name + (f"<{', '.join(' '.join(pair[0].split() + [own]) for own, pair in constraints.items())}>"
                       if constraints and "detail" not in str(constraints) else "")
    result = plain_type(re.sub(r"\b(constexpr|static|inline|explicit|virtual|auto|void|friend)\b ?", "", text_of(e, "type")))
    return (f"{name}{'<' + ', '.join(explicit) + '>' if explicit else ''}({listed})" +
            (f" → {result}" if result not in ("", "auto", "&", "const", "auto&", *constraints) else ""))
