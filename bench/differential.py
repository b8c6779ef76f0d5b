"""Random small queries: what `certus verify` says against brute force, onnxruntime and Marabou.

    python bench/differential.py [--count 1000] [--seed 0] [--timeout 2] [--jobs 1] [--keep FOLDER] [--program CERTUS]

Each query is a random network (`random_networks.py`; families by turns) with one to three boxes of inputs, some of
them flat, and formulas over inputs and outputs whose bounds are moved to where the formula barely holds or barely
fails. Then
- `sat`: the witness must lie in its box, onnxruntime in float32 must give the outputs that were printed, and the formula must
  hold there. A box can be so flat that no double lies in it (`X_0 = 0.1`); a double beside it is counted as 'edge';
- `unsat`: samples, a grid, corners and a local search from the best of them must not satisfy the formula, in float64;
- networks of ReLU, leaky ReLU and max-pooling are also given to Marabou where it is installed (`marabou.py`), and its
  points are replayed too.
What is within 1e-5 of the formula's boundary, relative to the size of its terms, is a tie where float32 or Marabou is
concerned; a point in float64 against `unsat` may only be 1e-12 beyond it. Prints a table by family, and keeps network, query
and a note of every disagreement and of every error of Marabou's. Exits with 1 if there is a disagreement.
"""

import argparse
import collections
import importlib.util
import itertools
import math
import multiprocessing
import os
import pathlib
import pickle
import sys
import tempfile
from fractions import Fraction

import numpy as np
import onnx
import onnxruntime

import queries
from queries import And, Atom, Case, Or, atoms, holds, margin
from random_networks import FAMILIES, FOR_MARABOU, random_network

KINDS = [*FAMILIES, "copies of relu", "copies of smooth", "copies of waves"]
TIE = 1e-5
# What the float64 evaluation of these networks may be off by; `unsat` is a claim about the reals.
ROUNDING = 1e-12
# How far the best margin lies from zero, as a share of the range of the atoms.
DISTANCES = [-0.3, -0.05, -0.01, -1e-3, -1e-4, -1e-6, 0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.3]


# Points.

def samples(case, rng, count=1500):
    """Random points, corners and a grid of a box."""
    low, high = np.array(case.lower), np.array(case.upper)
    size = len(low)
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=size)))
    axis = np.linspace(0.0, 1.0, {1: 400, 2: 40, 3: 11, 4: 6}[size])
    grid = np.array(list(itertools.product(axis, repeat=size)))
    unit = np.vstack([corners, grid, rng.uniform(0, 1, (count, size))])
    return np.clip(low + unit * (high - low), low, high)


def best(case, function, rng, x=None, rounds=25):
    """The point of a box with the largest margin that a local search from the best samples finds, and that margin."""
    x = samples(case, rng) if x is None else x
    low, high = np.array(case.lower), np.array(case.upper)
    score = margin(case.formula, x, function(x))
    chosen = np.argsort(-np.nan_to_num(score, nan=-np.inf))[:8]
    x, score, step = x[chosen], score[chosen], 0.2
    for _ in range(rounds):
        tries = np.repeat(x, 12, axis=0)
        moves = rng.normal(0, step, tries.shape) * (rng.random(tries.shape) < 0.7)
        tries = np.clip(tries + moves * (high - low), low, high)
        found = margin(case.formula, tries, function(tries)).reshape(len(x), 12)
        improved = found.argmax(axis=1)
        better = found.max(axis=1) > score
        x = np.where(better[:, None], tries.reshape(len(x), 12, -1)[np.arange(len(x)), improved], x)
        score = np.where(better, found.max(axis=1), score)
        step *= 0.65
    return x[score.argmax()], score.max()


# Queries.

def random_box(size, rng):
    middle, radius = rng.uniform(-1, 1, size), rng.choice([0.05, 0.3, 1.0, 1.5], size)
    digits = int(rng.choice([2, 6, 17]))
    radius[rng.random(size) < 0.1] = 0.0
    rounded = lambda v: [float(f"{number:.{digits}g}") for number in v]
    low, high = rounded(middle - radius), rounded(middle + radius)
    if rng.random() < 0.5:
        # As most files have them: ends that float32 can hold.
        low, high = ([float(np.float32(v)) for v in ends] for ends in (low, high))
    return low, high


def random_atom(inputs, outputs, rng):
    variables = [("Y", j) for j in range(outputs)] + [("X", i) for i in range(inputs)]
    weights = np.array([4.0] * outputs + [1.0] * inputs)
    count = min(len(variables), int(rng.choice([1, 1, 1, 2, 2, 3])))
    chosen = rng.choice(len(variables), count, replace=False, p=weights / weights.sum())
    factors = rng.choice([1.0, -1.0, 1.0, -1.0, 0.5, -2.0, 0.3], count)
    return Atom({variables[k]: float(f) for k, f in zip(chosen, factors)}, 0.0, strict=bool(rng.random() < 0.2))


