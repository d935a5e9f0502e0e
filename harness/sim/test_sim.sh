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
sed 's/"hosts": 3/"hosts": 3, "switch": {"config": {"entries": [{"table": "nowhere", "key": {}, "action": "x"}]}}/' \
    "$dir/small.json" >"$dir/entries.json"
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
check "many seeds" $? 0 out '^small: 9 seeds: 9 with all sums, 0 failed as allowed, 0 violated'
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
"$silken" sim entries.json >out 2>err
check "a mistake that only the program tells" $? 2 err 'entries.json: switch s0: .*nowhere'
sed 's/switchml/l2/; s/"program": "l2"/"program": "dlcp"/; s/"protocol": "[a-z0-9]*", "hard_limit_ms": 20, "work": {[^}]*}/"protocol": "cubic", "work": {"kind": "training", "layers": [{"bytes": 4, "compute_us": 1}]}/' \
    small.json >paths.json
"$silken" sim paths.json >out 2>err
check "a program that needs paths" $? 2 err 'switch s0: the program forwards by its table .paths.: the topology needs "paths"'
"$silken" sim entries.json --seeds 1..4 >out 2>err
check "the same with seeds" $? 2 err 'entries.json: switch s0: .*nowhere'
"$silken" sim none.json >out 2>err
check "no file" $? 2 err 'none.json'
"$silken" sim small.json --seeds 3..2 >out 2>err
check "seeds the wrong way round" $? 2 err "'3..2'"
"$silken" sim small.json --seeds 1..2 --trace >out 2>err
check "a trace of many" $? 2 err 'are for one seed'
"$silken" sim small.json --seed 1 --seeds 1..2 >out 2>err
check "seeds said twice" $? 2 err 'can be given once'
cp small.json copy.json
"$silken" sim copy.json --json copy.json >out 2>err
check "results over the scenario" $? 2 err 'is the scenario'
cmp -s small.json copy.json
check "the scenario is as it was" $? 0
ln copy.json link.json
"$silken" sim copy.json --plot link.json >out 2>err
check "a picture over the scenario by another name" $? 2 err 'is the scenario'
"$silken" sim small.json --json c.out --plot c.out >out 2>err
check "two outputs in one file" $? 2 err 'are the same file'
"$silken" sim small.json --json none/a.json >out 2>err
check "results that cannot be written" $? 2 err 'cannot write none/a.json'
! grep -q . out
check "nothing has run then" $? 0
"$silken" sim small.json >/dev/full 2>err
check "a summary that cannot be written" $? 2 err 'standard output: No space left'
"$silken" sim small.json --seeds 1..9223372036854775807 --json c.json >out 2>err
check "results of too many seeds" $? 2 err 'no memory for the results'
sed 's/\[1, 100\]/0.0004/' small.json >slow.json
"$silken" sim slow.json >out 2>err
check "a link that is too slow" $? 2 err 'gbps: is 0.0004'
sed 's/"faults": .*/"faults": [{"kind": "host_crash", "hosts": ["h0"], "at_us": 3, "for_us": 5}]}/' small.json >crash.json
"$silken" sim crash.json >out 2>err
check "a crash that nobody expects" $? 1 err 'does not come back'
# One of two processes is killed, wherever it is: all seeds have a result, or it is said which has none.
"$silken" sim small.json --seeds 1..600 --jobs 2 --json c.json >out 2>err &
parent=$!
sleep 0.5
child=$(cut -d " " -f 1 /proc/$parent/task/$parent/children)
[ -n "$child" ] && kill -9 $child
wait $parent
status=$?
{ [ $status -eq 0 ] && grep -q '^small: 600 seeds' out; } || { [ $status -eq 1 ] && grep -q 'the run died' err; }
check "a process that is killed" $? 0
mkdir bin
for tool in cc as ld; do
    # by its full name and with the whole PATH: cc may itself look for the compiler there
    printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$PATH" "$(command -v $tool)" >bin/$tool
    chmod +x bin/$tool
done
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
