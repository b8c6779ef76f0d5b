"""Automata of temporal formulas: ours beside those of Spot, the reference for translations of linear temporal logic.

    cargo build --release -p certus-automata --examples
    python bench/spot.py [--libraries FOLDER] [--random COUNT] [--repetitions COUNT] [--worse] [corpus ...]

Spot's library is taken from the Python package stormpy, which contains it; it needs `pip`, and `g++` for `spot_shim.cpp`. With
`--libraries` it is fetched once and kept there. For the formulas of the corpora, for random formulas, and for the negations
of all of them: sizes (generalised Büchi automata with acceptance on transitions; Spot at its level High, preferring small
ones), how often ours is the smaller, as large or the larger one, and the time of the translations alone, each formula by the
median of its repetitions. `--worse` lists the formulas for which ours has more states.

Every pair is also compared as languages, by our own products and emptiness (`compare.rs` says how), and the script fails
where they differ.
"""

import argparse
import glob
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "..", "target"))
COMPARE = os.path.join(TARGET, "release", "examples", "compare")
CORPORA = os.path.join(HERE, "..", "crates", "certus-automata", "tests", "corpus")


def build_shim(folder):
    """The program around Spot's library, which is fetched unless the folder has it."""
    if not glob.glob(os.path.join(folder, "libspot*")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "stormpy"], check=True)
        (wheel,) = glob.glob(os.path.join(folder, "stormpy*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if re.search(r"/lib(spot|bddx)[^/]*$", name):
                    with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                        file.write(archive.read(name))
        os.remove(wheel)
    libraries = glob.glob(os.path.join(folder, "libspot*")) + glob.glob(os.path.join(folder, "libbddx*"))
    shim = os.path.join(folder, "spot_shim")
    source = os.path.join(HERE, "spot_shim.cpp")
    path = f"-Wl,-rpath,{os.path.abspath(folder)}"
    subprocess.run(["g++", "-O2", "-std=c++17", source, *libraries, path, "-o", shim], check=True)
    return shim


def bounded(left, operator, lower, upper, right):
    """A binary operator with bounds, which Spot does not have, by steps; both operands are texts without loose ends."""
    if operator == "R":
        return f"!{bounded(f'!{left}', 'U', lower, upper, f'!{right}')}"
    if operator == "M":
        return f"!{bounded(f'!{left}', 'W', lower, upper, f'!{right}')}"
    if operator == "W":
        return f"({bounded(left, 'U', lower, upper, right)} | G[0:{upper}] {left})"
    text = right
    for _ in range(lower, upper):
        text = f"({right} | ({left} & X {text}))"
    for _ in range(lower):
        text = f"({left} & X {text})"
    return text


def for_spot(formula):
    """A formula of the corpora in Spot's syntax: bounds with colons, and none on binary operators."""
    simple = r"(!?\w+) ([UWRM])\[(\d+),(\d+)\] (!?\w+)"
    text = re.sub(simple, lambda m: bounded(m[1], m[2], int(m[3]), int(m[4]), m[5]), formula)
    if re.search(r"[UWRM]\[", text):
        raise ValueError(f"operands of bounded operators must be literals here: {formula}")
    return re.sub(r"\[(\d+),(\d*)\]", r"[\1:\2]", text)


def random_formula(source, size, atoms):
    """A formula with so many nodes, as ours and as Spot's text."""
    if size <= 1:
        leaf = source.choice(atoms) if source.random() < 0.95 else source.choice(["true", "false"])
        return leaf, leaf
    lower = source.randrange(3)
    upper = lower + source.randrange(3)
    if size == 2 or source.random() < 0.4:
        a, b = random_formula(source, size - 1, atoms)
        bounds = [f"F[{lower}:{upper}] ", f"G[{lower}:{upper}] ", f"X[{upper}] ", f"F[{lower}:] "]
        operator = source.choice(["!", "!", "X ", "X ", "F ", "F ", "G ", "G ", *bounds])
        return f"{operator}({a})", f"{operator}({b})"
    left = source.randrange(1, size - 1)
    (a, b), (c, d) = random_formula(source, left, atoms), random_formula(source, size - 1 - left, atoms)
    operator = source.choice(["&", "|", "->", "<->", "U", "W", "R", "M"] * 2 + ["U[]", "W[]", "R[]", "M[]"])
    if operator.endswith("[]"):
        return f"({a}) {operator[0]}[{lower}:{upper}] ({c})", bounded(f"({b})", operator[0], lower, upper, f"({d})")
    return f"({a}) {operator} ({c})", f"({b}) {operator} ({d})"


def random_formulas(count):
    source = random.Random(5)
    return [random_formula(source, source.randrange(3, 13), ["a", "b", "c"][:source.choice([2, 3])]) for _ in range(count)]


def corpus(name):
    with open(os.path.join(CORPORA, f"{name}.ltl")) as file:
        formulas = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return [(formula, for_spot(formula)) for formula in formulas]


def compare(shim, formulas, repetitions):
    """What `compare` says with Spot's seconds, as a list of (formula, numbers), and the formulas for which Spot gave up."""
    lines = "".join(f"{spot}\n!({spot})\n" for _, spot in formulas)
    said = subprocess.run([shim, str(repetitions)], input=lines, text=True, check=True, stdout=subprocess.PIPE).stdout
    seconds, automata = zip(*(block.split("\n", 1) for block in said.split("time")[1:]))
    done = [i for i in range(len(formulas)) if automata[2 * i] and automata[2 * i + 1]]
    left = [formula for i, (formula, _) in enumerate(formulas) if i not in set(done)]
    text = "".join(f"formula {formulas[i][0]}\n{automata[2 * i]}{automata[2 * i + 1]}" for i in done)
    said = subprocess.run([COMPARE, str(repetitions)], input=text, text=True, check=True, stdout=subprocess.PIPE).stdout
    signed = [(2 * i + sign, f"!({formulas[i][0]})" if sign else formulas[i][0]) for i in done for sign in (0, 1)]
    rows = []
    for line, (place, formula) in zip(said.splitlines(), signed, strict=True):
        *sizes, time, right, shown = line.split()
        spot = statistics.median(map(float, seconds[place].split()))
        rows.append((formula, (*map(int, sizes), float(time), spot, right == "true", shown == "true")))
    return rows, left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=["dwyer", "somenzi-bloem", "etessami-holzmann", "certus"])
    parser.add_argument("--libraries")
    parser.add_argument("--random", type=int, default=3000)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--worse", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(arguments.libraries or folder)
        sources = [(name, corpus(name), arguments.repetitions) for name in arguments.corpora]
        if arguments.random:
            sources.append(("random", random_formulas(arguments.random), 3))
        print("| corpus | formulas, negations | ours: states, transitions | Spot | smaller, equal, larger | ours | Spot |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        wrong, worse, refused, compared, shown = [], [], [], 0, 0
        for name, formulas, repetitions in sources:
            rows, left = compare(shim, formulas, repetitions)
            totals = [sum(column) for column in zip(*(row for _, row in rows))]
            signs = [(row[0] > row[3]) - (row[0] < row[3]) for _, row in rows]
            order = ", ".join(str(signs.count(sign)) for sign in (-1, 0, 1))
            print(f"| {name} | {len(rows)} | {totals[0]}, {totals[1]} | {totals[3]}, {totals[4]} | {order} "
                  f"| {1000 * totals[6]:.1f} ms | {1000 * totals[7]:.1f} ms |", flush=True)
            wrong += [formula for formula, row in rows if not row[8]]
            worse += [f"{row[0]} {row[3]}  {formula}" for formula, row in rows if row[0] > row[3]]
            refused += left
            compared += len(rows)
            shown += totals[9]
        if refused:
            print("\n".join(["", "not by Spot within a minute and 4 GB, and left out:", *refused]))
        if arguments.worse:
            print("\n".join(["", "larger: states of ours, of Spot's", *worse]))
        if wrong:
            sys.exit("\n".join(["different languages:", *wrong]))
        print(f"\nall {compared} languages agree, {shown} of them shown for all words")


if __name__ == "__main__":
    main()
