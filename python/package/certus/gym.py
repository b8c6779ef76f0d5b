"""Systems as Gymnasium environments.

The networks of a ``.certus`` file are left out: an environment shows what the network would see and takes what it would
answer. The reward, the ends of episodes, disturbances and random choices are those of the file, stepped by the code that
simulates it. Needs ``gymnasium``.
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError(f"certus.gym needs gymnasium 1.0 or later ({error}): pip install 'certus-verify[gym]'") from error

from . import _certus
from ._comparison import Comparison, Difference
from ._comparison import compare as _compare
from ._finite import Finite, finite
from ._types import PathLike
from ._shield import Shield

__all__ = [
    "CertusEnv",
    "CertusVectorEnv",
    "Comparison",
    "Difference",
    "Finite",
    "Shield",
    "StartStates",
    "compare",
    "finite",
    "make",
    "make_vec",
]

Bounds = Tuple[Union[float, Sequence[float]], Union[float, Sequence[float]]]

#: The box of actions where the file does not clamp the network's result, and where it applies tanh or sigmoid to it.
FREE_BOUND = 1.0
SQUASHED_BOUND = 3.0


class StartStates:
    """States from which the next episodes begin, before any is drawn; each is used once."""

    def __init__(self, raw: "_certus.RawEnvironments") -> None:
        self._raw = raw

    def append(self, state: Iterable[float]) -> None:
        """Queues a flattened state; it must be within the declared ranges."""
        self._raw.push_start([float(value) for value in state])

    def extend(self, states: Iterable[Iterable[float]]) -> None:
        """Queues several."""
        for state in states:
            self.append(state)

    def clear(self) -> None:
        """Forgets those that have not been used."""
        self._raw.clear_starts()

    def __len__(self) -> int:
        return self._raw.queued()


class _Copies:
    """Copies of an open system, with their spaces: what all kinds of environments are made of."""

    def __init__(
        self,
        path: PathLike,
        count: int,
        auto_reset: bool,
        *,
        set: Optional[Mapping[str, float]] = None,
        max_steps: Optional[int] = None,
        inputs: str = "random",
        property: Optional[str] = None,
        candidates: int = 16,
        policy: Optional[str] = None,
        outputs: Optional[Mapping[str, int]] = None,
        action_bounds: Optional[Bounds] = None,
        threads: int = 1,
    ) -> None:
        settings = [(name, float(value)) for name, value in (set or {}).items()]
        self.raw = _certus.RawEnvironments(
            os.fspath(path),
            settings,
            policy,
            list((outputs or {}).items()),
            count,
            max_steps,
            inputs,
            property,
            candidates,
            auto_reset,
            threads,
        )
        about = self.raw.describe()
        self.about = about
        self.name: str = about["name"]
        self.observation_space = spaces.Box(about["low"], about["high"], dtype=np.float32)
        self.labels: Optional[List[str]] = about["labels"]
        if self.labels is not None:
            self.action_space: spaces.Space = spaces.Discrete(len(self.labels))
            self.dtype: Any = np.int64
        else:
            self.action_space = _box(about, action_bounds)
            self.dtype = np.float32
        self.start_states = StartStates(self.raw)

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Optional[List[Dict[str, Any]]]]:
        actions = np.asarray(actions)
        if actions.dtype != self.dtype or not actions.flags.c_contiguous:
            actions = np.ascontiguousarray(actions, dtype=self.dtype)
        return self.raw.step(actions)


def _box(about: Dict[str, Any], bounds: Optional[Bounds]) -> spaces.Box:
    shape = (about["results"],)
    if bounds is not None:
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float32), shape).copy() for end in bounds)
    elif about["clamp"] is not None:
        low, high = (np.asarray(end, dtype=np.float32) for end in about["clamp"])
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise _certus.SimulationError(
                f"{about['name']} clamps its policy on one side only: say with action_bounds=(low, high) what to try"
            )
    else:
        bound = SQUASHED_BOUND if about["range"] == "squashed" else FREE_BOUND
        warnings.warn(
            f"{about['name']} does not clamp the result of {about['network']}: actions are taken from "
            f"[-{bound:g}, {bound:g}]. Say action_bounds=(low, high), or write clamp(net(…), low, high) in the file.",
            stacklevel=5,
        )
        low, high = np.full(shape, -bound, np.float32), np.full(shape, bound, np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def _final(end: Dict[str, Any]) -> Dict[str, Any]:
    """What is told of an episode that ended."""
    return {
        "end": end["end"],
        "text": end["text"],
        "run": end["run"],
        "steps": end["steps"],
        "total_reward": end["total_reward"],
        "state": end["state"],
    }


class CertusEnv(gymnasium.Env):
    """One copy of an open system."""

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, path: PathLike, **options: Any) -> None:
        self._copies = _Copies(path, 1, False, **options)
        self.observation_space = self._copies.observation_space
        self.action_space = self._copies.action_space
        #: States from which the next episodes begin.
        self.start_states = self._copies.start_states
        self._seeded = False

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Begins an episode; ``options={"state": […]}`` says where."""
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        self._seeded = True
        if options is not None and "state" in options:
            # It goes before those that wait.
            self._copies.raw.push_start([float(value) for value in options["state"]], first=True)
        observation = self._copies.raw.reset(seed)[0]
        return observation, {"state": self.state}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """One step. Where the model does not allow it, the episode is cut, and ``info["end"]`` and ``info["text"]`` say
        why."""
        actions = np.asarray([action], dtype=self._copies.dtype)
        observations, rewards, terminated, truncated, ended = self._copies.step(actions)
        info: Dict[str, Any] = {"state": self.state} if ended is None else _final(ended[0])
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    @property
    def state(self) -> np.ndarray:
        """The flattened state of the system."""
        return self._copies.raw.states()[0]

    @property
    def labels(self) -> Optional[List[str]]:
        """The labels of a discrete action."""
        return self._copies.labels

    def add_start_state(self, state: Iterable[float]) -> None:
        """Queues a state for the next episode."""
        self.start_states.append(state)


