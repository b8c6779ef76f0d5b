"""Fills the section "Measured" of every system's README with what its command prints today.

    cargo build --release && python zoo/measure.py [NAME…]

Each README names one `certus simulate` command; it is run with `--json`, and everything after the marker is replaced.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

ZOO = pathlib.Path(__file__).resolve().parent
PROGRAM = ZOO.parent / "target" / "release" / "certus"
MARKER = "<!-- measured -->"


def measured(readme):
    command = re.search(r"cargo run --release -- (simulate .*)", readme).group(1)
    ran = subprocess.run([PROGRAM, *shlex.split(command), "--json"], cwd=ZOO.parent, capture_output=True, text=True)
    result = json.loads(ran.stdout)
    ends = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in result["ends"].items() if count)
    lines = [f"Simulation, {result['runs']} runs of at most {result['steps']} steps, seed {result['seed']}: {ends}."]
    if result["reward"]:
        lines.append(f"Mean reward per run {result['reward']['mean']:.6g}.")
    lines.append(f"{result['seconds']:.2f} s on two cores. A simulation can refute a property, not prove it.")
    rows = ["| property | broken | kept | open | smallest margin |", "| --- | --- | --- | --- | --- |"]
    for seen in result["properties"]:
        margin = seen["worst_margin"]
        margin = margin if isinstance(margin, str) else f"{margin:.6g}"
        if "estimate" in seen:
            low, high = seen["estimate"]["lower"], seen["estimate"]["upper"]
            rows.append(f"| `{seen['property']}` | | | | probability in [{low:.4g}, {high:.4g}] (95 %) |")
            continue
        rows.append(f"| `{seen['property']}` | {seen['violated']} | {seen['satisfied']} | {seen['open']} | {margin} |")
    return "\n".join(lines) + "\n\n" + "\n".join(rows) + "\n"


def main():
    names = sys.argv[1:] or sorted(path.parent.name for path in ZOO.glob("*/README.md"))
    for name in names:
        path = ZOO / name / "README.md"
        text = path.read_text()
        path.write_text(text[: text.index(MARKER) + len(MARKER)] + "\n\n" + measured(text))
        print(name)


if __name__ == "__main__":
    main()
