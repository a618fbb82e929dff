#!/usr/bin/env bash
# Builds the fuzz targets for an engine, in the way of OSS-Fuzz.
#
#   CC, CXX, CFLAGS, CXXFLAGS    the compiler; clang, with ASan and UBSan
#   LIB_FUZZING_ENGINE           what the engine is linked with; -fsanitize=fuzzer
#   OUT                          the folder for the results; build/fuzz-out
#   WORK                         the folder of the build; build/fuzz-work
#
# OUT then has fuzz_NAME, fuzz_NAME_seed_corpus.zip and, where a dictionary helps, fuzz_NAME.dict.
set -eu
cd "$(dirname "$0")/.."
out=${OUT:-$PWD/build/fuzz-out}
work=${WORK:-$PWD/build/fuzz-work}
export CC=${CC:-clang} CXX=${CXX:-clang++}
export CFLAGS=${CFLAGS:--g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
-fno-sanitize-recover=all}
export CXXFLAGS=${CXXFLAGS:-$CFLAGS}

cmake -S . -B "$work" -DCMAKE_BUILD_TYPE=None -DHAUL_CUDA=OFF -DHAUL_BUILD_TESTS=OFF \
    -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_BUILD_TOOL=OFF \
    -DHAUL_FUZZ_ENGINE="${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}"
cmake --build "$work" --parallel "$(nproc)"

mkdir -p "$out"
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    cp "$work/fuzz/$name" "$out/"
    if command -v zip >/dev/null; then
        rm -f "$out/${name}_seed_corpus.zip"
        zip -jqr "$out/${name}_seed_corpus.zip" "fuzz/corpus/${name#fuzz_}"
    fi
    case $name in
    fuzz_load | fuzz_wire | fuzz_differential) cp fuzz/image.dict "$out/$name.dict" ;;
    esac
done
