#!/usr/bin/env bash
# Proves every way in which another project takes Haul: check.sh SCRATCH-FOLDER [PART...]
# The parts are "installed", "taken-in" and "documents"; without one, all. Two parts may run at
# once, in folders of their own.
#
# Installed static and shared, moved to another prefix (with a space in it); found by find_package
# and by pkg-config; taken in by FetchContent and by add_subdirectory; each from a C project and
# from a C++ project. No network.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
mkdir -p "$1"
scratch=$(cd "$1" && pwd)
shift
parts=${*:-installed taken-in documents}
# shellcheck source=/dev/null
. "$here/../support/try.sh"

# Builds and installs Haul with the given options, then moves the prefix: nothing may remember where
# it was. -O0 compiles in a third of the time, and nothing here depends on more.
install_haul() { # KIND CMAKE-OPTION...
    local kind=$1 build="$scratch/haul-$1"
    shift
    rm -rf "$scratch/first $kind" "$scratch/moved $kind"
    cmake -S "$source" -B "$build" -DHAUL_BUILD_TESTS=OFF -DHAUL_BUILD_EXAMPLES=OFF \
        -DHAUL_BUILD_BENCHMARKS=OFF -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" \
        -DCMAKE_INSTALL_PREFIX="$scratch/first $kind" "$@" &&
        cmake --build "$build" --parallel "$(nproc)" &&
        cmake --install "$build" &&
        mv "$scratch/first $kind" "$scratch/moved $kind"
}

no_trace_of_the_old_prefix() { # KIND
    ! grep -rlF "$scratch" "$scratch/moved $1" --include='*.cmake' --include='*.pc'
}

cmake_project() { # BUILD-NAME LANGUAGE WAY CMAKE-OPTION...
    local build="$scratch/$1" language=$2 way=$3
    shift 3
    cmake -S "$here" -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DLANGUAGE="$language" \
        -DWAY="$way" \
        -DHAUL_SOURCE="$source" "$@" &&
        cmake --build "$build" --parallel "$(nproc)" &&
        "$build/consumer"
}

no_warning_flags_for_users() { # BUILD-NAME
    ! grep -qE 'Wconversion|Werror' "$scratch/$1/compile_commands.json"
}

# A newer minor version may have changed anything: asking for it must fail.
other_minor_is_refused() {
    mkdir -p "$scratch/other"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.21)' 'project(other LANGUAGES C)' \
        'find_package(haul 0.0 REQUIRED)' >"$scratch/other/CMakeLists.txt"
    ! cmake -S "$scratch/other" -B "$scratch/other/build" \
        -DCMAKE_PREFIX_PATH="$scratch/moved static" &&
        grep -q 'considered but not accepted\|not considered\|no.*compatible\|compatible with' \
        "$scratch/log"
}

cuda_on_is_refused_without_a_compiler() {
    ! cmake -S "$source" -B "$scratch/cuda" -DHAUL_CUDA=ON -DCMAKE_CUDA_COMPILER=NOTFOUND &&
        grep -q 'HAUL_CUDA=ON' "$scratch/log"
}

no_cuda_library_is_needed_at_run_time() {
    ! ldd "$scratch/by-pkg-config" | grep -E 'libcuda|libstdc'
}

