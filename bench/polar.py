"""POLAR's benchmark programs: which of them asks what a benchmark of ours asks, and how long it takes.

The programs are POLAR's own (github.com/ChaoHuang2018/POLAR_Tool, built with its Makefiles), and so are their arguments: orders, step sizes and
the pieces of the initial set are tuned for each benchmark in its scripts and sources. Of what is compared, TORA with ReLU and tanh starts from a smaller
set than ours, and the disturbance of the unicycle is constant within a period. The programs for the other benchmarks ask something else: docking from
another corner, both pendulums from a single point, ACC with tanh from a smaller set towards another goal, TORA with sigmoid under another scale.
"""

import math
import os
import pty
import re
import resource
import signal
import subprocess
import time
from functools import partial

# Benchmark: folder and command, as in the folder's `run.sh` where there is one.
PROGRAMS = {
    "b1_relu": ("examples/benchmark1", "reachnn_benchmark_1 0.05 35 3 3 1 relu"),
    "b1_tanh": ("examples/benchmark1", "reachnn_benchmark_1 0.05 35 3 4 1 tanh"),
    "b2_relu": ("examples/benchmark2", "reachnn_benchmark_2 0.1 10 3 3 1 relu 0.1"),
    "b2_tanh": ("examples/benchmark2", "b2_tanh"),
    "b3_relu": ("examples/benchmark3", "reachnn_benchmark_3 0.05 60 3 4 1 relu 0.05"),
    "b3_tanh": ("examples/benchmark3", "reachnn_benchmark_3 0.05 60 3 4 1 tanh 0.05"),
    "b4_relu": ("examples/benchmark4", "reachnn_benchmark_4 0.01 10 2 2 1 relu"),
    "b4_tanh": ("examples/benchmark4", "reachnn_benchmark_4 0.01 10 2 2 1 tanh"),
    "b5_relu": ("examples/benchmark5", "reachnn_benchmark_5 0.01 10 2 2 1 relu"),
    "b5_tanh": ("examples/benchmark5", "reachnn_benchmark_5 0.01 10 2 3 1 tanh"),
    "b6_relu": ("examples/benchmark6", "reachnn_benchmark_6 0.01 10 2 2 1 relu"),
    "b6_tanh": ("examples/benchmark6", "reachnn_benchmark_6 0.01 10 2 2 1 tanh"),
    "acc_relu": ("ARCH-COMP22/ACC", "nncs_acc"),
    "tora_relu": ("ARCH-COMP22/Sherlock-B9", "reachnn_benchmark_6"),
    "tora_relu_tanh": ("ARCH-COMP22/TORA-Hetero", "TORA_Hetero"),
    "unicycle_varying": ("ARCH-COMP22/Sherlock-B10", "B10"),
    "quadrotor": ("ARCH-COMP22/QUAD", "quad20"),
}
# CPU seconds of the run in bench/README.md, for those who have no build.
KNOWN = {
    "b1_relu": 0.087, "b1_tanh": 2.08, "b2_relu": 0.024, "b2_tanh": 1.69, "b3_relu": 0.67, "b3_tanh": 4.14, "b4_relu": 0.027, "b4_tanh": 0.109,
    "b5_relu": 1.48, "b5_tanh": 3.31, "b6_relu": 0.087, "b6_tanh": 0.57, "acc_relu": 0.199, "tora_relu_tanh": 0.069, "unicycle_varying": 2.99,
}  # fmt: skip
# The first line of its output that matches ends the computation. Some programs compute the sets and leave the property to whoever looks at them.
ANSWERS = [
    (r"Verification result: Yes|The target (set )?is reachable", "yes"),
    (r"Verification result: No|The target (set )?is NOT reachable", "no"),
    (r"Terminated due to too large overestimation|Cannot complete", "gave up"),
    (r"time cost", "sets only"),
]
FINISHED = ("yes", "no", "sets only")


def spent(process):
    """CPU seconds of a running process and all its threads, from the clock that Linux keeps for each process."""
    return time.clock_gettime((~process.pid << 3) | 2)


def answered(process, lines):
    """The answer and the CPU seconds up to it; no answer if the program ends before."""
    try:
        for line in lines:
            for pattern, answer in ANSWERS:
                if re.search(pattern, line):
                    return answer, spent(process)
    except OSError:
        pass  # the end of a terminal is an error on Linux
    return None, None


def run(folder, name, limit):
    """POLAR's answer and CPU seconds up to it, without the pictures that it draws then; nothing if there is no program for that.

    The program runs at a terminal of its own, so that its lines arrive when they are written.
    """
    place, command = PROGRAMS.get(name, (None, None))
    if place is None:
        return None
    place = (folder / place).resolve()
    program, *words = command.split()
    if not os.access(place / program, os.X_OK):
        return None
    ours, its = pty.openpty()
    bounded = partial(resource.setrlimit, resource.RLIMIT_CPU, (limit, limit))
    process = subprocess.Popen([place / program, *words], cwd=place, stdout=its, stderr=subprocess.DEVNULL, preexec_fn=bounded)
    os.close(its)
    with os.fdopen(ours, errors="replace") as lines:
        answer, seconds = answered(process, lines)
        if answer:
            process.kill()
    process.wait()
    if answer:
        return answer, seconds
    return ("stopped", float(limit)) if process.returncode == -signal.SIGKILL else ("failed", math.inf)
