#!/usr/bin/env python3
"""Mutants of the checks of an image: does a test notice if a condition is always or never true?

  tests/mutants.py                      all files, with a line for each as it is done
  tests/mutants.py src/image/scan.c     some of them
  tests/mutants.py --mutant 17          one mutant alone, with what its tests print
  tests/mutants.py --list               each mutant's number and place
  tests/mutants.py --prepare            only makes the tree and the list, in build/mutants
  tests/mutants.py --prepared           takes these as they lie: on a machine without clang

Each condition of a branch, and each operand of && and ||, is made true and made false. All mutants
stand in one build, which an environment variable chooses from, so that only the first one has to be
compiled. Of the unit tests it has those of images, and of returns that are checked as images are.
A mutant is killed by the first program that fails or does not end. tests/mutants.txt gives a reason
for each that no input can tell from the original; these are not run.

Fails if less than 95 % are killed, or if a reason has no mutant. Half an hour on two quiet cores.
Needs clang, gcc, cmake, and ninja or make. Everything stays in build/mutants.
"""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

FILES = ["src/validate/claims.c", "src/image/arms.c", "src/image/codes.h", "src/image/head.c",
         "src/image/kinds.c", "src/image/relocate.c", "src/image/scan.c",
         "src/image/scan_targets.c", "src/image/scan_targets.h", "src/validate/validate.c",
         "src/walk/targets.c"]
# Short ones first. The suite image_verdicts takes longer than all other suites together.
SUITES = ["image", "image_arms", "image_block", "image_claims", "image_deep", "image_growth",
          "image_limits", "image_overlaps", "image_scan", "image_shared", "image_types",
          "image_words", "image_moving", "image_pieces", "image_renames", "image_device",
          "image_zstd", "untrusted", "image_verdicts"]
PROGRAMS = ([["fuzz/haul_fuzz", name, "fuzz/corpus/" + name]
             for name in ("mutate", "load", "differential", "results")] +
            [["tests/haul_unit_plain", suite + "/"] for suite in SUITES] +
            [["tests/haul_damage", "--seed", "1", "--part", part] for part in ("1/64", "3/16")])
LEAST = 95.0
TIMES, SECONDS = 20, 5  # a program does not end: in so many times what it takes, and so many more
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build/mutants")
TREE = os.path.join(BUILD, "tree")
LIST = os.path.join(BUILD, "mutants.json")
PROCESSORS = len(os.sched_getaffinity(0))

Mutant = collections.namedtuple("Mutant", "file function line text value")


# ---- Conditions, as clang sees them.

def syntax_of(file):
    out = subprocess.run(["clang", "-std=c99", "-Iinclude", "-Isrc", "-fsyntax-only", "-Xclang",
                          "-ast-dump=json", file], cwd=TREE, capture_output=True, check=True)
    return json.loads(out.stdout)


def span(node, text):
    """The bytes of an expression. One that a macro is a part of has all of the macro."""
    begin, end = (node["range"][side].get("expansionLoc", node["range"][side])
                  for side in ("begin", "end"))
    last = end["offset"] + end["tokLen"]
    if "expansionLoc" in node["range"]["end"] and text[last] == "(":
        depth = 0
        while depth > 0 or text[last] == "(":
            depth += {"(": 1, ")": -1}.get(text[last], 0)
            last += 1
    return begin["offset"], last


def operands(node):
    """The conditions that a condition is made of."""
    while node["kind"] in ("ParenExpr", "ImplicitCastExpr"):
        node = node["inner"][0]
    if node["kind"] == "BinaryOperator" and node["opcode"] in ("&&", "||"):
        return operands(node["inner"][0]) + operands(node["inner"][1])
    if node["kind"] == "UnaryOperator" and node["opcode"] == "!":
        return operands(node["inner"][0])
    return [] if node["kind"] == "IntegerLiteral" else [node]


def is_in_macro(node):
    begin, end = (node.get("range", {}).get(side, {}).get("expansionLoc", {})
                  for side in ("begin", "end"))
    return "offset" in begin and begin["offset"] == end.get("offset")


