"""Worlds that traces or random processes drive: Aurora, Pensieve and DeepRM as environments.

They are the published simulators, written anew; a ``.certus`` file cannot hold them, because a queue of packets or a recorded
network is no state of fixed size. What a policy sees and answers is what the zoo's ``.certus`` file of the same name gives to
its network and expects of it. Each class is a Gymnasium environment; ``make_vec`` gives many copies as one vector
environment, and `certus.worlds.sb3_vec_env` the same for Stable-Baselines3. Copy k of a batch lives the same life in any
batch. Needs ``gymnasium``.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _certus
from ._certus import Traces

__all__ = ["Aurora", "DeepRM", "Pensieve", "Traces", "WorldVectorEnv", "make_vec", "sb3_vec_env"]

Range = Tuple[float, float]


def _aurora(
    count: int,
    first: int,
    *,
    traces: Optional[Traces] = None,
    bandwidth: Range = (100.0, 500.0),
    delay: Range = (0.05, 0.5),
    queue_log: Range = (0.0, 8.0),
    loss: Range = (0.0, 0.05),
    start: Range = (0.3, 1.5),
    steps: int = 400,
) -> "_certus.RawWorlds":
    return _certus.RawWorlds.aurora(count, first, traces, bandwidth, delay, queue_log, loss, start, steps)


def _pensieve(
    count: int,
    first: int,
    *,
    traces: Traces,
    order: str = "random",
    noise: Optional[bool] = None,
    qoe: str = "linear",
    chunks: Optional[int] = None,
) -> "_certus.RawWorlds":
    noisy = order == "random" if noise is None else noise
    return _certus.RawWorlds.pensieve(count, first, traces, order, noisy, qoe, chunks)


def _deeprm(
    count: int,
    first: int,
    *,
    arrivals: int = 10,
    arrival_chance: float = 0.7,
    decisions: int = 200,
    until_done: bool = False,
    compact: bool = False,
) -> "_certus.RawWorlds":
    return _certus.RawWorlds.deeprm(count, first, arrivals, arrival_chance, decisions, until_done, compact)


#: Per world, what makes copies and the ends of what is seen.
_WORLDS: Dict[str, Tuple[Any, float, float]] = {
    "aurora": (_aurora, -np.inf, np.inf),
    "pensieve": (_pensieve, 0.0, np.inf),
    "deeprm": (_deeprm, 0.0, np.inf),
}


class _Copies:
    """Copies of a world, with their spaces: what all kinds of environments are made of."""

    def __init__(self, name: str, count: int, first: int = 0, **settings: Any) -> None:
        if name not in _WORLDS:
            raise _certus.CertusError(f"there is no world '{name}'; there are {', '.join(_WORLDS)}")
        make, low, high = _WORLDS[name]
        self.name = name
        self.raw = make(count, first, **settings)
        about = self.raw.describe()
        self.observation_space = spaces.Box(low, high, (about["observation_length"],), dtype=np.float32)
        if "actions" in about:
            self.action_space: spaces.Space = spaces.Discrete(about["actions"])
        else:
            self.action_space = spaces.Box(about["lower"], about["upper"], (about["length"],), dtype=np.float32)

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Optional[np.ndarray]]:
        return self.raw.step(np.ascontiguousarray(actions, dtype=np.float64))


class _World(gymnasium.Env):
    metadata: Dict[str, Any] = {"render_modes": []}
    _name = ""

    def __init__(self, **settings: Any) -> None:
        self._copies = _Copies(self._name, 1, **settings)
        self.observation_space = self._copies.observation_space
        self.action_space = self._copies.action_space
        #: The first observation of the episode that the end of the last one began.
        self._begun: Optional[np.ndarray] = None

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        begun, self._begun = self._begun, None
        if seed is None and begun is not None:
            return begun, {}
        if seed is None:
            seed = int(self.np_random.integers(2**63))
        return self._copies.raw.reset(seed)[0], {}

    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]:
        """One step."""
        if self._begun is not None:
            raise _certus.SimulationError("the episode is over: call reset first")
        observations, rewards, terminated, truncated, last = self._copies.step([action])
        observation = observations[0]
        if last is not None:
            self._begun, observation = observation, last[0]
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {}


class Aurora(_World):
    """Congestion control over one bottleneck: 30 features of ten monitor intervals in, a change of the rate out.

    At each reset a link is drawn: ``bandwidth`` (packets of 1500 bytes per second), ``delay`` (one way, s), ``queue_log`` (u,
    for 1 + ⌊eᵘ⌋ places), ``loss`` and ``start`` (first rate as a share of the bandwidth) are uniform between two ends. With
    ``traces`` the bandwidth follows one of them from a random point. Episodes have ``steps`` steps.
    """

    _name = "aurora"


class Pensieve(_World):
    """A video player: 48 numbers in, one of six bitrates out; an episode is a video.

    ``traces`` are the networks. ``order`` is ``"random"`` (trace and beginning; download times are noisy unless
    ``noise=False``) or ``"in turn"`` (each from its beginning, no noise). ``qoe`` is ``"linear"``, ``"log"`` or ``"hd"``.
    ``chunks`` shortens the video.
    """

    _name = "pensieve"


class DeepRM(_World):
    """A cluster with two resources: an image of 20 × 124 numbers in (76 numbers if ``compact``), which of five waiting jobs to
    start out; 5 lets time pass.

    Jobs come with ``arrival_chance`` per time step before step ``arrivals``; the episode ends there, or ``until_done``. After
    ``decisions`` decisions it is cut.
    """

    _name = "deeprm"


class WorldVectorEnv(VectorEnv):
    """Copies of a world, stepped as one batch.

    A copy whose episode ended begins another one in the same step; what was seen last is ``info["final_obs"]``.
    """

    metadata: Dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, name: str, num_envs: int, **settings: Any) -> None:
        self._copies = _Copies(name, num_envs, **settings)
        self.num_envs = num_envs
        self.single_observation_space = self._copies.observation_space
        self.single_action_space = self._copies.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Begins all copies anew. One seed names the random numbers of all of them."""
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**63))
        return self._copies.raw.reset(seed), {}

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]:
        """One step in every copy."""
        observations, rewards, terminated, truncated, last = self._copies.step(actions)
        infos: Dict[str, Any] = {}
        if last is not None:
            for copy in np.flatnonzero(np.logical_or(terminated, truncated)):
                infos = self._add_info(infos, {"final_obs": last[copy], "final_info": {}}, int(copy))
        return observations, rewards, terminated, truncated, infos


