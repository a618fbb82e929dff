#!/usr/bin/env bash
# What there is to run on a machine with a GPU. Needs cmake, a C and C++ compiler, nvcc and xxhash.h
# (CMAKE_INCLUDE_PATH=FOLDER in the environment says where, if it is in no usual place);
# compute-sanitizer for the last steps. Takes a few minutes.
#
#   tests/gpu.sh                          all steps
#   tests/gpu.sh build contract tests     some of them
#   tests/gpu.sh --list                   their names
#   HAUL_GPU_BUILD=DIR tests/gpu.sh    where programs and logs go; otherwise build/gpu
#   HAUL_GPU_ARCH=90 tests/gpu.sh         code for this architecture; otherwise for the GPU's own
#   HAUL_GPU_OPENMP=DIR tests/gpu.sh      programs with pragmas that tests/openmp/gpu.sh has made
#
# Ends with a table of the steps. Exit code 1 when one failed. On a machine without a GPU, the steps
# that need one say so.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${HAUL_GPU_BUILD:-build/gpu}
all="configure build contract tests unit examples openmp memcheck racecheck initcheck synccheck"
jobs=$(nproc 2>/dev/null || echo 2)
export HAUL_SEED=${HAUL_SEED:-$(date +%s)}
export PATH=$PATH:/usr/local/cuda/bin

if [ "${1:-}" = --list ]; then
    echo "$all"
    exit 0
fi
steps=${*:-$all}
mkdir -p "$build/logs"
build=$(cd "$build" && pwd)
logs=$build/logs
table=$logs/table scratch=$build/scratch
mkdir -p "$scratch"
: >"$table"

# ---- Running and noting. A program that exits with 77 found nothing to run on.

note() { # STEP NAME RESULT SECONDS
    printf '%-10s %-44s %5s s  %s\n' "$1" "$2" "$4" "$3" >>"$table"
}

# attempt STEP NAME COMMAND...: output goes to a log; the end of it is shown when the command fails.
attempt() {
    local step=$1 name=$2 begin=$SECONDS code result log
    shift 2
    log="$logs/$step-${name//[^a-zA-Z0-9]/-}.log"
    timeout --kill-after=10 "${HAUL_GPU_SECONDS:-300}" "$@" >"$log" 2>&1 </dev/null
    code=$?
    result=$(grep -E '^[0-9]+ (passed|SKIPPED)' "$log" | tail -n 2 | tr '\n' ' ')
    case $code in
    0) result="ok ${result}" ;;
    77) result="SKIPPED: $(tail -n 1 "$log" | sed "s/^skipped: //")" ;;
    *) result="FAILED (exit $code) ${result}" ;;
    esac
    note "$step" "$name" "$result" $((SECONDS - begin))
    echo "$step: $name: $result"
    [ $code -eq 0 ] || [ $code -eq 77 ] ||
        grep -vE '\.\.\. ok$|^\[[0-9]+/' "$log" | tail -n 40 | sed 's/^/    /'
    return $code
}

program() { # PATH...: the first that is there
    local file
    for file in "$@"; do
        [ -x "$build/$file" ] && echo "$build/$file" && return 0
    done
    echo "$build/$1"
}

# ---- What is run, under a sanitizer or not: each gets a command to put before its program.

gpus() {
    local count
    count=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU')
    echo "${count:-0}"
}

run_contract() { # STEP PREFIX...
    local step=$1 number count
    shift
    attempt "$step" "contract cuda" "$@" "$(program tests/haul_contract)" cuda
    [ "$step" = contract ] || return 0
    attempt "$step" "contract cuda_plain" "$@" "$(program tests/haul_contract)" cuda_plain
    attempt "$step" "contract cuda_patient" "$@" "$(program tests/haul_contract)" cuda_patient
    count=$(gpus)
    for ((number = 1; number < count && number < 2; number++)); do
        attempt "$step" "contract cuda $number" "$@" "$(program tests/haul_contract)" cuda "$number"
    done
}

