"""Model checking: `check`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Union

from . import _certus
from ._questions import NetworkLike, PathLike, Progress, _named
from ._system import System


@dataclass(frozen=True)
class Checked:
    """What is said of a property."""

    property: str
    #: ``holds``, ``violated``, ``model error`` or ``unknown``; ``bounded`` where a probability is asked for and its interval is narrow.
    verdict: str
    engine: Optional[str]
    #: How far the verdict reaches: ``unbounded``; ``{"horizon": n}`` where the property's own bounds end at step n; ``{"bounded": k}``, k steps.
    #: Of ``unknown``: what was settled, if anything was.
    scope: Any
    #: After ``violated`` and ``model error``: at each step the state, the environment's choices, the policies' outputs, actions and atoms.
    #: After ``unknown``: a candidate, which only doubles show.
    trace: Optional[List[Dict[str, Any]]]
    #: The step to which the trace returns, if it goes on for ever.
    loop: Optional[int]
    #: After ``holds``: what that rests on, an invariant or a ranking function for instance.
    proof: Optional[Dict[str, Any]]
    #: Where the certificate is, if one was wanted and there is one.
    certificate: Optional[str]
    #: Why nothing was shown; after ``model error``, what the error is.
    reason: Optional[str]
    #: What a reader must know about the verdict.
    notes: List[str]
    seconds: float
    #: The property as the file has it.
    formula: Optional[str] = None
    #: Of a property about a probability: the ends of an interval that it is in, ``lower`` and ``upper``.
    probability: Optional[Dict[str, float]] = None
    #: Of such a property: the start state that reaches the lower end.
    start: Optional[Dict[str, float]] = None
    #: After ``unknown``: what would have to be shown for ``holds``, each a variable that might leave its range, a possible deadlock, or an
    #: operation that might be undefined.
    holds_if: Optional[List[str]] = None
    #: After ``holds``: whether what the property speaks of never happens.
    vacuous: Optional[bool] = None
    #: After ``holds``: a run that exercises the property, if one was found.
    exercised_by: Optional[List[Dict[str, Any]]] = None
    #: After ``violated``: whether the run converges, and so violates the property for ever.
    converges: bool = False
    #: Of a property about a probability: an upper bound of the probability of a model error.
    model_error_probability: Optional[float] = None
    #: What the verdict is about: the network over the reals, a run of doubles, an extracted policy, discretised time, the order of draws and inputs.
    relative_to: Optional[str] = None
    #: Where the verdict comes from: version, files with digests, settings, engine, seed, budget.
    provenance: Optional[Dict[str, Any]] = None

    @property
    def states(self) -> List[Dict[str, float]]:
        """The states of the trace."""
        return [step["state"] for step in self.trace or []]


def check(
    system: Union[PathLike, System],
    *properties: str,
    engine: str = "auto",
    steps: Optional[int] = None,
    certificate: Optional[PathLike] = None,
    set: Optional[Mapping[str, float]] = None,
    networks: Optional[Mapping[str, NetworkLike]] = None,
    timeout: Optional[float] = None,
    memory: int = 4096,
    threads: int = 0,
    seed: int = 0,
    assume_no_model_errors: bool = False,
    progress: Optional[Progress] = None,
) -> List[Checked]:
    """Checks properties of a closed loop; all of them if none is named.

    ``engine`` is ``"bmc"`` (violations by so many ``steps``; if not given ten, or as far as a property's own bounds reach), ``"induction"`` (proofs for all time), ``"grid"`` (a finite abstraction, for all time), ``"imdp"``
    (bounds of probabilities) or ``"auto"`` (the first two in turns; the last for properties about probabilities).
    ``certificate`` is where the proof of the one named property goes, if it holds.
    ``system`` is a ``.certus`` file, or a `System` with its own settings. ``set`` gives values of parameters, ``networks`` files in place of its networks (by the
    policy or action that applies them). A violation is a run that the system itself has made again.
    ``assume_no_model_errors`` accepts what ``holds_if`` names; the outcome says so.
    """
    if isinstance(system, System):
        set = {**system._set, **(set or {})}
        networks = {**system._networks, **(networks or {})}
        system = system.path
    document = _certus.check(
        os.fspath(system),
        list(properties),
        engine,
        steps,
        None if certificate is None else os.fspath(certificate),
        list((set or {}).items()),
        _named(networks),
        timeout,
        memory,
        threads,
        seed,
        assume_no_model_errors,
        progress,
    )
    members = [name for name in Checked.__dataclass_fields__ if name not in ("provenance", "converges")]

    def read(result):
        own = {name: result.get(name) for name in members}
        return Checked(**own, converges=result.get("converges", False), provenance=document["provenance"])

    return [read(result) for result in document["results"]]
