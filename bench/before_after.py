"""Processor time of two builds of Certus on the same work, in turns: what a change to the structure of the code must not slow down.

    python bench/before_after.py --before CERTUS [--program CERTUS] [--acasxu FOLDER] [--repeat 5] [--only NAME …]

The work: the instances of ACAS Xu (with `--acasxu`), the grid of the mountain car, the unfoldings of Table 1 of `bench/probabilities.py`, and the
synthesis of the zoo's shields. Each figure is the median of the sums over all parts of a case. Prints Markdown.
"""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile

import shields

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAR = ["--set", "p0_low=-0.5", "--set", "p0_high=-0.49991", "--set", "v0_high=0.00009"]
SMALL = ["--set", "v0_low=-0.1", "--set", "v0_high=0"]
TEMPLATE = ["--direction", "0.2222222222222222,1", "--direction", "0.2222222222222222,-1"]


def processor_seconds(command):
    """User and system time of one process."""
    child = subprocess.Popen([str(word) for word in command], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) == 2:
        raise SystemExit(f"refused: {' '.join(str(word) for word in command)}")
    return usage.ru_utime + usage.ru_stime


def acasxu(folder):
    with open(folder / "acasxu_instances.csv") as table:
        for row in csv.reader(table):
            network, specification = (folder / pathlib.Path(cell).name for cell in row[:2])
            yield ["verify", network, specification, "--timeout", "116"]


def mountain_car():
    for policy in ("network", "extracted"):
        yield ["check", "zoo/mountain_car/mountain_car.certus", "reaches_goal", "--engine", "grid", "--width", "0.0001", "--policy", policy, *CAR]


def table_1():
    ball, car, pendulum = (f"zoo/{name}/{name}.certus" for name in ("ball", "stopping_car", "pendulum_softmax"))
    rows = [(ball, settings, 0.2, domain, 0.1) for settings in (SMALL, []) for domain in ("box", "octagon")]
    rows += [(car, [], 0.1, domain, spread) for spread in (0.33, 0.5) for domain in ("box", "octagon", "template")]
    rows += [(pendulum, [], 0.2, "box", 0.5)]
    for file, settings, shortest, domain, spread in rows:
        shape = TEMPLATE if domain == "template" else ["--domain", domain]
        for merge in ([], ["--merge"]):
            yield ["prob", file, "worst", "--method", "unfold", "--spread", spread, "--shortest", shortest, *settings, *shape, *merge]


def synthesis(folder):
    for name, prop, _, settings, _ in shields.CASES:
        chosen = [part for setting in settings for part in ("--set", setting)]
        yield ["shield", f"zoo/{name}/{name}.certus", prop, "-o", folder / f"{name}.json", "--timeout", "120", *chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/certus")
    parser.add_argument("--acasxu", type=pathlib.Path, help="the folder with networks and instances")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", action="append", help="only these cases: acasxu, grid, table, shields")
    options = parser.parse_args()
    print("| work | before, s | after, s | ratio |\n| --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        cases = {"grid": list(mountain_car()), "table": list(table_1()), "shields": list(synthesis(pathlib.Path(folder)))}
        if options.acasxu:
            cases["acasxu"] = list(acasxu(options.acasxu))
        for name, commands in cases.items():
            if options.only and name not in options.only:
                continue
            sums = {program: [0.0] * options.repeat for program in (options.before, options.program)}
            for repeat in range(options.repeat):
                for command in commands:
                    for program, own in sums.items():
                        own[repeat] += processor_seconds([program, *command])
            before, after = (statistics.median(own) for own in sums.values())
            print(f"| {name} | {before:.2f} | {after:.2f} | {after / before:.2f} |", flush=True)


if __name__ == "__main__":
    main()
