"""Certus beside Marabou 2.0 on queries that Marabou can read, one core each.

    python bench/marabou.py [--acasxu FOLDER] [--nn4sys FOLDER] [--limit 120] [--only TEXT] [--program CERTUS]

Needs Python 3.11 and `maraboupy==2.0.0 numpy "onnx<1.17" onnxruntime "protobuf<5"`. The queries: ACAS Xu properties 1
to 4 on six networks, the Aurora queries of NN4Sys that Marabou can read, and ReLU networks that are trained here (two
to four layers, 16 to 64 wide) with bounds a little outside and a little inside of what they reach. Each program runs
as a process of its own on one thread, in turns; its time is from start to verdict, the median of three where it is
below five seconds. 'Solve' is the time inside Marabou's solve call alone, without Python, imports and reading. Certus is always
timed as a whole process. A query counts where Marabou decides it within the limit; where Certus does not, its time is the limit.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import queries

ACAS_NETWORKS = ["1_1", "1_7", "2_3", "3_5", "4_2", "5_9"]
ACAS_PROPERTIES = [1, 2, 3, 4]
# Below this a solve call costs about what the start of a process does, and its ratio to a process says little.
LONGER = 0.1
# Seed, inputs, hidden widths.
TRAINED = [(1, 2, [16, 16]), (2, 3, [16, 16]), (3, 4, [32, 32]), (4, 3, [64, 64]), (5, 4, [24, 24, 24]), (6, 5, [32, 32]),
           (7, 2, [64, 64]), (8, 3, [16, 16, 16, 16]), (9, 6, [16, 16]), (10, 4, [48, 48])]


def decide(network, cases, limit):
    """Marabou's verdict on a query, the input it gives if that is `sat`, and the seconds inside its solve calls.

    Given as inequalities, atoms over a single variable led to many answers that did not replay; they are given as bounds
    here, and bounds that cross are answered without asking. A few answers still do not replay, and some change from run to run.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from maraboupy import Marabou
    options = Marabou.createOptions(timeoutInSeconds=max(1, round(limit)), verbosity=0)
    seconds, verdicts = 0.0, []
    for case in cases:
        for conjunction in queries.conjunctions(case.formula):
            read = Marabou.read_onnx(str(network))
            flat = lambda ports: np.concatenate([port.ravel() for port in ports])
            numbers = {"X": flat(read.inputVars), "Y": flat(read.outputVars)}
            lower, upper = dict(zip(numbers["X"], case.lower)), dict(zip(numbers["X"], case.upper))
            for atom in conjunction:
                variables, factors = [int(numbers[k][i]) for k, i in atom.terms], list(atom.terms.values())
                if len(variables) > 1:
                    read.addInequality(variables, factors, atom.bound)
                elif factors[0] > 0:
                    upper[variables[0]] = min(upper.get(variables[0], np.inf), atom.bound / factors[0])
                else:
                    lower[variables[0]] = max(lower.get(variables[0], -np.inf), atom.bound / factors[0])
            if any(end > upper.get(variable, np.inf) for variable, end in lower.items()):
                verdicts.append("unsat")
                continue
            for variable, end in lower.items():
                read.setLowerBound(int(variable), end)
            for variable, end in upper.items():
                read.setUpperBound(int(variable), end)
            start = time.perf_counter()
            code, values, _ = read.solve(verbose=False, options=options)
            seconds += time.perf_counter() - start
            verdicts.append(code.lower())
            if verdicts[-1] == "sat":
                return "sat", [values[int(variable)] for variable in numbers["X"]], seconds
    undecided = [verdict for verdict in verdicts if verdict != "unsat"]
    return (undecided[0] if undecided else "unsat"), None, seconds


def worker(network, specification, limit):
    cases, _, _ = queries.read(specification)
    verdict, point, seconds = decide(network, cases, limit)
    print(json.dumps({"verdict": verdict, "point": point, "seconds": seconds}))


