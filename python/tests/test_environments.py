"""Plants of known environments, compared with the environments themselves; tables of transitions as finite systems."""

import math
import re

import gymnasium
import numpy as np
import pytest

import certus
import certus.gym

#: By environment: the results of a network, and the largest differences of one step: of the state, the observation and the
#: reward. CartPole, MountainCar and Acrobot step in double precision, the others at least partly in single precision; all
#: show single precision, so an observation may be rounded to the neighbour.
KNOWN = {
    "CartPole-v1": (2, 1e-14, 1e-6, 0.0),
    "MountainCar-v0": (3, 1e-15, 1e-7, 0.0),
    "MountainCarContinuous-v0": (1, 2e-7, 2e-7, 1e-15),
    "Pendulum-v1": (1, 1e-7, 1e-6, 1e-9),
    "Acrobot-v1": (3, 1e-13, 4e-6, 0.0),
}


@pytest.fixture
def plant(tmp_path):
    def write(name):
        file = tmp_path / f"{name}.certus"
        outcome = certus.new(str(tmp_path / "policy.onnx"), env=name, output=str(file))
        assert any("does not exist yet" in text for text in outcome.messages)
        return file, {"policy.onnx": KNOWN[name][0]}

    return write


def towards_the_goal(name):
    """A policy whose episodes end as they should, where a random one's do not."""
    return {
        "MountainCar-v0": lambda seen: 2 if seen[1] >= 0 else 0,
        "MountainCarContinuous-v0": lambda seen: np.array([1.0 if seen[1] >= 0 else -1.0], np.float32),
        "Acrobot-v1": lambda seen: 2 if seen[5] >= 0 else 0,
    }.get(name)


@pytest.mark.parametrize("name", KNOWN)
def test_plants_are_those_of_gymnasium(plant, name):
    file, outputs = plant(name)
    _, state, observation, reward = KNOWN[name]
    for policy in filter(None, ["random", towards_the_goal(name)]):
        found = certus.gym.compare(
            file, gymnasium.make(name), episodes=5, seed=3, policy=None if policy == "random" else policy, outputs=outputs
        )
        print(name, found)
        assert found.agrees and found.ends == 0 and found.starts_outside == 0, found
        assert found.episodes == 5 and found.steps > 50
        assert found.state <= state and found.observation <= observation and found.reward <= reward, found
    if towards_the_goal(name) is not None:
        assert found.steps < 5 * 500, "the goal was reached, and both say so"


def test_a_plant_that_differs_is_found(plant):
    file, outputs = plant("MountainCar-v0")
    environment = gymnasium.make("MountainCar-v0")
    found = certus.gym.compare(file, environment, episodes=2, policy=lambda seen: 2, set={"engine": 0.002}, outputs=outputs)
    assert not found.agrees and found.first.step == 1 and found.first.what == "state"
    assert found.state == pytest.approx(0.001, rel=1e-6) and "state at step 1 of episode 0" in str(found)
    text = file.read_text()
    file.write_text(text.replace("p >= 0.5", "p >= 0.4"))
    found = certus.gym.compare(file, environment, policy=towards_the_goal("MountainCar-v0"), outputs=outputs)
    assert found.first.what == "termination" and found.ends == found.episodes
    file.write_text(text.replace("reward -1", "reward -2"))
    found = certus.gym.compare(file, environment, episodes=1, outputs=outputs)
    assert found.first.what == "reward" and found.reward == 1 and found.state < 1e-12
    file.write_text(text.replace("p in [-0.6, -0.4]", "p in [0, 0.1]"))
    assert certus.gym.compare(file, environment, episodes=1, outputs=outputs).starts_outside == 1
    # A range that is too narrow.
    file.write_text(text.replace("state p in [-1.2, 0.6]", "state p in [-1.2, 0]"))
    found = certus.gym.compare(file, environment, episodes=1, policy=towards_the_goal("MountainCar-v0"), outputs=outputs)
    assert found.ends == 1 and found.first.what == "end" and "p" in found.first.system
    with pytest.raises(certus.CertusError, match="say with state="):
        certus.gym.compare(file, environment, state=lambda own: [0.0, 0.0, 0.0], outputs=outputs)


