"""Acceptance during training: does the policy, as it is now, do what must hold?"""

from __future__ import annotations

import os
import tempfile
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from .. import _certus
from .._commands import check
from .._types import PathLike
from .._system import System, load
from ._export import export


@dataclass(frozen=True)
class Checked:
    """What an engine says of a property."""

    #: ``holds``, ``violated``, ``model error`` or ``unknown``.
    verdict: str
    #: For a violation or a model error, the flattened states of the run that shows it, from its initial state on.
    states: Optional[np.ndarray] = None
    #: In a few words, how it was found or why it was not.
    reason: str = ""


#: Checks one property of a system; `SimulationEngine` and `BoundedEngine` are such.
Engine = Callable[[System, str], Checked]


class SimulationEngine:
    """Looks for violations by simulation. It never says ``holds``: that no run was found proves nothing."""

    #: Whether the engine can show that a property holds.
    proves = False

    def __init__(self, runs: int = 500, steps: int = 200, seed: int = 0, threads: int = 0) -> None:
        self.runs, self.steps, self.seed, self.threads = runs, steps, seed, threads

    def __call__(self, system: System, property: str) -> Checked:
        if system.properties[property].is_probability:
            return Checked("unknown", None, "a probability is not decided by simulation")
        found = system.falsify(property, runs=self.runs, steps=self.steps, seed=self.seed, threads=self.threads)
        if found is None:
            return Checked("unknown", None, f"no violation in {self.runs} runs of {self.steps} steps")
        return Checked("violated", found.states, f"run {found.run}, step {found.step}")


class BoundedEngine:
    """Bounded model checking: ``holds`` says that no run of ``steps`` steps, and no loop within them, violates the property."""

    proves = True

    def __init__(self, steps: int = 5, timeout: Optional[float] = 60.0, threads: int = 0) -> None:
        self.steps, self.timeout, self.threads = steps, timeout, threads

    def __call__(self, system: System, property: str) -> Checked:
        (found,) = check(system, property, engine="bmc", steps=self.steps, timeout=self.timeout, threads=self.threads)
        states = [list(state.values()) for state in found.states]
        how = found.reason or (_reach(found.scope) if found.verdict == "holds" else f"step {len(states) - 1}")
        return Checked(found.verdict, np.array(states) if states else None, how)


def _reach(scope: Any) -> str:
    """How far a verdict reaches, in the words of the command line."""
    if scope == "unbounded":
        return "for all time"
    return f"up to step {scope['horizon']}" if "horizon" in scope else f"up to {scope['bounded']} steps"


class AcceptanceCallback(BaseCallback):
    """Every ``every`` steps, exports the policy and checks properties of the system with it.

    ``system`` is a `certus.System`, or the path of a ``.certus`` file, whose network need not exist yet. ``table`` has one row for each check: ``{"step": …, property: verdict, …}``. With ``stop``, training ends when every
    property holds. With ``feed_back``, the initial states of violations become start states of training, where the
    environments are those of `certus.gym` or `certus.sb3.CertusVecEnv`. ``policy`` names the policy, action or network that
    is trained, if the system has several. ``folder`` keeps the exported files.

    ``engine`` is a function of a system and the name of a property that returns a `Checked`. The default simulates: its
    verdicts are ``violated`` or ``unknown``, so it never ends the training.
    """

    def __init__(
        self,
        system: Any,
        properties: Optional[Sequence[str]] = None,
        every: int = 10_000,
        *,
        engine: Optional[Engine] = None,
        feed_back: bool = True,
        stop: bool = True,
        policy: Optional[str] = None,
        set: Optional[Mapping[str, float]] = None,
        folder: Optional[PathLike] = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        path = system.path if isinstance(system, System) else os.fspath(system)
        self._path: str = path
        self._set: Dict[str, float] = dict(system.settings) if isinstance(system, System) else dict(set or {})
        #: The network that is trained, as the file names it.
        self.network: str = _certus.network_of(path, policy)
        #: The properties that are checked; known from the first check on if none were named.
        self.properties: List[str] = list(properties or [])
        if isinstance(system, System):
            self.properties = self.properties or list(system.properties)
            for name in self.properties:
                system._property(name)
        self.every, self.feed_back, self.stop = every, feed_back, stop
        self.engine: Engine = SimulationEngine() if engine is None else engine
        if stop and getattr(self.engine, "proves", True) is False:
            warnings.warn(
                "the engine simulates: it finds violations and cannot show that a property holds, so training will not be "
                "stopped by it",
                stacklevel=2,
            )
        self.folder = folder
        #: One row per check: the step, and the verdict on each property.
        self.table: List[Dict[str, Any]] = []
        #: What the engine said in the last check, by property.
        self.last: Dict[str, Checked] = {}
        #: Whether all properties held in the last check.
        self.accepted = False
        self._next = every

    def check(self) -> bool:
        """Exports the policy, checks every property, and says whether all of them hold."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = temporary if self.folder is None else os.fspath(self.folder)
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f"step_{self.num_timesteps}.onnx")
            export(self.model, path)
            system = load(self._path, self._set, {self.network: path})
            self.properties = self.properties or list(system.properties)
            for name in self.properties:
                system._property(name)
            self.last = {name: self.engine(system, name) for name in self.properties}
        self.table.append({"step": self.num_timesteps, **{name: own.verdict for name, own in self.last.items()}})
        if self.verbose:
            told = [f"{name} {own.verdict}" + (f" ({own.reason})" if own.reason else "") for name, own in self.last.items()]
            print(f"step {self.num_timesteps}: {', '.join(told)}")
        if self.feed_back:
            self._feed_back()
        self.accepted = all(own.verdict == "holds" for own in self.last.values())
        return self.accepted

    def _feed_back(self) -> None:
        for own in self.last.values():
            if own.verdict == "violated" and own.states is not None:
                try:
                    self.training_env.env_method("add_start_state", np.asarray(own.states)[0], indices=[0])
                except AttributeError:
                    self.feed_back = False
                    warnings.warn("the environments take no start states: violations are not fed back", stacklevel=2)
                    return

    def _on_step(self) -> bool:
        if self.num_timesteps < self._next:
            return True
        self._next = self.num_timesteps + self.every
        return not (self.check() and self.stop)
