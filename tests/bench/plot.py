#!/usr/bin/env python3
"""Draws the figures of haul_bench_gpu: CSV in, SVG out.

    plot.py results/h200.csv [more.csv ...] --out results

ratios.svg: each technique's way to the device and back, as a multiple of one raw pinned copy.
phases.svg: where the time of Haul's ways to the device goes.
"""
import argparse
import csv
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

WORKLOADS = ["list_1024x128", "splitlist_1024x128", "tree_1024x128", "list_1024x1k", "list_1024x1m",
             "list_1000000x128", "tree_1000000x128", "umt_2048x128x128",
             "linear_k10_n1000000_allinit_allused",
             "linear_k10_n1000000_allinit_LLused", "dense_q8_n10000_all", "dense_q16_n1000_all"]
# name: (label, colour, marker)
TECHNIQUES = {
    "base": ("BASE", "#b35806", "o"),
    "base_plus": ("BASE+", "#e08214", "o"),
    "tcpy": ("TCPY", "#fdb863", "o"),
    "marshal_attach": ("one attach per pointer", "#8c510a", "s"),
    "pcpy": ("PCPY", "#878787", "D"),
    "pcpy_pinned": ("PCPY, pinned buffer", "#4d4d4d", "D"),
    "chain": ("pointer chain by hand", "#bababa", "v"),
    "unified_prefetch": ("unified memory, prefetched", "#c994c7", "^"),
    "raw_pageable": ("raw pageable copy", "#000000", "|"),
    "haul": ("Haul, first ship", "#2166ac", "*"),
    "haul_used": ("Haul, first ship, used arrays alone", "#67a9cf", "*"),
    "haul_plan": ("Haul, known plan", "#1b7837", "*"),
    "haul_refresh": ("Haul, refresh", "#5aae61", "*"),
    "haul_locked": ("Haul, refresh, source locked", "#ff7f00", "*"),
    "haul_mirrored_kept": ("Haul, mirrored arena", "#00441b", "*"),
    "haul_threads": ("Haul, first ship, 16 threads", "#e31a1c", "*"),
    "haul_threads_refresh": ("Haul, refresh, 16 threads", "#fb9a99", "*"),
}
PHASES = ["discover", "layout", "pack", "transfer", "relocate"]
PHASE_COLOURS = ["#2166ac", "#92c5de", "#5aae61", "#bababa", "#b2182b"]
HAUL = ["haul", "haul_refresh", "haul_threads", "haul_threads_refresh"]


def read(paths):
    """{(workload, technique, phase): (median_ms, ratio)} and the line that names the card.
    Later files win."""
    rows, card = {}, ""
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            lines = file.readlines()
        card = next((line[8:].split(",")[0].strip() for line in lines
                     if line.startswith("# card:")), card)
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            key = row["workload"], row["technique"], row["phase"]
            rows[key] = float(row["median_ms"]), float(row["ratio"])
    return rows, card


def present(rows):
    measured = {key[0] for key in rows}
    return [name for name in WORKLOADS if name in measured] or sorted(measured)


def draw_ratios(rows, card, path):
    workloads = present(rows)
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(12, 1.8 + 0.42 * len(workloads)))
    for axis, phase, title in zip(axes, ("to", "from"), ("to the device", "back")):
        for technique, (label, colour, marker) in TECHNIQUES.items():
            points = [(rows[name, technique, phase][1], place)
                      for place, name in enumerate(workloads)
                      if rows.get((name, technique, phase), (0, 0))[1] > 0]
            if points:
                axis.scatter(*zip(*points), label=label, color=colour, marker=marker,
                             s=90 if marker == "*" else 34, zorder=3 if marker == "*" else 2)
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_xscale("log")
        axis.grid(axis="both", color="#e5e5e5", zorder=0)
        axis.set_title(title)
        axis.set_xlabel("times one raw pinned copy of the same bytes")
    axes[0].set_yticks(range(len(workloads)), workloads)
    axes[0].invert_yaxis()
    handles = {label: handle for axis in axes
               for handle, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=5, frameon=False,
                  fontsize=9)
    figure.suptitle(card)
    figure.tight_layout(rect=(0, 1.0 / (1.8 + 0.42 * len(workloads)), 1, 1))
    figure.savefig(path)


def draw_phases(rows, card, path):
    bars = [(name, way) for name in present(rows) for way in HAUL if (name, way, "to") in rows]
    figure, axis = plt.subplots(figsize=(10, 1.6 + 0.24 * len(bars)))
    places = [place + 0.6 * (place // len(HAUL)) for place in range(len(bars))]
    left = [0.0] * len(bars)
    for phase, colour in zip(PHASES, PHASE_COLOURS):
        width = [rows.get((*bar, phase), (0, 0))[1] for bar in bars]
        axis.barh(places, width, left=left, color=colour, label=phase)
        left = [a + b for a, b in zip(left, width)]
    axis.scatter([rows[(*bar, "to")][1] for bar in bars], places, color="black", marker="|",
                 label="all together",
                 zorder=3)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_yticks(places, [f"{name}  {TECHNIQUES[way][0]}" for name, way in bars], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel("times one raw pinned copy (phases overlap: their sum may be more)")
    axis.set_title(card)
    axis.legend(frameon=False, loc="lower right")
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--out", default=".", type=pathlib.Path)
    chosen = parser.parse_args()
    matplotlib.rcParams.update({"svg.hashsalt": "haul", "font.size": 10})
    rows, card = read(chosen.csv)
    chosen.out.mkdir(parents=True, exist_ok=True)
    draw_ratios(rows, card, chosen.out / "ratios.svg")
    draw_phases(rows, card, chosen.out / "phases.svg")


if __name__ == "__main__":
    main()
