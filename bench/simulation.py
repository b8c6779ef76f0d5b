"""Simulation beside its network: how much does everything else of `certus simulate` cost?

    python bench/simulation.py            # needs numpy, onnx, onnxruntime

Simulates the inverted pendulum of the zoo with a 240x200 ReLU policy, one thread, and times the same number of
evaluations of the network alone in the same precision and batch, in turns. Prints the ratio of the two, best of all
rounds each.
"""

import json
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx

from evaluation import ROOT, build, mlp, time_certus

RUNS, STEPS, BATCH, ROUNDS = 1024, 500, 256, 5


def main():
    build()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        network = folder / "pendulum.onnx"
        policy = mlp(2, [240, 200], "Relu", np.random.default_rng(0))
        # A policy that keeps the pendulum up in all its runs: the last layer is scaled down and the feedback of the
        # published program is added in the file, so that all runs make all their steps.
        onnx.save(policy, network)
        text = (ROOT / "zoo" / "pendulum" / "pendulum.certus").read_text()
        call = 'net("pendulum.onnx", eta, omega)'
        assert call in text
        system = folder / "pendulum.certus"
        system.write_text(text.replace(call, f"0.001 * {call} - 12.05 * eta - 5.87 * omega"))
        simulate = [ROOT / "target" / "release" / "certus", "simulate", system, "--runs", str(RUNS), "--steps", str(STEPS), "--threads", "1", "--json"]
        loop, alone = float("inf"), float("inf")
        for _ in range(ROUNDS):
            result = json.loads(subprocess.run(simulate, capture_output=True, text=True).stdout)
            assert result["ends"]["completed"] == RUNS, result["ends"]
            loop = min(loop, result["seconds"])
            calls = RUNS * (STEPS + 1) // BATCH
            alone = min(alone, time_certus(network, BATCH, calls, 1, "f64") * 1e-9 * calls)
    print(f"{RUNS} runs of {STEPS} steps: {loop:.3f} s; the network alone: {alone:.3f} s; ratio {loop / alone:.2f}")


if __name__ == "__main__":
    main()