run_examples() { # STEP PREFIX...
    local step=$1 file name document=/usr/share/iso-codes/json/iso_639-3.json \
        mesh=/usr/share/glmark2/models/bunny.obj
    shift
    for file in "$build"/examples/*; do
        { [ -x "$file" ] && [ -f "$file" ]; } || continue
        name=$(basename "$file")
        case $name in
        json_on_device | json_in_arena | json_mirrored)
            if [ -f "$document" ]; then
                attempt "$step" "$name" "$@" "$file" "$document"
            else
                note "$step" "$name" "SKIPPED: no $document" 0
            fi
            ;;
        bvh_picture)
            if [ -f "$mesh" ]; then
                attempt "$step" "$name" "$@" "$file" "$mesh" "$scratch/bvh.png" 160 2
            else
                note "$step" "$name" "SKIPPED: no $mesh" 0
            fi
            ;;
        nbody_tree) attempt "$step" "$name" "$@" "$file" 2000 ;;
        # no GPU at work
        list | tree_with_parents | shared_and_cyclic_graph | structs_with_arrays | \
            matrix_views | audit_a_description | draw_a_graph | chain_in_simulation | \
            resident_list | profile_of_uses)
            [ "$step" != examples ] || attempt "$step" "$name" "$@" "$file"
            ;;
        *.*) ;;
        *) attempt "$step" "$name" "$@" "$file" ;;
        esac
    done
    return 0
}

# The cases provoke errors of the API on purpose; what the tools look for is in the kernels and in
# memory.
run_sanitizer() { # TOOL OPTION...
    local tool=$1
    if ! command -v compute-sanitizer >/dev/null; then
        note "$tool" "" "SKIPPED: no compute-sanitizer" 0
        return 0
    fi
    local prefix=(compute-sanitizer --tool "$@" --error-exitcode 9 --target-processes all)
    run_contract "$tool" "${prefix[@]}"
    run_examples "$tool" "${prefix[@]}"
}

# ---- The steps.

step_configure() {
    local generator=() architecture=${HAUL_GPU_ARCH:-}
    if [ -z "$architecture" ]; then
        architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
            head -n 1 | tr -d '. ')
        [[ $architecture =~ ^[0-9]+$ ]] || architecture="all-major"
    fi
    if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    attempt configure "for architecture $architecture" cmake -S . -B "$build" "${generator[@]}" \
        -DHAUL_CUDA=ON \
        -DCMAKE_BUILD_TYPE=Release -DHAUL_WERROR=ON -DHAUL_CRITERION=OFF \
        -DCMAKE_CUDA_ARCHITECTURES="$architecture"
}

step_build() {
    attempt build "everything" cmake --build "$build" --parallel "$jobs"
}

step_contract() {
    attempt contract "contract host" "$(program tests/haul_contract)" host
    run_contract contract
}

step_tests() {
    attempt tests "haul_cuda_tests" "$(program tests/haul_cuda_tests)"
}

step_unit() {
    attempt unit "haul_unit_plain" "$(program tests/haul_unit_plain)"
    attempt unit "haul_random" "$(program tests/haul_random)" --graphs 1000 --seed "$HAUL_SEED"
    attempt unit "haul_random, 2, 3 and 16 threads" "$(program tests/haul_random)" --graphs 200 \
        --seed "$HAUL_SEED" --threads 2,3,16
}

step_examples() {
    run_examples examples
}

step_openmp() {
    if [ -z "${HAUL_GPU_OPENMP:-}" ]; then
        note openmp "" "SKIPPED: no folder of tests/openmp/gpu.sh in HAUL_GPU_OPENMP" 0
        return 0
    fi
    attempt openmp "plain pragmas" tests/openmp/gpu.sh run "$HAUL_GPU_OPENMP"
}

step_memcheck() {
    run_sanitizer memcheck --leak-check full --report-api-errors no --track-stream-ordered-races all
}

step_racecheck() {
    run_sanitizer racecheck
}

step_initcheck() {
    run_sanitizer initcheck
}

step_synccheck() {
    run_sanitizer synccheck
}

begin=$SECONDS
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null ||
    echo "no nvidia-smi"
echo "HAUL_SEED=$HAUL_SEED"
for step in $steps; do
    case " $all " in
    *" $step "*) ;;
    *)
        echo "There is no step $step; there are: $all"
        exit 2
        ;;
    esac
    case $step in
    configure | build) "step_$step" || break ;;
    *check) "step_$step" & ;; # slow, and in nobody's way
    *) "step_$step" ;;
    esac
done
wait

printf '\n%-10s %-44s %7s  %s\n' step what time result
cat "$table"
echo "$((SECONDS - begin)) s in all"
! grep -qE ' s  FAILED' "$table"
