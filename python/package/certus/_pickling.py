"""Pickled networks and systems carry the bytes of their files.

They come back from the files themselves where these are unchanged; otherwise the bytes are written to a folder of the process, which is
removed at its end.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pathlib
import shutil
import tempfile
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _certus

#: A file: role, the name that a system gives it, path, bytes.
Carried = Tuple[str, Optional[str], str, bytes]


def _digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _carried(sources: List[Tuple[str, Optional[str], Any, Optional[str]]]) -> List[Carried]:
    files = []
    for role, name, path, digest in sources:
        contents = pathlib.Path(path).read_bytes()
        if digest is not None and _digest(contents) != digest:
            raise _certus.CertusError(f"{path} has changed since it was read, so it cannot be pickled: load it again")
        files.append((role, name, os.path.abspath(path), contents))
    return files


def _unchanged(files: List[Carried]) -> bool:
    def same(path: str, contents: bytes) -> bool:
        try:
            return _digest(pathlib.Path(path).read_bytes()) == _digest(contents)
        except OSError:
            return False

    return all(same(path, contents) for _, _, path, contents in files)


def _written(files: List[Carried]) -> List[str]:
    """Writes files to a folder; weights lie beside their network as they did."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="certus-"))
    atexit.register(shutil.rmtree, folder, True)
    places: List[str] = []
    network: Tuple[str, str] = ("", "")
    for index, (role, _, path, contents) in enumerate(files):
        if role == "weights":
            target = pathlib.Path(network[1]) / os.path.relpath(path, network[0])
        else:
            target = folder / str(index) / os.path.basename(path)
            network = (os.path.dirname(path), str(target.parent))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(contents)
        places.append(str(target))
    return places


def reduce_network(network: _certus.Network) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    """How a network is pickled."""
    return restore_network, (os.fspath(network.path), _carried(network.sources))


def restore_network(path: str, files: List[Carried]) -> _certus.Network:
    """A network from what was pickled."""
    whole = files[0][2]
    if not _unchanged(files):
        return _certus.Network(_written(files)[0])
    return _certus.Network(path if os.path.abspath(path) == whole else whole)


def reduce_system(system: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    """How a system is pickled."""
    return restore_system, (system.path, system.settings, system.replacements, _carried(system.sources))


def restore_system(path: str, settings: Dict[str, float], replaced: Dict[str, str], files: List[Carried]) -> Any:
    """A system from what was pickled."""
    from ._system import System

    if _unchanged(files) and os.path.abspath(path) == files[0][2]:
        return System(path, settings, replaced)
    places = [own[2] for own in files] if _unchanged(files) else _written(files)
    networks = {name: place for (role, name, _, _), place in zip(files, places) if role == "network" and name}
    return System(places[0], settings, networks)