pkg_config_project() { # COMPILER SOURCE KIND COMPILER-OPTION...
    # shellcheck disable=SC2034 # used by eval
    local compiler=$1 file=$2 kind=$3 static="" flags
    shift 3
    case $file in /*) ;; *) file=$here/$file ;; esac
    [ "$kind" = shared ] || static=--static
    flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$scratch/moved $kind" -name haul.pc)") \
        pkg-config $static --cflags --libs haul) || return 1
    echo "$flags"
    eval "\"\$compiler\" \"\$@\" \"\$file\" -o \"\$scratch/by-pkg-config\" $flags" || return 1
    LD_LIBRARY_PATH=$(dirname "$(find "$scratch/moved $kind" -name 'libhaul.*' | head -n 1)") \
        "$scratch/by-pkg-config"
}

program_of_the_readme() {
    # shellcheck disable=SC2016 # no command
    sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d' >"$scratch/readme.c"
    pkg_config_project cc "$scratch/readme.c" static -std=c99 -pedantic-errors -Wall -Wextra \
        -Wconversion -Werror &&
        grep -q '^two: 18$' "$scratch/log"
}

# Each block of C in a page of docs/, behind the page's first one.
blocks_of_the_documents_compile() {
    local page block
    for page in "$source"/docs/*.md; do
        rm -rf "$scratch/page" && mkdir "$scratch/page" || return 1
        awk -v to="$scratch/page" '/^```c$/ { n++; inside = 1; next } /^```$/ { inside = 0 }
            inside { print >(to "/" 1000 + n ".c") }' "$page"
        for block in "$scratch/page"/*.c; do
            if [ ! -s "$block" ] || [ "$block" = "$scratch/page/1001.c" ]; then
                continue
            fi
            echo "$page: $block"
            cat "$scratch/page/1001.c" "$block" | cc -std=c99 -pedantic-errors -Wall -Wextra \
                -Wconversion -Werror -Wno-unused -I"$source/include" -fsyntax-only -x c - || return
        done
    done
    [ "$(grep -c '^```c$' "$source/docs/describing.md")" -gt 2 ]
}

the_guide_is_installed() {
    local documents="$scratch/moved static/share/doc/haul"
    [ -s "$documents/LICENSE" ] && [ -s "$documents/docs/describing.md" ]
}

# gdb 13 cannot set the registers of processors whose state is larger than it knows.
gdb_calls_functions() {
    command -v gdb >/dev/null && gdb -q -nx -batch -ex 'python pass' >/dev/null 2>&1 || return 1
    echo 'int main(void) { return 0; }' | cc -g -x c - -o "$scratch/calls" &&
        gdb -q -nx -batch -ex 'break main' -ex run -ex 'print main()' "$scratch/calls" 2>&1 |
        grep -q '^\$1 = 0$'
}

# The installed script, on a program that stops in a kernel of the host device.
gdb_shows_where_pointers_come_from() { # KIND
    local prefix="$scratch/moved $1" line script
    script=$(find "$prefix" -name haul.py | head -n 1)
    [ -n "$script" ] || { echo "haul.py is not installed"; return 1; }
    pkg_config_project cc where.c "$1" -std=c99 -g -O0 -Wall -Werror || return 1
    HAUL_HOST_STRICT=0 gdb -q -nx -batch -ex "source $script" -ex 'break stop_here' -ex run \
        -ex next \
        -ex 'haul where w->there->next->name + 2' -ex 'haul where w->there->next->name, nothing' \
        -ex 'haul where w->block' -ex 'haul where w->elsewhere' -ex 'up 3' \
        -ex 'haul where &second.name, device' -ex kill \
        "$scratch/by-pkg-config" >"$scratch/where" 2>&1
    cat "$scratch/where"
    for line in 'comes from 0x[0-9a-f]*: root\.next\.name\[2\]$' 'No symbol "nothing"' \
        'lies in the arena .arena., ' \
        'belongs to no shipment of 1 device$' ' is root\.next\.name$'; do
        grep -q "$line" "$scratch/where" || { echo "no line has: $line"; return 1; }
    done
}

# HTML and a page for each function, without a warning.
reference_is_made() {
    cmake -S "$source" -B "$scratch/reference" -DHAUL_CUDA=OFF -DHAUL_BUILD_TESTS=OFF \
        -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF &&
        cmake --build "$scratch/reference" --target docs &&
        [ -s "$scratch/reference/reference/html/index.html" ] &&
        [ -s "$scratch/reference/reference/man/man3/haul_update_device.3" ] &&
        ! grep -q 'warning:' "$scratch/log"
}

# The numbers of faults in the tests' names, and the columns of the table of structures.
codes_of_the_tests_are_explained() {
    local code missing=0
    for code in $(grep -ohE '^TEST\([^)]*' "$source"/tests/unit/*.c "$source"/tests/structures/*.c |
        grep -oE '[ _][TGDHC][0-9]+' |
        tr -d ' _' | sort -u) \
        $(sed -nE 's/^\| [^|]* \| ([A-Z ]+) \| .*/\1/p' "$source/tests/structures/README.md" |
            tr ' ' '\n' | sort -u); do
        if ! grep -q "^| $code |" "$source/docs/testing.md"; then
            echo "docs/testing.md does not explain $code"
            missing=1
        fi
    done
    return $missing
}

# Each exported name is in the table of calls and faults, or in the lists behind it.
calls_are_in_the_table() {
    local name missing=0
    for name in $(sed -n 's/^\(haul_[a-z_]*\)@@.*/\1/p' "$source/tests/consumers/abi.txt"); do
        if ! grep -q "\"$name\"" "$source/tests/unit/test_calls.c"; then
            echo "tests/unit/test_calls.c does not have $name"
            missing=1
        fi
    done
    return $missing
}

