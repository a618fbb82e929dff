#!/usr/bin/env bash
# Runs every test of Haul. On a bare Debian it installs what it needs first.
#
#   tests/run.sh                     all stages
#   tests/run.sh quick               release build, unit, contract, random graphs, examples: at most
#                                    5 minutes on two cores
#   HAUL_STAGES="1 5" tests/run.sh   some stages
#   HAUL_SEED=7 tests/run.sh         with this seed for everything random; otherwise one that the
#                                    commit gives: its runs agree, and the next commit draws anew
#   HAUL_TIMEOUT=3600 tests/run.sh   seconds for each program and each build; else 1200
#
# Each line begins with the stage, the number of stages and the time since the start. A step says
# when it begins and what it took, in seconds and in seconds of processors; one that takes long
# shows the last line of its log now and then.
#
# Ends with a table of stages and the line "N passed, N failed" over all test cases. Logs and
# programs stay in build/.
#
# shellcheck disable=SC2317 # stages are called by their numbers
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
case ${1:-} in
'') stages=${HAUL_STAGES:-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15} ;;
quick) stages=quick ;;
*) echo "usage: tests/run.sh [quick]"; exit 2 ;;
esac
commit_seed() {
    local tree
    tree=$(git rev-parse --short=7 'HEAD^{tree}' 2>/dev/null)
    echo $((16#${tree:-$(date +%s)}))
}
export HAUL_SEED=${HAUL_SEED:-$(commit_seed)}
limit=${HAUL_TIMEOUT:-1200}
case $limit in
'' | *[!0-9]* | 0*) echo "HAUL_TIMEOUT is a number of seconds above 0, not '$limit'."; exit 2 ;;
esac
jobs=$(nproc 2>/dev/null || echo 2)
logs=$root/build/logs
mkdir -p "$logs"
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS

# ---- What the stages need ------------------------------------------------------------------------

packages_quick="build-essential cmake ninja-build libxxhash-dev libcjson-dev iso-codes
libassimp-dev libpng-dev glmark2-data"
packages="pkg-config libzstd-dev gdb libcriterion-dev clang libclang-rt-dev libyaml-dev uap-core
libsuitesparse-dev zip unzip"
packages_offload="clang libomp-dev"
packages_32="gcc-multilib libc6-dev-i386"
packages_documents="doxygen dwarves clang-format libc++-dev libc++abi-dev"
packages_afl="afl++"
packages_describe="python3-clang python3-pyelftools libexpat1-dev libsqlite3-dev liblzma-dev
libfreetype-dev libjpeg-dev libx11-dev"
# For other processors clang compiles: Debian's gcc for them conflicts with gcc-multilib.
packages_platforms="qemu-user musl-tools clang binutils-aarch64-linux-gnu libc6-dev-arm64-cross
binutils-s390x-linux-gnu libc6-dev-s390x-cross"

missing_packages() { # PACKAGE...
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            echo "$package"
    done
}

# gcc's library for ARCHITECTURE, which has the version in its name: the newest.
cross_library() {
    apt-cache pkgnames libgcc- | grep -E "^libgcc-[0-9]+-dev-$1-cross$" |
        sort -t - -k 2 -n | tail -n 1
}

cross_libraries() {
    [ -z "$packages_platforms" ] || { cross_library arm64; cross_library s390x; }
}

# install PACKAGE...: all of them or none. What is there is not removed for them.
install() {
    local missing
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    echo "Installing: $missing"
    # shellcheck disable=SC2086
    if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        --no-remove \
        $missing >>"$logs/install.log" 2>&1; then
        tail -n 5 "$logs/install.log"
        echo "Could not install all of it. Still missing: $(missing_packages "$@" | tr '\n' ' ')"
        echo "Going on with what is there."
    fi
}

# In groups, so that one that cannot be had takes no other along. can_install: nothing is missing,
# or it could be had from where packages come.
can_install=0
install_packages() {
    local missing sudo=""
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
    [ "$stages" != quick ] || packages="" packages_offload="" packages_32="" \
        packages_afl="" packages_documents="" packages_describe="" packages_platforms=""
    can_install=1
    # shellcheck disable=SC2046,SC2086
    missing=$(missing_packages $packages_quick $packages $packages_offload $packages_32 \
        $packages_afl $packages_documents $packages_describe $packages_platforms \
        $(cross_libraries) | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            sudo="sudo -n"
        else
            echo "Not root, and no sudo without a password. Missing packages: $missing"
            echo "Going on with what is there."
            can_install=0
            return 0
        fi
    fi
    $sudo apt-get update -qq -o APT::Update::Error-Mode=any >"$logs/install.log" 2>&1 ||
        can_install=0
    # shellcheck disable=SC2086
    install $packages_quick
    # shellcheck disable=SC2086
    install $packages
    # shellcheck disable=SC2086
    install $packages_offload
    # shellcheck disable=SC2086
    install $packages_32
    # shellcheck disable=SC2086
    install $packages_afl
    # shellcheck disable=SC2086
    install $packages_documents
    # shellcheck disable=SC2086
    install $packages_describe
    # shellcheck disable=SC2046,SC2086
    install $packages_platforms $(cross_libraries)
}

# ---- Progress ------------------------------------------------------------------------------------
# A step under way has a file in $running, which holds its name; the clock reads them.

running=$logs/running
rm -rf "$running" "$logs/ahead-"*
mkdir -p "$running"
stage="" position=0 count=$(wc -w <<<"$stages")
beat=15 # seconds

say() { # SENTENCE
    printf '%d/%d %2d:%02d  %s\n' "$position" "$count" $((SECONDS / 60)) $((SECONDS % 60)) "$1"
}

# The last line of a log, as far as it is written.
last_line() { # LOG
    tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' | sed -E 's/\x1b\[[0-9;]*[A-Za-z]//g' |
        grep -v '^ *$' |
        tail -n 1 | cut -c 1-70
}

# What runs since the last beat or longer; `position` is the main shell's.
clock() {
    local file position
    while sleep "$beat" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        position=$(cat "$running/.position" 2>/dev/null) || continue
        for file in "$running"/*; do
            [ -f "$file" ] || continue
            say "    $(cat "$file" 2>/dev/null): $(last_line "$logs/${file##*/}.log")"
        done
    done
}

# ---- Counting ------------------------------------------------------------------------------------
# Each test program's log counts by the cases that it reports ("N passed, N failed", or Criterion's
# synthesis); a program that reports none counts as one case. A program that fails and reports no
# failed case adds one.

passed=0 failed=0 skipped=0 table="" stage_passed=0 stage_failed=0 stage_skipped=0
stack_kib="" emulator=()

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

# run_logged NAME LOG COMMAND...: LOG.time holds the seconds by the clock and of processors.
run_logged() {
    local mark code spent TIMEFORMAT='%R %U %S'
    mark=$running/$(basename "$2" .log)
    say "begins  $1"
    echo "$1" >"$mark"
    {
        time {
            (
                [ -z "$stack_kib" ] || ulimit -s "$stack_kib" || exit 1
                timeout --kill-after=10 "$limit" "${@:3}"
                # not the last command's place: the shell's words on a crash belong in the log
                exit $?
            ) >"$2" 2>&1 </dev/null
        }
    } 2>"$2.time"
    code=$?
    rm -f "$mark"
    spent=$(awk '{ printf "%.0f s, processors %.0f s", $1, $2 + $3 }' "$2.time")
    case $code in
    0) say "ok      $1: $spent" ;;
    77) say "skipped $1: $spent" ;;
    *) say "FAILED  $1: $spent" ;;
    esac
    return "$code"
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
    run_logged "$1" "$log" "${@:2}"
    conclude "$1" $? "$log"
}

