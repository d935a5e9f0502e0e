#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# silken sim from the outside: exit status, results, many seeds in processes, pictures.
set -u
silken=$PWD/${BUILD:-build}/silken
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

check() { # WHAT STATUS EXPECTED-STATUS [FILE TEXT]
    if [ "$2" -eq "$3" ] && { [ $# -lt 5 ] || grep -q -e "$5" "$4"; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1 (status $2)"
        [ $# -lt 5 ] || head -n 20 "$4"
    fi
}

cat >"$dir/small.json" <<END
{"name": "small", "sample_us": 5,
 "topology": {"kind": "rack", "program": "switchml", "hosts": 3, "link": {"gbps": [1, 100]}},
 "jobs": [{"protocol": "switchml", "hard_limit_ms": 20, "work": {"kind": "constant", "bytes": 40000}}],
 "faults": [{"kind": "loss", "rate": [0, 0.1]}]}
END
sed 's/"faults": \[/"faults": [{"kind": "link_down", "links": ["h0-s0"]}, /' "$dir/small.json" >"$dir/broken.json"
sed 's/"work"/"wrok"/' "$dir/small.json" >"$dir/wrong.json"
cd "$dir" || exit 1

"$silken" sim small.json >out 2>err
check "a run" $? 0 out '^job0  *sums  *3 workers'
"$silken" sim small.json --seed 7 --json a.json >out 2>err
check "results of a seed" $? 0 a.json '"seed": 7'
"$silken" sim small.json --seed 7 --json - >b.json 2>err
check "results on standard output" $? 0 err '^job0  *sums'
cmp -s a.json b.json
check "the same seed, the same results" $? 0
"$silken" sim small.json --seeds 1..9 --jobs 1 --json a.json >out 2>err
check "many seeds" $? 0 out '^small: 9 seeds: 9 with all sums, 0 failed as they may, 0 violated'
"$silken" sim small.json --seeds 1..9 --jobs 4 --json b.json >out 2>err
check "many seeds in processes" $? 0 out '^small: 9 seeds: 9 with all sums'
cmp -s a.json b.json
check "one process or four, the same results" $? 0
"$silken" sim small.json --trace >out 2>err
check "a trace" $? 0 err 'h0>s0  *arrives  *1076 bytes job 1 slot 0 version 0 chunk 0'
"$silken" sim broken.json >out 2>err
check "a violation" $? 1 err '^broken.json: seed 1, at .* no progress within the hard limit'
"$silken" sim broken.json --seeds 5..8 >out 2>err
check "violations" $? 1 err '^broken.json: seed 8, at '
"$silken" sim wrong.json >out 2>err
check "a mistake" $? 2 err '^silken sim: wrong.json:3: jobs\[0\].wrok: unknown key'
"$silken" sim none.json >out 2>err
check "no file" $? 2 err 'none.json'
"$silken" sim small.json --seeds 3..2 >out 2>err
check "seeds the wrong way round" $? 2 err "'3..2'"
"$silken" sim small.json --seeds 1..2 --trace >out 2>err
check "a trace of many" $? 2 err 'are for one seed'
mkdir bin && ln -s "$(command -v cc)" bin/cc
PATH=$dir/bin CC=cc "$silken" sim small.json --plot p.png >out 2>err
check "a picture without gnuplot" $? 2 err 'gnuplot is not installed (Debian package gnuplot-nox)'
[ ! -e p.png ]
check "which leaves no file" $? 0
if command -v gnuplot >/dev/null; then
    "$silken" sim small.json --plot p.png >out 2>err
    check "a picture" $? 0 p.png PNG
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
