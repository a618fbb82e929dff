#!/usr/bin/env bash
# Which lines and branches of src/ and devices/host the plain tests run, by room.
#
#   tests/coverage.sh             the table
#   tests/coverage.sh --lines     and every line that did not run
#   tests/coverage.sh --branches  and every line with a branch that was not taken
#
# tests/coverage.txt gives a reason for each line that no test runs. They count all the same.
# Fails under 99 % of the lines or 92 % of the branches, and when a line has no reason or a reason
# has no line. Some ten minutes on two cores. Needs gcc, cmake and gcovr. Programs and logs stay in
# build/coverage.
#
# shellcheck disable=SC2013,SC2015,SC2317 # names without spaces; functions that xargs calls
set -u
cd "$(dirname "$0")/.." || exit 1
build=$PWD/build/coverage
logs=$build/logs
unset CC CFLAGS CPPFLAGS LDFLAGS
. tests/covered_programs.sh

for tool in gcc cmake gcovr python3; do
    command -v "$tool" >/dev/null && continue
    echo "$tool is missing (Debian: apt-get install $tool)."
    exit 1
done

# Seeds are fixed, so that the figures of two days can be compared.
programs() {
    echo "tests/haul_contract host"
    echo "tests/haul_kills"
    echo "tests/haul_random --graphs 1000 --seed 1 --faults --every 100"
    echo "tests/haul_attack --sequences 500 --seed 1"
    echo "tests/haul_damage --seed 1 --part 1/8"
    echo "fuzz/haul_fuzz all fuzz/corpus"
    suites
}

export build logs

mkdir -p "$build"
rm -rf "$logs"
mkdir "$logs"
cmake -S . -B "$build" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 \
    -DHAUL_COVERAGE=ON -DHAUL_CUDA=OFF -DHAUL_CRITERION=OFF -DHAUL_ACCEPTANCE=OFF \
    -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF >"$logs/build.log" 2>&1 &&
    cmake --build "$build" -j "$(nproc)" \
        --target haul_unit_plain haul_contract haul_kills haul_random haul_attack haul_damage \
        haul_fuzz >>"$logs/build.log" 2>&1 ||
    { tail -n 20 "$logs/build.log"; exit 1; }
find "$build" -name '*.gcda' -delete
programs | xargs -P "$(nproc)" -I '{}' bash -c 'one {}'
gcovr --root . --object-directory "$build" --filter 'src/' --filter 'devices/host/' \
    --exclude-unreachable-branches --json "$build/coverage.json" \
    "$build/CMakeFiles/haul.dir" >"$logs/gcovr.log" 2>&1 || { cat "$logs/gcovr.log"; exit 1; }

python3 - "$build/coverage.json" "${1:-}" <<'END'
import json, sys

LINES, BRANCHES = 99.0, 92.0
files = json.load(open(sys.argv[1]))["files"]
show = sys.argv[2]
rooms, unrun = {}, {}

reasons = {}
for number, line in enumerate(open("tests/coverage.txt"), 1):
    if line.strip() and not line.startswith("#"):
        try:
            file, function, lines, reason = line.split(None, 3)
            if not lines.endswith("c"):  # conditions: tests/mcdc.sh
                reasons[file, function] = (int(lines), reason.strip())
        except ValueError:
            sys.exit(f"tests/coverage.txt:{number}: not FILE FUNCTION LINES REASON")

for f in files:
    name = f["file"]
    text = open(name).read().split("\n")
    starts = sorted((g["lineno"], g["name"]) for g in f["functions"])
    lines = [l for l in f["lines"] if not l.get("gcovr/noncode")]
    room = rooms.setdefault("/".join(name.split("/")[:2]), [0, 0, 0, 0])
    for l in lines:
        taken = sum(1 for b in l["branches"] if b["count"] > 0)
        for i, n in enumerate((l["count"] > 0, 1, taken, len(l["branches"]))):
            room[i] += n
        if l["count"] == 0:
            function = [g for at, g in starts if at <= l["line_number"]][-1]
            unrun.setdefault((name, function), []).append(l["line_number"])
        where = f'{name}:{l["line_number"]}: {text[l["line_number"] - 1].strip()}'
        if show == "--lines" and l["count"] == 0:
            print(where)
        if show == "--branches" and l["count"] > 0 and taken < len(l["branches"]):
            print(f'{taken} of {len(l["branches"])}: {where}')

print(f'{"room":<14}{"lines":>8}{"run":>8}{"%":>7}{"branches":>10}{"taken":>8}{"%":>7}')
rooms["all"] = [sum(column) for column in zip(*rooms.values())]
for name in sorted(rooms, key=lambda room: (room == "all", room)):
    run, lines, taken, branches = rooms[name]
    print(f"{name:<14}{lines:>8}{run:>8}{100 * run / lines:>7.1f}"
          f"{branches:>10}{taken:>8}{100 * taken / max(branches, 1):>7.1f}")

wrong = []
bare = 0
for (file, function), lines in sorted(unrun.items()):
    if len(lines) > reasons.get((file, function), (0,))[0]:
        bare += len(lines)
        print(f"{file}: {function}: without a reason:", *lines)
if bare:
    wrong.append(f"{bare} lines did not run, and tests/coverage.txt does not say why")
known = {(f["file"], g["name"]) for f in files for g in f["functions"]}
for file, function in sorted(set(reasons) - known):
    wrong.append(f"tests/coverage.txt names {function} in {file}, which is not there")
for (file, function), (lines, reason) in sorted(reasons.items()):
    left = len(unrun.get((file, function), ()))
    if (file, function) in known and left < lines and not reason.startswith("timing"):
        wrong.append(f"tests/coverage.txt gives {function} in {file} {lines} lines; "
                     f"{left} did not run")
run, lines, taken, branches = rooms["all"]
left = lines - run
print(f"{left} lines did not run; {left - bare} of them have a reason in tests/coverage.txt")
if 100 * run < LINES * lines:
    wrong.append(f"fewer than {LINES} % of the lines ran")
if 100 * taken < BRANCHES * branches:
    wrong.append(f"fewer than {BRANCHES} % of the branches were taken")
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
