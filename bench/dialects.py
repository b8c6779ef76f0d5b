"""The statistics of mining in the SQL of Spark and Trino, read by sqlglot and run by DuckDB: the same rows as DuckDB's own.

    cargo build --release -p certus
    python bench/dialects.py

Needs duckdb and sqlglot. No Spark and no Trino is run here: sqlglot reads each statement in its dialect and writes it for
DuckDB, so what is checked is that it is valid there and what it means by sqlglot's understanding.
"""

import subprocess
import tempfile
from pathlib import Path

import duckdb
import sqlglot

ROOT = Path(__file__).resolve().parent.parent
CERTUS = ROOT / "target/release/certus"
MINING = ROOT / "docs/mining"

TABLES = {"buffer-based": "logs.buffer_based", "mpc": "logs.mpc"}


def statements(config, dialect):
    printed = subprocess.run([CERTUS, "mine", config, "--emit-sql", dialect], capture_output=True, text=True, check=True)
    return printed.stdout


def rows(connection, statement):
    # Columns in the order of their names: dialects may quote, but not order, them differently.
    result = connection.sql(statement)
    order = ", ".join(f'"{name}"' for name in sorted(result.columns))
    return sorted(connection.sql(f"SELECT {order} FROM ({statement})").fetchall(), key=repr)


with tempfile.TemporaryDirectory() as folder:
    text = (MINING / "video.toml").read_text()
    for stem, table in TABLES.items():
        text = text.replace(f'train = "{stem}.csv"', f'train = "{MINING / stem}.csv"\ntable = "{table}"')
    config = Path(folder) / "video.toml"
    config.write_text(text)
    connection = duckdb.connect()
    connection.sql("CREATE SCHEMA logs")
    for stem, table in TABLES.items():
        # As texts, which is how the statements must be able to take columns.
        connection.sql(f"CREATE TABLE {table} AS SELECT * FROM read_csv('{MINING / stem}.csv', all_varchar = true)")
    expected = [rows(connection, own) for own in statements(config, "duckdb").split(";") if own.strip()]
    for dialect in ["spark", "trino"]:
        translated = sqlglot.transpile(statements(config, dialect), read=dialect, write="duckdb",
                                       error_level=sqlglot.ErrorLevel.RAISE)
        found = [rows(connection, own) for own in translated if own.strip()]
        assert len(found) == len(expected) == 2, dialect
        assert found == expected, dialect
        print(f"{dialect}: {len(found[0])} groups and {len(found[1])} counts, identical (sqlglot {sqlglot.__version__})")