# A project whose header nobody prepared for Haul: haul-describe of the installed package describes
# it.
described_project() {
    rm -rf "$scratch/stranger"
    cmake -S "$source/tests/describe/stranger" -B "$scratch/stranger" \
        -DCMAKE_PREFIX_PATH="$scratch/moved static" &&
        cmake --build "$scratch/stranger" && "$scratch/stranger/swarm"
}

# FILE COMPILER...: each case of a file, but the first, is refused by the compiler with the sentence
# that stands behind it there.
forbidden_cases_do_not_compile() {
    local file=$1 number sentence
    shift
    "$@" -DCASE=0 -I"$source/include" -fsyntax-only "$file" || return 1
    sed -nE 's|^#(el)?if CASE == ([0-9]+) /\* (.*) \*/$|\2 \3|p' "$file" >"$scratch/cases"
    [ -s "$scratch/cases" ] || return 1
    while read -r number sentence; do
        if "$@" -DCASE="$number" -I"$source/include" -fsyntax-only "$file" 2>"$scratch/said" ||
            ! grep -qF "$sentence" "$scratch/said"; then
            echo "case $number: not refused with: $sentence"
            return 1
        fi
    done <"$scratch/cases"
}

# Each line of forbidden.cpp with a sentence is refused by the compiler, with that sentence.
forbidden_types_do_not_compile() { # COMPILER STANDARD
    local file=$source/tests/cpp/forbidden.cpp number sentence limit=-fmax-errors=0
    case $1 in clang*) limit=-ferror-limit=0 ;; esac
    "$1" "-std=c++$2" -I"$source/include" -fsyntax-only "$file" || return 1
    "$1" "-std=c++$2" -DFORBIDDEN $limit -I"$source/include" -fsyntax-only \
        "$file" 2>"$scratch/said" && return 1
    "$1" "-std=c++$2" -DFORBIDDEN -I"$source/include" -E "$file" |
        grep -E 'describe<|type.create<|ship\(|make<' >"$scratch/lines"
    grep -nE '; +/\* .* \*/$' "$file" |
        sed -E 's|^([0-9]+):.*; +/\* (.*) \*/$|\1 \2|' >"$scratch/cases"
    [ -s "$scratch/cases" ] || return 1
    while read -r number sentence; do
        grep -qF "$(sed -n "${number}s|^ *\(.*;\) */.*|\1|p" "$file")" "$scratch/lines" ||
            continue # of a newer C++
        if ! grep -qF "forbidden.cpp:$number:" "$scratch/said" ||
            ! grep -qF "$sentence" "$scratch/said"; then
            echo "line $number: not refused with: $sentence"
            return 1
        fi
    done <"$scratch/cases"
}

# The headers as clang reads them for a GPU, without CUDA's own headers: as CUDA, with what those
# would declare and without; and as C whose parts OpenMP sends there.
clang_cuda() { # COMPILER-OPTION...
    clang -x cuda --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Wno-unknown-cuda-version -Wall \
        -Werror -fsyntax-only \
        -I"$source/include" "$@"
}

clang_openmp() { # COMPILER-OPTION...
    clang -x c -std=c99 -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target -march=sm_70 \
        -nogpulib \
        -Wno-unknown-cuda-version -Wall -Werror -S -o "$scratch/openmp.s" -I"$source/include" "$@"
}

can_compile_for_a_gpu() {
    command -v clang >/dev/null || return 1
    echo 'int here;' >"$scratch/probe.c"
    clang_cuda --cuda-device-only "$scratch/probe.c" >/dev/null 2>&1 &&
        clang_openmp "$scratch/probe.c" >/dev/null 2>&1
}

headers_compile_for_a_gpu() {
    printf '%s\n' '#define __host__ __attribute__((host))' \
        '#define __device__ __attribute__((device))' \
        >"$scratch/attributes.h"
    printf '%s\n' '#include "attributes.h"' '#define __CUDACC__' \
        '__device__ unsigned long long atomicAdd(unsigned long long *, unsigned long long);' \
        '__device__ unsigned atomicOr(unsigned *, unsigned);' '#include <haul/experimental.h>' \
        '__attribute__((global))' \
        'void kernel(haul_nursery *nursery, const haul_device_layout *stamp)' \
        '{ haul_nursery_new(nursery, stamp); }' >"$scratch/kernel.cu"
    printf '%s\n' '#include "attributes.h"' '#include <haul.h>' >"$scratch/bare.cu"
    printf '%s\n' '#include <haul/experimental.h>' 'void fill(haul_nursery *nursery)' '{' \
        '#pragma omp target' \
        'haul_nursery_allocate(nursery, 8);' '}' >"$scratch/openmp.c"
    clang_cuda --cuda-device-only "$scratch/kernel.cu" &&
        clang_cuda --cuda-host-only "$scratch/kernel.cu" &&
        clang_cuda --cuda-device-only "$scratch/bare.cu" &&
        clang_cuda --cuda-host-only "$scratch/bare.cu" &&
        clang_openmp "$scratch/openmp.c"
}

