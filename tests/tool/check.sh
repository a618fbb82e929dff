#!/usr/bin/env bash
# Proves the program haul: check.sh BUILD-FOLDER SCRATCH-FOLDER
#
# Its input is an image that the example json_snapshot has made of a small document; and that image
# with damages. Prints a line for each check, then "N passed, N failed".
set -u
build=$(cd "$1" && pwd)
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
haul=$build/haul
# shellcheck source=/dev/null
. "$(dirname "$0")/../support/try.sh"

# answers CODE ARGUMENT...: the exit code of haul; its output stays in "out" and "err".
answers() {
    local wanted=$1 code
    shift
    "$haul" "$@" >out 2>err
    code=$?
    [ "$code" -eq "$wanted" ] && return
    echo "exit code $code, not $wanted"
    cat out err
    return 1
}

says() { # FILE PATTERN
    grep -qE -- "$2" "$1" && return
    echo "no line of $1 has: $2"
    cat "$1"
    return 1
}

cd "$scratch" || exit 1
if [ ! -x "$build/examples/json_snapshot" ]; then
    echo "SKIPPED the program haul: the example json_snapshot is not built, it needs cJSON"
    echo "1 passed, 0 failed"
    exit 0
fi

# image NAME TEXT: an image of a document
image() {
    printf '%s' "$2" >"$1.json"
    if ! "$build/examples/json_snapshot" "$1.json" >log 2>&1; then
        cat log
        echo "0 passed, 1 failed"
        exit 1
    fi
    mv "$1.json.haul" "$1.haul"
}

image small '{"name": "Ariadne \"A\"", "thread": [1, 2.5, true, null], "maze": {"turns": 7}}'
image other '{"name": "Theseus", "thread": [1, 2.5, true, null], "maze": {"turns": 7, "way": 1}}'
image renamed '{"name": "Ariadne \"B\"", "thread": [1, 2.5, true, null], "maze": {"turns": 7}}'
size=$(stat -c %s small.haul)

help_is_there() {
    answers 0 --help && says out '^usage: haul' || return
    for command in inspect verify dot json diff map; do
        answers 0 --help && says out "^  haul $command " && answers 0 "$command" --help &&
            says out "^usage: haul $command" || return
    done
    answers 0 --version && says out '^haul [0-9]+\.[0-9]+\.[0-9]+$'
}

wrong_usage() {
    answers 2 && says err 'no command' && answers 2 frobnicate && says err 'frobnicate' &&
        answers 2 inspect && says err 'no file' && answers 2 inspect small.haul small.haul &&
        says err 'too many files' && answers 2 diff small.haul &&
        says err 'one file alone' &&
        answers 2 verify --depth 1 small.haul && says err '--depth' &&
        answers 2 dot --count many small.haul && answers 2 dot --type
}

inspects() {
    answers 0 inspect small.haul &&
        says out "^version 1, pointers of [48] bytes, .*, $size bytes" &&
        says out '  arena$' && says out '^ +0 +16 +1  cJSON$' && says out '  cJSON\.child$'
}

verifies() {
    answers 0 verify small.haul small.haul && says out '^small.haul: good, a graph of' &&
        [ "$(wc -l <out)" -eq 2 ] && answers 0 verify --trusted - <small.haul &&
        says out '^-: good as far as looked at'
}

refuses_damage() {
    local at
    for at in 0 8 100 $((size / 2)) $((size - 1)); do
        cp small.haul bad.haul
        printf '\xa5' | dd of=bad.haul bs=1 seek="$at" conv=notrunc status=none
        answers 1 verify bad.haul && says out '^bad.haul: refused$' &&
            says err '^haul: bad.haul: ' || return
    done
    head -c $((size - 1)) small.haul >bad.haul
    answers 1 verify small.haul bad.haul && says out '^small.haul: good' || return
    { cat small.haul; echo; } >bad.haul
    answers 1 verify bad.haul && says err 'other bytes follow'
}

files_that_are_not_there() {
    answers 2 verify none.haul small.haul && says out '^none.haul: not read$' &&
        says out '^small.haul: good' && answers 2 inspect . && answers 2 dot none.haul || return
    [ ! -e /dev/full ] || { "$haul" inspect small.haul >/dev/full 2>err; [ $? -eq 2 ]; }
}

draws() {
    answers 0 dot small.haul && says out '^digraph' && says out 'label="child"' || return
    answers 0 dot --count 2 small.haul && says out 'more"' || return
    answers 0 dot --depth 1 --type cJSON small.haul && says out 'cJSON' || return
    answers 2 dot --type mesh small.haul && says err 'no type mesh' || return
    if command -v dot >/dev/null; then
        "$haul" dot small.haul | dot -Tsvg >small.svg
    fi
}

lists() {
    answers 0 json small.haul && says out '^\{"roots": \[\{"ref": 0\}\],$' &&
        says out '"valuestring": "Ariadne \\"A\\"", "string": "name"' &&
        says out '"prev": \{"ref": 1\}' || return
    cp out one.json
    answers 0 json --trusted - <small.haul && cmp out one.json || return
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys
objects = json.load(open("one.json"))["objects"]
assert [o["id"] for o in objects] == list(range(len(objects)))
names = {o["object"]["string"] for o in objects}
assert {"name", "thread", "maze", "turns"} <= names, names'
    fi
}

compares() {
    answers 0 diff small.haul small.haul && [ ! -s out ] && answers 1 diff small.haul other.haul &&
        says out '^changed  root\.child\.valuestring: "Ariadne "A"", now "Theseus"$' &&
        says out '^added    root\.child.*\.next$' &&
        says out '^1 object added, 0 removed; 3 lines of changes$' &&
        answers 1 diff other.haul small.haul && says out '^0 objects added, 1 removed;' &&
        answers 1 diff small.haul renamed.haul &&
        says out '^0 objects added, 0 removed; 1 line of changes$' &&
        answers 2 diff small.haul none.haul && answers 2 diff small.haul small.json
}

maps() {
    answers 0 map small.haul && says out '^<svg xmlns=' && says out 'cJSON, [0-9]+ bytes</text>' &&
        [ "$(grep -c '^<path ' out)" -gt 10 ] || return
    if command -v python3 >/dev/null; then
        python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out")'
    fi
}

names_cannot_command_a_terminal() {
    cp small.haul "$(printf 'es\033c.haul')"
    answers 0 verify "$(printf 'es\033c.haul')" && says out '^es\?c.haul: good'
}

try "help, and the version" help_is_there
try "wrong usage is exit code 2, with a sentence" wrong_usage
try "inspect shows head, sections, roots and tables" inspects
try "verify says good" verifies
try "verify refuses damage with exit code 1" refuses_damage
try "files that cannot be read or written are exit code 2" files_that_are_not_there
try "dot draws" draws
try "diff compares" compares
try "map draws the arena" maps
try "json lists the objects, the same each time" lists
try "names cannot command a terminal" names_cannot_command_a_terminal

rm -f log
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
