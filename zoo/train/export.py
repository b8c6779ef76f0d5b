"""Networks as ONNX files, in the form that the zoo's other networks have."""

import numpy as np
import torch
from onnx import TensorProto, checker, helper, numpy_helper
from torch import nn


class Writer:
    """An ONNX graph, written node by node: float32, opset 17, input `x` of shape [batch, n], output `y`."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, values, kind=np.float32):
        name = f"c{len(self.constants)}"
        # adding zero turns -0.0 into 0.0
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values, dtype=kind) + kind(0), name))
        return name

    def apply(self, operator, *arguments, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(operator, list(arguments), [name], **attributes))
        return name

    def part(self, signal, begin, end):
        ends = [self.constant([value], np.int64) for value in (begin, end, 1)]
        return self.apply("Slice", signal, *ends)

    def affine(self, signal, weight, bias):
        return self.apply("Gemm", signal, self.constant(weight), self.constant(bias), transB=1)

    def linear(self, signal, layer):
        return self.affine(signal, layer.weight.detach().numpy(), layer.bias.detach().numpy())

    def save(self, path, name, signal, inputs, outputs):
        self.nodes[-1].output[0] = "y"
        assert self.nodes[-1].output[0] == "y" and signal == f"v{self.count}"
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", inputs])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", outputs])],
            self.constants,
        )
        model = helper.make_model(
            graph, producer_name="certus-zoo", ir_version=8, opset_imports=[helper.make_opsetid("", 17)]
        )
        checker.check_model(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.SerializeToString(deterministic=True))


ACTIVATIONS = {nn.ReLU: "Relu", nn.Tanh: "Tanh", nn.Sigmoid: "Sigmoid"}


def write(path, name, layers, inputs, outputs, *, extractor=None, scale=None, bound=None):
    """Writes layers, an `extractor` with a method `onnx` before them.

    A fixed scaling of observations (`scale`: what each is divided by) becomes part of the first layer, so the file sees raw
    observations. What comes out is multiplied by `bound`, if there is one.
    """
    writer = Writer()
    signal = "x" if extractor is None else extractor.onnx(writer, "x")
    first = True
    for layer in layers:
        if isinstance(layer, nn.Linear) and first and scale is not None:
            assert extractor is None
            weight = layer.weight.detach().numpy().astype(np.float64) / np.asarray(scale)
            signal = writer.affine(signal, weight, layer.bias.detach().numpy())
        elif isinstance(layer, nn.Linear):
            signal = writer.linear(signal, layer)
        else:
            signal = writer.apply(ACTIVATIONS[type(layer)], signal)
        first = first and not isinstance(layer, nn.Linear)
    if bound is not None:
        signal = writer.apply("Mul", signal, writer.constant(bound))
    writer.save(path, name, signal, inputs, outputs)


def compare(path, observations, expected):
    """Fails if a file does not give what the network it was made from gives."""
    import certus

    found = certus.Network(path)(np.ascontiguousarray(observations, dtype=np.float32))
    scale = max(1.0, float(np.abs(expected).max()))
    difference = float(np.abs(found - expected).max())
    if not difference <= 1e-4 * scale:
        raise RuntimeError(f"{path} differs from the network that it was made from by {difference:g}")


def flat(*modules):
    """The layers of modules, in order."""
    layers = []
    for module in modules:
        layers += flat(*module) if isinstance(module, nn.Sequential) else [module]
    return layers


def evaluate(layers, observations, *, extractor=None, scale=None, bound=None):
    """What `write` would give, computed by torch."""
    with torch.no_grad():
        signal = torch.as_tensor(np.asarray(observations, dtype=np.float32))
        if scale is not None:
            signal = signal / torch.as_tensor(np.asarray(scale, dtype=np.float32))
        if extractor is not None:
            signal = extractor(signal)
        for layer in layers:
            signal = layer(signal)
        if bound is not None:
            signal = signal * torch.as_tensor(np.asarray(bound, dtype=np.float32))
        return signal.numpy()
