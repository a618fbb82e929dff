#!/usr/bin/env bash
# Runs every test of Haul. On a bare Debian it installs what it needs first.
#
#   tests/run.sh                     all stages
#   HAUL_STAGES="1 5" tests/run.sh   some of them
#   HAUL_SEED=7 tests/run.sh         with this seed for everything random; otherwise the time, which is printed
#   HAUL_TIMEOUT=3600 tests/run.sh   seconds for each program and each build; else 1200
#
# Ends with a table of stages and the line "N passed, N failed" over all test cases. Logs and programs stay in build/.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
stages=${HAUL_STAGES:-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15}
export HAUL_SEED=${HAUL_SEED:-$(date +%s)}
limit=${HAUL_TIMEOUT:-1200}
case $limit in
'' | *[!0-9]* | 0*) echo "HAUL_TIMEOUT is a number of seconds above 0, not '$limit'."; exit 2 ;;
esac
jobs=$(nproc 2>/dev/null || echo 2)
logs=$root/build/logs
mkdir -p "$logs"
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS

# ---- What the stages need ------------------------------------------------------------------------

packages="build-essential cmake ninja-build pkg-config libcriterion-dev libcjson-dev iso-codes clang libclang-rt-dev
libassimp-dev libpng-dev glmark2-data libyaml-dev uap-core libsuitesparse-dev"
packages_32="gcc-multilib libc6-dev-i386"
packages_documents="doxygen dwarves clang-format"
# For other processors clang compiles: Debian's gcc for them conflicts with gcc-multilib.
packages_platforms="qemu-user musl-tools clang binutils-aarch64-linux-gnu libc6-dev-arm64-cross
binutils-s390x-linux-gnu libc6-dev-s390x-cross"

missing_packages() { # PACKAGE...
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

# gcc's library for ARCHITECTURE, which has the version in its name: the newest.
cross_library() {
    apt-cache pkgnames libgcc- | grep -E "^libgcc-[0-9]+-dev-$1-cross$" | sort -t - -k 2 -n | tail -n 1
}

# install PACKAGE...: all of them or none. What is there is not removed for them.
install() {
    local missing
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    echo "Installing: $missing"
    # shellcheck disable=SC2086
    if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove \
        $missing >>"$logs/install.log" 2>&1; then
        tail -n 5 "$logs/install.log"
        echo "Could not install all of it. Still missing: $(missing_packages "$@" | tr '\n' ' ')"
        echo "Going on with what is there."
    fi
}

# In groups, so that one that cannot be had takes no other along.
install_packages() {
    local missing sudo=""
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
    # shellcheck disable=SC2046,SC2086
    missing=$(missing_packages $packages $packages_32 $packages_documents $packages_platforms $(cross_library arm64) \
        $(cross_library s390x) | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            sudo="sudo -n"
        else
            echo "Not root, and no sudo without a password. Missing packages: $missing"
            echo "Going on with what is there."
            return 0
        fi
    fi
    $sudo apt-get update -qq >"$logs/install.log" 2>&1
    # shellcheck disable=SC2086
    install $packages
    # shellcheck disable=SC2086
    install $packages_32
    # shellcheck disable=SC2086
    install $packages_documents
    # shellcheck disable=SC2046,SC2086
    install $packages_platforms $(cross_library arm64) $(cross_library s390x)
}

# ---- Counting ------------------------------------------------------------------------------------
# Each test program's log counts by the cases that it reports ("N passed, N failed", or Criterion's synthesis); a
# program that reports none counts as one case. A program that fails and reports no failed case adds one.

passed=0 failed=0 skipped=0 table="" stage_passed=0 stage_failed=0 stage_skipped=0 stack_kib="" emulator=()

# reason EXIT-CODE: in words; 124 and 137 are those of timeout.
reason() {
    case $1 in
    124) echo "timed out after $limit s; HAUL_TIMEOUT=SECONDS gives it more" ;;
    137) echo "killed: it did not end within 10 s after its $limit s, or memory ran out" ;;
    *) echo "exit $1" ;;
    esac
}

