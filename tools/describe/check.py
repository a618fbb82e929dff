"""haul-describe --check: a program's descriptions against its debug information."""

import sys
from dataclasses import dataclass
from typing import Dict, List, Optional

import tables as t
from model import Place, Record, Stop, Type, leaves, members


@dataclass
class Finding:
    place: Place
    text: str

    def __str__(self):
        return f"{self.place}: {self.text}"


class Checker:
    def __init__(self, tables: t.Tables):
        self.tables = tables
        self.findings: List[Finding] = []
        self.notes: List[str] = []
        self.rows = 0
        self.by_handle: Dict[int, t.Struct] = {s.handle: s for s in tables.structs if s.handle}

    def check(self):
        for struct in self.tables.structs:
            type = self.type_of(struct)
            if type is None and struct.table:
                self.notes.append(f"{struct.place}: there is no type '{struct.name}' in the debug "
                                  "information; not checked")
            elif type is not None and not struct.name.startswith("haul_"):  # ours is known plain
                StructChecker(self, struct, type).check()
        for table in [t for t in self.tables.unreached if t.name.endswith("s")]:
            self.notes.append(f"{table.place}: {table.name} stands in no static haul_struct; not "
                              "checked")
        for place in {str(p) for p in self.tables.unfilled}:
            self.notes.append(f"{place}: this table is filled at run time; not checked")
        return self

    def type_of(self, struct: t.Struct) -> Optional[Type]:
        return self.tables.reader.find(struct.name, struct.unit)

    def target_of(self, handle: int) -> Optional[Type]:
        struct = self.by_handle.get(handle)
        return self.type_of(struct) if struct else None

    def name_of(self, handle: int) -> str:
        struct = self.by_handle.get(handle)
        return struct.name if struct else "a type made elsewhere"


