"""Every trained policy of the zoo: which system, which algorithm, which network, which seed, and how it is evaluated."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Dict, Optional, Tuple

from .networks import Branches, Convolved

#: Worlds: how they are in training, and how in evaluation. Trace seeds of the two do not meet.
TRAINING_TRACES = (("cellular", 200, 1000), ("broadband", 100, 5000))
EVALUATION_TRACES = (("cellular", 70, 1), ("broadband", 30, 1))


def traces(parts):
    """Traces of our own generators: (kind, count, first seed) each."""
    from certus.worlds import Traces

    made = None
    for kind, count, seed in parts:
        more = getattr(Traces, kind)(count, seed=seed)
        made = more if made is None else made + more
    return made


def platoon_program(cars, spring, damping):
    """Gains under which the lead keeps its speed and every gap is a damped spring: each car does what the one before it does,
    and more the wider and the faster its gap opens. Columns: the lead's speed, then each gap and how fast it opens."""
    rows = []
    for car in range(cars):
        before = [(spring, damping) if gap < car else (0.0, 0.0) for gap in range(cars - 1)]
        rows.append((-damping, *(number for pair in before for number in pair)))
    return tuple(rows)


@dataclass(frozen=True)
class Entry:
    """A policy."""

    #: Its file in the folder, without the ending.
    name: str
    folder: str
    algorithm: str
    hidden: Tuple[int, ...]
    activation: str
    steps: int
    #: Copies of the environment.
    envs: int
    #: Of the algorithm.
    options: Dict[str, Any] = field(default_factory=dict)
    #: Of the environment; see `environments.Adapted`.
    adapt: Dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    #: Steps after which an episode is cut in training.
    episode: int = 200
    #: Parameters in training that differ from the file's.
    set: Dict[str, float] = field(default_factory=dict)
    #: For a world: settings in training and in evaluation; the name of the world is the folder's.
    world: Optional[Dict[str, Any]] = None
    #: Steps of an evaluation run, and the properties that are counted.
    watch_steps: int = 1000
    properties: Tuple[str, ...] = ()
    checkpoints: int = 0
    #: From how many networks of the second half of training, besides the last, the best is kept.
    candidates: int = 6
    #: What the literature says of its own network, for the records.
    published: str = ""

    def spec(self):
        """A digest of all that training depends on."""
        told = asdict(self)
        for name in ("published", "watch_steps", "properties"):
            told.pop(name)
        text = json.dumps(told, sort_keys=True, default=lambda value: value.__name__)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def shield(name, *, noise, steps=16_000, hidden=(240, 200), watch=1000, final=0.1, episode=200, envs=16, floor=-5.0,
           failure=-30.0, reward=0.3, gamma=0.9, gradient=4, batch=128, critic=(100, 100), published="",
           properties=("stays_safe",), rate=1e-3, starts=1000, adapt=None, seed=1, **options):
    """A system of the paper on shields: TD3, ReLU, tanh times the bound at the end."""
    return Entry(
        name=name, folder=name, algorithm="td3", hidden=hidden, activation="relu", steps=steps, envs=envs, episode=episode,
        options={"noise": noise, "final": final, "gamma": gamma, "gradient_steps": gradient, "learning_rate": rate,
                 **({"learning_starts": starts} if starts else {}),
                 "batch_size": batch, "critic": critic, **options},
        adapt={"floor": floor, "failure": failure, "reward": reward, **(adapt or {})}, watch_steps=watch, properties=properties,
        published=published, seed=seed,
    )


def climber(name, hidden, *, pace, published):
    """A policy of the continuous mountain car. It begins with a linear feedback before the tanh, found by random search: to the left of
    its swing it pushes left, with the motion otherwise. An actor at the critic's rate unlearned to
    climb within 115 steps; at 0.03 of it, from some initial states, and no grid proved it in half a minute. Hence the small `pace`."""
    return Entry(
        name, "mountain_car_continuous", "td3", hidden, "sigmoid", 32_000, 16,
        {"noise": 0.1, "final": 1.0, "gamma": 0.99, "gradient_steps": 8, "learning_rate": 1e-3, "critic": (64, 64), "wait": 0.4,
         "pace": pace, "expert": ((-1.7, 150.0, -1.65),), "expert_box": ((-1.2, -0.07), (0.6, 0.07))},
        {"squashed": True, "scale": (0.5, 0.04), "reward": 0.1}, episode=200, watch_steps=115,
        properties=("climbs_cheaply", "climbs"), published=published,
    )