def conditions(node, found):
    kind, inner = node.get("kind"), node.get("inner", [])
    if is_in_macro(node):
        pass
    elif kind in ("IfStmt", "WhileStmt", "ConditionalOperator"):
        found += operands(inner[0])
    elif kind == "DoStmt":
        found += operands(inner[1])
    elif kind == "ForStmt" and inner[2].get("kind"):
        found += operands(inner[2])
    elif kind == "BinaryOperator" and node["opcode"] in ("&&", "||"):
        found += operands(node)
    for child in inner:
        conditions(child, found)


def functions_of(file):
    """(name, its node) of each function that the file itself defines."""
    current = None
    for node in syntax_of(file)["inner"]:
        for place in (node.get("loc", {}), node.get("range", {}).get("begin", {}),
                      node.get("range", {}).get("end", {})):
            for one in (place, place.get("spellingLoc", {}), place.get("expansionLoc", {})):
                current = one.get("file", current)
        body = [n for n in node.get("inner", []) if n.get("kind") == "CompoundStmt"]
        if node["kind"] == "FunctionDecl" and current == file and body:
            yield node["name"], body[0]
        current = last_file(node, current)


def last_file(node, current):
    """The dump names a file only where it changes."""
    for key, value in node.items():
        if isinstance(value, dict):
            current = last_file(value, current)
        elif isinstance(value, list):
            for one in value:
                current = last_file(one, current) if isinstance(one, dict) else current
        elif key == "file":
            current = value
    return current


# ---- A tree in which each of them can be changed.

def change(file, mutants):
    text = re.sub(r"HAUL__(UN)?LIKELY(?=\()", lambda m: " " * len(m.group()),
                  open(os.path.join(ROOT, file)).read())
    with open(os.path.join(TREE, file), "w") as out:
        out.write(text)
    places = {}
    for function, body in functions_of(file):
        found = []
        conditions(body, found)
        for node in found:
            places[span(node, text)] = function
    edits = []
    for (first, end), function in sorted(places.items(), key=lambda p: (p[0][0], -p[0][1])):
        line = text.count("\n", 0, first) + 1
        words = re.sub(r"\s+", " ", text[first:end])
        number = len(mutants) + 1
        mutants += [Mutant(file, function, line, words, value) for value in (1, 0)]
        chooses = f"(haul__mutant == {number} ? 1 : haul__mutant == {number + 1} ? 0 : !!("
        edits.append((first, 1, -end, chooses))
        edits.append((end, 0, -first, "))"))
    for at, _, _, words in sorted(edits, reverse=True):
        text = text[:at] + words + text[at:]
    with open(os.path.join(TREE, file), "w") as out:
        out.write("extern int haul__mutant;\n#line 1\n" + text)


def make_tree():
    mutants = []
    os.makedirs(TREE, exist_ok=True)
    subprocess.run("git ls-files -z | xargs -0 cp --parents -p -t " + TREE, shell=True, cwd=ROOT,
                   check=True)
    for file in FILES:
        change(file, mutants)
    with open(os.path.join(TREE, "src/base/mutant.c"), "w") as out:
        out.write("#include <stdlib.h>\nint haul__mutant;\n"
                  "__attribute__((constructor)) static void choose(void)\n{\n"
                  '    const char *number = getenv("HAUL_MUTANT");\n'
                  "    haul__mutant = number ? atoi(number) : 0;\n}\n")
    with open(LIST, "w") as out:
        json.dump(mutants, out)
    return mutants


