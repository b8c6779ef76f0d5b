"""The examples of the documentation run, one after the other, as one session."""

import pathlib
import re

import pytest


#: What the examples write.
WRITTEN = ["policy.onnx", "satellite.shield.json", "observed.csv", "toy.html", "acrobot.certus", "lake.certus", "lake.prism"]


def test_examples_run(tmp_path, capsys):
    pytest.importorskip("stable_baselines3")
    text = pathlib.Path("docs/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    session = {}
    for block in blocks:
        for name in WRITTEN:
            block = block.replace(f'"{name}"', repr(str(tmp_path / name)))
        exec(compile(block, "docs/python.md", "exec"), session)
    assert session["accept"] is not None


def test_the_tutorial_trains_and_exports(tmp_path):
    pytest.importorskip("stable_baselines3")
    text = pathlib.Path("docs/tutorial.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    session = {}
    exec(compile(block.replace('"policy.onnx"', repr(str(tmp_path / "policy.onnx"))), "docs/tutorial.md", "exec"), session)
    assert (tmp_path / "policy.onnx").exists()
