#!/usr/bin/env bash
# The table of docs/chains.md, from a CSV of haul_bench_chains and the lines of instructions.sh.
#
#   tests/bench/chains/ratios.sh chains.csv instructions.txt
#
# Ratios are those of a kernel by the chain to one that follows the pointers. "without the launch":
# both less the time of an empty kernel. A CSV without cycles, or no second file: "-".
set -eu
awk -F, -v counts="${2:-/dev/null}" '
    BEGIN {
        FS = " "
        while ((getline < counts) > 0) {
            if ($2 ~ /clocked/) continue
            if ($2 ~ /chain/) chain_count = $1
            if ($2 ~ /dense/) walk_count["dense"] = $1
            if (match($2, /walkILi[0-9]+/)) walk_count[substr($2, RSTART + 7, RLENGTH - 7)] = $1
        }
        FS = ","
    }
    !/^#/ { at[$1, $2, $3] = $4 }
    function cell(ratio) { return ratio > 0 ? sprintf("%.2f", ratio) : "-" }
    function over(a, b) { return a > 0 && b > 0 ? a / b : 0 }
    function us(of, way) { return sprintf("%.2f", 1000 * at[of, way, "kernel"]) }
    function row(title, of, steps) {
        none = at[of, "empty", "kernel"]
        print "| " title " | " us(of, "chain") " | " us(of, "graph") " | " us(of, "unified") " | " \
            cell(over(at[of, "chain", "kernel"], at[of, "graph", "kernel"])) " | " \
            cell(over(at[of, "chain", "kernel"] - none, at[of, "graph", "kernel"] - none)) " | " \
            cell(over(at[of, "chain", "cycles"], at[of, "graph", "cycles"])) " | " \
            cell(over(at[of, "chain", "kernel"], at[of, "unified", "kernel"])) " | " \
            cell(over(chain_count, walk_count[steps])) " |"
    }
    END {
        print "| structure | by chain, us | by graph, us | unified, us | chain over graph |" \
            " without the launch | cycles inside | chain over unified | instructions |"
        print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
        for (k = 2; k <= 5; k++)
            row("Linear, k = " k ", n = 10,000", "linear_k" k "_n10000_allinit_LLused", k - 2)
        row("Linear, k = 10, n = 1,000, all arrays", "linear_k10_n1000_allinit_LLused", 8)
        row("Linear, k = 10, n = 1,000, the last array alone", "linear_k10_n1000_LLinit_LLused", 8)
        row("Linear, k = 10, n = 1,000,000", "linear_k10_n1000000_allinit_LLused", 8)
        row("Dense, q = 16, n = 1,000", "dense_q16_n1000_selective", "dense")
    }' "$1"
