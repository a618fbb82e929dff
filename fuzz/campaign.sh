#!/usr/bin/env bash
# A campaign: each target for its share of the time, in a release build and in a sanitized one, and
# the table of README.md, "A campaign". Needs a C compiler with sanitizers and cmake.
#
#   fuzz/campaign.sh              420 s, and before them the builds
#   SECONDS_IN_ALL=60 fuzz/campaign.sh
#   LEAST=0 fuzz/campaign.sh      the release build makes 10^8 runs at least; or so many
#   SEED=7 fuzz/campaign.sh       otherwise the date and nine zeros: input i of seed S is that of
#                                 S + i, and no two campaigns shall have the same
#   KEEP=DIR fuzz/campaign.sh     inputs that fail, and the programs' words; build/campaign/kept
#
# The table is printed as its rows are done. Fails where an input does.
set -eu
cd "$(dirname "$0")/.."
all=${SECONDS_IN_ALL:-420} least=${LEAST:-100000000} seed=${SEED:-$(date +%Y%m%d)000000000}
keep=${KEEP:-build/campaign/kept}
mkdir -p "$keep" build/campaign

# A target, and its parts of 1000 in a release build and in a sanitized one. A run of `sequences`
# takes 300 times as long as one of `types`, whose runs bring most of the number.
shares="types 165 20
load 70 28
wire 45 20
results 75 25
differential 85 28
mutate 85 30
graph 75 30
badgraph 75 30
sequences 85 29"

build() { # FOLDER OPTION...
    local folder=build/campaign/$1
    shift
    cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DHAUL_CUDA=OFF \
        -DHAUL_BUILD_EXAMPLES=OFF -DHAUL_BUILD_BENCHMARKS=OFF -DHAUL_BUILD_TOOL=OFF "$@" &&
        cmake --build "$folder" --parallel "$(nproc)" --target haul_fuzz
}

for folder in release sanitized; do
    options=()
    [ $folder = release ] || options=(-DCMAKE_BUILD_TYPE=None -DHAUL_CHECKS=ON
        "-DCMAKE_C_FLAGS=-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
-fno-sanitize-recover=all")
    build $folder "${options[@]}" >"$keep/build-$folder.log" 2>&1 ||
        { tail -n 20 "$keep/build-$folder.log"; exit 1; }
done

# campaign FOLDER TARGET SECONDS SEED: "RUNS RATE FAILED" of its last line; one that has told
# nothing has failed.
campaign() {
    local log=$keep/$1-$2-$4.log told
    build/campaign/"$1"/fuzz/haul_fuzz "$2" --random 0 --seconds $(($3 > 0 ? $3 : 1)) \
        --seed "$4" --keep "$keep" >"$log" 2>&1 || true
    told=$(sed -nE "s/^$2: ([0-9]+) runs, .* ([0-9]+) runs a second, .*[ ,]([0-9]+) failed.*\
/\1 \2 \3/p" "$log" | tail -n 1)
    echo "${told:-0 1 1}"
}

grouped() { # NUMBER: with commas
    sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<<"$1"
}

begin=$SECONDS sum=0 lost=0 sum_sanitized=0 lost_sanitized=0 fast=
echo "$(date +%Y-%m-%d), $(nproc) processors, \`haul_fuzz TARGET --random 0 --seed $seed\`, $all s:"
echo
echo "| target | runs, release | a second | failed | runs, ASan and UBSan | failed |"
echo "|---|--:|--:|--:|--:|--:|"
while read -r target release sanitized; do
    read -r runs rate failed <<<"$(campaign release "$target" $((all * release / 1000)) "$seed")"
    read -r more _ wrong <<<"$(campaign sanitized "$target" $((all * sanitized / 1000)) "$seed")"
    echo "| \`$target\` | $(grouped "$runs") | $(grouped "$rate") | $failed |" \
        "$(grouped "$more") | $wrong |"
    [ "$target" != types ] || fast=$rate
    sum=$((sum + runs)) lost=$((lost + failed))
    sum_sanitized=$((sum_sanitized + more)) lost_sanitized=$((lost_sanitized + wrong))
done <<<"$shares"
if [ $sum -lt "$least" ] && [ "$fast" -gt 1 ]; then # by seeds that were not used
    seed=$((seed + 500000000))
    read -r runs _ failed \
        <<<"$(campaign release types $(((least - sum) * 11 / 10 / fast + 2)) $seed)"
    echo "| \`types\`, from seed $seed | $(grouped "$runs") | | $failed | | |"
    sum=$((sum + runs)) lost=$((lost + failed))
fi
echo "| all | $(grouped $sum) | | $lost | $(grouped $sum_sanitized) | $lost_sanitized |"
echo
echo "It took $((SECONDS - begin)) s. Logs and inputs that failed: $keep"
[ $((lost + lost_sanitized)) -eq 0 ]
