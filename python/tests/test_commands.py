"""Every command: the same documents as on the command line, and outcomes around them."""

import inspect
import json
import pathlib
import pickle

import pytest

import certus
from certus import _commands, _stubs

TOY = "zoo/toy/toy.certus"
NETWORK = "zoo/toy/toy.onnx"
AURORA = "zoo/aurora/aurora.certus"
LINK = "docs/models/link.prism"
CAR = "zoo/stopping_car/stopping_car.certus"
DELIVERED = 'Pmaxmin=? [ F "delivered" ]'

#: Members that differ from run to run.
TIMES = {"seconds", "convergence", "network_nanoseconds", "monitor_nanoseconds"}


def timeless(value):
    if isinstance(value, dict):
        return {name: timeless(own) for name, own in value.items() if name not in TIMES}
    return [timeless(own) for own in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "command, flags, call",
    [
        ("check", [TOY, "-k", "2", "--expect"], lambda: certus.check(TOY, steps=2, expect=True)),
        (
            "check",
            [TOY, "below_ten", "--engine", "grid", "--width", "0.25", "--refine", "2", "--memory", "64", "--seed", "3"],
            lambda: certus.check(TOY, "below_ten", engine="grid", widths=0.25, refine=2, memory=64, seed=3),
        ),
        (
            "check",
            [TOY, "below_ten", "--engine", "grid", "--width", "v1=0.5,v2=0.5", "--policy", "extracted", "--samples", "3", "--refine", "1"],
            lambda: certus.check(TOY, "below_ten", engine="grid", widths={"v1": 0.5, "v2": 0.5}, policy="extracted", samples=3, refine=1),
        ),
        (
            "check",
            [AURORA, "p3", "-k", "0", "--region", "close=1..2", "--resolution", "2"],
            lambda: certus.region(AURORA, "p3", steps=0, region={"close": (1, 2)}, resolution=2),
        ),
        ("region", [AURORA, "p3", "--steps", "0", "--region", "close", "--resolution", "2"], lambda: certus.region(AURORA, "p3", steps=0, region=["close"], resolution=2)),
        ("simulate", [TOY, "--runs", "20", "--steps", "5", "--seed", "1"], lambda: certus.simulate(TOY, runs=20, steps=5, seed=1)),
        ("gate", [TOY, NETWORK, "--engine", "bmc", "-k", "1"], lambda: certus.gate(TOY, NETWORK, engine="bmc", depth=1)),
        ("gate", [TOY, NETWORK, "--runs", "20", "--property", "below_five"], lambda: certus.gate(TOY, [NETWORK], runs=20, properties="below_five")),
        ("verify", [NETWORK, "zoo/toy/below_five.vnnlib"], lambda: certus.verify(NETWORK, "zoo/toy/below_five.vnnlib")),
        ("optimise", [NETWORK, "zoo/toy/square.vnnlib", "--minimise", "Y_0"], lambda: certus.optimise(NETWORK, "zoo/toy/square.vnnlib", minimise="Y_0")),
        ("prob", [CAR, "worst", "-k", "3", "--method", "unfold", "--domain", "octagon"], lambda: certus.prob(CAR, "worst", steps=3, method="unfold", domain="octagon")),
        ("mdp", [LINK, DELIVERED, "--gap", "1e-6"], lambda: certus.mdp(LINK, DELIVERED, gap=1e-6)),
        ("audit", ["zoo/toy/below_ten.certificate"], lambda: certus.audit("zoo/toy/below_ten.certificate")),
        ("inspect", [TOY, "--set", "push=0.25"], lambda: certus.inspect(TOY, set={"push": 0.25})),
        ("inspect", [NETWORK, "--eval", "0.5,-0.25"], lambda: certus.inspect(NETWORK, eval=(0.5, -0.25))),
        ("fmt", ["--check", TOY, "README.md"], lambda: certus.fmt(TOY, "README.md", check=True)),
    ],
)
def test_documents_are_those_of_the_command_line(command, flags, call, certus_command):
    told = certus_command(command, *flags, "--json")
    assert told.stdout, told.stderr
    outcome = call()
    assert timeless(json.loads(outcome.to_json())) == timeless(json.loads(told.stdout))


def test_every_command_is_a_function_with_a_signature_and_documentation():
    names = [row["name"] for row in _commands.TABLE]
    assert {"check", "prob", "mdp", "gate", "region", "extract", "shield", "shield_run", "shield_export", "audit", "mine"} <= set(names)
    for row in _commands.TABLE:
        function = getattr(certus, row["name"])
        assert row["name"] in certus.__all__ and function.__doc__.startswith(row["about"][:20])
        parameters = inspect.signature(function).parameters
        assert set(parameters) == {option["name"] for option in row["options"]} | {"progress"}
        for option in row["options"]:
            assert f"{option['name']}: " in function.__doc__


