"""Writes `_commands.pyi`, which tells type checkers what the commands take: ``python -m certus._stubs``."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, Dict, List

from ._commands import TABLE, documentation
from ._outcomes import CLASSES

_TYPES = {
    "System": "Union[PathLike, System]",
    "File": "NetworkLike",
    "Files": "Union[NetworkLike, Sequence[NetworkLike]]",
    "Text": "str",
    "Texts": "Union[str, Sequence[str]]",
    "Number": "float",
    "Flag": "bool",
    "Numbers": "Sequence[float]",
    "NumberLists": "Sequence[Sequence[float]]",
    "Settings": "Mapping[str, float]",
    "Networks": "Mapping[str, NetworkLike]",
    "Widths": "Union[float, Mapping[str, float]]",
    "Ranges": "Union[Sequence[str], Mapping[str, Optional[Tuple[float, float]]]]",
    "Names": "Tuple[str, str]",
    "Places": "Tuple[int, int]",
    "Document": "Union[PathLike, Mapping[str, Any], Document]",
    "Documents": "Union[PathLike, Mapping[str, Any], Document]",
}


def _type(option: Dict[str, Any]) -> str:
    kind = option["kind"]
    if isinstance(kind, dict):
        return "int" if "count" in kind else f"Literal[{', '.join(map(repr, kind['choice']))}]"
    if option["place"] == "rest":
        return {"Texts": "str", "Files": "PathLike"}.get(kind, _TYPES[kind])
    # The name of a reference, or a network.
    return "NetworkLike" if option["name"] == "decider" else _TYPES[kind]


def _parameter(option: Dict[str, Any]) -> str:
    if option["place"] == "rest":
        return f"*{option['name']}: {_type(option)}"
    if option["required"]:
        return f"{option['name']}: {_type(option)}"
    if option["default"] is None:
        return f"{option['name']}: Optional[{_type(option)}] = None"
    return f"{option['name']}: {_type(option)} = {option['default']!r}"


def _function(row: Dict[str, Any]) -> str:
    parameters: List[str] = []
    for place in ("first", "rest", "named"):
        options = [option for option in row["options"] if option["place"] == place]
        if place == "named" and not any(option["place"] == "rest" for option in row["options"]):
            parameters.append("*")
        parameters += [_parameter(option) for option in options]
    parameters.append("progress: Optional[Progress] = None")
    result = CLASSES.get(row["name"])
    lines = [f"def {row['name']}(", *(f"    {parameter}," for parameter in parameters)]
    lines.append(f") -> {'Outcome' if result is None else result.__name__}:")
    text = documentation(row).replace("\\", "\\\\").replace("\n", "\n    ")
    lines.append(f'    """{text}\n    """')
    return "\n".join(line.rstrip() for line in lines)


def stubs() -> str:
    """The text of `_commands.pyi`."""
    classes = sorted({"Document", "Outcome", *(own.__name__ for own in CLASSES.values())})
    head = f'''"""The commands as functions. Written by ``python -m certus._stubs``."""

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

from ._outcomes import {", ".join(classes)}
from ._system import System
from ._types import NetworkLike, PathLike, Progress

TABLE: List[Dict[str, Any]]
__all__ = {[row["name"] for row in TABLE]!r}

def run(command: str, arguments: Dict[str, Any], progress: Optional[Progress] = None) -> Outcome: ...
def documentation(row: Dict[str, Any]) -> str: ...
'''
    text = head + "".join(f"\n{_function(row)}\n" for row in TABLE)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def place() -> pathlib.Path:
    """Where the stubs are."""
    return pathlib.Path(__file__).with_name("_commands.pyi")


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit("usage: python -m certus._stubs")
    place().write_text(stubs())
