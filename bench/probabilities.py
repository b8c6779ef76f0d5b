"""The configurations of Table 1 of Bacci and Parker (NFM 2022) with the zoo's policies, beside the published figures.

    python bench/probabilities.py [rows | long]

Needs a release build and nothing else. `rows` (the default) runs every row twice: one unfolding with the row's domain, spread and
containment check, and the search over start cells with the same settings. `long` runs horizons three times as long.
"""

import json
import os
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CERTUS = os.path.join(ROOT, "target", "release", "certus")
BALL = "zoo/ball/ball.certus"
CAR = "zoo/stopping_car/stopping_car.certus"
PENDULUM = "zoo/pendulum_softmax/pendulum_softmax.certus"
SMALL = ["--set", "v0_low=-0.1", "--set", "v0_high=0"]
# System, its file and settings, shortest cut, domain, spread, containment; published polyhedra, IMDP size, bound, minutes.
ROWS = [
    ("ball S", BALL, SMALL, 0.2, "box", 0.1, True, 337, 411, 0.0, 1),
    ("ball S", BALL, SMALL, 0.2, "octagon", 0.1, True, 352, 484, 0.0, 2),
    ("ball L", BALL, [], 0.2, "box", 0.1, True, 1727, 7796, 0.63, 30),
    ("ball L", BALL, [], 0.2, "octagon", 0.1, True, 2489, 6273, 0.0, 33),
    ("ball L", BALL, [], 0.2, "box", 0.1, False, 18890, 23337, 0.006, 91),
    ("ball L", BALL, [], 0.2, "octagon", 0.1, False, 13437, 16837, 0.0, 111),
    ("car", CAR, [], 0.1, "box", 0.33, True, 1522, 10702, 0.084, 85),
    ("car", CAR, [], 0.1, "octagon", 0.33, True, 1415, 6394, 0.078, 60),
    ("car", CAR, [], 0.1, "template", 0.33, True, 2440, 9234, 0.47, 70),
    ("car", CAR, [], 0.1, "box", 0.5, True, 593, 3776, 0.62, 29),
    ("car", CAR, [], 0.1, "octagon", 0.5, True, 801, 3063, 0.12, 30),
    ("car", CAR, [], 0.1, "template", 0.5, True, 1102, 4045, 0.53, 34),
    ("car", CAR, [], 0.1, "box", 0.33, False, 11334, 24184, 0.040, 176),
    ("car", CAR, [], 0.1, "octagon", 0.33, False, 7609, 16899, 0.031, 152),
    ("car", CAR, [], 0.1, "template", 0.33, False, 6710, 14626, 0.038, 113),
    ("car", CAR, [], 0.1, "box", 0.5, False, 3981, 8395, 0.17, 64),
    ("car", CAR, [], 0.1, "octagon", 0.5, False, 2662, 5895, 0.12, 52),
    ("car", CAR, [], 0.1, "template", 0.5, False, 2809, 6178, 0.16, 48),
    ("pendulum", PENDULUM, [], 0.2, "box", 0.5, True, 1494, 14726, 0.057, 71),
    ("pendulum", PENDULUM, [], 0.2, "box", 0.5, False, 5436, 16695, 0.057, 69),
]
# The template of the car: (1/4.5, ±1) beside the axes.
TEMPLATE = ["--direction", "0.2222222222222222,1", "--direction", "0.2222222222222222,-1"]


def run(arguments):
    begun = time.perf_counter()
    out = subprocess.run([CERTUS, "prob"] + arguments + ["--json", "--quiet"], capture_output=True, text=True, cwd=ROOT)
    if out.returncode not in (0, 3):
        raise SystemExit(out.stderr)
    return json.loads(out.stdout)["results"][0], time.perf_counter() - begun


def rows():
    print("| system | domain | spread | merge | regions | choices | bound | s | search: bound | s | published: polyhedra | IMDP | bound | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    worst_time, looser = 0.0, 0
    for name, file, settings, shortest, domain, spread, merge, polyhedra, size, bound, minutes in ROWS:
        arguments = [file, "worst", "--spread", str(spread), "--shortest", str(shortest)] + settings
        arguments += TEMPLATE if domain == "template" else ["--domain", domain]
        arguments += ["--merge"] if merge else []
        one, seconds = run(arguments + ["--method", "unfold"])
        # A hundredth of the published time is what the search may take.
        many, searching = run(arguments + ["--method", "search", "--timeout", str(0.6 * minutes)])
        best = min(one["probability"]["upper"], many["probability"]["upper"])
        needed = seconds if one["probability"]["upper"] <= bound else searching
        looser += best > bound
        worst_time = max(worst_time, needed / (60 * minutes))
        print(f"| {name} | {domain} | {spread} | {'yes' if merge else 'no'} | {one['regions']} | {one['choices']} "
              f"| {one['probability']['upper']:.2g} | {seconds:.2f} | {many['probability']['upper']:.2g} | {searching:.2f} "
              f"| {polyhedra} | {size} | {bound} | {60 * minutes} |", flush=True)
    print(f"\nRows with a looser bound than the published one: {looser}. Largest share of the published time: 1/{1 / worst_time:.0f}.")


def long():
    print("| system | steps | interval | s |")
    print("| --- | --- | --- | --- |")
    for name, file, settings, steps in [("car", CAR, [], 21), ("pendulum", PENDULUM, [], 18), ("ball S", BALL, SMALL, 60), ("ball L", BALL, [], 60)]:
        found, seconds = run([file, "worst", "-k", str(steps), "--timeout", "60"] + settings)
        probability = found["probability"]
        print(f"| {name} | {steps} | [{probability['lower']:.3g}, {probability['upper']:.3g}] | {seconds:.1f} |", flush=True)


long() if sys.argv[1:] == ["long"] else rows()
