#!/usr/bin/env bash
# Prints what old programs rely on: the names that the shared library exports, with their versions,
# and the members of the public structs, each with its offset and size in bytes on a 64-bit machine.
#
#   tests/consumers/abi.sh LIBRARY.so INCLUDE-FOLDER >tests/consumers/abi.txt
#
# Needs nm, cc and pahole.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $NF }' | sort

printf '%s\n' '#include <haul.h>' '#include <haul/experimental.h>' >"$scratch/all.c"
cc -std=c99 -g -fno-eliminate-unused-debug-types -I"$2" -c "$scratch/all.c" -o "$scratch/all.o"
pahole "$scratch/all.o" | awk '
    /^struct [a-z0-9_]+ [{]/ { name = $2; next }
    /^}/ { name = ""; next }
    name !~ /^haul_[a-z]/ { next }
    match($0, /\/\* +[0-9]+ +[0-9]+ \*\//) {
        split(substr($0, RSTART, RLENGTH), place, " ")
        text = substr($0, 1, RSTART - 1)
        if (match(text, /\(\*[a-z0-9_]+\)/))
            member = substr(text, RSTART + 2, RLENGTH - 3)
        else {
            sub(/(\[[0-9]+\])*; *$/, "", text)
            sub(/^.*[ *]/, "", text)
            member = text
        }
        print name "." member, place[2], place[3]
        next
    }
    /size: [0-9]+/ { size = $0; gsub(/^.*size: |,.*$/, "", size); print name, size }
' | sort
