"""Types from debug information as declarations in C, for programs without a usable header."""

from typing import Dict, List

from model import Record, Stop, Type, leaves


def declarations(records: List[Record]) -> str:
    """All records, each behind those that lie in it, and checks that the compiler agrees."""
    order: Dict[str, Record] = {}
    for record in records:
        add(record, order)
    parts = [f"typedef {word(r)} {r.name} {r.name};" if is_typedef(r) else f"{r.name};"
             for r in order.values()]
    for record in order.values():
        parts.append("\n" + body(record, f"{word(record)} {record.name}" if is_typedef(record)
                                 else record.name, "") + ";")
    parts.append("\n/* As the debug information has them, or this does not compile. */")
    parts += [check(r.name, f"sizeof({r.name}) == {r.size}") for r in order.values()]
    for record in order.values():
        for path, offset, f in leaves(record):
            if f.bits is None and f.name:
                parts.append(check(record.name, f"offsetof({record.name}, {path}) == {offset}"))
    return "\n".join(parts)


def check(name: str, condition: str) -> str:
    return f"extern char haul_describe_layout[{condition} ? 1 : -1];"


def word(record: Record) -> str:
    return "union" if record.is_union else "struct"


def is_typedef(record: Record) -> bool:
    return " " not in record.name


def add(record: Record, order: Dict[str, Record]):
    """What lies in the record comes first. Structs with pointers that it points to are others' (the
    plan's); those without come here."""
    if record.trouble or "::" in record.name or "<" in record.name:
        raise Stop(f"{record.place}: {record.name} cannot be declared in C; use --include")
    if record.name in order:
        return
    for f in inner(record):
        element = f.type.element()
        if element.kind == "record" and element.record.name:
            add(element.record, order)
    order[record.name] = record
    for f in inner(record):
        target = f.type.element()
        while target.kind in ("pointer", "array"):
            target = target.target
        if target.kind == "record" and target.record.name and not target.has_pointers():
            add(target.record, order)


def inner(record: Record):
    for f in record.fields:
        element = f.type.element()
        if element.kind == "record" and not element.record.name:
            yield from inner(element.record)
        else:
            yield f


def body(record: Record, head: str, indent: str) -> str:
    lines = [f"{indent}{head} {{"]
    for f in record.fields:
        bits = f" : {f.bits}" if f.bits is not None else ""
        lines.append(f"{declared(f.type, f.name, indent + '    ')}{bits};")
    return "\n".join(lines + [indent + "}"])


def declared(type: Type, name: str, indent: str) -> str:
    """The declaration of a member, without its semicolon."""
    if type.kind == "array":
        bound = "" if type.count is None else str(type.count)
        return declared(type.target, f"{name}[{bound}]", indent)
    if type.kind == "pointer":
        target = type.target
        if target.kind == "function":
            return f"{indent}void (*{name})(void)"
        if target.kind == "array":
            return declared(target, f"(*{name})", indent)
        if target.kind in ("void", "other") or (
                target.kind == "incomplete" and " " not in target.name) or (
                target.kind == "record" and not target.record.name):
            return f"{indent}void *{name}"
        if target.kind == "record":
            tag = f"{word(target.record)} " if is_typedef(target.record) else ""
            return f"{indent}{tag}{target.record.name} *{name}"
        return declared(target, f"*{name}", indent)
    if type.kind == "record" and not type.record.name:
        return body(type.record, word(type.record), indent) + (f" {name}" if name else "")
    return f"{indent}{spelled(type)} {name}"


def spelled(type: Type) -> str:
    if type.kind == "record":
        return type.record.name
    if type.kind == "incomplete":
        return type.name
    if type.kind == "integer" and not is_basic(type.name):  # an enumeration
        return f"{'' if type.signed else 'unsigned '}{WORDS[type.size]}"
    return type.name.replace("complex ", "_Complex ")


WORDS = {1: "char", 2: "short", 4: "int", 8: "long long"}
BASIC = {"char", "short", "int", "long", "signed", "unsigned", "_Bool", "__int128"}


def is_basic(name: str) -> bool:
    return bool(name) and all(part in BASIC for part in name.split())
