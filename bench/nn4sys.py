"""NN4Sys: all instances below a folder, each decided by `certus verify`.

    python bench/nn4sys.py FOLDER [--timeout S] [--threads 0] [--only TEXT] [--program CERTUS]

FOLDER holds `instances.csv` (network, specification, time limit; paths from FOLDER) and `expected.csv`, where `reject`
says that a specification must be refused. Prints a row for each instance that is not decided, is wrong or takes longer
than a second, then one line per kind of query: the number decided, the sum, the median and the longest time. Times
include the start of the program.
"""

import argparse
import collections
import csv
import pathlib
import statistics
import sys

import queries


def kind(specification):
    """The part of a name that says what is asked: `aurora_101` of `aurora_101_3_4_4`."""
    return "_".join(specification.stem.split("_")[:2]) if "23" not in specification.stem else "pensieve23"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, help="instead of each instance's own limit")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="", help="only instances whose names contain this")
    parser.add_argument("--program", type=pathlib.Path, help="a built certus")
    arguments = parser.parse_args()
    program = arguments.program or queries.built_program()
    with open(arguments.folder / "expected.csv") as table:
        expected = {(pathlib.Path(row["onnx"]).name, row["vnnlib"]): row["verdict"].strip() for row in csv.DictReader(table)}
    with open(arguments.folder / "instances.csv") as table:
        instances = [tuple(row) for row in csv.reader(table)]
    paths = {pathlib.Path(network).name: network for network, *_ in instances}
    listed = {(pathlib.Path(network).name, specification) for network, specification, _ in instances}
    instances += [(paths[network], specification, 20) for network, specification in expected if (network, specification) not in listed]
    times, counts, wrong = collections.defaultdict(list), collections.Counter(), 0
    for network, specification, limit in instances:
        name = f"{pathlib.Path(network).name} {specification}"
        if arguments.only not in name:
            continue
        limit = arguments.timeout or float(limit)
        reply = queries.ask(program, arguments.folder / network, arguments.folder / specification, limit, arguments.threads)
        verdict = "reject" if reply.verdict.startswith("error") else reply.verdict
        group = "malformed" if "malformed" in specification else kind(pathlib.Path(specification))
        times[group].append(reply.seconds)
        truth = expected.get((pathlib.Path(network).name, specification), "?")
        decided = verdict in ("sat", "unsat", "reject")
        counts[group] += decided
        contradiction = decided and truth != "?" and truth != verdict
        wrong += contradiction
        if not decided or contradiction or reply.seconds > 1:
            print(f"{name}: {reply.verdict} in {reply.seconds:.2f} s, expected {truth}{' WRONG' if contradiction else ''}", flush=True)
    for group, seconds in [*sorted(times.items()), ("all", [s for group in times.values() for s in group])]:
        decided = sum(counts.values()) if group == "all" else counts[group]
        print(f"{group}: {decided} of {len(seconds)} decided; sum {sum(seconds):.2f} s, "
              f"median {statistics.median(seconds):.3f} s, longest {max(seconds):.2f} s")
    print(f"{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
