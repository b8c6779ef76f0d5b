#!/usr/bin/env python3
"""Writes the hand-made policies of the zoo; `zoo/train` makes the trained ones.

Every policy here is a feed-forward network in ONNX: float32, opset 17, input `x` of shape
[batch, n], output `y` of shape [batch, m]. All but the toy's are one affine layer, that is
a linear feedback or linear logits: enough to close the loop, and simple enough that what a
property says of it can be worked out by hand. Clamping and squashing stand in the `.certus` files.

    python zoo/make_policies.py            writes every file
    python zoo/make_policies.py --check    fails if a file differs from what would be written

Gains marked VRL are the linear programs that the artefact of Zhu et al. (PLDI 2019, MIT licence)
stores for its benchmarks; all others are the project's own.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

ZOO = Path(__file__).resolve().parent


def feedback(*rows, bias=None):
    """One affine layer; each row of the matrix is one output."""
    weights = np.array(rows, dtype=np.float64)
    return [(weights, np.zeros(len(rows)) if bias is None else np.array(bias, dtype=np.float64))]


def nearest_index(count, gain, offset):
    """Logits whose arg-max is the integer in 0..count nearest to gain * x + offset.

    The square of the distance is (gain * x + offset - i)^2; what does not depend on i cancels.
    """
    i = np.arange(count)
    gain = np.atleast_1d(np.array(gain, dtype=np.float64))
    return [(2.0 * np.outer(i, gain), 2.0 * i * offset - i**2)]


def toy():
    """y = 4 relu(v1 + v2) + relu(v1 - v2) - 1: convex, so its largest value is at a corner, 7 at (1, 1)."""
    return [
        (np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2)),
        (np.array([[4.0, 1.0]]), np.array([-1.0])),
    ]


def vcas(previous):
    """Climb away from an intruder below, descend from one above; a little loyal to the last advisory.

    Rows are the nine advisories in the order of the system file, inputs are (h, climb, tau).
    """
    weights = np.zeros((9, 3))
    weights[5, 0], weights[6, 0] = 0.01, -0.01
    bias = np.array([0.0, -5.0, -5.0, -5.0, -5.0, 0.0, 0.0, -5.0, -5.0])
    bias[previous] += 0.01
    return [(weights, bias)]


def flow(rate):
    """A change of rate, at most 4: down with the slope of the latency and the loss, towards three tenths of latency in the queue,
    and down by `rate` per packet/s beyond 125.

    Inputs are (latency gradient, latency ratio, send ratio, own rate). min(y, 4) = 4 - relu(4 - y).
    """
    weights, bias = np.array([-20.0, -6.0, -5.0, -rate]), 6 * 1.3 + 5 + 125 * rate
    return [(-weights[np.newaxis], np.array([4 - bias])), (np.array([[-1.0]]), np.array([4.0]))]


# File (relative to the zoo, without its ending) -> layers.
POLICIES = {
    "toy/toy": toy(),
    # Linear plants.
    "pendulum_discrete/pendulum_discrete": feedback([-0.9721764159, 0.7947307347]),  # VRL, third piece
    "cartpole_long/cartpole_long": feedback([2.7372028204, 26.2754484629, 48.6597484345, 41.0551315290]),  # VRL
    "pendulum_heavier/pendulum_heavier": feedback([-12.349873782, -6.6414249328]),  # VRL
    "pendulum_longer/pendulum_longer": feedback([-12.6324973197, -7.0315412343]),  # VRL
    "selfdriving_obstacle/selfdriving_obstacle": feedback(  # VRL
        [-4.3840740221, 3.9835751265, -11.2887569266, 3.0821734099],
        [-4.5674279593, 2.3377978177, 3.3103688455, -15.3817055707],
    ),
    "duffing/duffing": feedback([0.88, -2.34]),  # the paper's second branch
    "cruise/cruise": feedback([0.5843812825]),  # VRL
    # Discrete actions.
    "cartpole_gym/cartpole_gym": feedback([-1, -0.5], [1, 0.5]),
    "water_tank/water_tank": feedback([1, 0, 0], [-1, 0, 0], bias=[-50, 50]),
    "fishing/fishing": nearest_index(10, 10.0, 2.4),
    "vcas/vcas_1": vcas(0),
    "vcas/vcas_2": vcas(1),
    "vcas/vcas_3": vcas(2),
    "vcas/vcas_4": vcas(3),
    "vcas/vcas_5": vcas(4),
    "vcas/vcas_6": vcas(5),
    "vcas/vcas_7": vcas(6),
    "vcas/vcas_8": vcas(7),
    "vcas/vcas_9": vcas(8),
    # Flows on a bottleneck: one that knows its rate, and one that sees what Aurora sees.
    "bottleneck/bottleneck": flow(1 / 15),
    "bottleneck/bottleneck_shared": flow(0.0),
    # Nonlinear plants.
    "tora_reach/tora_reach": feedback([-1.253, -2.549, -1.191, -0.488], bias=[0.99]),
    "b3/b3": feedback([-0.104, -4.181], bias=[-0.917]),
    "b4/b4": feedback([2.891, -2.882, -1.952], bias=[0.009]),
    "b5/b5": feedback([-1.094, -0.849, -2.173], bias=[0.202]),
    "acc_arch/acc_arch": feedback([0.1, 0, -0.24, 0.1, 0.5], bias=[-3.0]),
    "single_pendulum/single_pendulum": feedback([-1.0, -0.5]),
    "unicycle/unicycle": feedback(
        [-1.0385, 0.5539, 0.9772, -1.8788],
        [0.0954, 1.5554, -2.7572, 0.1334],
        bias=[20, 20],
    ),
    "docking/docking": feedback([-0.0018, 0, -1.2, 0], [0, -0.0018, 0, -1.2]),
    # Height: both poles at -2. Each horizontal velocity: three poles at -2, through its angle.
    "quadrotor/quadrotor": feedback(
        [0, 0, -5.6, 0, 0, 5.6, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, -0.044, 0, -0.648, 0, 0, -0.324, 0, 0],
        [0, 0, 0, 0.044, 0, 0, 0, -0.648, 0, 0, -0.324, 0],
        bias=[5.6, 0, 0],
    ),
    # Both poles of each joint at -2, where the angles are small and alike; the coupling of the joints is undone.
    "double_pendulum/double_pendulum": feedback([-1.5, -0.5, -1, -0.5], [-0.5, -0.75, -0.5, -0.5]),
    "attitude/attitude": feedback(
        [-4, 0, 0, -2, 0, 0],
        [0, -2, 0, 0, -1, 0],
        [0, 0, -1, 0, 0, -0.5],
    ),
}


def to_onnx(name, layers):
    """The bytes of a network of affine layers with ReLU between them."""
    nodes, weights, signal = [], [], "x"
    for index, (matrix, bias) in enumerate(layers):
        last = index + 1 == len(layers)
        outputs, inputs = matrix.shape
        # adding zero turns -0.0 into 0.0, so equal tables give equal bytes
        values = matrix.astype(np.float32) + np.float32(0)
        shift = bias.astype(np.float32) + np.float32(0)
        weights.append(helper.make_tensor(f"w{index}", TensorProto.FLOAT, [outputs, inputs], values.ravel().tolist()))
        weights.append(helper.make_tensor(f"b{index}", TensorProto.FLOAT, [outputs], shift.tolist()))
        affine = "y" if last else f"affine{index}"
        nodes.append(helper.make_node("Gemm", [signal, f"w{index}", f"b{index}"], [affine], transB=1))
        if not last:
            signal = f"relu{index}"
            nodes.append(helper.make_node("Relu", [affine], [signal]))
    n, m = layers[0][0].shape[1], layers[-1][0].shape[0]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", n])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", m])],
        weights,
    )
    model = helper.make_model(
        graph, producer_name="certus-zoo", ir_version=8, opset_imports=[helper.make_opsetid("", 17)]
    )
    return model.SerializeToString(deterministic=True)


def main():
    parser = argparse.ArgumentParser(description="Writes or checks the hand-made policies of the zoo.")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    arguments = parser.parse_args()
    stale = []
    for name, layers in POLICIES.items():
        path = ZOO / f"{name}.onnx"
        content = to_onnx(path.stem, layers)
        if not arguments.check:
            path.write_bytes(content)
        elif not path.is_file() or path.read_bytes() != content:
            stale.append(name)
    if stale:
        sys.exit("out of date: " + ", ".join(stale))


if __name__ == "__main__":
    main()
