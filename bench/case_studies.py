"""whiRL's case studies: verdicts, scope and time of every property, on the zoo's networks and on published ones.

    python bench/case_studies.py [--data FOLDER] [--timeout 60] [--only TEXT] [--program CERTUS]

FOLDER holds `aurora/` and `pensieve/` with the published networks; without it, only the zoo's are checked. Each row is one
process; its time is from start to verdict. Prints a table in Markdown.
"""

import argparse
import json
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).parent.parent


def rows(data):
    aurora, pensieve, deeprm = (ROOT / f"zoo/{name}/{name}.certus" for name in ("aurora", "pensieve", "deeprm"))
    for name in ("aurora", "aurora_small", "aurora_tanh"):
        yield from ((f"zoo {name}", aurora, f"rate={ROOT}/zoo/aurora/{name}.onnx", f"p{i}", 10) for i in range(1, 5))
    if data:
        for name in ("aurora_small_simple", "aurora_mid_simple", "aurora_big_simple", "spectra_aurora_small",
                     "spectra_aurora_mid_retrained"):
            yield from ((name, aurora, f"rate={data}/aurora/{name}.onnx", f"p{i}", 10) for i in range(1, 5))
    networks = [("zoo pensieve", f"{ROOT}/zoo/pensieve/pensieve.onnx"), ("zoo pensieve_mid", f"{ROOT}/zoo/pensieve/pensieve_mid.onnx")]
    if data:
        networks += [(f"pensieve_{own}", f"{data}/pensieve/pensieve_{own}.onnx")
                     for own in ("original_actor", "small_simple", "mid_simple", "big_simple")]
    for name, path in networks:
        for number in (1, 2):
            for k in range(2, 9):
                yield name, pensieve, f"bitrate={path}", f"p{number}_k{k}", 8
    yield from (("zoo deeprm", deeprm, None, f"p{i}", 0) for i in range(1, 5))


def check(program, system, network, name, steps, timeout):
    command = [program, "check", system, name, "-k", str(steps), "--json", "--timeout", str(timeout)]
    command += ["--network", network] if network else []
    start = time.perf_counter()
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    try:
        result = json.loads(run.stdout)["results"][0]
    except (ValueError, KeyError, IndexError):
        return f"error: {run.stderr.strip()[:60]}", seconds
    scope = result["scope"]
    if result["verdict"] == "holds":
        return ("holds for all time" if scope == "unbounded" else f"holds, k ≤ {scope['bounded']}"), seconds
    if result["verdict"] == "violated":
        how = "for ever, k" if result["loop"] is not None else "k"
        return f"violated {how} = {scope['bounded']}", seconds
    return "open" + (f", none at k ≤ {scope['bounded']}" if scope else ""), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--program", default=str(ROOT / "target/release/certus"))
    options = parser.parse_args()
    print("| network | property | verdict | s |\n| --- | --- | --- | --- |")
    for name, system, network, own, steps in rows(options.data):
        if options.only not in f"{name} {own}":
            continue
        verdict, seconds = check(options.program, system, network, own, steps, options.timeout)
        print(f"| {name} | {own} | {verdict} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
