"""Types from debug information (DWARF 3 to 5), by pyelftools."""

import os
import re
from typing import Dict, Iterator, List, Optional

from model import Field, Place, Record, Stop, Type, missing

try:
    from elftools.common.exceptions import ELFError
    from elftools.construct import Array, ULInt8
    from elftools.elf.elffile import ELFFile
except ImportError:
    ELFFile = None

QUALIFIERS = ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type",
              "DW_TAG_atomic_type", "DW_TAG_typedef")
RECORDS = {"DW_TAG_structure_type": "struct ", "DW_TAG_union_type": "union ",
           "DW_TAG_class_type": ""}
SIGNED, UNSIGNED, FLOAT = (5, 6, 0x0d), (2, 7, 8, 0x10), (4,)
CXX = (0x04, 0x1a, 0x21, 0x2b, 0x3a)  # C++ of some year, DW_AT_language


class Unit:
    """One compiled file: the names at its file scope."""

    def __init__(self, reader, cu):
        self.reader, self.cu = reader, cu
        self.top = cu.get_top_DIE()
        language = self.top.attributes.get("DW_AT_language")
        self.is_cxx = bool(language) and language.value in CXX
        self.dies: Dict[str, object] = {}  # complete types, "struct mesh" and typedefs
        self.typedef_of: Dict[int, str] = {}  # a record's offset: its first typedef
        self._files = None
        tags = []
        for die in scopes(self.top):
            name = text(die, "DW_AT_name")
            if die.tag == "DW_TAG_typedef" and name:
                self.dies.setdefault(name, die)
                target = die.attributes.get("DW_AT_type")
                if target is not None:
                    under = die.get_DIE_from_attribute("DW_AT_type")
                    if under.tag in RECORDS:
                        self.typedef_of.setdefault(under.offset, name)
            elif die.tag in RECORDS and name and "DW_AT_declaration" not in die.attributes:
                word = "" if self.is_cxx else RECORDS[die.tag]
                self.dies.setdefault(word + name, die)
                tags.append((name, die))
            elif die.tag == "DW_TAG_base_type" and name:
                self.dies.setdefault(name, die)
        for name, die in tags:  # where no typedef has the name
            self.dies.setdefault(name, die)

    def find(self, name: str) -> Optional[Type]:
        die = self.dies.get(name)
        type = self.reader.type(self, die) if die is not None else None
        return type if type is None or type.kind != "incomplete" else None

    def place(self, die) -> Place:
        line = die.attributes.get("DW_AT_decl_line")
        file = die.attributes.get("DW_AT_decl_file")
        if line is None or file is None:
            return Place(text(self.top, "DW_AT_name"), 0)
        return Place(self._file(file.value), line.value)

    def _file(self, index: int) -> str:
        if self._files is None:
            self._files = {}
            # clang's checksums of files, which pyelftools 0.29 cannot skip.
            self.cu.structs.Dwarf_dw_form.setdefault("DW_FORM_data16", Array(16, ULInt8("")))
            program = self.reader.dwarf.line_program_for_CU(self.cu)
            if program is not None:
                header = program.header
                first = 0 if header["version"] >= 5 else 1
                folders = [decoded(f) for f in header["include_directory"]]
                for i, entry in enumerate(header["file_entry"], first):
                    folder = entry.dir_index - first
                    name = decoded(entry.name)
                    if 0 <= folder < len(folders) and entry.dir_index:
                        name = os.path.join(folders[folder], name)
                    self._files[i] = os.path.normpath(name)
        return self._files.get(index, "")