# tally NAME EXIT-CODE LOG
tally() {
    local counts p f
    counts=$(sed -E 's/\x1b\[[0-9;]*m//g' "$3" | awk '
        /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 }
        /Synthesis: Tested:/ {
            n = split($0, part, /[|:]/)
            for (i = 1; i < n; i++) {
                if (part[i] ~ /Passing/) p += part[i + 1]
                if (part[i] ~ /Failing/) f += part[i + 1]
            }
        }
        END { print p + 0, f + 0 }')
    read -r p f <<<"$counts"
    if [ "$2" -ne 0 ]; then
        [ "$f" -gt 0 ] || f=1
        echo "  FAILED $1 ($(reason "$2")); the end of ${3#"$root/"}, without what went well:"
        awk '/^ok |^\[[0-9]+\/[0-9]+\] (Building|Linking)/ { next }
            { held = held "    " $0 "\n" }
            /(^|\.\.\. )ok$/ { held = "" }
            END { printf "%s", told held }
            /^FAILED$/ { told = told held; held = "" }' "$3" | tail -n 40
        echo "  (HAUL_SEED=$HAUL_SEED)"
    elif [ $((p + f)) -eq 0 ]; then
        p=1
    fi
    stage_passed=$((stage_passed + p))
    stage_failed=$((stage_failed + f))
}

# run_logged LOG COMMAND...
run_logged() {
    (
        [ -z "$stack_kib" ] || ulimit -s "$stack_kib" || exit 1
        timeout --kill-after=10 "$limit" "${@:2}"
        exit $? # not the last command's place: the shell's words on a crash belong in the log
    ) >"$1" 2>&1 </dev/null
}

# conclude NAME EXIT-CODE LOG: a program that ends with 77 has found nothing to run on.
conclude() {
    if [ "$2" -eq 77 ]; then
        skip "$1: $(tail -n 1 "$3")"
        return 0
    fi
    tally "$@"
    return "$2"
}

log_of() { # NAME
    echo "$logs/$stage-${1//[^a-zA-Z0-9]/-}.log"
}

# attempt NAME COMMAND...: runs one test program, or one step without which its stage is no good.
attempt() {
    local log
    log=$(log_of "$1")
    run_logged "$log" "${@:2}"
    conclude "$1" $? "$log"
}

# start NAME COMMAND...: as attempt, but beside others, as many as there are processors. finish:
# waits for all of them, and says how they went; each stage ends with it.
started=()
start() {
    local log
    log=$(log_of "$1")
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    (
        run_logged "$log" "${@:2}"
        echo $? >"$log.code"
    ) &
    started+=("$1")
}

finish() {
    local name log
    wait
    for name in "${started[@]}"; do
        log=$(log_of "$name")
        conclude "$name" "$(cat "$log.code")" "$log"
    done
    started=()
}

# step NAME COMMAND...: the same, but only a failure counts: configuring and building are no test cases.
step() {
    local before=$stage_passed code
    attempt "$@"
    code=$?
    stage_passed=$before
    return $code
}

skip() {
    echo "  SKIPPED $1"
    stage_skipped=$((stage_skipped + 1))
    skipped=$((skipped + 1))
}

# need TOOL...: 1, and a visible line, when one is not there.
need() {
    local tool
    for tool in "$@"; do
        if ! command -v "$tool" >/dev/null; then
            skip "$tool is not installed"
            return 1
        fi
    done
}

can_link() { # COMPILER OPTION...
    printf '#include <errno.h>\nint main(void) { return errno; }\n' >"$logs/probe.c"
    "$@" "$logs/probe.c" -o "$logs/probe" >/dev/null 2>&1 && "${emulator[@]}" "$logs/probe"
}

# ---- Building and running ------------------------------------------------------------------------