def test_differences_add_up_if_the_system_runs_on_by_itself(plant):
    file, outputs = plant("MountainCarContinuous-v0")
    environment = gymnasium.make("MountainCarContinuous-v0")
    each = certus.gym.compare(file, environment, episodes=1, outputs=outputs)
    alone = certus.gym.compare(file, environment, episodes=1, outputs=outputs, follow=True, tolerance=1e-2)
    assert each.state < alone.state < 1e-3


TABLES = [("FrozenLake-v1", {}), ("FrozenLake-v1", {"is_slippery": False}), ("CliffWalking-v1", {})]


def made(name, **options):
    return gymnasium.make(name, **options)


def taxi(**options):
    """Taxi, in whichever version there is."""
    newest = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))
    return gymnasium.make(newest, **options)


def environments():
    yield from (made(name, **options) for name, options in TABLES)
    yield taxi()
    if "is_rainy" in taxi().unwrapped.__init__.__code__.co_varnames:
        yield taxi(is_rainy=True)


def expected(table, state, action):
    sums = {}
    for probability, target, _, _ in table[state][action]:
        sums[target] = sums.get(target, 0.0) + probability
    return {target: share for target, share in sums.items() if share > 0}


def test_transitions_of_files_are_those_of_tables():
    for environment in environments():
        table, found = environment.unwrapped.P, certus.gym.finite(environment)
        commands = re.findall(r"\[action_(\d+)\] s=(\d+) -> (.*);", found.prism())
        assert len(commands) == (found.states - len(found.ended)) * found.actions
        for action, state, updates in commands:
            shares = {}
            for update in updates.split(" + "):
                share, target = re.fullmatch(r"(.*) : \(s'=(\d+)\)", update).groups()
                shares[int(target)] = eval(share)
            wanted = expected(table, int(state), int(action))
            assert shares.keys() == wanted.keys()
            assert all(abs(shares[target] - wanted[target]) < 1e-15 for target in wanted)


def value(table, found, steps):
    """The largest probability of a goal within some steps, from the best start state, by value iteration."""
    values = np.array([float(state in found.goals) for state in range(found.states)])
    for _ in range(steps):
        values = np.array([
            values[s]
            if s in found.ended
            else max(sum(p * values[t] for p, t, _, _ in table[s][a]) for a in range(found.actions))
            for s in range(found.states)
        ])
    return max(values[s] for s in found.starts)


def test_models_have_the_values_of_tables(tmp_path):
    for environment in environments():
        table, found = environment.unwrapped.P, certus.gym.finite(environment)
        file = tmp_path / "model.prism"
        found.write(file)
        outcome = certus.mdp(str(file), 'Pmax=? [ F<=12 "goal" ]')
        assert outcome.probability["upper"] == pytest.approx(value(table, found, 12), abs=1e-9), found


def test_certus_files_step_as_the_tables_say(tmp_path):
    for environment in environments():
        table, found = environment.unwrapped.P, certus.gym.finite(environment)
        file = tmp_path / "model.certus"
        found.write(file, network="none.onnx")
        copies = certus.gym.make_vec(file, 48, outputs={"none.onnx": found.actions})
        copies._copies.start_states.extend([[found.starts[0]]] * 48)
        copies.reset(seed=1)
        random = np.random.default_rng(2)
        going_on = [state for state in range(found.states) if state not in found.ended]
        for state in random.choice(going_on, min(len(going_on), 16), replace=False):
            for action in range(found.actions):
                # Twice as many: a copy that ended begins again.
                copies._copies.start_states.extend([[state]] * 96)
                observations, _ = copies.reset()
                assert (observations.argmax(1) == state).all() and (observations.sum(1) == 1).all()
                _, rewards, terminated, _, infos = copies.step(np.full(48, action))
                shown = [
                    infos["final_obs"][copy] if terminated[copy] else np.eye(found.states)[int(copies.states[copy, 0])]
                    for copy in range(48)
                ]
                copies._copies.start_states.clear()
                targets = {int(np.argmax(own)) for own in shown}
                assert targets == set(expected(table, state, action)), (found, state, action)
                possible = {(t, float(r), bool(d)) for p, t, r, d in table[state][action] if p > 0}
                seen = {(int(np.argmax(o)), float(r), bool(t)) for o, r, t in zip(shown, rewards, terminated)}
                assert seen <= possible, (found, state, action)


