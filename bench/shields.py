"""Shields for the systems of Zhu et al. (PLDI 2019): synthesis, audit and runs, as tables.

    python bench/shields.py [--certus target/release/certus] [--networks FOLDER] [--runs 1000] [--steps 5000] [NAME ...]
    python bench/shields.py --degrees [--networks FOLDER]
    python bench/shields.py --published FOLDER

The first makes, audits and runs a shield for each of the nineteen cases. `--networks` names a folder of the published
controllers as ONNX files; without it the zoo's networks are used. `--degrees` asks for polynomial invariants of degree 2, 4
and 8 instead (Table 2). `--published` takes the published invariant of the lane-keeping system from a folder, shows a state
from which a step leaves it, and that the audit rejects it.

Exit code 1: a shield was not found, was rejected, or a shielded run entered an unsafe state.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"

# System, property, published controller, settings; the paper's failures of the network alone, program size, interventions.
CASES = [
    ("satellite", "stays_safe", "satellite", [], (0, 1, 0)),
    ("dcmotor", "stays_safe", "dcmotor", [], (0, 1, 0)),
    ("tape", "stays_safe", "tape", [], (0, 1, 0)),
    ("magnetic_pointer", "stays_safe", "magnetic_pointer", [], (0, 1, 0)),
    ("suspension", "stays_safe", "suspension", [], (0, 1, 0)),
    ("biology", "no_hyperglycaemia", "biology", [], (0, 1, 0)),
    ("cooling", "stays_safe", "cooling", [], (0, 1, 0)),
    ("quadcopter", "stays_safe", "quadcopter", [], (182, 2, 185)),
    ("pendulum", "case_study", "pendulum_continuous", [], (60, 3, 65)),
    ("cartpole", "stays_safe", "cartpole_continuous", [], (47, 4, 1799)),
    ("selfdriving", "stays_on_road", "selfdriving", [], (61, 1, 236)),
    ("lanekeeping", "stays_in_lane", "lanekeeping", [], (36, 1, 64)),
    ("platoon4", "stays_safe", None, [], (8, 4, 8)),
    ("platoon8", "stays_safe", None, [], (40, 1, 1080)),
    ("oscillator", "stays_below", "oscillator18", [], (371, 1, 93703)),
    ("cartpole_long", "stays_safe", "cartpole_discrete", [], (3, 1, 8)),
    ("pendulum_heavier", "stays_safe", "pendulum_continuous", ["mass=1.3"], (77, 1, 8748)),
    ("pendulum_longer", "stays_safe", "pendulum_continuous", ["length=1.15"], (76, 1, 7060)),
    ("selfdriving_obstacle", "avoids_obstacle", "selfdriving_obstacle", [], (203, 1, 108320)),
]

COLUMNS = ["system", "variables", "network parameters", "unsafe alone", "branches", "invariants", "synthesis s",
           "certificate kB", "audit s", "unsafe shielded", "interventions", "settle alone", "settle shielded",
           "monitor / network", "paper: unsafe alone", "paper: branches", "paper: interventions"]

# System, property, published controller; the paper's seconds and interventions for degrees 2, 4 and 8 (TO: two hours).
DEGREES = [
    ("pendulum", "case_study", "pendulum_continuous", {2: ("TO", "-"), 4: ("22.6", "40542"), 8: ("23.6", "30787")}),
    ("selfdriving", "stays_on_road", "selfdriving", {2: ("TO", "-"), 4: ("24", "128851"), 8: ("25.1", "123671")}),
    ("platoon8", "stays_safe", None, {2: ("172.9", "43952"), 4: ("540.2", "37990"), 8: ("TO", "-")}),
]


def call(arguments):
    """The JSON document that a command prints, and its exit code."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    try:
        return json.loads(done.stdout), done.returncode
    except json.JSONDecodeError:
        return {"reason": (done.stderr or done.stdout).strip()}, done.returncode


