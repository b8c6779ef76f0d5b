#!/usr/bin/env bash
# Property tests with seeds that nobody has tried: see fuzz/README.md. Arguments go to `cargo test`.
set -euo pipefail
cd "$(dirname "$0")/.."
for round in $(seq "${ROUNDS:-1}"); do
    # A given seed is that of the first round.
    seed=${SEED:+$((SEED + round - 1))}
    seed=${seed:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
    export PROPTEST_RNG_SEED=$seed
    if [[ -n ${CASES-} ]]; then export PROPTEST_CASES=$CASES; fi
    echo "round $round: PROPTEST_RNG_SEED=$seed${CASES:+ PROPTEST_CASES=$CASES}"
    cargo test --no-fail-fast "${@:---workspace}" || { echo "found with PROPTEST_RNG_SEED=$seed"; exit 1; }
done
