from os import PathLike
from typing import Any, Dict, List, Optional, Tuple, Union

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

__all__ = ["Aurora", "DeepRM", "Pensieve", "Traces", "WorldVectorEnv", "make_vec", "sb3_vec_env"]

Range = Tuple[float, float]

class Traces:
    @staticmethod
    def cellular(
        count: int,
        seed: int = 0,
        *,
        duration: Optional[float] = None,
        step: Optional[float] = None,
        fades: Optional[float] = None,
        fade_length: Optional[float] = None,
        fade_factor: Optional[float] = None,
        outages: Optional[float] = None,
        outage_length: Optional[float] = None,
    ) -> "Traces": ...
    @staticmethod
    def broadband(
        count: int,
        seed: int = 0,
        *,
        duration: Optional[float] = None,
        step: Optional[float] = None,
        level: Optional[float] = None,
        level_sigma: Optional[float] = None,
        noise: Optional[float] = None,
        drops: Optional[float] = None,
        drop_length: Optional[float] = None,
    ) -> "Traces": ...
    @staticmethod
    def read(path: Union[str, "PathLike[str]"], format: str = "columns", bin_ms: int = 100) -> "Traces": ...
    def __len__(self) -> int: ...
    def __add__(self, other: "Traces") -> "Traces": ...
    @property
    def names(self) -> List[str]: ...
    @property
    def mean_rates(self) -> List[float]: ...
    @property
    def durations(self) -> List[float]: ...

class _World(gymnasium.Env[np.ndarray, Any]):
    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]: ...
    def step(self, action: Any) -> Tuple[np.ndarray, float, bool, bool, Dict[str, Any]]: ...

class Aurora(_World):
    def __init__(
        self,
        *,
        traces: Optional[Traces] = None,
        bandwidth: Range = ...,
        delay: Range = ...,
        queue_log: Range = ...,
        loss: Range = ...,
        start: Range = ...,
        steps: int = 400,
    ) -> None: ...

class Pensieve(_World):
    def __init__(
        self,
        *,
        traces: Traces,
        order: str = "random",
        noise: Optional[bool] = None,
        qoe: str = "linear",
        chunks: Optional[int] = None,
    ) -> None: ...

class DeepRM(_World):
    def __init__(
        self,
        *,
        arrivals: int = 10,
        arrival_chance: float = 0.7,
        decisions: int = 200,
        until_done: bool = False,
        compact: bool = False,
    ) -> None: ...

class WorldVectorEnv(VectorEnv[np.ndarray, Any, Any]):
    def __init__(self, name: str, num_envs: int, *, first: int = 0, **settings: Any) -> None: ...
    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[np.ndarray, Dict[str, Any]]: ...
    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]: ...

def make_vec(name: str, num_envs: int, *, first: int = 0, **settings: Any) -> WorldVectorEnv: ...
def sb3_vec_env(name: str, num_envs: int, *, first: int = 0, **settings: Any) -> Any: ...