def shielded(options, name, prop, network, extra):
    """What making, auditing and running a shield gave, or the reason why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        shield = pathlib.Path(folder) / "shield.json"
        made, code = call([options.certus, "shield", ZOO / name / f"{name}.certus", prop, "-o", shield, "--json",
                           "--timeout", options.timeout, *network, *extra])
        if code != 0:
            return None, made.get("reason", "?")
        audit, code = call([options.certus, "audit", shield, "--json"])
        if code != 0:
            return None, f"AUDIT REJECTED {audit.get('reason')}"
        states = len(json.loads(shield.read_text())["states"])
        run, code = call([options.certus, "shield", "run", shield, "--json", "--quiet", "--runs", options.runs,
                          "--steps", options.steps, *network])
        if code != 0:
            return None, f"NOT SAFE {run}"
        return (made, audit, states, run), None


def network_of(options, name, published):
    """The arguments that name a network, and its file; none if there is no such one."""
    if options.networks is None:
        return [], ZOO / name / f"{name}.onnx"
    file = options.networks / f"{published}.onnx"
    return (["--network", f"a={file}"], file) if published is not None and file.exists() else (None, None)


def cases(options):
    """The nineteen cases."""
    worst = 0
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for name, prop, published, settings, paper in CASES:
        if options.names and name not in options.names:
            continue
        network, file = network_of(options, name, published)
        if network is None:
            continue
        found, reason = shielded(options, name, prop, network,
                                 [part for setting in settings for part in ("--set", setting)])
        if found is None:
            print(f"| {name} | {reason} |", flush=True)
            worst = 1
            continue
        made, audit, states, run = found
        alone, guarded = run["network_alone"], run["with_shield"]
        size = call([options.certus, "inspect", file, "--json"])[0].get("parameters", "?")
        kinds = "; ".join(branch["invariant"] for branch in made["branches"])
        row = [name, states, size, alone["unsafe_runs"], len(made["branches"]), kinds, f"{made['seconds']:.1f}",
               f"{made['bytes'] / 1024:.0f}", f"{audit['seconds']:.3f}", guarded["unsafe_runs"], guarded["interventions"],
               f"{alone['steps_to_settle']:.0f}", f"{guarded['steps_to_settle']:.0f}",
               f"{100 * run['monitor_nanoseconds'] / run['network_nanoseconds']:.0f} %", *paper]
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    return worst


def degrees(options):
    """Degrees 2, 4 and 8."""
    print("| system | degree | invariants | synthesis s | unsafe alone | unsafe shielded | interventions |"
          " paper: s | paper: interventions |\n|" + " --- |" * 9, flush=True)
    for name, prop, published, paper in DEGREES:
        if options.names and name not in options.names:
            continue
        network, _ = network_of(options, name, published)
        for degree, (seconds, interventions) in paper.items():
            if network is None:
                continue
            found, reason = shielded(options, name, prop, network, ["--invariant", "polynomial", "--degree", degree])
            if found is None:
                cells = [name, degree, reason] + ["-"] * 4
            else:
                made, _, _, run = found
                kinds = "; ".join(branch["invariant"] for branch in made["branches"])
                cells = [name, degree, kinds, f"{made['seconds']:.1f}", run["network_alone"]["unsafe_runs"],
                         run["with_shield"]["unsafe_runs"], run["with_shield"]["interventions"]]
            print("| " + " | ".join(str(cell) for cell in [*cells, seconds, interventions]) + " |", flush=True)
    return 0


def published(options):
    """The published invariant of the lane-keeping system: a step that leaves it, and the audit's verdict."""
    import random

    stored = json.loads((options.published / "lanekeeping.shield.json").read_text())
    piece = stored["pieces"][0]
    terms = [(term["c"], term["e"]) for term in piece["invariant_le_zero"]["terms"]]
    gain = piece["gain"]

    def energy(x):
        total = 0.0
        for coefficient, exponents in terms:
            for value, exponent in zip(x, exponents):
                coefficient *= value**exponent
            total += coefficient
        return total

    def step(x, d):
        a = [max(-1.0, min(1.0, sum(k * value for k, value in zip(row, x)))) for row in gain]
        y, vy, yaw, rate = x
        return [y + 0.01 * (vy + 27.7 * yaw), vy + 0.01 * (-5.07166 * vy - 27.49298 * rate + 80.60606 * a[0]),
                yaw + 0.01 * (rate + d), rate + 0.01 * (0.14754 * vy - 6.44973 * rate + 63.7628 * a[1])]

    draw = random.Random(0)
    for _ in range(200000):
        x = [draw.uniform(-0.9, 0.9), draw.uniform(-3, 3), draw.uniform(-0.5, 0.5), draw.uniform(-3, 3)]
        for d in (-0.035, 0.035):
            if energy(x) <= 0 < energy(step(x, d)):
                print(f"E({x}) = {energy(x):.4g} is inside; after a step with d = {d}: E({step(x, d)}) = {energy(step(x, d)):.4g}")
                return reject(options, terms, gain)
    print("no state was found that a step leaves the published invariant from")
    return 1


def reject(options, terms, gain):
    """Puts the published program and invariant in the place of a proved one, and audits that."""
    with tempfile.TemporaryDirectory() as folder:
        shield = pathlib.Path(folder) / "shield.json"
        call([options.certus, "shield", ZOO / "lanekeeping" / "lanekeeping.certus", "-o", shield, "--json",
              "--invariant", "polynomial"])
        document = json.loads(shield.read_text())
        units = [[1 if i == j else 0 for j in range(4)] for i in range(4)]
        branch = document["branches"][0]
        branch["program"] = [[[k, unit] for k, unit in zip(row, units)] for row in gain]
        branch["invariant"]["polynomial"] = terms
        shield.write_text(json.dumps(document))
        audit, code = call([options.certus, "audit", shield, "--json"])
        print(f"audit: {audit['verdict']}: {audit.get('reason')}")
        return 0 if code == 1 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--certus", default="target/release/certus")
    parser.add_argument("--networks", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--degrees", action="store_true")
    parser.add_argument("--published", type=pathlib.Path)
    options = parser.parse_args()
    if options.published is not None:
        return published(options)
    return degrees(options) if options.degrees else cases(options)


if __name__ == "__main__":
    sys.exit(main())