def test_stubs_are_those_of_the_table():
    assert _stubs.place().read_text() == _stubs.stubs(), "run python -m certus._stubs"


def test_every_command_has_an_example_in_the_documentation():
    text = pathlib.Path("docs/python.md").read_text()
    for row in _commands.TABLE:
        assert f"certus.{row['name']}(" in text, f"there is no example of {row['name']}"


def test_what_is_wrong_is_named_as_python_names_it(tmp_path):
    for call, told in [
        (lambda: certus.check(TOY, engine="bmc", policy="extracted"), 'add engine="grid"'),
        (lambda: certus.check(TOY, "below_ten", engine="grid", certificate=tmp_path / "c"), "leave out certificate"),
        (lambda: certus.check(TOY, samples=3), 'add policy="extracted"'),
        (lambda: certus.check(TOY, steps=-1), "steps: expected a whole number"),
        (lambda: certus.check(TOY, trace="runs.txt"), "ends in .csv or .json"),
        (lambda: certus.check(TOY, certificate=TOY, engine="bmc"), "certificate zoo/toy/toy.certus would be written over"),
        (lambda: certus.region(TOY, "below_ten", region={"push": (0, 9)}), "expected a range within"),
        (lambda: certus.prob(CAR, "worst", model=tmp_path / "m.drn"), 'add method="unfold"'),
        (lambda: certus.optimise(NETWORK, "zoo/toy/square.vnnlib", maximise="Y_0", gap=-1), "gap=-1"),
        (lambda: certus.audit("zoo/toy/below_ten.certificate", query="x"), "not a query"),
        (lambda: certus.shield("zoo/cruise/cruise.certus", degree=3), "degree=3: expected an even number"),
        (lambda: certus.verify(NETWORK, "zoo/toy/below_ten.vnnlib", save_query=tmp_path / "q"), "save_query="),
        (lambda: certus.new(), "with spaces"),
        (lambda: certus.observe("aurora", "cubic", [], tmp_path / "t.csv", interval=0), "interval: expected"),
    ]:
        with pytest.raises(certus.CertusError) as raised:
            call()
        assert told in str(raised.value) and "--" not in str(raised.value) and "⟨" not in str(raised.value), str(raised.value)
    with pytest.raises(TypeError, match="stps"):
        certus.check(TOY, stps=3)