PPO = {"n_steps": 256, "batch_size": 512, "n_epochs": 8, "gae_lambda": 0.95, "gamma": 0.99, "learning_rate": 5e-4}
AURORA = {
    "n_steps": 400, "batch_size": 3200, "n_epochs": 8, "gamma": 0.99, "gae_lambda": 0.9, "learning_rate": 7e-4,
    "normal_reward": True,
}
PENSIEVE = {
    "n_steps": 94, "batch_size": 752, "n_epochs": 4, "gamma": 0.97, "learning_rate": 5e-4, "normal_reward": True,
    "entropy": (0.3, 0.003), "vf_coef": 0.25,
}

ENTRIES = [
    # First one of each kind.
    Entry("ball", "ball", "ppo", (32, 32), "relu", 400_000, 16, {**PPO, "gamma": 0.997, "entropy": (0.03, 0.002)},
          {"scale": (10, 10)}, episode=500, watch_steps=20,
          properties=("worst",), published="upper bound 0.0 to 0.63 on the probability of failing (large initial set)"),
    shield("pendulum", noise=0.1, gamma=0.99, floor=-2.0, failure=-250.0, reward=0.05, steps=24_000,
           adapt={"scale": (0.3, 0.3)}, published="60 failures in 1000 runs",
           properties=("upright", "segway", "within_half", "case_study")),
    Entry("aurora", "aurora", "ppo", (32, 16), "relu", 1_000_000, 32, AURORA, {}, world={}, checkpoints=6,
          published="no return published"),
    Entry("pensieve", "pensieve", "ppo", (128,), "relu", 600_000, 32, {**PENSIEVE, "extractor": Branches}, {},
          world={"traces": True}, checkpoints=6,
          published="44.34 (original actor), 39.59 (robust MPC), 30.04 (buffer-based) on Pensieve's own 142 test traces"),
    Entry("aurora_tanh", "aurora", "ppo", (32, 16), "tanh", 800_000, 32, AURORA, {}, world={}, checkpoints=6,
          published="no return published"),
    Entry("aurora_small", "aurora", "ppo", (16, 8), "relu", 800_000, 32, AURORA, {}, world={}, seed=3,
          published="no return published"),
    Entry("deeprm", "deeprm", "ppo", (20,), "relu", 900_000, 32,
          {"n_steps": 256, "batch_size": 1024, "n_epochs": 4, "gamma": 0.99, "learning_rate": 1e-3, "normal_reward": True,
           "entropy": (0.02, 0.001), "critic": (64,)}, {},
          world={"arrivals": 50}, checkpoints=6, published="no trained network is public"),
    Entry("stopping_car", "stopping_car", "ppo", (64, 64), "relu", 300_000, 16, PPO,
          {"scale": (8, 10), "failure": -5.0, "starts": ((0.0, 20.0), (60.0, 36.0), 0.5)}, episode=150, watch_steps=100,
          properties=("worst",), published="upper bound 0.031 to 0.62 on the probability of a crash within 7 steps"),
    Entry("pendulum_softmax", "pendulum_softmax", "ppo", (64, 64), "relu", 200_000, 16, {**PPO, "gamma": 0.97},
          {"starts": ((-0.25, -0.5), (0.25, 0.5), 0.5), "ends": -0.5, "failure": -20.0}, episode=100, watch_steps=100,
          properties=("worst",), published="upper bound 0.057 on the probability of falling within 6 steps"),
    Entry("mountain_car", "mountain_car", "dqn", (32, 32), "relu", 300_000, 16,
          {"learning_rate": 1e-3, "gamma": 0.99, "batch_size": 256, "train_freq": 1, "gradient_steps": 1,
           "target_update_interval": 200, "exploration_fraction": 0.3, "exploration_final_eps": 0.05,
           "learning_starts": 2000, "buffer_size": 200_000},
          {"scale": (0.5, 0.04), "reward": 0.05, "starts": ((-1.2, -0.07), (0.5, 0.07), 0.7)}, episode=200, watch_steps=1000,
          properties=("reaches_goal_200", "fast_at_bend"), published="both properties verified on one grid cell"),
    Entry("gym_pendulum", "gym_pendulum", "td3", (400, 300), "relu", 12_000, 4,
          {"noise": 0.1, "final": 1.0, "gamma": 0.99, "gradient_steps": 4, "batch_size": 128, "learning_starts": 400},
          {"scale": (1, 1, 8), "reward": 0.1}, episode=200, watch_steps=200,
          set={"theta0_low": -3.14159, "theta0_high": 3.14159, "omega0_low": -1.0, "omega0_high": 1.0},
          properties=("stays_up",), published="G |theta| < pi/2 verified from [0, 0.01) x [0, 0.01)"),
    # Systems of the paper on shields; the pendulum is above. Discounts follow how fast a plant settles.
    shield("satellite", noise=0.02, watch=500, episode=60, starts=0, published="0 failures in 1000 runs"),
    shield("dcmotor", noise=0.1, watch=500, episode=60, adapt={"bound": 0.02}, published="0 failures in 1000 runs"),
    shield("tape", noise=0.1, watch=500, episode=40, steps=12_000, published="0 failures in 1000 runs"),
    shield("magnetic_pointer", noise=0.05, watch=500, episode=60, floor=-30.0, failure=-150.0, reward=0.05,
           published="0 failures in 1000 runs"),
    shield("suspension", noise=0.1, watch=500, episode=40, adapt={"bound": 0.02}, published="0 failures in 1000 runs"),
    shield("biology", noise=0.02, gamma=0.99, floor=-400.0, failure=-1000.0, reward=0.005, episode=400,
           properties=("no_hyperglycaemia", "no_hypoglycaemia"), adapt={"scale": (2, 1, 10)},
           published="0 failures in 1000 runs"),
    shield("cooling", noise=0.1, watch=500, gamma=0.93, floor=-12.0, failure=-100.0, reward=0.1, episode=100,
           steps=20_000, adapt={"scale": (2, 2, 2)}, published="0 failures in 1000 runs"),
    shield("quadcopter", noise=0.008, watch=500, episode=60, steps=24_000, adapt={"scale": (0.5, 0.5)},
           published="182 failures in 1000 runs"),
    # TD3 does not learn this one in the time that the others take.
    Entry("cartpole", "cartpole", "ppo", (240, 200), "relu", 600_000, 64,
          {"n_steps": 128, "batch_size": 1024, "n_epochs": 8, "gae_lambda": 0.95, "gamma": 0.99, "learning_rate": 5e-4,
           "critic": (64, 64)},
          {"floor": -5.0, "failure": -50.0, "reward": 0.2, "scale": (0.1, 0.2, 0.1, 0.2)}, episode=400, watch_steps=1000,
          properties=("stays_safe", "paper_limits"), published="47 failures in 1000 runs"),
    shield("selfdriving", noise=0.05, gamma=0.97, floor=-20.0, failure=-60.0, reward=0.2,
           published="61 failures in 1000 runs", properties=("stays_on_road", "heading_in_domain")),
    shield("lanekeeping", noise=0.1, gamma=0.98, failure=-100.0, reward=0.1, steps=32_000,
           adapt={"scale": (0.3, 0.5, 0.05, 0.5)}, published="36 failures in 1000 runs",
           properties=("stays_in_lane",)),
    shield("platoon4", noise=0.03, gamma=0.97, failure=-60.0, episode=100, watch=500, steps=40_000,
           adapt={"scale": (0.3, 0.2, 0.2, 0.2, 0.3, 0.2, 0.3)},
           published="8 failures in 1000 runs"),
    # Nor this one, fifteen states and eight actions, from nothing: it begins with a linear program.
    Entry("platoon8", "platoon8", "td3", (400, 300, 200), "relu", 4_000, 16,
          {"noise": 0.02, "final": 1.0, "gamma": 0.98, "batch_size": 256, "learning_rate": 3e-6,
           "critic": (128, 128), "expert": platoon_program(8, 1.0, 2.0)},
          {"floor": -20.0, "failure": -100.0, "reward": 0.2, "scale": (0.5, *[0.3, 0.5] * 7)}, episode=400,
          watch_steps=1000, properties=("stays_safe",), published="40 failures in 1000 runs"),
    shield("oscillator", noise=0.1, episode=600, gamma=0.995, floor=-20.0, failure=-100.0, steps=96_000, envs=64,
           published="371 failures in 1000 runs", properties=("stays_below",),
           adapt={"scale": (0.2, 0.2, *[0.05] * 16), "bound": 1.0,
                  "starts": ((-0.3, -0.3, *[-0.05] * 16), (0.3, 0.3, *[0.12] * 15, 0.045), 0.7)}),
    # Model checking and reachability.
    Entry("platoon4_gaps", "platoon4_gaps", "td3", (400, 300), "relu", 28_000, 16,
          {"noise": 0.05, "final": 0.1, "gamma": 0.97, "gradient_steps": 4, "batch_size": 128, "learning_starts": 1000},
          {"floor": -5.0, "failure": -60.0, "reward": 0.5, "scale": [0.1] * 7, "bound": 2.0}, set={"cell": 0.1},
          episode=100, watch_steps=500,
          properties=("never_touch",), published="verified from [0, 0.01)^7"),
    # The one above switches between its limits, which no grid of that many dimensions survives. This one begins with a linear program that
    # stops the opening of a gap in one step and closes it in some. Observations are metres and metres per second over three, so
    # that a cell of a hundredth is small beside what a neuron tells apart.
    Entry("platoon4_gaps_steady", "platoon4_gaps", "td3", (400, 300), "relu", 1_000, 16,
          {"noise": 0.02, "final": 1.0, "gamma": 0.97, "batch_size": 128, "learning_rate": 3e-7,
           "critic": (128, 128), "expert": platoon_program(4, 6.0, 10.0)},
          {"floor": -5.0, "failure": -60.0, "reward": 0.5, "scale": (3.0,) * 7}, set={"cell": 0.1},
          episode=100, watch_steps=500, candidates=1,
          properties=("never_touch",), published="verified from [0, 0.01)^7"),
    Entry("tora", "tora", "td3", (20, 20, 20), "relu", 32_000, 16,
          {"noise": 0.05, "final": 0.2, "gamma": 0.95, "gradient_steps": 2}, {"hold": 4, "reward": 0.1, "floor": -100.0},
          episode=80, watch_steps=80, properties=("safe_20s", "stays_safe"), published="no violation within 24 steps"),
    Entry("b1", "b1", "td3", (20, 20), "tanh", 40_000, 16,
          {"noise": 0.1, "final": 0.5, "gamma": 0.97, "gradient_steps": 2}, {"squashed": True}, episode=35, watch_steps=35,
          properties=("at_goal_at_end", "reaches_goal", "avoids_obstacle"), published="reach verified in 389 s"),
    Entry("b1_100", "b1", "td3", (100, 100), "tanh", 40_000, 16,
          {"noise": 0.1, "final": 0.5, "gamma": 0.97, "gradient_steps": 2}, {"squashed": True}, episode=35, watch_steps=35,
          properties=("at_goal_at_end", "reaches_goal", "avoids_obstacle"), published="reach verified in 401 s"),
    Entry("b2", "b2", "td3", (20, 20), "sigmoid", 48_000, 16,
          {"noise": 0.1, "final": 1.0, "gamma": 0.98, "gradient_steps": 2, "learning_rate": 2e-3, "learning_starts": 2000},
          {"squashed": True, "scale": (0.4, 0.4)}, episode=30, watch_steps=30,
          properties=("at_goal_after_7", "at_goal_after_9", "reaches_goal"), published="reach verified in 91 s"),
    Entry("b2_100", "b2", "td3", (100, 100), "sigmoid", 64_000, 16,
          {"noise": 0.1, "final": 1.0, "gamma": 0.98, "gradient_steps": 2, "learning_rate": 1e-3, "learning_starts": 2000},
          {"squashed": True, "scale": (0.4, 0.4)}, episode=30, watch_steps=30,
          properties=("at_goal_after_7", "at_goal_after_9", "reaches_goal"), published="reach verified in 96 s", seed=2),
    climber("mountain_car_continuous", (16, 16), pace=4e-3, published="checked in 2567 s"),
    climber("mountain_car_continuous_200", (200, 200), pace=7e-4, published="checked in 2574 s"),
    Entry("pensieve_mid", "pensieve", "ppo", (128,), "relu", 300_000, 32, {**PENSIEVE, "extractor": Convolved}, {},
          world={"traces": True}, published="39.86 (NN4Sys mid) on Pensieve's own 142 test traces"),
    # Networked loops of our own.
    Entry("autoscaler", "autoscaler", "ppo", (10,), "relu", 240_000, 16,
          {**PPO, "gamma": 0.96, "entropy": (0.03, 0.0005), "learning_rate": 2e-3, "critic": (32, 32)},
          {"scale": (4, 2, 2, 1, 1), "reward": 0.05}, episode=100, watch_steps=200, candidates=4,
          properties=("no_rejection", "drains")),
    Entry("load_balancer", "load_balancer", "ppo", (10,), "relu", 160_000, 16,
          {**PPO, "gamma": 0.9, "entropy": (0.03, 0.0005), "learning_rate": 2e-3, "critic": (32, 32)},
          {"scale": (3, 3), "reward": 0.05}, episode=30, watch_steps=100, candidates=4,
          properties=("no_overflow", "balances")),
]


def by_name():
    return {entry.name: entry for entry in ENTRIES}
