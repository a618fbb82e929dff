#!/usr/bin/env bash
# MC/DC of what stands against hostile bytes: does each condition of the checks of images, of their
# types and of sizes decide by itself, in some run? Branches of these files, and of src/image and
# src/validate, too.
#
#   tests/mcdc.sh         the table
#   tests/mcdc.sh --open  and every condition that does not decide, with its reason if it has one
#
# tests/coverage.txt gives a reason for each condition that no test makes decide. Fails when one has
# no reason, or a reason no condition, and under 98 % of the branches of both. The rest is as
# in tests/coverage.sh: some ten minutes on two cores, in build/mcdc. Needs clang-19, llvm-19, cmake
# and ninja.
#
# shellcheck disable=SC2013,SC2015,SC2317 # names without spaces; functions that xargs calls
set -u
cd "$(dirname "$0")/.." || exit 1
build=$PWD/build/mcdc
logs=$build/logs
unset CC CFLAGS CPPFLAGS LDFLAGS
. tests/covered_programs.sh

for tool in clang-19 llvm-cov-19 llvm-profdata-19 cmake ninja python3; do
    command -v "$tool" >/dev/null && continue
    echo "$tool is missing (Debian: apt-get install clang-19 llvm-19 cmake ninja-build python3)."
    exit 1
done

programs() {
    echo "tests/haul_random --graphs 100 --seed 1 --faults --every 100"
    echo "tests/haul_damage --seed 1 --part 1/64"
    echo "fuzz/haul_fuzz all fuzz/corpus"
    suites
}

export build logs
export LLVM_PROFILE_FILE="$logs/%4m.profraw" # counts add up in a file for each program file

mkdir -p "$build"
rm -rf "$logs"
mkdir "$logs"
cmake -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS=-O1 -DHAUL_COVERAGE=ON -DHAUL_CUDA=OFF -DHAUL_CRITERION=OFF \
    -DHAUL_ACCEPTANCE=OFF -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF \
    >"$logs/build.log" 2>&1 &&
    ninja -C "$build" -j "$(nproc)" haul_unit_plain haul_random haul_damage haul_fuzz \
        >>"$logs/build.log" 2>&1 ||
    { tail -n 20 "$logs/build.log"; exit 1; }
programs | xargs -P "$(nproc)" -I '{}' bash -c 'one {}'
llvm-profdata-19 merge -o "$build/all.profdata" "$logs"/*.profraw &&
    llvm-cov-19 export "$build/tests/haul_unit_plain" -object "$build/tests/haul_random" \
        -object "$build/tests/haul_damage" -object "$build/fuzz/haul_fuzz" \
        -instr-profile "$build/all.profdata" >"$build/mcdc.json" || exit 1

python3 - "$build/mcdc.json" "$PWD/" "${1:-}" <<'END'
import collections, json, re, sys

BRANCHES = 98.0  # of src/image
CHECKS = {
    "images": r"src/image/(arms|fill|graph_block|head|input|kinds|relocate|scan)\.c"
              r"|src/validate/\w+\.c|src/image/(codes\.h|scan_targets\.[ch])|src/walk/targets\.c",
    "types": r"src/image/(text_field|text_words|type_make|type_match|type_text)\.c"
             r"|src/type/(check_\w+|commit)\.c",
    "sizes": r"src/base/base\.h|src/walk/extent\.[ch]",
}
data = json.load(open(sys.argv[1]))["data"][0]
root, show = sys.argv[2:]

reasons = {}
for line in open("tests/coverage.txt"):
    word = line.split(None, 3)
    if len(word) == 4 and word[2].endswith("c") and word[2][:-1].isdigit():
        reasons[word[0], word[1]] = (int(word[2][:-1]), word[3].strip())

# A condition decides if it does so in one copy of its function, of those in other files.
decides, branches = {}, {}
for f in data["functions"]:
    names = [name.replace(root, "") for name in f["filenames"]]
    function = f["name"].split(":")[-1]
    for r in f.get("mcdc_records", []):
        for i, does in enumerate(r[-1]):
            where = (names[r[4]], function, r[0], r[1], i)
            decides[where] = decides.get(where, False) or does
    for b in f["branches"]:
        if b[8] in (4, 6):  # of a condition alone, or among others
            taken = branches.setdefault((names[b[6]], *b[:4]), [0, 0])
            taken[0] |= b[4] > 0
            taken[1] |= b[5] > 0

table = collections.OrderedDict()
missing = collections.defaultdict(list)
for (file, function, line, column, i), does in sorted(decides.items()):
    for group, pattern in CHECKS.items():
        if re.fullmatch(pattern, file):
            for key in (f"checks of {group}", file):
                row = table.setdefault(key, [0, 0, 0, 0])
                row[0] += 1
                row[1] += does
            if not does:
                missing[file, function].append(f"{line}:{column}:{i + 1}")
for (file, *_), taken in branches.items():
    for key in (file, "src/image" if file.startswith(("src/image/", "src/validate/")) else None):
        row = table.setdefault(key, [0, 0, 0, 0])
        row[2] += 2
        row[3] += sum(taken)
for group, pattern in CHECKS.items():
    rows = [row for key, row in table.items() if key and re.fullmatch(pattern, key)]
    table[f"checks of {group}"][2:] = [sum(row[i] for row in rows) for i in (2, 3)]

print(f'{"":<28}{"conditions":>11}{"decide":>8}{"%":>7}{"branches":>10}{"taken":>8}{"%":>7}')
for key in sorted((key for key in table if key), key=lambda key: (key.endswith(".c"), key)):
    conditions, decide, ways, taken = table[key]
    if conditions or key.startswith("src/image"):
        print(f"{key:<28}{conditions:>11}{decide:>8}{100 * decide / max(conditions, 1):>7.1f}"
              f"{ways:>10}{taken:>8}{100 * taken / max(ways, 1):>7.1f}")

wrong = []
for (file, function), places in sorted(missing.items()):
    given, reason = reasons.get((file, function), (0, "without a reason"))
    if len(places) > given:
        wrong.append(f"{file}: {function}: {len(places)} conditions do not decide, {given} have a "
                     "reason")
    if show == "--open" or len(places) > given:
        print(f"{file}: {function}: {reason}:", *places)
for (file, function), (count, reason) in sorted(reasons.items()):
    if len(missing.get((file, function), ())) < count:
        wrong.append(f"tests/coverage.txt gives {function} in {file} {count} conditions; fewer do "
                     "not decide")
if 100 * table["src/image"][3] < BRANCHES * table["src/image"][2]:
    wrong.append(f"fewer than {BRANCHES} % of the branches of src/image were taken")
for line in wrong:
    print(f"FAILED: {line}.")
sys.exit(1 if wrong else 0)
END
result=$?
if [ -e "$logs/failed" ]; then
    echo "FAILED: some programs failed; the figures are those of the others."
    exit 1
fi
exit $result
