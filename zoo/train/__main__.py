"""Trains policies of the zoo; `python -m zoo.train --help`."""

import argparse
import hashlib
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ZOO = Path(__file__).resolve().parent.parent
RUNS = 1000
SEED, VALIDATION_SEED = 1, 1001
#: Episodes in a world.
EPISODES = {"aurora": 100, "pensieve": 100, "deeprm": 100}
#: What the test of the repository evaluates again: so many runs, of so many steps at most.
CHECK_RUNS, CHECK_STEPS, CHECK_EPISODES = 20, 200, {"aurora": 4, "pensieve": 30, "deeprm": 10}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record_of(folder):
    path = ZOO / folder / "training.json"
    return json.loads(path.read_text()) if path.is_file() else {"policies": {}}


def finished(entry):
    """Whether the policy's files are those that its record names."""
    record = record_of(entry.folder)["policies"].get(entry.name)
    if record is None or record["spec"] != entry.spec():
        return False
    files = [(ZOO / entry.folder / told["file"], told["sha256"]) for told in [record, *record.get("checkpoints", [])]]
    return all(path.is_file() and digest(path) == expected for path, expected in files)


def world_settings(entry, evaluation):
    from . import registry

    settings = dict(entry.world)
    if settings.pop("traces", False):
        settings["traces"] = registry.traces(registry.EVALUATION_TRACES if evaluation else registry.TRAINING_TRACES)
        if evaluation:
            settings["order"] = "in turn"
    return settings


def world_told(entry):
    """The settings of evaluation, as JSON has them."""
    from . import registry

    return {name: registry.EVALUATION_TRACES if name == "traces" else value for name, value in entry.world.items()}


def tolerance(returns):
    """How far another machine's arithmetic may be from a mean."""
    return float(0.02 * abs(returns["mean"]) + 0.05 * returns["std"] + 1e-6)


def evaluated(entry, path):
    """What a policy does, for the record."""
    from . import evaluate

    if entry.world is not None:
        discrete = entry.folder != "aurora"
        policy = evaluate.acting(path, discrete)
        settings = world_settings(entry, True)
        returns = evaluate.in_world(entry.folder, settings, policy, EPISODES[entry.folder], SEED)
        few = CHECK_EPISODES[entry.folder]
        check = {"episodes": few, "seed": SEED, "mean": float(returns[:few].mean())}
        check["tolerance"] = tolerance(evaluate.numbers(returns))
        return {"return": {**evaluate.numbers(returns), "seed": SEED}, "check": check}
    system = ZOO / entry.folder / f"{entry.folder}.certus"
    net = f"{entry.folder}.onnx"
    result, broken = evaluate.simulated(system, path, net, RUNS, entry.watch_steps, SEED, entry.properties)
    steps = min(entry.watch_steps, CHECK_STEPS)
    few, _ = evaluate.simulated(system, path, net, CHECK_RUNS, steps, SEED, ())
    check = {"runs": CHECK_RUNS, "steps": steps, "seed": SEED, "mean": few["mean"], "tolerance": tolerance(few)}
    return {"return": result, "broken": broken, "check": check}


def validated(entry, path):
    """The mean return by which the best of some networks is chosen; runs that the evaluation does not see."""
    from . import evaluate

    if entry.world is not None:
        policy = evaluate.acting(path, entry.folder != "aurora")
        return evaluate.in_world(entry.folder, world_settings(entry, None), policy, 60, VALIDATION_SEED).mean()
    system, net = ZOO / entry.folder / f"{entry.folder}.certus", f"{entry.folder}.onnx"
    steps = min(entry.watch_steps, 400)
    return evaluate.simulated(system, path, net, 100, steps, VALIDATION_SEED, (), entry.set)[0]["mean"]


def random_return(entry):
    from . import evaluate

    if entry.world is not None:
        policy = evaluate.random_policy(entry.folder, SEED)
        settings = world_settings(entry, True)
        return evaluate.numbers(evaluate.in_world(entry.folder, settings, policy, EPISODES[entry.folder], SEED))
    system = ZOO / entry.folder / f"{entry.folder}.certus"
    return evaluate.random_in_system(system, RUNS, entry.watch_steps, SEED)


def versions():
    import certus
    import gymnasium
    import stable_baselines3
    import torch

    return {
        "python": platform.python_version(),
        "certus": certus.__version__,
        "torch": torch.__version__.split("+")[0],
        "stable-baselines3": stable_baselines3.__version__,
        "gymnasium": gymnasium.__version__,
        "numpy": np.__version__,
    }


def told(entry):
    """The settings, as JSON has them."""
    def plain(value):
        if isinstance(value, type):
            return value.__name__
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return value

    return plain(entry.options), plain(entry.adapt)