# start NAME COMMAND...: as attempt, but beside others, as many as there are processors. finish:
# waits for all of them, and says how they went; each stage ends with it. A stage starts what takes
# longest first, so that no processor waits long for the last one.
started=() pids=()
start() {
    local log
    log=$(log_of "$1")
    while [ "$(jobs -rp | grep -cvx -e "$clock" -e "$ahead")" -ge "$jobs" ]; do
        wait -n
    done
    (
        run_logged "$1" "$log" "${@:2}"
        echo $? >"$log.code"
    ) &
    pids+=($!)
    started+=("$1")
}

finish() {
    local name log
    [ ${#pids[@]} -eq 0 ] || wait "${pids[@]}"
    pids=()
    for name in "${started[@]}"; do
        log=$(log_of "$name")
        conclude "$name" "$(cat "$log.code")" "$log"
    done
    started=()
}

# step NAME COMMAND...: the same, but only a failure counts: configuring and building are no test
# cases.
step() {
    local before=$stage_passed code
    attempt "$@"
    code=$?
    stage_passed=$before
    return "$code"
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
    local probe=$logs/$stage-probe
    printf '#include <errno.h>\nint main(void) { return errno; }\n' >"$probe.c"
    "$@" "$probe.c" -o "$probe" >/dev/null 2>&1 && "${emulator[@]}" "$probe"
}

# ---- Building and running ------------------------------------------------------------------------

# The numbers of a process and of all that it has started.
with_children() { # PROCESS, or nothing
    local children=() child
    [ -n "$1" ] || return 0
    echo "$1"
    { read -ra children <"/proc/$1/task/$1/children"; } 2>/dev/null
    for child in "${children[@]}"; do
        with_children "$child"
    done
}

# build FOLDER COMPILER FLAGS CMAKE-OPTION...: all, or the targets of this list.
targets=() ahead=""
build() {
    in_turn "$1" build_here "$@"
}

build_here() {
    local folder=build/$1 compiler=$2 flags=$3 generator=()
    shift 3
    [ -f "$folder/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
    step "configure $folder" cmake -S . -B "$folder" "${generator[@]}" \
        -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_C_FLAGS="$flags" -DHAUL_WERROR=ON -DHAUL_CUDA=OFF "$@" &&
        step "build $folder" cmake --build "$folder" --parallel "$jobs" \
            ${targets[0]:+--target "${targets[@]}"}
}

# in_turn FOLDER COMMAND...: what builds there. Waits for what build_ahead has begun of it, which
# then need not give way.
in_turn() {
    local folder=build/$1 lock code
    shift
    mkdir -p "$folder"
    exec {lock}>"$folder.lock"
    if ! flock -n "$lock"; then
        with_children "$ahead" | xargs -r renice -n 0 -p >/dev/null 2>&1
        flock "$lock"
    fi
    "$@"
    code=$?
    exec {lock}>&-
    return "$code"
}

# The builds of all stages behind the first one, with a low priority: above all where tests leave a
# processor idle. A stage then builds what is missing. Says nothing: what fails, fails again in its
# stage.
build_ahead() {
    local number
    for number in $stages; do
        [ "$number" != "${stages%% *}" ] || continue
        [ -n "${builds[$number]:-}" ] || continue
        stage=ahead-$number
        (renice -n 10 -p "$BASHPID" && "${builds[$number]}")
    done
} >/dev/null 2>&1

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

# The unit tests, in parts, so that no processor waits long for the last one. In the release build
# their launches on the host device are strict (haul/host.h); elsewhere that takes too long.
unit() { # FOLDER
    local part parts=$((2 * jobs))
    [ "$1" != release ] || local -x HAUL_HOST_STRICT=1
    for ((part = 1; part <= parts; part++)); do
        program "$1" haul_unit_plain --part "$part/$parts"
    done
}

# The files of the suites whose names begin so, as cmake takes them.
unit_files() { # BEGINNING...
    grep -lE "^TEST\(($(tr ' ' '|' <<<"$*"))" tests/unit/*.c tests/structures/*.c |
        sed 's|^tests/||' | paste -sd ';'
}

plain_suites() { # FOLDER GRAPHS
    unit "$1"
    program "$1" haul_random --graphs "$2" --seed "$HAUL_SEED"
    program "$1" haul_contract host
    program "$1" haul_kills
}

# Of the suites that are piped in, those that take longest first.
longest_first() {
    local list slow="ragged_objects|block_forms|frees|ship_arena_faults|promises|piece_faults|audit"
    slow="$slow|graph_faults|map_marks|threads|environment_random"
    list=$(sort -u)
    grep -xE "$slow" <<<"$list"
    grep -vxE "$slow" <<<"$list"
}

# The first start parses and saves, the next one maps.
# shellcheck disable=SC2016
two_starts='cd "$1" && rm -f ./*.json.haul && ./json_snapshot "$2" && ./json_snapshot "$2" >next &&
    cat next && grep -q ^Mapped: next'

# A scene that one process saves and another traces makes the picture of bvh_picture.
# shellcheck disable=SC2016
two_processes='cd "$1" && ./bvh_in_file save scene.haul "$2" 160 && ./bvh_in_file trace scene.haul \
    traced.png 2 && ./bvh_picture "$2" direct.png 160 2 && cmp traced.png direct.png'

examples() { # FOLDER
    local -x HAUL_HOST_STRICT=1
    local source name document=/usr/share/iso-codes/json/iso_639-3.json \
        mesh=/usr/share/glmark2/models/bunny.obj
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
        json_snapshot)
            if [ -x "build/$1/examples/$name" ] && [ -f "$document" ]; then
                start "example $name, twice" bash -c "$two_starts" - "build/$1/examples" "$document"
            else
                skip "$name: no cJSON or no iso-codes"
            fi
            ;;
        bvh_picture)
            if [ -x "build/$1/examples/$name" ] && [ -f "$mesh" ]; then
                start "example $name" "build/$1/examples/$name" "$mesh" "build/$1/bvh_small.png" \
                    160 2
            else
                skip "$name: no assimp, no libpng or no glmark2-data"
            fi
            ;;
        bvh_in_file)
            if [ -x "build/$1/examples/$name" ] && [ -f "$mesh" ]; then
                start "example $name" bash -c "$two_processes" - "build/$1/examples" "$mesh"
            else
                skip "$name: no assimp, no libpng or no glmark2-data"
            fi
            ;;
        nbody_tree) start "example $name" "build/$1/examples/$name" 2000 ;;
        json_* | bvh_* | nbody_* | device) ;; # parts of these
        *_with_pragmas) ;;                    # tests/openmp/check.sh
        *) start "example $name" "build/$1/examples/$name" ;;
        esac
    done
}

# Real libraries at work on copies. Where one is not installed there is no program, and cmake has
# said so.
acceptance() { # FOLDER
    local program line
    for program in "build/$1"/tests/acceptance/haul_accept_*; do
        [ -x "$program" ] && [ -f "$program" ] && start "$1 ${program##*/}" "$program"
    done
    while read -r line; do
        skip "$1: ${line#-- }"
    done < <(grep -h 'haul_accept_.* is left out' "$logs/$stage-configure-build-$1.log")
}

# Lines, for reports; more would take its time to write, and nobody reads it. With sanitizers most
# unit tests are not optimised (tests/CMakeLists.txt).
traced="-gline-tables-only -O1 -fno-omit-frame-pointer"
unit_tests=-DHAUL_UNIT_OPTIONS=-O0

# Builds that are slow fail every event once, or one in N/3 where N is more than 5, and of the other
# modes (from then on, lost, late, slow) one in N. The seed chooses which. The release build fails
# all of them.
thin_faults() { # N
    export HAUL_FAULT_STRIDE=$1
}

sanitizer_options() {
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:strict_string_checks=1
    export ASAN_OPTIONS=$ASAN_OPTIONS:detect_stack_use_after_return=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export MSAN_OPTIONS=halt_on_error=1
    export TSAN_OPTIONS=halt_on_error=1:atexit_sleep_ms=0 # each process slept a second at its end
}

# ---- The stages ----------------------------------------------------------------------------------

release_build() {
    build release gcc "" -DCMAKE_BUILD_TYPE=Release -DHAUL_UNIT_OPTIONS=-O1
}

stage_quick() {
    need cmake gcc && release_build || return
    plain_suites release 2000
    examples release
}

stage_1() {
    need cmake gcc && release_build || return
    unit release
    if [ -x build/release/tests/haul_unit ]; then # its processes take a quarter more
        HAUL_HOST_STRICT=1 program release haul_unit --filter 'c*'
    else
        skip "Criterion is not installed; the plain runner runs the same tests"
    fi
    program release haul_attack --sequences 8000 --seed "$HAUL_SEED"
    program release haul_random --graphs 10000 --seed "$HAUL_SEED"
    program release haul_random --graphs 3000 --seed "$HAUL_SEED" --faults --every 300
    start "release random, 2, 3 and 16 threads" build/release/tests/haul_random --graphs 1000 \
        --seed "$HAUL_SEED" --threads 2,3,16
    program release haul_damage --seed "$HAUL_SEED" --part 1/2
    program release haul_damage --seed "$HAUL_SEED" --part 2/2
    program release dropped/haul_dropped
    program release dropped/haul_dropped_libraries
    program release haul_contract host
    program release haul_contract bare
    program release haul_kills
    examples release
    program release fuzz/haul_fuzz all fuzz/corpus
}

sanitized_build() {
    need cmake clang || return
    can_link clang -fsanitize=address,undefined || {
        skip "clang has no sanitizers here"
        return 1
    }
    build sanitized clang \
        "$traced -fsanitize=address,undefined -fno-sanitize-recover=all" \
        -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_BENCHMARKS=OFF \
        -DHAUL_BUILD_TOOL=OFF -DHAUL_CHECKS=ON "$unit_tests"
}

stage_2() {
    sanitized_build || return
    thin_faults 3
    program sanitized haul_attack --sequences 2000 --seed "$HAUL_SEED"
    plain_suites sanitized 1000
    program sanitized haul_random --graphs 300 --seed "$HAUL_SEED" --faults --every 100
    start "sanitized random, 2, 3 and 16 threads" build/sanitized/tests/haul_random --graphs 40 \
        --seed "$HAUL_SEED" --threads 2,3,16
    program sanitized haul_damage --seed "$HAUL_SEED" --every 40
    examples sanitized
    program sanitized fuzz/haul_fuzz all fuzz/corpus
}

# libzstd is not instrumented: what it writes would count as unwritten.
memory_build() { # FLAG...
    local targets=(haul_unit_plain haul_contract haul_random haul_kills)
    need cmake clang || return
    can_link clang -fsanitize=memory || {
        skip "clang has no MemorySanitizer here"
        return 1
    }
    build "memory${1:+-origins}" clang "$traced -fsanitize=memory $*" \
        -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF -DHAUL_ZSTD=OFF "$unit_tests"
}

# To know where a value comes from takes up to 1.6 times as long: only what fails is run again so.
stage_3() {
    memory_build || return
    thin_faults 9
    plain_suites memory 1000
    finish
    if [ "$stage_failed" -gt 0 ] && memory_build -fsanitize-memory-track-origins; then
        plain_suites memory-origins 1000
    fi
}

build_32() {
    need cmake gcc || return
    can_link gcc -m32 || {
        skip "gcc has no 32-bit libraries here"
        return 1
    }
    build 32 gcc -m32 -DCMAKE_BUILD_TYPE=Release -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_BUILD_TOOL=OFF -DHAUL_ACCEPTANCE=OFF \
        -DHAUL_UNIT_OPTIONS=-O1
}

stage_4() {
    build_32 || return
    thin_faults 3
    program 32 haul_damage --seed "$HAUL_SEED" --every 4
    plain_suites 32 2000
    program 32 fuzz/haul_fuzz all fuzz/corpus
}

# doors bounds the stack of every chain of calls (stage 7); here the suites with the deepest run.
stage_5() {
    local suite
    need cmake gcc && release_build || return
    thin_faults 3
    stack_kib=64
    HAUL_DEEP_NODES=10000000 program release haul_unit_plain image_deep/
    program release haul_random --graphs 2000 --seed "$HAUL_SEED"
    for suite in type/ graph/ graph_faults/ ship/ ship_arena/ locked_sources/ ordered/ promises/ \
        audit/ rules/ arena/ ancestors/ rebuild/ image; do
        program release haul_unit_plain "$suite"
    done
    program release haul_contract host
    program release haul_contract bare
    finish
    stack_kib=""
}

# One target for its time, from its corpus, into a scratch folder; what breaks it is kept there.
fuzz() { # NAME SECONDS
    local found=$root/build/fuzz/found/$1 crashes=$root/build/fuzz/crashes/$1 dictionary=()
    mkdir -p "$found" "$crashes"
    [ ! -f "build/fuzz/out/fuzz_$1.dict" ] || dictionary=("-dict=build/fuzz/out/fuzz_$1.dict")
    start "fuzz $1" "build/fuzz/out/fuzz_$1" -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 \
        -print_final_stats=1 -artifact_prefix="$crashes/" "${dictionary[@]}" "$found" \
        "$root/fuzz/corpus/$1"
}

# build_for FOLDER VARIABLE=VALUE...: the fuzz targets, as OSS-Fuzz builds them, in FOLDER/out.
build_for() {
    local generator=()
    [ -f "build/$1/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
    in_turn "$1" step "build build/$1" env WORK="$root/build/$1" OUT="$root/build/$1/out" "${@:2}" \
        fuzz/build.sh "${generator[@]}" -DHAUL_WERROR=ON
}

fuzz_build() {
    need cmake clang || return
    can_link clang -fsanitize=address,undefined || {
        skip "clang has no sanitizers here"
        return 1
    }
    build_for fuzz CC=clang CXX=clang++ LIB_FUZZING_ENGINE=-fsanitize=fuzzer
}

# Without an optimiser, which would take twice as long as all that follows.
afl_build() {
    need cmake afl-clang-fast afl-clang-fast++ afl-fuzz unzip || return
    build_for afl AFL_DONT_OPTIMIZE=1 CC=afl-clang-fast CXX=afl-clang-fast++ CFLAGS=-O0 \
        CXXFLAGS=-O0 LIB_FUZZING_ENGINE=-fsanitize=fuzzer
}

fuzz_builds() {
    fuzz_build
    afl_build
}

stage_6() {
    local name has_afl=0 seconds=${HAUL_FUZZ_SECONDS:-10}
    ! afl_build || has_afl=1
    if fuzz_build; then
        for name in fuzz/fuzz_*.c; do
            name=$(basename -s .c "$name")
            fuzz "${name#fuzz_}" "$seconds"
        done
    fi
    [ "$has_afl" -eq 1 ] || return
    for name in load mutate; do
        start "AFL++ $name" fuzz/afl.sh build/afl/out "$name" "$seconds" build/afl/found
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
    local part fortran=0 offload=""
    need cmake gcc g++ pkg-config && release_build || return
    need gfortran && fortran=1
    [ "$can_install" -eq 0 ] || offload=offload
    for part in installed taken-in documents; do
        start "consumers, $part" bash tests/consumers/check.sh "build/consumers/$part" "$part"
    done
    start "describe" bash tests/describe/check.sh build/release build/describe
    start "tool" bash tests/tool/check.sh build/release build/tool
    start "openmp" bash tests/openmp/check.sh build/release build/openmp "$offload"
    [ "$fortran" -eq 0 ] || start "fortran" bash tests/fortran/check.sh build/release build/fortran
    finish
    for part in installed taken-in documents; do
        tell_skipped "consumers, $part"
    done
    tell_skipped "describe"
    tell_skipped "tool"
    tell_skipped "openmp"
}

stage_9() {
    need cmake gcc && release_build || return
    program release haul_bench --scale 1 --runs 1
}

# The CUDA device: all of it is compiled; what needs a GPU says so where there is none. The rest of
# the library is that of stage 1, so of the unit tests those of devices are enough, and so is -O1,
# which compiles in half the time.
cuda_build() {
    need cmake gcc g++ nm || return
    local -x PATH=$PATH:/usr/local/cuda/bin
    need nvcc || return
    build cuda gcc "" -DCMAKE_BUILD_TYPE=Release -DHAUL_CUDA=ON -DHAUL_CRITERION=OFF \
        -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DHAUL_ACCEPTANCE=OFF \
        -DHAUL_UNIT_FILES="$(unit_files host_device, ship,)"
}

stage_10() {
    cuda_build || return
    attempt "doors" bash tests/doors.sh build/cuda build/doors objects
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
threads_suites="ship arena rules plan thread_pool threads shared_walk block_forms long_nodes ordered
tags short_arrays directions update frees free_orders launches process_state image_pieces
walk_by_aims walk_asides environment"

threads_build() {
    local targets=(haul_unit_plain haul_contract haul_random haul_attack)
    need cmake clang || return
    can_link clang -fsanitize=thread || {
        skip "clang has no ThreadSanitizer here"
        return 1
    }
    # shellcheck disable=SC2086
    build threads clang "$traced -fsanitize=thread -DHAUL_STRESS_THREADS=3" \
        -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF \
        -DHAUL_ACCEPTANCE=OFF -DHAUL_UNIT_FILES="$(unit_files $threads_suites)" "$unit_tests"
}

stage_12() {
    local suite
    threads_build || return
    thin_faults 9
    program threads haul_attack --sequences 600 --seed "$HAUL_SEED"
    for suite in $threads_suites; do
        program threads haul_unit_plain "$suite"
    done
    program threads haul_random --graphs 500 --seed "$HAUL_SEED"
    start "threads random, 2, 3 and 16 threads" build/threads/tests/haul_random --graphs 50 \
        --seed "$HAUL_SEED" --threads 2,3,16
    program threads haul_contract host
}

# ---- Platforms.

# An emulator spends its time on addresses that are reserved, so there are 4 GiB of them: too few
# for a context's table, in whose place there is a hash, and for what an arena asks for at first.
more_targets=()
platform() { # PROCESSOR CMAKE-OPTION...
    local targets=(haul_unit_plain haul_contract haul_random haul_kills "${more_targets[@]}")
    need cmake clang "qemu-$1" || return
    emulator=("qemu-$1" -R 0x100000000 -L "/usr/$1-linux-gnu")
    if can_link clang --target="$1-linux-gnu"; then
        build "$1" clang "-O1 -DHAUL_EMULATED" -DCMAKE_BUILD_TYPE=None -DCMAKE_SYSTEM_NAME=Linux \
            -DCMAKE_SYSTEM_PROCESSOR="$1" \
            -DCMAKE_C_COMPILER_TARGET="$1-linux-gnu" -DHAUL_CRITERION=OFF \
            -DHAUL_BUILD_EXAMPLES=OFF \
            -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF "${@:2}" && return
    else
        skip "clang and binutils cannot link for $1 here, or $1 cannot be emulated"
    fi
    emulator=()
    return 1
}

aarch64_build() {
    platform aarch64
}

# Each suite by itself.
stage_13() {
    local suite suites tests=build/aarch64/tests
    suites=$(grep -ohE '^TEST\([a-z0-9_]+' tests/unit/*.c tests/structures/*.c | sed 's/TEST(//' |
        longest_first)
    aarch64_build || return
    thin_faults 27 # what fails is not the processor's
    start "random" "${emulator[@]}" "$tests/haul_random" --graphs 200 --seed "$HAUL_SEED"
    start "contract" "${emulator[@]}" "$tests/haul_contract" host
    start "kills" "${emulator[@]}" "$tests/haul_kills"
    start "contract, pages of 16 KiB" "${emulator[@]}" -p 16384 "$tests/haul_contract" host
    start "contract, pages of 64 KiB" "${emulator[@]}" -p 65536 "$tests/haul_contract" host
    for suite in $suites; do
        start "$suite" "${emulator[@]}" "$tests/haul_unit_plain" "$suite/"
    done
    finish
    emulator=()
}

# Of the images all but image_saves, which takes as long as the others together.
s390x_suites="image_verdicts/ arena/ arena_blocks/ ship_arena/ ship_marks/ tags/ tags_in_arenas/
directions/ structures_ rules/ process_state/ image/ image_block/ image_claims/ image_deep/
image_device/ image_fills/ image_growth/ image_moving/ image_overlaps/ image_pieces/
image_renames/ image_scan/ image_shared/ image_types/ image_words/ image_zstd/"

s390x_build() {
    local more_targets=(haul_damage)
    # shellcheck disable=SC2086
    platform s390x -DHAUL_UNIT_FILES="$(unit_files ${s390x_suites//\//,})"
}

stage_14() {
    local suite tests=build/s390x/tests
    s390x_build || return
    thin_faults 27
    start "random" "${emulator[@]}" "$tests/haul_random" --graphs 200 --seed "$HAUL_SEED"
    start "contract" "${emulator[@]}" "$tests/haul_contract" host
    start "kills" "${emulator[@]}" "$tests/haul_kills"
    start "damage" "${emulator[@]}" "$tests/haul_damage" --seed "$HAUL_SEED" --every 150
    for suite in $s390x_suites; do
        start "$suite" "${emulator[@]}" "$tests/haul_unit_plain" "$suite"
    done
    finish
    emulator=()
}

musl_build() {
    local targets=(haul_contract haul_random)
    need cmake musl-gcc || return
    can_link musl-gcc || {
        skip "musl-gcc cannot link here"
        return 1
    }
    build musl musl-gcc -O0 -DCMAKE_BUILD_TYPE=None -DHAUL_CRITERION=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_ACCEPTANCE=OFF -DHAUL_ZSTD=OFF
}

stage_15() {
    musl_build || return
    program musl haul_random --graphs 200 --seed "$HAUL_SEED"
    program musl haul_contract host
}

declare -A builds=([1]=release_build [2]=sanitized_build [3]=memory_build [4]=build_32
    [5]=release_build [6]=fuzz_builds [10]=cuda_build [12]=threads_build [13]=aarch64_build
    [14]=s390x_build [15]=musl_build)

declare -A titles=([quick]="gcc, Release: unit, contract, 2000 random graphs, examples")
number=0
for title in "gcc, Release, no warnings: unit, contract, 10000 random graphs, examples" \
    "clang, ASan and UBSan: unit, contract, random graphs, examples" \
    "clang, MemorySanitizer: unit, contract, random graphs" \
    "gcc -m32: unit, contract, random graphs" \
    "64 KiB stack: the suites that go deepest, images, contract, random graphs" \
    "fuzzing: each target, from its corpus, for ${HAUL_FUZZ_SECONDS:-10} s; two with AFL++" \
    "doors: undefined symbols, includes, recursion, stack, state, layout" \
    "consumers: CMake, pkg-config, C and C++; haul, haul-describe; OpenMP; arrays of Fortran" \
    "benchmark, small sizes" \
    "CUDA: everything compiled; contract and tests on the GPU, if there is one" \
    "acceptance: libraries at work on copies, programs on environments; Release, ASan and UBSan" \
    "clang, ThreadSanitizer, three threads a context: what is shared, contract, random graphs" \
    "aarch64 (emulated): unit, contract with pages of 4, 16 and 64 KiB, random graphs" \
    "s390x (emulated, big-endian): contract, random graphs, arenas, bits, images and their damage" \
    "musl: contract, random graphs"; do
    titles[$((++number))]=$title
done

# Seconds of processors.
spent_by() { # STAGE
    cat "$logs/$1-"*.time 2>/dev/null | awk '{ s += $2 + $3 } END { printf "%.0f", s }'
}

run_stage() {
    local begin=$SECONDS result spent
    stage=$1 stage_passed=0 stage_failed=0 stage_skipped=0
    position=$((position + 1))
    echo "$position" >"$running/.position"
    rm -f "$logs/$stage-"*
    unset HAUL_FAULT_STRIDE # thin_faults is for one stage
    say "stage $stage: ${titles[$stage]}"
    "stage_$stage"
    finish
    spent=$(spent_by "$stage")
    result=ok
    [ "$stage_passed" -gt 0 ] || result=SKIPPED
    [ "$stage_failed" -eq 0 ] || result=FAILED
    [ "$stage_skipped" -eq 0 ] || [ "$result" = SKIPPED ] ||
        result="$result, $stage_skipped SKIPPED"
    passed=$((passed + stage_passed))
    failed=$((failed + stage_failed))
    table+=$(printf '%5s %6d s %8d s %7d %7d  %-15s %s' "$stage" $((SECONDS - begin)) "$spent" \
        "$stage_passed" "$stage_failed" \
        "$result" "${titles[$stage]}")$'\n'
}

# All of it is read before any of it runs, so that this file may change meanwhile.
main() {
    local number
    install_packages
    sanitizer_options
    echo "HAUL_SEED=$HAUL_SEED"
    clock &
    clock=$!
    build_ahead &
    ahead=$!
    trap '{ echo "$clock"; with_children "$ahead"; } | xargs kill 2>/dev/null' EXIT
    for number in $stages; do
        if [ -z "${titles[$number]:-}" ]; then
            echo "There is no stage $number."
            exit 2
        fi
        run_stage "$number"
    done

    printf '\n%5s %8s %10s %7s %7s  %-15s %s\n' stage time processors passed failed result ""
    printf '%s' "$table"
    printf '%5s %10s %8d s %7s %7s  %-15s %s\n' ahead "" "$(spent_by ahead)" "" "" "" \
        "builds of later stages, while tests left a processor idle"
    [ "$skipped" -eq 0 ] || echo "$skipped SKIPPED, as said above."
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

{ main; exit; }
