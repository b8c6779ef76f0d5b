"""Random small networks, each as an ONNX model and as a numpy function in double precision.

A `Builder` records every operator twice: as a node of the model and as a step on arrays [points, width]. The two share
only the numbers, so that the numpy function is an evaluator of its own beside onnxruntime and Certus.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FAMILIES = {
    # What Marabou reads and decides exactly.
    "relu": ["relu", "relu", "relu", "skip", "reshape"],
    "piecewise": ["relu", "leaky", "pool", "skip", "relu"],
    "clipped": ["relu", "clip", "abs", "min", "max", "leaky", "slice"],
    "smooth": ["tanh", "sigmoid", "softplus", "elu", "softmax"],
    "waves": ["sin", "cos", "tanh", "relu"],
    "products": ["mul", "mul", "square", "cube", "relu", "tanh"],
    "quotients": ["div", "exp", "sqrt", "reciprocal", "sigmoid", "relu"],
    "mixed": ["relu", "leaky", "pool", "skip", "clip", "abs", "min", "max", "slice", "reshape", "tanh", "sigmoid", "softplus",
              "elu", "softmax", "sin", "cos", "mul", "square", "cube", "div", "exp", "sqrt", "reciprocal"],
}
FOR_MARABOU = ("relu", "piecewise")


def sigmoid(v):
    return 0.5 * (1.0 + np.tanh(0.5 * v))


def softmax(v):
    e = np.exp(v - v.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


UNARY = {
    "relu": ("Relu", {}, lambda v: np.maximum(v, 0.0)),
    "leaky": ("LeakyRelu", {"alpha": 0.125}, lambda v: np.where(v > 0, v, 0.125 * v)),
    "abs": ("Abs", {}, np.abs),
    "tanh": ("Tanh", {}, np.tanh),
    "sigmoid": ("Sigmoid", {}, sigmoid),
    "softplus": ("Softplus", {}, lambda v: np.logaddexp(v, 0.0)),
    "elu": ("Elu", {"alpha": 1.0}, lambda v: np.where(v > 0, v, np.expm1(np.minimum(v, 0.0)))),
    "softmax": ("Softmax", {"axis": 1}, softmax),
    "sin": ("Sin", {}, np.sin),
    "cos": ("Cos", {}, np.cos),
    "exp": ("Exp", {}, np.exp),
}


class Builder:
    """A network under construction. A value is a name; `width` tells its number of elements (its shape is [1, width])."""

    def __init__(self, inputs, rng):
        self.rng, self.inputs = rng, inputs
        self.nodes, self.weights, self.steps, self.width = [], [], [], {"x": inputs}
        self.used = set()

    def apply(self, op, sources, width, function, constants=(), **attributes):
        """One operator: its sources are values, then constants that belong to it; `function` takes the sources only."""
        self.used.add(op)
        name = f"v{len(self.nodes)}"
        names = []
        for array in constants:
            names.append(f"c{len(self.weights)}")
            self.weights.append(numpy_helper.from_array(array, names[-1]))
        self.nodes.append(helper.make_node(op, [*sources, *names], [name], **attributes))
        self.steps.append((name, function, list(sources)))
        self.width[name] = width
        return name

    def array(self, *shape, scale=1.0):
        return (self.rng.uniform(-1, 1, shape) * scale).astype(np.float32)

    def dense(self, source, width, layer=None):
        """An affine layer, as Gemm or as MatMul and Add; `layer` to reuse weights."""
        before = self.width[source]
        w, b = layer or (self.array(width, before, scale=np.sqrt(3.0 / before)), self.array(width, scale=0.5))
        if self.rng.random() < 0.5:
            return self.apply("Gemm", [source], width, lambda v: v @ w.T.astype(float) + b, [w, b], transB=1)
        product = self.apply("MatMul", [source], width, lambda v: v @ w.T.astype(float), [np.ascontiguousarray(w.T)])
        return self.apply("Add", [product], width, lambda v: v + b.astype(float), [b])

    def unary(self, source, kind):
        op, attributes, function = UNARY[kind]
        return self.apply(op, [source], self.width[source], function, **attributes)

    def reshape(self, source, shape):
        return self.apply("Reshape", [source], self.width[source], lambda v: v, [np.array(shape, np.int64)])

    def scaled(self, source, factor):
        factor = np.float32(factor)
        return self.apply("Mul", [source], self.width[source], lambda v: v * float(factor), [np.array(factor)])

    def shifted(self, source, shift):
        shift = np.float32(shift)
        return self.apply("Add", [source], self.width[source], lambda v: v + float(shift), [np.array(shift)])

    def positive(self, source):
        """Something above zero, to divide by or to take a root of."""
        kind = self.rng.choice(["exp", "sigmoid", "softplus", "abs", "square"])
        if kind == "exp":
            return self.unary(self.scaled(source, 0.5), "exp")
        if kind == "square":
            return self.shifted(self.power(source, 2.0), 0.25)
        return self.shifted(self.unary(source, kind), 0.25)

    def power(self, source, exponent):
        return self.apply("Pow", [source], self.width[source], lambda v: v**exponent, [np.array(exponent, np.float32)])

    def activation(self, source, kind):
        """What follows an affine layer; may read other values and change the width."""
        width, rng = self.width[source], self.rng
        binary = {"min": ("Min", np.minimum), "max": ("Max", np.maximum), "mul": ("Mul", np.multiply)}
        if kind in binary:
            op, function = binary[kind]
            return self.apply(op, [source, self.dense(source, width)], width, function)
        if kind == "skip":
            other = self.unary(source, "relu")
            return self.apply("Concat", [source, other], 2 * width, lambda a, b: np.hstack([a, b]), axis=1)
        if kind == "pool":
            if width % 2:
                source = self.dense(source, width + 1)
                width += 1
            block = self.reshape(source, [1, 1, 1, width])
            largest = lambda v: v.reshape(len(v), -1, 2).max(axis=2)
            pooled = self.apply("MaxPool", [block], width // 2, largest, kernel_shape=[1, 2], strides=[1, 2])
            return self.reshape(pooled, [1, width // 2])
        if kind == "reshape":
            return self.reshape(self.reshape(self.unary(source, "relu"), [width, 1]), [1, width])
        if kind == "slice":
            first = int(rng.integers(width))
            last = int(rng.integers(first, width)) + 1
            bounds = [np.array([number], np.int64) for number in (first, last, 1)]
            return self.unary(self.apply("Slice", [source], last - first, lambda v: v[:, first:last], bounds), "relu")
        if kind == "clip":
            low, high = np.float32(rng.uniform(-1, 0)), np.float32(rng.uniform(0, 1))
            function = lambda v: np.clip(v, float(low), float(high))
            return self.apply("Clip", [source], width, function, [np.array(low), np.array(high)])
        if kind == "square" or kind == "cube":
            return self.power(self.scaled(source, 0.7), 2.0 if kind == "square" else 3.0)
        if kind == "div":
            return self.apply("Div", [source, self.positive(self.dense(source, width))], width, np.divide)
        if kind == "reciprocal":
            return self.apply("Reciprocal", [self.positive(source)], width, lambda v: 1.0 / v)
        if kind == "sqrt":
            return self.apply("Sqrt", [self.positive(source)], width, np.sqrt)
        if kind in ("sin", "cos"):
            return self.unary(self.scaled(source, rng.uniform(0.5, 3.0)), kind)
        return self.unary(self.scaled(source, 0.5) if kind == "exp" else source, kind)

    def layers(self, source, family, count, outputs):
        for _ in range(count):
            hidden = self.dense(source, int(self.rng.integers(2, 9)))
            source = self.activation(hidden, str(self.rng.choice(FAMILIES[family])))
        return self.dense(source, outputs)

    def model(self, output):
        """The finished model, [1, inputs] to [1, outputs]."""
        self.nodes.append(helper.make_node("Identity", [output], ["y"]))
        info = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])
        ends = [info("x", self.inputs)], [info("y", self.width[output])]
        graph = helper.make_graph(self.nodes, "random", *ends, self.weights)
        built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(built)
        return built

    def function(self, output):
        """The finished network on arrays [points, inputs], in double precision."""
        steps = list(self.steps)

        def evaluate(x):
            values = {"x": np.asarray(x, float)}
            for name, function, sources in steps:
                values[name] = function(*(values[source] for source in sources))
            return values[output]

        return evaluate


def copies(builder, family, depth):
    """A network and copies of it that share its inputs: applied to its own result, or to shifted inputs."""
    size = builder.inputs
    weights, widths = [], [size, *(int(w) for w in builder.rng.integers(2, 7, depth)), size]
    for before, after in zip(widths, widths[1:]):
        weights.append((builder.array(after, before, scale=np.sqrt(3.0 / before)), builder.array(after, scale=0.5)))
    kinds = [str(builder.rng.choice([k for k in FAMILIES[family] if k in UNARY])) for _ in range(depth)]

    def once(source):
        for layer, kind in zip(weights, [*kinds, None]):
            source = builder.dense(source, len(layer[1]), layer)
            source = builder.unary(source, kind) if kind else source
        return source

    count, results = int(builder.rng.integers(2, 4)), []
    loop, source = builder.rng.random() < 0.5, "x"
    for _ in range(count):
        results.append(once(source))
        if loop:
            # Held to the scale of the inputs, as a plant would.
            source = builder.apply("Add", ["x", builder.scaled(results[-1], 0.25)], size, np.add)
        else:
            source = builder.shifted("x", builder.rng.uniform(-0.3, 0.3))
    joined = builder.apply("Concat", results, size * count, lambda *v: np.hstack(v), axis=1)
    return joined


def random_network(family, rng):
    """A network of a family ("copies of" another by its second word): the model, its function, and the operators in it."""
    builder = Builder(int(rng.integers(1, 5)), rng)
    if family.startswith("copies of "):
        output = copies(builder, family.removeprefix("copies of "), int(rng.integers(1, 3)))
    else:
        output = builder.layers("x", family, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    return builder.model(output), builder.function(output), builder.inputs, builder.width[output], builder.used