def test_policies_are_checked_and_certified(tmp_path):
    lake = certus.gym.finite(made("FrozenLake-v1", is_slippery=False))
    # Down, down, right, down, right, right: the dry way.
    table = [1, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 2, 2, 0]
    file = tmp_path / "lake.certus"
    lake.write(file, policy=table)
    assert [own.verdict for own in certus.check(str(file), engine="explicit")] == ["holds", "holds"]
    assert certus.fmt(str(file)).document is not None
    lake.write(file, policy=[0] * 16)
    assert certus.check(str(file), "reaches_goal", engine="explicit")[0].verdict == "violated"
    chain = tmp_path / "lake.prism"
    slippery = certus.gym.finite(made("FrozenLake-v1"))
    slippery.write(chain, policy=table)
    assert 0 < certus.mdp(str(chain), 'Pmax=? [ F "goal" ]').probability["upper"] < 0.2
    with pytest.raises(certus.CertusError, match="a list of 16 actions from 0 to 3"):
        lake.certus(policy=[4] * 16)
    with pytest.raises(certus.CertusError, match="no network"):
        lake.write(chain, network="policy.onnx")
    with pytest.raises(certus.CertusError, match="no table of transitions"):
        certus.gym.finite(gymnasium.make("CartPole-v1"))


def test_probabilities_that_do_not_fit_are_cut(tmp_path):
    class Odd(gymnasium.Env):
        observation_space, action_space = gymnasium.spaces.Discrete(3), gymnasium.spaces.Discrete(2)
        initial_state_distrib = [1.0, 0.0, 0.0]
        P = {
            0: {0: [(0.25, 1, 0.0, False), (0.75, 2, 1.0, True)], 1: [(1 / 3, 0, -1.0, False), (2 / 3, 1, 0.0, False)]},
            1: {0: [(1.0, 0, 0.0, False)], 1: [(0.1, 2, 1.0, True), (0.9, 1, 0.0, False)]},
            2: {0: [(1.0, 2, 0.0, True)], 1: [(1.0, 2, 0.0, True)]},
        }

    found = certus.gym.finite(Odd())
    text = found.certus()
    chances = re.search(r"chance what of \{(.*?)\}", text, re.DOTALL).group(1)
    shares = [eval(own.split(":")[1]) for own in chances.split(",") if own.strip()]
    assert len(shares) == 4 and math.isclose(sum(shares), 1.0, abs_tol=1e-15)
    for state in (0, 1):
        for action in (0, 1):
            sums = {}
            arms = re.search(rf"next s = match act \{{(.*)\}}\n\ninit", text, re.DOTALL).group(1)
            arm = re.search(rf"action_{action}: (match what \{{ .*? \}})", arms).group(1)
            for place, column in re.findall(r"outcome_(\d+): (sum\(\[.*?\] \* at\)|\d+)", arm):
                entries = re.search(r"\[(.*?)\]", column)
                target = int(entries.group(1).split(",")[state]) if entries else int(column)
                sums[target] = sums.get(target, 0.0) + shares[int(place)]
            wanted = expected(Odd.P, state, action)
            assert sums.keys() == wanted.keys()
            assert all(abs(sums[target] - wanted[target]) < 1e-15 for target in wanted)
    Odd.P[1][0] = [(1.0, 2, 0.0, False)]
    with pytest.raises(certus.CertusError, match="may end in state 2 or go on"):
        certus.gym.finite(Odd())
    Odd.P[1][0] = [(0.5, 0, 0.0, False)]
    with pytest.raises(certus.CertusError, match="action 0 in state 1 sum to 0.5"):
        certus.gym.finite(Odd())
