#!/usr/bin/env bash
# gfortran's descriptors, as its own programs have them: check.sh BUILD-FOLDER SCRATCH-FOLDER
# BUILD-FOLDER holds a static library by gcc. The program runs a subroutine of its own on the host
# device, where memory that was not shipped faults.
set -u
mkdir -p "$2"
build=$(cd "$1" && pwd)
scratch=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.." || exit 1

fail() {
    echo "FAILED  $1"
    echo "0 passed, 1 failed"
    exit 1
}

gcc -std=c99 -O1 -Wall -Wextra -Wconversion -pedantic -Werror -Iinclude -Itests \
    -c tests/fortran/sections.c -o "$scratch/sections_c.o" || fail "the C side is not compiled"
gfortran -O1 -Wall -J "$scratch" tests/fortran/sections.f90 "$scratch/sections_c.o" \
    "$build/libhaul.a" -lpthread -ldl -o "$scratch/sections" || fail "gfortran refuses the program"
"$scratch/sections" || fail "components and sections"
