"""Trained policies as ONNX files that act as `model.predict` does.

What stands between what an environment returns and what it is told belongs to the policy: normalisation of observations,
squashing, scaling back to the box of actions, clipping to it. All of it is written into the file; for discrete actions the
file gives the scores, and ``argmax`` stands in the ``.certus`` file. The file is written operator by operator rather than
traced, so an architecture that is not understood is refused, and then compared with `model.predict`.
"""

from __future__ import annotations

import os
from typing import Any, List, Optional, Tuple

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from .. import _certus
from .._types import PathLike

#: How many observations the file is compared on, and how far it may be off, relative to the greatest value it gives.
OBSERVATIONS = 1000
TOLERANCE = 2e-5


class ExportError(_certus.CertusError):
    """A policy that cannot be exported, or a file that does not act as the policy."""


class _Writer:
    """An ONNX graph, written node by node."""

    def __init__(self) -> None:
        import onnx

        self.onnx = onnx
        self.nodes: List[Any] = []
        self.constants: List[Any] = []
        self.last = "observation"

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        array = np.asarray(values, dtype=np.float32)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def apply(self, operator: str, *others: str, **attributes: Any) -> None:
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, [self.last, *others], [name], **attributes))
        self.last = name

    def linear(self, layer: nn.Linear) -> None:
        weight = layer.weight.detach().cpu().numpy()
        bias = np.zeros(weight.shape[0]) if layer.bias is None else layer.bias.detach().cpu().numpy()
        self.apply("Gemm", self.constant(weight), self.constant(bias), transB=1)

    def between(self, low: Any, high: Any) -> None:
        self.apply("Max", self.constant(low))
        self.apply("Min", self.constant(high))

    def module(self, module: nn.Module) -> None:
        if isinstance(module, nn.Sequential):
            for part in module:
                self.module(part)
        elif isinstance(module, nn.Linear):
            self.linear(module)
        elif isinstance(module, nn.Tanh):
            self.apply("Tanh")
        elif isinstance(module, nn.ReLU):
            self.apply("Relu")
        elif isinstance(module, nn.Sigmoid):
            self.apply("Sigmoid")
        elif isinstance(module, nn.ELU):
            self.apply("Elu", alpha=float(module.alpha))
        elif isinstance(module, nn.LeakyReLU):
            self.apply("LeakyRelu", alpha=float(module.negative_slope))
        elif isinstance(module, nn.Softplus) and module.beta == 1:
            self.apply("Softplus")
        elif isinstance(module, nn.SiLU):
            before = self.last
            self.apply("Sigmoid")
            self.apply("Mul", before)
        elif isinstance(module, nn.Hardtanh):
            self.between(module.min_val, module.max_val)
        elif isinstance(module, (nn.Identity, nn.Flatten, nn.Dropout)):
            # Observations are vectors already, and dropout is for training.
            pass
        else:
            raise ExportError(
                f"the policy has a layer {type(module).__name__}, which export does not know; export it with torch.onnx, "
                f"and write what surrounds it into the .certus file"
            )

    def save(self, path: str, inputs: int, outputs: int) -> None:
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        self.nodes.append(helper.make_node("Identity", [self.last], ["action"]))
        graph = helper.make_graph(
            self.nodes,
            "policy",
            [helper.make_tensor_value_info("observation", kind, ["batch", inputs])],
            [helper.make_tensor_value_info("action", kind, ["batch", outputs])],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="certus")
        model.ir_version = 8
        self.onnx.checker.check_model(model)
        temporary = f"{path}.{os.getpid()}.tmp"
        try:
            self.onnx.save(model, temporary)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)


def _normalised(writer: _Writer, vec_normalize: VecNormalize) -> None:
    """Normalises and clips as `VecNormalize.normalize_obs` does."""
    if not vec_normalize.norm_obs:
        return
    statistics = vec_normalize.obs_rms
    if isinstance(statistics, dict):
        raise ExportError("observations are a dictionary; a network of a .certus file sees one vector")
    writer.apply("Sub", writer.constant(statistics.mean))
    writer.apply("Div", writer.constant(np.sqrt(statistics.var + vec_normalize.epsilon)))
    writer.between(-vec_normalize.clip_obs, vec_normalize.clip_obs)


def _parts(model: BaseAlgorithm) -> Tuple[nn.Module, List[nn.Module], bool]:
    """The features extractor, the layers after it, and whether their result is squashed by a tanh of its own."""
    policy = model.policy
    if hasattr(policy, "mlp_extractor"):  # PPO, A2C
        extractor = policy.pi_features_extractor if not policy.share_features_extractor else policy.features_extractor
        return extractor, [policy.mlp_extractor.policy_net, policy.action_net], bool(policy.squash_output)
    if hasattr(policy, "q_net"):  # DQN
        return policy.q_net.features_extractor, [policy.q_net.q_net], False
    if hasattr(policy, "actor") and hasattr(policy.actor, "latent_pi"):  # SAC
        return policy.actor.features_extractor, [policy.actor.latent_pi, policy.actor.mu], True
    if hasattr(policy, "actor") and isinstance(policy.actor.mu, nn.Sequential):  # TD3, DDPG: mu ends with a tanh
        return policy.actor.features_extractor, [policy.actor.mu], False
    raise ExportError(f"{type(model).__name__} is none of PPO, A2C, DQN, DDPG, TD3 and SAC")