class StructChecker:
    """The rows of one struct."""

    def __init__(self, checker: Checker, struct: t.Struct, type: Type):
        self.checker, self.struct, self.type = checker, struct, type
        self.record = type.record
        self.table = struct.table
        self.rows = struct.table.rows if struct.table else []
        self.integers = {}  # offset: fields
        if self.record:
            for path, offset, f in leaves(self.record):
                element = f.type.element()
                for i in range(f.type.element_count() if f.type.kind == "array" else 1):
                    self.integers.setdefault(offset + i * element.size, []).append(
                        (path, f, element))

    def find(self, text: str, row=None, member=None):
        where = self.table.place if self.table else self.struct.place
        place = f"{self.struct.name}.{row.name}" if row is not None else self.struct.name
        seen = f" ({member.place})" if member is not None else ""
        self.checker.findings.append(Finding(where, f"{place}: {text}{seen}"))

    def check(self):
        if self.struct.bytes != self.type.size:
            self.find(f"the description has {self.struct.bytes} bytes, the type {self.type.size}")
        if self.record is None:
            if self.rows:
                self.find("it has fields, and is no struct")
            return
        covered = []  # (row, path)
        for row in self.rows:
            self.checker.rows += 1
            covered.append(self._row(row))
        self._coverage([path for path in covered if path is not None])

    # ---- One row.

    def _row(self, row) -> Optional[str]:
        found = self.record.member(row.name)
        if found is None:
            self.find("the struct has no such member", row)
            return None
        member, offset = found
        if row.offset != offset:
            self.find(f"the field is at byte {row.offset}, the member at {offset}", row, member)
            return row.name
        size = 0 if row.kind == t.TAIL else member.size
        if row.bytes != size:
            self.find(f"the field has {row.bytes} bytes, the member {size}", row, member)
        self._integers(row, member)
        element = member.type.element()
        if row.kind == t.EMBED:
            self._embed(row, member, element)
        elif row.kind == t.TAIL:
            self._tail(row, member)
        elif row.kind in (t.POINTER, t.RELATIVE):
            self._pointer(row, member, element)
        elif row.kind not in (t.SKIP, t.RAW):
            self.find(f"its kind is {row.kind}, which is none", row, member)
        return row.name

    def _embed(self, row, member, element: Type):
        if element.kind != "record":
            self.find(f"the member is no struct but {element.name}", row, member)
        else:
            self._compatible(row, member, element, row.target, 0)

    def _tail(self, row, member):
        if member.type.kind != "array":
            self.find(f"the member is no array but {member.type.name}", row, member)
            return
        element = member.type.target
        if row.element_bytes != element.size:
            self.find(f"elements have {row.element_bytes} bytes, {element.name} has {element.size}",
                      row, member)
        self._target(row, member, element)

    def _pointer(self, row, member, type: Type):
        word = self.checker.tables.image.word
        levels = max(row.levels, 1)
        if getattr(row, "end_of", None) is not None and row.end_of.bytes:
            if type.kind == "pointer":  # its target is what another row describes
                self._element_bytes(row, member, type.target)
            return
        if row.kind == t.RELATIVE:
            if type.kind != "integer" or type.size not in (4, 8):
                self.find(f"a distance, and the member is {type.name}", row, member)
            return
        if type.kind != "pointer":
            if member.size % word:
                self.find(f"a pointer, and the member is {type.name} of {member.size} bytes", row,
                          member)
            elif row.ownership == t.OWNED and not self._leads_somewhere(row):
                self.find("the field does not say where the word leads", row, member)
            return
        for level in range(levels):
            if type.kind != "pointer":
                if type.kind not in ("void", "incomplete") and not type.is_byte:
                    self.find(f"the field has {levels} levels of pointers, the member {level}", row,
                              member)
                return
            type = type.target
        if row.ownership == t.OWNED or row.target:
            self._target(row, member, type)

    def _leads_somewhere(self, row) -> bool:
        return row.target != 0 or bool(row.type_switch.kind) or row.element_bytes != 0

    def _target(self, row, member, pointee: Type):
        if row.type_switch.kind:
            for case in row.type_switch.case_list:
                if not row.base and not row.base_fn:
                    self._compatible(row, member, pointee, case.type, case.base)
        elif row.target != 0:
            self._compatible(row, member, pointee, row.target, row.base)
            self._element_bytes(row, member, pointee)
        elif pointee.kind == "function":
            self.find("it leads to functions; the field says to data", row, member)
        elif pointee.has_pointers() and row.kind != t.TAIL or (
                pointee.has_pointers() and not row.target):
            self.find(f"{pointee.name} has pointers; the field says plain bytes", row, member)
        elif not row.base_fn and not row.base:
            self._element_bytes(row, member, pointee)

    def _element_bytes(self, row, member, pointee: Type):
        if row.target and row.base == 0 and not row.base_fn and row.element_bytes:
            target = self.checker.target_of(row.target)
            if target is not None and row.element_bytes != target.size:
                self.find(f"elements have {row.element_bytes} bytes, the target has {target.size}",
                          row, member)
        elif not row.target and pointee.kind not in ("void", "incomplete", "function") \
                and not pointee.is_byte and row.element_bytes != pointee.size:
            self.find(f"elements have {row.element_bytes} bytes, {pointee.name} has {pointee.size}",
                      row, member)

    def _compatible(self, row, member, pointee: Type, handle, base: int):
        """May a pointer to `pointee` lead to the type of this handle, `base` bytes further?"""
        if not handle:
            return  # another library's, haul_any_type say
        target = self.checker.target_of(handle)
        if target is None or pointee.kind in ("void", "incomplete", "other") or pointee.is_byte:
            return
        if row.base_fn or same_type(pointee, target):
            return
        if pointee.kind != "record" and target.kind == pointee.kind and \
                target.size == pointee.size:
            return
        if target.kind == "record" and lies_in(pointee, target, -base):
            return
        if pointee.kind == "record" and lies_in(target, pointee, 0):
            return
        self.find(f"the field leads to {self.checker.name_of(handle)}, "
                  f"the member to {pointee.name}", row, member)

    # ---- Integers that a count, a condition or a switch reads.

    def _integers(self, row, member):
        for count in (row.count, row.count2, row.count3):
            for integer in count.field[:count.fields]:
                if count.kind == t.UNTIL:
                    self._end(row, member, integer)
                else:
                    self._integer(row, member, integer, "count", True)
        if row.when.kind in (t.WHEN_FIELD, t.WHEN_NOT):
            self._integer(row, member, row.when.field, "condition", False)
        if row.type_switch.kind == t.SELF:
            self._integer(row, member, row.type_switch.field, "switch", False)

    def _integer(self, row, member, integer, what: str, exact: bool):
        found = [(path, f, e) for path, f, e in self.integers.get(integer.offset, [])
                 if e.kind == "integer" and f.bits is None]
        if not found:
            self.find(f"its {what} reads byte {integer.offset}, where no integer begins", row,
                      member)
        elif not any(e.size == integer.bytes for _, _, e in found):
            path, _, e = found[0]
            self.find(f"its {what} reads {integer.bytes} bytes of {path}, which has {e.size}", row,
                      member)
        elif exact and not any(e.size == integer.bytes and e.signed == bool(integer.sign)
                               for _, _, e in found):
            self.find(f"its {what} reads {found[0][0]} with the wrong sign", row, member)

    def _end(self, row, member, integer):
        ends = [e for _, _, e in self.integers.get(integer.offset, []) if e.kind == "pointer"]
        if not ends:
            self.find(f"its end is at byte {integer.offset}, where no pointer begins", row, member)
        elif not any(same_pointee(e, member.type.element()) for e in ends):
            self.find("its end leads to another type", row, member)

    # ---- Pointers without a row.

    def _coverage(self, paths: List[str]):
        # A union whose bytes travel in some case has pointers in others.
        partly = {row.name for row in self.rows if row.kind in (t.RAW, t.SKIP) and row.when.kind
                  and self._is_record(row.name)}
        self.described = {p.replace(" ", "") for p in paths} - partly
        self.partly = partly
        self.ends = {c.field[0].offset for row in self.rows
                     for c in (row.count, row.count2, row.count3) if c.kind == t.UNTIL and c.fields}
        self._cover(self.record, "", 0)

    def _is_record(self, path: str) -> bool:
        found = self.record.member(path)
        return found is not None and found[0].type.kind == "record"

    def _cover(self, record: Record, prefix: str, offset: int):
        arms = record.is_union and prefix.rstrip(".") not in self.partly and any(
            touched(f, prefix, self.described) for f in record.fields) and any(
            f.type.has_pointers() for f in record.fields)
        for f in record.fields:
            path, at = prefix + f.name, offset + f.offset
            if f.name and path in self.described:
                continue
            element = f.type.element()
            if f.type.kind == "array" and any(d.startswith(path + "[") for d in self.described):
                self._cover_elements(f, path, at, element)
                continue
            if element.kind == "record" and (f.type.has_pointers() or (
                    arms and touched(f, prefix, self.described))):
                self._cover(element.record, path + "." if f.name else prefix, at)
            elif f.type.has_pointers() and at not in self.ends:
                self._uncovered(f, path, at)
            elif arms and f.name and not any(r.else_raw for r in self.rows):
                self.checker.findings.append(Finding(
                    self.table.place if self.table else self.struct.place,
                    f"{self.struct.name}.{path}: other arms of the union have fields, this one "
                    f"has none, so it is zeros in the copy ({f.place})"))

    def _cover_elements(self, f, path: str, at: int, element: Type):
        """Those of an array of which some have rows of their own."""
        for i in range(f.type.count or 0):
            name = f"{path}[{i}]"
            if name in self.described:
                continue
            if element.kind == "record":
                self._cover(element.record, name + ".", at + i * element.size)
            elif element.kind == "pointer" and at + i * element.size not in self.ends:
                self._uncovered(f, name, at)

    def _uncovered(self, f, path: str, at: int):
        what = "function" if f.type.element().target.kind == "function" else "pointer"
        self.checker.findings.append(Finding(
            self.table.place if self.table else self.struct.place,
            f"{self.struct.name}.{path}: no field describes this {what} ({f.place})"))


