"""Evaluation of policy networks: Certus beside onnxruntime, one thread each, in one run.

    python bench/evaluation.py            # needs numpy, onnx, onnxruntime

Builds MLPs of the sizes that published policies have, times both on each at batch 1 and 256, several times in turns,
and prints nanoseconds per call (the best of all rounds) and their ratio. A call of onnxruntime from Python costs a few
microseconds whatever the network; the time of an Identity model with the same input is measured and taken off for the
column 'net'. Ratios above 1 mean that Certus is faster.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent

NETWORKS = [
    ("240x200 relu", 4, [240, 200], "Relu"),
    ("64x64 relu", 8, [64, 64], "Relu"),
    ("64x64 tanh", 8, [64, 64], "Tanh"),
    ("32x16 relu", 30, [32, 16], "Relu"),
    ("32x16 tanh", 30, [32, 16], "Tanh"),
    ("500x400x300 relu", 7, [500, 400, 300], "Relu"),
]


def model(nodes, weights, inputs, outputs):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", inputs])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", outputs])
    graph = helper.make_graph(nodes, "policy", [x], [y], weights)
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(built)
    return built


def mlp(inputs, hidden, activation, rng):
    nodes, weights, sizes, name = [], [], [inputs, *hidden, 1], "x"
    for layer, (before, after) in enumerate(zip(sizes, sizes[1:])):
        scale = np.sqrt(2.0 / before)
        weights.append(numpy_helper.from_array((rng.standard_normal((after, before)) * scale).astype(np.float32), f"w{layer}"))
        weights.append(numpy_helper.from_array((rng.standard_normal(after) * 0.1).astype(np.float32), f"b{layer}"))
        last = layer == len(sizes) - 2
        target = "y" if last else f"h{layer}"
        nodes.append(helper.make_node("Gemm", [name, f"w{layer}", f"b{layer}"], [target], transB=1))
        if not last:
            nodes.append(helper.make_node(activation, [target], [f"a{layer}"]))
            name = f"a{layer}"
    return model(nodes, weights, inputs, 1)


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def calls_for(seconds, running, x):
    """How many calls fill this time."""
    calls = 8
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            running.run(["y"], {"x": x})
        passed = time.perf_counter() - start
        if passed > 0.01:
            return max(8, round(calls * seconds / passed))
        calls *= 2


def time_peer(running, x, calls, rounds):
    feed, run, best = {"x": x}, running.run, float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            run(["y"], feed)
        best = min(best, (time.perf_counter() - start) / calls * 1e9)
    return best


def build():
    command = ["cargo", "build", "--release", "-q", "-p", "certus", "-p", "certus-graph", "--bins", "--examples"]
    subprocess.run(command, check=True, cwd=ROOT)


def time_certus(path, batch, calls, rounds, precision="f32"):
    program = ROOT / "target" / "release" / "examples" / "time_evaluation"
    command = [program, path, *map(str, (batch, calls, rounds)), precision]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.02, help="the length of one timing")
    parser.add_argument("--rounds", type=int, default=10, help="timings in a row; the best counts")
    parser.add_argument("--turns", type=int, default=5, help="how often the programs take turns")
    arguments = parser.parse_args()
    build()
    rng = np.random.default_rng(0)
    print(f"onnxruntime {ort.__version__}, ns per call\n")
    print("| network | batch | onnxruntime | net of the call | certus | ratio | ratio, net |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    worst = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        for name, inputs, hidden, activation in NETWORKS:
            path = pathlib.Path(folder) / f"{name.replace(' ', '_')}.onnx"
            onnx.save(mlp(inputs, hidden, activation, rng), path)
            empty = pathlib.Path(folder) / "identity.onnx"
            onnx.save(model([helper.make_node("Identity", ["x"], ["y"])], [], inputs, inputs), empty)
            for batch in (1, 256):
                x = rng.uniform(-1, 1, (batch, inputs)).astype(np.float32)
                calls = calls_for(arguments.seconds, session(path), x)
                peer, call, own = float("inf"), float("inf"), float("inf")
                for _ in range(arguments.turns):
                    peer = min(peer, time_peer(session(path), x, calls, arguments.rounds))
                    call = min(call, time_peer(session(empty), x, calls, arguments.rounds))
                    own = min(own, time_certus(path, batch, calls, arguments.rounds))
                net = peer - call
                worst = min(worst, net / own)
                print(f"| {name} | {batch} | {peer:.0f} | {net:.0f} | {own:.0f} | {peer / own:.2f} | {net / own:.2f} |", flush=True)
    print(f"\nsmallest net ratio: {worst:.2f}")


if __name__ == "__main__":
    sys.exit(main())
