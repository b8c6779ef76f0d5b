"""Interval MDPs of random structure: `certus mdp` beside Storm (`pip install stormpy numpy`), on the same files.

    python bench/storm.py [states ...]

A row is printed as soon as it is done. Values must agree to 1e-9, or the script ends with the rows that do not; times are of
the checking alone, the reading of files apart. One thread for Storm, which has no more.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy
import stormpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CERTUS = os.path.join(ROOT, "target", "release", "certus")
STEPS = 50


def write_model(path, states, per_choice, seed):
    """One or two choices per state, intervals around random distributions, lower ends above zero; 1 % of the states are the goal."""
    random = numpy.random.default_rng(seed)
    choices = random.integers(1, 3, states)
    goals = random.random(states) < 0.01
    # Written as it is made: a million states have ten million lines.
    with open(path, "w") as file:
        file.write(f"@type: MDP\n@value_type: double-interval\n@parameters\n\n@reward_models\n\n@nr_states\n{states}\n"
                   f"@nr_choices\n{int(choices.sum())}\n@model\n")
        for state in range(states):
            lines = [f"state {state}" + (" init" if state == 0 else "") + (" goal" if goals[state] else "")]
            for choice in range(choices[state]):
                lines.append(f"\taction {choice}")
                targets = random.choice(states, per_choice, replace=False)
                nominal = random.dirichlet(numpy.ones(per_choice))
                for target, p in sorted(zip(targets, nominal)):
                    width = random.random() * 0.1
                    low = float(max(p - width, 1e-4))
                    high = max(float(min(p + width, 1.0)), low)
                    lines.append(f"\t\t{target} : [{low!r}, {high!r}]")
            file.write("\n".join(lines) + "\n")


def certus(path, text, threads):
    out = subprocess.run([CERTUS, "mdp", path, text, "--json", "--threads", str(threads)], capture_output=True, text=True, check=True)
    found = json.loads(out.stdout)
    return found["probability"]["lower"], found["probability"]["upper"], found["seconds"]


def main():
    different = []
    sizes = [int(word) for word in sys.argv[1:]] or [100_000]
    print("| states | transitions | property | nature | Storm s | Certus s, 1 thread | 2 threads | ratio | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for states in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.drn")
            print(f"{states} states: writing the model", file=sys.stderr, flush=True)
            write_model(path, states, 7, 1)
            print(f"{states} states: Storm reads it", file=sys.stderr, flush=True)
            model = stormpy.build_model_from_drn[stormpy.Interval](path)
            for scheduler in ["max", "min"]:
                for nature in ["max", "min"]:
                    robust = nature != scheduler
                    mode = stormpy.UncertaintyResolutionMode.ROBUST if robust else stormpy.UncertaintyResolutionMode.COOPERATIVE
                    text = f'P{scheduler}=? [ F<={STEPS} "goal" ]'
                    formula = stormpy.parse_properties(text)[0]
                    begun = time.perf_counter()
                    result = stormpy.model_checking(model, formula, uncertainty_resolution_mode=mode)
                    storm = time.perf_counter() - begun
                    value = result.get_value(0)
                    text = f'P{scheduler}{nature}=? [ F<={STEPS} "goal" ]'
                    low, high, one = certus(path, text, 1)
                    two = certus(path, text, 2)[2]
                    difference = max(abs(value - low), abs(value - high))
                    print(f"| {states} | {model.nr_transitions} | P{scheduler} F<={STEPS} | {nature} | {storm:.2f} | {one:.2f} | {two:.2f} "
                          f"| {storm / one:.1f} | {difference:.0e} |", flush=True)
                    if not difference < 1e-9:
                        different.append(f"{states} states, {text}: Storm {value}, Certus [{low}, {high}]")
    if different:
        raise SystemExit("\n".join(different))


main()
