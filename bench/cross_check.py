"""Compares Certus with onnxruntime on every network below some folders.

    python bench/cross_check.py [--points N] [--radius R] DIR|FILE…

The example `cross_check` of certus-graph evaluates each network in float32 at random points of [-R, R]; onnxruntime
evaluates the same points here. A difference is relative to the output's scale, the largest magnitude that onnxruntime
gives for that output over all points, or to the value where that is larger: float32 sums are accurate relative to the
size of their terms, not of a result that happens to cancel. The columns `strict` divide by the value itself down to a
thousandth of the scale; there the two runtimes differ by their rounding, so beside it stands how far each of them is
from the same network in float64. Exits with 1 if a network does not load or a difference is above the limit (1e-5).
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


def gap(found, expected, floor):
    """The largest difference relative to the expected value, or to `floor` times its output's scale where that is more."""
    worst = 0.0
    for ours, theirs in zip(found, expected):
        if ours.shape != theirs.shape or not np.array_equal(np.isnan(ours), np.isnan(theirs)):
            return np.inf
        scale = np.nanmax(np.abs(theirs), initial=0.0) or 1.0
        relative = np.abs(ours - theirs) / np.maximum(np.abs(theirs), floor * scale)
        worst = max(worst, np.nanmax(relative, initial=0.0))
    return worst


def split(flat, like, points):
    """A flat list of outputs in the shapes of others; one entry more if something is left over."""
    ends = np.cumsum([output.size for output in like])
    parts = np.split(flat.astype(np.float64), ends)
    return [part.reshape(points, -1) for part in (parts if parts[-1].size else parts[:-1])]


def compare(exchange, number, path, points):
    """The row of a network: difference, strict difference, and both runtimes' strict difference from float64."""
    load = lambda kind, dtype: np.fromfile(f"{exchange}/{number}.{kind}", dtype=dtype)
    theirs = [output.astype(np.float64) for output in reference(path, load("inputs", "<f4"), points)]
    ours = split(load("outputs", "<f4"), theirs, points)
    exact = split(load("exact", "<f8"), theirs, points)
    if len(ours) != len(theirs):
        return (np.inf,) * 4
    return gap(ours, theirs, 1.0), gap(ours, theirs, 1e-3), gap(ours, exact, 1e-3), gap(theirs, exact, 1e-3)


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
            rows.append((*compare(exchange, number, path, arguments.points), float(milliseconds), path))
    rows.sort(reverse=True)
    print(f"{'difference':>11} {'strict':>9} {'Certus/f64':>11} {'ORT/f64':>9} {'import ms':>10}  network")
    for worst, strict, ours, theirs, milliseconds, path in rows:
        print(f"{worst:11.2e} {strict:9.2e} {ours:11.2e} {theirs:9.2e} {milliseconds:10.1f}  {path}")
    failed += sum(worst > LIMIT for worst, *_ in rows)
    print(f"{len(rows)} networks compared at {arguments.points} points; {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
