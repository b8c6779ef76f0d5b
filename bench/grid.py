"""The systems of Tables 1 and 2 of Jin, Wang and Zhang with the zoo's policies, beside the published figures.

    python bench/grid.py [table | fine | throughput | returns] [system…]

Needs a release build and nothing else. `table` (the default) takes the paper's widths, for the network itself and for an extracted policy;
`fine` takes narrower ones; `throughput` compares the exploration of the mountain car (the median of five runs) with bare evaluations of its network and plant
(`cargo build --release -p certus-grid --example cells --example bare` first); `returns` compares the returns of the network and of policies extracted from it
in 500 episodes. With names of systems, only rows whose name begins so.
"""

import argparse
import json
import os
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CERTUS = os.path.join(ROOT, "target", "release", "certus")
EXAMPLES = os.path.join(ROOT, "target", "release", "examples")
CAR = ["--set", "p0_low=-0.5", "--set", "p0_high=-0.49991", "--set", "v0_high=0.00009"]
PENDULUM = ["--set", "theta0_high=0.009", "--set", "omega0_high=0.009"]
PLATOON = ["--set", "cell=0.009", "--network", "a=zoo/platoon4_gaps/platoon4_gaps_steady.onnx"]
CONTINUOUS = "mountain_car_continuous/mountain_car_continuous"
CELL = ["--set", "p0_low=-0.5", "--set", "p0_high=-0.49991"]
LARGE = ["--network", "u=zoo/mountain_car_continuous/mountain_car_continuous_200.onnx"]
# Name, file, settings, property, widths, narrower widths; published cells and seconds.
ROWS = [
    ("mountain car", "mountain_car/mountain_car", CAR, "reaches_goal", "0.0001", "0.00005", "1.2 million", 2687),
    ("mountain car", "mountain_car/mountain_car", CAR, "fast_at_bend", "0.0001", "0.00005", "1.2 million", 2691),
    ("pendulum", "gym_pendulum/gym_pendulum", PENDULUM, "stays_up", "0.01", "0.001", "728", 5),
    ("pendulum", "gym_pendulum/gym_pendulum", PENDULUM, "returns", "0.01", "0.001", "728, not verified", 6),
    ("TORA", "tora/tora_cells", [], "safe_24_steps", "0.01", "0.005", "1 million", 2731),
    ("TORA", "tora/tora_cells", [], "stays_safe", "0.01", "0.005", "1 million, 24 steps", 2731),
    ("4-car platoon", "platoon4_gaps/platoon4_gaps", PLATOON, "never_touch", "0.01", "0.005", "9721", 154),
    ("mountain car, continuous, 16x16", CONTINUOUS, CELL, "climbs", "0.0001", "0.00005", "", 2567),
    ("mountain car, continuous, 200x200", CONTINUOUS, CELL + LARGE, "climbs", "0.0001", "0.00005", "", 2574),
    ("mountain car, continuous, 16x16, all initial states", CONTINUOUS, [], "climbs", "0.0002", "0.0001", "", 2567),
    ("mountain car, continuous, 200x200, all initial states", CONTINUOUS, LARGE, "climbs", "0.0002", "0.0001", "", 2574),
    ("B1, 20x20", "b1/b1", [], "at_goal_at_end", "0.001", "0.0005", "", 389),
    ("B1, 100x100", "b1/b1", ["--network", "u=zoo/b1/b1_100.onnx"], "at_goal_at_end", "0.001", "0.0005", "", 401),
    ("B2, 20x20", "b2/b2", [], "at_goal_after_9", "x1=0.001,x2=0.0001", "x1=0.0005,x2=0.0001", "", 91),
    ("B2, 100x100", "b2/b2", ["--network", "u=zoo/b2/b2_100.onnx"], "at_goal_after_9", "x1=0.001,x2=0.0001", "x1=0.0005,x2=0.0001", "", 96),
]


