"""Exports small policies as their users do, and writes what onnxruntime computes for them.

Needs torch, stable-baselines3, gymnasium, onnx, onnxscript and onnxruntime:  python generate.py
Weights are random and untrained. For every NAME.onnx there is an entry in expected.json with inputs, outputs and
output shapes; tests/onnx_exports.rs reads them.
"""

import json
import pathlib
import warnings

import gymnasium
import numpy as np
import onnx
import onnxruntime
import stable_baselines3 as sb3
import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(1)
HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(1)
ENTRIES = []


def export(name, module, *shapes, dynamo=False, dynamic=False, **options):
    """Exports with either exporter of PyTorch and records reference outputs at batch 1."""
    module = module.eval()
    samples = tuple(torch.randn(shape) for shape in shapes)
    path = HERE / f"{name}.onnx"
    names = [f"x{index}" for index in range(len(shapes))]
    if dynamo:
        if dynamic:
            options["dynamic_shapes"] = [{0: torch.export.Dim("batch")} for _ in shapes]
            samples = tuple(torch.cat([sample, sample]) for sample in samples)
        program = torch.onnx.export(module, samples, dynamo=True, verbose=False, **options)
        program.save(str(path))
    else:
        if dynamic:
            options["dynamic_axes"] = {key: {0: "batch"} for key in names}
        torch.onnx.export(module, samples, str(path), dynamo=False, input_names=names, **options)
    model = without_notes(onnx.load(str(path)))
    pathlib.Path(str(path) + ".data").unlink(missing_ok=True)
    onnx.save(model, str(path))
    record(name, path, shapes)


def without_notes(model):
    """The same model without the exporter's notes: stack traces and paths of the machine that it ran on."""
    graph = model.graph
    parts = [model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer]
    for function in model.functions:
        parts += [function, *function.node]
    for part in parts:
        part.ClearField("doc_string")
        if hasattr(part, "metadata_props"):
            part.ClearField("metadata_props")
    return model


def record(name, path, shapes):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    points = []
    for _ in range(3):
        feed = {info.name: RNG.uniform(-1, 1, shape).astype(np.float32) for info, shape in zip(session.get_inputs(), shapes)}
        values = session.run(None, feed)
        points.append({"inputs": [[float(x) for x in value.ravel()] for value in feed.values()],
                       "outputs": [[float(x) for x in np.ravel(value)] for value in values]})
    ENTRIES.append({"name": name, "shapes": [list(np.shape(value)) for value in values], "points": points})
    print(f"{name}: {path.stat().st_size} bytes, {sorted({node.op_type for node in onnx.load(str(path)).graph.node})}")


def mlp(*sizes, activation=nn.Tanh):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


class CleanRLContinuous(nn.Module):
    """The actor of a continuous-control agent: mean, log of the deviation kept in range, squashed and scaled action."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
        self.mean, self.logstd = nn.Linear(8, 2), nn.Linear(8, 2)
        self.register_buffer("scale", torch.tensor([2.0, 0.5]))
        self.register_buffer("bias", torch.tensor([0.0, 0.25]))

    def forward(self, x):
        x = self.body(x)
        logstd = -5 + 0.5 * (2 + 5) * (torch.tanh(self.logstd(x)) + 1)
        return torch.tanh(self.mean(x)) * self.scale + self.bias, logstd


class Discrete(nn.Module):
    """Logits, log-probabilities and the greedy action."""

    def __init__(self):
        super().__init__()
        self.net = mlp(4, 8, 3)

    def forward(self, x):
        logits = self.net(x)
        return torch.argmax(logits, dim=1), torch.log_softmax(logits, dim=1)


class Tiny(nn.Module):
    """Convolutions over a stack of small frames, as for Atari but tiny; pixels are scaled inside."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, 4, 4, stride=2), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Flatten(),
                                 nn.Linear(4 * 3 * 3, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.net(x / 255.0)


class History(nn.Module):
    """A one-dimensional convolution over part of the input, joined with the rest (as in adaptive bit-rate policies)."""

    def __init__(self):
        super().__init__()
        self.conv, self.last, self.head = nn.Conv1d(1, 4, 4), nn.Linear(1, 4), nn.Linear(4 * 5 + 4, 3)

    def forward(self, x):
        series = torch.relu(self.conv(x[:, 0:1, :])).view(x.shape[0], -1)
        last = torch.relu(self.last(x[:, 1:2, -1]))
        return torch.softmax(self.head(torch.cat([series, last], dim=1)), dim=-1)


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.value, self.advantage = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 3)

    def forward(self, x):
        x = nn.functional.elu(self.body(x))
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(dim=1, keepdim=True)


