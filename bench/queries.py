"""Queries for the other scripts: formulas, VNN-LIB text in both directions, and asking `certus verify`.

A formula is an `Atom`, or `And` or `Or` of formulas; an atom says Σ coefficient · variable ≤ bound (`<` where strict)
with variables ("X", i) and ("Y", j). A query is a list of cases, each a box of inputs and a formula; it is satisfiable
when one of its cases is. Numbers of a query are the decimals in its text, so that what is checked here is what is asked.
"""

import dataclasses
import gzip
import itertools
import pathlib
import re
import resource
import subprocess
import time
from fractions import Fraction

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Atom:
    terms: dict
    bound: float
    strict: bool = False


@dataclasses.dataclass
class And:
    parts: list


@dataclasses.dataclass
class Or:
    parts: list


@dataclasses.dataclass
class Case:
    lower: list
    upper: list
    formula: object


def atoms(formula):
    return [formula] if isinstance(formula, Atom) else [atom for part in formula.parts for atom in atoms(part)]


def value(terms, x, y):
    """Σ coefficient · variable for points x [points, inputs] with outputs y [points, outputs]."""
    return sum(factor * (x if kind == "X" else y)[:, index] for (kind, index), factor in terms.items())


def margin(formula, x, y):
    """By how much the formula holds at each point, in the units of its atoms; negative where it fails."""
    if isinstance(formula, Atom):
        return formula.bound - value(formula.terms, x, y)
    parts = [margin(part, x, y) for part in formula.parts]
    both = isinstance(formula, And)
    return (np.minimum if both else np.maximum).reduce(parts + [np.full(len(x), np.inf if both else -np.inf)])


def holds(formula, x, y):
    """Whether it holds at each point, with no tolerance."""
    if isinstance(formula, Atom):
        return (margin(formula, x, y) > 0) if formula.strict else (margin(formula, x, y) >= 0)
    parts = [holds(part, x, y) for part in formula.parts]
    both = isinstance(formula, And)
    return (np.logical_and if both else np.logical_or).reduce(parts + [np.full(len(x), both)])


def conjunctions(formula):
    """The formula as lists of atoms, one of which must hold as a whole."""
    if isinstance(formula, Atom):
        return [[formula]]
    parts = [conjunctions(part) for part in formula.parts]
    if isinstance(formula, Or):
        return list(itertools.chain.from_iterable(parts))
    return [list(itertools.chain.from_iterable(choice)) for choice in itertools.product(*parts)]


def highest(function, low, high, rng, count=100_000):
    """The largest value of a function [points, inputs] -> [points] over a box that a search finds, and the smallest sample.

    Samples, a random climb from the best of them, then jumps to the corner that each input prefers by itself: with many
    inputs the first two stay far below the corners.
    """
    x = rng.uniform(low, high, (count, len(low)))
    y = function(x)
    smallest, step = y.min(), 0.2
    x = x[np.argsort(-y)[:16]]
    for _ in range(60):
        moves = rng.normal(0, step, (30 * len(x), len(low))) * (high - low)
        tries = np.vstack([x, np.clip(np.repeat(x, 30, axis=0) + moves, low, high)])
        y = function(tries)
        x = tries[np.argsort(-y)[:16]]
        step *= 0.85
    largest = y.max()
    for point in x[:4]:
        for _ in range(6):
            raised, lowered = np.tile(point, (2, len(low), 1))
            np.fill_diagonal(raised, high)
            np.fill_diagonal(lowered, low)
            point = np.where(function(raised) > function(lowered), high, low)
            largest = max(largest, function(point[None, :])[0])
    return largest, smallest


# Writing.

def text_of(formula, flip):
    """The formula as an S-expression. `flip` gives a truth value per atom: whether it is written with ≥ and the sides exchanged."""
    if isinstance(formula, Atom):
        terms = [f"{k}_{i}" if c == 1 else f"(* {c!r} {k}_{i})" for (k, i), c in formula.terms.items()]
        left = terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"
        strict = "" if formula.strict else "="
        return f"(>{strict} {formula.bound!r} {left})" if flip() else f"(<{strict} {left} {formula.bound!r})"
    word = "and" if isinstance(formula, And) else "or"
    return f"({word} {' '.join(text_of(part, flip) for part in formula.parts)})"


