# shellcheck shell=bash
# What tests/coverage.sh and tests/mcdc.sh run alike: the suites, and one program with its log.

# A line for each suite of the unit tests.
suites() {
    local suite
    for suite in $(grep -ohE '^TEST\([a-z0-9_]+' tests/unit/*.c tests/structures/*.c |
        sed 's/TEST(//' | sort -u); do
        echo "tests/haul_unit_plain $suite/"
    done
}

# One program; a failure is told at once and leaves a file. Needs $build and $logs.
# shellcheck disable=SC2154
one() { # PROGRAM ARGUMENT...
    local name="$*"
    name=${name//[^a-z0-9]/-}
    "$build/$1" "${@:2}" >"$logs/$name.log" 2>&1 </dev/null && return
    echo "FAILED $*"
    tail -n 5 "$logs/$name.log"
    touch "$logs/failed"
}
export -f one
