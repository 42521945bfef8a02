#!/usr/bin/env python3
"""Draws metrics of runs over their steps, one panel a metric, one line a run:

    tools/plot_run.py OUT.svg NAME=RUN/metrics.jsonl ... [--metric METRIC ...] [--window N]

A faint line is the value of each step, a strong one its mean over the last N steps. Needs matplotlib (PyPI).
"""
import argparse
import json

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "hone"  # the same runs give the same file
from matplotlib import pyplot


def read_series(path, metric):
    steps, values = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row.get(metric) is not None:
                steps.append(row["training/global_step"])
                values.append(row[metric])
    return steps, values


def running_mean(values, window):
    return [sum(values[max(0, i + 1 - window) : i + 1]) / min(i + 1, window) for i in range(len(values))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("runs", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--metric", nargs="+", default=["critic/score/mean", "actor/entropy", "response_length/mean"])
    parser.add_argument("--window", type=int, default=8)
    args = parser.parse_args()
    figure, panels = pyplot.subplots(1, len(args.metric), figsize=(4.2 * len(args.metric), 3.2), squeeze=False)
    for panel, metric in zip(panels[0], args.metric):
        for run in args.runs:
            name, path = run.split("=", 1)
            steps, values = read_series(path, metric)
            (line,) = panel.plot(steps, running_mean(values, args.window), label=name)
            panel.plot(steps, values, color=line.get_color(), alpha=0.25, linewidth=0.8)
        panel.set_title(metric)
        panel.set_xlabel("step")
        panel.legend()
    figure.tight_layout()
    figure.savefig(args.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
