"""A program's descriptions: its static tables of haul_struct and haul_field, read from its file.

Their own layout comes from the debug information too, so this fits every processor and every
version of Haul. Tables that a function fills, or C++ before main, are not here.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Dict, List, Optional

from image import Image
from model import Place, Stop, Type
from reader_dwarf import QUALIFIERS, DwarfReader, Unit, text

POINTER, EMBED, SKIP, RAW, TAIL, RELATIVE = 1, 2, 3, 4, 5, 6  # haul_field_kind
OWNED, BORROWED, EXTERNAL = 0, 1, 2  # haul_ownership
UNTIL, TERMINATED = 2, 3  # haul_count_kind
SELF, TARGET = 1, 2  # haul_switch_kind
WHEN_FIELD, WHEN_NOT = 1, 2  # haul_when_kind
DW_OP_ADDR, DW_OP_ADDRX = 0x03, 0xa1


@dataclass
class Table:
    """Rows: those of one array of haul_field."""
    name: str
    place: Place
    address: int
    rows: List[SimpleNamespace] = field(default_factory=list)


@dataclass
class Struct:
    """An entry of an array of haul_struct."""
    name: str
    bytes: int
    handle: Optional[int]
    table: Optional[Table]
    place: Place
    unit: Unit
    address: int
    has_size_function: bool = False


class Tables:
    def __init__(self, reader: DwarfReader):
        self.reader, self.image = reader, Image(reader.elf, reader.file)
        self.arrays = []  # (name, place, address, count, unit, is_struct)
        self.handles: Dict[tuple, int] = {}  # (unit, name of a haul_type *): its address
        self.unfilled: List[Place] = []
        for unit in reader.units:
            if "haul_field" in unit.dies or text(unit.top, "DW_AT_name") == "<artificial>":
                self._find_arrays(unit)
        self.read()

    def read(self):
        """Reads all rows, again after a test has changed some."""
        self.structs: List[Struct] = []
        self.tables: Dict[int, Table] = {a[2]: Table(a[0], a[1], a[2]) for a in self.arrays
                                         if not a[5]}
        self.unfilled = []
        for name, place, address, count, unit, is_struct in self.arrays:
            if is_struct:
                self._read_structs(place, address, count, unit)
        reached = {s.table.address for s in self.structs if s.table}
        self.unreached = [t for t in self.tables.values() if t.address not in reached
                          and not self._by_name(t)]

    def _by_name(self, table: Table) -> bool:
        """A table X_fields without a static haul_struct is that of X, and X_type its handle."""
        stem = table.name.rpartition("_")[0] if table.name.endswith(("_fields", "_rows")) else ""
        for name, place, address, count, unit, _ in self.arrays:
            if address != table.address or not stem:
                continue
            for known in (stem, stem + "_t", "struct " + stem):
                type = unit.find(known)
                if type is not None and type.kind == "record" and self._is_filled(unit, address):
                    table.rows = self._read_rows(unit, address, count)
                    self.structs.append(Struct(known, type.size, self.handles.get(
                        (unit, stem + "_type")), table, place, unit, address))
                    return True
        return False

    def _find_arrays(self, scanned: Unit):
        for die in scanned.cu.iter_DIEs():
            if die.tag != "DW_TAG_variable" or "DW_AT_location" not in die.attributes:
                continue
            definition, unit = die, scanned
            if "DW_AT_abstract_origin" in die.attributes:  # of link-time optimization
                definition = die.get_DIE_from_attribute("DW_AT_abstract_origin")
                unit = next(u for u in self.reader.units if u.cu.cu_offset
                            == definition.cu.cu_offset)
            elif "DW_AT_specification" in die.attributes:
                definition = die.get_DIE_from_attribute("DW_AT_specification")
            element, count = array_of(die if "DW_AT_type" in die.attributes else definition)
            address, name = self._address(scanned, die), text(definition, "DW_AT_name")
            if element in ("haul_field", "haul_struct") and address and count is not None:
                place = unit.place(die if "DW_AT_decl_line" in die.attributes else definition)
                if element == "haul_field" and definition.get_parent().tag != unit.top.tag:
                    name = ""  # in a function, whose types are not among the unit's
                self.arrays.append((name, place, address, count, unit, element == "haul_struct"))
            elif address and element == "haul_type":
                self.handles[unit, name] = address

    def _address(self, unit: Unit, die) -> int:
        location = die.attributes["DW_AT_location"].value
        if not isinstance(location, list) or not location:
            return 0
        if location[0] == DW_OP_ADDR:
            return int.from_bytes(bytes(location[1:1 + self.reader.word]), self.image.order)
        if location[0] == DW_OP_ADDRX:
            index = shift = 0
            for byte in location[1:]:
                index |= (byte & 0x7f) << shift
                shift += 7
            return self.reader.dwarf.get_addr(unit.cu, index)
        return 0

    def _read_structs(self, place: Place, address: int, count: int, unit: Unit):
        layout = unit.find("haul_struct")
        for i in range(count):
            at = address + i * layout.size
            entry = self._decode(layout, at)
            name = self.image.string(entry.name)
            table = None
            if not name or entry.fields and not self._is_filled(unit, entry.fields):
                self.unfilled.append(place)
                continue
            if entry.fields:
                table = self.tables.get(entry.fields) or Table("", place, entry.fields)
                self.tables[entry.fields] = table
                table.rows = self._read_rows(unit, entry.fields, entry.field_count)
            self.structs.append(Struct(name, entry.bytes, entry.type, table, place, unit, at,
                                       entry.size_fn != 0))

    def _is_filled(self, unit: Unit, address: int) -> bool:
        """C++ may fill tables before main; in the file they are zeros."""
        return self._decode(unit.find("haul_field"), address).kind != 0

    def _read_rows(self, unit: Unit, address: int, count: int):
        layout = unit.find("haul_field")
        rows = []
        for i in range(count):
            row = self._decode(layout, address + i * layout.size)
            row.name, row.address = self.image.string(row.name), address + i * layout.size
            switch = row.type_switch
            case = unit.find("haul_case")
            switch.case_list = [self._decode(case, switch.cases + j * case.size)
                                for j in range(switch.case_count)] if switch.cases else []
            rows.append(row)
        return rows

    def _decode(self, type: Type, address: int):
        """The value at the address: a number, an address, a list or a namespace."""
        if type.kind == "record":
            return SimpleNamespace(**{f.name: self._decode(f.type, address + f.offset)
                                      for f in type.record.fields})
        if type.kind == "array":
            return [self._decode(type.target, address + i * type.target.size)
                    for i in range(type.count)]
        if type.kind == "pointer":
            return self.image.pointer(address)
        return self.image.integer(address, type.size, type.signed)


def array_of(die):
    """The name of the elements' type, and their number; of one variable 1."""
    count = 1
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag == "DW_TAG_typedef" and text(die, "DW_AT_name") in ("haul_field", "haul_struct"):
            return text(die, "DW_AT_name"), count
        if die.tag == "DW_TAG_pointer_type" and count == 1:
            if "DW_AT_type" not in die.attributes:
                return "", None
            die = die.get_DIE_from_attribute("DW_AT_type")
            return ("haul_type", 1) if text(die, "DW_AT_name") == "haul_type" else ("", None)
        if die.tag == "DW_TAG_structure_type":
            return text(die, "DW_AT_name"), count
        if die.tag == "DW_TAG_array_type":
            for child in die.iter_children():
                bound = child.attributes.get("DW_AT_upper_bound")
                length = child.attributes.get("DW_AT_count")
                if bound is not None and isinstance(bound.value, int):
                    count *= bound.value + 1
                elif length is not None:
                    count *= length.value
                else:
                    return "", None
        elif die.tag not in QUALIFIERS:
            return "", None
    return "", None


def tables_of(file: str) -> Tables:
    tables = Tables(DwarfReader(file))
    if not tables.arrays:
        raise Stop(f"{file} has no static tables of haul_struct")
    return tables