def replays(network, specification, point):
    """Whether a point of Marabou's satisfies the query in onnxruntime, within 1e-4 as VNN-COMP allows."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    shape = [extent if isinstance(extent, int) else 1 for extent in port.shape]
    x = np.array([point])
    y = session.run(None, {port.name: x.astype(np.float32).reshape(shape)})[0].reshape(1, -1)
    cases, _, _ = queries.read(specification)
    near = [case for case in cases if np.abs(np.clip(x, case.lower, case.upper) - x).max() <= 1e-4]
    return any(queries.margin(case.formula, x, y)[0] >= -1e-4 for case in near)


def ask_marabou(network, specification, limit):
    """Verdict, seconds of the whole process, seconds of the solve calls."""
    command = [sys.executable, __file__, "--worker", network, specification, "--limit", str(limit)]
    start = time.perf_counter()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit + 30)
    except subprocess.TimeoutExpired:
        return "timeout", limit, limit
    seconds = time.perf_counter() - start
    try:
        reply = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        message = (run.stderr.strip().splitlines() or ["no answer"])[-1]
        return f"error: {message[:80]}", seconds, seconds
    if reply["verdict"] == "sat" and not replays(network, specification, reply["point"]):
        return "false sat", seconds, reply["seconds"]
    return reply["verdict"], seconds, reply["seconds"]


def ask_certus(program, network, specification, limit):
    reply = queries.ask(program, network, specification, limit)
    return reply.verdict, reply.seconds


def trained(seed, inputs, hidden):
    """A ReLU network fitted to a random sum of waves by Adam: its weights, layer by layer."""
    rng = np.random.default_rng(seed)
    waves, phases = rng.normal(0, 1.5, (inputs, 4)), rng.uniform(0, 6, 4)
    target = lambda x: np.sin(x @ waves + phases).sum(axis=1, keepdims=True)
    sizes = [inputs, *hidden, 1]
    parameters = [p for a, b in zip(sizes, sizes[1:]) for p in (rng.normal(0, np.sqrt(2 / a), (a, b)), np.zeros(b))]
    first, second = [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters]
    for step in range(1, 1001):
        x = rng.uniform(-1, 1, (128, inputs))
        values = [x]
        for w, b in zip(parameters[::2], parameters[1::2]):
            values.append(values[-1] @ w + b)
            if len(values) < len(sizes):
                values[-1] = np.maximum(values[-1], 0)
        slope, gradients = 2 * (values[-1] - target(x)) / len(x), []
        for layer in reversed(range(len(sizes) - 1)):
            gradients += [slope.sum(axis=0), values[layer].T @ slope]
            slope = (slope @ parameters[2 * layer].T) * (values[layer] > 0)
        for k, g in enumerate(reversed(gradients)):
            first[k] = 0.9 * first[k] + 0.1 * g
            second[k] = 0.999 * second[k] + 0.001 * g * g
            parameters[k] -= 0.005 * (first[k] / (1 - 0.9**step)) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8)
    return [(w.T.astype(np.float32), b.astype(np.float32)) for w, b in zip(parameters[::2], parameters[1::2])]


def relu_network(layers):
    """An ONNX model of dense layers with ReLU in between, and its function on arrays of points."""
    from random_networks import Builder

    builder = Builder(layers[0][0].shape[1], np.random.default_rng(0))
    value = "x"
    for number, layer in enumerate(layers):
        value = builder.dense(value, len(layer[1]), layer)
        value = builder.unary(value, "relu") if number < len(layers) - 1 else value
    return builder.model(value), builder.function(value)


def trained_queries(folder):
    """Names, networks and specifications: can the output exceed what a search reaches by 2 % of its range, or 90 % of it?"""
    import onnx

    for seed, inputs, hidden in TRAINED:
        network, function = relu_network(trained(seed, inputs, hidden))
        name = f"trained {inputs}-{'-'.join(map(str, hidden))}-1"
        path = folder / f"{name.replace(' ', '_')}.onnx"
        onnx.save(network, path)
        top, bottom = queries.highest(lambda x: function(x)[:, 0], -np.ones(inputs), np.ones(inputs), np.random.default_rng(seed))
        for kind, share in (("outside", 1.02), ("inside", 0.90)):
            bound = float(np.round(bottom + share * (top - bottom), 6))
            atom = queries.Atom({("Y", 0): -1.0}, -bound)
            case = queries.Case([-1.0] * inputs, [1.0] * inputs, atom)
            specification = folder / f"{path.stem}_{kind}.vnnlib"
            specification.write_text(queries.vnnlib([case], inputs, 1))
            yield f"{name} {kind}", path, specification


def instances(arguments, folder):
    if arguments.acasxu:
        for number in ACAS_PROPERTIES:
            for network in ACAS_NETWORKS:
                path = arguments.acasxu / f"ACASXU_run2a_{network}_batch_2000.onnx"
                yield f"ACAS {network} p{number}", path, arguments.acasxu / f"prop_{number}.vnnlib"
    if arguments.nn4sys:
        with open(arguments.nn4sys / "instances.csv") as table:
            for network, specification, *_ in csv.reader(table):
                # The others have operators that Marabou's reader does not know.
                if "aurora" in network and "concat" not in network:
                    yield pathlib.Path(specification).stem, arguments.nn4sys / network, arguments.nn4sys / specification
    yield from trained_queries(folder)


def repeated(measure):
    """The result of a measurement whose second part is its time: the median of three where it is short."""
    results = [measure()]
    if results[0][1] < 5:
        results += [measure(), measure()]
    return sorted(results, key=lambda result: result[1])[len(results) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acasxu", type=pathlib.Path)
    parser.add_argument("--nn4sys", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--only", default="", help="only queries whose names contain this")
    parser.add_argument("--program", type=pathlib.Path, help="a built certus")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(*arguments.worker, arguments.limit)
    program = arguments.program or queries.built_program()
    whole, inside, longer, wrong = [], [], [], 0
    print("| query | verdict | Marabou | solve | certus | ratio | ratio, solve |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, network, specification in instances(arguments, pathlib.Path(folder)):
            if arguments.only not in name:
                continue
            verdict, seconds, solve = repeated(lambda: ask_marabou(network, specification, arguments.limit))
            answer, own = repeated(lambda: ask_certus(program, network, specification, arguments.limit))
            verdicts = {verdict, answer}
            if {"sat", "unsat"} <= verdicts:
                wrong += 1
            if verdict not in ("sat", "unsat"):
                print(f"| {name} | {verdict} / {answer} | {seconds:.3f} | {solve:.3f} | {own:.3f} | | |", flush=True)
                continue
            if answer not in ("sat", "unsat"):
                own = arguments.limit
            whole.append(seconds / own)
            inside.append(solve / own)
            if solve >= LONGER:
                longer.append(solve / own)
            both = verdict if len(verdicts) == 1 else f"{verdict} / {answer}"
            print(f"| {name} | {both} | {seconds:.3f} | {solve:.3f} | {own:.3f} | {whole[-1]:.1f} | {inside[-1]:.1f} |", flush=True)
    if whole:
        mean = lambda ratios: statistics.geometric_mean(max(ratio, 1e-9) for ratio in ratios) if ratios else math.nan
        print(f"\n{len(whole)} decided by Marabou, {wrong} contradictions; geometric mean of the ratios {mean(whole):.1f}; of the "
              f"solve call alone {mean(inside):.1f}, and where that takes {LONGER} s or more ({len(longer)} queries) {mean(longer):.1f}")


if __name__ == "__main__":
    sys.exit(main())
