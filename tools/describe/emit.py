"""Rows as C, as a person would write them."""

import os
from typing import List

from decide import Described, Plan, Row
from model import identifier

WIDTH = 100


def source(plan: Plan, headers: List[str], made_from: List[str], own_header: str,
           declared: str = "") -> str:
    structs = ordered(plan)
    functions = [f for d in structs for f in d.functions]
    roots = [d.handle for d in plan.roots]
    inside = [d.handle for d in structs if d.handle not in roots]
    parts = [f"/* Made by haul-describe from {' and '.join(made_from)}. Change those, not this. */"]
    includes = [f'#include "{own_header}"'] if own_header else ["#include <haul.h>"]
    includes += [""] if plan.answers.includes else []
    includes += [f"#include {name}" for name in plan.answers.includes]
    parts.append("\n".join(includes + ([""] + include_lines(headers) if not own_header else [])))
    if declared and not own_header:
        parts.append(declared)
    made = [f"typedef {d.stands_for} {d.name};" for d in structs if d.stands_for]
    if made:
        parts.append("\n".join(made))
    handles = wrapped("haul_type *", [f"{h}" for h in roots], "*")
    if inside:
        handles += "\n" + wrapped("static haul_type *", inside, "*")
    parts.append(handles)
    if plan.cases_used:
        parts.append("\n".join(cases(plan, name) for name in plan.cases_used))
    if functions:
        parts.append("\n".join(wrap_call(f"HAUL_FUNCTION({n}, {s}, {e})", "", "")
                               for n, s, e in functions))
    for d in structs:
        if d.rows:
            rows = "\n".join(row_text(row) for row in d.rows)
            parts.append(f"static const haul_field {table(d)}[] = {{\n{rows}\n}};")
    parts.append("static const haul_struct structs[] = {\n" +
                 "\n".join(struct_text(d) for d in structs) + "\n};")
    name = identifier(plan.roots[0].name)
    parts.append(f"haul_status {name}_describe(haul_context *context)\n{{\n"
                 "    return HAUL_DESCRIBE(context, structs);\n}")
    parts.append(f"void {name}_forget(void)\n{{\n    HAUL_FORGET(structs);\n}}")
    return "\n\n".join(parts) + "\n"


def header(plan: Plan, headers: List[str], made_from: List[str], file: str,
           declared: str = "") -> str:
    guard = identifier(os.path.basename(file)).upper()
    name = identifier(plan.roots[0].name)
    roots = ", *".join(d.handle for d in plan.roots)
    return "\n".join([
        f"/* Made by haul-describe from {' and '.join(made_from)}. Change those, not this. */",
        f"#ifndef {guard}", f"#define {guard}", "",
        "#include <haul.h>", "", *include_lines(headers),
        *(["#include <stddef.h>", "", declared] if declared else []), "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        f"extern haul_type *{roots};", "",
        f"haul_status {name}_describe(haul_context *context);",
        f"void {name}_forget(void);", "",
        "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def include_lines(headers: List[str]) -> List[str]:
    return [f"#include {h}" if h[0] in "<\"" else f'#include "{h}"' for h in headers]


def ordered(plan: Plan) -> List[Described]:
    """Those without pointers first."""
    return sorted(plan.described.values(), key=lambda d: bool(d.rows))


def table(d: Described) -> str:
    return d.handle.replace("_type", "_fields", 1)


def cases(plan: Plan, name: str) -> str:
    lines = []
    for value, type, base in plan.answers.cases[name]:
        described = plan.reader.find(type)
        key = described.record.name if described.record else type
        offset = f"HAUL_CONTAINER_OF({type}, {base})" if base else "0"
        lines.append(f"    {{ {value}, &{plan.described[key].handle}, {offset} }},")
    return f"static const haul_case {name}_cases[] = {{\n" + "\n".join(lines) + "\n};"


def row_text(row: Row) -> str:
    arguments = [row.struct, row.path] + row.arguments + row.members
    return wrap_call(f"{row.form}({', '.join(arguments)})", "    ", ",")


def struct_text(d: Described) -> str:
    more = f", {d.more}" if d.more else ""
    if not d.rows:
        return wrap_call(f"HAUL_PLAIN({d.name}, &{d.handle}{more})", "    ", ",")
    return wrap_call(f"HAUL_STRUCT({d.name}, &{d.handle}, {table(d)}{more})", "    ", ",")


def wrapped(lead: str, names: List[str], prefix: str) -> str:
    """A declaration of several names, over several lines if it must be."""
    lines, line = [], lead + names[0]
    for name in names[1:]:
        if len(line) + len(name) + 4 > WIDTH:
            lines.append(line + ",")
            line = "    " + prefix + name
        else:
            line += f", {prefix}{name}"
    return "\n".join(lines + [line + ";"])


def wrap_call(text: str, indent: str, end: str) -> str:
    """A call on lines of at most WIDTH columns, broken behind its own commas."""
    lines, line = [], indent
    under = indent + " " * (text.index("(") + 1)
    for part in call_parts(text + end):
        if len(line) + len(part) > WIDTH + 1 and line.strip():
            lines.append(line.rstrip())
            line = under
        line += part
    return "\n".join(lines + [line.rstrip()])


def call_parts(text: str) -> List[str]:
    parts, depth = [""], 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        parts[-1] += c
        if c == " " and text[i - 1] == "," and depth <= 1:
            parts.append("")
    return parts
