"""Certificates of reachability proofs: how many are written, how large they are, what writing and auditing cost.

    python bench/reach_certificates.py --program target/release/certus [--networks DATA] [--zoo] [--timeout 60] [--only b1_relu …]

With `--networks`, the benchmarks of `bench/reachability.py` with their public networks; with `--zoo`, every property of the zoo. Each is checked by
`--engine reach`, first without and then with a certificate, which is audited. CPU seconds are those of the process and its threads.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import reachability

ROOT = Path(__file__).resolve().parent.parent


def timed(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tasks(own, folder):
    if own.networks:
        for kind in ["reachnn", "arch"]:
            link = folder / kind
            if not link.exists():
                os.symlink((own.networks / kind).resolve(), link)
        for name, text in list(reachability.reachnn()) + list(reachability.arch()):
            (folder / f"{name}.certus").write_text(text)
            yield name, folder / f"{name}.certus", text.rsplit("property ", 1)[1].split(" ", 1)[0]
    if own.zoo:
        for path in sorted(ROOT.glob("zoo/*/*.certus")):
            done = subprocess.run([own.program, "inspect", path, "--json"], capture_output=True, text=True)
            for found in json.loads(done.stdout).get("properties", []) if done.returncode == 0 else []:
                yield f"{path.stem}.{found['name']}", path, found["name"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--networks", type=Path)
    arguments.add_argument("--zoo", action="store_true")
    arguments.add_argument("--timeout", type=float, default=60)
    arguments.add_argument("--only", nargs="*", default=[])
    own = arguments.parse_args()
    own.program = str(Path(own.program).resolve())
    folder = Path(tempfile.mkdtemp())
    certificate = folder / "own.certificate"
    proved = written = accepted = 0
    print(f"{'property':40} {'check':>8} {'write':>8} {'audit':>8} {'leaves':>7} {'bytes':>8}")
    for name, path, about in tasks(own, folder):
        if own.only and name not in own.only:
            continue
        check = [own.program, "check", path, about, "--engine", "reach", "--timeout", str(own.timeout), "--json", "-q"]
        done, checked = timed(check, folder)
        results = json.loads(done.stdout)["results"] if done.stdout.strip() else []
        if not results or results[0]["verdict"] != "holds":
            continue
        proved += 1
        certificate.unlink(missing_ok=True)
        done, both = timed([*check, "--certificate", certificate], folder)
        if not certificate.exists():
            print(f"{name:40} {checked:8.2f} not written after {both:.2f}: {(done.stderr or done.stdout).strip()[:160]}")
            continue
        written += 1
        audit, audited = timed([own.program, "audit", certificate, "--json", "-q"], folder)
        document = json.loads(audit.stdout)
        accepted += document["verdict"] == "accepted"
        size = certificate.stat().st_size
        print(f"{name:40} {checked:8.2f} {both - checked:8.2f} {audited:8.2f} {document.get('leaves', 0):7} {size:8}  {document['verdict']}")
        sys.stdout.flush()
    print(f"{proved} proved, {written} certificates written, {accepted} accepted")


if __name__ == "__main__":
    main()
