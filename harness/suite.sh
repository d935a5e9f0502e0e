#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs one suite for harness/run.sh, prints its line and adds it to $LOGS/tally.
#   sh harness/suite.sh NAME COMMAND...
# The environment: LOGS, the folder of logs; SUITE_SECONDS (1200), after which it is ended; RECHECK (1).
# A suite is a program. Its tally is read from its own closing lines (cmocka's, or "N passed, N failed"). A suite
# that exits with an error without saying so counts as one failure, and so does one that says nothing: a test
# that did not run has not passed.
# Many suites run switches, kernels and hosts against the clock on a machine that others use, too. One
# that failed is tried once more and says so (RECHECK=0: not): what is wrong in itself fails again. A crash,
# a sanitizer's report or a suite that did not end is never tried again.
set -u
name=$1
shift
log=$LOGS/$(echo "$name" | tr '/ ' '__').log

attempt() { # COMMAND..., into $log; sets status, p and f
    timeout "${SUITE_SECONDS:-1200}" "$@" >"$log" 2>&1 </dev/null
    status=$?
    # cmocka's group lines, or the plain closing line
    set -- $(awk '
        /^\[  PASSED  \] [0-9]+ test/ { p += $4 }
        /^\[  FAILED  \] [0-9]+ test/ { f += $4 }
        /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3 }
        END { print p + 0, f + 0 }' "$log")
    p=$1
    f=$2
    if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    if [ $status -eq 0 ] && [ "$p" -eq 0 ] && [ "$f" -eq 0 ]; then
        f=1
        echo "no test was run" >>"$log"
    fi
}

may_be_time() { # of $log and $status: the clock may be what failed
    # 124: it did not end; above: signals
    [ $status -lt 124 ] && ! grep -q 'Sanitizer\|runtime error:\|no test was run' "$log"
}

start=$(date +%s)
attempt "$@"
verdict=ok
first=-
if [ "$f" -ne 0 ] && [ "${RECHECK:-1}" = 1 ] && may_be_time; then
    first=${log%.log}.first.log
    mv "$log" "$first"
    attempt "$@"
    verdict='ok at the second try'
fi
[ "$f" -eq 0 ] || verdict=FAILED
# The second line of times is what those took that the suite waited for, "0m1.23s 0m0.45s"; in a pipe it would be
# that of the pipe's own process.
times >"$log.times"
busy=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += t[1] * 60 + t[2] } printf "%d", s }' \
    "$log.times")
rm -f "$log.times"
printf '%-52s %6d passed %4d failed %4ds %4d cpu  %s\n' "$name" "$p" "$f" $(($(date +%s) - start)) \
    "$busy" "$verdict"
echo "$p $f $log $first" >>"$LOGS/tally" # one short write: whole, whoever else adds to it
exit 0
