#!/usr/bin/env bash
# Builds the package into a virtual environment and runs its tests: python/test.sh [VENV] [arguments of pytest…]
set -euo pipefail
cd "$(dirname "$0")"

venv=${TMPDIR:-/tmp}/certus-python
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  venv=$1
  shift
fi
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
needed="maturin gymnasium stable_baselines3 onnx onnxruntime pandas pytest"
for module in $needed; do
  if ! "$venv/bin/python" -c "import $module" 2>/dev/null; then
    "$venv/bin/pip" install --quiet 'maturin>=1.7,<2' 'gymnasium>=1.0' 'stable-baselines3>=2.4' 'onnx>=1.14' onnxruntime pandas pytest
    break
  fi
done
VIRTUAL_ENV=$(cd "$venv" && pwd) "$venv/bin/maturin" develop --release --quiet
exec "$venv/bin/python" -m pytest "$@"
