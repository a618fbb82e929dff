#!/usr/bin/env bash
# Instructions in the machine code of haul_bench_chains: a line for each kernel.
#
#   tests/bench/chains/instructions.sh build/release/tests/haul_bench_chains
#
# The kernels have no loop, so a thread executes at most this number. Those behind the last EXIT
# are padding. Needs cuobjdump of the CUDA toolkit.
set -eu
command -v cuobjdump >/dev/null || { echo "cuobjdump is missing: it is a part of CUDA."; exit 1; }
cuobjdump -sass "$1" | awk '
    function tell() { if (name != "") print exit_at, name }
    /Function : / { tell(); name = $3; count = exit_at = 0 }
    /^[ \t]+\/\*[0-9a-f]+\*\// { count++; if (/ EXIT/) exit_at = count }
    END { tell() }' | sort -k2 -u
