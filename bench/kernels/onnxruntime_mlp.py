"""Times the networks of the `mlp` example of certus-kernels in onnxruntime with one thread.

Needs onnx, onnxruntime and numpy. Prints microseconds per inference: called from Python with and without bound inputs
and outputs, and estimated without Python's own cost. For that estimate a network is repeated several times inside one
graph (over separate copies of its weights' consumers), and the extra time is divided by the extra copies.
"""

import time

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

NETWORKS = [[4, 240, 200, 1], [4, 64, 64, 1], [4, 32, 16, 1], [4, 500, 400, 300, 1]]


def model(sizes, copies):
    """The network `copies` times over, each copy on its own input, in one graph."""
    rng = np.random.default_rng(0)
    initializers, nodes, inputs, outputs = [], [], [], []
    for layer, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        weight = (rng.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in)).astype(np.float32)
        bias = (rng.standard_normal(fan_out) * 0.1).astype(np.float32)
        initializers += [numpy_helper.from_array(weight, f"w{layer}"), numpy_helper.from_array(bias, f"b{layer}")]
    for copy in range(copies):
        value = f"x_{copy}"
        inputs.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, ["n", sizes[0]]))
        for layer in range(len(sizes) - 1):
            last = layer == len(sizes) - 2
            result = f"y_{copy}" if last else f"g_{copy}_{layer}"
            nodes.append(helper.make_node("Gemm", [value, f"w{layer}", f"b{layer}"], [result]))
            if not last:
                nodes.append(helper.make_node("Relu", [result], [f"r_{copy}_{layer}"]))
                result = f"r_{copy}_{layer}"
            value = result
        outputs.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, ["n", sizes[-1]]))
    graph = helper.make_graph(nodes, "mlp", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def session(sizes, copies):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return ort.InferenceSession(model(sizes, copies), options, providers=["CPUExecutionProvider"])


def best(call, rounds=500, seconds=0.0005):
    """The fastest round, in microseconds per call."""
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if time.perf_counter() - start >= seconds:
            break
        calls *= 2
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls)
    return min(times) * 1e6


def bound(sess, batch):
    binding = sess.io_binding()
    for node in sess.get_inputs():
        x = np.random.default_rng(1).standard_normal((batch, node.shape[1])).astype(np.float32)
        binding.bind_ortvalue_input(node.name, ort.OrtValue.ortvalue_from_numpy(x))
    for node in sess.get_outputs():
        y = np.zeros((batch, node.shape[1]), np.float32)
        binding.bind_ortvalue_output(node.name, ort.OrtValue.ortvalue_from_numpy(y))
    return lambda: sess.run_with_iobinding(binding)


def main():
    print(f"onnxruntime {ort.__version__}, one thread, microseconds per inference")
    for sizes in NETWORKS:
        one, many = session(sizes, 1), session(sizes, 9)
        for batch in (1, 2, 4, 8, 16, 64, 256):
            x = np.random.default_rng(1).standard_normal((batch, sizes[0])).astype(np.float32)
            plain = best(lambda: one.run(None, {"x_0": x}))
            single = best(bound(one, batch))
            inside = (best(bound(many, batch)) - single) / 8
            print(f"{sizes} batch {batch}: run {plain:.2f}, bound {single:.2f}, inside {inside:.2f}")


if __name__ == "__main__":
    main()
