#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# p4/tor and p4/rack do nothing that a program should not do: tests on the rig once more, with the checked build of the
# program. What it finds is in the log.
. harness/control/running.sh

finds_nothing() { # TEST
    RIG_CHECKED=1 "$BUILD/harness/control/tor/$1" >"$dir/log" 2>&1 && return
    grep 'checked:\|ERROR\|FAILED' "$dir/log" | sort | uniq | head -n 40
    return 1
}

for test in links routes icmp snoop policy jobs jobs_libra jobs_sessions; do
    check "test_$test" finds_nothing "test_$test"
done

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
