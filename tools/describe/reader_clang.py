"""Types from C and C++ headers, by libclang."""

import os
import re
import subprocess
from typing import Dict, List, Optional

from model import Field, Place, Record, Stop, Type, missing

try:
    from clang import cindex
    from clang.cindex import CursorKind, TypeKind
except ImportError:
    cindex = None

ANNOTATION = "haul: "  # as in haul/annotate.h
COUNTED = re.compile(r"__(counted_by|sized_by)(?:_or_null)?\((\w+)\)")


class ClangReader:
    """One translation unit: the headers, one behind the other."""

    def __init__(self, headers: List[str], flags: List[str], cxx: bool):
        if cindex is None:
            raise missing("clang.cindex", "python3-clang")
        self.records: Dict[str, Record] = {}  # by typedef name and by tag, "struct mesh"
        self.files: List[str] = []  # all that was read
        self._by_usr: Dict[str, Record] = {}
        self._typedefs: Dict[str, str] = {}
        self._found: Dict[str, Optional[Type]] = {}
        self._text = "".join(f'#include {h if h[0] in "<" else chr(34) + h + chr(34)}\n'
                             for h in headers)
        self._name = "haul_describe" + (".cpp" if cxx else ".c")
        self._flags, self._cxx = flags, cxx
        unit = self._parse("")
        self.files = sorted({i.include.name for i in unit.get_includes()})
        self._note_typedefs(unit.cursor)
        self._note_records(unit.cursor)

    def find(self, name: str) -> Optional[Type]:
        """The type of this name: a typedef's, "struct mesh", a macro's, or "double[2]"."""
        record = self.records.get(name)
        if record:
            return Type("record", record.name, record.size, record=record)
        if name not in self._found:
            self._found[name] = None
            try:
                unit = self._parse(f"typedef __typeof__({name}) haul_describe_type;\n")
            except Stop:  # the headers alone had no error: it is no type
                return None
            for c in unit.cursor.get_children():
                if c.spelling == "haul_describe_type":
                    self._found[name] = self.type(c.underlying_typedef_type)
        found = self._found[name]
        return found if found and found.kind != "incomplete" else None

    def _parse(self, extra: str):
        return parse(self._name, self._text + extra, self._flags, self._cxx)

    def _note_typedefs(self, cursor):
        for c in scopes(cursor):
            if c.kind in (CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL):
                under = c.underlying_typedef_type.get_canonical()
                if under.kind == TypeKind.RECORD:
                    self._typedefs.setdefault(under.get_declaration().get_usr(),
                                              qualified(c))

    def _note_records(self, cursor):
        for c in scopes(cursor):
            if c.kind in (CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL):
                under = c.underlying_typedef_type.get_canonical()
                if under.kind == TypeKind.RECORD and under.get_size() > 0:
                    self.records[qualified(c)] = self.record(under)
            elif c.kind in RECORDS and c.is_definition() and c.type.get_size() > 0:
                record = self.record(c.type)
                if c.spelling and not is_nameless(c):
                    self.records.setdefault(tag_of(c), record)
                    self.records.setdefault(qualified(c), record)

    def record(self, type) -> Record:
        declaration = type.get_declaration()
        usr = declaration.get_usr() or str(declaration.hash)
        if usr in self._by_usr:
            return self._by_usr[usr]
        if self._cxx and not is_nameless(declaration):
            name = bare(type.get_canonical().spelling)  # with a template's arguments
        else:
            name = self._typedefs.get(usr) or ("" if is_nameless(declaration)
                                               else tag_of(declaration))
        record = Record(name, declaration.kind == CursorKind.UNION_DECL, type.get_size(), [],
                        place(declaration))
        self._by_usr[usr] = record
        for child in declaration.get_children():
            if child.kind == CursorKind.CXX_BASE_SPECIFIER:
                record.trouble = "it has a base class"
            elif child.kind in METHODS and child.is_virtual_method():
                record.trouble = "it has virtual functions"
        for c in type.get_fields():
            bits = c.get_bitfield_width() if c.is_bitfield() else None
            if bits is not None and not c.spelling:
                continue
            name = "" if is_nameless(c) else c.spelling
            at = c.get_field_offsetof()  # in bits
            field_type = self.type(c.type)
            record.fields.append(Field(name, at // 8, max(field_type.size, 0), field_type,
                                       place(c), bits, annotations(c)))
        if any(f.type.kind == "other" and f.type.name.endswith("&") for f in record.fields):
            record.trouble = "it has a reference"
        return record

    def type(self, type) -> Type:
        written, type = type.spelling, type.get_canonical()
        size = max(type.get_size(), 0)
        kind = type.kind
        if kind == TypeKind.POINTER:
            return Type("pointer", written, size, target=self.type(type.get_pointee()))
        if kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY):
            count = type.element_count if kind == TypeKind.CONSTANTARRAY else None
            return Type("array", written, size, target=self.type(type.element_type), count=count)
        if kind == TypeKind.RECORD:
            if type.get_size() <= 0 and not type.get_declaration().get_definition():
                return Type("incomplete", bare(written))
            record = self.record(type)
            return Type("record", record.name or bare(written), size, record=record)
        if kind == TypeKind.ENUM:
            under = type.get_declaration().enum_type.get_canonical().kind
            scoped = type.get_declaration().is_scoped_enum()  # no integer to C++
            return Type("other" if scoped else "integer", bare(written), size,
                        under not in UNSIGNED)
        if kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):
            return Type("function", written)
        if kind == TypeKind.VOID:
            return Type("void", "void")
        if kind in SIGNED or kind in UNSIGNED:
            name = written if bare(written) == "wchar_t" else type.spelling
            return Type("integer", bare(name), size, kind in SIGNED)
        if kind in (TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE):
            return Type("float", bare(type.spelling), size)
        return Type("other", bare(written), size)


