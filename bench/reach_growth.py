"""How the time of `certus check --engine reach` grows with states and with steps.

    python bench/reach_growth.py --program target/release/certus [--timeout 60] [--repeat 3] [--seeds 3] [--output FILE]

A chain of n damped nonlinear oscillators, coupled to their neighbours, whose last one is driven by a policy of two layers of 64 (ReLU)
that sees all states (weights drawn with fixed seeds, written as NNet). The plant is the differential equation (`step 0.1 exact`), the initial
set a box, and the property that no state leaves [-2, 2] at any time.
- states: 2 to 20, 50 steps;
- steps: 10 to 1,000, 4 states.
CPU seconds of the process, on one thread; medians of the repetitions. The fitted laws are about what comes on top of a
single step of two states. Writes a picture, and prints the table.
"""

import argparse
import json
import math
import pathlib
import random
import resource
import statistics
import subprocess
import tempfile

import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {"states": [2, 4, 6, 8, 12, 20], "steps": [10, 30, 100, 300, 1000]}
TITLES = {"states": "states (50 steps)", "steps": "steps (4 states)"}
HIDDEN = [64, 64]


def network(inputs, seed, path):
    """A policy with ReLU in NNet format; the file squashes its output."""
    draw = random.Random(seed)
    sizes = [inputs, *HIDDEN, 1]
    lines = ["// A policy with random weights", f"{len(sizes) - 1},{inputs},1,{max(sizes)},", ",".join(map(str, sizes)) + ",", "0,"]
    lines += [",".join(["-1e6"] * inputs) + ",", ",".join(["1e6"] * inputs) + ",", "0," * (inputs + 1), "1," * (inputs + 1)]
    for before, after in zip(sizes, sizes[1:]):
        deviation = math.sqrt(2 / before)
        lines += [",".join(f"{draw.gauss(0, deviation):.9g}" for _ in range(before)) + "," for _ in range(after)]
        lines += [f"{draw.gauss(0, 0.1):.9g}," for _ in range(after)]
    path.write_text("\n".join(lines) + "\n")


def system(states, steps, folder):
    """A chain of oscillators: positions and velocities in turns."""
    names = [f"x{i}" for i in range(states)]
    lines = ["system chain", *(f"state {name} in [-100, 100]" for name in names)]
    lines += [f'policy u = tanh(net("policy.nnet", {", ".join(names)}))', "step 0.1 exact"]
    for i in range(0, states, 2):
        pull = f" + 0.3 * ({names[i - 2]} - {names[i]})" if i else ""
        drive = " + u" if i + 2 >= states else ""
        lines += [f"der {names[i]} = {names[i + 1]}", f"der {names[i + 1]} = -{names[i]} - 0.1 * {names[i]}^3 - {names[i + 1]}{pull}{drive}"]
    lines += ["init " + " & ".join(f"{name} in [0.4, 0.5]" for name in names)]
    inside = " & ".join(f"abs({name}) <= 2" for name in names)
    lines += [f"property inside = G<={steps - 1} throughout({inside})"]
    path = folder / "chain.certus"
    path.write_text("\n".join(lines) + "\n")
    return path


def check(program, path, timeout):
    """The verdict, and CPU seconds."""
    command = [program, "check", path, "--engine", "reach", "--threads", "1", "--timeout", timeout, "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict = json.loads(done.stdout)["results"][0]["verdict"]
    return verdict, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(program, states, steps, seed, own):
    """The verdict on one loop, and the median of the repetitions."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        network(states, seed, folder / "policy.nnet")
        path = system(states, steps, folder)
        replies = [check(program, path, own.timeout)]
        while len(replies) < own.repeat and replies[0][1] < 5:
            replies.append(check(program, path, own.timeout))
    return replies[0][0], statistics.median(seconds for _, seconds in replies)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "pictures" / "reach-growth.svg")
    own = parser.parse_args()
    start = statistics.median(measured(own.program, 2, 1, 1, own)[1] for _ in range(5))
    print(f"a single step of two states: {start:.3f} s\n")
    print("| series | size | verdicts | median s | slowest s |\n| --- | --- | --- | --- | --- |")
    results, notes = {}, {}
    for series, sizes in SIZES.items():
        results[series] = []
        for size in sizes:
            states, steps = (size, 50) if series == "states" else (4, size)
            rows = []
            for seed in range(1, own.seeds + 1):
                rows.append(measured(own.program, states, steps, seed, own))
            results[series].append((size, rows))
            seconds = [time for _, time in rows]
            print(f"| {series} | {size} | {' '.join(verdict for verdict, _ in rows)} | {statistics.median(seconds):.3f} | {max(seconds):.3f} |", flush=True)
        decided = [(size, statistics.median(time for _, time in rows)) for size, rows in results[series] if all(own == "holds" for own, _ in rows)]
        exponent, _ = plots.fit(decided, start)
        notes[series] = "too few points to fit" if math.isnan(exponent) else f"time ~ size^{exponent:.2f}"
    print()
    for series, note in notes.items():
        print(f"{series}: {note}")
    plots.draw(results, notes, own.output, titles=TITLES, heading="Time of certus check --engine reach against the size of the loop",
               footer="A dot is one policy; hollow: not decided within the limit.")


if __name__ == "__main__":
    main()
