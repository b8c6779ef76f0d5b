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


#: What a result says, beside the time it took.
TOLD = [name for name in certus.Checked.__annotations__ if name not in ("seconds", "provenance", "document")] + ["converges"]


#: Whether `y` stays in its range takes more than intervals of its parts.
MAYBE = (
    "system maybe\nstate x in [0, 1]\nstate y in [0, 1]\nnext x = x\nnext y = x * x - 2 * x * y + y * y\n"
    "init x == 0.5\nproperty stays = G x <= 0.6\n"
)


def test_every_verdict_is_that_of_the_document(certus_command, tmp_path):
    path = tmp_path / "verdicts.certus"
    path.write_text(
        "system verdicts\nstate x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(x + u, 0, 5)\ninit x == 0\n"
        "property always = G x <= 5\nproperty soon = G<=2 x <= 2\nproperty reaches = F x > 4\n"
        "property empty = G (x > 6 -> x < 0)\nproperty hard = G (x <= 4.5 | sin(x) <= 1)\n"
    )
    leaves = tmp_path / "leaves.certus"
    leaves.write_text("system leaves\nstate x in [0, 10]\nnext x = x + 0.1\ninit x == 0\nproperty far = F x > 100\n")
    maybe = tmp_path / "maybe.certus"
    maybe.write_text(MAYBE)
    seen = set()
    asked = [
        (path, [], {}),
        (path, ["--engine", "bmc", "-k", "3"], {"engine": "bmc", "steps": 3}),
        (leaves, [], {}),
        (maybe, ["--assume-no-model-errors"], {"assume_no_model_errors": True}),
    ]
    for file, flags, arguments in asked:
        document = json.loads(certus_command("check", file, *flags, "--json", "--timeout", "60").stdout)
        mine = certus.check(file, timeout=60, **arguments)
        assert [own.property for own in mine] == [theirs["property"] for theirs in document["results"]]
        for own, theirs in zip(mine, document["results"]):
            told = {"converges": False, **theirs}
            for grid in filter(None, [own.grid, theirs.get("grid")]):
                grid.pop("seconds", None)
            assert {name: getattr(own, name) for name in TOLD} == {name: told.get(name) for name in TOLD}
            assert own.provenance == document["provenance"]
            seen.add((own.verdict, next(iter(own.scope)) if isinstance(own.scope, dict) else own.scope, bool(own.vacuous)))
    assert {("holds", "unbounded", False), ("holds", "horizon", False), ("holds", "bounded", False)} <= seen
    assert {("holds", "unbounded", True), ("violated", "bounded", False), ("model error", "bounded", False)} <= seen


def test_what_could_not_be_excluded_is_named(tmp_path):
    path = tmp_path / "maybe.certus"
    path.write_text(MAYBE)
    (left,) = certus.check(path, timeout=3)
    assert (left.verdict, left.holds_if) == ("unknown", ["y stays in its declared range"])
    (taken,) = certus.check(path, assume_no_model_errors=True)
    assert taken.verdict == "holds" and any("was assumed, not shown" in note for note in taken.notes)


def test_proofs_for_all_time_come_with_certificates(tmp_path):
    path = tmp_path / "toy.cert"
    (result,) = certus.check(TOY, "below_ten", engine="induction", certificate=path)
    assert (result.verdict, result.scope, result.engine) == ("holds", "unbounded", "induction")
    assert result.proof == {"for_all_time": [{"induction": {"depth": 0, "different": False, "invariant": []}}]}
    assert certus.audit(path).verdict == "accepted"
    with pytest.raises(certus.CertusError, match="there are auto, explicit, falsify, convergence, reach, bmc, induction"):
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