only_haul_names_are_exported() {
    nm -D --defined-only "$(find "$scratch/moved shared" -name 'libhaul.so')" |
        awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }' >"$scratch/names" &&
        grep -q '^haul_ship_from_sized$' "$scratch/names" &&
        ! grep -vE '^haul_[a-z]' "$scratch/names"
}

# tests/consumers/abi.txt is for 64 bits.
binary_interface_is_as_committed() {
    bash "$here/abi.sh" "$(find "$scratch/moved shared" -name 'libhaul.so')" "$source/include" \
        >"$scratch/abi.txt" || return 1
    diff -u "$here/abi.txt" "$scratch/abi.txt" || {
        echo "If old programs may break, commit what tests/consumers/abi.sh prints, and log it in" \
            "CHANGELOG.md."
        return 1
    }
}

# A machine with a shell and little else, for a user who is not root: $scratch/bare is its PATH.
bare_machine() {
    local tool
    rm -rf "$scratch/bare"
    mkdir -p "$scratch/bare" || return 1
    for tool in bash dirname basename mkdir grep tail; do
        ln -s "$(command -v "$tool")" "$scratch/bare/$tool" || return 1
    done
    printf '#!/bin/sh\necho 1000\n' >"$scratch/bare/id"
    printf '#!/bin/sh\nexit 1\n' >"$scratch/bare/dpkg-query"
    cp "$scratch/bare/dpkg-query" "$scratch/bare/apt-get"
    chmod +x "$scratch/bare"/id "$scratch/bare"/dpkg-query "$scratch/bare"/apt-get
}

demo_says_what_is_missing() {
    local packages="build-essential cmake libxxhash-dev libcjson-dev"
    echo '{}' >"$scratch/document.json"
    bare_machine || return 1
    ! env -i PATH="$scratch/bare" bash "$source/examples/demo.sh" "$scratch/document.json" &&
        grep -qF "Missing packages: $packages" "$scratch/log" &&
        grep -qF "sudo apt-get install $packages" "$scratch/log" &&
        grep -qF 'Missing packages: libassimp-dev libpng-dev glmark2-data' "$scratch/log" &&
        grep -qF 'Missing tools: cmake make cc.' "$scratch/log"
}