class Sb3Policy(nn.Module):
    """The deterministic action of a stable-baselines3 policy, as its documentation exports it."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def forward(self, observation):
        return self.policy(observation, deterministic=True)


class Sb3Q(nn.Module):
    def __init__(self, policy):
        super().__init__()
        self.q_net = policy.q_net

    def forward(self, observation):
        return self.q_net(observation)


small = {"policy_kwargs": {"net_arch": [8, 8]}, "device": "cpu", "seed": 1}

plain = mlp(4, 8, 8, 2)
export("mlp_torchscript", plain, (1, 4), dynamic=True)
export("mlp_dynamo", plain, (1, 4), dynamo=True)
export("mlp_dynamo_dynamic", plain, (1, 4), dynamo=True, dynamic=True)
export("cleanrl_continuous_torchscript", CleanRLContinuous(), (1, 3), dynamic=True)
export("cleanrl_continuous_dynamo", CleanRLContinuous(), (1, 3), dynamo=True, dynamic=True)
export("discrete_torchscript", Discrete(), (1, 4))
export("discrete_dynamo", Discrete(), (1, 4), dynamo=True)
export("conv_torchscript", Tiny(), (1, 2, 12, 12), dynamic=True)
export("conv_dynamo", Tiny(), (1, 2, 12, 12), dynamo=True)
export("history_torchscript", History(), (1, 2, 8))
export("history_torchscript_dynamic", History(), (1, 2, 8), dynamic=True)
export("history_dynamo", History(), (1, 2, 8), dynamo=True)
export("history_dynamo_dynamic", History(), (1, 2, 8), dynamo=True, dynamic=True)
export("dueling_torchscript", Dueling(), (1, 4))
export("dueling_dynamo", Dueling(), (1, 4), dynamo=True)
batch_norm = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2))
batch_norm[1].running_mean = torch.randn(6)
batch_norm[1].running_var = torch.rand(6) + 0.5
export("batchnorm_torchscript", batch_norm, (1, 3), do_constant_folding=False,
       training=torch.onnx.TrainingMode.PRESERVE)
export("batchnorm_dynamo", batch_norm, (1, 3), dynamo=True)
layer_norm = nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.SiLU(), nn.Linear(6, 2), nn.Hardtanh(-1, 1))
export("layernorm_torchscript_11", layer_norm, (1, 3), opset_version=11)
export("layernorm_torchscript_17", layer_norm, (1, 3), opset_version=17)
export("layernorm_dynamo", layer_norm, (1, 3), dynamo=True)
export("sb3_ppo_discrete", Sb3Policy(sb3.PPO("MlpPolicy", "CartPole-v1", **small).policy), (1, 4))
export("sb3_ppo_continuous", Sb3Policy(sb3.PPO("MlpPolicy", "Pendulum-v1", **small).policy), (1, 3), dynamic=True)
export("sb3_dqn", Sb3Q(sb3.DQN("MlpPolicy", "CartPole-v1", **small).policy), (1, 4))
export("sb3_sac", Sb3Policy(sb3.SAC("MlpPolicy", "Pendulum-v1", **small).policy.actor), (1, 3))
(HERE / "expected.json").write_text("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in ENTRIES) + "\n]\n")