# build FOLDER COMPILER FLAGS CMAKE-OPTION...: all, or the targets of this list.
targets=()
build() {
    local folder=build/$1 compiler=$2 flags=$3 generator=()
    shift 3
    [ -f "$folder/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
    step "configure $folder" cmake -S . -B "$folder" "${generator[@]}" -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_C_FLAGS="$flags" -DHAUL_WERROR=ON -DHAUL_CUDA=OFF "$@" &&
        step "build $folder" cmake --build "$folder" --parallel "$jobs" \
            ${targets[0]:+--target "${targets[@]}"}
}

# program FOLDER NAME ARGUMENT...: starts a test program, and says so where the tree has none.
program() {
    local file=build/$1/$2
    [ -x "$file" ] || file=build/$1/tests/$2
    if [ ! -x "$file" ]; then
        skip "$2: no such program"
        return 0
    fi
    shift 2
    start "$(basename "$file") $*" "$file" "$@"
}

# The unit tests, in as many parts as can run at once.
unit() { # FOLDER
    local part
    for ((part = 1; part <= jobs; part++)); do
        program "$1" haul_unit_plain --part "$part/$jobs"
    done
}

plain_suites() { # FOLDER GRAPHS
    unit "$1"
    program "$1" haul_random --graphs "$2" --seed "$HAUL_SEED"
    program "$1" haul_contract host
}

examples() { # FOLDER
    local source name document=/usr/share/iso-codes/json/iso_639-3.json mesh=/usr/share/glmark2/models/bunny.obj
    for source in examples/*.c; do
        name=$(basename "$source" .c)
        case $name in
        json_on_device | json_in_arena | json_mirrored)
            if [ -x "build/$1/examples/$name" ] && [ -f "$document" ]; then
                start "example $name" "build/$1/examples/$name" "$document"
            else
                skip "$name: no cJSON or no iso-codes"
            fi
            ;;
        bvh_picture)
            if [ -x "build/$1/examples/$name" ] && [ -f "$mesh" ]; then
                start "example $name" "build/$1/examples/$name" --size 160 90 --samples 2 "$mesh" \
                    "build/$1/bvh_small.png"
            else
                skip "$name: no assimp, no libpng or no glmark2-data"
            fi
            ;;
        nbody_tree) start "example $name" "build/$1/examples/$name" 2000 16 ;;
        json_* | bvh_* | nbody_* | device) ;; # parts of these
        *) start "example $name" "build/$1/examples/$name" ;;
        esac
    done
}

# Real libraries at work on copies. Where one is not installed there is no program, and cmake has said so.
acceptance() { # FOLDER
    local program line
    for program in "build/$1"/tests/acceptance/haul_accept_*; do
        [ -x "$program" ] && [ -f "$program" ] && start "$1 ${program##*/}" "$program"
    done
    while read -r line; do
        skip "$1: ${line#-- }"
    done < <(grep -h 'haul_accept_.* is left out' "$logs/$stage-configure-build-$1.log")
}