def vnnlib(cases, inputs, outputs, flip=lambda: False):
    """A query as VNN-LIB text: plain assertions where there is one case, a disjunction where there are more."""
    lines = [f"(declare-const X_{i} Real)" for i in range(inputs)] + [f"(declare-const Y_{j} Real)" for j in range(outputs)]
    bounds = lambda case: [f"({sign} X_{i} {end[i]!r})" for i in range(inputs) for sign, end in ((">=", case.lower), ("<=", case.upper))]
    if len(cases) == 1:
        lines += [f"(assert {text})" for text in bounds(cases[0]) + [text_of(cases[0].formula, flip)]]
    else:
        lines.append("(assert (or")
        lines += [f"  (and {' '.join(bounds(case))} {text_of(case.formula, flip)})" for case in cases]
        lines.append("))")
    return "\n".join(lines) + "\n"


# Reading.

def expressions(text):
    """The S-expressions of a text, as nested lists of words."""
    stack = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text)):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0]


def linear(expression):
    """Terms and constant of a linear expression."""
    if isinstance(expression, str):
        if expression[0] in "XY":
            kind, index = expression.split("_")
            return {(kind, int(index)): 1.0}, 0.0
        return {}, float(expression)
    head, *arguments = expression
    parts = [linear(argument) for argument in arguments]
    if head == "*":
        (factor,) = [constant for terms, constant in parts if not terms] or [1.0]
        (terms, constant), = [part for part in parts if part[0]]
        return {variable: factor * c for variable, c in terms.items()}, factor * constant
    assert head in "+-", head
    terms, constant = {}, 0.0
    for number, (own, shift) in enumerate(parts):
        sign = -1.0 if head == "-" and (number > 0 or len(parts) == 1) else 1.0
        for variable, c in own.items():
            terms[variable] = terms.get(variable, 0.0) + sign * c
        constant += sign * shift
    return terms, constant


def formula_of(expression):
    head, *arguments = expression
    if head in ("and", "or"):
        return (And if head == "and" else Or)([formula_of(argument) for argument in arguments])
    left, right = arguments if head[0] == "<" else reversed(arguments)
    (terms, constant), (others, other) = linear(left), linear(right)
    for variable, c in others.items():
        terms[variable] = terms.get(variable, 0.0) - c
    return Atom(terms, other - constant, strict="=" not in head)


def read(path):
    """The cases of a VNN-LIB file, one per conjunction of atoms, and the numbers of inputs and outputs.

    Bounds on single inputs go into the boxes, where `<` is not told from `≤`.
    """
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as file:
        commands = expressions(file.read())
    names = [command[1] for command in commands if command[0] == "declare-const"]
    inputs, outputs = (sum(name.startswith(kind) for name in names) for kind in "XY")
    whole = And([formula_of(command[1]) for command in commands if command[0] == "assert"])
    cases = []
    for conjunction in conjunctions(whole):
        lower, upper, rest = [-np.inf] * inputs, [np.inf] * inputs, []
        for atom in conjunction:
            ((kind, index), factor), *more = atom.terms.items()
            if kind == "Y" or more:
                rest.append(atom)
            elif factor > 0:
                upper[index] = min(upper[index], atom.bound / factor)
            else:
                lower[index] = max(lower[index], atom.bound / factor)
        cases.append(Case(lower, upper, And(rest)))
    return cases, inputs, outputs


# Asking.

def built_program():
    """Builds Certus and gives the path of its program."""
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "certus"], check=True, cwd=ROOT)
    return ROOT / "target" / "release" / "certus"


@dataclasses.dataclass
class Reply:
    verdict: str
    seconds: float
    cpu: float
    inputs: list
    outputs: list


def ask(program, network, specification, timeout, threads=1):
    """What `certus verify` says: its verdict, the time with the start of the program (on the clock and of the processor), and the
    witness as written."""
    command = [program, "verify", network, specification, "--timeout", str(timeout), "--threads", str(threads), "--quiet"]
    spent = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    start, before = time.perf_counter(), spent()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=2 * timeout + 10)
    except subprocess.TimeoutExpired:
        return Reply("overrun", time.perf_counter() - start, spent() - before, [], [])
    seconds, cpu = time.perf_counter() - start, spent() - before
    verdict = run.stdout.split("\n", 1)[0].strip()
    if verdict not in ("sat", "unsat", "unknown", "timeout"):
        verdict = f"error {run.returncode}: {(run.stderr or run.stdout).strip()[:200]}"
    values = re.findall(r"\(([XY])_\d+ ([^()\s]+)\)", run.stdout)
    return Reply(verdict, seconds, cpu, *([Fraction(number) for name, number in values if name == kind] for kind in "XY"))