def test_files_are_written(tmp_path):
    outcome = certus.check(TOY, "below_five", engine="bmc", trace=tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text().startswith("property,step,repeats,v1,v2") and not outcome.messages
    outcome = certus.check(TOY, "below_ten", steps=1, engine="bmc", trace=tmp_path / "none.csv")
    assert outcome.messages == [f"{tmp_path / 'none.csv'} was not written: nothing is violated"]
    certus.check(TOY, "below_ten", engine="grid", widths=0.5, cells=tmp_path / "cells.svg", axes=("v1", "v2"))
    certus.region(AURORA, "p3", region=["close"], resolution=2, steps=0, picture=tmp_path / "map.svg")
    certus.gate(TOY, NETWORK, engine="bmc", depth=0, picture=tmp_path / "gate.svg")
    for name in ["cells.svg", "map.svg", "gate.svg"]:
        assert "<svg" in (tmp_path / name).read_text()
    certus.mdp(LINK, DELIVERED, write=tmp_path / "link.drn", values=tmp_path / "values.csv")
    assert (tmp_path / "values.csv").read_text().startswith("state,lower,upper,choice")
    assert certus.mdp(tmp_path / "link.drn").model["states"] > 1
    certus.simulate(TOY, runs=2, steps=3, output=tmp_path / "runs.jsonl")
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 2
    started = certus.new(NETWORK, output=tmp_path / "first.certus")
    assert (tmp_path / "first.certus").read_text() == started.text
    with pytest.raises(certus.CertusError, match="force writes over it"):
        certus.new(NETWORK, output=tmp_path / "first.certus")
    spaces = {"observation": {"low": [-1, -1], "high": [1, 1]}, "action": {"low": [-1], "high": [1]}}
    assert "clamp(" in certus.new(NETWORK, spaces=spaces).text
    assert certus.fmt(tmp_path / "first.certus").verdict == "canonical"
    page = certus.report(certus.check(TOY, steps=1), output=tmp_path / "page.html", figures=tmp_path / "figures")
    assert page.results == 3 and len(list((tmp_path / "figures").glob("*.svg"))) == len(page.figures)
    assert certus.report(certus.check(TOY, "below_ten")).html.startswith("<!")
    mined = certus.mine("docs/mining/video.toml", write=tmp_path / "mined")
    assert len(mined) == 3 and (tmp_path / "mined" / "specifications.json").exists()
    assert "SELECT" in certus.mine("docs/mining/video.toml", emit_sql="duckdb").sql


def test_a_system_brings_its_settings():
    system = certus.load(TOY, set={"push": 0.25})
    (own,) = certus.check(system, "below_ten")
    assert own.provenance["settings"] == [{"name": "push", "value": 0.25, "declared": 0.5}]
    (other,) = certus.check(system, "below_ten", set={"push": 0.125})
    assert other.provenance["settings"][0]["value"] == 0.125


def test_outcomes_are_objects_around_documents():
    outcome = certus.check(TOY, steps=1)
    assert outcome.document["system"] == outcome.system == outcome["system"] == "toy"
    assert len(outcome) == 3 and outcome[0] == list(outcome)[0] and outcome[-1].property == outcome.rows[2].property
    assert (outcome.verdict, outcome.holds) == ("violated", False)
    assert [result.holds for result in outcome] == [True, False, False] and outcome[0].probability is None
    with pytest.raises(AttributeError, match="no member 'verdit'"):
        outcome[0].verdit
    assert pickle.loads(pickle.dumps(outcome)) == outcome and "violated" in repr(outcome)
    assert "<table>" in outcome._repr_html_() and "below_five" in outcome._repr_html_() and "v1" in outcome[1]._repr_html_()
    assert json.loads(outcome.to_json(indent=2))["results"][0]["property"] == "below_ten"
    assert certus.audit("zoo/toy/below_ten.certificate").holds is True
    assert certus.mdp(LINK, 'Pmaxmin>=0.999 [ F "delivered" ]').holds is False
    assert certus.verify(NETWORK, "zoo/toy/below_ten.vnnlib").holds is None
    assert "<table>" in certus.load(TOY).simulate(3, 3)._repr_html_() and "<table>" in certus.load(TOY)._repr_html_()
    assert "<table>" in certus.inspect(NETWORK)._repr_html_()


def test_outcomes_are_data_frames():
    pytest.importorskip("pandas")
    outcome = certus.check(TOY, steps=1)
    frame = outcome.to_dataframe()
    assert list(frame["verdict"]) == ["holds", "violated", "violated"] and list(frame["property"])[0] == "below_ten"
    trace = outcome[1].to_dataframe()
    assert trace.loc[0, "v1"] == 1.0 and trace.loc[0, "y"] >= 5
    gated = certus.gate(TOY, NETWORK, engine="bmc", depth=0).to_dataframe()
    assert len(gated) == 3 and set(gated["checkpoint"]) == {NETWORK}
    mapped = certus.region(AURORA, "p3", region=["close"], resolution=2, steps=0).to_dataframe()
    assert {"close.lower", "close.upper", "verdict"} <= set(mapped.columns)
    assert certus.verify(NETWORK, "zoo/toy/below_five.vnnlib").to_dataframe().loc[0, "witness.Y_0"] == 7.0
    runs = certus.load(TOY).simulate(4, 3).to_dataframe()
    assert len(runs) == 4 and "below_five.verdict" in runs.columns
    bounds = certus.prob(CAR, "worst", steps=2).to_dataframe()
    assert bounds.loc[0, "probability.lower"] <= bounds.loc[0, "probability.upper"]


def test_systems_and_networks_are_pickled_with_their_files(tmp_path):
    folder = tmp_path / "toy"
    folder.mkdir()
    for name in ["toy.certus", "toy.onnx"]:
        (folder / name).write_bytes(pathlib.Path("zoo/toy", name).read_bytes())
    system = certus.load(folder / "toy.certus", set={"push": 0.25})
    network = certus.Network(folder / "toy.onnx")
    assert network == certus.Network(NETWORK) and hash(network) == hash(certus.Network(NETWORK))
    assert network != certus.Network("zoo/pendulum/pendulum.onnx") and network != 3
    kept = pickle.dumps((system, network))
    same, still = pickle.loads(kept)
    assert same == system and same.path == system.path and still == network and still.path == network.path
    assert same != certus.load(folder / "toy.certus") and hash(same) == hash(system) and "push = 0.25" in repr(same)
    for name in ["toy.certus", "toy.onnx"]:
        (folder / name).unlink()
    moved, other = pickle.loads(kept)
    assert moved == system and moved.path != system.path and other == network
    assert other([1.0, 1.0]) == [7.0] and moved.params["push"].value == 0.25
    assert certus.check(moved, "below_ten").holds
    replaced = certus.load("zoo/lanekeeping/lanekeeping.certus", networks={"a": "zoo/docking/docking.onnx"})
    assert pickle.loads(pickle.dumps(replaced)) == replaced != certus.load("zoo/lanekeeping/lanekeeping.certus")


def test_progress_is_told_in_words():
    told = []
    certus.simulate("zoo/pendulum/pendulum.certus", runs=3000, steps=300, progress=told.append)
    assert all("text" in own and own["of"] == 3000 for own in told)
