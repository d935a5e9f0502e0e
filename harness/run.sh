#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs every test that has been built and prints one closing line, "N passed, N failed".
#   BUILD   the build folder (default build); its asan variant is run too unless QUICK=1
#   ONLY    a word: only suites whose name contains it
# A suite is a program. Its tally is read from its own closing lines (cmocka's, or "N passed,
# N failed"); a suite that exits with an error without saying so counts as one failure, and so does
# one that says nothing: a test that did not run has not passed. Logs are in $BUILD/test-logs.
# Many suites run switches, kernels and hosts against the clock on a machine that others use, too. One
# that failed is tried once more and says so (RECHECK=0: not): what is wrong in itself fails again. A crash,
# a sanitizer's report or a suite that did not end is never tried again.
set -u
BUILD=${BUILD:-build}
PYTHON=${PYTHON:-/usr/bin/python3}
logs=$BUILD/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0
failed=0
failures=
first_tries=

# A cache of its own: tests do not depend on what an earlier run compiled for somebody else.
SILKEN_CACHE=$PWD/$BUILD/test-cache
# The compiler looks whether its IR is whole after each pass (compiler/ir/verify.h).
SILKEN_VERIFY_IR=1
export SILKEN_CACHE BUILD SILKEN_VERIFY_IR
mkdir -p -m 700 "$SILKEN_CACHE"

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

suite() { # NAME COMMAND...
    name=$1
    shift
    case "$name" in *"${ONLY:-}"*) ;; *) return 0 ;; esac
    log=$logs/$(echo "$name" | tr '/ ' '__').log
    start=$(date +%s)
    attempt "$@"
    verdict=ok
    if [ "$f" -ne 0 ] && [ "${RECHECK:-1}" = 1 ] && may_be_time; then
        mv "$log" "${log%.log}.first.log"
        first_tries="$first_tries ${log%.log}.first.log"
        attempt "$@"
        verdict='ok at the second try'
    fi
    passed=$((passed + p))
    failed=$((failed + f))
    if [ "$f" -ne 0 ]; then
        verdict=FAILED
        failures="$failures $log"
    fi
    printf '%-52s %6d passed %4d failed %4ds  %s\n' "$name" "$p" "$f" \
        $(($(date +%s) - start)) "$verdict"
}

variants=$BUILD
[ "${QUICK:-0}" = 1 ] || variants="$BUILD build/asan"
for v in $variants; do
    label=
    [ "$v" = build/asan ] && label=' (asan, ubsan)'
    for s in $(find harness -name 'test_*.c' | sort); do
        t=$v/${s%.c}
        [ -x "$t" ] || continue
        # what a program of the normal build takes its time for is not repeated ten times slower
        VARIANT=${label:+asan} suite "${t#"$v"/harness/}$label" env VARIANT=${label:+asan} "$t"
    done
    for dir in harness/stf harness/stf/*/; do
        for s in "$dir"/*.stf; do
            [ -f "$s" ] || continue
            program=$(sed -n 's/^# *program: *//p' "$s" | head -n 1)
            suite "$(echo "$s" | tr -s /)$label" "$v/silken" test "$program" "$s"
            # what the checked build does with it must be the same
            [ -n "$label" ] ||
                suite "$(echo "$s" | tr -s /) (checked)" "$v/silken" test --checked "$program" "$s"
        done
    done
done
for t in $(find harness -name 'test_*.py' | sort); do
    suite "${t#harness/}" "$PYTHON" "$t"
done
for t in $(find harness -name 'test_*.sh' | sort); do
    suite "${t#harness/}" sh "$t"
done

for log in $first_tries; do
    printf '\n==== %s: tried again\n' "$log"
    tail -n 20 "$log"
done
for log in $failures; do
    printf '\n==== %s\n' "$log"
    tail -n 40 "$log"
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