def run(arguments):
    begun = time.perf_counter()
    child = subprocess.Popen([CERTUS, "check", "--engine", "grid"] + arguments + ["--json", "--quiet"], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    told = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) == 2:
        raise SystemExit(2)
    seconds = time.perf_counter() - begun
    return json.loads(told)["results"][0], seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def table(narrow, names):
    print("| system | property | policy | verdict | cells | refinements | s | processor s | MB | published: cells | s | times |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = [row for row in ROWS if not names or any(row[0].startswith(name) for name in names)]
    for name, file, settings, prop, widths, finer, cells, published in rows:
        for policy in ("network", "extracted"):
            arguments = [f"zoo/{file}.certus", prop, "--width", finer if narrow else widths, "--policy", policy, "--timeout", "60"]
            result, seconds, processor, peak = run(arguments + settings)
            verdict = result["verdict"]
            scope = result["scope"]
            if verdict == "unknown" and scope:
                verdict += f", none up to {scope['bounded']} steps"
            grid = result.get("grid") or {"cells": "", "refinements": ""}
            times = f"{published / seconds:.0f}" if result["verdict"] != "unknown" else ""
            print(f"| {name} | `{prop}` | {policy} | {verdict} | {grid['cells']} | {grid['refinements']} | {seconds:.2f} | {processor:.2f} | {peak:.0f} | {cells} | {published} | {times} |", flush=True)


def throughput():
    """Processor time per cell, beside what its bare evaluations take: one of network and plant, or one network evaluation per sample."""
    file = os.path.join(ROOT, "zoo", "mountain_car", "mountain_car.certus")
    bare = subprocess.run([os.path.join(EXAMPLES, "bare"), file], capture_output=True, text=True, check=True).stdout
    both, network = (float(line.split(":")[1].split()[0]) / 1000 for line in bare.strip().splitlines())
    settings = [text for text in CAR if text != "--set"]
    print("| width | policy | cells | processor s | µs per cell | bare evaluations, µs | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for width in ("0.0001", "0.00002"):
        for policy, evaluations in (("network", both), ("extracted", 5 * network + both - network)):
            command = [os.path.join(EXAMPLES, "cells"), file, "reaches_goal", width, policy]
            runs = [subprocess.run(command + settings, capture_output=True, text=True, check=True).stdout for _ in range(5)]
            cells = int(runs[0].split(" cells,")[0].split()[-1])
            spent = sorted(float(out.split(" s of processor time")[0].split()[-1]) for out in runs)[2]
            each = spent / cells * 1e6
            print(f"| {width} | {policy} | {cells} | {spent:.2f} | {each:.2f} | {evaluations:.2f} | {each / evaluations:.1f} |", flush=True)


# Name, file, settings, steps of an episode, widths.
EPISODES = [
    ("mountain car", "mountain_car/mountain_car", [], 200, ("0.01", "0.001", "0.0001")),
    ("pendulum", "gym_pendulum/gym_pendulum", [], 200, ("0.1", "0.01", "0.001")),
    ("TORA", "tora/tora_cells", [], 24, ("0.1", "0.01", "0.001")),
    ("4-car platoon", "platoon4_gaps/platoon4_gaps", PLATOON, 100, ("0.1", "0.01", "0.001")),
]


def returns():
    """Quartiles of the returns of both policies from the same initial states."""
    print("| system | policy | cells met | least | quarter | median | quarter | most |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, file, settings, steps, widths in EPISODES:
        for place, width in enumerate(widths):
            command = [CERTUS, "extract", f"zoo/{file}.certus", "--width", width, "--episodes", "500", "--steps", str(steps)]
            told = subprocess.run(command + settings, capture_output=True, text=True, check=True, cwd=ROOT).stdout
            network, extracted = told.rstrip().splitlines()[-2:]
            if place == 0:
                print(f"| {name} | network | | {' | '.join(network.split()[1:])} |", flush=True)
            cells = extracted.split("(")[1].split()[0]
            print(f"| {name} | extracted, {width} | {cells} | {' | '.join(extracted.split(')')[1].split())} |", flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", nargs="?", default="table", choices=["table", "fine", "throughput", "returns"])
    arguments.add_argument("systems", nargs="*")
    asked = arguments.parse_args()
    if asked.what in ("throughput", "returns"):
        throughput() if asked.what == "throughput" else returns()
    else:
        table(asked.what == "fine", asked.systems)
