#!/usr/bin/env bash
# haul-describe at work: check.sh BUILD-FOLDER SCRATCH-FOLDER
# BUILD-FOLDER holds a static library by gcc.
set -u
mkdir -p "$2"
build=$(cd "$1" && pwd)
scratch=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.." || exit 1
here=tests/describe theirs=tests/acceptance
# Debian's modules are those of its own interpreter.
for python in ${HAUL_PYTHON:-} /usr/bin/python3 python3 none; do
    "$python" -c 'import clang.cindex, elftools' 2>/dev/null && break
done
if [ "$python" = none ]; then
    echo "no Python with clang.cindex and elftools is here" \
        "(Debian: python3-clang python3-pyelftools)"
    exit 77
fi

# shellcheck source=/dev/null
. tests/support/try.sh

tool() {
    "$python" tools/describe "$@"
}

compile() { # PROGRAM SOURCE-OR-OPTION...
    gcc -std=c99 -Wall -Wextra -Wconversion -Werror -O1 -g -Iinclude -Itests -I$here -I$theirs \
        -I"$scratch" \
        -isystem /usr/include/suitesparse -o "$scratch/$1" "${@:2}" $here/same.c \
        "$build/libhaul.a" -lpthread -lm
}

# ---- Headers and answers to rows.

forms() {
    tool $here/forms.h --type forms -a $here/forms.answers -Iinclude -o "$scratch/forms_haul.c" &&
        compile forms -std=c11 $here/forms.c "$scratch/forms_haul.c" && "$scratch/forms" &&
        g++ -x c++ -std=c++11 -Wall -Wextra -Werror -Iinclude -I$here -I"$scratch" -fsyntax-only \
        "$scratch/forms_haul.c"
}

# What it writes, apart from the folders in it: to be read by people.
rows_are_as_committed() {
    diff -u $here/forms.expected <(grep -vE '^ *#include|^/\*' "$scratch/forms_haul.c")
}

# One emitter, two readers: from debug information come the rows that come from the header.
by_debug_information() { # NAME HEADER TYPES...
    local name=$1 header=$2
    mkdir -p "$scratch/dwarf"
    echo "#include $header" | gcc -g -fno-eliminate-unused-debug-types -isystem \
        /usr/include/suitesparse -x c -c - \
        -o "$scratch/$name.o" &&
        tool "$scratch/$name.o" "${@:3}" --include "$header" -a "$here/$name.answers" \
            -o "$scratch/dwarf/${name}_haul.c" &&
        diff <(sed 1d "$scratch/${name}_haul.c") <(sed 1d "$scratch/dwarf/${name}_haul.c")
}

cjson() {
    tool '<cjson/cJSON.h>' --type cJSON -a $here/cjson.answers -o "$scratch/cjson_haul.c" &&
        by_debug_information cjson '<cjson/cJSON.h>' --type cJSON &&
        compile same_cjson $here/same_cjson.c "$scratch/cjson_haul.c" $theirs/cjson_node.c \
        -lcjson &&
        "$scratch/same_cjson"
}

yaml() {
    tool '<yaml.h>' --type yaml_document_t -a $here/yaml.answers -o "$scratch/yaml_haul.c" &&
        by_debug_information yaml '<yaml.h>' --type yaml_document_t &&
        compile same_yaml $here/same_yaml.c "$scratch/yaml_haul.c" $theirs/yaml_document.c \
        $theirs/heap.c -lyaml &&
        "$scratch/same_yaml"
}

cholmod() {
    local types=(--type cholmod_sparse --type cholmod_dense --type cholmod_triplet --type \
        cholmod_factor)
    tool '<cholmod.h>' -I/usr/include/suitesparse "${types[@]}" -a $here/cholmod.answers \
        -o "$scratch/cholmod_haul.c" && by_debug_information cholmod '<cholmod.h>' "${types[@]}" &&
        compile same_cholmod $here/same_cholmod.c "$scratch/cholmod_haul.c" \
        $theirs/cholmod_types.c $theirs/sparse.c &&
        "$scratch/same_cholmod"
}

csparse() { # MACRO...
    tool $theirs/csparse_solver.h -Iinclude -I$theirs -I/usr/include/suitesparse --type solver \
        "$@" \
        -a $here/csparse.answers -o "$scratch/csparse_haul.c" &&
        compile same_csparse "$@" $here/same_csparse.c "$scratch/csparse_haul.c" &&
        "$scratch/same_csparse"
}