class CertusVectorEnv(VectorEnv):
    """Copies of an open system, stepped as one batch.

    A copy whose episode ended begins another one in the same step; what was seen last is ``info["final_obs"]``.
    """

    metadata: Dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, path: PathLike, num_envs: int, **options: Any) -> None:
        self._copies = _Copies(path, num_envs, True, **options)
        self.num_envs = num_envs
        self.single_observation_space = self._copies.observation_space
        self.single_action_space = self._copies.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        #: States from which the next episodes begin.
        self.start_states = self._copies.start_states
        self._seeded = False

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Begins all copies anew. One seed names the random numbers of all of them."""
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        self._seeded = True
        return self._copies.raw.reset(seed), {}

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]:
        """One step in every copy."""
        observations, rewards, terminated, truncated, ended = self._copies.step(actions)
        infos: Dict[str, Any] = {}
        for end in ended or ():
            info = {"final_obs": end["observation"], "final_info": _final(end)}
            infos = self._add_info(infos, info, end["copy"])
        return observations, rewards, terminated, truncated, infos

    @property
    def states(self) -> np.ndarray:
        """The flattened state of each copy."""
        return self._copies.raw.states()


def make(path: PathLike, **options: Any) -> CertusEnv:
    """A ``.certus`` file as an environment.

    ``set`` gives values to parameters. ``max_steps`` cuts episodes. ``inputs`` are ``"random"``, or chosen by an
    ``"adversary"`` that tries ``candidates`` choices against ``property``. ``policy`` names the policy or action whose
    network is trained, if there are several; the others keep their files. ``outputs={"file.onnx": n}`` says how many results
    a network has that has no file yet. ``action_bounds=(low, high)`` is the box of actions; without it, it is what the file
    clamps the network's result to, else [-3, 3] before ``tanh`` and ``sigmoid``, else [-1, 1].
    """
    return CertusEnv(path, **options)


def make_vec(path: PathLike, num_envs: int, **options: Any) -> CertusVectorEnv:
    """Copies of a ``.certus`` file as a vector environment; options are those of `make`, and ``threads``."""
    return CertusVectorEnv(path, num_envs, **options)


def compare(
    system: Union[PathLike, CertusEnv],
    environment: gymnasium.Env,
    *,
    episodes: int = 10,
    seed: int = 0,
    steps: int = 1000,
    policy: Optional[Callable[[Any], Any]] = None,
    state: Optional[Callable[[Any], Any]] = None,
    tolerance: float = 1e-5,
    follow: bool = False,
    **options: Any,
) -> Comparison:
    """Steps a system beside the environment that it is a model of, with the same actions, and tells how far they are apart.

    Episodes begin where the environment's reset puts them, which should be within the system's ``init``, and have at most
    ``steps`` steps. Actions are drawn from the action space, or are ``policy(observation)``. Each step begins in the
    environment's own state, so that differences do not add up; with ``follow=True`` the system runs on by itself, and where a
    motion is chaotic, rounding grows. ``state(environment)`` gives the numbers of the system's state; without it, they are
    ``environment.unwrapped.state``, as in classic control. A difference counts beyond ``tolerance``, which is relative for
    numbers above one: environments show their observations, and compute some of their steps, in single precision.

    A system is a file, with ``options`` as in `make`, or an environment that `make` returned.
    """
    model = system if isinstance(system, CertusEnv) else make(system, **options)
    return _compare(model, environment, episodes, seed, steps, policy, state, tolerance, follow)
