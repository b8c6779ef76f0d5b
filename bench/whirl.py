"""whiRL's questions about Aurora, asked Certus and Marabou 2.0 alike: cycles of period 1 to 4, one core each.

    python bench/whirl.py [--limit 120] [--program CERTUS] [--periods 4] [NETWORK…]

Needs what `bench/marabou.py` needs. A cycle of period c through a window of ten intervals has 3c free numbers; the network
stands c times side by side in one file, its first layer reading the window's intervals where the cycle has them, so both programs get
the same network file and the same VNN-LIB file. Properties 1, 2 and 4 ask for a cycle on which every state is
bad; property 3 for one state. A question counts where Marabou decides it within the limit; where Certus does not, its time
is the limit. Times are those of whole processes; 'solve' is Marabou's solve call alone.
"""

import argparse
import math
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import marabou

WINDOW = 10
STEADY = [(-0.01, 0.01), (1.0, 1.01)]
# The range of the send ratio, and what the violation asks of each output.
PROPERTIES = {
    "p1": ((1.0, 1.0), ["<= 0.0", ">= 0.0"]),
    "p2": ((1.0, 1.0), ["<= 0.0"]),
    "p3": ((2.0, 10.0), [">= 0.0"]),
    "p4": ((2.0, 10.0), [">= 0.0"]),
}


def layers(path):
    """Weights (outputs × inputs) and biases of a network of dense layers."""
    graph = onnx.load(path).graph
    values = {own.name: numpy_helper.to_array(own) for own in graph.initializer}
    return [(values[node.input[1]], values[node.input[2]]) for node in graph.node if node.op_type == "Gemm"]


def side_by_side(dense, selections):
    """The network once for each selection of its inputs, as one network."""
    (first, bias), *rest = dense
    blocks = [(np.concatenate([first @ selection for selection in selections]), np.tile(bias, len(selections)))]
    for weights, bias in rest:
        blocks.append((np.kron(np.eye(len(selections)), weights), np.tile(bias, len(selections))))
    return blocks


def write_network(blocks, path):
    nodes, constants, value = [], [], "X"
    for number, (weights, bias) in enumerate(blocks):
        constants += [numpy_helper.from_array(weights.astype(np.float32), f"w{number}"),
                      numpy_helper.from_array(bias.astype(np.float32), f"b{number}")]
        nodes.append(helper.make_node("Gemm", [value, f"w{number}", f"b{number}"], [f"v{number}"], transB=1))
        value = f"v{number}"
        if number + 1 < len(blocks):
            nodes.append(helper.make_node("Relu", [value], [f"r{number}"]))
            value = f"r{number}"
    port = lambda name, size: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])
    graph = helper.make_graph(nodes, "cycle", [port("X", blocks[0][0].shape[1])], [port(value, blocks[-1][0].shape[0])],
                              constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def write_question(name, dense, period, folder):
    """A cycle of a period (or one state, for property 3) as a network and a VNN-LIB file."""
    send, wanted = PROPERTIES[name]
    free = WINDOW if name == "p3" else period
    selections = []
    for start in range(1 if name == "p3" else period):
        selection = np.zeros((3 * WINDOW, 3 * free))
        for place in range(WINDOW):
            for feature in range(3):
                selection[3 * place + feature, 3 * ((start + place) % free) + feature] = 1
        selections.append(selection)
    network, question = folder / f"{name}-{period}.onnx", folder / f"{name}-{period}.vnnlib"
    write_network(side_by_side(dense, selections), network)
    lines = [f"(declare-const X_{i} Real)" for i in range(3 * free)]
    lines += [f"(declare-const Y_{i} Real)" for i in range(len(selections))]
    for i in range(3 * free):
        low, high = [*STEADY, send][i % 3]
        lines += [f"(assert (>= X_{i} {low}))", f"(assert (<= X_{i} {high}))"]
    for i in range(len(selections)):
        lines += [f"(assert ({bound.split()[0]} Y_{i} {bound.split()[1]}))" for bound in wanted]
    question.write_text("\n".join(lines) + "\n")
    return str(network), str(question)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).parent.parent
    parser.add_argument("networks", nargs="*", default=[str(root / "zoo/aurora" / name) for name in ("aurora.onnx", "aurora_small.onnx")])
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--periods", type=int, default=4)
    parser.add_argument("--program", default=str(root / "target/release/certus"))
    options = parser.parse_args()
    logs, solves, wrong = [], [], 0
    print(f"{'network':<14} {'question':<9} {'Certus':>8} {'s':>7}   {'Marabou':>9} {'s':>7} {'solve s':>8} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for path in options.networks:
            dense = layers(path)
            for name in PROPERTIES:
                for period in [1] if name == "p3" else range(1, options.periods + 1):
                    network, question = write_question(name, dense, period, pathlib.Path(folder))
                    verdict, seconds = marabou.ask_certus(options.program, network, question, options.limit)
                    other, whole, solve = marabou.ask_marabou(network, question, options.limit)
                    decided = other in ("sat", "unsat")
                    seconds = seconds if verdict in ("sat", "unsat") else options.limit
                    wrong += decided and verdict in ("sat", "unsat") and verdict != other
                    ratio = f"{whole / seconds:7.1f}" if decided else "      –"
                    label = f"{name} c={period}"
                    print(f"{pathlib.Path(path).stem:<14} {label:<9} {verdict:>8} {seconds:7.3f}   {other:>9} {whole:7.2f} "
                          f"{solve:8.3f} {ratio}", flush=True)
                    if decided:
                        logs.append(math.log(whole / seconds))
                        solves.append(math.log(solve / seconds))
    if logs:
        mean = lambda values: math.exp(sum(values) / len(values))
        print(f"{len(logs)} decided by Marabou; geometric mean: process against process {mean(logs):.1f}×, its solve call alone "
              f"against our process {mean(solves):.1f}×; contradictions {wrong}")


if __name__ == "__main__":
    main()