cells() {
    local standard
    tool $here/cells.hpp --type sim::cell --type sim::field -a $here/cells.answers \
        -o "$scratch/cells_haul.cpp" || return
    for standard in 11 20; do
        g++ -std=c++$standard -Wall -Wextra -Werror -Iinclude -I$here -fsyntax-only \
            "$scratch/cells_haul.cpp" || return
    done
    for standard in polar virtuals reference; do
        ! tool $here/cells.hpp --type sim::$standard >"$scratch/said" 2>&1 &&
            grep -q 'cannot be described: it has' "$scratch/said" || return
    done
}

# The type is declared in no header: the output declares it.
without_a_header() {
    printf '#include "swarm.h"\nswarm s;\n' | gcc -g -I$here/stranger -x c -c - \
        -o "$scratch/stranger.o" &&
        tool "$scratch/stranger.o" --type swarm -a $here/stranger/swarm.answers \
        -o "$scratch/swarm_haul.c" &&
        sed 's/"swarm_haul.h"/<swarm_haul.h>/' $here/stranger/main.c >"$scratch/swarm.c" &&
        compile swarm "$scratch/swarm.c" "$scratch/swarm_haul.c" && "$scratch/swarm"
}

library() { # HEADER FUNCTION ARGUMENT...
    if [ -f "/usr/include/$1" ]; then
        try "as written by hand: ${*:2}" "${@:2}"
    else
        echo "SKIPPED ${*:2}: /usr/include/$1 is not here"
    fi
}

# ---- It does not guess: each question names the file, the line and what could be meant.

asks() {
    tool $here/stranger/swarm.h --type swarm -o "$scratch/asked.c" >"$scratch/asked" 2>&1
    [ $? -eq 1 ] && [ ! -e "$scratch/asked.c" ] &&
        grep -q 'swarm.h:12: swarm.mass (double \*): How many does it lead to?' "$scratch/asked" &&
        grep -q '^    swarm.mass = count n$' "$scratch/asked" &&
        grep -q '^    swarm.name = string$' "$scratch/asked"
}

# A pointer to a struct is one object, unless an integer beside it is named after it.
asks_about_arrays() {
    local name
    for name in npins n_pins num_of_pins pin_count pins_length; do
        printf 'struct pin { int a; };\nstruct cell { struct pin *pins; short %s, spin; };\n' \
            $name \
            >"$scratch/cell.h"
        ! tool "$scratch/cell.h" --type 'struct cell' >"$scratch/asked" 2>&1 &&
            grep -q "^    struct cell.pins = count $name\$" "$scratch/asked" || return 1
    done
    sed -i 's/pins_length/napkins/' "$scratch/cell.h" &&
        tool "$scratch/cell.h" --type 'struct cell' | grep -q 'cell, pins, HAUL_ONE)'
}

# refuses WORDS ANSWER...: with these answers it stops, and says so.
refuses() {
    printf '%s\n' "${@:2}" >"$scratch/wrong.answers"
    ! tool $here/stranger/swarm.h --type swarm -a $here/stranger/swarm.answers \
        -a "$scratch/wrong.answers" \
        >"$scratch/said" 2>&1 && grep -qF "$1" "$scratch/said" &&
        grep -qE 'wrong.answers:[0-9]+: ' "$scratch/said"
}

types_that_are_not_there_are_refused() {
    ! tool $here/forms.h -Iinclude --type nothing >"$scratch/said" 2>&1 &&
        grep -qF "there is no complete type 'nothing'" "$scratch/said" &&
        ! tool $here/forms.h -Iinclude --type 'struct owner' >"$scratch/said" 2>&1 &&
        grep -qF "there is no complete type 'struct owner'" "$scratch/said"
}

broken_headers_are_refused() {
    printf 'struct a { unknown b; double *c; };\n' >"$scratch/broken.h"
    ! tool "$scratch/broken.h" --type 'struct a' >"$scratch/said" 2>&1 &&
        grep -qE "broken.h:1: unknown type name 'unknown'" "$scratch/said"
}