def random_formula(inputs, outputs, rng, depth=2):
    kind = rng.choice(["atom", "and", "or"]) if depth else "atom"
    if kind == "atom":
        return random_atom(inputs, outputs, rng)
    parts = [random_formula(inputs, outputs, rng, depth - 1) for _ in range(int(rng.integers(2, 4)))]
    return And(parts) if kind == "and" else Or(parts)


def aim(formula, case, function, points, distances, rng):
    """Moves the bounds of the atoms so that the formula barely holds, or barely fails, in the box."""
    if isinstance(formula, Or):
        for part in formula.parts:
            aim(part, case, function, points, distances, rng)
        return
    y = function(points)
    size = 1e-9
    for atom in atoms(formula):
        values = queries.value(atom.terms, points, y)
        size = max(size, np.ptp(values))
        atom.bound = float(np.quantile(values, rng.uniform(0, 1)))
    _, reached = best(Case(case.lower, case.upper, formula), function, rng, points)
    shift = float(rng.choice(distances)) * size - reached
    digits = int(rng.choice([7, 17]))
    for atom in atoms(formula):
        atom.bound = float(f"{atom.bound + shift:.{digits}g}")


def random_query(family, rng):
    model, function, inputs, outputs, used = random_network(family, rng)
    cases = []
    # One part that holds makes a disjunction hold, so most queries get no such part.
    distances = DISTANCES if rng.random() < 0.35 else [-abs(distance) for distance in DISTANCES]
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        case = Case(*random_box(inputs, rng), random_formula(inputs, outputs, rng))
        aim(case.formula, case, function, samples(case, rng, 400), distances, rng)
        cases.append(case)
    return model, function, cases, inputs, outputs, used


# Checks.

def size_of(formula, x, y):
    """The size of a formula's terms at a point; what a tie is relative to."""
    parts = [abs(a.bound) + sum(abs(f) * abs((x if k == "X" else y)[0, i]) for (k, i), f in a.terms.items()) for a in atoms(formula)]
    return 1.0 + max(parts)


def run_float32(path, x):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x.astype(np.float32)})[0].astype(float)


def inside(case, point, slack=0):
    """Whether a witness lies in a box as written, or beside it by so many units in the last place of a double."""
    ends = zip(case.lower, point, case.upper)
    gap = lambda end: slack * Fraction(math.ulp(end))
    return all(Fraction(repr(low)) - gap(low) <= v <= Fraction(repr(high)) + gap(high) for low, v, high in ends)


def check_sat(reply, path, function, cases):
    """What is wrong with a witness: (True, why) for a disagreement, (False, why) for a tie, None if all is well."""
    x = np.array([[float(v) for v in reply.inputs]])
    y = run_float32(path, x)
    printed = np.array([[float(v) for v in reply.outputs]])
    scale = 1.0 + np.abs(y).max()
    if printed.shape != y.shape or not np.abs(printed - y).max() <= 1e-4 * scale:
        return True, f"the outputs printed are {printed}, onnxruntime gives {y}"
    where = [case for case in cases if inside(case, reply.inputs, slack=2)]
    if not where:
        return True, "the witness lies in no box"
    if any(holds(case.formula, x, y)[0] for case in where):
        return None
    gap = max(margin(case.formula, x, y)[0] / size_of(case.formula, x, y) for case in where)
    exact = max(margin(case.formula, x, function(x))[0] for case in where)
    text = f"the formula fails at the witness by {-gap:.2e} in float32, its margin in float64 is {exact:.2e}"
    return gap < -TIE, text


def check_unsat(function, cases, rng):
    for case in cases:
        x, found = best(case, function, rng)
        x = x[None, :]
        relative = found / size_of(case.formula, x, function(x))
        if holds(case.formula, x, function(x))[0]:
            return relative > ROUNDING, f"{x[0].tolist()} satisfies it by {relative:.2e}"
    return None


