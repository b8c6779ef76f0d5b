"""The package says of generated systems what the engines say, and what the reference interpreter calls true."""

import json
import subprocess

import pytest

import certus
from conftest import ROOT

SYSTEMS = 10


@pytest.fixture(scope="module")
def cases():
    """Systems with their truths, as `certus-conformance --dump` writes them."""
    command = ["cargo", "run", "--quiet", "-p", "certus-conformance", "--", "--properties", "2", "--dump", str(SYSTEMS)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in told.stdout.splitlines()]


def test_verdicts_are_those_of_the_engines_and_true(cases, tmp_path):
    assert len(cases) > SYSTEMS
    for case in cases:
        for name, text in case["networks"].items():
            (tmp_path / name).write_text(text)
        path = tmp_path / "system.certus"
        path.write_text(case["system"])
        (found,) = certus.check(path, case["property"], steps=case["steps"], set=case["settings"], threads=1)
        about = f"{case['property']} of system {case['number']}, steps {case['steps']}"
        assert (found.verdict, found.scope) == (case["verdict"], case["scope"]), about
        truth = case["truth"]
        if found.verdict == "violated":
            assert truth["violated"], about
        elif found.verdict == "model error":
            assert truth["model_error"], about
        elif found.verdict == "holds" and isinstance(found.scope, dict) and "bounded" in found.scope:
            assert not truth["refuted_within"][case["steps"]], about
        elif found.verdict == "holds":
            assert not truth["violated"] and not truth["model_error"], about
