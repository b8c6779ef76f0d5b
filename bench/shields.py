"""Shields for the systems of Zhu et al. (PLDI 2019): synthesis, audit and runs, as a table.

    python bench/shields.py [--certus target/release/certus] [--networks FOLDER] [--runs 1000] [--steps 5000] [NAME ...]

`--networks` names a folder of the published controllers as ONNX files; without it the zoo's networks are used. One line per
system: branches, invariant, seconds of synthesis, bytes of the certificate, seconds of the audit, unsafe runs without and
with the shield, interventions, steps to settle without and with, nanoseconds of the network and of the monitor.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

# System, property, published controller, settings.
CASES = [
    ("satellite", "stays_safe", "satellite", []),
    ("dcmotor", "stays_safe", "dcmotor", []),
    ("tape", "stays_safe", "tape", []),
    ("magnetic_pointer", "stays_safe", "magnetic_pointer", []),
    ("suspension", "stays_safe", "suspension", []),
    ("biology", "no_hyperglycaemia", "biology", []),
    ("cooling", "stays_safe", "cooling", []),
    ("quadcopter", "stays_safe", "quadcopter", []),
    ("pendulum", "case_study", "pendulum_continuous", []),
    ("cartpole", "stays_safe", "cartpole_continuous", []),
    ("selfdriving", "stays_on_road", "selfdriving", []),
    ("lanekeeping", "stays_in_lane", "lanekeeping", []),
    ("platoon4", "stays_safe", None, []),
    ("platoon8", "stays_safe", None, []),
    ("oscillator", "stays_below", "oscillator18", []),
    ("cartpole_long", "stays_safe", "cartpole_discrete", []),
    ("pendulum_heavier", "stays_safe", "pendulum_continuous", ["mass=1.3"]),
    ("pendulum_longer", "stays_safe", "pendulum_continuous", ["length=1.15"]),
    ("selfdriving_obstacle", "avoids_obstacle", "selfdriving_obstacle", []),
]


def call(arguments):
    """The JSON document that a command prints, its exit code, and the seconds that it took."""
    started = time.perf_counter()
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    seconds = time.perf_counter() - started
    try:
        return json.loads(done.stdout), done.returncode, seconds
    except json.JSONDecodeError:
        return {"reason": (done.stderr or done.stdout).strip()}, done.returncode, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--certus", default="target/release/certus")
    parser.add_argument("--networks", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--degree", type=int)
    options = parser.parse_args()
    zoo = pathlib.Path(__file__).resolve().parent.parent / "zoo"
    print("| system | branches | invariant | synthesis s | certificate kB | audit s | unsafe alone | unsafe shielded |"
          " interventions | settle alone | settle shielded | network ns | monitor ns |")
    print("|" + " --- |" * 13)
    worst = 0
    for name, prop, published, settings in CASES:
        if options.names and name not in options.names:
            continue
        network = []
        if options.networks is not None:
            if published is None or not (options.networks / f"{published}.onnx").exists():
                continue
            network = ["--network", f"a={options.networks / published}.onnx"]
        with tempfile.TemporaryDirectory() as folder:
            shield = pathlib.Path(folder) / "shield.json"
            extra = [part for setting in settings for part in ("--set", setting)]
            if options.degree:
                extra += ["--invariant", "polynomial", "--degree", options.degree]
            made, code, _ = call([options.certus, "shield", zoo / name / f"{name}.certus", prop, "-o", shield, "--json",
                                  "--timeout", options.timeout, *network, *extra])
            if code != 0:
                print(f"| {name} | - | {made.get('reason', '?')} | {made.get('seconds', 0):.2f} |" + " - |" * 9, flush=True)
                worst = 1
                continue
            audit, code, _ = call([options.certus, "audit", shield, "--json"])
            if code != 0:
                print(f"| {name} | AUDIT REJECTED {audit} |", flush=True)
                worst = 1
                continue
            run, code, _ = call([options.certus, "shield", "run", shield, "--json", "--quiet", "--runs", options.runs,
                                 "--steps", options.steps, *network])
            worst = max(worst, code)
            alone, guarded = run["network_alone"], run["with_shield"]
            kinds = "; ".join(branch["invariant"] for branch in made["branches"])
            print(f"| {name} | {len(made['branches'])} | {kinds} | {made['seconds']:.2f} | {made['bytes'] / 1024:.0f} |"
                  f" {audit['seconds']:.3f} | {alone['unsafe_runs']} | {guarded['unsafe_runs']} |"
                  f" {guarded['interventions']} | {alone['steps_to_settle']:.1f} | {guarded['steps_to_settle']:.1f} |"
                  f" {run['network_nanoseconds']:.0f} | {run['monitor_nanoseconds']:.0f} |", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