def isolated(function, *arguments):
    """The result of a call in a process of its own, or None if that process dies: Marabou can."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(function(*arguments), pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def check_marabou(reply, path, function, cases, timeout):
    """Compares with Marabou: the note for the table, and what is wrong as above."""
    from marabou import decide

    verdict, point, _ = isolated(decide, path, cases, timeout) or ("crash", None, 0.0)
    if verdict not in ("sat", "unsat"):
        return f"Marabou: {verdict.split(':')[0]}", None
    if verdict == "unsat":
        if reply.verdict != "sat":
            return "Marabou: agrees" if reply.verdict == "unsat" else "Marabou: alone", None
        # The witness of Certus has been replayed, so a clear contradiction is an error of Marabou.
        x = np.array([[float(v) for v in reply.inputs]])
        y = function(x)
        near = [case.formula for case in cases if inside(case, reply.inputs, slack=2)]
        gap = max((margin(formula, x, y)[0] / size_of(formula, x, y) for formula in near), default=-np.inf)
        return ("Marabou: wrong unsat" if gap > TIE else "Marabou: tie" if gap > -TIE else "Marabou: contradicts"), None
    x = np.array([point])
    gaps = []
    for case in cases:
        z = np.clip(x, case.lower, case.upper)
        if np.abs(z - x).max() <= TIE:
            gaps.append(margin(case.formula, z, function(z))[0] / size_of(case.formula, z, function(z)))
    gap = max(gaps, default=-np.inf)
    if reply.verdict == "sat":
        return "Marabou: agrees", None
    if reply.verdict != "unsat":
        return "Marabou: alone", None
    if gap > TIE:
        return "Marabou: contradicts", (True, f"Marabou's {point} satisfies it by {gap:.2e}")
    return ("Marabou: tie" if gap > -TIE else "Marabou: wrong sat"), None


def one(task):
    """One query: its family, the notes that are counted, the operators, the time, and the disagreement if there is one."""
    number, arguments, program = task
    rng = np.random.default_rng([arguments.seed, number])
    family = KINDS[number % len(KINDS)]
    with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        model, function, cases, inputs, outputs, used = random_query(family, rng)
        if not all(math.isfinite(atom.bound) for case in cases for atom in atoms(case.formula)):
            return family, ["overflow"], used, 0.0, None
        network, specification = pathlib.Path(folder) / "network.onnx", pathlib.Path(folder) / "query.vnnlib"
        onnx.save(model, network)
        specification.write_text(queries.vnnlib(cases, inputs, outputs, flip=lambda: rng.random() < 0.5))
        reply = queries.ask(program, network, specification, arguments.timeout)
        notes, findings = [reply.verdict.split(" ")[0]], []
        if reply.verdict == "sat":
            findings.append(check_sat(reply, network, function, cases))
            if not any(inside(case, reply.inputs) for case in cases):
                notes.append("edge")
        elif reply.verdict == "unsat":
            findings.append(check_unsat(function, cases, rng))
        elif reply.verdict.startswith("error") or reply.verdict == "overrun":
            findings.append((True, reply.verdict))
        if arguments.marabou and family.removeprefix("copies of ") in FOR_MARABOU:
            note, finding = check_marabou(reply, network, function, cases, arguments.timeout)
            notes.append(note)
            findings.append(finding)
        wrong = [text for finding in findings if finding for bad, text in [finding] if bad]
        if wrong:
            notes.append("disagreement")
        elif any(findings):
            notes.append(f"tie in {reply.verdict}")
        strange = any(note.startswith("Marabou: wrong") for note in notes)
        if (wrong or strange) and arguments.keep:
            kept = arguments.keep / f"{arguments.seed}-{number}"
            kept.mkdir(parents=True, exist_ok=True)
            network.rename(kept / network.name)
            specification.rename(kept / specification.name)
            (kept / "note.txt").write_text("\n".join([family, reply.verdict, *notes, *wrong]) + "\n")
        return family, notes, used, reply.seconds, f"query {number} ({family}, {reply.verdict}): {'; '.join(wrong)}" if wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first query, to repeat some")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="where failing queries are kept")
    parser.add_argument("--program", type=pathlib.Path, help="a built certus")
    parser.add_argument("--without-marabou", action="store_true")
    arguments = parser.parse_args()
    arguments.marabou = not arguments.without_marabou and importlib.util.find_spec("maraboupy") is not None
    program = arguments.program or queries.built_program()
    tasks = ((number, arguments, program) for number in range(arguments.first, arguments.first + arguments.count))
    table, operators, seconds, failures = collections.defaultdict(collections.Counter), collections.Counter(), collections.Counter(), 0
    with multiprocessing.Pool(arguments.jobs) as pool:
        for family, notes, used, time, failure in pool.imap(one, tasks):
            table[family].update(["asked", *notes])
            operators.update(sorted(used))
            seconds[family] += time
            if failure:
                failures += 1
                print(failure, flush=True)
    columns = ["asked", "sat", "unsat", "unknown", "timeout", "tie in sat", "tie in unsat", "disagreement"]
    columns += sorted({note for counts in table.values() for note in counts} - set(columns))
    print("\n| family | " + " | ".join(columns) + " | seconds |")
    print("| --- |" + " --- |" * (len(columns) + 1))
    for family in KINDS:
        if family in table:
            print(f"| {family} | " + " | ".join(str(table[family][c]) for c in columns) + f" | {seconds[family]:.1f} |")
    totals = sum(table.values(), collections.Counter())
    print("| all | " + " | ".join(str(totals[c]) for c in columns) + f" | {sum(seconds.values()):.1f} |")
    print("\nqueries by operator: " + ", ".join(f"{op} {n}" for op, n in operators.most_common()))
    print(f"{failures} disagreements" + ("" if arguments.marabou else "; Marabou was not asked"))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
