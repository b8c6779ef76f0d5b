"""Model checking: the same outcomes as on the command line."""

import json

import pytest

import certus

TOY = "zoo/toy/toy.certus"


def test_check_says_what_the_command_line_says(certus_command):
    told = json.loads(certus_command("check", TOY, "-k", "3", "--json").stdout)["results"]
    found = certus.check(TOY, steps=3)
    assert [result.verdict for result in found] == ["holds", "violated", "violated"]
    for mine, theirs in zip(found, told):
        assert (mine.property, mine.verdict, mine.scope, mine.loop) == tuple(theirs[k] for k in ("property", "verdict", "scope", "loop"))
        assert mine.trace == theirs["trace"]
    assert found[1].states == [{"v1": 1.0, "v2": 1.0}]


def test_proofs_for_all_time_come_with_certificates(tmp_path):
    path = tmp_path / "toy.cert"
    (result,) = certus.check(TOY, "below_ten", engine="induction", certificate=path)
    assert (result.verdict, result.scope, result.engine) == ("holds", "unbounded", "induction")
    assert result.proof == {"for_all_time": [{"induction": {"depth": 0, "different": False, "invariant": []}}]}
    assert certus.audit(path).verdict == "accepted"
    with pytest.raises(certus.CertusError, match="there are auto, bmc, induction"):
        certus.check(TOY, engine="magic")


def test_check_names_what_is_wrong():
    with pytest.raises(certus.CertusError, match="did you mean 'below_ten'"):
        certus.check(TOY, "below_tne")
    (result,) = certus.check("zoo/ball/ball.certus", "worst", engine="bmc")
    assert result.verdict == "unknown" and "probability" in result.reason


def test_probabilities_are_bounded():
    worst, rarely = certus.check("zoo/pendulum_softmax/pendulum_softmax.certus", "worst", "rarely_falls")
    assert (worst.verdict, rarely.verdict, rarely.engine) == ("bounded", "holds", "imdp")
    assert 0 <= worst.probability["lower"] <= worst.probability["upper"] <= 0.06
    assert set(worst.start) == {"theta", "omega"}