def touched(f, prefix: str, described) -> bool:
    """Has the field a row, or something in it?"""
    names = [prefix + f.name] if f.name else [prefix + inner for inner
                                              in members(f.type.element().record)]
    return any(d == name or d.startswith((name + ".", name + "["))
               for d in described for name in names)


def same_type(a: Type, b: Type) -> bool:
    if a.kind == "record" and b.kind == "record":
        return a.record is b.record or (a.name == b.name and a.size == b.size)
    return a.kind == b.kind and a.size == b.size and a.kind not in ("record", "pointer")


def same_pointee(a: Type, b: Type) -> bool:
    if a.kind != "pointer" or b.kind != "pointer":
        return False
    a, b = a.target, b.target
    return a.kind == "void" or b.kind == "void" or a.kind == "pointer" == b.kind or same_type(a, b)


def lies_in(inner: Type, outer: Type, offset: int) -> bool:
    """Does a member of this type begin at the offset?"""
    if outer.kind != "record":
        return False
    for f, at in members(outer.record).values():
        element = f.type.element()
        if same_type(element, inner) and (at == offset or (
                f.type.kind == "array" and at <= offset < at + f.size
                and (offset - at) % max(element.size, 1) == 0)):
            return True
    return False


def check_programs(files: List[str]) -> int:
    findings = 0
    for file in files:
        checker = Checker(t.tables_of(file)).check()
        for note in checker.notes:
            print(f"note: {note}", file=sys.stderr)
        for finding in checker.findings:
            print(finding)
        if not checker.tables.structs:
            raise Stop(f"{file}: nothing could be checked")
        findings += len(checker.findings)
        count = len(checker.findings)
        print(f"{file}: {len(checker.tables.structs)} descriptions, {checker.rows} fields, "
              f"{count} finding{'' if count == 1 else 's'}", file=sys.stderr)
    return 1 if findings else 0
