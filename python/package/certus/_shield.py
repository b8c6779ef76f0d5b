"""Shields around Gymnasium environments.

A shield is made by ``certus shield`` and written as a Python module by ``certus shield export --lang python``; here it stands
between a policy and an environment of :mod:`certus.gym`, passes what is proved safe and replaces the rest.
"""

from __future__ import annotations

import importlib.util
import os
from types import ModuleType
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import gymnasium
import numpy as np

__all__ = ["Shield"]


def _loaded(module: Union[str, "os.PathLike[str]", ModuleType]) -> ModuleType:
    if isinstance(module, ModuleType):
        return module
    path = os.fspath(module)
    spec = importlib.util.spec_from_file_location("certus_exported_shield", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python module: write one with `certus shield export --lang python`")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Shield(gymnasium.Wrapper):
    """An environment whose actions go through an exported shield.

    ``info["shield"]`` says what happened at a step: ``overridden`` (whether the program's action was applied),
    ``action`` (what was applied), ``interventions`` (how often in this episode) and ``alarm`` (whether a state was met that is
    in no invariant). Actions are single precision in these environments, so a next state is off by that much: see the
    tolerance that ``certus audit`` prints.
    """

    def __init__(
        self,
        env: gymnasium.Env,
        module: Union[str, "os.PathLike[str]", ModuleType],
        fallback: Optional[Sequence[float]] = None,
    ) -> None:
        super().__init__(env)
        self.shield = _loaded(module)
        self.fallback = fallback
        self.monitor = self.shield.Monitor()
        self._state: Optional[Sequence[float]] = None

    def reset(self, **options: Any) -> Tuple[Any, Dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self.monitor = self.shield.Monitor()
        self._state = list(info["state"])
        if len(self._state) != self.shield.STATES:
            raise ValueError(f"the shield is for {self.shield.STATES} states, the environment has {len(self._state)}")
        return observation, info

    def step(self, action: Any) -> Tuple[Any, Any, bool, bool, Dict[str, Any]]:
        if self._state is None:
            raise RuntimeError("reset the environment before its first step")
        proposed = np.asarray(action, dtype=np.float64).reshape(-1)
        decision, applied = self.monitor.decide(self._state, proposed.tolist(), self.fallback)
        applied = np.asarray(applied, dtype=np.float64)
        observation, reward, terminated, truncated, info = self.env.step(applied.astype(np.float32))
        self._state = list(info["state"])
        info["shield"] = {
            "overridden": decision != 0,
            "action": applied,
            "interventions": self.monitor.interventions,
            "alarm": self.monitor.alarm,
        }
        return observation, reward, terminated, truncated, info