def parse(name: str, text: str, flags: List[str], cxx: bool):
    unit, errors = parsed(name, text, flags, cxx)
    if any("file not found" in d.spelling for d in errors) and headers_of_the_compiler():
        # libclang comes without stddef.h and its like, which are another package's.
        unit, errors = parsed(name, text, flags + headers_of_the_compiler(), cxx)
    if errors:
        # After an error a struct may look like one without fields.
        raise Stop("\n".join(f"{d.location.file or name}:{d.location.line}: {d.spelling}"
                             for d in errors[:8]))
    return unit


def parsed(name: str, text: str, flags: List[str], cxx: bool):
    arguments = ["-x", "c++" if cxx else "c", "-DHAUL_ANNOTATE", *flags]
    try:
        unit = cindex.Index.create().parse(name, arguments, [(name, text)])
    except cindex.LibclangError as error:
        raise Stop(f"libclang cannot be loaded: {error} (Debian: libclang1-14)")
    except cindex.TranslationUnitLoadError:
        raise Stop("libclang cannot read the headers with these options: " + " ".join(flags))
    return unit, [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]


def headers_of_the_compiler() -> List[str]:
    try:
        folder = subprocess.run(["cc", "-print-file-name=include"], stdout=subprocess.PIPE,
                                check=True, universal_newlines=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return []
    return ["-isystem", folder] if os.path.isabs(folder) else []


def scopes(cursor):
    """Declarations at file scope and in namespaces."""
    for c in cursor.get_children():
        if c.kind in (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC,
                      CursorKind.UNEXPOSED_DECL):
            yield from scopes(c)
        else:
            yield c
            if c.kind in RECORDS:
                yield from (d for d in nested(c))


def nested(cursor):
    for c in cursor.get_children():
        if c.kind in RECORDS:
            yield c
            yield from nested(c)


def qualified(cursor) -> str:
    parts, c = [], cursor
    while c is not None and c.kind != CursorKind.TRANSLATION_UNIT:
        if c.spelling and c.kind not in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
            parts.insert(0, c.spelling)
        parent = c.semantic_parent
        c = parent if parent is not None and (parent.kind == CursorKind.NAMESPACE
                                              or is_cxx(cursor)) else None
    return "::".join(parts)


def is_cxx(cursor) -> bool:
    return cursor.translation_unit.spelling.endswith(".cpp")


def tag_of(cursor) -> str:
    word = "union " if cursor.kind == CursorKind.UNION_DECL else "struct "
    return (qualified(cursor) if is_cxx(cursor) else word + cursor.spelling)


def is_nameless(declaration) -> bool:
    # libclang 14 gives "" as the spelling, later ones "(unnamed at mesh.h:3:5)".
    return not declaration.spelling or "(" in declaration.spelling


def bare(name: str) -> str:
    return re.sub(r"^((const|volatile|enum)\s+)+", "", name)


def place(cursor) -> Place:
    file = cursor.location.file
    return Place(os.path.normpath(file.name) if file else "", cursor.location.line)


def annotations(cursor) -> List[str]:
    texts = [c.spelling[len(ANNOTATION):] for c in cursor.get_children()
             if c.kind == CursorKind.ANNOTATE_ATTR and c.spelling.startswith(ANNOTATION)]
    if not texts:
        counted = COUNTED.search(cursor.type.spelling)
        if counted:
            how = "count" if counted.group(1) == "counted_by" else "bytes"
            texts.append(f"{how} {counted.group(2)}")
    return texts


if cindex is not None:
    RECORDS = (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL, CursorKind.CLASS_DECL)
    METHODS = (CursorKind.CXX_METHOD, CursorKind.DESTRUCTOR)
    SIGNED = (TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT, TypeKind.LONG,
              TypeKind.LONGLONG, TypeKind.INT128, TypeKind.WCHAR)
    UNSIGNED = (TypeKind.BOOL, TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT,
                TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.UINT128, TypeKind.CHAR16,
                TypeKind.CHAR32)
