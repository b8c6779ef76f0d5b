"""What a shield costs beside the network that it guards: exported C against the network, on one thread.

    python bench/shield_overhead.py [--certus target/release/certus] [--system cartpole] [--degree 4]

Makes a shield with a polynomial invariant, exports it as C, compiles it with `cc -O2`, and times it over states of the domain
and actions within their limits. The network's time is that of Certus's own evaluation of one state, and the interpreter's time is
what `certus shield run` pays. Prints nanoseconds and ratios.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

DRIVER = r"""
#define _POSIX_C_SOURCE 199309L
#include "guard.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define CASES 4096
static double states[CASES][GUARD_STATES], actions[CASES][GUARD_ACTIONS];
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "r");
    guard_monitor monitor;
    struct timespec begin, end;
    double best = 1e30, sum = 0.0;
    int i, j, round;
    (void)argc;
    if (file == NULL) return 1;
    for (i = 0; i < CASES; i++) {
        for (j = 0; j < GUARD_STATES; j++) if (fscanf(file, "%lf", &states[i][j]) != 1) return 1;
        for (j = 0; j < GUARD_ACTIONS; j++) if (fscanf(file, "%lf", &actions[i][j]) != 1) return 1;
    }
    for (round = 0; round < 200; round++) {
        double nanoseconds;
        guard_start(&monitor);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (i = 0; i < CASES; i++) {
            double own[GUARD_ACTIONS];
            for (j = 0; j < GUARD_ACTIONS; j++) own[j] = actions[i][j];
            sum += guard_decide(&monitor, states[i], own, NULL) + own[0];
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        nanoseconds = (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec);
        if (nanoseconds / CASES < best) best = nanoseconds / CASES;
    }
    printf("%.3f %g\n", best, sum);
    return 0;
}
"""


def call(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr or done.stdout)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--certus", default="target/release/certus")
    parser.add_argument("--system", default="cartpole")
    parser.add_argument("--degree", type=int, default=4)
    options = parser.parse_args()
    system = pathlib.Path(__file__).resolve().parent.parent / "zoo" / options.system / f"{options.system}.certus"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shield = folder / "shield.json"
        made = json.loads(call([options.certus, "shield", system, "--invariant", "polynomial", "--degree", options.degree,
                                "--json", "--quiet", "-o", shield]))
        call([options.certus, "shield", "export", shield, "--lang", "c", "-o", folder / "guard"])
        (folder / "driver.c").write_text(DRIVER)
        call(["cc", "-std=c99", "-O2", "-o", folder / "driver", folder / "driver.c", folder / "guard.c"])
        # Initial states, where the network's actions mostly pass: what a monitor does nearly always.
        run = json.loads(call([options.certus, "shield", "run", shield, "--runs", 64, "--steps", 100, "--threads", 1,
                               "--json", "--quiet"]))
        import random

        draw = random.Random(0)
        domain = json.loads(shield.read_text())["domain"]
        actions = len(json.loads(shield.read_text())["branches"][0]["program"])
        lines = [" ".join(f"{draw.uniform(0.1 * low, 0.1 * high):.17g}" for low, high in domain) + " "
                 + " ".join("0" for _ in range(actions)) for _ in range(4096)]
        (folder / "cases.txt").write_text("\n".join(lines))
        exported = float(call([folder / "driver", folder / "cases.txt"]).split()[0])
    network, interpreter = run["network_nanoseconds"], run["monitor_nanoseconds"]
    print(f"{options.system}, {'; '.join(branch['invariant'] for branch in made['branches'])}, one thread")
    print(f"  network      {network:10.0f} ns")
    print(f"  exported C   {exported:10.1f} ns  {100 * exported / network:.2f} %")
    print(f"  interpreter  {interpreter:10.0f} ns  {100 * interpreter / network:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