class DwarfReader:
    def __init__(self, file: str):
        if ELFFile is None:
            raise missing("elftools", "python3-pyelftools")
        self.file = file
        try:
            self.elf = ELFFile(open(file, "rb"))
        except (ELFError, OSError) as error:
            raise Stop(f"{file}: {error}")
        if not self.elf.has_dwarf_info():
            raise Stop(f"{file} has no debug information: compile it with -g")
        self.dwarf = self.elf.get_dwarf_info()
        self.word = self.elf.elfclass // 8
        self.files: List[str] = [file]
        self._types: Dict[int, Type] = {}
        self.units: List[Unit] = [Unit(self, cu) for cu in self.dwarf.iter_CUs()]

    def find(self, name: str, first: Optional[Unit] = None) -> Optional[Type]:
        """The type of this name, if it can be in the unit `first`."""
        for unit in ([first] if first else []) + self.units:
            found = unit.find(name)
            if found is not None:
                return found
        array = re.fullmatch(r"(.+?)\s*\[\s*(\d+)\s*\]", name)
        if array:
            element, count = self.find(array.group(1), first), int(array.group(2))
            return element and Type("array", name, element.size * count, target=element,
                                    count=count)
        words = base_words(name)
        for unit in self.units if words is not None else []:
            for known in unit.dies:
                if base_words(known) == words:
                    return unit.find(known)
        return self._basic(name, words)

    def _basic(self, name: str, words) -> Optional[Type]:
        """A type of C's that no variable has, so that no debug information names it."""
        if name in ("float", "double"):
            return Type("float", name, 4 if name == "float" else 8)
        if words is None:
            return None
        size = 1 if "char" in words else 2 if "short" in words else \
            8 if words.count("long") == 2 else self.word if "long" in words else 4
        return Type("integer", name, size, "unsigned" not in words)

    def type(self, unit: Unit, die) -> Type:
        while die.tag in QUALIFIERS:
            if "DW_AT_type" not in die.attributes:
                return Type("void", "void")
            die = die.get_DIE_from_attribute("DW_AT_type")
        if die.offset not in self._types:
            # Types lead to themselves, so what is under way must be known, as far as it is.
            known = self._types[die.offset] = Type("other")
            self._make(unit, die, known)
        return self._types[die.offset]

    def _under(self, unit: Unit, die) -> Type:
        if "DW_AT_type" not in die.attributes:
            return Type("void", "void")
        return self.type(unit, die.get_DIE_from_attribute("DW_AT_type"))

    def _make(self, unit: Unit, die, known: Type):
        tag, known.name = die.tag, text(die, "DW_AT_name")
        known.size = number(die, "DW_AT_byte_size")
        if tag == "DW_TAG_base_type":
            encoding = number(die, "DW_AT_encoding")
            known.kind = "integer" if encoding in SIGNED + UNSIGNED else \
                "float" if encoding in FLOAT else "other"
            known.signed = encoding in SIGNED
        elif tag == "DW_TAG_pointer_type":
            known.kind, known.size = "pointer", known.size or self.word
            known.target = self._under(unit, die)
            known.name = f"{known.target.name} *"
        elif tag == "DW_TAG_array_type":
            known.__dict__.update(self._array(unit, die).__dict__)
        elif tag == "DW_TAG_enumeration_type":
            known.kind = "integer"
            known.signed = self._under(unit, die).signed if "DW_AT_type" in die.attributes else \
                any(number(c, "DW_AT_const_value") < 0 for c in die.iter_children())
        elif tag == "DW_TAG_subroutine_type":
            known.kind, known.name = "function", "function"
        elif tag in RECORDS:
            self._make_record(unit, die, known)

    def _make_record(self, unit: Unit, die, known: Type):
        word = "" if unit.is_cxx else RECORDS[die.tag]
        tag = known.name and word + known.name
        if "DW_AT_declaration" in die.attributes:
            complete = unit.dies.get(tag)
            if complete is not None and complete.offset != die.offset:
                self._types[die.offset] = self.type(unit, complete)
            known.kind, known.name = "incomplete", tag
            return
        known.kind = "record"
        known.name = (not unit.is_cxx and unit.typedef_of.get(die.offset)) or tag
        known.record = Record(known.name, die.tag == "DW_TAG_union_type", known.size, [],
                              unit.place(die))
        self._fields(unit, die, known.record)

    def _array(self, unit: Unit, die) -> Type:
        type = self._under(unit, die)
        for child in reversed([c for c in die.iter_children() if c.tag == "DW_TAG_subrange_type"]):
            count = None
            if "DW_AT_count" in child.attributes:
                count = constant(child, "DW_AT_count")
            elif "DW_AT_upper_bound" in child.attributes:
                bound = constant(child, "DW_AT_upper_bound")
                count = None if bound is None else bound + 1
            type = Type("array", f"{type.name}[{'' if count is None else count}]",
                        type.size * (count or 0), target=type, count=count)
        return type

    def _fields(self, unit: Unit, die, record: Record):
        for child in die.iter_children():
            if child.tag == "DW_TAG_inheritance":
                record.trouble = "it has a base class"
            if child.tag != "DW_TAG_member" or "DW_AT_external" in child.attributes:
                continue
            type, name = self._under(unit, child), text(child, "DW_AT_name")
            if name.startswith("_vptr"):
                record.trouble = "it has virtual functions"
                continue
            bits = number(child, "DW_AT_bit_size") if "DW_AT_bit_size" in child.attributes \
                else None
            record.fields.append(Field(name, self._offset(child, type, bits), type.size, type,
                                       unit.place(child), bits))

    def _offset(self, die, type: Type, bits: Optional[int]) -> int:
        if "DW_AT_data_bit_offset" in die.attributes:
            return number(die, "DW_AT_data_bit_offset") // 8
        location = die.attributes.get("DW_AT_data_member_location")
        offset = 0
        if location is not None:
            offset = location.value
            if isinstance(offset, list):  # DW_OP_plus_uconst
                offset = leb128(offset[1:])
        if bits is not None and "DW_AT_bit_offset" in die.attributes:  # from the big end
            storage = 8 * (number(die, "DW_AT_byte_size") or type.size)
            high = number(die, "DW_AT_bit_offset")
            if self.elf.little_endian:
                high = storage - high - bits
            offset += high // 8
        return offset


def base_words(name: str):
    """"long" and "long int" are one type, "unsigned" and "unsigned int" too."""
    words = name.split()
    if not words or any(w not in ("signed", "unsigned", "char", "short", "int", "long")
                        for w in words):
        return None
    return sorted(w for w in words if w != "int" and (w != "signed" or "char" in words))


def scopes(die) -> Iterator:
    """The declarations of a file, those in namespaces and in classes too."""
    for child in die.iter_children():
        if child.tag == "DW_TAG_namespace":
            yield from scopes(child)
        else:
            yield child


def decoded(value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def text(die, name: str) -> str:
    attribute = die.attributes.get(name)
    return decoded(attribute.value) if attribute is not None else ""


def number(die, name: str) -> int:
    return constant(die, name) or 0


def constant(die, name: str) -> Optional[int]:
    attribute = die.attributes.get(name)
    return attribute.value if attribute is not None and isinstance(attribute.value, int) else None


def leb128(data: List[int]) -> int:
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            break
    return value
