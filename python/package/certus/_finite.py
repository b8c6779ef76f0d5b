"""Environments with tables of transitions as finite systems.

The toy texts of Gymnasium (FrozenLake, Taxi, CliffWalking) keep ``P[state][action] = [(probability, next, reward, ended)]``.
As a ``.certus`` file, the random outcomes of all rows become one ``chance``: the interval [0, 1] is cut wherever the
cumulative probabilities of some row cut it, and each label is one piece. As a PRISM model, each row is a command.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from . import _certus
from ._types import PathLike

#: A row of a table: probability, next state, reward.
Row = List[Tuple[Fraction, int, float]]


class Finite:
    """A finite system: states and actions are numbers from 0, and a state that ended stays where it is."""

    def __init__(self, name: str, rows: List[List[Row]], starts: List[int], ended: Set[int], goals: Set[int]) -> None:
        #: What it is called in files.
        self.name = name
        #: By state and action: probabilities, next states and rewards. Probabilities of a row sum to one.
        self.rows = rows
        #: The states that a reset may give.
        self.starts = starts
        #: The states in which an episode ends.
        self.ended = ended
        #: Those of them that are entered with the largest reward.
        self.goals = goals

    @property
    def states(self) -> int:
        """How many states."""
        return len(self.rows)

    @property
    def actions(self) -> int:
        """How many actions."""
        return len(self.rows[0])

    def certus(self, policy: Optional[Sequence[int]] = None, network: Optional[str] = None) -> str:
        """The text of a ``.certus`` file.

        The policy is a list of one action per state, or a network that sees which state it is in as a one-hot vector and
        scores the actions. Without both, each action has the same probability.
        """
        n, labels = self.states, [f"action_{action}" for action in range(self.actions)]
        pieces = self._pieces()
        lines = [
            f"/// {n} states and {self.actions} actions, from the table of transitions of an environment.",
            f"system {self.name}",
            "",
            "/// The number of the state.",
            f"state s in [0, {n - 1}]",
            "",
            "/// The same as a one-hot vector; a sum over its product with a table is the table's entry of the state.",
            f"define at = [for i in 0..{n}: if s == i then 1 else 0]",
            "",
        ]
        names = ", ".join(labels)
        if policy is not None:
            taken = self._checked(policy)
            scores = [_entry([1 if own == action else 0 for own in taken]) for action in range(self.actions)]
            lines.append(f"/// A table of actions.\naction act = argmax([{', '.join(scores)}]) of {{ {names} }}")
        elif network is not None:
            quoted = network.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'action act = argmax(net("{quoted}", at)) of {{ {names} }}')
        else:
            even = ", ".join(f"{label}: 1 / {self.actions}" for label in labels)
            lines.append(f"/// Each action with the same probability, as an untrained policy would.\nchance act of {{ {even} }}")
        if len(pieces) > 1:
            outcomes = ", ".join(f"outcome_{place}: {_number(piece)}" for place, piece in enumerate(pieces))
            lines.append(f"\n/// What happens, of what may happen.\nchance what of {{ {outcomes} }}")
        chosen = [[_outcomes(row, pieces) for row in rows] for rows in self.rows]

        def table(part: int) -> str:
            """The entry of state, action and outcome."""
            arms = []
            for action, label in enumerate(labels):
                columns = [
                    _entry([self._ending(s, chosen[s][action][o])[part] for s in range(n)]) for o in range(len(pieces))
                ]
                if all(column == columns[0] for column in columns):
                    arms.append(f"{label}: {columns[0]}")
                else:
                    inner = ", ".join(f"outcome_{o}: {column}" for o, column in enumerate(columns))
                    arms.append(f"{label}: match what {{ {inner} }}")
            if len({arm.split(": ", 1)[1] for arm in arms}) == 1:
                return arms[0].split(": ", 1)[1]
            return "match act { " + ", ".join(arms) + " }"

        lines += [
            "",
            f"next s = {table(0)}",
            "",
            f"init {_among(self.starts)}",
            "",
            f"define over = {_among(self.ended)}",
            "terminal over",
            f"define at_goal = {_among(self.goals)}",
            f"reward {table(1)}",
            "",
            "/// The goal is reached, whatever happens.",
            "property reaches_goal = F at_goal",
            "",
            "/// No episode ends anywhere else.",
            "property ends_well = G (over -> at_goal)",
        ]
        return "\n".join(lines) + "\n"

    def prism(self, policy: Optional[Sequence[int]] = None) -> str:
        """The text of a PRISM model: an MDP, or with a policy (a list of one action per state) its Markov chain.

        Labels are ``over`` and ``goal``. Rewards are left out.
        """
        taken = None if policy is None else self._checked(policy)
        lines = ["mdp" if taken is None else "dtmc", "", f"module {self.name}", f"  s : [0..{self.states - 1}];", ""]
        for s, rows in enumerate(self.rows):
            if s in self.ended:
                lines.append(f"  [] s={s} -> true;")
                continue
            for action, row in enumerate(rows):
                if taken is None or taken[s] == action:
                    sums: Dict[int, Fraction] = {}
                    for probability, target, _ in row:
                        sums[target] = sums.get(target, Fraction(0)) + probability
                    updates = " + ".join(f"{_number(share)} : (s'={target})" for target, share in sums.items())
                    name = "" if taken is not None else f"action_{action}"
                    lines.append(f"  [{name}] s={s} -> {updates};")
        lines += ["endmodule", "", f"init {_any(self.starts)} endinit", ""]
        lines += [f'label "over" = {_any(self.ended)};', f'label "goal" = {_any(self.goals)};']
        return "\n".join(lines) + "\n"

    def write(self, path: PathLike, policy: Optional[Sequence[int]] = None, network: Optional[str] = None) -> None:
        """Writes a file: PRISM if its name ends in ``.prism``, ``.nm`` or ``.pm``, else ``.certus``."""
        if os.fspath(path).endswith((".prism", ".nm", ".pm")):
            if network is not None:
                raise _certus.CertusError("a PRISM model has no network: give the policy as a list of actions")
            text = self.prism(policy)
        else:
            text = self.certus(policy, network)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _checked(self, policy: Sequence[int]) -> List[int]:
        taken = [int(action) for action in policy]
        if len(taken) != self.states or not all(0 <= action < self.actions for action in taken):
            raise _certus.CertusError(f"a policy is a list of {self.states} actions from 0 to {self.actions - 1}")
        return taken

    def _ending(self, state: int, outcome: Tuple[int, float]) -> Tuple[int, float]:
        return (state, 0.0) if state in self.ended else outcome

    def _pieces(self) -> List[Fraction]:
        """The lengths of the pieces of [0, 1] that the rows of states that go on cut it into."""
        cuts = {Fraction(0), Fraction(1)}
        for s, rows in enumerate(self.rows):
            for row in rows if s not in self.ended else []:
                reached = Fraction(0)
                for probability, _, _ in row:
                    reached += probability
                    cuts.add(reached)
        ordered = sorted(cuts)
        return [high - low for low, high in zip(ordered, ordered[1:])]

    def __repr__(self) -> str:
        return f"<certus.gym.Finite {self.name}: {self.states} states, {self.actions} actions>"


def _outcomes(row: Row, pieces: List[Fraction]) -> List[Tuple[int, float]]:
    """The next state and the reward by piece."""
    found = []
    low = reached = Fraction(0)
    place = -1
    for piece in pieces:
        while reached <= low:
            place += 1
            reached += row[place][0]
        found.append((row[place][1], row[place][2]))
        low += piece
    return found


def _entry(column: Sequence[float]) -> str:
    """A state's entry of a column."""
    if all(value == column[0] for value in column):
        return _value(column[0])
    return f"sum([{', '.join(_value(value) for value in column)}] * at)"