def export(
    model: BaseAlgorithm,
    path: PathLike,
    vec_normalize: Optional[VecNormalize] = None,
    *,
    observations: Optional[np.ndarray] = None,
    seed: int = 0,
) -> float:
    """Writes the policy of a model to an ONNX file that acts as ``model.predict(…, deterministic=True)`` does on what the
    environment returns, and returns the largest difference found on 1,000 observations.

    ``vec_normalize`` is the model's ``VecNormalize`` wrapper if it was trained with one; left out, it is looked for around
    ``model.env``. Observations to compare on are drawn from the observation space unless they are given. Raises
    `ExportError` if the file differs from the model by more than single precision explains.
    """
    if vec_normalize is None:
        vec_normalize = model.get_vec_normalize_env()
    space, actions = model.observation_space, model.action_space
    if not isinstance(space, spaces.Box) or len(space.shape) != 1:
        raise ExportError(f"observations are {space}; a network of a .certus file sees one vector")
    extractor, layers, squashed = _parts(model)
    if type(extractor) is not FlattenExtractor:
        raise ExportError(f"the features extractor {type(extractor).__name__} is not understood; only vectors are")
    writer = _Writer()
    if vec_normalize is not None:
        _normalised(writer, vec_normalize)
    for layer in layers:
        writer.module(layer)
    if isinstance(actions, spaces.Box):
        if squashed:
            writer.apply("Tanh")
        if model.policy.squash_output:
            # What is in [-1, 1] is scaled to the box of actions.
            low, high = actions.low.astype(np.float64), actions.high.astype(np.float64)
            writer.apply("Mul", writer.constant(0.5 * (high - low)))
            writer.apply("Add", writer.constant(0.5 * (high + low)))
        writer.between(actions.low, actions.high)
        outputs = int(np.prod(actions.shape))
    elif isinstance(actions, spaces.Discrete):
        outputs = int(actions.n)
    else:
        raise ExportError(f"actions are {actions}; one vector or one label is understood")
    if not writer.nodes:
        raise ExportError("the policy has no layers")
    path = os.fspath(path)
    writer.save(path, int(space.shape[0]), outputs)
    if observations is None:
        observations = _drawn(space, vec_normalize, seed)
    return _compare(model, path, vec_normalize, np.asarray(observations, dtype=np.float32))


def _drawn(space: spaces.Box, vec_normalize: Optional[VecNormalize], seed: int) -> np.ndarray:
    """Observations from the space, and around what was seen in training where that is known."""
    random = np.random.default_rng(seed)
    shape = (OBSERVATIONS, space.shape[0])
    bounded = np.isfinite(space.low) & np.isfinite(space.high)
    low, high = np.where(bounded, space.low, 0.0), np.where(bounded, space.high, 0.0)
    drawn = np.where(bounded, random.uniform(low, high, shape), random.normal(0.0, 3.0, shape))
    if vec_normalize is not None and vec_normalize.norm_obs and not isinstance(vec_normalize.obs_rms, dict):
        statistics = vec_normalize.obs_rms
        seen = statistics.mean + np.sqrt(statistics.var) * random.normal(0.0, 2.0, shape)
        drawn[::2] = seen[::2]
    return np.clip(drawn, space.low, space.high).astype(np.float32)


def _compare(model: BaseAlgorithm, path: str, vec_normalize: Optional[VecNormalize], observations: np.ndarray) -> float:
    """The largest difference between a file and the model that it was made from."""
    network = _certus.Network(path)
    found = network(observations)
    normal = observations if vec_normalize is None else vec_normalize.normalize_obs(observations)
    predicted, _ = model.predict(normal, deterministic=True)
    if isinstance(model.action_space, spaces.Discrete):
        expected = _scores(model, normal)
        chosen = found.argmax(axis=1)
        ordered = np.sort(expected, axis=1)
        scale = max(1.0, float(np.abs(expected).max()))
        # Where two scores agree up to rounding, either may be the greatest.
        clear = ordered[:, -1] - ordered[:, -2] > TOLERANCE * scale if expected.shape[1] > 1 else np.ones(len(chosen), bool)
        wrong = int(np.count_nonzero((chosen != predicted) & clear))
        if wrong:
            raise ExportError(f"{path} chooses another action than the model for {wrong} of {len(chosen)} observations")
    else:
        expected = np.asarray(predicted).reshape(found.shape)
        scale = max(1.0, float(np.abs(expected).max()))
    difference = float(np.abs(found - expected).max())
    if not difference <= TOLERANCE * scale:
        raise ExportError(
            f"{path} differs from the model by {difference:g}, more than single precision explains ({TOLERANCE * scale:g})"
        )
    return difference


def _scores(model: BaseAlgorithm, observations: np.ndarray) -> np.ndarray:
    """The scores from which a discrete action is chosen."""
    policy = model.policy
    tensor, _ = policy.obs_to_tensor(observations)
    policy.set_training_mode(False)
    with torch.no_grad():
        if hasattr(policy, "q_net"):
            return policy.q_net(tensor).cpu().numpy()
        features = policy.extract_features(tensor, policy.pi_features_extractor)
        return policy.action_net(policy.mlp_extractor.forward_actor(features)).cpu().numpy()