def build():
    log = open(os.path.join(BUILD, "build.log"), "w")
    units = sorted(name for name in os.listdir(os.path.join(TREE, "tests/unit"))
                   if name.startswith(("test_image", "test_untrusted")))
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    for command in (["cmake", "-S", TREE, "-B", BUILD] + generator +
                    ["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=None",
                     "-DCMAKE_C_FLAGS=-O1 -w", "-DHAUL_CUDA=OFF", "-DHAUL_CRITERION=OFF",
                     "-DHAUL_ACCEPTANCE=OFF", "-DHAUL_BUILD_EXAMPLES=OFF",
                     "-DHAUL_BUILD_BENCHMARKS=OFF",
                     "-DHAUL_UNIT_FILES=" + ";".join("unit/" + name for name in units)],
                    ["cmake", "--build", BUILD, "--parallel", str(PROCESSORS), "--target",
                     "haul_fuzz", "haul_unit_plain", "haul_damage"]):
        if subprocess.run(command, stdout=log, stderr=log).returncode != 0:
            sys.exit("tests/mutants.py: it does not build: build/mutants/build.log")


# ---- Runs.

taken = {}  # seconds by program, without a mutant


def passes(program, number, loud=False):
    """Is its answer that all is well? A program that does not end is stopped."""
    name, out = " ".join(program), None if loud else subprocess.DEVNULL
    try:
        return subprocess.run([os.path.join(BUILD, program[0])] + program[1:], cwd=ROOT,
                              env=dict(os.environ, HAUL_MUTANT=str(number)), stdout=out,
                              stderr=out, timeout=TIMES * taken.get(name, 600 / TIMES) + SECONDS
                              ).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def passes_unchanged(program):
    begin = time.monotonic()
    fine = passes(program, 0)
    taken[" ".join(program)] = time.monotonic() - begin
    return fine


def survives(number, loud=False):
    return all(passes(program, number, loud) for program in PROGRAMS)


def reasons():
    """(file, function, the condition, its value) of mutants that are the original."""
    found = {}
    for line in open(os.path.join(ROOT, "tests/mutants.txt")):
        if line.strip() and not line.startswith("#"):
            place, reason = line.rstrip("\n").split(" : ", 1)
            file, function, value, text = place.split(None, 3)
            found[file, function, text, int(value)] = reason
    return found


def table_line(name, verdicts):
    """Prints it; the percentage that was killed."""
    count = verdicts["killed"] + verdicts["survived"]
    share = 100 * verdicts["killed"] / max(count, 1)
    print(f'{name:<26}{count:>6}{share:>8.1f} % killed; {verdicts["same"]} more are no other '
          "program", flush=True)
    return share


def main(arguments):
    os.chdir(ROOT)
    files = [a for a in arguments if a.endswith((".c", ".h"))] or FILES
    if "--prepared" in arguments:
        mutants = [Mutant(*m) for m in json.load(open(LIST))]
    else:
        mutants = make_tree()
    if "--prepare" in arguments:
        return 0
    if "--list" in arguments:
        for number, m in enumerate(mutants, 1):
            print(f"{number}: {m.file}:{m.line}: {m.function}: {m.text} = {m.value}")
        return 0
    build()
    with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
        if not all(pool.map(passes_unchanged, PROGRAMS)):
            sys.exit("tests/mutants.py: the tests fail without a mutant")
    if "--mutant" in arguments:
        return survives(int(arguments[arguments.index("--mutant") + 1]), True)
    same = reasons()
    keys = [(m.file, m.function, m.text, m.value) for m in mutants]
    chosen = {file: [n for n, key in enumerate(keys, 1) if key[0] == file and key not in same]
              for file in files}
    verdicts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
        answers = pool.map(survives, sum(chosen.values(), []))
        for file in files:
            here = collections.Counter(same=sum(key[0] == file and key in same for key in keys))
            for number, lives in zip(chosen[file], answers):
                m = mutants[number - 1]
                here["survived" if lives else "killed"] += 1
                if lives:
                    print(f"{number}: {m.file}:{m.line}: {m.function}: {m.text} = {m.value}",
                          flush=True)
            table_line(file, here)
            verdicts += here
    share = table_line("all", verdicts)
    wrong = [key for key in same if key[0] in files and key not in keys]
    for key in wrong:
        print("FAILED: tests/mutants.txt names a condition that is not there:", *key)
    if share < LEAST:
        print(f"FAILED: less than {LEAST} % were killed.")
    return share < LEAST or bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
