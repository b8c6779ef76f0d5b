"""Fills the parts of the READMEs that are measured: what each system's command prints today, and how its policy was trained.

    cargo build --release && python zoo/measure.py [NAME…]

Each README names one `certus simulate` command; it is run with `--json`, then every property is checked, ten seconds each, and everything
after the marker is replaced. Where
the folder has a `training.json` (written by `python -m zoo.train`), the section "Policy" is written from it. What a file
expects of its properties goes into the table of properties. Without names, the table of trained policies in `zoo/README.md` is
written, too.
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
TRAINED = ("<!-- trained -->", "<!-- end of trained -->")
ALGORITHMS = {"PPO": "proximal policy optimisation (PPO)", "TD3": "twin delayed DDPG (TD3)", "DQN": "deep Q-learning (DQN)"}
ACTIVATIONS = {"relu": "ReLU", "tanh": "tanh", "sigmoid": "sigmoid"}


#: What the records do not say.
NOTES = {
    "pensieve": "`pensieve.onnx` has the architecture of the original actor: dense branches over the last bitrate, the buffer, "
    "the throughputs, the download times, the next sizes and the chunks left. The original's last branch reads an old size by a "
    "slip of an index; here it reads the chunks left, as meant. `pensieve_mid.onnx` has one convolution (128 filters of width 4) "
    "that the histories and the sizes share. Training and evaluation use traces of our own generators (cellular and broadband) "
    "with seeds that do not meet; they are faster on average than the traces of the paper, so figures do not compare.",
    "tape": "`expect holds` needs no argument about the network: the state is a quarter of the action, up to terms of 1e-16, and "
    "the action is clamped to 10, so no coordinate passes 2.5.",
    "aurora": "Links are drawn as in the original's training; a connection's return depends on its link more than on the policy, "
    "hence the spread. The hand-made rule that stood here before, one affine layer, has a return of 651 on the same links, more than any "
    "of these networks.",
    "deeprm": "Evaluated with arrivals for 50 time steps, as in the original's documented runs. The hand-made rule that stood here "
    "before, shortest job first as one affine layer, has a return of -151 on the same jobs.",
    "platoon8": "TD3 did not learn this plant from nothing in the time that the others take. The actor was first fitted to a linear "
    "program (`platoon_program` in `zoo/train/registry.py`: every gap a damped spring), then trained on with small steps.",
    "platoon4_gaps": "`platoon4_gaps_steady.onnx` was first fitted to a linear program (`platoon_program` in `zoo/train/registry.py`: a gap stops "
    "opening within one step and closes within some), then trained on with very small steps. `docs/grid.md` has what is proved of it, and why the other one is beyond a grid.",
    "mountain_car_continuous": "Both were first fitted to a linear feedback before the tanh (`climber` in `zoo/train/registry.py`: left of its swing it pushes "
    "left, with the motion otherwise), whose return was 93.14 as the policy that stood here before; then trained on, the actor slower than its critic. "
    "Simulated from 20,001 evenly spaced initial positions, the smaller reaches the goal in 76 to 84 steps and spends at most 7.13, the larger in 76 to 83 for at most "
    "7.16. Of both a grid proves `climbs` for the network itself from all initial states: `certus check "
    "zoo/mountain_car_continuous/mountain_car_continuous.certus climbs --engine grid --width 0.0002 --timeout 60`, for the larger with `--network "
    "u=zoo/mountain_car_continuous/mountain_car_continuous_200.onnx`.",
    "gym_pendulum": "Trained from Gym's initial states (any angle), evaluated from the small cell of the paper.",
}


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


def verdict(result):
    """A verdict and what it rests on, in a few words."""
    if result.get("probability"):
        lower, upper = result["probability"]["lower"], result["probability"]["upper"]
        within = f" within {result['scope']['bounded']} steps" if isinstance(result["scope"], dict) else ""
        return f"{result['verdict']}: in [{lower:.3g}, {upper:.3g}]{within}"
    if result["verdict"] == "violated":
        steps = len(result["trace"]) - 1
        return f"violated, for ever from step {result['loop']} on" if result["loop"] is not None else f"violated at step {steps}"
    if result["verdict"] == "unknown":
        known = f"; no violation up to {result['scope']['bounded']} steps" if isinstance(result["scope"], dict) else ""
        return f"unknown: {result['reason']}{known}"
    proof = result["proof"] or {}
    if result["scope"] != "unbounded":
        return f"holds up to {proof['bounded']['steps']} steps" if "bounded" in proof else "holds"
    parts = []
    for method in proof.get("for_all_time", []):
        (kind, told), = method.items()
        if kind == "induction":
            faces = len(told["invariant"])
            parts.append(
                ("in every state" if told["depth"] == 0 else f"by induction over {told['depth']} state{'s'[: told['depth'] > 1]}")
                + (f" within {faces} halfspaces" if faces else "")
            )
        else:
            parts.append({"leaves": f"no run stays {told} steps in a violation", "ranking": "by a ranking function"}.get(kind, kind))
    return "holds for all time" + (f": {'; '.join(parts)}" if parts else "")


def checked(name):
    """What is proved or refuted of each property, and how long it took."""
    system = ZOO / name / f"{name}.certus"
    names = re.findall(r"^property (\w+)", system.read_text(), re.MULTILINE)
    rows = ["| property | verdict | engine | s |", "| --- | --- | --- | --- |"]
    for own in names:
        command = [PROGRAM, "check", system.relative_to(ZOO.parent), own, "--json", "--timeout", "10"]
        ran = subprocess.run(command, cwd=ZOO.parent, capture_output=True, text=True)
        result = json.loads(ran.stdout)["results"][0]
        rows.append(f"| `{own}` | {verdict(result)} | {result['engine'] or '-'} | {result['seconds']:.2f} |")
    command = f"certus check zoo/{name}/{name}.certus --timeout 10"
    return f"Checked with `{command}`, each property by itself:\n\n" + "\n".join(rows) + "\n"


def number(value):
    """A number for people."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def spread(returns):
    return f"{number(returns['mean'])} ± {number(returns['std'])}"


