"""Fills fuzz/corpus with seeds: the golden ONNX models, the systems of the zoo and of the language's tests, the
specifications of the solver's tests, and the examples in the documentation of query files.

Networks that a system names are replaced by stubs whose name tells their size, which is all that the target knows of
networks. Needs onnx:  python fuzz/seed.py
"""

import base64
import json
import math
import pathlib
import re

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/certus-graph/tests/data"


def folder(name):
    path = ROOT / "fuzz/corpus" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def stub(base, match):
    """The name of a stub with the sizes of the network named, or the name as it is if there is no such file."""
    try:
        graph = onnx.load(base / match.group(1), load_external_data=False).graph
    except Exception:
        return match.group(0)
    sizes = [sum(math.prod(max(1, dim.dim_value) for dim in port.type.tensor_type.shape.dim) for port in ports)
             for ports in ([p for p in graph.input if p.name not in {i.name for i in graph.initializer}], graph.output)]
    return f'"{sizes[0]}x{sizes[1]}.onnx"'


models = folder("onnx")
for case in json.loads((DATA / "onnx_ops/cases.json").read_text()):
    (models / case["name"]).write_bytes(base64.b64decode(case["model"]))
for path in [*DATA.glob("onnx_exports/*.onnx"), *DATA.glob("regressions/*")]:
    (models / path.name).write_bytes(path.read_bytes())

texts = folder("language")
systems = [*ROOT.glob("zoo/*/*.certus"), *ROOT.glob("crates/certus-lang/tests/**/*.certus")]
# The huge ones run into the bounds on work on purpose; a fuzzer's time is better spent on small files.
for path in (path for path in systems if not path.name.startswith("huge")):
    text = re.sub(r'"([^"\n]*\.(?:onnx|nnet))"', lambda match: stub(path.parent, match), path.read_text())
    (texts / path.name).write_text(text)
specifications = folder("vnnlib")
for path in ROOT.glob("crates/certus-solver/tests/**/*.vnnlib"):
    (specifications / path.name).write_bytes(path.read_bytes())
queries = folder("query")
for source, target in [("vnnlib/networks/mod.rs", specifications / "networks"), ("file/mod.rs", queries / "example")]:
    lines = (ROOT / "crates/certus-solver/src" / source).read_text().splitlines()
    start, end = [index for index, line in enumerate(lines) if line.startswith("//! ```")][:2]
    target.write_text("\n".join(line[4:] for line in lines[start + 1:end]) + "\n")
print(f"{len(list(models.iterdir()))} models, {len(list(texts.iterdir()))} systems")
