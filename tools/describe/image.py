"""The memory of a program as its file has it, with relocations applied, before anything has run."""

from typing import Dict, Optional

from elftools.elf.enums import ENUM_RELOC_TYPE_x64, ENUM_RELOC_TYPE_AARCH64, ENUM_RELOC_TYPE_i386
from elftools.elf.relocation import RelocationSection

from model import Stop

RELATIVE = {ENUM_RELOC_TYPE_x64["R_X86_64_RELATIVE"], ENUM_RELOC_TYPE_AARCH64["R_AARCH64_RELATIVE"],
            ENUM_RELOC_TYPE_i386["R_386_RELATIVE"]}
ALLOCATED = 0x2


class Image:
    def __init__(self, elf, file: str):
        if elf.header["e_type"] == "ET_REL":
            raise Stop(f"{file} is not linked")
        self.order = "little" if elf.little_endian else "big"
        self.word = elf.elfclass // 8
        self._sections = []  # (address, bytes)
        self._pointers: Dict[int, Optional[int]] = {}  # None: a name of another library
        for section in elf.iter_sections():
            if section["sh_flags"] & ALLOCATED and section["sh_addr"]:
                data = bytearray(section["sh_size"]) if section["sh_type"] == "SHT_NOBITS" \
                    else bytearray(section.data())
                self._sections.append((section["sh_addr"], data))
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection) and section["sh_flags"] & ALLOCATED:
                self._relocate(elf, section)

    def _relocate(self, elf, section):
        symbols = elf.get_section(section["sh_link"]) if section["sh_link"] else None
        for relocation in section.iter_relocations():
            address, index = relocation["r_offset"], relocation["r_info_sym"]
            addend = relocation["r_addend"] if relocation.is_RELA() else \
                self.integer(address, self.word)
            if relocation["r_info_type"] in RELATIVE:
                self._pointers[address] = addend
            elif index and symbols is not None:
                symbol = symbols.get_symbol(index)
                known = symbol["st_shndx"] != "SHN_UNDEF"
                self._pointers[address] = symbol["st_value"] + addend if known else None

    def _find(self, address: int, size: int):
        for begin, data in self._sections:
            if begin <= address and address + size <= begin + len(data):
                return data, address - begin
        raise Stop(f"address {address:#x} is in no section of the program")

    def integer(self, address: int, size: int, signed: bool = False) -> int:
        data, at = self._find(address, size)
        return int.from_bytes(data[at:at + size], self.order, signed=signed)

    def pointer(self, address: int) -> Optional[int]:
        """The address that it holds; None: that of a name of another library."""
        if address in self._pointers:
            return self._pointers[address]
        return self.integer(address, self.word)

    def string(self, address: Optional[int]) -> str:
        if not address:
            return ""
        data, at = self._find(address, 1)
        return bytes(data[at:data.index(0, at)]).decode("utf-8", "replace")

    # For tests: what a wrong program would hold.

    def write(self, address: int, size: int, value: int):
        data, at = self._find(address, size)
        data[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, self.order)

    def write_pointer(self, address: int, value: Optional[int]):
        self._pointers[address] = value
