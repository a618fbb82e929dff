#!/usr/bin/env bash
# The main job on real data: a large JSON document, parsed by cJSON, goes to the device and comes back changed.
# On a bare Debian it installs what it needs first.
#
#   examples/demo.sh                  with the largest document of Debian's iso-codes
#   examples/demo.sh FILE.json ...    with documents of yours
set -u
documents=()
for file in "$@"; do
    [ -r "$file" ] || { echo "Cannot read $file"; exit 2; }
    documents+=("$(cd "$(dirname "$file")" && pwd)/$(basename "$file")")
done
cd "$(dirname "$0")/.." || exit 1
mkdir -p build
log=$PWD/build/demo.log
: >"$log"

packages="build-essential cmake libcjson-dev"
[ ${#documents[@]} -gt 0 ] || packages="$packages iso-codes"
missing=""
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    for package in $packages; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
fi
if [ -n "$missing" ]; then
    sudo=""
    [ "$(id -u)" -eq 0 ] || sudo="sudo -n"
    echo "Installing:$missing"
    # shellcheck disable=SC2086
    if ! { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends $missing; } >>"$log" 2>&1; then
        tail -n 3 "$log"
        echo "Could not install:$missing. Going on with what is there."
    fi
fi

if [ ${#documents[@]} -eq 0 ]; then
    documents=(/usr/share/iso-codes/json/iso_639-3.json)
    [ -r "${documents[0]}" ] || { echo "No document: install iso-codes, or name a JSON file."; exit 1; }
fi

echo "Building in build/demo"
if ! { cmake -S . -B build/demo -DCMAKE_BUILD_TYPE=Release -DHAUL_BUILD_TESTS=OFF -DHAUL_BUILD_BENCHMARKS=OFF &&
    cmake --build build/demo --parallel "$(nproc)"; } >>"$log" 2>&1; then
    tail -n 20 "$log"
    echo "The build failed; all of its output is in build/demo.log."
    exit 1
fi
if [ ! -x build/demo/examples/json_on_device ]; then
    echo "json_on_device was not built: cJSON (libcjson-dev) was not found."
    exit 1
fi

echo "Other examples, one page each, are built too:"
for source in examples/*.c; do
    name=$(basename "$source" .c)
    case $name in
    json_*) ;;
    *) echo "    build/demo/examples/$name" ;;
    esac
done
echo
for document in "${documents[@]}"; do
    echo "json_on_device $document"
    build/demo/examples/json_on_device "$document" || exit 1
done
