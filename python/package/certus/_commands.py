"""The commands as functions, made from the table that the command line is made from.

A new row of that table is a new function here, with its signature and its documentation. `_commands.pyi` says the same to type checkers and
is written by ``python -m certus._stubs``.
"""

from __future__ import annotations

import inspect as _inspect
import json
import math
import os
from typing import Any, Callable, Dict, List

import numpy as np

from . import _certus
from ._outcomes import CLASSES, Document, Outcome, with_numbers
from ._system import System

#: The table: for each command its name, what it does, and its options.
TABLE: List[Dict[str, Any]] = json.loads(_certus.commands())

#: Kinds of options that take one thing or several.
_SEVERAL = ("Files", "Texts", "Documents")


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, _certus.Network):
        return os.fspath(value.path)
    if isinstance(value, Document):
        return json.loads(value.to_json())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, System):
        return value.path
    if hasattr(value, "items"):
        return {str(name): _plain(own) for name, own in value.items()}
    if hasattr(value, "__iter__"):
        return [_plain(own) for own in value]
    raise TypeError(f"{value!r} is nothing that a command takes")


def _given(options: List[Dict[str, Any]], arguments: Dict[str, Any]) -> Dict[str, Any]:
    """The options of a call. A system brings its own settings and networks."""
    kinds = {option["name"]: option["kind"] for option in options}
    given = {}
    for name, value in arguments.items():
        single = kinds[name] in _SEVERAL and isinstance(value, (str, os.PathLike, _certus.Network, Document, dict))
        given[name] = _plain([value] if single else value)
        if isinstance(value, System):
            for own, named in (("set", value.settings), ("networks", value.replacements)):
                if own in kinds:
                    given[own] = {**named, **_plain(arguments.get(own) or {})}
                elif named:
                    raise _certus.CertusError(f"this command takes no {own}, and {value!r} has some: name its file")
    return given


def run(command: str, arguments: Dict[str, Any], progress: Any = None) -> Outcome:
    """Runs a command with options by their names."""
    options = next((row["options"] for row in TABLE if row["name"] == command), [])
    document, messages, beside = _certus.run(command, json.dumps(_given(options, arguments)), progress)
    kind = CLASSES.get(command, Outcome)
    return kind(command, with_numbers(json.loads(document)), messages, with_numbers(json.loads(beside)))


_PLACES = {
    "first": _inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "rest": _inspect.Parameter.VAR_POSITIONAL,
    "named": _inspect.Parameter.KEYWORD_ONLY,
}


def _function(row: Dict[str, Any]) -> Callable[..., Outcome]:
    command, options = row["name"], row["options"]
    parameters = []
    for place in ("first", "rest", "named"):
        for option in options:
            if option["place"] == place:
                empty = option["required"] or place == "rest"
                default = _inspect.Parameter.empty if empty else option["default"]
                parameters.append(_inspect.Parameter(option["name"], _PLACES[place], default=default))
    parameters.append(_inspect.Parameter("progress", _inspect.Parameter.KEYWORD_ONLY, default=None))
    signature = _inspect.Signature(parameters, return_annotation=CLASSES.get(command, Outcome))

    def call(*arguments: Any, **named: Any) -> Outcome:
        bound = signature.bind(*arguments, **named).arguments
        progress = bound.pop("progress", None)
        return run(command, bound, progress)

    call.__name__ = call.__qualname__ = command
    call.__module__ = "certus"
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = documentation(row)
    return call


def documentation(row: Dict[str, Any]) -> str:
    """What a command and its options do, as the documentation of its function."""
    lines = [_sentence(row["about"]), "", "Args:"]
    for option in row["options"]:
        choices = f" ({', '.join(map(repr, option['choices']))})" if option["choices"] else ""
        lines.append(f"    {option['name']}: {_sentence(option['about'] + choices)}")
    lines.append("    progress: A function that is told a few times per second how far the work is.")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


__all__: List[str] = [row["name"] for row in TABLE]
globals().update({row["name"]: _function(row) for row in TABLE})
