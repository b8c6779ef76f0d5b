"""Copies of an open system as Stable-Baselines3 wants them."""

from __future__ import annotations

import time
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Type

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from .._types import PathLike
from ..gym import _Copies


class CertusVecEnv(VecEnv):
    """Copies of an open system, stepped as one batch; options are those of `certus.gym.make_vec`.

    The sum of rewards and the length of each episode are reported as Stable-Baselines3's ``Monitor`` does.
    """

    def __init__(self, path: PathLike, num_envs: int, **options: Any) -> None:
        self._copies = _Copies(path, num_envs, True, **options)
        #: States from which the next episodes begin.
        self.start_states = self._copies.start_states
        self.render_mode = None
        self._actions: Any = None
        self._seed: Optional[int] = None
        self._seeded = False
        self._started = time.time()
        super().__init__(num_envs, self._copies.observation_space, self._copies.action_space)

    def reset(self) -> np.ndarray:
        seed, self._seed = self._seed, None
        if seed is None and not self._seeded:
            seed = int(np.random.randint(0, 2**31 - 1))
        self._seeded = True
        self._reset_seeds()
        self._reset_options()
        return self._copies.raw.reset(seed)

    def seed(self, seed: Optional[int] = None) -> Sequence[Optional[int]]:
        self._seed = seed
        return [seed] * self.num_envs

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, List[Dict[str, Any]]]:
        observations, rewards, terminated, truncated, ended = self._copies.step(self._actions)
        infos: List[Dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for end in ended or ():
            copy = end["copy"]
            infos[copy] = {
                "terminal_observation": end["observation"],
                "TimeLimit.truncated": bool(truncated[copy]),
                "end": end["end"],
                "text": end["text"],
                "state": end["state"],
                "episode": {
                    "r": end["total_reward"],
                    "l": end["steps"],
                    "t": round(time.time() - self._started, 6),
                },
            }
        return observations, rewards.astype(np.float32), np.logical_or(terminated, truncated), infos

    def add_start_state(self, state: Iterable[float]) -> None:
        """Queues a state for the next episode."""
        self.start_states.append(state)

    def close(self) -> None:
        pass

    def _all(self, indices: Any) -> List[int]:
        return list(self._get_indices(indices))

    def get_attr(self, attr_name: str, indices: Any = None) -> List[Any]:
        return [getattr(self, attr_name) for _ in self._all(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> List[Any]:
        # The copies are one object: what is asked of all of them is done once.
        result = getattr(self, method_name)(*args, **kwargs)
        return [result for _ in self._all(indices)]

    def env_is_wrapped(self, wrapper_class: Type[gymnasium.Wrapper], indices: Any = None) -> List[bool]:
        from stable_baselines3.common.monitor import Monitor

        return [issubclass(wrapper_class, Monitor) for _ in self._all(indices)]
