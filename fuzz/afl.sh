#!/usr/bin/env bash
# Runs a target with AFL++ for a while, from what build.sh has left in a folder.
#
#   fuzz/afl.sh OUT NAME SECONDS FOUND
#
# Its corpus comes from OUT/fuzz_NAME_seed_corpus.zip, and OUT/fuzz_NAME.dict is its dictionary,
# where there is one. FOUND/NAME then has what AFL++ has found, of this run alone. Fails if the
# target dies or hangs for 20 s on an input, if AFL++ has refused to run it, or if it has seen no
# more than the corpus. Asks nothing of the system: neither how it stores cores nor how fast its
# processors run.
set -eu
program=$1/fuzz_$2 found=$4/$2
rm -rf "$found"
mkdir -p "$found"
unzip -q "${program}_seed_corpus.zip" -d "$found/corpus"
dictionary=()
[ ! -f "$program.dict" ] || dictionary=(-x "$program.dict")
unset ASAN_OPTIONS UBSAN_OPTIONS MSAN_OPTIONS TSAN_OPTIONS # AFL++ insists on its own
export AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
afl-fuzz -V "$3" -t 20000 -i "$found/corpus" -o "$found" "${dictionary[@]}" -- "$program"

stats=$found/default/fuzzer_stats
of() { # FIELD
    sed -n "s/^$1 *: *//p" "$stats"
}
seeds=$(find "$found/corpus" -type f | wc -l)
echo "$(of execs_done) runs, $(of corpus_found) inputs found beside $seeds, $(of saved_crashes)" \
    "crashes, $(of saved_hangs) hangs, stability $(of stability)"
[ "$(of saved_crashes)" -eq 0 ] && [ "$(of saved_hangs)" -eq 0 ] &&
    [ "$(of execs_done)" -gt "$seeds" ]
