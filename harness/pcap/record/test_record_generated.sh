#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A recorded run in which a packet generator sends more than is received: it goes on to the run's end in the replay, too.
# And what waits at a port when the switch is stopped is not sent in the replay either.
. harness/control/running.sh
program=$PWD/harness/replay/programs/clock.p4
trap 'kill $pid 2>/dev/null; rm -rf "$dir"' EXIT

cat >"$dir/c.json" <<END2
{"program": "$program", "record": {"file": "run.pcapng"},
 "ports": [{"port": 1, "device": "net_null1,no-rx=1"}, {"port": 2, "device": "net_null2,no-rx=1"}],
 "pktgen_buffers": [{"pipe": 0, "offset": 0, "bytes": "02000000000202000000000990000707$(printf '07%.0s' $(seq 48))"}],
 "pktgen": [{"pipe": 0, "app": 1, "trigger": "periodic", "length": 64, "offset": 0, "timer": 5000000, "batches": 1,
             "packets": 2}]}
END2
replay() { # OPTION...
    timeout 60 "$silken" replay "$program" --config "$dir/run.config.json" --in "$dir/run.pcapng" "$@"
}
same() { # FOLDER FOLDER
    cmp "$dir/$1/port-2.pcap" "$dir/$2/port-2.pcap"
}
check 'starts' start
sleep 1
check 'ends, all accounted for' stop
check 'packets were generated' test "$(sed -n 's/recorded 0 received + \([0-9]*\) sent, .*/\1/p' "$dir/log")" -gt 20
for build in --fast ''; do
    check "the same is sent $build" replay --expect-recorded $build
    for threads in 1 4; do
        check "on threads $build" replay $build --threads $threads --out "$dir/$threads$build"
    done
    check "the same on any number of threads $build" same "1$build" "4$build"
done
check 'as many as were recorded' says \
    "0 packets in, $(sed -n 's/recorded 0 received + \([0-9]*\) sent, .*/\1/p' "$dir/log") out" \
    replay --fast --out "$dir/again"
sed 's/990000/990001/' "$dir/run.config.json" >"$dir/other.json"
check 'what differs has its way' refuses 'packet 1 received on port 68' "$silken" replay "$program" --config "$dir/other.json" \
    --in "$dir/run.pcapng" --expect-recorded --show 1

sed 's/"timer": 5000000/"timer": 1000000/; s/"pktgen_buffers"/"queues": [{"port": 2, "speed": 1, "red": 9000, "yellow": 9000, "green": 9000}], &/' \
    "$dir/c.json" >"$dir/slow.json"
mv "$dir/slow.json" "$dir/c.json"
rm -f "$dir"/run*
check 'starts with a slow port' start
sleep 1
check 'ends with packets that wait' stop
check 'which are dropped' says 'still in a queue when the switch stopped' cat "$dir/log"
check 'the same is sent, and not what waited' replay --expect-recorded --fast
check 'nor by the checked build' replay --expect-recorded

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
