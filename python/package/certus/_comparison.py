"""A system stepped beside the environment that it is a model of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

import numpy as np

from . import _certus


@dataclass(frozen=True)
class Difference:
    """A step at which a system and its environment differ."""

    episode: int
    #: 0 is the reset.
    step: int
    #: ``start`` (outside of ``init``), ``state``, ``observation``, ``reward``, ``termination``, ``range`` (the environment
    #: leaves the declared range of a state variable), or ``end`` (the system does not allow the step).
    what: str
    #: What the system says.
    system: Any
    #: What the environment says.
    environment: Any

    def __str__(self) -> str:
        return f"{self.what} at step {self.step} of episode {self.episode}: {self.system}, and {self.environment} in the environment"


@dataclass(frozen=True)
class Comparison:
    """What came out of stepping both: the largest differences, and the first that is more than rounding."""

    #: How many episodes and steps were compared.
    episodes: int
    steps: int
    #: The largest difference of a number of the state, of an observation, and of a reward.
    state: float
    observation: float
    reward: float
    #: At how many steps only one of both ended the episode, or the system did not allow the step or the state.
    ends: int
    #: How many episodes began outside of the box of the system's initial states.
    starts_outside: int
    tolerance: float
    #: The first difference beyond the tolerance.
    first: Optional[Difference]

    @property
    def agrees(self) -> bool:
        """Whether nothing differed beyond the tolerance."""
        return self.first is None

    def __str__(self) -> str:
        numbers = f"state {self.state:.2g}, observation {self.observation:.2g}, reward {self.reward:.2g}"
        found = f"{self.episodes} episodes, {self.steps} steps; largest differences: {numbers}; {self.ends} ends differ"
        return f"{found}; " + (f"nothing beyond {self.tolerance:g}" if self.first is None else f"first {self.first}")


def own_state(environment: Any) -> Any:
    """The state that environments of classic control keep."""
    state = getattr(environment.unwrapped, "state", None)
    if state is None:
        raise _certus.CertusError(f"{environment} has no `state`: say with state=… how to read it")
    return state


class _Stepper:
    """One comparison under way."""

    def __init__(self, model: Any, state: Callable[[Any], Any], tolerance: float) -> None:
        about = model._copies.about
        self.model, self.read, self.tolerance = model, state, tolerance
        self.low, self.high = (np.array(ends, dtype=np.float64) for ends in about["ranges"])
        self.init = [np.array(ends, dtype=np.float64) for ends in about["init"]]
        #: Angles that the system wraps, and the environment may not.
        self.wrapped = (self.low == -np.pi) & (self.high == np.pi)
        self.names = about["states"]
        self.largest = {"state": 0.0, "observation": 0.0, "reward": 0.0}
        self.ends = self.outside = self.steps = 0
        self.first: Optional[Difference] = None

    def state(self, environment: Any) -> np.ndarray:
        """The environment's state, as the system would have it."""
        state = np.array(self.read(environment), dtype=np.float64).reshape(-1)
        if state.shape != self.low.shape:
            raise _certus.CertusError(
                f"the state of the system is {', '.join(self.names)}, and the environment's has {len(state)} numbers: "
                "say with state=… how to read it"
            )
        turns = np.where(self.wrapped & (np.abs(state) > np.pi), np.floor((state + np.pi) / (2 * np.pi)), 0.0)
        return np.clip(state - 2 * np.pi * turns, np.where(self.wrapped, -np.pi, -np.inf), np.where(self.wrapped, np.pi, np.inf))

    def found(self, episode: int, step: int, what: str, system: Any, environment: Any) -> None:
        if self.first is None:
            self.first = Difference(episode, step, what, system, environment)

    def numbers(self, episode: int, step: int, what: str, system: Any, environment: Any) -> None:
        ours, theirs = (np.array(values, dtype=np.float64).reshape(-1) for values in (system, environment))
        if ours.shape != theirs.shape:
            raise _certus.CertusError(f"{what}: {len(ours)} numbers in the system, and {len(theirs)} in the environment")
        away = np.abs(ours - theirs)
        if what == "state":
            away = np.where(self.wrapped, np.minimum(away, 2 * np.pi - away), away)
        self.largest[what] = max(self.largest[what], float(np.max(away, initial=0.0)))
        # Written so that a NaN differs.
        if not (away <= self.tolerance * np.maximum(1.0, np.abs(theirs))).all():
            self.found(episode, step, what, system, environment)

    def put(self, episode: int, step: int, state: np.ndarray) -> Any:
        """Puts the system into a state, and gives what it shows there; nothing if that is outside of its ranges. Single
        precision may round across the end of a range."""
        within = np.clip(state, self.low, self.high)
        if not (np.abs(within - state) <= self.tolerance * np.maximum(1.0, np.abs(state))).all():
            self.ends += 1
            self.found(episode, step, "range", [self.low.tolist(), self.high.tolist()], state)
            return None
        return self.model.reset(options={"state": within})[0]

    def begin(self, episode: int, environment: Any, seed: int) -> Any:
        observation, _ = environment.reset(seed=seed)
        state = self.state(environment)
        slack = self.tolerance * np.maximum(1.0, np.abs(state))
        if ((state < self.init[0] - slack) | (state > self.init[1] + slack)).any():
            self.outside += 1
            self.found(episode, 0, "start", [end.tolist() for end in self.init], state)
        shown = self.put(episode, 0, state)
        if shown is not None:
            self.numbers(episode, 0, "observation", shown, observation)
        return observation, shown is None

    def step(self, episode: int, step: int, environment: Any, action: Any) -> Any:
        self.steps += 1
        theirs = environment.step(action)
        ours = self.model.step(action)
        if ours[3]:
            self.ends += 1
            self.found(episode, step, "end", ours[4]["text"], self.state(environment))
            return theirs[0], True
        self.numbers(episode, step, "state", ours[4]["state"], self.state(environment))
        self.numbers(episode, step, "observation", ours[0], theirs[0])
        self.numbers(episode, step, "reward", ours[1], theirs[1])
        if ours[2] != theirs[2]:
            self.ends += 1
            self.found(episode, step, "termination", bool(ours[2]), bool(theirs[2]))
        return theirs[0], bool(ours[2] or theirs[2] or theirs[3])


def compare(
    model: Any,
    environment: Any,
    episodes: int,
    seed: int,
    steps: int,
    policy: Optional[Callable[[Any], Any]],
    state: Optional[Callable[[Any], Any]],
    tolerance: float,
    follow: bool,
) -> Comparison:
    """Steps both; see `certus.gym.compare`."""
    stepper = _Stepper(model, state or own_state, tolerance)
    environment.action_space.seed(seed)
    model.reset(seed=seed)
    for episode in range(episodes):
        observation, over = stepper.begin(episode, environment, seed + episode)
        for step in range(1, 1 if over else steps + 1):
            action = environment.action_space.sample() if policy is None else policy(observation)
            observation, over = stepper.step(episode, step, environment, action)
            if over or not (follow or stepper.put(episode, step, stepper.state(environment)) is not None):
                break
    return Comparison(
        episodes=episodes,
        steps=stepper.steps,
        state=stepper.largest["state"],
        observation=stepper.largest["observation"],
        reward=stepper.largest["reward"],
        ends=stepper.ends,
        starts_outside=stepper.outside,
        tolerance=tolerance,
        first=stepper.first,
    )
