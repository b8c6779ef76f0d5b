"""The compiled part of the package."""

import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

__version__: str

class CertusError(Exception):
    """Something that Certus cannot do as it was asked to."""

class SystemError(CertusError):
    """A ``.certus`` file with mistakes; the text marks each of them."""

class NetworkError(CertusError):
    """A network that cannot be read or applied."""

class SimulationError(CertusError):
    """A simulation or an environment that cannot be run."""

class Network:
    """A network from an ONNX or NNet file."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None: ...
    @property
    def path(self) -> Path: ...
    @property
    def inputs(self) -> List[Tuple[str, List[int]]]: ...
    @property
    def outputs(self) -> List[Tuple[str, List[int]]]: ...
    @property
    def parameters(self) -> int: ...
    @property
    def operators(self) -> List[str]: ...
    def __call__(self, x: Any) -> Any: ...

class RawSystem:
    def __init__(self, path: str, settings: List[Tuple[str, float]], networks: List[Tuple[str, str]]) -> None: ...
    def describe(self) -> Dict[str, Any]: ...

class RawEnvironments:
    def __init__(
        self,
        path: str,
        settings: List[Tuple[str, float]],
        policy: Optional[str],
        outputs: List[Tuple[str, int]],
        count: int,
        max_steps: Optional[int],
        inputs: str,
        property: Optional[str],
        candidates: int,
        auto_reset: bool,
        threads: int,
    ) -> None: ...
    def describe(self) -> Dict[str, Any]: ...
    def __len__(self) -> int: ...
    def reset(self, seed: Optional[int]) -> np.ndarray: ...
    def step(
        self, actions: np.ndarray
    ) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Optional[List[Dict[str, Any]]]]: ...
    def states(self) -> np.ndarray: ...
    def push_start(self, state: List[float], first: bool = False) -> None: ...
    def queued(self) -> int: ...
    def clear_starts(self) -> None: ...

def network_of(path: str, name: Optional[str]) -> str: ...
def simulate(
    system: RawSystem,
    runs: int,
    steps: int,
    seed: int,
    first_run: int,
    inputs: str,
    property: Optional[str],
    candidates: int,
    sampled: bool,
    record: bool,
    threads: int,
    timeout: Optional[float],
    progress: Optional[Callable[[Dict[str, Any]], object]],
) -> Dict[str, Any]: ...
def check(
    file: str,
    properties: List[str],
    engine: str,
    steps: Optional[int],
    certificate: Optional[str],
    settings: List[Tuple[str, float]],
    networks: List[Tuple[str, str]],
    timeout: Optional[float],
    memory: int,
    threads: int,
    seed: int,
    assume_no_model_errors: bool,
    progress: Optional[Callable[[Dict[str, Any]], object]],
) -> Dict[str, Any]: ...
def observe(
    world: str,
    decider: str,
    files: List[str],
    output: str,
    interval: float,
    seconds: float,
    seed: int,
) -> int: ...
def mine(
    config: str,
    regions: Optional[str],
    specifications: Optional[str],
    baseline: Optional[str],
    search: bool,
    networks: List[str],
    attack: bool,
    cache: Optional[str],
    timeout: Optional[float],
    memory: int,
    threads: int,
    seed: int,
    progress: Optional[Callable[[Dict[str, Any]], object]],
) -> Dict[str, Any]: ...
def verify(
    file: str,
    specification: Optional[str],
    networks: List[Tuple[str, str]],
    certificate: Optional[str],
    resume: Optional[str],
    save_query: Optional[str],
    timeout: Optional[float],
    memory: int,
    threads: int,
    seed: int,
    progress: Optional[Callable[[Dict[str, Any]], object]],
) -> Dict[str, Any]: ...
def optimise(
    file: str,
    specification: Optional[str],
    networks: List[Tuple[str, str]],
    expression: Optional[str],
    minimise: bool,
    gap: float,
    timeout: Optional[float],
    memory: int,
    threads: int,
    seed: int,
    progress: Optional[Callable[[Dict[str, Any]], object]],
) -> Dict[str, Any]: ...
def audit(
    certificate: str,
    network: Optional[str],
    specification: Optional[str],
    query: Optional[str],
    timeout: Optional[float],
    progress: Optional[Callable[[int], object]],
) -> Dict[str, Any]: ...

class Traces:
    @staticmethod
    def cellular(count: int, seed: int = 0, **settings: Optional[float]) -> "Traces": ...
    @staticmethod
    def broadband(count: int, seed: int = 0, **settings: Optional[float]) -> "Traces": ...
    @staticmethod
    def read(path: str, format: str = "columns", bin_ms: int = 100) -> "Traces": ...
    def __len__(self) -> int: ...
    def __add__(self, other: "Traces") -> "Traces": ...
    @property
    def names(self) -> List[str]: ...
    @property
    def mean_rates(self) -> List[float]: ...
    @property
    def durations(self) -> List[float]: ...

class RawWorlds:
    @staticmethod
    def aurora(*arguments: Any) -> "RawWorlds": ...
    @staticmethod
    def pensieve(*arguments: Any) -> "RawWorlds": ...
    @staticmethod
    def deeprm(*arguments: Any) -> "RawWorlds": ...
    def describe(self) -> Dict[str, Any]: ...
    def __len__(self) -> int: ...
    def reset(self, seed: int) -> Any: ...
    def step(self, actions: Any) -> Any: ...
