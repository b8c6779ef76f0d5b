"""Types of arguments that the whole package shares."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Union

from . import _certus

PathLike = Union[str, "os.PathLike[str]"]
#: A file, or a network that was loaded from one.
NetworkLike = Union[str, "os.PathLike[str]", _certus.Network]
#: Called a few times per second with how far some work is; ``text`` says it in words.
Progress = Callable[[Dict[str, Any]], object]


def path_of(file: NetworkLike) -> str:
    """The path of a file, or of the file that a network was loaded from."""
    return os.fspath(file.path if isinstance(file, _certus.Network) else file)
