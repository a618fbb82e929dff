"""haul-describe: descriptions from headers, and descriptions checked by debug information."""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import answers as answering  # noqa: E402
import emit  # noqa: E402
from decide import Plan  # noqa: E402
from declare import declarations  # noqa: E402
from model import Stop  # noqa: E402
from reader_clang import ClangReader  # noqa: E402
from reader_dwarf import DwarfReader  # noqa: E402

USAGE = """haul-describe HEADER... --type NAME [-o FILE.c] [-a ANSWERS] [-I FOLDER] [-- FLAGS]
       haul-describe PROGRAM --type NAME [-o FILE.c] [-a ANSWERS] [--include HEADER]
       haul-describe --check PROGRAM..."""


def arguments():
    own, flags = sys.argv[1:], []
    if "--" in own:
        own, flags = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(
        "haul-describe", usage=USAGE, description=__doc__,
        epilog="Behind '--' stand options of the compiler. The exit code is 0, 1 (questions are "
        "open, or --check has findings) or 2 (something else is wrong).")
    parser.add_argument("inputs", nargs="*", metavar="INPUT",
                        help="a header, <a/header.h>, or a program or object file with -g")
    parser.add_argument("--type", action="append", default=[], metavar="NAME",
                        help="a type to describe, with all that it leads to; may be given again")
    parser.add_argument("-o", metavar="FILE.c", help="writes FILE.c and FILE.h; else to stdout")
    parser.add_argument("-a", "--answers", action="append", default=[], metavar="FILE")
    parser.add_argument("-I", action="append", default=[], metavar="FOLDER")
    parser.add_argument("-D", action="append", default=[], metavar="MACRO")
    parser.add_argument("--include", action="append", default=[], metavar="HEADER",
                        help="for the types of a program: what declares them; else the output does")
    parser.add_argument("--depfile", metavar="FILE", help="what the output depends on, for make")
    parser.add_argument("--questions", action="store_true",
                        help="prints an answers file with all that is open, and its candidates")
    parser.add_argument("--check", action="store_true", help="checks programs with -g")
    chosen = parser.parse_args(own)
    if not chosen.inputs:
        parser.error("no input")
    if not chosen.check and not chosen.type:
        parser.error("--type NAME is missing")
    chosen.flags = [f"-I{f}" for f in chosen.I] + [f"-D{d}" for d in chosen.D] + flags
    return chosen


def is_cxx(files, flags) -> bool:
    ends = (".hpp", ".hh", ".hxx", ".cpp", ".cc")
    return any(f.rstrip(">").endswith(ends) for f in files) or any(
        f.startswith("-std=") and "++" in f for f in flags)


def own_include():
    """The folder of haul/annotate.h, in the tree and where the tool is installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    for up in ("../..", "../../.."):
        folder = os.path.normpath(os.path.join(here, up, "include"))
        if os.path.exists(os.path.join(folder, "haul", "annotate.h")):
            return ["-idirafter", folder]
    return []


def is_program(file: str) -> bool:
    if file[0] == "<":
        return False
    with open(file, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def write(file: str, text: str):
    """Leaves a file alone that is so already: make and ninja then build nothing."""
    try:
        with open(file, encoding="utf-8") as stream:
            if stream.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(text)


def seen_from(header: str, output: str) -> str:
    """How the file that is written includes a header."""
    folder = os.path.dirname(os.path.abspath(output or "."))
    if header[0] == "<" or os.path.commonpath([header, folder]) == os.sep:
        return header
    return os.path.relpath(header, folder)


def tell(questions, as_answers: bool):
    out = sys.stdout if as_answers else sys.stderr
    for q in questions:
        if as_answers:
            print(f"# {q.place}: {q.type}. {q.ask}", file=out)
        else:
            print(f"{q.place}: {q.path} ({q.type}): {q.ask} An answer says it, for example:",
                  file=out)
        for candidate in q.candidates:
            print(f"{'# ' if as_answers else '    '}{q.path} = {candidate}", file=out)
    if not as_answers:
        missing = "1 answer is" if len(questions) == 1 else f"{len(questions)} answers are"
        print(f"{missing} missing; --questions writes a file to fill in.", file=out)


def describe(chosen) -> int:
    answers = answering.Answers()
    for file in chosen.answers:
        answering.read(file, answers)
    headers = [h if h[0] == "<" else os.path.abspath(h) for h in chosen.inputs]
    for h in headers:
        if h[0] != "<" and not os.path.exists(h):
            raise Stop(f"there is no file {h}")
    from_program = is_program(headers[0])
    if from_program:
        reader, headers = DwarfReader(headers[0]), chosen.include
    else:
        cxx = is_cxx(chosen.inputs + [chosen.o or ""], chosen.flags)
        reader = ClangReader(headers, chosen.flags + own_include(), cxx)
    plan = Plan(reader, answers, chosen.type)
    if plan.questions:
        tell(plan.questions, chosen.questions)
        return 0 if chosen.questions else 1
    if chosen.questions:
        return 0
    declared = ""
    if from_program and not headers:
        declared = declarations([d.record for d in plan.described.values() if d.record])
    made_from = [os.path.basename(f.strip("<>")) for f in chosen.inputs + chosen.answers]
    shown = headers if from_program else [seen_from(h, chosen.o) for h in headers]
    if not chosen.o:
        print(emit.source(plan, shown, made_from, "", declared), end="")
        return 0
    own = os.path.splitext(chosen.o)[0] + ".h"
    if chosen.depfile:
        names = [f.replace(" ", "\\ ") for f in reader.files + chosen.answers]
        write(chosen.depfile, f"{chosen.o}: " + " ".join(names) + "\n")
    write(own, emit.header(plan, shown, made_from, own, declared))
    write(chosen.o, emit.source(plan, shown, made_from, os.path.basename(own)))
    return 0


def main() -> int:
    chosen = arguments()
    try:
        if chosen.check:
            from check import check_programs
            return check_programs(chosen.inputs)
        return describe(chosen)
    except (Stop, OSError) as error:
        print(f"haul-describe: {error}" if not isinstance(error, Stop) else error,
              file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
