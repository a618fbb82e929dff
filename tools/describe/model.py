"""Types as both readers give them: what a compiler knows of a struct."""

import re
import sys
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple


class Stop(Exception):
    """What the tool cannot go on with, in words for its user."""


def missing(module: str, package: str) -> Stop:
    return Stop(f"{sys.executable} has no module {module}. Debian's package {package} is for "
                "/usr/bin/python3: run `/usr/bin/python3 $(which haul-describe)`")


@dataclass
class Place:
    file: str = ""
    line: int = 0

    def __str__(self):
        return f"{self.file}:{self.line}" if self.line else self.file or "?"


@dataclass
class Type:
    # integer, float, pointer, array, record, function, void, incomplete, other
    kind: str
    name: str = ""
    size: int = 0
    signed: bool = False
    target: Optional["Type"] = None  # of a pointer, of an array's element
    count: Optional[int] = None  # of an array; None: it has no bound
    record: Optional["Record"] = None

    @property
    def is_byte(self):
        return self.kind == "integer" and self.size == 1

    @property
    def is_character(self):
        return self.kind == "integer" and self.name in (
            "char", "signed char", "unsigned char", "wchar_t", "char16_t", "char32_t", "char8_t")

    def element(self):
        """The type behind all bounds of an array."""
        type = self
        while type.kind == "array":
            type = type.target
        return type

    def element_count(self):
        type, count = self, 1
        while type.kind == "array":
            count *= type.count or 0
            type = type.target
        return count

    def has_pointers(self):
        """Does a pointer lie in it (not behind one)?"""
        element = self.element()
        if element.kind == "record":
            return any(f.type.has_pointers() for f in element.record.fields)
        return element.kind == "pointer"


@dataclass
class Field:
    name: str  # "": a nameless struct or union, whose fields count as those of the record
    offset: int  # bytes; of a bit-field those of its first bit, rounded down
    size: int
    type: Type
    place: Place
    bits: Optional[int] = None  # of a bit-field: its width
    annotations: List[str] = field(default_factory=list)


@dataclass
class Record:
    name: str  # as C spells it: "mesh" or "struct mesh"; "": it has none
    is_union: bool
    size: int
    fields: List[Field]
    place: Place
    trouble: str = ""  # why a description cannot be made of it: bases, virtual functions

    @property
    def identifier(self):
        return identifier(self.name)

    def member(self, path: str) -> Optional[Tuple[Field, int]]:
        """The field that `path` names ("a", "a.b", "a[2].b"), and its offset in the record."""
        found = members(self).get(without_indices(path)[0])
        if not found:
            return None
        member, offset = found
        for stride_path, index in without_indices(path)[1]:
            outer, _ = members(self)[stride_path]
            if outer.type.kind != "array" or not outer.type.target.size:
                return None
            offset += index * outer.type.target.size
            if stride_path == without_indices(path)[0]:
                member = Field(outer.name, offset, outer.type.target.size, outer.type.target,
                               outer.place)
        return member, offset


def identifier(name: str) -> str:
    """A word for names made from a type's: "struct mesh" and "mesh_t" give "mesh", "sim::mesh"
    gives "sim_mesh"."""
    for word in ("struct ", "union ", "class "):
        if name.startswith(word):
            name = name[len(word):]
    name = re.sub(r"\W+", "_", name).strip("_")
    return name[:-2] if name.endswith("_t") and len(name) > 2 else name


def without_indices(path: str):
    """"a[2].b" gives "a.b" and [("a", 2)]."""
    plain, indices = "", []
    for part in path.replace(" ", "").split("."):
        name, *bounds = part.replace("]", "").split("[")
        plain += ("." if plain else "") + name
        for bound in bounds:
            if bound.isdigit():
                indices.append((plain, int(bound)))
    return plain, indices


def members(record: Record) -> Dict[str, Tuple[Field, int]]:
    """All fields by their paths, those of embedded records, too, with offsets in the record."""
    result: Dict[str, Tuple[Field, int]] = {}

    def add(inner: Record, prefix: str, offset: int):
        for f in inner.fields:
            if f.name:
                result.setdefault(prefix + f.name, (f, offset + f.offset))
            element = f.type.element()
            if element.kind == "record":
                add(element.record, prefix + f.name + "." if f.name else prefix,
                    offset + f.offset)

    cached = getattr(record, "_members", None)
    if cached is None:
        add(record, "", 0)
        record._members = cached = result
    return cached


def leaves(record: Record, prefix: str = "", offset: int = 0) -> Iterator[Tuple[str, int, Field]]:
    """Fields that are no records: path, offset and field; an array of records gives each one's."""
    for f in record.fields:
        path = prefix + f.name
        element = f.type.element()
        if element.kind != "record":
            yield path, offset + f.offset, f
            continue
        if f.type.kind != "array":
            yield from leaves(element.record, path + "." if f.name else prefix, offset + f.offset)
            continue
        for i in range(f.type.element_count()):
            yield from leaves(element.record, f"{path}[{i}].",
                              offset + f.offset + i * element.size)
