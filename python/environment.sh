#!/usr/bin/env bash
# A virtual environment with what the tests of the Python package need: python/environment.sh VENV
set -euo pipefail

venv=$1
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
for module in maturin gymnasium stable_baselines3 onnx onnxruntime pandas pytest; do
  if ! "$venv/bin/python" -c "import $module" 2>/dev/null; then
    "$venv/bin/pip" install --quiet 'maturin>=1.7,<2' 'gymnasium>=1.0' 'stable-baselines3>=2.4' 'onnx>=1.14' onnxruntime pandas pytest
    break
  fi
done
