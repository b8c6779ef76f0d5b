"""Mining measured: DBSCAN beside scikit-learn, ten million rows, and the same statistics from DuckDB.

    cargo build --release --workspace --examples
    python bench/mining.py [ROWS]

Needs numpy, scikit-learn, duckdb and pyarrow. Everything is made here; nothing is downloaded.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "target/release"

CONFIG = """
name = "rows"
inputs = 4

[output]
column = "decided"
labels = ["a", "b", "c", "d", "e", "f"]

[[feature]]
columns = "x_{{1..4}}"
inputs = "0..3"
mined = 4

[[reference]]
name = "first"
train = "{first}"

[[reference]]
name = "second"
train = "{second}"

[mine]
parts = 100
representation = 0.01
most_outputs = 5
"""


def observations(rows, seed):
    """Four features that gather around a few places, and a decision that depends on them: as logs do."""
    random = np.random.default_rng(seed)
    places = np.array([[0.3, 0.2, 0.2, 0.2], [0.5, 0.3, 0.25, 0.3], [0.2, 0.5, 0.5, 0.5]])
    which = random.choice(3, rows, p=[0.5, 0.3, 0.2])
    x = places[which] + random.normal(0, 1, (rows, 4)) * [0.02, 0.03, 0.03, 0.03] + random.exponential(0.01, (rows, 4))
    x = np.clip(x, 0, 2)
    wish = 6 * (x[:, 0] + 0.3 - 0.4 * x[:, 1] - 0.2 * x[:, 2]) + random.normal(0, 0.05 + 0.05 * seed, rows)
    return x, np.clip(wish, 0, 5).astype(int)


def write_tables(folder, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = []
    for seed, name in enumerate(["first", "second"]):
        x, decided = observations(rows // 2, seed)
        labels = np.array(list("abcdef"))[decided]
        table = pa.table({**{f"x_{i + 1}": x[:, i] for i in range(4)}, "decided": labels})
        path = Path(folder) / f"{name}.parquet"
        pq.write_table(table, path, compression="snappy")
        names.append(path)
    return names


def measured(command):
    """Output, seconds, and the greatest memory of a command in MB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return text, time.perf_counter() - started, usage.ru_maxrss / 1024


def clustering():
    from sklearn.cluster import DBSCAN

    print("| points | radius | least | clusters | scikit-learn, s | certus, s | ratio | same |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    x, _ = observations(400_000, 0)
    for parts, radius, least in [(30, 1, 20), (50, 1, 20), (60, 2, 60), (80, 2, 100)]:
        cells = np.unique(np.minimum((x / x.max(axis=0) * parts).astype(int), parts - 1), axis=0)
        np.random.default_rng(1).shuffle(cells)
        started = time.perf_counter()
        expected = DBSCAN(eps=radius, min_samples=least, metric="chebyshev", n_jobs=1).fit_predict(cells)
        theirs = time.perf_counter() - started
        with tempfile.TemporaryDirectory() as folder:
            points = Path(folder) / "points.csv"
            np.savetxt(points, cells, fmt="%d", delimiter=",")
            command = [RELEASE / "examples/cluster", points, str(radius), str(least), "1"]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        ours, labels = float(printed[0]), np.array(printed[1:], dtype=int)
        same = bool((labels == expected).all())
        clusters = expected.max() + 1
        print(f"| {len(cells)} | {radius} | {least} | {clusters} | {theirs:.3f} | {ours:.3f} | {theirs / ours:.1f} | {same} |")
        assert same


def many_rows(rows):
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        first, second = write_tables(folder, rows)
        config = Path(folder) / "rows.toml"
        config.write_text(CONFIG.format(first=first.name, second=second.name))
        certus = RELEASE / "certus"
        text, seconds, memory = measured([certus, "mine", config, "--json"])
        own = json.loads(text)
        mined = own["mined"]
        print(f"\n{rows} rows, Parquet: {seconds:.1f} s, {memory:.0f} MB; {mined['interesting']} interesting bins, "
              f"{len(own['specifications'])} specifications")
        sql = subprocess.run([certus, "mine", config, "--emit-sql", "duckdb"], capture_output=True, text=True, check=True)
        statement = sql.stdout.split(";")[0]
        stats = Path(folder) / "stats.parquet"
        started = time.perf_counter()
        duckdb.sql(f"COPY ({statement}) TO '{stats}' (FORMAT parquet)")
        database = time.perf_counter() - started
        text, rest, _ = measured([certus, "mine", config, "--regions", stats, "--json"])
        other = json.loads(text)
        same = other["mined"] == mined and [own_without(s) for s in other["specifications"]] == [
            own_without(s) for s in own["specifications"]
        ]
        print(f"DuckDB {duckdb.__version__}: {database:.1f} s for the statistics, {rest:.1f} s from there; identical: {same}")
        assert same
        # The same as text.
        csv = [Path(folder) / "first.csv", Path(folder) / "second.csv"]
        for parquet, path in zip([first, second], csv):
            duckdb.sql(f"COPY (SELECT * FROM read_parquet('{parquet}')) TO '{path}' (HEADER)")
        config.write_text(CONFIG.format(first=csv[0].name, second=csv[1].name))
        text, seconds, memory = measured([certus, "mine", config, "--json"])
        size = sum(path.stat().st_size for path in csv) / 1e6
        print(f"{rows} rows, CSV of {size:.0f} MB: {seconds:.1f} s, {memory:.0f} MB; "
              f"identical: {json.loads(text)['specifications'] == own['specifications']}")


def own_without(specification):
    return {key: value for key, value in specification.items() if key != "quality"}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    clustering()
    many_rows(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
