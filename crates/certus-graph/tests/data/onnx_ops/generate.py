"""Writes cases.json: small ONNX models with inputs and what onnxruntime computes for them.

Needs numpy, onnx and onnxruntime:  python generate.py
Every case covers one operator, or a few that belong together, at one operator set and one choice of attributes. The
file is the oracle of tests/onnx_operators.rs.
"""

import base64
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
RNG = np.random.default_rng(7)
CASES = []
NAMES = set()


def weights(*shape, scale=1.0, dtype=np.float32):
    return (scale * RNG.standard_normal(shape)).astype(dtype)


def ints(*values):
    return np.array(values, dtype=np.int64)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def case(name, nodes, shapes, constants=None, opset=13, outputs=("y",), kind=TensorProto.FLOAT, low=-2.0, high=2.0,
         declared=None, prepare=None, points=2):
    """One model. `shapes` are those of the inputs; `declared` replaces them in the file (symbols, missing extents)."""
    assert name not in NAMES, name
    NAMES.add(name)
    nodes = nodes if isinstance(nodes, list) else [nodes]
    kinds = kind if isinstance(kind, tuple) else (kind,) * len(outputs)
    infos = [helper.make_tensor_value_info(key, TensorProto.FLOAT, (declared or {}).get(key, shape))
             for key, shape in shapes.items()]
    initializers = [numpy_helper.from_array(np.asarray(value), key) for key, value in (constants or {}).items()]
    results = [helper.make_tensor_value_info(key, k, None) for key, k in zip(outputs, kinds)]
    graph = helper.make_graph(nodes, "g", infos, results, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    if opset > 20:
        model.ir_version = 10
    if prepare:
        prepare(model)
    data = data_with_zero = model.SerializeToString()
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.HasField("dim_value") and dim.dim_value == 0:
                dim.dim_param = "n"
                data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    if declared and 0 in list(declared.values())[0]:
        # Old exporters write an open extent as 0, which onnxruntime does not take.
        data = data_with_zero
    entry = {"name": name, "model": base64.b64encode(data).decode(), "points": []}
    for _ in range(points):
        feed = {key: RNG.uniform(low, high, shape).astype(np.float32) for key, shape in shapes.items()}
        values = session.run(list(outputs), feed)
        entry["points"].append({
            "inputs": [[float(x) for x in feed[key].ravel()] for key in shapes],
            "outputs": [[float(x) for x in np.asarray(v).ravel()] for v in values],
        })
    entry["shapes"] = [list(np.asarray(v).shape) for v in values]
    CASES.append(entry)


def unary(op, opsets, shape=(1, 5), name=None, **rest):
    attributes = rest.pop("attributes", {})
    for opset in opsets:
        case(f"{name or op}_{opset}", node(op, ["x"], **attributes), {"x": shape}, opset=opset, **rest)


def activations():
    unary("Relu", (7, 13, 14))
    unary("LeakyRelu", (7, 16))
    unary("LeakyRelu", (16,), name="LeakyRelu_alpha", attributes={"alpha": 0.3})
    unary("Tanh", (7, 13))
    unary("Sigmoid", (7, 13), low=-6, high=6)
    unary("Elu", (7, 22))
    unary("Elu", (7,), name="Elu_alpha", attributes={"alpha": 0.5})
    unary("Selu", (7, 22))
    unary("Selu", (7,), name="Selu_attributes", attributes={"alpha": 1.5, "gamma": 0.7})
    unary("Celu", (12,))
    unary("Celu", (12,), name="Celu_alpha", attributes={"alpha": 2.5})
    unary("Softplus", (7, 22), low=-8, high=8)
    unary("Softsign", (7, 22))
    unary("HardSigmoid", (7, 22), low=-5, high=5)
    unary("HardSigmoid", (7,), name="HardSigmoid_attributes", attributes={"alpha": 0.5, "beta": 0.25})
    unary("HardSwish", (14, 22), low=-5, high=5)
    unary("Mish", (18,), low=-4, high=4)
    unary("ThresholdedRelu", (10, 22))
    unary("ThresholdedRelu", (10,), name="ThresholdedRelu_alpha", attributes={"alpha": 0.25})
    case("PRelu_one_7", node("PRelu", ["x", "s"]), {"x": (1, 4)}, {"s": np.float32([0.2])}, opset=7)
    case("PRelu_each_16", node("PRelu", ["x", "s"]), {"x": (1, 4)}, {"s": weights(4)}, opset=16)
    case("PRelu_channels_16", node("PRelu", ["x", "s"]), {"x": (1, 3, 2, 2)}, {"s": weights(3, 1, 1)}, opset=16)
    for opset in (7, 10):
        case(f"Clip_attributes_{opset}", node("Clip", ["x"], min=-0.5, max=0.75), {"x": (2, 3)}, opset=opset)
    case("Clip_attribute_min_7", node("Clip", ["x"], min=-0.5), {"x": (2, 3)}, opset=7)
    bounds = {"lo": np.float32(-0.5), "hi": np.float32(0.75)}
    for opset in (11, 12, 13):
        case(f"Clip_inputs_{opset}", node("Clip", ["x", "lo", "hi"]), {"x": (2, 3)}, bounds, opset=opset)
    case("Clip_input_max_13", node("Clip", ["x", "", "hi"]), {"x": (2, 3)}, bounds)
    case("Clip_input_min_13", node("Clip", ["x", "lo"]), {"x": (2, 3)}, bounds)
    case("Clip_unbounded_13", node("Clip", ["x"]), {"x": (2, 3)})
    case("Clip_infinite_13", node("Clip", ["x", "lo", "inf"]), {"x": (2, 3)}, bounds | {"inf": np.float32(np.inf)})
    case("Clip_computed_13", [node("ReduceMin", ["z"], ["lo"], keepdims=0), node("ReduceMax", ["z"], ["hi"], keepdims=0),
                              node("Clip", ["x", "lo", "hi"])], {"x": (2, 3), "z": (3,)})


def softmaxes():
    for op in ("Softmax", "LogSoftmax"):
        for opset in (7, 11, 12, 13):
            case(f"{op}_default_{opset}", node(op, ["x"]), {"x": (2, 3, 2)}, opset=opset, low=-3, high=3)
            case(f"{op}_axis_2_{opset}", node(op, ["x"], axis=2), {"x": (2, 2, 3)}, opset=opset)
        case(f"{op}_axis_0_12", node(op, ["x"], axis=0), {"x": (2, 3)}, opset=12)
        case(f"{op}_axis_0_13", node(op, ["x"], axis=0), {"x": (2, 3)}, opset=13)
        case(f"{op}_axis_-2_11", node(op, ["x"], axis=-2), {"x": (2, 2, 3)}, opset=11)
        case(f"{op}_axis_-2_13", node(op, ["x"], axis=-2), {"x": (2, 2, 3)}, opset=13)
        case(f"{op}_large_13", node(op, ["x"]), {"x": (1, 4)}, low=-300, high=300)


def arithmetic():
    for op in ("Add", "Sub", "Mul", "Div"):
        for opset in (7, 13, 14):
            case(f"{op}_constant_{opset}", node(op, ["x", "c"]), {"x": (2, 3)}, {"c": weights(3) + 3}, opset=opset)
        case(f"{op}_reversed_13", node(op, ["c", "x"]), {"x": (2, 3)}, {"c": weights(2, 1)}, low=0.5, high=2)
        case(f"{op}_computed_13", node(op, ["x", "z"]), {"x": (2, 3), "z": (1, 3)}, low=0.5, high=2)
    for opset in (7, 12, 13, 15):
        case(f"Pow_square_{opset}", node("Pow", ["x", "c"]), {"x": (2, 3)}, {"c": np.float32(2)}, opset=opset)
    case("Pow_cube_13", node("Pow", ["x", "c"]), {"x": (2, 3)}, {"c": np.float32([3])})
    case("Pow_int_exponent_13", node("Pow", ["x", "c"]), {"x": (2, 3)}, {"c": ints(4)})
    case("Pow_real_13", node("Pow", ["x", "c"]), {"x": (2, 3)}, {"c": np.float32([0.5, 1.7, -1.0])}, low=0.5, high=3)
    for op in ("Min", "Max", "Sum", "Mean"):
        for opset in (8, 13):
            case(f"{op}_three_{opset}", node(op, ["x", "c", "z"]), {"x": (2, 3), "z": (2, 1)}, {"c": weights(3)},
                 opset=opset)
        case(f"{op}_single_13", node(op, ["x"]), {"x": (2, 3)})
    for op in ("Neg", "Abs", "Exp", "Sin", "Cos", "Tan", "Floor", "Ceil", "Sign", "Reciprocal"):
        opsets = {"Sin": (7, 22), "Cos": (7, 22), "Tan": (7, 22), "Sign": (9, 13)}.get(op, (7, 13))
        positive = {"low": 0.3, "high": 1.2} if op in ("Reciprocal", "Tan") else {}
        unary(op, opsets, **positive)
    unary("Sqrt", (7, 13), low=0.01, high=5)
    unary("Log", (7, 13), low=0.01, high=5)


def logic():
    for op, opsets in (("Greater", (7, 9, 13)), ("Less", (7, 9, 13)), ("GreaterOrEqual", (12, 16)),
                       ("LessOrEqual", (12, 16)), ("Equal", (11, 13, 19))):
        for opset in opsets:
            nodes = [node("Relu", ["x"], ["r"]), node(op, ["r", "c"])]
            case(f"{op}_{opset}", nodes, {"x": (2, 3)}, {"c": np.float32([0, 0.5, 1])}, opset=opset,
                 kind=TensorProto.BOOL)
    for op in ("And", "Or", "Xor"):
        nodes = [node("Greater", ["x", "c"], ["a"]), node("Less", ["z", "c"], ["b"]), node(op, ["a", "b"])]
        case(f"{op}_7", nodes, {"x": (2, 3), "z": (2, 3)}, {"c": weights(3)}, opset=9, kind=TensorProto.BOOL)
    nodes = [node("Greater", ["x", "c"], ["a"]), node("Not", ["a"])]
    case("Not_13", nodes, {"x": (2, 3)}, {"c": weights(3)}, kind=TensorProto.BOOL)
    for opset in (9, 16):
        nodes = [node("Greater", ["x", "z"], ["a"]), node("Where", ["a", "x", "c"])]
        case(f"Where_{opset}", nodes, {"x": (2, 3), "z": (2, 1)}, {"c": weights(3)}, opset=opset)
    nodes = [node("Greater", ["x", "c"], ["a"]), node("Cast", ["a"], ["f"], to=TensorProto.FLOAT), node("Mul", ["f", "x"])]
    case("Cast_truth_13", nodes, {"x": (2, 3)}, {"c": weights(3)})
    case("Cast_to_bool_13", [node("Relu", ["x"], ["r"]), node("Cast", ["r"], to=TensorProto.BOOL)], {"x": (2, 3)},
         kind=TensorProto.BOOL)
    case("Cast_double_13", [node("Cast", ["x"], ["d"], to=TensorProto.DOUBLE), node("Tanh", ["d"], ["t"]),
                            node("Cast", ["t"], to=TensorProto.FLOAT)], {"x": (2, 3)})


def products():
    for opset in (7, 9, 11, 13):
        case(f"Gemm_layer_{opset}", node("Gemm", ["x", "w", "b"], transB=1), {"x": (1, 4)},
             {"w": weights(3, 4), "b": weights(3)}, opset=opset)
    case("Gemm_no_bias_11", node("Gemm", ["x", "w"]), {"x": (1, 4)}, {"w": weights(4, 3)}, opset=11)
    case("Gemm_scaled_13", node("Gemm", ["x", "w", "b"], alpha=0.5, beta=-2.0), {"x": (1, 4)},
         {"w": weights(4, 3), "b": weights(1, 3)})
    case("Gemm_beta_zero_13", node("Gemm", ["x", "w", "b"], beta=0.0), {"x": (1, 4)}, {"w": weights(4, 3), "b": weights(3)})
    case("Gemm_rows_13", node("Gemm", ["x", "w", "b"]), {"x": (3, 4)}, {"w": weights(4, 2), "b": weights(3, 1)})
    case("Gemm_scalar_bias_13", node("Gemm", ["x", "w", "b"]), {"x": (1, 4)}, {"w": weights(4, 2), "b": weights()})
    case("Gemm_transA_13", node("Gemm", ["x", "w", "b"], transA=1, transB=1), {"x": (4, 3)},
         {"w": weights(2, 4), "b": weights(3, 2)})
    case("Gemm_left_13", node("Gemm", ["w", "x", "b"]), {"x": (4, 3)}, {"w": weights(2, 4), "b": weights(3)})
    case("Gemm_left_flipped_13", node("Gemm", ["w", "x"], transA=1, transB=1), {"x": (3, 4)}, {"w": weights(4, 2)})
    case("Gemm_computed_13", node("Gemm", ["x", "z", "b"], transB=1), {"x": (2, 3), "z": (2, 3)}, {"b": weights(2)})
    case("Gemm_computed_bias_13", node("Gemm", ["x", "w", "z"]), {"x": (1, 3), "z": (1, 2)}, {"w": weights(3, 2)})
    for opset in (7, 9, 13):
        case(f"MatMul_right_{opset}", node("MatMul", ["x", "w"]), {"x": (1, 4)}, {"w": weights(4, 3)}, opset=opset)
    for name, x, w in (("rows", (3, 4), (4, 2)), ("vector", (4,), (4, 3)), ("to_number", (4,), (4,)),
                       ("column", (2, 4), (4,)), ("batch", (2, 3, 4), (4, 2)), ("stack", (2, 3, 4), (2, 4, 2)),
                       ("spread", (1, 3, 4), (2, 4, 2)), ("four", (1, 2, 3, 4), (3, 1, 4, 2)),
                       ("ones", (1, 1, 1, 5), (5, 3)), ("plain_stack", (3, 4), (2, 4, 2))):
        case(f"MatMul_right_{name}_13", node("MatMul", ["x", "w"]), {"x": x}, {"w": weights(*w)})
    for name, w, x in (("rows", (3, 4), (4, 2)), ("vector", (4,), (4, 3)), ("column", (2, 4), (4,)),
                       ("batch", (3, 4), (2, 4, 2)), ("stack", (2, 3, 4), (2, 4, 2)), ("spread", (2, 3, 4), (4, 2))):
        case(f"MatMul_left_{name}_13", node("MatMul", ["w", "x"]), {"x": x}, {"w": weights(*w)})
    for name, x, z in (("rows", (2, 3), (3, 2)), ("batch", (2, 2, 3), (3, 2)), ("vectors", (3,), (3,)),
                       ("attention", (1, 2, 2, 3), (1, 2, 3, 2))):
        case(f"MatMul_computed_{name}_13", node("MatMul", ["x", "z"]), {"x": x, "z": z})
    case("MatMul_folded_13", [node("MatMul", ["v", "w"], ["p"]), node("Add", ["x", "p"])], {"x": (2, 2)},
         {"v": weights(2, 3), "w": weights(3, 2)})
    case("MatMul_transposed_weights_13", [node("Transpose", ["w"], ["t"], perm=[1, 0]), node("MatMul", ["x", "t"])],
         {"x": (1, 4)}, {"w": weights(3, 4)})


def windows():
    for opset in (7, 11, 22):
        case(f"Conv_1d_{opset}", node("Conv", ["x", "w", "b"], kernel_shape=[3]), {"x": (1, 2, 6)},
             {"w": weights(3, 2, 3), "b": weights(3)}, opset=opset)
        case(f"Conv_2d_{opset}", node("Conv", ["x", "w"], pads=[1, 0, 1, 2], strides=[2, 1]), {"x": (1, 2, 5, 4)},
             {"w": weights(3, 2, 3, 2)}, opset=opset)
    case("Conv_dilated_11", node("Conv", ["x", "w"], dilations=[2, 1]), {"x": (1, 1, 6, 4)}, {"w": weights(2, 1, 2, 3)}, opset=11)
    case("Conv_groups_11", node("Conv", ["x", "w", "b"], group=2), {"x": (1, 4, 3, 3)},
         {"w": weights(6, 2, 2, 2), "b": weights(6)}, opset=11)
    case("Conv_depthwise_11", node("Conv", ["x", "w"], group=3, pads=[1, 1]), {"x": (1, 3, 5)}, {"w": weights(3, 1, 3)}, opset=11)
    case("Conv_batch_11", node("Conv", ["x", "w"]), {"x": (2, 2, 5)}, {"w": weights(2, 2, 2)}, opset=11)
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        case(f"Conv_{mode}_11", node("Conv", ["x", "w"], auto_pad=mode, strides=[2, 2]), {"x": (1, 1, 6, 5)},
             {"w": weights(2, 1, 3, 2)}, opset=11)
        case(f"MaxPool_{mode}_11", node("MaxPool", ["x"], auto_pad=mode, kernel_shape=[3, 2], strides=[2, 2]),
             {"x": (1, 2, 6, 5)}, opset=11)
        case(f"AveragePool_{mode}_11", node("AveragePool", ["x"], auto_pad=mode, kernel_shape=[3, 2], strides=[2, 2]),
             {"x": (1, 2, 6, 5)}, opset=11)
    for op, opsets in (("MaxPool", (8, 12, 22)), ("AveragePool", (7, 11, 22))):
        for opset in opsets:
            case(f"{op}_1d_{opset}", node(op, ["x"], kernel_shape=[2], strides=[2]), {"x": (1, 2, 6)}, opset=opset)
            case(f"{op}_2d_{opset}", node(op, ["x"], kernel_shape=[3, 2], pads=[1, 0, 1, 1]), {"x": (1, 2, 5, 4)}, opset=opset)
        case(f"{op}_ceil_12", node(op, ["x"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), {"x": (1, 1, 6, 6)}, opset=12)
        case(f"{op}_ceil_padded_12", node(op, ["x"], kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1), {"x": (1, 1, 6)}, opset=12)
    case("MaxPool_dilated_12", node("MaxPool", ["x"], kernel_shape=[2, 2], dilations=[2, 2]), {"x": (1, 1, 5, 4)}, opset=12)
    case("AveragePool_counts_pads_11", node("AveragePool", ["x"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
         {"x": (1, 1, 4, 4)}, opset=11)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        unary(op, (7, 22), shape=(1, 2, 3, 3))
        case(f"{op}_1d_7", node(op, ["x"]), {"x": (1, 2, 5)}, opset=7)


def normalizations():
    stats = {"s": weights(3), "b": weights(3), "m": weights(3), "v": np.abs(weights(3)) + 0.1}
    for opset in (7, 9, 14, 15):
        case(f"BatchNormalization_2d_{opset}", node("BatchNormalization", ["x", "s", "b", "m", "v"]), {"x": (1, 3, 2, 2)}, stats, opset=opset)
    case("BatchNormalization_flat_15", node("BatchNormalization", ["x", "s", "b", "m", "v"], epsilon=0.01), {"x": (2, 3)}, stats, opset=15)
    case("LayerNormalization_17", node("LayerNormalization", ["x", "s", "b"]), {"x": (1, 4)}, {"s": weights(4), "b": weights(4)}, opset=17)
    case("LayerNormalization_axis_17", node("LayerNormalization", ["x", "s"], axis=1, epsilon=0.001), {"x": (2, 3, 2)}, {"s": weights(3, 2)}, opset=17)


def layouts():
    for opset in (7, 13, 14, 19, 21):
        case(f"Reshape_{opset}", node("Reshape", ["x", "s"]), {"x": (2, 3, 4)}, {"s": ints(0, -1, 2)}, opset=opset)
    case("Reshape_flat_13", node("Reshape", ["x", "s"]), {"x": (2, 3)}, {"s": ints(-1)})
    case("Reshape_allowzero_14", node("Reshape", ["x", "s"], allowzero=1), {"x": (2, 3)}, {"s": ints(3, 2)}, opset=14)
    for opset, axis in ((7, 1), (9, 0), (11, 2), (13, -1), (13, 3)):
        case(f"Flatten_{axis}_{opset}", node("Flatten", ["x"], axis=axis), {"x": (2, 3, 2)}, opset=opset)
    case("Flatten_default_13", node("Flatten", ["x"]), {"x": (1, 3, 2)})
    for opset in (7, 11):
        case(f"Squeeze_attribute_{opset}", node("Squeeze", ["x"], axes=[0, 2]), {"x": (1, 3, 1, 2)}, opset=opset)
        case(f"Unsqueeze_attribute_{opset}", node("Unsqueeze", ["x"], axes=[0, 2]), {"x": (3, 2)}, opset=opset)
    for opset in (13, 21):
        case(f"Squeeze_input_{opset}", node("Squeeze", ["x", "a"]), {"x": (1, 3, 1, 2)}, {"a": ints(0, -2)}, opset=opset)
        case(f"Unsqueeze_input_{opset}", node("Unsqueeze", ["x", "a"]), {"x": (3, 2)}, {"a": ints(-1, 0)}, opset=opset)
    case("Squeeze_all_13", node("Squeeze", ["x"]), {"x": (1, 3, 1)})
    case("Transpose_default_13", node("Transpose", ["x"]), {"x": (2, 3, 4)})
    case("Transpose_perm_7", node("Transpose", ["x"], perm=[1, 2, 0]), {"x": (2, 3, 4)}, opset=7)
    case("Identity_13", node("Identity", ["x"]), {"x": (2, 3)})
    case("Dropout_7", node("Dropout", ["x"], ratio=0.5), {"x": (2, 3)}, opset=7)
    case("Dropout_10", node("Dropout", ["x"], ratio=0.5), {"x": (2, 3)}, opset=10)
    case("Dropout_13", node("Dropout", ["x", "r", "t"]), {"x": (2, 3)}, {"r": np.float32(0.5), "t": np.array(False)})


def selections():
    case("Concat_7", node("Concat", ["x", "c", "z"], axis=1), {"x": (2, 3), "z": (2, 1)}, {"c": weights(2, 2)}, opset=7)
    case("Concat_negative_13", node("Concat", ["x", "z"], axis=-2), {"x": (2, 3), "z": (1, 3)})
    case("Slice_attributes_7", node("Slice", ["x"], starts=[1, 0], ends=[4, -1], axes=[1, 0]), {"x": (3, 5)}, opset=7)
    case("Slice_attributes_default_9", node("Slice", ["x"], starts=[1], ends=[100]), {"x": (3, 5)}, opset=9)
    for opset in (10, 11, 13):
        case(f"Slice_inputs_{opset}", node("Slice", ["x", "s", "e", "a", "t"]), {"x": (3, 6)},
             {"s": ints(-5, 0), "e": ints(2**63 - 1, 2), "a": ints(1, 0), "t": ints(2, 1)}, opset=opset)
    case("Slice_backwards_13", node("Slice", ["x", "s", "e", "a", "t"]), {"x": (3, 6)},
         {"s": ints(-1), "e": ints(-(2**63)), "a": ints(1), "t": ints(-1)})
    case("Slice_backwards_some_13", node("Slice", ["x", "s", "e", "a", "t"]), {"x": (3, 6)},
         {"s": ints(100), "e": ints(0), "a": ints(-1), "t": ints(-2)})
    case("Slice_defaults_13", node("Slice", ["x", "s", "e"]), {"x": (3, 6)}, {"s": ints(1, 2), "e": ints(3, 5)})
    case("Slice_int32_13", node("Slice", ["x", "s", "e"]), {"x": (3, 6)}, {"s": np.int32([1]), "e": np.int32([3])})
    for opset in (7, 11, 13):
        case(f"Gather_rows_{opset}", node("Gather", ["x", "i"]), {"x": (3, 2)}, {"i": ints(2, 0, 2)}, opset=opset)
    case("Gather_one_13", node("Gather", ["x", "i"], axis=1), {"x": (2, 3)}, {"i": np.int64(-1)})
    case("Gather_matrix_13", node("Gather", ["x", "i"], axis=-1), {"x": (2, 4)}, {"i": np.int64([[0, 3], [-2, 1]])})
    for opset in (7, 11):
        case(f"Split_attribute_{opset}", node("Split", ["x"], ["y", "z"], axis=1, split=[2, 3]), {"x": (2, 5)}, opset=opset, outputs=("y", "z"))
        case(f"Split_equal_{opset}", node("Split", ["x"], ["y", "z"], axis=1), {"x": (2, 4)}, opset=opset, outputs=("y", "z"))
    case("Split_input_13", node("Split", ["x", "s"], ["y", "z", "w"], axis=-1), {"x": (2, 5)}, {"s": ints(1, 3, 1)}, outputs=("y", "z", "w"))
    case("Split_equal_13", node("Split", ["x"], ["y", "z"]), {"x": (4, 2)}, outputs=("y", "z"))
    case("Split_count_18", node("Split", ["x"], ["y", "z"], axis=1, num_outputs=2), {"x": (2, 5)}, opset=18, outputs=("y", "z"))
    case("Split_some_outputs_13", [node("Split", ["x"], ["a", "b"], axis=1), node("Relu", ["b"])], {"x": (1, 4)})
    for opset in (8, 13):
        case(f"Expand_{opset}", node("Expand", ["x", "s"]), {"x": (3, 1)}, {"s": ints(2, 1, 4)}, opset=opset)
        case(f"Tile_{opset}", node("Tile", ["x", "r"]), {"x": (2, 3)}, {"r": ints(2, 2)}, opset=opset)
    for opset in (7, 10):
        case(f"Pad_attribute_{opset}", node("Pad", ["x"], pads=[0, 1, 1, 2], value=0.5), {"x": (2, 3)}, opset=opset)
    for opset in (11, 13, 18):
        case(f"Pad_input_{opset}", node("Pad", ["x", "p", "v"]), {"x": (2, 3)}, {"p": ints(1, 0, 0, 2), "v": np.float32(-1)}, opset=opset)
    case("Pad_image_13", node("Pad", ["x", "p"]), {"x": (1, 1, 2, 2)}, {"p": ints(0, 0, 1, 1, 0, 0, 1, 0)})
    case("Pad_cut_13", node("Pad", ["x", "p"]), {"x": (3, 4)}, {"p": ints(-1, 1, 0, -2)})
    case("Pad_axes_18", node("Pad", ["x", "p", "", "a"]), {"x": (2, 3)}, {"p": ints(1, 2), "a": ints(1)}, opset=18)
    case("Pad_reflect_13", node("Pad", ["x", "p"], mode="reflect"), {"x": (2, 4)}, {"p": ints(0, 2, 1, 3)})
    case("Pad_edge_13", node("Pad", ["x", "p"], mode="edge"), {"x": (2, 3)}, {"p": ints(1, 2, 0, 4)})
    case("Pad_wrap_19", node("Pad", ["x", "p"], mode="wrap"), {"x": (2, 3)}, {"p": ints(1, 2, 0, 3)}, opset=19)


def reductions():
    for op in ("Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSumExp"):
        name = "Reduce" + op
        case(f"{name}_attribute_11", node(name, ["x"], axes=[1], keepdims=0), {"x": (2, 3, 2)}, opset=11)
        case(f"{name}_all_7", node(name, ["x"]), {"x": (2, 3)}, opset=7)
        case(f"{name}_input_18", node(name, ["x", "a"]), {"x": (2, 3, 2)}, {"a": ints(-1, 0)}, opset=18)
    case("ReduceSum_input_13", node("ReduceSum", ["x", "a"], keepdims=0), {"x": (2, 3)}, {"a": ints(1)})
    case("ReduceSum_noop_13", node("ReduceSum", ["x"], noop_with_empty_axes=1), {"x": (2, 3)})
    for op in ("ArgMax", "ArgMin"):
        for opset in (7, 11, 13):
            case(f"{op}_{opset}", node(op, ["x"], axis=1), {"x": (2, 4)}, opset=opset, kind=TensorProto.INT64, points=4)
        case(f"{op}_flat_13", node(op, ["x"], axis=0, keepdims=0), {"x": (3, 2)}, kind=TensorProto.INT64)
        case(f"{op}_last_13", [node("Clip", ["x", "lo", "hi"], ["c"]), node(op, ["c"], axis=-1, select_last_index=1)],
             {"x": (4, 4)}, {"lo": np.float32(-0.1), "hi": np.float32(0.1)}, kind=TensorProto.INT64)
        case(f"{op}_first_13", [node("Clip", ["x", "lo", "hi"], ["c"]), node(op, ["c"], axis=-1)],
             {"x": (4, 4)}, {"lo": np.float32(-0.1), "hi": np.float32(0.1)}, kind=TensorProto.INT64)


def choices():
    for opset in (11, 13):
        case(f"GatherElements_constant_{opset}", node("GatherElements", ["x", "i"], axis=1), {"x": (2, 4)}, {"i": np.int64([[0, -1], [2, 2]])}, opset=opset)
    case("GatherElements_smaller_13", node("GatherElements", ["x", "i"], axis=0), {"x": (3, 3)}, {"i": np.int64([[2, 0], [1, 1]])})
    case("GatherElements_single_13", node("GatherElements", ["x", "i"], axis=1), {"x": (2, 1)}, {"i": np.int64([[0, 0], [0, 0]])})
    case("GatherElements_greedy_13", [node("ArgMax", ["z"], ["i"], axis=1), node("GatherElements", ["x", "i"], axis=1)], {"x": (2, 4), "z": (2, 4)}, points=4)


def constant_forms():
    tensor = numpy_helper.from_array(weights(3), "t")
    case("Constant_value_7", [node("Constant", [], ["c"], value=tensor), node("Add", ["x", "c"])], {"x": (2, 3)}, opset=7)
    case("Constant_float_13", [node("Constant", [], ["c"], value_float=1.5), node("Mul", ["x", "c"])], {"x": (2, 3)})
    case("Constant_floats_13", [node("Constant", [], ["c"], value_floats=[1.5, -2.0, 0.25]), node("Mul", ["x", "c"])], {"x": (2, 3)})
    case("Constant_int_13", [node("Constant", [], ["c"], value_int=1), node("Gather", ["x", "c"], axis=1)], {"x": (2, 3)})
    case("Constant_ints_13", [node("Constant", [], ["c"], value_ints=[3, -1]), node("Reshape", ["x", "c"])], {"x": (2, 3)})
    case("ConstantOfShape_9", [node("ConstantOfShape", ["s"], ["c"], value=numpy_helper.from_array(np.float32([0.5]))), node("Add", ["x", "c"])],
         {"x": (2, 3)}, {"s": ints(1, 3)}, opset=9)
    case("ConstantOfShape_default_13", [node("ConstantOfShape", ["s"], ["c"]), node("Concat", ["x", "c"], axis=0)], {"x": (2, 3)}, {"s": ints(1, 3)})
    for name, dtype in (("half", np.float16), ("double", np.float64)):
        to = TensorProto.FLOAT
        case(f"Weights_{name}_13", [node("Cast", ["w"], ["c"], to=to), node("MatMul", ["x", "c"])], {"x": (1, 3)}, {"w": weights(3, 2, dtype=dtype)})

    def typed(model):
        tensor = model.graph.initializer[0]
        values = numpy_helper.to_array(tensor).ravel()
        model.graph.initializer[0].CopyFrom(helper.make_tensor(tensor.name, TensorProto.FLOAT, tensor.dims, values))

    case("Weights_typed_13", node("MatMul", ["x", "w"]), {"x": (1, 3)}, {"w": weights(3, 2)}, prepare=typed)

    def bfloat(model):
        tensor = model.graph.initializer[0]
        values = numpy_helper.to_array(tensor).ravel()
        model.graph.initializer[0].CopyFrom(helper.make_tensor(tensor.name, TensorProto.BFLOAT16, tensor.dims, values))

    case("Weights_bfloat_13", [node("Cast", ["w"], ["c"], to=TensorProto.FLOAT), node("MatMul", ["x", "c"])], {"x": (1, 3)},
         {"w": weights(3, 2)}, prepare=bfloat)

    def listed(model):
        tensor = model.graph.initializer[0]
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        model.ir_version = 3

    case("Weights_as_inputs_8", node("MatMul", ["x", "w"]), {"x": (1, 3)}, {"w": weights(3, 2)}, opset=8, prepare=listed)


def shape_computations():
    for opset in (7, 13, 15):
        nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"]), node("Reshape", ["n", "one"], ["n1"]),
                 node("Concat", ["n1", "rest"], ["t"], axis=0), node("Reshape", ["x", "t"])]
        case(f"Shape_to_reshape_{opset}", nodes, {"x": (2, 3, 2)}, {"zero": np.int64(0), "one": ints(1), "rest": ints(-1)}, opset=opset)
    case("Shape_range_15", [node("Shape", ["x"], ["s"], start=1, end=-1), node("Expand", ["z", "s"])], {"x": (2, 3, 4), "z": (1,)}, opset=15)
    case("Size_13", [node("Size", ["x"], ["n"]), node("Cast", ["n"], ["f"], to=TensorProto.FLOAT), node("ReduceSum", ["x"], ["t"], keepdims=0), node("Div", ["t", "f"])], {"x": (2, 3)})
    case("Range_13", [node("Range", ["a", "b", "d"], ["r"]), node("Gather", ["x", "r"], axis=1)], {"x": (2, 6)}, {"a": np.int64(5), "b": np.int64(-1), "d": np.int64(-2)})
    case("Range_float_13", [node("Range", ["a", "b", "d"], ["r"]), node("Mul", ["x", "r"])], {"x": (2, 4)}, {"a": np.float32(0), "b": np.float32(1), "d": np.float32(0.25)})
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "last"], ["n"]), node("Div", ["n", "two"], ["h"]), node("Unsqueeze", ["h", "zero"], ["h1"]),
             node("Slice", ["x", "zero", "h1", "axis"])]
    case("Shape_half_13", nodes, {"x": (2, 7)}, {"last": np.int64(-1), "two": np.int64(2), "zero": ints(0), "axis": ints(1)})
    nodes = [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["rank"], ["ones"], value=numpy_helper.from_array(ints(1))), node("Equal", ["t", "minus"], ["q"]),
             node("Where", ["q", "ones", "t"], ["e"]), node("Expand", ["x", "e"])]
    case("Shape_expand_torch_13", nodes, {"x": (2, 1)}, {"rank": ints(2), "minus": ints(-1, -1), "t": ints(-1, 3)})
    case("Mod_13", [node("Mod", ["a", "b"], ["i"]), node("Gather", ["x", "i"], axis=1)], {"x": (2, 3)}, {"a": ints(7, -1), "b": ints(3, 3)})


