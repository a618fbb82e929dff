#!/usr/bin/env bash
# The main job on real data, on the GPU if there is one, else on the host device. A large JSON
# document, parsed by cJSON, goes to the device and comes back changed; then a tree over a mesh goes
# there and comes back as a picture. On a bare Debian it installs what it needs first.
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

# install PACKAGE...: those that are missing; where that cannot be, it says so and goes on with what
# is there.
install() {
    local package missing="" sudo=""
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        sudo="sudo -n"
        if ! { command -v sudo >/dev/null && sudo -n true; } 2>/dev/null; then
            echo "Missing packages:$missing"
            echo "You are not root, and sudo asks for a password. Run this, then start again:"
            echo "    sudo apt-get install$missing"
            echo "Going on with what is there."
            return 0
        fi
    fi
    echo "Installing:$missing"
    # shellcheck disable=SC2086
    if ! { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install \
        -y -qq \
        --no-install-recommends $missing; } >>"$log" 2>&1; then
        tail -n 3 "$log"
        echo "Could not install:$missing. Going on with what is there."
    fi
}

if [ ${#documents[@]} -eq 0 ]; then
    install build-essential cmake libxxhash-dev libcjson-dev iso-codes
    documents=(/usr/share/iso-codes/json/iso_639-3.json)
    if [ ! -r "${documents[0]}" ]; then
        echo "No document: install iso-codes (Debian), or name one: examples/demo.sh FILE.json"
        exit 1
    fi
else
    install build-essential cmake libxxhash-dev libcjson-dev
fi
install libassimp-dev libpng-dev glmark2-data # for the picture

# Without these nothing can be built; libraries are asked for by CMake.
missing=""
make=${CMAKE_GENERATOR:+cmake} # with a generator of the user's choice, what it needs is the user's
for tool in cmake "${make:-make}" "${CC:-cc}"; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    echo "Missing tools:$missing. Install them (Debian: build-essential cmake) and start again."
    exit 1
fi

echo "Building in build/demo"
if ! { cmake -S . -B build/demo -DCMAKE_BUILD_TYPE=Release -DHAUL_BUILD_TESTS=OFF \
    -DHAUL_BUILD_BENCHMARKS=OFF &&
    cmake --build build/demo --parallel "$(nproc)"; } >>"$log" 2>&1; then
    tail -n 20 "$log"
    echo "The build failed; all of its output is in build/demo.log."
    exit 1
fi
built=build/demo/examples
if [ ! -x $built/json_on_device ]; then
    echo "json_on_device was not built: install cJSON (Debian: libcjson-dev) and start again."
    exit 1
fi

echo "Other examples are built too:"
for program in "$built"/*; do
    case ${program##*/} in
    json_on_device | bvh_picture) ;;
    *) [ -f "$program" ] && [ -x "$program" ] && echo "    $program" ;;
    esac
done
echo
for document in "${documents[@]}"; do
    echo "json_on_device $document"
    $built/json_on_device "$document" || exit 1
done

mesh=/usr/share/glmark2/models/bunny.obj
echo
if [ -x $built/bvh_picture ] && [ -r $mesh ]; then
    echo "bvh_picture $mesh"
    $built/bvh_picture $mesh build/bvh_picture.png || exit 1
else
    echo "No picture: it needs libassimp-dev, libpng-dev and glmark2-data (Debian)."
fi
