#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Random faults in simulated networks: every scenario sim/scenarios/$SCENARIOS with many seeds. Prints
# what came of each, and "N passed, N failed": seeds with the right outcome, and seeds without.
#   SCENARIOS       a pattern (default *-faults.json; of jobs that begin again: *-sessions*.json)
#   SEEDS           so many in all, dealt out over the scenarios (default 20000)
#   SECONDS_TO_RUN  instead: new seeds until so many seconds have passed
#   FROM            the first seed (default 1; with SECONDS_TO_RUN the time of day, so every night has others)
#   JOBS            processes (default 2)
set -u
BUILD=${BUILD:-build}
jobs=${JOBS:-2}
seconds=${SECONDS_TO_RUN:-0}
scenarios=$(ls sim/scenarios/${SCENARIOS:-*-faults.json})
n=$(echo "$scenarios" | wc -l)
passed=0
failed=0

run() { # SCENARIO FIRST LAST
    log=$("$BUILD/silken" sim "$1" --seeds "$2..$3" --jobs "$jobs" 2>&1)
    status=$?
    line=$(echo "$log" | tail -n 1)
    set -- $(echo "$line" | sed -n \
        's/.*seeds: \([0-9]*\) with all sums, \([0-9]*\) failed as allowed, \([0-9]*\) violated.*/\1 \2 \3/p')
    if [ $# -ne 3 ]; then
        failed=$((failed + 1))
        echo "$log" | tail -n 40
        return
    fi
    passed=$((passed + $1 + $2))
    failed=$((failed + $3))
    [ $status -eq 0 ] || echo "$log" | sed '$d'
    echo "$line"
}

start=$(date +%s)
if [ "$seconds" -gt 0 ]; then
    from=${FROM:-$start}
    while [ $(($(date +%s) - start)) -lt "$seconds" ] && [ "$failed" -eq 0 ]; do
        for s in $scenarios; do run "$s" "$from" $((from + 999)); done
        from=$((from + 1000))
    done
else
    from=${FROM:-1}
    each=$(((${SEEDS:-20000} + n - 1) / n))
    for s in $scenarios; do run "$s" "$from" $((from + each - 1)); done
fi
echo "$passed passed, $failed failed in $(($(date +%s) - start)) seconds"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
