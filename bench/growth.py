"""How the time of `certus verify` grows with copies of a network, its width and its inputs.

    python bench/growth.py [--timeout 60] [--repeat 3] [--threads 1] [--series copies,width,inputs] [--quick] [--program CERTUS]

The networks are fixed by seeds: weights normal with variance 2 / (inputs of the layer), biases normal with deviation
0.1, ReLU in between.
- copies: a policy of two layers of 16 drives a damped double integrator, unrolled k times in one network; the state
  starts in [-0.2, 0.2]².
- width: two inputs, two layers of w.
- inputs: n inputs, two layers of 32, a box around a random point whose radius falls with √n, so that the diagonal of
  the region stays the same.
Each asks whether the output can exceed what a search reaches by 10 % of its range: unsat, unless the search missed a
peak (then the row says `sat`). Times are medians of processor time, with the start of the program. Each series is fitted: seconds beyond
the start as a power of the size, or as a factor per copy. Writes docs/pictures/solver-growth.svg and prints the table.
"""

import argparse
import math
import pathlib
import statistics
import tempfile

import numpy as np
import onnx

import plots
import queries
from random_networks import Builder

MARGIN = 0.10
SIZES = {
    "copies": list(range(1, 11)),
    "width": [16, 32, 64, 128, 256, 512, 1024],
    "inputs": [2, 4, 8, 16, 32, 64, 128, 300],
}
QUICK = {"copies": [1, 2, 3], "width": [16, 64], "inputs": [2, 16]}
SEEDS = (1, 2, 3)


# Networks.

def he_layers(sizes, rng):
    """Random dense layers."""
    normal = lambda *shape, scale: (rng.standard_normal(shape) * scale).astype(np.float32)
    return [(normal(b, a, scale=math.sqrt(2.0 / a)), normal(b, scale=0.1)) for a, b in zip(sizes, sizes[1:])]


def policy(builder, source, layers):
    for number, layer in enumerate(layers):
        source = builder.dense(source, len(layer[1]), layer)
        source = builder.unary(source, "relu") if number < len(layers) - 1 else source
    return source


def closed_loop(copies, rng):
    """A damped double integrator of step 0.1 under a policy, unrolled: the first state after so many steps."""
    builder = Builder(2, rng)
    layers = he_layers([2, 16, 16, 1], rng)
    step = (np.array([[1.0, 0.1], [-0.1, 0.9]], np.float32), np.zeros(2, np.float32))
    push = (np.array([[0.0], [0.1]], np.float32), np.zeros(2, np.float32))
    state = "x"
    for _ in range(copies):
        action = policy(builder, state, layers)
        state = builder.apply("Add", [builder.dense(state, 2, step), builder.dense(action, 2, push)], 2, np.add)
    first = (np.array([[1.0, 0.0]], np.float32), np.zeros(1, np.float32))
    return builder, builder.dense(state, 1, first), np.full(2, -0.2), np.full(2, 0.2)


def of_width(width, rng):
    builder = Builder(2, rng)
    return builder, policy(builder, "x", he_layers([2, width, width, 1], rng)), np.full(2, -1.0), np.full(2, 1.0)


def of_inputs(inputs, rng):
    builder = Builder(inputs, rng)
    output = policy(builder, "x", he_layers([inputs, 32, 32, 1], rng))
    middle, radius = rng.uniform(-1, 1, inputs), 0.1 * math.sqrt(2.0 / inputs)
    return builder, output, np.round(middle - radius, 6), np.round(middle + radius, 6)


MAKE = {"copies": closed_loop, "width": of_width, "inputs": of_inputs}


def query(series, size, seed, folder):
    """Network and specification of one point of a series."""
    rng = np.random.default_rng([seed, size if series != "copies" else 0])
    builder, output, low, high = MAKE[series](size, rng)
    function = builder.function(output)
    count = 20_000 if size < 512 else 4_000
    top, bottom = queries.highest(lambda x: function(x)[:, 0], low, high, rng, count)
    bound = float(f"{top + MARGIN * (top - bottom):.9g}")
    case = queries.Case(low.tolist(), high.tolist(), queries.Atom({("Y", 0): -1.0}, -bound))
    network, specification = folder / "network.onnx", folder / "query.vnnlib"
    onnx.save(builder.model(output), network)
    specification.write_text(queries.vnnlib([case], len(low), 1))
    return network, specification


# Measuring.

def start_time(program, repeat):
    """What the program costs with nothing to do: a network of one number."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        builder = Builder(1, np.random.default_rng(0))
        onnx.save(builder.model(builder.unary("x", "relu")), folder / "network.onnx")
        case = queries.Case([0.0], [1.0], queries.Atom({("Y", 0): -1.0}, -2.0))
        (folder / "query.vnnlib").write_text(queries.vnnlib([case], 1, 1))
        return statistics.median(queries.ask(program, folder / "network.onnx", folder / "query.vnnlib", 10).cpu for _ in range(repeat))


def measure(series, size, arguments, program):
    """Per seed the verdict and the median time."""
    rows = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            network, specification = query(series, size, seed, pathlib.Path(folder))
            replies = [queries.ask(program, network, specification, arguments.timeout, arguments.threads)]
            while len(replies) < arguments.repeat and replies[0].seconds < 5:
                replies.append(queries.ask(program, network, specification, arguments.timeout, arguments.threads))
        rows.append((replies[0].verdict, statistics.median(reply.cpu for reply in replies)))
    return rows


TITLES = {"copies": "copies in a loop", "width": "width of two layers", "inputs": "inputs"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--series", default="copies,width,inputs")
    parser.add_argument("--quick", action="store_true", help="a few sizes only")
    parser.add_argument("--output", type=pathlib.Path, default=queries.ROOT / "docs" / "pictures" / "solver-growth.svg")
    parser.add_argument("--program", type=pathlib.Path, help="a built certus")
    arguments = parser.parse_args()
    program = arguments.program or queries.built_program()
    start = start_time(program, 11)
    print(f"start of the program: {start * 1e3:.1f} ms\n")
    print("| series | size | verdicts | median s | slowest s |\n| --- | --- | --- | --- | --- |")
    results, notes = {}, {}
    for series in arguments.series.split(","):
        results[series] = []
        for size in (QUICK if arguments.quick else SIZES)[series]:
            rows = measure(series, size, arguments, program)
            results[series].append((size, rows))
            seconds = [time for _, time in rows]
            verdicts = " ".join(verdict.split(" ")[0] for verdict, _ in rows)
            print(f"| {series} | {size} | {verdicts} | {statistics.median(seconds):.4f} | {max(seconds):.4f} |", flush=True)
        decided = [(size, statistics.median(time for _, time in rows)) for size, rows in results[series]
                   if all(verdict in ("sat", "unsat") for verdict, _ in rows)]
        exponent, factor = plots.fit(decided, start)
        notes[series] = f"× {factor:.2f} per copy" if series == "copies" else f"time ~ size^{exponent:.2f}"
        if math.isnan(exponent):
            notes[series] = "too few points to fit"
    print()
    for series, note in notes.items():
        print(f"{series}: {note}")
    heading = "Time of certus verify against the size of the query"
    plots.draw(results, notes, arguments.output, titles=TITLES, heading=heading, footer="A dot is one network; hollow: not decided within the limit.", linear=["copies"])


if __name__ == "__main__":
    main()
