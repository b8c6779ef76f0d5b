"""Specifications from references: the same outcomes as on the command line."""

import json

import pytest

import certus

CONFIG = "docs/mining/video.toml"
NETWORK = "zoo/pensieve/pensieve.onnx"


def test_mine_says_what_the_command_line_says(certus_command, tmp_path):
    told = json.loads(certus_command("mine", CONFIG, "--verify", NETWORK, "--attack", "--json").stdout)
    cache = tmp_path / "verdicts.json"
    mined = certus.mine(CONFIG, verify=NETWORK, attack=True, cache=cache)
    assert [own.sentence for own in mined.specifications] == [own["sentence"] for own in told["specifications"]]
    assert mined.mined == told["mined"] and mined.observations == told["observations"]
    assert mined.verdicts() == [result["verdict"] for result in told["networks"][0]["results"]]
    assert set(mined.verdicts()) == {"holds", "violated"}
    again = certus.mine(CONFIG, verify=[certus.Network(NETWORK)], attack=True, cache=cache)
    assert all(result["remembered"] for result in again.networks[0]["results"])
    for old, new in zip(mined.networks[0]["results"], again.networks[0]["results"]):
        assert old["attacks"] == new["attacks"] and not old["remembered"]


def test_observations_are_the_same_in_both_formats(tmp_path):
    found = []
    for ending in ["csv", "parquet"]:
        for name in ["buffer-based", "mpc"]:
            assert certus.observe("pensieve", name, "docs/mining/traces.txt", tmp_path / f"{name}.{ending}").rows == 666
        config = tmp_path / "video.toml"
        config.write_text(open(CONFIG).read().replace(".csv", f".{ending}"))
        found.append(certus.mine(config))
    assert found[0].specifications == found[1].specifications and len(found[0].specifications) == 3
    assert found[0].specifications[0].quality["robust MPC"]["rows"] == 666


def test_mistakes_are_errors(tmp_path):
    with pytest.raises(certus.CertusError, match="expected 'pensieve' or 'aurora'"):
        certus.observe("deeprm", "mpc", [], tmp_path / "t.csv")
    with pytest.raises(certus.CertusError, match="expected `buffer-based`"):
        certus.observe("pensieve", "cubic", [], tmp_path / "t.csv")
    with pytest.raises(certus.CertusError, match="missing.toml"):
        certus.mine(tmp_path / "missing.toml")
