#!/usr/bin/env bash
# Proves that plain pragmas find what Haul keeps on the device:
#
#   check.sh BUILD-FOLDER SCRATCH-FOLDER [offload]
#
# "offload": clang without an offload run time is a failure; else its part is skipped.
#
# clang compiles regions for this machine as a device of its own, with a table and a memory of its
# own: association works without a GPU. gcc's run time finds no device here: the calls must say so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
# shellcheck source=/dev/null
. "$source/tests/support/try.sh"

# A build with CUDA's run time needs it here, too.
libraries=("$build/libhaul.a" -lpthread -ldl -lrt -lm)
cudart=$(sed -n 's/^CUDA_cudart_static_LIBRARY:FILEPATH=//p' "$build/CMakeCache.txt")
[ -z "$cudart" ] || [ ! -f "$cudart" ] || libraries+=("$cudart" -lpthread -ldl -lrt)
warnings=(-O1 -Wall -Wextra -Werror -I"$source/include")

# shellcheck source=/dev/null
. "$here/figures.sh"
lulesh=("$source"/tests/acceptance/{lulesh,accept,heap}.c)
offload=(clang -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu)
run_times=$(dirname "$(clang -print-file-name=libomptarget.so 2>/dev/null)")

with_clang() { # PROGRAM [ARGUMENT...]
    LD_LIBRARY_PATH="$run_times${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$scratch/$1" "${@:2}"
}

# A region that follows a host pointer must fault, or the other checks would prove nothing.
dies_untold() {
    (with_clang resident untold) 2>/dev/null
    [ $? -ge 128 ]
}

# measures COMMAND...: a figure of each section, and of the run time's beside it.
measures() {
    local csv phase
    csv=$("$@" host 1 1 1000 2>/dev/null) || return 1
    for phase in look_up,run_time_random_ns enter_and_exit,run_time_block_ns \
        half_present,run_time_blocks_us member,run_time_to_us_each object,run_time_from_us \
        sync,times_refresh callers,run_time_enter_and_exit_ns association,haul_times_own; do
        grep -q "^environment,$phase," <<<"$csv" || return 1
    done
}

does_not_pass_on_the_host() {
    (export OMP_TARGET_OFFLOAD=DISABLED && ! with_clang resident)
}

if [ -f "$run_times/libomptarget.so" ]; then
    try "resident.c compiles for a device" "${offload[@]}" "${warnings[@]}" "$here/resident.c" \
        "${libraries[@]}" -o "$scratch/resident"
    try "regions find environments, shipments and arenas by host pointers" with_clang resident
    try "without association the same region faults" dies_untold
    try "without a device the program fails" does_not_pass_on_the_host
    try "the loops of lulesh.c compile for a device" "${offload[@]}" "${warnings[@]}" \
        "${lulesh[@]}" "${libraries[@]}" -o "$scratch/lulesh"
    try "they run there by the host's pointers, with the host's results" with_clang lulesh
    for example in list tree; do
        try "examples/${example}_with_pragmas.c compiles for a device" "${offload[@]}" \
            -DPRAGMAS_ON_HOST "${warnings[@]}" "$source/examples/${example}_with_pragmas.c" \
            "${libraries[@]}" -o "$scratch/$example"
        try "its region runs there" with_clang "$example"
    done
    try "costs.c compiles for a device" "${offload[@]}" "${warnings[@]}" \
        "$here"/{costs,associations}.c "${libraries[@]}" -o "$scratch/costs"
    try "it measures associations" with_clang costs host 1000
    try "figures.c compiles for a device" "${offload[@]}" "${warnings[@]}" "${figures[@]}" \
        "${libraries[@]}" -o "$scratch/figures"
    try "it measures environments beside the run time" measures with_clang figures
elif [ "${3:-}" = offload ] && command -v clang >/dev/null; then
    try "clang has an offload run time here (Debian: libomp-dev)" false
else
    echo "SKIPPED clang has no offload run time here (Debian: libomp-dev)"
fi

try "resident.c compiles with gcc" gcc -fopenmp -foffload=disable "${warnings[@]}" \
    "$here/resident.c" "${libraries[@]}" -o "$scratch/resident-gcc"
try "libgomp without a device is refused" "$scratch/resident-gcc" hostless
try "haul/openmp.h compiles as C++" g++ -fopenmp -foffload=disable "${warnings[@]}" -fsyntax-only \
    -x c++ "$source/include/haul/openmp.h"
try "haul/openacc.h compiles as C++" g++ -fopenacc -foffload=disable "${warnings[@]}" \
    -fsyntax-only -x c++ "$source/include/haul/openacc.h"
try "acc.c compiles with gcc" gcc -fopenacc -foffload=disable "${warnings[@]}" \
    "$here/acc.c" "${libraries[@]}" -o "$scratch/acc"
try "OpenACC without a device is refused; a played one finds what is mapped" "$scratch/acc"

try "figures.c compiles with gcc" gcc -fopenmp -foffload=disable -DFIGURES_OPENACC \
    "${warnings[@]}" "${figures[@]}" "${libraries[@]}" -o "$scratch/figures-gcc"

# Without a GPU it says so; on the host device it leaves out the run time, and says that, too.
says_what_is_missing() {
    "$scratch/figures-gcc" gpu
    [ $? -eq 77 ] && "$scratch/figures-gcc" host 1 1 2>/dev/null | grep '^# SKIPPED'
}
try "figures.c says what is missing" says_what_is_missing

# skips MODEL EXAMPLE: an example says that it has no device.
skips() {
    "$scratch/$2-$1"
    [ $? -eq 77 ]
}

for model in openmp openacc; do
    for example in list tree; do
        try "examples/${example}_with_pragmas.c compiles with gcc -f$model" gcc "-f$model" \
            -foffload=disable "${warnings[@]}" "$source/examples/${example}_with_pragmas.c" \
            "${libraries[@]}" -o "$scratch/$example-$model"
        try "without a device it says so" skips "$model" "$example"
    done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