def networks():
    """Whole small networks, and the ways in which files declare their inputs."""
    layers = {"w1": weights(2, 4), "b1": weights(4), "w2": weights(4, 1), "b2": weights(1)}
    mlp = [node("MatMul", ["x", "w1"], ["a"]), node("Add", ["a", "b1"], ["b"]), node("Relu", ["b"], ["c"]), node("MatMul", ["c", "w2"], ["d"]), node("Add", ["d", "b2"])]
    for name, declared in (("symbol", ["batch", 2]), ("missing", [None, 2]), ("zero", [0, 2]), ("fixed", [1, 2])):
        case(f"Network_batch_{name}_13", mlp, {"x": (1, 2)}, layers, declared={"x": declared})
    case("Network_fixed_batch_13", mlp, {"x": (3, 2)}, layers)
    for opset in (7, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24):
        case(f"Network_opset_{opset}", mlp, {"x": (1, 2)}, layers, opset=opset)
    case("Network_two_inputs_13", [node("Concat", ["x", "z"], ["q"], axis=1)] + [node("Gemm", ["q", "w", "b"], ["g"]), node("Tanh", ["g"])],
         {"x": (1, 2), "z": (1, 1)}, {"w": weights(3, 2), "b": weights(2)})
    case("Network_two_outputs_13", [node("Gemm", ["x", "w"], ["g"]), node("Tanh", ["g"], ["y"]), node("Softmax", ["g"], ["p"])], {"x": (1, 2)}, {"w": weights(2, 3)}, outputs=("p", "y"))
    case("Network_shared_weights_13", [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["r"]), node("MatMul", ["r", "w"])], {"x": (1, 3)}, {"w": weights(3, 3)})
    case("Network_unused_node_13", [node("Einsum", ["x"], ["unused"], equation="ij->ji"), node("Relu", ["x"])], {"x": (2, 3)})
    case("Network_residual_13", [node("Gemm", ["x", "w"], ["g"]), node("Relu", ["g"], ["r"]), node("Add", ["x", "r"])], {"x": (1, 3)}, {"w": weights(3, 3)})


for group in (activations, softmaxes, arithmetic, logic, products, windows, normalizations, layouts, selections, reductions,
              choices, constant_forms, shape_computations, networks):
    group()
target = pathlib.Path(__file__).with_name("cases.json")
lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in CASES)
target.write_text(f"[\n{lines}\n]\n")
print(f"{len(CASES)} cases, {target.stat().st_size} bytes")
