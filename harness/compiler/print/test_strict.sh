#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the options of the checked build do to silken test: its exit status and what it prints.
set -u
silken=${BUILD:-build}/silken
here=harness/compiler/print/checked
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0

check() { # NAME EXPECTED GOT
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$1: $3, expected $2"
    fi
}

"$silken" test --checked $here/misuse.p4 $here/misuse.stf >"$out/o" 2>"$out/e"
check 'reports alone are no failure' 0 $?
check 'reports, one for a place' "$(grep -c ': checked: ' $here/misuse.expect)" \
    "$(grep -c ': checked: ' "$out/e")"
"$silken" test --strict $here/misuse.p4 $here/misuse.stf >"$out/o" 2>"$out/e"
check 'a report fails the script' 1 $?
check 'its verdict' "FAIL $here/misuse.stf" "$(head -n 1 "$out/o")"
"$silken" test --strict p4/l2/l2.p4 harness/stf/l2.stf >"$out/o" 2>"$out/e"
check 'nothing was reported' 0 $?
"$silken" test --trace=xml p4/l2/l2.p4 harness/stf/l2.stf >"$out/o" 2>"$out/e"
check 'no form of a trace' 2 $?
"$silken" test --trace $here/trace.p4 $here/trace.stf >"$out/o" 2>"$out/e"
check 'a trace' 0 $?
grep -v -e '^PASS ' -e ' passed, ' "$out/o" >"$out/trace"
check 'is what the test of the tracer knows' '' "$(diff "$out/trace" $here/trace.text)"
"$silken" test --trace=json $here/trace.p4 $here/trace.stf >"$out/o" 2>"$out/e"
check 'JSON lines and nothing else' '' "$(diff "$out/o" $here/trace.json)"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
