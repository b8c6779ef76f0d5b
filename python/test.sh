#!/usr/bin/env bash
# Builds the package into a virtual environment and runs its tests: python/test.sh [VENV] [arguments of pytest…]
set -euo pipefail
cd "$(dirname "$0")"

venv=${TMPDIR:-/tmp}/certus-python
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  venv=$1
  shift
fi
./environment.sh "$venv"
VIRTUAL_ENV=$(cd "$venv" && pwd) "$venv/bin/maturin" develop --quiet
exec "$venv/bin/python" -m pytest "$@"