def _value(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _number(value: Fraction) -> str:
    """A probability: a short fraction is written as one."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{value.numerator} / {value.denominator}" if value.denominator <= 1000 else repr(float(value))


def _among(states: Any) -> str:
    return " | ".join(f"s == {state}" for state in sorted(states))


def _any(states: Any) -> str:
    """One of these, in PRISM; halved, so that long lists are not nested deeply."""
    ordered = sorted(states)
    if len(ordered) <= 8:
        return " | ".join(f"s={state}" for state in ordered)
    half = len(ordered) // 2
    return f"({_any(ordered[:half])}) | ({_any(ordered[half:])})"


def _share(probability: float) -> Fraction:
    """A probability as it was meant: the short fraction that rounds to it, or the double itself."""
    short = Fraction(probability).limit_denominator(1000)
    return short if abs(float(short) - probability) <= 2.0**-50 * probability else Fraction(probability)


def _row(entries: Any, known: Callable[[], str]) -> Row:
    shares = [(_share(float(probability)), int(target), float(reward)) for probability, target, reward, _ in entries]
    if any(share < 0 for share, _, _ in shares):
        raise _certus.CertusError(f"{known()} has a negative probability")
    shares = [entry for entry in shares if entry[0] > 0]
    total = sum((share for share, _, _ in shares), Fraction(0))
    if not shares or abs(total - 1) > Fraction(1, 10**9):
        raise _certus.CertusError(f"the probabilities of {known()} sum to {float(total)}")
    return [(share / total, target, reward) for share, target, reward in shares]


def finite(environment: Any, starts: Optional[Sequence[int]] = None) -> Finite:
    """An environment with a table of transitions ``P``, as the toy texts of Gymnasium have one, as a finite system.

    ``starts`` are the states that episodes begin in; without it, all that a reset may give. What a table does not say is left out: limits of time, and Taxi's ``fickle_passenger``, which is refused.
    """
    own = environment.unwrapped
    table = getattr(own, "P", None)
    if not table:
        raise _certus.CertusError(f"{environment} has no table of transitions `P`")
    if getattr(own, "fickle_passenger", False):
        raise _certus.CertusError("a fickle passenger changes the destination beside the table: make the environment without")
    states, actions = len(table), len(table[0])
    distribution = getattr(own, "initial_state_distrib", None)
    if distribution is None:
        raise _certus.CertusError(f"{environment} has no `initial_state_distrib`, so where it begins is not known")
    possible = [state for state in range(states) if distribution[state] > 0]
    if starts is None:
        starts = possible
    elif not starts or not set(starts) <= set(possible):
        raise _certus.CertusError(f"episodes begin in some of the states {', '.join(map(str, possible))}")
    rows = []
    for s in range(states):
        if len(table[s]) != actions:
            raise _certus.CertusError(f"state {s} has {len(table[s])} actions, and state 0 has {actions}")
        rows.append([_row(table[s][a], lambda s=s, a=a: f"action {a} in state {s}") for a in range(actions)])
    ended, goals = _ends(table, list(starts))
    name = environment.spec.id if getattr(environment, "spec", None) else type(own).__name__
    plain = "".join(letter.lower() if letter.isalnum() and letter.isascii() else "_" for letter in name).strip("_")
    return Finite(plain if plain[:1].isalpha() else f"the_{plain}", rows, sorted(set(starts)), ended, goals)


def _ends(table: Any, starts: List[int]) -> Tuple[Set[int], Set[int]]:
    """The states in which episodes end, and those that are entered with the largest reward, of what can be reached."""
    entered: Dict[int, float] = {}
    passed: Set[int] = set(starts)
    waiting = list(starts)
    while waiting:
        s = waiting.pop()
        for entries in (table[s][a] for a in range(len(table[s]))):
            for probability, target, reward, over in entries:
                if probability <= 0:
                    continue
                if over:
                    entered[int(target)] = max(float(reward), entered.get(int(target), float("-inf")))
                elif target not in passed:
                    passed.add(int(target))
                    waiting.append(int(target))
    both = sorted(passed & set(entered))
    if both:
        raise _certus.CertusError(f"an episode may end in state {both[0]} or go on there: this needs more than its table")
    if not entered:
        raise _certus.CertusError("no episode ends: there is nothing to reach")
    best = max(entered.values())
    return set(entered), {state for state, reward in entered.items() if reward == best}