def shape(told):
    branches = {"Branches": "6 branches of 128, ", "Convolved": "convolution of 128 filters, "}
    return branches.get(told["options"].get("extractor"), "") + "x".join(map(str, told["network"]["hidden"])) + " " + ACTIVATIONS[told["network"]["activation"]]


def failures(told):
    """How many runs broke each property."""
    if "broken" not in told:
        return "-"
    return ", ".join(f"`{name}` {count}" for name, count in told["broken"].items()) or "-"


def changes(told):
    """How training differed from the file."""
    changed = dict(told["training_environment"].get("changed") or {})
    parts = []
    if "scale" in changed:
        parts.append("observations were scaled by constants, which are part of the first layer now")
    if "floor" in changed:
        parts.append(f"rewards were cut at {changed['floor']:g} from below")
    if "failure" in changed:
        parts.append(f"a step into a terminal state got an extra reward of {changed['failure']:g}")
    if "ends" in changed:
        parts.append(f"a reward of {changed['ends']:g} or less ended the episode")
    if "bound" in changed:
        parts.append(f"actions were bounded by {changed['bound']:g}, far below the file's bound, and so are the network's")
    if "hold" in changed:
        parts.append(f"a decision was held for {changed['hold']} steps, as the system does")
    if "starts" in changed:
        lower, upper, share = changed["starts"]
        parts.append(f"{share:.0%} of the episodes began anywhere between {tuple(lower)} and {tuple(upper)}")
    for name, value in (told["training_environment"].get("set") or {}).items():
        parts.append(f"`{name}` was {value:g}")
    return parts