def train(entry):
    import torch

    from . import environments, export, learn

    torch.set_num_threads(1)
    torch.manual_seed(entry.seed)
    np.random.seed(entry.seed)
    folder = ZOO / entry.folder
    adapt = dict(entry.adapt)
    if entry.world is not None:
        env = environments.world_env(entry.folder, entry.envs, world_settings(entry, False), seed=entry.seed, **adapt)
    else:
        path = folder / f"{entry.folder}.certus"
        env = environments.system_env(path, entry.envs, max_steps=entry.episode,
                                      set=entry.set, seed=entry.seed, **adapt)
    env.seed(entry.seed)
    space, actions = env.observation_space, env.action_space
    seen = env.reset()
    scale, squashed = adapt.get("scale"), adapt.get("squashed", False)
    discrete = hasattr(actions, "n")
    outputs = int(actions.n if discrete else actions.shape[0])
    bound = actions.high if entry.algorithm == "td3" and not squashed else None
    raw = seen if scale is None else seen * np.asarray(scale, dtype=np.float32)

    def save(model, path):
        extractor, layers = learn.actor_parts(model, squashed)
        export.write(path, path.stem, layers, space.shape[0], outputs, extractor=extractor, scale=scale, bound=bound)
        expected = export.evaluate(layers, raw, extractor=extractor, scale=scale, bound=bound)
        export.compare(path, raw, expected)

    class Hooks:
        checkpoints = []
        best = (-np.inf, b"", 0)

        def checkpoint(self, model, at):
            path = folder / "checkpoints" / f"{entry.name}_{at // 1000:04d}k.onnx"
            save(model, path)
            self.checkpoints.append((at, path))

        def consider(self, model):
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / f"{entry.name}.onnx"
                save(model, path)
                found = (validated(entry, path), path.read_bytes(), model.num_timesteps)
                self.best = max(self.best, found, key=lambda one: one[0])

    hooks, started = Hooks(), time.time()
    model = learn.ALGORITHMS[entry.algorithm](entry, env, hooks)
    hooks.consider(model)
    seconds = time.time() - started
    path = folder / f"{entry.name}.onnx"
    path.write_bytes(hooks.best[1])
    note(entry, path, hooks.checkpoints, seconds, hooks.best[2])


def note(entry, path, checkpoints, seconds, kept):
    """Evaluates a policy and writes its record."""
    options, adapt = told(entry)
    result = {
        "file": path.name,
        "sha256": digest(path),
        "algorithm": entry.algorithm.upper(),
        "network": {"hidden": list(entry.hidden), "activation": entry.activation},
        "seed": entry.seed,
        "steps": entry.steps,
        "kept_from_step": kept,
        "environments": entry.envs,
        "options": options,
        "training_environment": adapt if entry.world is not None else
        {"episode": entry.episode, "set": entry.set, "changed": adapt},
        "seconds": round(seconds, 1),
        "command": f"python -m zoo.train {entry.name}",
        "versions": versions(),
        **({} if entry.world is None else {"world": world_told(entry)}),
        **evaluated(entry, path),
        "random": random_return(entry),
    }
    if entry.folder == "pensieve":
        from . import evaluate

        returns = evaluate.in_world("pensieve", world_settings(entry, True), evaluate.buffer_based, EPISODES["pensieve"], SEED)
        result["buffer_based"] = evaluate.numbers(returns)
    if checkpoints:
        def told_of(at, file):
            name = str(file.relative_to(path.parent))
            return {"file": name, "steps": at, "sha256": digest(file), "return": evaluated(entry, file)["return"]}

        result["checkpoints"] = [told_of(at, file) for at, file in checkpoints]
    result["published"] = entry.published
    result["spec"] = entry.spec()
    record = record_of(entry.folder)
    record["policies"][entry.name] = result
    record["policies"] = dict(sorted(record["policies"].items()))
    (path.parent / "training.json").write_text(json.dumps(record, indent=2) + "\n")
    broken = ", ".join(f"{name} {count}" for name, count in result.get("broken", {}).items())
    print(f"{entry.name}: return {result['return']['mean']:.5g} (random {result['random']['mean']:.5g}), "
          f"broken in {RUNS} runs: {broken or '-'}, {seconds:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m zoo.train", description="Trains policies of the zoo.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="policies to train")
    parser.add_argument("--all", action="store_true", help="all of them")
    parser.add_argument("--list", action="store_true", help="say which there are, and which are done")
    parser.add_argument("--again", action="store_true", help="train also what is done")
    parser.add_argument("--evaluate", action="store_true", help="do not train: evaluate again what is there")
    arguments = parser.parse_args()
    from .registry import ENTRIES, by_name

    known = by_name()
    if unknown := [name for name in arguments.names if name not in known]:
        parser.error(f"there is no policy {', '.join(unknown)}; --list shows them")
    entries = ENTRIES if arguments.all or arguments.list else [known[name] for name in arguments.names]
    if not entries:
        parser.error("name policies, or say --all")
    for entry in entries:
        if arguments.list:
            state = "done" if finished(entry) else "to do"
            shape = "x".join(map(str, entry.hidden))
            print(f"{entry.name:24} {entry.folder:24} {entry.algorithm.upper():5} {shape:12} {state}")
        elif arguments.evaluate:
            old = record_of(entry.folder)["policies"][entry.name]
            folder = ZOO / entry.folder
            checkpoints = [(item["steps"], folder / item["file"]) for item in old.get("checkpoints", [])]
            note(entry, folder / old["file"], checkpoints, old["seconds"], old.get("kept_from_step", entry.steps))
        elif finished(entry) and not arguments.again:
            print(f"{entry.name}: done already", flush=True)
        else:
            train(entry)


if __name__ == "__main__":
    sys.exit(main())
