"""ACAS Xu: all VNN-COMP instances below a folder, each decided by `certus verify`.

    python bench/acasxu.py FOLDER [--timeout 116] [--only TEXT]

FOLDER holds the networks, `acasxu_instances.csv` (network, property, time limit) and `expected.csv`. Prints a row for each
instance that is not decided or takes longer than a second, then the number decided, wrong answers, the sum, the median
and the longest time. Times include the start of the program.
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=116)
    parser.add_argument("--only", default="", help="only instances whose names contain this")
    parser.add_argument("--program", type=pathlib.Path, help="a certus that is built already")
    arguments = parser.parse_args()
    program = arguments.program
    if program is None:
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "certus"], check=True, cwd=ROOT)
        program = ROOT / "target" / "release" / "certus"
    expected = {}
    with open(arguments.folder / "expected.csv") as table:
        for row in csv.reader(table):
            expected[tuple(pathlib.Path(cell).name for cell in row[:2])] = row[2].strip()
    times, undecided, wrong = [], 0, 0
    with open(arguments.folder / "acasxu_instances.csv") as table:
        for row in csv.reader(table):
            network, specification = (pathlib.Path(cell).name for cell in row[:2])
            if arguments.only not in f"{network} {specification}":
                continue
            command = [program, "verify", arguments.folder / network, arguments.folder / specification, "--timeout", str(arguments.timeout)]
            start = time.perf_counter()
            verdict = subprocess.run(command, capture_output=True, text=True).stdout.split("\n", 1)[0]
            seconds = time.perf_counter() - start
            times.append(seconds)
            truth = expected.get((network, specification), "")
            decided = verdict in ("sat", "unsat")
            undecided += not decided
            contradiction = decided and truth in ("sat", "unsat") and truth != verdict
            wrong += contradiction
            if not decided or contradiction or seconds > 1:
                mark = " WRONG" if contradiction else ""
                print(f"{network} {specification}: {verdict} in {seconds:.2f} s, expected {truth or '?'}{mark}", flush=True)
    print(f"{len(times) - undecided} of {len(times)} decided, {wrong} wrong; sum {sum(times):.1f} s, "
          f"median {statistics.median(times):.3f} s, longest {max(times):.1f} s")


if __name__ == "__main__":
    main()
