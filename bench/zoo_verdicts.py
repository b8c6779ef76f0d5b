"""Verdicts and processor time of `certus check` on every property of the zoo, for one program or for two of them in turns.

    python bench/zoo_verdicts.py [--program CERTUS] [--before CERTUS] [--timeout 10] [--only TEXT …] [--repeat 3] [--json FILE]
    python bench/zoo_verdicts.py --from FILE

Each check is one process; its time is processor time (user and system), so that other load matters little. Checks shorter than a
second are repeated, and the least time counts. With `--before`, a verdict is compared with that of the other program: the table has what
changed, and the geometric mean of the ratios where nothing did. Prints Markdown. `--json` keeps the measurements, `--from` prints the table of
measurements that were kept.
"""

import argparse
import json
import math
import pathlib
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHORT = 1.0


def properties(only):
    """The system file and the name of every property whose `system property` contains one of some texts; all if there are none."""
    for path in sorted(ROOT.glob("zoo/*/*.certus")):
        for name in re.findall(r"^property\s+(\w+)", path.read_text(), re.MULTILINE):
            if not only or any(text in f"{path.stem} {name}" for text in only):
                yield path, name


def verdict(result):
    """What is said of a property, in words that both programs share."""
    found, scope = result.get("verdict"), result.get("scope")
    if found == "holds" and isinstance(scope, dict) and "bounded" in scope:
        return f"holds up to {scope['bounded']} steps"
    return found or "error"


def check(program, path, name, timeout):
    """The verdict of one check, and its processor time."""
    command = [program, "check", path, name, "--json", "--timeout", timeout]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    try:
        return verdict(json.loads(run.stdout)["results"][0]), seconds
    except (ValueError, KeyError, IndexError):
        return f"error: {run.stderr.strip()[:60]}", seconds


def measured(programs, path, name, timeout, repeat):
    """Verdict and least time of each program, which have their turns one after the other."""
    found = [check(program, path, name, timeout) for program in programs]
    for _ in range(repeat - 1):
        for place, program in enumerate(programs):
            if found[place][1] < SHORT:
                again = check(program, path, name, timeout)
                found[place] = (again[0], min(found[place][1], again[1]))
    return [{"verdict": own, "seconds": round(seconds, 3)} for own, seconds in found]


def mean(rows):
    """The geometric mean of the ratios of time."""
    ratios = [ratio(row) for row in rows]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def ratio(row):
    return max(row["after"]["seconds"], 1e-3) / max(row["before"]["seconds"], 1e-3)


def table(rows):
    """The measurements in Markdown."""
    both = bool(rows) and "before" in rows[0]
    if not both:
        lines = ["| property | verdict | CPU, s |", "| --- | --- | --- |"]
        lines += [f"| {row['property']} | {row['after']['verdict']} | {row['after']['seconds']:.2f} |" for row in rows]
        return "\n".join(lines)
    lines = ["| property | before | after | CPU before, s | CPU after, s | ratio |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        before, after = row["before"], row["after"]
        same = before["verdict"] == after["verdict"]
        said = "the same" if same else f"**{after['verdict']}**"
        lines.append(
            f"| {row['property']} | {before['verdict']} | {said} | {before['seconds']:.2f} | {after['seconds']:.2f} | {ratio(row):.2f} |"
        )
    same = [row for row in rows if row["before"]["verdict"] == row["after"]["verdict"]]
    decided = [row for row in same if row["after"]["verdict"] != "unknown"]
    lines += [
        "",
        f"{len(rows)} properties, {len(rows) - len(same)} verdicts changed. Geometric mean of the ratios: {mean(decided):.2f} over the "
        f"{len(decided)} that are decided as before, {mean(same):.2f} with the {len(same) - len(decided)} that are open in both.",
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/certus", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, help="the program to compare with")
    parser.add_argument("--timeout", type=float, default=10)
    parser.add_argument("--only", action="append", help="only properties whose 'system property' contains this text, or another such text")
    parser.add_argument("--repeat", type=int, default=3, help="how often a short check is made")
    parser.add_argument("--json", type=pathlib.Path, help="where the measurements are kept")
    parser.add_argument("--from", dest="kept", type=pathlib.Path, help="measurements to print instead of new ones")
    options = parser.parse_args()
    if options.kept:
        print(table(json.loads(options.kept.read_text())))
        return
    names = ["before", "after"] if options.before else ["after"]
    programs = [options.before, options.program] if options.before else [options.program]
    rows = []
    for path, name in properties(options.only):
        found = measured(programs, path, name, options.timeout, options.repeat)
        rows.append({"property": f"{path.stem} {name}", **dict(zip(names, found))})
        print(rows[-1]["property"], *(f"{own['verdict']} {own['seconds']:.2f}" for own in found), sep=" | ", file=sys.stderr, flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
