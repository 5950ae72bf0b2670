#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our training step beside PyTorch's: benchmarks/run peers [--python PATH].. [--rounds N] [--seconds S] [NAME..]

Runs the benchmark trainer_step/NAME (windows and regimes, if nothing else is said) and torch_step.py in turn, on one core,
round by round, so that what disturbs the machine for a while disturbs both; then prints the medians over the rounds and
how the ratio of each round spreads. Of PyTorch's variants the fastest counts. Interpreters without PyTorch are named and
left out; where there is none, nothing is compared, and that is said.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def run(command):
    return json.loads(subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout)


def ours(measure, name, seconds):
    """Seconds of time and of processor time of our step, and the share of the floor."""
    command = [measure, f"--benchmark_filter=^trainer_step/{name}$", f"--benchmark_min_time={seconds}",
               "--benchmark_format=json"]
    [result] = run(command)["benchmarks"]
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[result["time_unit"]]
    return {"real": unit * result["real_time"], "processor": unit * result["cpu_time"], "share": result["share_of_floor"]}


def theirs(python, name, seconds):
    """The same of PyTorch's fastest variant, which is named, and its version."""
    result = run([python, FOLDER / "torch_step.py", name, "--seconds", seconds])
    variant = min(result["variants"], key=lambda which: result["variants"][which]["real"])
    return {**result["variants"][variant], "what": f"PyTorch {result['torch']}, {variant}"}


def has_torch(python):
    try:
        tried = subprocess.run([python, "-c", "import torch"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return tried.returncode == 0


def tell(text):
    """Shows progress, in one line that is overwritten; none if nobody looks."""
    if sys.stderr.isatty():
        print("\r\033[K" + text, end="", file=sys.stderr, flush=True)


def report(name, rounds):
    """Prints what the rounds of one benchmark found."""
    def median(values):
        return statistics.median(values)
    our = [first for first, _ in rounds]
    print(f"\ntrainer_step/{name}, {len(rounds)} rounds, ms of time (of processor time)")
    print(f"  {'lindyn':<40}{1e3 * median(o['real'] for o in our):8.3f} ({1e3 * median(o['processor'] for o in our):.3f})"
          f"  {100 * median(o['share'] for o in our):.0f} % of the floor")
    for python in rounds[0][1]:
        their = [second[python] for _, second in rounds]
        ratios = sorted(t["real"] / o["real"] for o, t in zip(our, their))
        print(f"  {their[-1]['what']:<40}{1e3 * median(t['real'] for t in their):8.3f} "
              f"({1e3 * median(t['processor'] for t in their):.3f})"
              f"  {median(ratios):.2f} times as long, {ratios[0]:.2f} to {ratios[-1]:.2f}")


def main():
    parser = argparse.ArgumentParser(description="Our training step beside PyTorch's, in turn, on one core.")
    parser.add_argument("names", metavar="NAME", nargs="*", help="windows or regimes (both)")
    parser.add_argument("--python", action="append", help="an interpreter that has PyTorch; may be repeated (this one)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="how long each is measured in a round")
    parser.add_argument("--measure", type=pathlib.Path, default=FOLDER.parents[1] / "build/benchmarks/measure",
                        help="the program of the benchmarks")
    options = parser.parse_args()
    names = options.names or ["windows", "regimes"]
    for name in names:
        if name not in ("windows", "regimes"):
            parser.error(f"there is no trainer_step/{name}: windows or regimes")
    if options.rounds < 1 or not options.seconds > 0:
        parser.error("--rounds and --seconds are positive")

    pythons = []
    for python in options.python or [sys.executable]:
        if has_torch(python):
            pythons.append(python)
        else:
            print(f"{python} has no PyTorch: left out")
    if not pythons:
        print("Nothing is compared: name an interpreter that has PyTorch by --python (Debian: apt install python3-torch "
              "libopenblas0-pthread, then /usr/bin/python3)")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # all that is started below stays on this core

    for name in names:
        rounds = []
        for number in range(options.rounds):
            tell(f"{name}, round {number + 1} of {options.rounds}")
            rounds.append((ours(options.measure, name, options.seconds),
                           {python: theirs(python, name, options.seconds) for python in pythons}))
        tell("")
        report(name, rounds)


if __name__ == "__main__":
    main()
