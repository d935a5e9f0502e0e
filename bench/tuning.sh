#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the numbers of compiler/plan/tuning.h: builds this tree anew with another one and runs the benchmarks by
# turns with it (bench/turns.py). Ratios below 1: the number that we have is faster.
#   sh bench/tuning.sh NAME=VALUE...     PLAN_MIN_USES=6 PLAN_MAX_PATHS=1
#   ROUNDS (5), SECONDS_EACH (1), KEYS (all four)
# Minutes for the first one, since a second tree is built below build/tuning; half a minute and the turns for each other.
set -eu
tree=build/tuning
header=compiler/plan/tuning.h
[ $# -gt 0 ] || { sed -n 's/^#   //p' "$0"; exit 2; }
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p "$tree"
git ls-files -z | xargs -0 cp -p --parents -u -t "$tree"
for change; do
    name=${change%%=*}
    grep -q "^#define $name " "$header" || { echo "tuning.sh: $header has no $name" >&2; exit 2; }
    sed "s/^\(#define $name  *\)[0-9]*/\1${change#*=}/" "$header" >"$tree/$header"
    make -s -C "$tree" build/bench/benchmark >"$tree/make.log" 2>&1 || { tail "$tree/make.log" >&2; exit 1; }
    echo "$change"
    # shellcheck disable=SC2086 # words
    /usr/bin/python3 bench/turns.py "$tree/build" "${ROUNDS:-5}" "${SECONDS_EACH:-1}" ${KEYS:-} | sed 's/^/    /'
done