def make_vec(name: str, num_envs: int, **settings: Any) -> WorldVectorEnv:
    """Copies of the world ``"aurora"``, ``"pensieve"`` or ``"deeprm"``; settings are those of its class. ``first`` is the
    number of the first copy, so that a batch can be one part of a larger one."""
    return WorldVectorEnv(name, num_envs, **settings)


def sb3_vec_env(name: str, num_envs: int, **settings: Any) -> Any:
    """The same as Stable-Baselines3 wants it, with the sum of rewards and the length of each episode reported as its
    ``Monitor`` does. Needs ``stable-baselines3``."""
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv

    class WorldVecEnv(VecEnv):
        def __init__(self) -> None:
            self._copies = _Copies(name, num_envs, **settings)
            self.render_mode = None
            self._actions: Any = None
            self._seed: Optional[int] = None
            self._started = time.time()
            self._returns = np.zeros(num_envs)
            self._lengths = np.zeros(num_envs, dtype=np.int64)
            super().__init__(num_envs, self._copies.observation_space, self._copies.action_space)

        def reset(self) -> np.ndarray:
            seed, self._seed = self._seed, None
            if seed is None:
                seed = int(np.random.randint(0, 2**31 - 1))
            self._reset_seeds()
            self._reset_options()
            self._returns[:], self._lengths[:] = 0.0, 0
            return self._copies.raw.reset(seed)

        def seed(self, seed: Optional[int] = None) -> Sequence[Optional[int]]:
            self._seed = seed
            return [seed] * self.num_envs

        def step_async(self, actions: np.ndarray) -> None:
            self._actions = actions

        def step_wait(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, List[Dict[str, Any]]]:
            observations, rewards, terminated, truncated, last = self._copies.step(self._actions)
            self._returns += rewards
            self._lengths += 1
            done = np.logical_or(terminated, truncated)
            infos: List[Dict[str, Any]] = [{} for _ in range(self.num_envs)]
            if last is not None:
                for copy in np.flatnonzero(done):
                    infos[copy] = {
                        "terminal_observation": last[copy],
                        "TimeLimit.truncated": bool(truncated[copy]),
                        "episode": {
                            "r": float(self._returns[copy]),
                            "l": int(self._lengths[copy]),
                            "t": round(time.time() - self._started, 6),
                        },
                    }
                self._returns[done], self._lengths[done] = 0.0, 0
            return observations, rewards.astype(np.float32), done, infos

        def close(self) -> None:
            pass

        def get_attr(self, attr_name: str, indices: Any = None) -> List[Any]:
            return [getattr(self, attr_name) for _ in self._get_indices(indices)]

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            setattr(self, attr_name, value)

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> List[Any]:
            result = getattr(self, method_name)(*args, **kwargs)
            return [result for _ in self._get_indices(indices)]

        def env_is_wrapped(self, wrapper_class: Type[gymnasium.Wrapper], indices: Any = None) -> List[bool]:
            return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]

    return WorldVecEnv()