replays() { # FOLDER
    local program name
    for program in "build/$1"/fuzz/replay_*; do
        [ -x "$program" ] && [ -f "$program" ] || continue
        name=${program##*/replay_}
        [ -d "fuzz/corpus/$name" ] && start "replay $name" "$program" "fuzz/corpus/$name"
    done
}

# Lines, for reports; more would take its time to write, and nobody reads it.
traced="-gline-tables-only -O1 -fno-omit-frame-pointer"

sanitizer_options() {
    export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:strict_string_checks=1:detect_stack_use_after_return=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export MSAN_OPTIONS=halt_on_error=1
    export TSAN_OPTIONS=halt_on_error=1
}

# ---- The stages ----------------------------------------------------------------------------------

release_build() {
    build release gcc "" -DCMAKE_BUILD_TYPE=Release
}

stage_1() {
    need cmake gcc && release_build || return
    if [ -x build/release/tests/haul_unit ]; then
        program release haul_unit
    else
        skip "Criterion is not installed; the plain runner runs the same tests in stage 5"
    fi
    program release haul_contract host
    program release haul_random --graphs 10000 --seed "$HAUL_SEED"
    program release haul_random --graphs 3000 --seed "$HAUL_SEED" --faults --every 300
    program release haul_attack --sequences 8000 --seed "$HAUL_SEED"
    examples release
    replays release
}

sanitized_build() {
    need cmake clang || return
    can_link clang -fsanitize=address,undefined || { skip "clang has no sanitizers here"; return 1; }
    build sanitized clang \
        "$traced -fsanitize=address,undefined -fno-sanitize-recover=all" \
        -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF
}

stage_2() {
    sanitized_build || return
    plain_suites sanitized 1000
    program sanitized haul_random --graphs 300 --seed "$HAUL_SEED" --faults --every 100
    program sanitized haul_attack --sequences 2000 --seed "$HAUL_SEED"
    examples sanitized
    replays sanitized
}

memory_suites() { # FOLDER FLAG...
    local targets=(haul_unit_plain haul_contract haul_random)
    build "$1" clang "$traced -fsanitize=memory ${*:2}" \
        -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF || return
    plain_suites "$1" 1000
    finish
}

# To know where a value comes from takes up to 1.6 times as long: only what fails is run again so.
stage_3() {
    need cmake clang || return
    can_link clang -fsanitize=memory || { skip "clang has no MemorySanitizer here"; return; }
    memory_suites memory
    [ "$stage_failed" -eq 0 ] || memory_suites memory-origins -fsanitize-memory-track-origins
}

stage_4() {
    need cmake gcc || return
    can_link gcc -m32 || { skip "gcc has no 32-bit libraries here"; return; }
    build 32 gcc -m32 -DCMAKE_BUILD_TYPE=Release -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF || return
    plain_suites 32 2000
    replays 32
}

stage_5() {
    need cmake gcc && release_build || return
    stack_kib=64
    plain_suites release 2000
    finish
    stack_kib=""
}

# One target for its time, from its corpus, into a scratch folder; what breaks it is kept there.
fuzz() { # NAME SECONDS
    local found=$root/build/fuzz/found/$1 crashes=$root/build/fuzz/crashes/$1 corpus=()
    mkdir -p "$found" "$crashes"
    [ -d "fuzz/corpus/$1" ] && corpus=("$root/fuzz/corpus/$1")
    build/fuzz/fuzz/fuzz_"$1" -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
        -artifact_prefix="$crashes/" "$found" "${corpus[@]}"
}

stage_6() {
    local targets=() name running=()
    compgen -G 'fuzz/fuzz_*.c' >/dev/null || { skip "no fuzz targets"; return; }
    need cmake clang || return
    can_link clang -fsanitize=address,undefined || { skip "clang has no sanitizers here"; return; }
    build fuzz clang "" -DCMAKE_BUILD_TYPE=None -DHAUL_FUZZ=ON -DHAUL_BUILD_TESTS=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF || return
    for name in build/fuzz/fuzz/fuzz_*; do
        [ -f "$name" ] && [ -x "$name" ] && targets+=("${name##*/fuzz_}")
    done
    for name in "${targets[@]}"; do
        if [ -d "fuzz/corpus/$name" ]; then
            attempt "corpus of $name" "build/fuzz/fuzz/fuzz_$name" -runs=0 "fuzz/corpus/$name"
        else
            skip "fuzz/corpus/$name is not there"
        fi
    done
    # Two at a time; each writes its own log and exit code.
    for name in "${targets[@]}"; do
        (
            fuzz "$name" "${HAUL_FUZZ_SECONDS:-30}" >"$logs/6-fuzz-$name.log" 2>&1 </dev/null
            echo $? >"$logs/6-fuzz-$name.code"
        ) &
        running+=($!)
        if [ ${#running[@]} -eq 2 ]; then
            wait "${running[@]}"
            running=()
        fi
    done
    [ ${#running[@]} -eq 0 ] || wait "${running[@]}"
    for name in "${targets[@]}"; do
        tally "fuzz $name" "$(cat "$logs/6-fuzz-$name.code")" "$logs/6-fuzz-$name.log"
    done
}

stage_7() {
    need cmake gcc nm && release_build || return
    attempt "doors" bash tests/doors.sh build/release build/doors
    tell_skipped "doors"
}

# What a script has left out, as it says in its log.
tell_skipped() { # NAME
    local line
    while read -r line; do
        skip "${line#SKIPPED }"
    done < <(grep '^SKIPPED ' "$(log_of "$1")")
}

stage_8() {
    need cmake gcc g++ pkg-config || return
    attempt "consumers" bash tests/consumers/check.sh build/consumers
    tell_skipped "consumers"
    if need gfortran && release_build; then
        attempt "fortran" bash tests/fortran/check.sh build/release build/fortran
    fi
}

stage_9() {
    need cmake gcc && release_build || return
    program release haul_bench --scale 1 --runs 1
}

# The CUDA device: all of it is compiled; what needs a GPU says so where there is none.
stage_10() {
    need cmake gcc g++ nm || return
    PATH=$PATH:/usr/local/cuda/bin
    need nvcc || return
    build cuda gcc "" -DCMAKE_BUILD_TYPE=Release -DHAUL_CUDA=ON -DHAUL_CRITERION=OFF -DHAUL_ACCEPTANCE=OFF || return
    attempt "doors" bash tests/doors.sh build/cuda build/doors
    program cuda haul_contract cuda
    program cuda haul_cuda_tests
    program cuda haul_contract host
    program cuda haul_unit_plain
}

stage_11() {
    if need cmake gcc && release_build; then
        acceptance release
    fi
    if sanitized_build; then
        acceptance sanitized
    fi
}

# Every context has three threads, which share everything, however little.
stage_12() {
    local suite targets=(haul_unit_plain haul_contract haul_random haul_attack)
    need cmake clang || return
    can_link clang -fsanitize=thread || { skip "clang has no ThreadSanitizer here"; return; }
    build threads clang "$traced -fsanitize=thread -DHAUL_STRESS_THREADS=3" \
        -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF \
        -DHAUL_ACCEPTANCE=OFF || return
    for suite in team threads forms long_nodes plan ordered rules tags counted directions ship update arena \
        frees lives launches surroundings; do
        program threads haul_unit_plain "$suite"
    done
    program threads haul_contract host
    program threads haul_random --graphs 500 --seed "$HAUL_SEED"
    program threads haul_attack --sequences 600 --seed "$HAUL_SEED"
}

# ---- Platforms.

# An emulator spends its time on addresses that are reserved, so there are 4 GiB of them: too few for a context's table, in
# whose place there is a hash, and for what an arena asks for at first.
platform() { # PROCESSOR
    local targets=(haul_unit_plain haul_contract haul_random)
    need cmake clang "qemu-$1" || return
    emulator=("qemu-$1" -R 0x100000000 -L "/usr/$1-linux-gnu")
    if can_link clang --target="$1-linux-gnu"; then
        build "$1" clang "-O1 -DHAUL_EMULATED" -DCMAKE_BUILD_TYPE=None -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$1" \
            -DCMAKE_C_COMPILER_TARGET="$1-linux-gnu" -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
            -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF && return
    else
        skip "clang and binutils cannot link for $1 here, or $1 cannot be emulated"
    fi
    emulator=()
    return 1
}

# Each suite by itself. Left to the other stages: those that take minutes here even with few rounds.
stage_13() {
    local suite tests=build/aarch64/tests
    platform aarch64 || return
    start "random" "${emulator[@]}" "$tests/haul_random" --graphs 200 --seed "$HAUL_SEED"
    start "contract" "${emulator[@]}" "$tests/haul_contract" host
    start "contract, pages of 16 KiB" "${emulator[@]}" -p 16384 "$tests/haul_contract" host
    start "contract, pages of 64 KiB" "${emulator[@]}" -p 65536 "$tests/haul_contract" host
    for suite in $(grep -ohE '^TEST\([a-z0-9_]+' tests/unit/*.c | sed 's/TEST(//' | sort -u); do
        case $suite in
        lanes | promises) ;;
        *) start "$suite" "${emulator[@]}" "$tests/haul_unit_plain" "$suite/" ;;
        esac
    done
    finish
    emulator=()
}

stage_14() {
    local suite tests=build/s390x/tests
    platform s390x || return
    start "random" "${emulator[@]}" "$tests/haul_random" --graphs 200 --seed "$HAUL_SEED"
    start "contract" "${emulator[@]}" "$tests/haul_contract" host
    for suite in arena blocks ship_arena ship_marks tags tags_in_arenas directions structures rules surroundings; do
        start "$suite" "${emulator[@]}" "$tests/haul_unit_plain" "$suite/"
    done
    finish
    emulator=()
}

stage_15() {
    local targets=(haul_contract haul_random)
    need cmake musl-gcc || return
    can_link musl-gcc || { skip "musl-gcc cannot link here"; return; }
    build musl musl-gcc -O1 -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF || return
    program musl haul_random --graphs 200 --seed "$HAUL_SEED"
    program musl haul_contract host
}

titles=("" "gcc, Release, no warnings: unit, contract, 10000 random graphs, examples"
    "clang, ASan and UBSan: unit, contract, random graphs, examples"
    "clang, MemorySanitizer: unit, contract, random graphs"
    "gcc -m32: unit, contract, random graphs"
    "64 KiB stack: unit, contract, random graphs"
    "fuzzing: corpora, then each target for ${HAUL_FUZZ_SECONDS:-30} s"
    "doors: undefined symbols, includes, recursion, state, layout"
    "consumers: CMake, pkg-config, C and C++; arrays of a Fortran program"
    "benchmark, small sizes"
    "CUDA: everything compiled; contract and tests on the GPU, if there is one"
    "acceptance: real libraries at work on copies; Release, then ASan and UBSan"
    "clang, ThreadSanitizer, three threads in every context: what is shared, contract, random graphs"
    "aarch64 (emulated): unit, contract with pages of 4, 16 and 64 KiB, random graphs"
    "s390x (emulated, big-endian): contract, random graphs, arenas, bits, the image by numbers"
    "musl: contract, random graphs")

run_stage() {
    local begin=$SECONDS result
    stage=$1 stage_passed=0 stage_failed=0 stage_skipped=0
    echo "[$(date +%H:%M:%S)] stage $stage: ${titles[$stage]}"
    "stage_$stage"
    finish
    result=ok
    [ "$stage_passed" -gt 0 ] || result=SKIPPED
    [ "$stage_failed" -eq 0 ] || result=FAILED
    [ "$stage_skipped" -eq 0 ] || [ "$result" = SKIPPED ] || result="$result, $stage_skipped SKIPPED"
    passed=$((passed + stage_passed))
    failed=$((failed + stage_failed))
    table+=$(printf '%5s %6d s %7d %7d  %-15s %s' "$stage" $((SECONDS - begin)) "$stage_passed" "$stage_failed" \
        "$result" "${titles[$stage]}")$'\n'
}

install_packages
sanitizer_options
echo "HAUL_SEED=$HAUL_SEED"
for number in $stages; do
    if [ -z "${titles[$number]:-}" ]; then
        echo "There is no stage $number."
        exit 2
    fi
    run_stage "$number"
done

printf '\n%5s %8s %7s %7s  %-15s %s\n' stage time passed failed result ""
printf '%s' "$table"
[ "$skipped" -eq 0 ] || echo "$skipped SKIPPED, as said above."
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
