#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs every test that has been built and prints one closing line, "N passed, N failed".
#   BUILD   the build folder (default build); its asan and tsan variants are run too unless QUICK=1
#   ONLY    a word: only suites whose name contains it
#   JOBS    suites at a time (default: as many as there are processors) of those that measure no time; beside
#           those that do, they run when nobody else wants the processor
# Logs are in $BUILD/test-logs. What becomes of one suite is in suite.sh.
set -u
BUILD=${BUILD:-build}
PYTHON=${PYTHON:-/usr/bin/python3}
LOGS=$BUILD/test-logs
rm -rf "$LOGS"
mkdir -p "$LOGS"
: >"$LOGS/tally"

# A cache of its own: tests do not depend on what an earlier run compiled for somebody else.
SILKEN_CACHE=$PWD/$BUILD/test-cache
# The compiler looks whether its IR is whole after each pass (compiler/ir/verify.h).
SILKEN_VERIFY_IR=1
# Freed memory is kept from being used again until there are 32 MB of it; with 256, the default, test_jobs_state of
# control/tor has 4 % more page faults, and 440 MB in place of 167.
ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=32}
TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1}
export SILKEN_CACHE BUILD SILKEN_VERIFY_IR LOGS ASAN_OPTIONS TSAN_OPTIONS
unset MAKEFLAGS MFLAGS MAKELEVEL # a suite that runs make does not take part in this one's jobs
mkdir -p -m 700 "$SILKEN_CACHE"

# Suites that may run beside each other: nothing in them waits for another process, a kernel or the clock.
is_parallel() { # NAME
    case "$1" in
    compiler/test_pipes*) false ;; # by the clock
    base/* | stages/* | wire/* | session/* | compiler/* | interp/* | conformance/* | sim/* | harness/stf/* | \
        hosts/switchml/* | hosts/atp/* | hosts/libra/* | hosts/core/* | rooms/* | control/schema/* | pcap/explain/* | \
        pcap/replay/* | pcap/record/test_recorded* | replay/* | scapy/*) true ;;
    *) false ;;
    esac
}

# Of those, the ones that take minutes: they begin first, or one of them would end long after all others.
is_long() { # NAME
    case "$1" in
    replay/test_captures* | replay/test_mutants* | interp/* | compiler/test_generated* | compiler/test_bounds* | \
        hosts/switchml/test_p4*) true ;;
    *) false ;;
    esac
}

# Of the others, the ones that wait for most of their time, in networks or sockets of their own: one of them runs
# beside each of the rest.
is_patient() { # NAME
    case "$1" in
    control/tor/test_network_multicast* | control/tor/test_vm* | memif/test_memif*) true ;;
    *) false ;;
    esac
}

suite() { # NAME COMMAND...: into one of the lists, quoted for xargs
    case "$1" in *"${ONLY:-}"*) ;; *) return 0 ;; esac
    list=$LOGS/one-by-one
    is_patient "$1" && list=$LOGS/patient
    is_parallel "$1" && list=$LOGS/parallel
    is_long "$1" && list=$LOGS/long
    printf "'%s'" "$1" >>"$list"
    shift
    printf " '%s'" "$@" >>"$list" # no blank at a line's end: xargs would go on with the next
    echo >>"$list"
}

variants=$BUILD
[ "${QUICK:-0}" = 1 ] || variants="$BUILD build/asan build/tsan"
for v in $variants; do
    label=
    [ "$v" = build/asan ] && label=' (asan, ubsan)'
    [ "$v" = build/tsan ] && label=' (tsan)'
    for s in $(find harness -name 'test_*.c' | sort); do
        t=$v/${s%.c}
        [ -x "$t" ] || continue
        # what a program of the normal build takes its time for is not repeated ten times slower
        suite "${t#"$v"/harness/}$label" env VARIANT=${label:+asan} "$t"
    done
    [ "$v" != build/tsan ] || continue
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

# Suites that run one by one mostly wait: for packets, for a kernel, for the clock. Parallel ones take
# what they leave of the processors. The idle policy is what keeps them back: with the lowest priority alone they
# would be equal to what a switch of the others compiles (cli/compile.c).
touch "$LOGS/parallel" "$LOGS/long" "$LOGS/patient" "$LOGS/one-by-one"
cat "$LOGS/parallel" >>"$LOGS/long"
mv "$LOGS/long" "$LOGS/parallel"
trap 'trap - INT TERM; kill 0' INT TERM # a shell's background job does not hear a terminal's end
jobs=${JOBS:-$(nproc)}
SUITE_SECONDS=${SUITE_SECONDS:-3600} chrt --idle 0 xargs -r -L 1 -P "$jobs" sh harness/suite.sh <"$LOGS/parallel" &
parallel=$!
xargs -r -L 1 sh harness/suite.sh <"$LOGS/patient" &
patient=$!
xargs -r -L 1 sh harness/suite.sh <"$LOGS/one-by-one"
wait "$parallel" "$patient"

while read -r p f log first; do
    [ "$first" = - ] && continue
    printf '\n==== %s: tried again\n' "$first"
    tail -n 20 "$first"
done <"$LOGS/tally"
while read -r p f log first; do
    [ "$f" -eq 0 ] && continue
    printf '\n==== %s\n' "$log"
    tail -n 40 "$log"
done <"$LOGS/tally"
passed=$(awk '{ p += $1 } END { print p + 0 }' "$LOGS/tally")
failed=$(awk '{ f += $2 } END { print f + 0 }' "$LOGS/tally")
# a suite that left no line did not run
wanted=$(cat "$LOGS/parallel" "$LOGS/patient" "$LOGS/one-by-one" 2>/dev/null | wc -l)
missing=$((wanted - $(wc -l <"$LOGS/tally")))
[ "$missing" -eq 0 ] || echo "$missing suites did not run"
printf '\n%d passed, %d failed\n' "$passed" $((failed + missing))
[ $((failed + missing)) -eq 0 ] && [ "$passed" -gt 0 ]