installed() {
    try "install, static" install_haul static
    try "install, shared" install_haul shared -DBUILD_SHARED_LIBS=ON
    try "the shared library exports haul_ names only" only_haul_names_are_exported
    if command -v pahole >/dev/null && [ "$(getconf LONG_BIT)" = 64 ]; then
        try "exported names and struct layouts are those of abi.txt" \
            binary_interface_is_as_committed
    else
        echo "SKIPPED exported names and struct layouts: no pahole, or a machine of 32 bits"
    fi
    for kind in static shared; do
        try "installed files do not name their prefix, $kind" no_trace_of_the_old_prefix $kind
        rm -rf "${scratch:?}/package-$kind"-*
        for language in C CXX; do
            try "find_package, $kind, $language" cmake_project "package-$kind-$language" $language \
                package \
                -DCMAKE_PREFIX_PATH="$scratch/moved $kind"
        done
        try "pkg-config, $kind, C" pkg_config_project cc consumer.c $kind -std=c99 \
            -pedantic-errors -Wall -Werror
        try "pkg-config, $kind, C++" pkg_config_project c++ consumer.cpp $kind -std=c++11 \
            -pedantic-errors -Wall -Werror
    done
    try "pkg-config, static, C++ without exceptions" pkg_config_project c++ consumer.cpp static \
        -std=c++11 \
        -fno-exceptions -fno-rtti -Wall -Werror
    for standard in 14 17 20; do
        try "C++ containers, C++$standard" pkg_config_project c++ \
            "$source/tests/cpp/containers.cpp" static \
            -std=c++$standard -pedantic-errors -Wall -Wextra -Werror
    done
    try "C++ containers, without exceptions" pkg_config_project c++ \
        "$source/tests/cpp/containers.cpp" static -std=c++17 \
        -fno-exceptions -fno-rtti -Wall -Werror
    for layout in -O1 -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0; do
        try "C++ containers of other layouts are refused, $layout" pkg_config_project c++ \
            "$source/tests/cpp/refused.cpp" static -std=c++14 $layout -pedantic-errors -Wall \
            -Wextra -Werror
    done
    try "fields that do not fit their forms do not compile, C11" forbidden_cases_do_not_compile \
        "$source/tests/consumers/forbidden.c" cc -std=c11
    try "fields that do not fit their forms do not compile, C++" forbidden_cases_do_not_compile \
        "$source/tests/consumers/forbidden.c" c++ -std=c++11 -x c++
    try "classes with virtual functions have no tables, C++" forbidden_cases_do_not_compile \
        "$source/tests/cpp/forbidden_tables.cpp" c++ -std=c++11
    for standard in 11 14 20; do
        try "C++ types that cannot travel do not compile, C++$standard" \
            forbidden_types_do_not_compile c++ $standard
    done
    for standard in 14 20; do
        try "C++ containers of nodes and choices, C++$standard" pkg_config_project c++ \
            "$source/tests/cpp/nodes.cpp" \
            static -std=c++$standard -pedantic-errors -Wall -Wextra -Wconversion -Wshadow -Werror
    done
    if command -v clang++ >/dev/null; then
        for standard in 11 17; do
            try "C++ types that cannot travel do not compile, clang++, C++$standard" \
                forbidden_types_do_not_compile clang++ $standard
        done
    else
        echo "SKIPPED C++ types that cannot travel do not compile, clang++: clang++ is not here"
    fi
    if echo '#include <map>' | clang++ -stdlib=libc++ -fsyntax-only -x c++ - 2>/dev/null; then
        for file in containers nodes; do
            try "C++ with libc++: $file" pkg_config_project clang++ "$source/tests/cpp/$file.cpp" \
                static \
                -stdlib=libc++ -std=c++17 -pedantic-errors -Wall -Wextra -Werror
        done
    else
        echo "SKIPPED C++ with libc++: it is not here, or clang++"
    fi
    for file in words_in_arena chain_in_simulation; do
        try "example in C++17: $file" pkg_config_project c++ "$source/examples/$file.cpp" static \
            -std=c++17 -pedantic-errors -Wall -Wextra -Werror
    done
    try "the program of README.md" program_of_the_readme
    if gdb_calls_functions; then
        try "gdb shows where pointers come from" gdb_shows_where_pointers_come_from static
    else
        echo "SKIPPED gdb shows where pointers come from: gdb is not here, or cannot call functions"
    fi
    try "it needs no CUDA library to run" no_cuda_library_is_needed_at_run_time
    try "find_package refuses another minor version" other_minor_is_refused
    try "the guide and the licence are installed" the_guide_is_installed
    if "$(sed -n '1s/^#!//p' "$scratch/moved static/bin/haul-describe" | sed 's/.* //')" \
        -c 'import clang.cindex'; then
        try "find_package, a description by haul-describe" described_project
    else
        echo "SKIPPED a description by haul-describe: no Python with clang.cindex" \
            "(Debian: python3-clang)"
    fi
}

taken_in() {
    # The library takes most of the time: it is built once for both languages.
    for way in fetch subdirectory; do
        rm -rf "${scratch:?}/$way"
        for language in CXX C; do
            try "$way, $language" cmake_project $way $language $way
        done
        try "$way puts no warning flags on users" no_warning_flags_for_users $way
    done
    try "HAUL_CUDA=ON without a compiler is refused with a sentence" \
        cuda_on_is_refused_without_a_compiler
}

documents() {
    try "the code of docs/" blocks_of_the_documents_compile
    try "the codes of the tests in docs/testing.md" codes_of_the_tests_are_explained
    try "each exported function is in the table of calls and faults" calls_are_in_the_table
    if command -v doxygen >/dev/null; then
        try "the reference is made without warnings" reference_is_made
    else
        echo "SKIPPED the reference is made without warnings: doxygen is not here"
    fi
    if can_compile_for_a_gpu; then
        try "clang reads the headers for a GPU" headers_compile_for_a_gpu
    else
        echo "SKIPPED clang reads the headers for a GPU: no clang, or one that cannot"
    fi
    try "the demo names what is missing where it cannot install it" demo_says_what_is_missing
}

for part in $parts; do
    "${part//-/_}"
done
rm -f "$scratch/log"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
