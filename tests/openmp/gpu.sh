#!/usr/bin/env bash
# Plain pragmas on a GPU, compiled by gcc, whose run time is libgomp.
#
#   tests/openmp/gpu.sh make BUILD-FOLDER FOLDER   programs, and gcc's run time beside them
#   tests/openmp/gpu.sh run FOLDER                 on the machine with the GPU
#   tests/openmp/gpu.sh figures FOLDER CSV         there, too: figures of environments (figures.c)
#
# The first needs a build of Haul with the CUDA device and gcc with offload to nvptx (Debian:
# gcc-12-offload-nvptx, libgomp-plugin-nvptx1); the second needs neither. The machine's code is that
# of sm_80, the newest that this gcc knows; the driver translates it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)

compile() { # MODEL NAME SOURCE-OR-OPTION...
    gcc "-f$1" -no-pie -foffload=nvptx-none -foffload-options=nvptx-none=-misa=sm_80 -O2 \
        -I"$source/include" "${@:3}" "${libraries[@]}" -o "$folder/$2" || exit 1
}

make_all() { # BUILD-FOLDER FOLDER
    local build cudart example name
    build=$(cd "$1" && pwd) && mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit 1
    cudart=$(sed -n 's/^CUDA_cudart_static_LIBRARY:FILEPATH=//p' "$build/CMakeCache.txt")
    [ -f "$cudart" ] || { echo "$build has no CUDA device" && exit 1; }
    libraries=("$build/libhaul.a" "$cudart" -lpthread -ldl -lrt -lm)
    compile openmp resident "$here/resident.c"
    compile openmp costs "$here"/{costs,associations}.c
    # shellcheck source=tests/openmp/figures.sh disable=SC2154
    . "$here/figures.sh"
    compile openmp figures -DFIGURES_OPENACC -DFIGURES_CUDA -I"$(dirname "$cudart")/../include" \
        "${figures[@]}"
    compile openacc acc "$here/acc.c"
    for example in list tree; do
        compile openmp "$example-openmp" "$source/examples/${example}_with_pragmas.c"
        compile openacc "$example-openacc" "$source/examples/${example}_with_pragmas.c"
    done
    for name in libgomp.so.1 libgomp-plugin-nvptx.so.1; do
        cp -L "$(gcc -print-file-name="$name")" "$folder/" || exit 1
    done
}

run_all() { # FOLDER
    local way name
    folder=$(cd "$1" && pwd) || exit 1
    scratch=$(mktemp -d) || exit 1
    trap 'rm -r "$scratch"' EXIT
    # shellcheck source=/dev/null
    . "$source/tests/support/try.sh"
    export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for way in gpu gpu-last gpu-thread; do
        try "regions find environments, shipments and arenas: $way" "$folder/resident" "$way"
    done
    try "OpenACC finds environments, shipments and arenas, and refuses parts" "$folder/acc" gpu
    for name in list-openmp tree-openmp list-openacc tree-openacc; do
        try "$name runs on the GPU" "$folder/$name"
    done
    try "associations are measured" "$folder/costs" gpu 100000
    try "environments are measured beside the run time" "$folder/figures" gpu 1 10 10000
    cat "$scratch/log"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

measure() { # FOLDER CSV
    LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$1/figures" gpu >"$2"
}

case ${1:-} in
make) make_all "$2" "$3" ;;
run) run_all "$2" ;;
figures) measure "$2" "$3" ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
