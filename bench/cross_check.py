"""Compares Certus with onnxruntime on every network below some folders.

    python bench/cross_check.py [--points N] [--radius R] DIR|FILE…

The example `cross_check` of certus-graph evaluates each network in float32 at random points of [-R, R]; onnxruntime
evaluates the same points here. For each element the difference is divided by the larger of onnxruntime's own value
and that output's scale, the largest magnitude that onnxruntime gives for the output over all points: float32 sums are
accurate relative to the size of their terms, not of a result that happens to cancel. The strict column divides by
the value itself wherever that is above a thousandth of the scale. Exits with 1 if a network fails to load or a
difference is above the limit (1e-5).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

LIMIT = 1e-5
ROOT = pathlib.Path(__file__).resolve().parent.parent


def reference(path, values, points):
    """What onnxruntime computes for the points, one array [points, elements] per output."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds, start = {}, 0
    for info in session.get_inputs():
        shape = [extent if isinstance(extent, int) and extent > 0 else 1 for extent in info.shape]
        size = int(np.prod(shape)) * points
        feeds[info.name] = values[start:start + size].reshape(points, *shape)
        start += size
    if start != len(values):
        raise ValueError(f"the inputs have {start // points} elements, Certus has {len(values) // points}")
    results = [session.run(None, {name: feed[point] for name, feed in feeds.items()}) for point in range(points)]
    return [np.stack([np.ravel(r[k]).astype(np.float32) for r in results]) for k in range(len(results[0]))]


def differences(found, expected, points):
    """The largest difference: relative to max(value, scale), and to max(value, scale / 1000)."""
    worst, strict, start = 0.0, 0.0, 0
    for output in expected:
        ours = found[start:start + output.size].reshape(points, -1).astype(np.float64)
        start += output.size
        if ours.shape != output.shape or not np.array_equal(np.isnan(ours), np.isnan(output)):
            return np.inf, np.inf
        output = output.astype(np.float64)
        scale = np.abs(output).max(initial=0.0) or 1.0
        gap = np.abs(ours - output)
        worst = max(worst, (gap / np.maximum(np.abs(output), scale)).max())
        strict = max(strict, (gap / np.maximum(np.abs(output), 1e-3 * scale)).max())
    return (worst, strict) if start == len(found) else (np.inf, np.inf)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--radius", type=float, default=1.0)
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    paths = [str(pathlib.Path(path).resolve()) for path in arguments.paths]
    with tempfile.TemporaryDirectory() as exchange:
        command = ["cargo", "run", "--quiet", "-p", "certus-graph", "--release", "--example", "cross_check", "--"]
        subprocess.run(command + [exchange, str(arguments.points), str(arguments.radius)] + paths, cwd=ROOT, check=True)
        rows, failed = [], 0
        for line in (pathlib.Path(exchange) / "index.tsv").read_text().splitlines():
            number, status, path, milliseconds = line.split("\t")
            if status != "ok":
                print(f"{path}: {status}")
                failed += 1
                continue
            load = lambda kind: np.fromfile(f"{exchange}/{number}.{kind}", dtype="<f4")
            expected = reference(path, load("inputs"), arguments.points)
            rows.append((*differences(load("outputs"), expected, arguments.points), float(milliseconds), path))
    rows.sort(reverse=True)
    print(f"{'difference':>11} {'strict':>9} {'import ms':>10}  network")
    for worst, strict, milliseconds, path in rows:
        print(f"{worst:11.2e} {strict:9.2e} {milliseconds:10.1f}  {path}")
    failed += sum(worst > LIMIT for worst, *_ in rows)
    print(f"{len(rows)} networks compared at {arguments.points} points; {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