try "every form is described, and the library takes it" forms
try "the rows are those of forms.expected" rows_are_as_committed
library cjson/cJSON.h cjson
library yaml.h yaml
library suitesparse/cholmod.h cholmod
library suitesparse/cs.h csparse
library suitesparse/cs.h csparse -DCS_LONG
library suitesparse/cs.h csparse -DCS_COMPLEX
library suitesparse/cs.h csparse -DCS_LONG -DCS_COMPLEX
try "C++: templates, enumerations, and what cannot be described" cells
try "a type of a program without its header" without_a_header
try "what is undecided is asked, with candidates" asks
try "a pointer with an integer named after it may lead to an array" asks_about_arrays
try "an answer for no field is refused" refuses 'no field that is reached' 'swarm.weight = count n'
try "a count over no field is refused" refuses "'m'" 'swarm.mass = until m'
try "a word that is no answer is refused" refuses "no word of an answer" 'swarm.next = perhaps'
try "types that are not there are refused" types_that_are_not_there_are_refused
try "headers with faults are refused" broken_headers_are_refused

# ---- Descriptions against debug information.

descriptions_are_right() { # PROGRAM...
    tool --check "$@"
}

examples_are_right() {
    local name
    for name in list structs_with_arrays shared_and_cyclic_graph tree_with_parents tree_in_arena; do
        gcc -std=c99 -g -shared -fPIC -Iinclude "examples/$name.c" -o "$scratch/$name.so" &&
            tool --check "$scratch/$name.so" || return
    done
}

# A program whose description lacks the row of `next` and has the wrong count for `mass`.
a_wrong_description_is_found() {
    cat >"$scratch/wrong.c" <<'C'
#include <haul.h>
#include "swarm.h"
static haul_type *swarm_type;
static const haul_field swarm_fields[] = {
    HAUL_ARRAY(swarm, particles, HAUL_COUNT(swarm, n)),
    { .name = "mass", .kind = HAUL_FIELD_POINTER, .offset = offsetof(swarm, mass),
      .bytes = sizeof(double *), .element_bytes = 4, .count = HAUL_COUNT(swarm, n) },
    HAUL_STRING(swarm, name),
};
static const haul_struct structs[] = { HAUL_STRUCT(swarm, &swarm_type, swarm_fields) };
int main(void)
{
    swarm s = { 0, NULL, NULL, NULL, NULL };
    return HAUL_DESCRIBE(NULL, structs) == HAUL_OK && s.n;
}
C
    compile wrong -I$here/stranger "$scratch/wrong.c" || return 1
    tool --check "$scratch/wrong" >"$scratch/said" 2>&1
    [ $? -eq 1 ] && cat "$scratch/said" &&
        grep -qE 'wrong.c:4: swarm.next: no field describes this pointer \(.*swarm.h:14\)' \
            "$scratch/said" &&
        grep -qE 'wrong.c:4: swarm.mass: elements have 4 bytes, double has 8 \(.*swarm.h:12\)' \
        "$scratch/said"
}

programs_without_tables_are_refused() {
    ! tool --check "$scratch/same.o" >"$scratch/said" 2>&1 &&
        grep -q 'is not linked' "$scratch/said" &&
        ! tool --check $here/forms.h >"$scratch/said" 2>&1 && grep -q 'forms.h: ' "$scratch/said"
}

programs=()
for program in forms same_cjson same_yaml same_cholmod same_csparse; do
    [ ! -x "$scratch/$program" ] || programs+=("$scratch/$program")
done
gcc -g -Iinclude -c $here/same.c -o "$scratch/same.o"
try "descriptions that are right have no findings" descriptions_are_right "${programs[@]}"
try "the examples have no findings" examples_are_right
try "a wrong description is found, with file and line" a_wrong_description_is_found
try "what is no program is refused" programs_without_tables_are_refused

# counts NAME COMMAND...: a program that counts its checks itself.
counts() {
    local line
    "${@:2}" >"$scratch/log" 2>&1
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$scratch/log" | tail -n 1)
    [ -n "$line" ] || { line="0 passed, 1 failed"; echo "FAILED  $1"; }
    passed=$((passed + ${line%% *}))
    line=${line#*, }
    failed=$((failed + ${line%% *}))
    sed -E '/^[0-9]+ passed, /d' "$scratch/log"
}

if [ ${#programs[@]} -eq 5 ]; then
    counts "wrong tables are found" "$python" $here/mutations.py "${programs[@]}"
else
    echo "SKIPPED 500 wrong tables: not all of the four libraries are here"
fi
mkdir -p "$scratch/readers"
counts "both readers agree" "$python" $here/readers.py "$scratch/readers"

rm -f "$scratch/log"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
