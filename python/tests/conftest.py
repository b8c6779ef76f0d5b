"""What the tests share: where the systems are, and the command line to compare with."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def at_the_top(monkeypatch):
    """Paths are those of the documentation: from the top of a checkout."""
    monkeypatch.chdir(ROOT)


def built_command():
    """The command line: what `CERTUS` names, or built."""
    if "CERTUS" in os.environ:
        return pathlib.Path(os.environ["CERTUS"])
    subprocess.run(["cargo", "build", "--quiet", "-p", "certus"], cwd=ROOT, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "certus"


@pytest.fixture(scope="session")
def certus_command():
    """The command line, to compare messages with."""
    command = built_command()

    def run(*arguments):
        return subprocess.run([command, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)

    return run
