"""How the trained policies of the zoo are made.

    python -m zoo.train --list
    python -m zoo.train --all
    python -m zoo.train pendulum aurora

What is there and matches its record in the folder's `training.json` is skipped. Needs the Python package of this
repository, `stable-baselines3` and `onnx`.
"""
