#!/usr/bin/env bash
# Builds the fuzz targets for an engine, in the way of OSS-Fuzz.
#
#   CC, CXX, CFLAGS, CXXFLAGS    the compiler; clang, and the options of HAUL_FUZZ: ASan and UBSan
#   LIB_FUZZING_ENGINE           what the engine is linked with; -fsanitize=fuzzer
#   OUT                          the folder for the results; build/fuzz-out
#   WORK                         the folder of the build; build/fuzz-work
#
# Arguments are further options of cmake. OUT then has fuzz_NAME, fuzz_NAME_seed_corpus.zip if there
# is a zip, and, where a dictionary helps, fuzz_NAME.dict.
set -eu
cd "$(dirname "$0")/.."
out=${OUT:-$PWD/build/fuzz-out}
work=${WORK:-$PWD/build/fuzz-work}
export CC=${CC:-clang} CXX=${CXX:-clang++}
export CFLAGS=${CFLAGS:-}
export CXXFLAGS=${CXXFLAGS:-$CFLAGS}
[ -n "$CFLAGS" ] || set -- -DHAUL_FUZZ=ON "$@"
mapfile -t targets < <(basename -s .c fuzz/fuzz_*.c)

cmake -S . -B "$work" -DCMAKE_BUILD_TYPE=None -DHAUL_CUDA=OFF -DHAUL_BUILD_TESTS=OFF \
    -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_BUILD_TOOL=OFF \
    -DHAUL_FUZZ_ENGINE="${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}" "$@"
cmake --build "$work" --parallel "$(nproc)" --target "${targets[@]}"

mkdir -p "$out"
for name in "${targets[@]}"; do
    cp "$work/fuzz/$name" "$out/"
    if command -v zip >/dev/null; then
        rm -f "$out/${name}_seed_corpus.zip"
        zip -jqr "$out/${name}_seed_corpus.zip" "fuzz/corpus/${name#fuzz_}"
    fi
    case $name in
    fuzz_load | fuzz_wire | fuzz_differential) cp fuzz/image.dict "$out/$name.dict" ;;
    esac
done
