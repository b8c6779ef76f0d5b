"""Questions about networks: the same outcomes as on the command line."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import certus

TOY = "zoo/toy/toy.onnx"


def test_verify_decides(tmp_path):
    certificate = tmp_path / "ten.certificate"
    outcome = certus.verify(TOY, "zoo/toy/below_ten.vnnlib", certificate=certificate)
    assert outcome.verdict == "unsat" and outcome.witness is None and outcome.certificate == str(certificate)
    assert certus.audit(certificate).verdict == "accepted"
    outcome = certus.verify(certus.Network(TOY), "zoo/toy/below_five.vnnlib")
    assert outcome.verdict == "sat" and outcome.witness == {"X_0": 1.0, "X_1": 1.0, "Y_0": 7.0}
    np.testing.assert_array_equal(outcome.inputs, [1.0, 1.0])
    np.testing.assert_array_equal(certus.Network(TOY)(outcome.inputs.astype(np.float32)), outcome.outputs)


def test_verify_says_what_the_command_line_says(certus_command):
    for specification in ["below_ten", "below_five"]:
        told = certus_command("verify", TOY, f"zoo/toy/{specification}.vnnlib", "--json")
        told = json.loads(told.stdout)
        outcome = certus.verify(TOY, f"zoo/toy/{specification}.vnnlib")
        for name in ["verdict", "witness", "reason", "cases", "verified", "open", "done", "bound"]:
            assert getattr(outcome, name) == told[name], name


def test_two_networks():
    outcome = certus.verify("zoo/toy/same_input.vnnlib", networks={"f": TOY, "g": TOY})
    assert outcome.verdict == "sat" and outcome.witness["Y"] == [7.0]


def test_a_timeout_is_an_outcome():
    outcome = certus.verify(TOY, "zoo/toy/below_ten.vnnlib", timeout=0)
    assert (outcome.verdict, outcome.reason) == ("timeout", "deadline")
    assert "out of time" in outcome.messages[0]


def test_optimise():
    best = certus.optimise(TOY, "zoo/toy/square.vnnlib", maximise="Y_0 - 0.5*X_0", gap=0.01)
    assert best.reached and best.lower <= 6.5 <= best.upper and best.upper - best.lower <= 0.0100001
    assert best.point == {"X_0": 1.0, "X_1": 1.0, "Y_0": 7.0}
    with pytest.raises(certus.CertusError, match="give exactly one of maximise and minimise"):
        certus.optimise(TOY, "zoo/toy/square.vnnlib")


def test_audit_rejects():
    found = certus.audit("zoo/toy/below_ten.certificate", specification="zoo/toy/below_five.vnnlib")
    assert found.verdict == "rejected" and "about another specification" in found.reason


@pytest.mark.parametrize(
    "call, command",
    [
        (lambda: certus.load("zoo/pendulum/pendulum.certus", set={"mas": 1}), ["simulate", "zoo/pendulum/pendulum.certus", "--set", "mas=1"]),
        (lambda: certus.load("no.certus"), ["simulate", "no.certus"]),
        (lambda: certus.verify(TOY, "no.vnnlib"), ["verify", TOY, "no.vnnlib"]),
        (lambda: certus.verify("no.onnx", "zoo/toy/below_ten.vnnlib"), ["verify", "no.onnx", "zoo/toy/below_ten.vnnlib"]),
        (lambda: certus.verify(TOY), ["verify", TOY]),
        (lambda: certus.Network("zoo/README.md"), ["inspect", "zoo/README.md"]),
        (lambda: certus.optimise(TOY, "zoo/toy/square.vnnlib", maximise="Z"), ["optimise", TOY, "zoo/toy/square.vnnlib", "--maximise", "Z"]),
        (lambda: certus.audit("no.certificate"), ["audit", "no.certificate"]),
        (
            lambda: certus.load("zoo/toy/toy.certus").simulate(inputs="adversary", property="below_tan"),
            ["simulate", "zoo/toy/toy.certus", "--inputs", "adversary", "--property", "below_tan"],
        ),
        (
            lambda: certus.load("zoo/ball/ball.certus").simulate(inputs="adversary"),
            ["simulate", "zoo/ball/ball.certus", "--inputs", "adversary"],
        ),
    ],
)
def test_errors_are_those_of_the_command_line(call, command, certus_command):
    with pytest.raises(certus.CertusError) as raised:
        call()
    told = certus_command(*command)
    assert told.returncode == 2
    message = str(raised.value)
    assert told.stderr.strip() in (message, f"error: {message}")


def hard(tmp_path):
    """A question that takes a while: a wide random network and a bound that is nearly reached."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(1)
    sizes, nodes, constants, last = [8, 80, 80, 1], [], [], "x"
    for layer, (n, m) in enumerate(zip(sizes, sizes[1:])):
        constants.append(numpy_helper.from_array(random.normal(0, 1.5 / n**0.5, (n, m)).astype(np.float32), f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"h{layer}"]))
        last = f"h{layer}"
        if m > 1:
            nodes.append(helper.make_node("Relu", [last], [f"r{layer}"]))
            last = f"r{layer}"
    graph = helper.make_graph(
        nodes,
        "hard",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [1, 1])],
        constants,
    )
    network = tmp_path / "hard.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, network)
    best = max(float(certus.Network(network)(random.uniform(-1, 1, (4096, 8)).astype(np.float32)).max()), 0.0)
    lines = [f"(declare-const X_{i} Real)" for i in range(8)] + ["(declare-const Y_0 Real)"]
    lines += [f"(assert (<= X_{i} 1.0))\n(assert (>= X_{i} -1.0))" for i in range(8)]
    lines.append(f"(assert (>= Y_0 {2.2 * best + 1:.3f}))")
    specification = tmp_path / "hard.vnnlib"
    specification.write_text("\n".join(lines) + "\n")
    return network, specification


def test_ctrl_c_interrupts_and_progress_is_told(tmp_path):
    network, specification = hard(tmp_path)
    told = []
    timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            certus.verify(network, specification, timeout=60, progress=told.append)
            pytest.skip("the question was decided before it could be interrupted")
    finally:
        timer.cancel()
    assert time.monotonic() - started < 10
    assert 1 <= len(told) <= 12 and {"verified", "open", "done", "text"} <= told[0].keys()


def test_an_exception_in_progress_stops_the_work():
    class Enough(Exception):
        pass

    def progress(_):
        raise Enough

    system = certus.load("zoo/pendulum/pendulum.certus")
    with pytest.raises(Enough):
        system.simulate(10_000_000, 1000, record=False, progress=progress)


def test_the_lock_is_released():
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=count)
    thread.start()
    certus.load("zoo/pendulum/pendulum.certus").simulate(2000, 500, record=False, threads=1, timeout=1.0)
    done.set()
    thread.join()
    assert len(ticks) > 3
