"""Do both readers see the same structs? readers.py SCRATCH-FOLDER: libclang's and DWARF's, of the
headers of thirteen libraries: each struct's size, and each field's name, offset, size, type, sign,
width in bits and target. The same once more for what the tool declares in C from debug
information."""

import os
import subprocess
import sys

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/describe")
sys.dont_write_bytecode = True
sys.path.insert(0, TOOL)

from declare import declarations  # noqa: E402
from model import Stop, leaves  # noqa: E402
from reader_clang import ClangReader  # noqa: E402
from reader_dwarf import DwarfReader  # noqa: E402

SPARSE = ["-I/usr/include/suitesparse"]
LIBRARIES = {
    "zlib": (["<zlib.h>"], []),
    "cJSON": (["<cjson/cJSON.h>"], []),
    "libyaml": (["<yaml.h>"], []),
    "CHOLMOD": (["<cholmod.h>"], SPARSE),
    "CXSparse": (["<cs.h>"], SPARSE),
    "libpng": (["<png.h>"], []),
    "assimp": (["<assimp/scene.h>", "<assimp/cimport.h>"], []),
    "expat": (["<expat.h>"], []),
    "SQLite": (["<sqlite3.h>", "<sqlite3ext.h>"], []),
    "liblzma": (["<lzma.h>"], []),
    "FreeType": (["<ft2build.h>", "<freetype/freetype.h>", "<freetype/ftmodapi.h>",
                  "<freetype/ftglyph.h>",
                  "<freetype/ftstroke.h>", "<freetype/tttables.h>", "<freetype/ftcache.h>"],
                 ["-I/usr/include/freetype2"]),
    "libjpeg": (["<stdio.h>", "<jpeglib.h>"], []),
    "Xlib": (["<X11/Xlib.h>", "<X11/Xutil.h>"], []),
}


def type_words(type):
    """What both readers must agree on, a few pointers deep."""
    words = []
    while type.kind in ("pointer", "array"):
        words.append(type.kind if type.kind == "pointer" else f"array {type.count}")
        type = type.target
    name = type.record.name if type.kind == "record" else ""
    return words + [type.kind, type.size, type.signed if type.kind == "integer" else None, name]


def fields(record):
    return [(path, offset, f.size, f.bits, type_words(f.type))
            for path, offset, f in leaves(record)]


def compiled(name, headers, flags, scratch):
    source = os.path.join(scratch, f"{name}.c")
    with open(source, "w", encoding="utf-8") as stream:
        stream.writelines(f"#include {h}\n" for h in headers)
    program = source[:-2] + ".o"
    done = subprocess.run(["gcc", "-g", "-fno-eliminate-unused-debug-types", *flags,
                           "-c", source, "-o", program],
                          stderr=subprocess.PIPE, check=False)
    return program if done.returncode == 0 else None


def differences(name, left, right):
    found = []
    if left.size != right.size or len(fields(left)) != len(fields(right)):
        found.append(f"{name}: {left.size} bytes, {right.size}; "
                     f"{len(fields(left))} fields, {len(fields(right))}")
    return found + [f"{name}.{a[0]}: {a} {b}"
                    for a, b in zip(fields(left), fields(right)) if a != b]


def compare(name, headers, flags, scratch):
    """(structs, fields, differences); None without the headers"""
    program = compiled(name, headers, flags, scratch)
    if program is None:
        return None
    ours, theirs = ClangReader(headers, flags, False), DwarfReader(program)
    found, count, declared = [], 0, {}
    # max_align_t is each compiler's own
    records = {id(r): (n, r) for n, r in ours.records.items() if n != "max_align_t"}
    for known, record in records.values():
        other = theirs.find(known)
        if other is None:
            found.append(f"{known}: not in the debug information")
            continue
        count += len(fields(record))
        found += differences(known, record, other.record)
        declared[other.record.name] = other.record
    file = os.path.join(scratch, f"{name}.h")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("#include <stddef.h>\n" + declarations(list(declared.values())))
    again = ClangReader([file], [], False)
    for known, record in declared.items():
        other = again.find(known).record
        if [f[:4] for f in fields(record)] != [f[:4] for f in fields(other)] or \
                record.size != other.size:
            found.append(f"{known}: declared in another way")
    return len(records), count, found


def main():
    passed = failed = structs = total = 0
    for name, (headers, flags) in LIBRARIES.items():
        try:
            result = compare(name, headers, flags, sys.argv[1])
        except Stop as error:
            result = (0, 0, [str(error)])
        if result is None:
            print(f"SKIPPED both readers, {name}: its headers are not here")
            continue
        print(f"{'FAILED ' if result[2] else 'ok     '} both readers, {name}: "
              f"{result[0]} structs, {result[1]} fields")
        print("".join(f"    {d}\n" for d in result[2][:10]), end="")
        structs, total = structs + result[0], total + result[1]
        passed, failed = passed + (not result[2]), failed + bool(result[2])
    print(f"{structs} structs, {total} fields")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
