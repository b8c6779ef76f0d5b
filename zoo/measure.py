"""Fills the tables of measurements in the READMEs of the zoo, and the table of trained policies; all else in them is written by hand.

    cargo build --release && python zoo/measure.py [NAME…]

A README names its commands: one `certus simulate zoo/NAME/…`, whose table counts runs, and `certus check zoo/NAME/… PROPERTY --timeout …`, each
followed by a table of verdicts. Commands are run as they stand, and the rows of their tables written again. The column *expected* of the table of
properties says what the file expects. Without names, the table of trained policies in `zoo/README.md` is written, too.
"""

import json
import pathlib
import re
import resource
import shlex
import subprocess
import sys

ZOO = pathlib.Path(__file__).resolve().parent
PROGRAM = ZOO.parent / "target" / "release" / "certus"
TRAINED = ("<!-- trained -->", "<!-- end of trained -->")
ACTIVATIONS = {"relu": "ReLU", "tanh": "tanh", "sigmoid": "sigmoid"}


def number(value):
    """A number for people."""
    return value if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def asked(words):
    """What a command prints as JSON."""
    ran = subprocess.run([PROGRAM, *words, "--json"], cwd=ZOO.parent, capture_output=True, text=True)
    if not ran.stdout:
        sys.exit(f"certus {' '.join(words)}: {ran.stderr}")
    return json.loads(ran.stdout)


def simulated(words):
    """The rows of a simulation, by property."""
    rows = {}
    for seen in asked(words)["properties"]:
        if "estimate" in seen:
            low, high = seen["estimate"]["lower"], seen["estimate"]["upper"]
            rows[seen["property"]] = f"- | - | - | probability in [{low:.4g}, {high:.4g}] (95% confidence) |"
        else:
            counts = f"{seen['violated']} | {seen['satisfied']} | {seen['open']}"
            rows[seen["property"]] = f"{counts} | {number(seen['worst_margin'])} |"
    return rows


def verdict(result):
    """A verdict, and what it rests on, in a few words."""
    scope = result["scope"] if isinstance(result["scope"], dict) else {}
    if result.get("probability"):
        lower, upper = result["probability"]["lower"], result["probability"]["upper"]
        within = f" within {scope['bounded']} steps" if "bounded" in scope else ""
        said = f"{result['verdict']}: " if result["verdict"] in ("holds", "violated") else ""
        return f"{said}in [{lower:.3g}, {upper:.3g}]{within}"
    if result["verdict"] == "violated":
        if result.get("converges"):
            return "violated for ever: a run that converges to an equilibrium"
        last = len(result["trace"]) - 1
        return f"violated at step {last}" if result["loop"] is None else "violated for ever: a run that repeats"
    if result["verdict"] == "unknown":
        known = f"; no violation up to {scope['bounded']} steps" if "bounded" in scope else ""
        return f"unknown: {result['reason']}{known}"
    if scope:
        return f"{result['verdict']} up to step {next(iter(scope.values()))}"
    parts = []
    for method in (result["proof"] or {}).get("for_all_time", []):
        ((kind, told),) = method.items()
        if kind == "induction":
            faces = len(told["invariant"])
            depth = f"by induction over {told['depth']} state{'s'[: told['depth'] > 1]}" if told["depth"] else "in every state"
            parts.append(depth + (f" within an invariant of {faces} halfspaces" if faces else ""))
        else:
            parts.append({"leaves": "no run stays in a violation", "ranking": "by a ranking function"}.get(kind, kind))
    return f"{result['verdict']} for all time" + (f": {'; '.join(parts)}" if parts else "")


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def checked(words, name, by_cpu):
    """The end of a row: verdict, engine, seconds."""
    before = cpu()
    result = asked([name if word == "PROPERTY" else word for word in words])["results"][0]
    seconds = cpu() - before if by_cpu else result["seconds"]
    return f"{verdict(result)} | {result['engine'] or '–'} | {seconds:.2f} |"


def with_tables(text):
    """The same text with the rows of each command's table written again."""
    lines, words, rows, by_cpu = text.split("\n"), None, None, False
    for place, line in enumerate(lines):
        # A command may begin on one line and end on the next.
        command = re.search(r"(?:certus|--) (simulate|check) (zoo/\S+)([^`]*)", line)
        if command and (command.group(1) == "simulate" or "PROPERTY" in line):
            words = shlex.split(f"{command.group(1)} {command.group(2)}{command.group(3)}")
            rows = simulated(words) if command.group(1) == "simulate" else None
        by_cpu = "CPU time" in line if line.startswith("| property |") else by_cpu
        row = re.match(r"\| `(\w+)` \| ", line)
        if not (words and row):
            continue
        if rows is None:
            lines[place] = row.group(0) + checked(words, row.group(1), by_cpu)
        elif row.group(1) in rows:
            lines[place] = row.group(0) + rows[row.group(1)]
    return "\n".join(lines)


def with_expectations(name, text):
    """The last column of the table of properties says what the file expects."""
    system = (ZOO / name / f"{name}.certus").read_text()
    expected = dict(re.findall(r"^property (\w+) =(?:(?!^property).)*?\bexpect (\w+)", system, re.MULTILINE | re.DOTALL))

    def cell(row):
        return f"{row.group(1)}{expected.get(row.group(2), '-')} |"

    return re.sub(r"^(\| `(\w+)` \| `.*\| )(holds|violated|-) \|$", cell, text, flags=re.MULTILINE)


def shape(told):
    branches = {"Branches": "6 branches of 128, ", "Convolved": "convolution of 128 filters, "}
    return branches.get(told["options"].get("extractor"), "") + "x".join(map(str, told["network"]["hidden"])) + " " + ACTIVATIONS[told["network"]["activation"]]


def failures(told):
    """How many runs violated each property."""
    return ", ".join(f"`{name}` {count}" for name, count in told.get("broken", {}).items()) or "-"


def trained_table():
    head = ["policy", "network", "training", "return", "random policy", "violations in 1,000 runs", "published"]
    rows = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for path in sorted(ZOO.glob("*/training.json")):
        for name, told in json.loads(path.read_text())["policies"].items():
            spread = f"{number(told['return']['mean'])} ± {number(told['return']['std'])}"
            rows.append(
                f"| [{name}]({path.parent.name}/README.md) | {shape(told)} | {told['algorithm']}, {told['steps']:,} steps | "
                f"{spread} | {number(told['random']['mean'])} | {failures(told)} | {told['published'] or '-'} |"
            )
    return "\n".join(rows)


def main():
    names = sys.argv[1:] or sorted(path.parent.name for path in ZOO.glob("*/README.md"))
    for name in names:
        path = ZOO / name / "README.md"
        path.write_text(with_expectations(name, with_tables(path.read_text())))
        print(name, flush=True)
    if not sys.argv[1:]:
        path = ZOO / "README.md"
        text = path.read_text()
        begin, end = text.index(TRAINED[0]) + len(TRAINED[0]), text.index(TRAINED[1])
        path.write_text(text[:begin] + "\n" + trained_table() + "\n" + text[end:])


if __name__ == "__main__":
    main()
