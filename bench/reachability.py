"""Closed loops in continuous time: the ReachNN and ARCH-COMP AINNCS benchmarks with their published networks.

    python bench/reachability.py --program target/release/certus --networks DATA [--polar FOLDER] [--engine auto] [--only b1_relu …]

DATA has the folders `reachnn` and `arch` with the public networks as ONNX files. They are not part of this repository. For each benchmark a
system file is written with the published plant, period, initial set and property; every one is checked with the same default settings. CPU
seconds are those of the process and its threads, the least of a few runs.

With `--polar`, POLAR's own programs run in turn with ours, where there is one that asks the same (`bench/polar.py`). Without one, figures in parentheses
are from an earlier run and count for nothing.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import polar

LONG = 10  # seconds


def system(name, states, policy, period, ders, init, properties, inputs="", ranges=(-1000, 1000)):
    lines = [f"system {name}"]
    lines += [f"state {s} in [{ranges[0]}, {ranges[1]}]" for s in states]
    lines += [inputs] if inputs else []
    lines += [policy, f"step {period} exact"]
    lines += [f"der {s} = {e}" for s, e in zip(states, ders)]
    lines += ["init " + " & ".join(f"{s} in [{lo}, {hi}]" for s, (lo, hi) in zip(states, init))]
    lines += [f"property {n} = {p}" for n, p in properties]
    return "\n".join(lines) + "\n"


def inside(box):
    return " & ".join(f"{s} in [{lo}, {hi}]" for s, (lo, hi) in box.items())


def reachnn():
    plants = {
        1: (["x1", "u * x1^2 - x0"], 0.2, 35, [(0.8, 0.9), (0.5, 0.6)], {"x0": (0, 0.2), "x1": (0.05, 0.3)}),
        2: (["x1 - x0^3", "u"], 0.2, 10, [(0.7, 0.9), (0.7, 0.9)], {"x0": (-0.3, 0.1), "x1": (-0.35, 0.5)}),
        3: (
            ["-x0 * (0.1 + (x0 + x1)^2)", "(u + x0) * (0.1 + (x0 + x1)^2)"],
            0.1,
            60,
            [(0.8, 0.9), (0.4, 0.5)],
            {"x0": (0.2, 0.3), "x1": (-0.3, -0.05)},
        ),
        4: (
            ["-x0 + x1 - x2", "-x0 * (x2 + 1) - x1", "-x0 + u"],
            0.1,
            10,
            [(0.25, 0.27), (0.08, 0.1), (0.25, 0.27)],
            {"x0": (-0.2, -0.1), "x1": (0, 0.05)},
        ),
        5: (
            ["x2^3 - x1", "x2", "u"],
            0.2,
            10,
            [(0.38, 0.4), (0.45, 0.47), (0.25, 0.27)],
            {"x0": (-0.43, -0.15), "x1": (0.05, 0.22)},
        ),
        6: (
            ["x1", "-x0 + 0.1 * sin(x2)", "x3", "u"],
            0.5,
            10,
            [(-0.77, -0.75), (-0.45, -0.43), (0.51, 0.53), (-0.3, -0.28)],
            {"x0": (-0.1, 0.2), "x1": (-0.9, -0.6)},
        ),
    }
    for k, (ders, period, steps, init, goal) in plants.items():
        states = [f"x{i}" for i in range(len(ders))]
        for kind in ["relu", "tanh"]:
            net = f"reachnn/nn_{k}_{kind}.onnx"
            policy = f'policy u = net("{net}", {", ".join(states)})'
            text = system(f"b{k}_{kind}", states, policy, period, ders, init, [("at_end", f"F[{steps}, {steps}] ({inside(goal)})")])
            yield f"b{k}_{kind}", text


def arch():
    acc = ["x2", "x3", "-4 - 2 * x3 - 0.0001 * x2^2", "x5", "x6", "2 * (u - x6) - 0.0001 * x5^2"]
    six = [f"x{i}" for i in range(1, 7)]
    for kind in ["relu", "tanh"]:
        policy = f'policy u = net("arch/acc_{kind}.onnx", 30, 1.4, x5, x1 - x4, x2 - x5)'
        init = [(90, 110), (32, 32.2), (0, 0), (10, 11), (30, 30.2), (0, 0)]
        yield f"acc_{kind}", system(f"acc_{kind}", six, policy, 0.1, acc, init, [("safe", "G[0s, 5s] throughout(x1 - x4 >= 10 + 1.4 * x5)")])
    text = system(
        "single_pendulum",
        ["theta", "omega"],
        'policy u = net("arch/single_pendulum.onnx", theta, omega)',
        0.05,
        ["omega", "2 * sin(theta) + 8 * u"],
        [(1, 1.175), (0, 0.2)],
        [("settles", "G[0.5s, 1s] throughout(theta in [0, 1])")],
    )
    yield "single_pendulum", text
    four = ["t1", "t2", "w1", "w2"]
    d = "(t1 - t2)"
    a, b = f"w1^2 * sin{d}", f"w2^2 * sin{d} / 2"
    big = f"({a} - cos{d} * (2 * sin(t1) - {b} + 4 * u[0]) + 2 * sin(t2) + 8 * u[1])"
    den = f"(cos{d}^2 / 2 - 1)"
    ders = ["w1", "w2", f"cos{d} * {big} / (2 * {den}) - {b} + 2 * sin(t1) + 4 * u[0]", f"-{big} / {den}"]
    safe = " & ".join(f"{s} in [-1.7, 2]" for s in four)
    policy = 'policy u = net("arch/double_pendulum_less_robust.onnx", t1, t2, w1, w2)'
    yield "double_pendulum", system("double_pendulum", four, policy, 0.05, ders, [(1, 1.3)] * 4, [("safe", f"G[0s, 1s] throughout({safe})")])
    tora = ["x2", "-x1 + 0.1 * sin(x3)", "x4", "u"]
    xs = ["x1", "x2", "x3", "x4"]
    init = [(0.6, 0.7), (-0.7, -0.6), (-0.4, -0.3), (0.5, 0.6)]
    safe = " & ".join(f"{s} in [-2, 2]" for s in xs)
    policy = 'policy u = net("arch/tora_relu.onnx", x1, x2, x3, x4) - 10'
    yield "tora_relu", system("tora_relu", xs, policy, 1, tora, init, [("safe", f"G[0s, 20s] throughout({safe})")])
    init = [(-0.77, -0.75), (-0.45, -0.43), (0.51, 0.54), (-0.3, -0.28)]
    for kind in ["relu_tanh", "sigmoid"]:
        policy = f'policy u = 11 * net("arch/tora_{kind}.onnx", x1, x2, x3, x4)'
        goal = inside({"x1": (-0.1, 0.2), "x2": (-0.9, -0.6)})
        yield f"tora_{kind}", system(f"tora_{kind}", xs, policy, 0.5, tora, init, [("at_5s", f"F[10, 10] ({goal})")])
    uni = ["x4 * cos(x3)", "x4 * sin(x3)", "u[1] - 20", "u[0] - 20 + w"]
    init = [(9.5, 9.55), (-4.5, -4.45), (2.1, 2.11), (1.5, 1.51)]
    goal = inside({"x1": (-0.6, 0.6), "x2": (-0.2, 0.2), "x3": (-0.06, 0.06), "x4": (-0.3, 0.3)})
    policy = 'policy u = net("arch/unicycle.onnx", x1, x2, x3, x4)'
    yield "unicycle_constant", system("unicycle_constant", xs, policy, 0.2, uni, init, [("at_10s", f"F[50, 50] ({goal})")]).replace(
        "policy", "state w in [-0.0001, 0.0001]\nnext w = w\npolicy", 1
    )
    yield "unicycle_varying", system(
        "unicycle_varying", xs, policy, 0.2, uni, init, [("at_10s", f"F[50, 50] ({goal})")], "input w varying in [-0.0001, 0.0001]"
    )
    n = 0.001027
    dock = ["vx", "vy", f"{3 * n * n!r} * x + {2 * n!r} * vy + u[0] / 12", f"-{2 * n!r} * vx + u[1] / 12"]
    policy = 'policy u = net("arch/docking.onnx", x, y, vx, vy)'
    init = [(70, 106), (70, 106), (-0.14, 0.14), (-0.14, 0.14)]
    limit = f"sqrt(vx^2 + vy^2) <= 0.2 + {2 * n!r} * sqrt(x^2 + y^2)"
    yield "docking", system("docking", ["x", "y", "vx", "vy"], policy, 1, dock, init, [("limit", f"G[0s, 40s] throughout({limit})")])
    x = [f"x{i}" for i in range(1, 13)]
    s = {i: f"sin(x{i})" for i in (7, 8, 9)}
    c = {i: f"cos(x{i})" for i in (7, 8, 9)}
    quad = [
        f"{c[9]} * {c[8]} * x4 + ({s[7]} * {c[9]} * {s[8]} - {c[7]} * {s[9]}) * x5 + ({c[7]} * {c[9]} * {s[8]} + {s[7]} * {s[9]}) * x6",
        f"{s[9]} * {c[8]} * x4 + ({s[7]} * {s[9]} * {s[8]} + {c[7]} * {c[9]}) * x5 + ({c[7]} * {s[9]} * {s[8]} - {s[7]} * {c[9]}) * x6",
        f"{s[8]} * x4 - {s[7]} * {c[8]} * x5 - {c[7]} * {c[8]} * x6",
        f"-x11 * x6 - 9.81 * {s[8]}",
        f"x10 * x6 + 9.81 * {s[7]} * {c[8]}",
        f"x11 * x4 - x10 * x5 + 9.81 * {c[7]} * {c[8]} - 9.81 - u[0] / 1.4",
        f"x10 + {s[8]} * {s[7]} / {c[8]} * x11",
        f"{c[7]} * x11",
        f"{s[7]} / {c[8]} * x11",
        "u[1] / 0.054",
        "u[2] / 0.054",
        "0",
    ]
    policy = f'policy u = net("arch/quadrotor.onnx", {", ".join(x)})'
    init = [(-0.4, 0.4)] * 6 + [(0, 0)] * 6
    yield "quadrotor", system("quadrotor", x, policy, 0.1, quad, init, [("at_5s", "F[50, 50] x3 in [0.94, 1.06]")])


def run(program, folder, name, engine, timeout):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "check", f"{name}.certus", "--engine", engine, "--timeout", str(timeout), "--json", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not done.stdout.strip():
        return "error: " + done.stderr.strip().splitlines()[0], spent
    result = json.loads(done.stdout)["results"][0]
    return result["verdict"], spent


def in_turn(calls, repeat):
    """What each call returns (an answer and seconds, or nothing), called in turn, with the least seconds; what takes long is called once."""
    best = [None] * len(calls)
    for turn in range(repeat):
        for place, call in enumerate(calls):
            if turn == 0:
                best[place] = call()
            elif best[place] and best[place][1] < LONG:
                best[place] = min(best[place], call(), key=lambda reply: reply[1])
    return best


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--networks", required=True, type=Path)
    arguments.add_argument("--engine", default="auto")
    arguments.add_argument("--timeout", type=float, default=60)
    arguments.add_argument("--repeat", type=int, default=3, help="the least of so many counts, where one takes less than ten seconds")
    arguments.add_argument("--only", nargs="*", default=[])
    arguments.add_argument("--keep", type=Path, help="a folder to write the system files to")
    arguments.add_argument("--polar", type=Path, help="POLAR's folder, with its benchmark programs built, to be measured in turn with ours")
    arguments.add_argument("--polar-limit", type=int, default=300, help="CPU seconds after which a program of POLAR's is stopped")
    own = arguments.parse_args()
    program = str(Path(own.program).resolve())
    folder = own.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ["reachnn", "arch"]:
        link = folder / kind
        if not link.exists():
            os.symlink((own.networks / kind).resolve(), link)
    groups = {"ReachNN": list(reachnn()), "ARCH-COMP": list(arch())}
    ratios, decided, asked = {group: [] for group in groups}, 0, 0
    print("| benchmark | Certus | CPU s | POLAR | CPU s | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for group, name, text in [(group, *row) for group, rows in groups.items() for row in rows]:
        if own.only and name not in own.only:
            continue
        (folder / f"{name}.certus").write_text(text)
        calls = [lambda: run(program, folder, name, own.engine, own.timeout)]
        calls += [lambda: polar.run(own.polar, name, own.polar_limit)] if own.polar else []
        (verdict, seconds), *theirs = in_turn(calls, own.repeat)
        asked += 1
        decided += verdict in ("holds", "violated")
        row, ratio = ["–", "–"], "–"
        if theirs and theirs[0]:
            answer, taken = theirs[0]
            row = [answer, "–" if math.isinf(taken) else f"{'>' * (answer == 'stopped')}{taken:.3f}"]
            if answer in polar.FINISHED and verdict in ("holds", "violated"):
                ratios[group].append(seconds / taken)
                ratio = f"{seconds / taken:.3f}"
        elif name in polar.KNOWN:
            row = ["earlier", f"({polar.KNOWN[name]})"]
        print("|", " | ".join([name, verdict, f"{seconds:.3f}", *row, ratio]), "|", flush=True)
    print(f"\n{decided} of {asked} decided")
    for group, values in [*ratios.items(), ("all", sum(ratios.values(), []))]:
        if values:
            print(f"{group}: geometric mean of {len(values)} ratios {mean(values):.3f}, largest {max(values):.2f}")


if __name__ == "__main__":
    main()
