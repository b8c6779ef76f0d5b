"""Systems, simulation and networks."""

import csv
import io

import numpy as np
import pytest

import certus


def test_a_system_describes_itself():
    system = certus.load("zoo/pendulum/pendulum.certus", set={"mass": 1.3})
    assert system.name == "pendulum" and system.params["mass"].value == 1.3
    assert list(system.states) == ["eta", "omega"] and system.state_names == ["eta", "omega"]
    assert system.policies["a"].networks == ["pendulum.onnx"] and system.networks == ["pendulum.onnx"]
    assert system.has_reward and "upright" in system.properties and system.dt == 0.01
    ball = certus.load("zoo/ball/ball.certus")
    assert ball.actions["act"].labels == ["wait", "hit"] and ball.actions["act"].is_random
    assert certus.load("zoo/aurora/aurora.certus").state_names[0] == "lat_grad[0]"


def test_simulation_is_that_of_the_command_line(certus_command):
    told = certus_command("simulate", "zoo/ball/ball.certus", "--runs", 4, "--steps", 12, "--seed", 3, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(told.stdout)))
    system = certus.load("zoo/ball/ball.certus")
    simulation = system.simulate(4, 12, 3)
    assert simulation.states.shape == (4, 13, 2) and simulation.rewards.shape == (4, 12)
    for row in rows:
        run, step = int(row["run"]), int(row["step"])
        assert simulation.states[run, step].tolist() == [float(row["p"]), float(row["v"])]
        assert system.actions["act"].labels[simulation.actions[run, step, 0]] == row["act"]
        if step < simulation.lengths[run]:
            assert simulation.rewards[run, step] == float(row["reward"])


def test_verdicts_margins_and_ends():
    system = certus.load("zoo/toy/toy.certus")
    simulation = system.simulate(200, 50, 7, record=False)
    assert (simulation.verdicts["below_five"] == "violated").sum() == 95
    assert len(simulation.violations("below_five")) == 95
    assert simulation.margins["below_five"].argmin() == 105 and simulation.broken_at["below_five"][105] == 3
    assert set(simulation.ends) == {"completed"} and simulation.states is None and simulation.total_rewards is None
    again = system.simulate(3, 50, 7, first_run=105)
    assert again.runs.tolist() == [105, 106, 107] and again.broken_at["below_five"][0] == 3
    for threads in [1, 3]:
        same = system.simulate(200, 50, 7, record=False, threads=threads)
        np.testing.assert_array_equal(same.margins["below_five"], simulation.margins["below_five"])


def test_runs_that_end_early_are_padded(tmp_path):
    (tmp_path / "s.certus").write_text(
        "system s\nstate x in [0, 3]\nnext x = x + 1\ninit x in [0, 1]\nreward x\nproperty p = G x < 9\n"
    )
    simulation = certus.load(tmp_path / "s.certus").simulate(5, 6)
    assert set(simulation.ends) == {"left range"} and "outside of [0, 3]" in simulation.faults[0]
    assert (simulation.lengths <= 4).all() and np.isnan(simulation.states[0, -1]).all()
    assert np.isnan(simulation.rewards[0, -1])


def test_recording_too_much_is_refused():
    with pytest.raises(certus.SimulationError, match="would record 4805 GB"):
        certus.load("zoo/toy/toy.certus").simulate(10**8, 1000)


def test_falsify():
    system = certus.load("zoo/toy/toy.certus")
    found = system.falsify("below_five", runs=100, steps=20)
    assert found.states.shape == (found.step + 1, 2) and found.policies[-1, 0] >= 5
    assert system.falsify("below_ten", runs=100, steps=20) is None
    with pytest.raises(certus.CertusError, match="no property"):
        system.falsify("z")


def test_networks_can_be_replaced():
    system = certus.load("zoo/lanekeeping/lanekeeping.certus")
    other = system.replaced({"a": "zoo/docking/docking.onnx"})
    assert system.falsify("stays_in_lane", runs=100) is None
    assert other.falsify("stays_in_lane", runs=100) is not None
    same = certus.load("zoo/lanekeeping/lanekeeping.certus", networks={"lanekeeping.onnx": "zoo/docking/docking.onnx"})
    assert same.simulate(5).margins["stays_in_lane"].tolist() == other.simulate(5).margins["stays_in_lane"].tolist()
    with pytest.raises(certus.CertusError, match="has no policy, action or network 'b'"):
        system.replaced({"b": "zoo/docking/docking.onnx"})


def test_networks_agree_with_onnxruntime():
    import onnxruntime

    random = np.random.default_rng(0)
    for name in ["pendulum", "docking", "mountain_car", "pensieve"]:
        path = f"zoo/{name}/{name}.onnx"
        network = certus.Network(path)
        session = onnxruntime.InferenceSession(path)
        (entry,) = session.get_inputs()
        width = sum(int(np.prod(shape)) for _, shape in network.inputs)
        x = random.normal(size=(20, width)).astype(np.float32)
        single = network(x)
        assert single.dtype == np.float32 and network(x.astype(np.float64)).dtype == np.float64
        for row, own in zip(x, single):
            (expected,) = session.run(None, {entry.name: row.reshape([d if isinstance(d, int) else 1 for d in entry.shape])})
            np.testing.assert_allclose(own, expected.ravel(), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(network(x[0]), single[0])
    with pytest.raises(certus.NetworkError, match="takes 2 numbers"):
        certus.Network("zoo/toy/toy.onnx")(np.zeros((3, 5)))