def policy(folder, record):
    """The section on the policy."""
    lines = []
    for name, told in record["policies"].items():
        where = "the world `certus.worlds` of this name" if "world" in told else "this file's environment"
        text = (
            f"`{told['file']}`: {shape(told)}, {told['steps']:,} steps of {ALGORITHMS[told['algorithm']]} in {where}, "
            f"{told['environments']} copies at once, seed {told['seed']}, {told['seconds']:.0f} s on a shared machine "
            f"(`{told['command']}`)."
        )
        if parts := changes(told):
            text += " In training " + "; ".join(parts) + "."
        lines.append(text)
    lines.append(
        "Trained by the project, under the project's licence (MIT or Apache-2.0); `training.json` has every setting, version "
        "and digest."
    )
    rows = ["| policy | return | random actions | broken in 1,000 runs |", "| --- | --- | --- | --- |"]
    for name, told in record["policies"].items():
        rows.append(f"| `{told['file']}` | {spread(told['return'])} | {spread(told['random'])} | {failures(told)} |")
        for step in told.get("checkpoints", []):
            rows.append(f"| `{step['file']}` ({step['steps']:,} steps) | {spread(step['return'])} | | |")
    first = next(iter(record["policies"].values()))
    if "world" in first:
        rows.insert(0, f"Returns are over {first['return']['runs']} episodes of the world, seed {first['return']['seed']}, "
                       f"acting by the {'greatest score' if folder != 'aurora' else 'mean'}.\n")
    else:
        rows.insert(0, f"Returns are over {first['return']['runs']} runs of at most {first['return']['steps']} steps, seed "
                       f"{first['return']['seed']}.\n")
    text = "\n\n".join(lines) + "\n\n" + "\n".join(rows) + "\n"
    if "buffer_based" in first:
        text += f"\nThe return of the buffer-based rule is {spread(first['buffer_based'])} on the same traces.\n"
    return text + (f"\n{NOTES[folder]}\n" if folder in NOTES else "")


def with_policy(name, text):
    path = ZOO / name / "training.json"
    if not path.is_file():
        return text
    begin, end = text.index("## Policy\n") + len("## Policy\n"), text.index("## Run\n")
    return text[:begin] + "\n" + policy(name, json.loads(path.read_text())) + "\n" + text[end:]


def with_expectations(name, text):
    """The last column of the table of properties says what the file expects."""
    system = (ZOO / name / f"{name}.certus").read_text()
    expected = dict(re.findall(r"^property (\w+) =(?:(?!^property).)*?\bexpect (\w+)", system, re.MULTILINE | re.DOTALL))

    def cell(row):
        return f"{row.group(1)}{expected.get(row.group(2), '-')} |"

    return re.sub(r"^(\| `(\w+)` \| `.*\| )(holds|violated|-) \|$", cell, text, flags=re.MULTILINE)


def trained_table():
    head = ["policy", "network", "trained by", "return", "random", "failures in 1,000 runs", "published"]
    rows = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for path in sorted(ZOO.glob("*/training.json")):
        for name, told in json.loads(path.read_text())["policies"].items():
            folder = path.parent.name
            rows.append(
                f"| [{name}]({folder}/README.md) | {shape(told)} | {told['algorithm']}, {told['steps']:,} steps | "
                f"{spread(told['return'])} | {number(told['random']['mean'])} | {failures(told)} | {told['published'] or '-'} |"
            )
    return "\n".join(rows)


def main():
    names = sys.argv[1:] or sorted(path.parent.name for path in ZOO.glob("*/README.md"))
    for name in names:
        path = ZOO / name / "README.md"
        text = with_expectations(name, with_policy(name, path.read_text()))
        path.write_text(text[: text.index(MARKER) + len(MARKER)] + "\n\n" + measured(text) + "\n" + checked(name))
        print(name, flush=True)
    if not sys.argv[1:]:
        path = ZOO / "README.md"
        text = path.read_text()
        begin, end = text.index(TRAINED[0]) + len(TRAINED[0]), text.index(TRAINED[1])
        path.write_text(text[:begin] + "\n" + trained_table() + "\n" + text[end:])


if __name__ == "__main__":
    main()
