#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A recorded run replays to the same output, at the same times: an all-reduce of two workers over memif,
# with packets lost at random and sent again. And what differs is found.
. harness/control/running.sh
program=$PWD/p4/switchml/switchml.p4
workers=
trap 'kill $pid $workers 2>/dev/null; rm -rf "$dir"' EXIT

python3 - "$program" "$dir" <<'END2'
import json, sys
program, folder = sys.argv[1:]
entries = []
for w in range(2):
    entries += [
        {"table": "pipe.Ingress.admission.workers",
         "key": {"hdr.switchml.job_number": 1, "hdr.ipv4.src_addr": 0x0a000001 + w,
                 "ig_intr_md.ingress_port": w},
         "action": "admit",
         "args": {"worker_bit": 1 << w, "num_workers": 2, "group": 100, "rid": w + 1, "port": w,
                  "pool_base": 0, "pool_last": 31}},
        {"table": "pipe.Egress.receivers", "key": {"md.rid": w + 1}, "action": "address",
         "args": {"mac": 0x020000000000 + w, "ip": 0x0a000001 + w, "udp_port": 0xbee0}}]
json.dump({"program": program, "entries": entries,
           "record": {"file": "run.pcapng", "file_size": 8},
           "sessions": {"mac": "02:00:00:00:00:fe", "ip": "10.0.0.254"},
           "faults": {"loss": 0.005, "seed": 7},
           "ports": [{"port": w, "device": f"net_memif{w},role=server,socket={folder}/w{w}.sock,"
                                           "socket-abstract=no"} for w in range(2)],
           "multicast": {"nodes": [{"id": w + 1, "rid": w + 1, "ports": [w]} for w in range(2)],
                         "groups": [{"id": 100, "nodes": [1, 2]}]}},
          open(f"{folder}/c.json", "w"))
END2
worker() { # RANK
    timeout 120 "$silken" worker --rank "$1" --workers 2 --pool 32 --elements 600000 \
        --rounds 2 --device "net_memif0,role=client,socket=$dir/w$1.sock,socket-abstract=no" \
        --mac "02:00:00:00:00:0$1" --ip "10.0.0.$(($1 + 1))"
}
replay() { # OPTION...
    "$silken" replay "$program" --config "$dir/run.config.json" "$@"
}
all_reduce() { # both workers, at the same time
    worker 1 >"$dir/w1.log" 2>&1 &
    workers=$!
    worker 0 && wait $workers
}

check 'starts' start
check 'the job' all_reduce
workers=
check 'ends, all accounted for' stop
check 'packets were lost' says 'injected loss' cat "$dir/log"
files=
for f in "$dir"/run-*.pcapng; do
    files="$files --in $f"
done
check 'several files' test "$(ls "$dir"/run-*.pcapng | wc -l)" -gt 2
# shellcheck disable=SC2086
{
    check 'the fast build sends the same' replay $files --expect-recorded --fast
    check 'as many as were recorded' says \
        "$(sed -n 's/recorded \([0-9]*\) received + \([0-9]*\) sent, \([0-9]*\) .*/\1 packets in, \2 out, \3 dropped/p' "$dir/log")" \
        replay $files --expect-recorded --fast
    check 'and the checked build' replay $files --expect-recorded
    check 'and writes it' replay $files --fast --expect-recorded --out 0="$dir/0.pcapng" 1="$dir/1.pcapng"
}
backwards=
without= # the second
for f in "$dir"/run-*.pcapng; do
    backwards="--in $f $backwards"
    [ "${f%00002.pcapng}" = "$f" ] && without="$without --in $f"
done
whole() { # nothing is missing
    replay "$@" >"$dir/said" 2>&1 && ! grep -e missing -e 'starts with' "$dir/said"
}
# shellcheck disable=SC2086
{
    check 'in whatever order the files are given' whole $backwards --expect-recorded --fast
    check 'a file is left out' refuses 'of the recorded switch are missing' \
        replay $without --expect-recorded --fast
    check 'which may be why' refuses 'is a file of the ring missing' \
        replay $without --expect-recorded --fast
}
same_times() { # PORT: what was sent, and when
    python3 - "$dir" "$1" <<'END2'
import glob, sys
from captures import read_ng
folder, port = sys.argv[1], int(sys.argv[2])
recorded = [(p.time, p.data) for f in sorted(glob.glob(f'{folder}/run-*.pcapng')) for p in read_ng(f)[0]
            if p.direction == 'out' and p.port == port]
sent = [(p.time, p.data) for p in read_ng(f'{folder}/{port}.pcapng')[0]]
assert len(sent) > 1000 and sent == recorded
END2
}
check 'at the same times: port 0' same_times 0
check 'at the same times: port 1' same_times 1

# ---- differences ----
sed 's/"udp_port": 48864/"udp_port": 48865/' "$dir/run.config.json" >"$dir/other.json"
check 'another configuration' test "$(grep -c 48865 "$dir/other.json")" = 2
# shellcheck disable=SC2086
check 'is noticed' refuses 'hdr.udp.dst_port                         0xbee1                 0xbee0' \
    "$silken" replay "$program" --config "$dir/other.json" $files --expect-recorded --show 1
first=$dir/run-00001.pcapng
check 'a part is one, too' refuses 'not sent, the first is number' \
    replay --in "$first" --expect-recorded --fast --limit 500
python3 - "$dir" <<'END2'
import json, sys
config = json.load(open(f"{sys.argv[1]}/run.config.json"))
config["clock"] += 10**15
json.dump(config, open(f"{sys.argv[1]}/later.json", "w"))
END2
check 'of another recording' refuses "the first packet is older than the configuration's clock" \
    "$silken" replay "$program" --config "$dir/later.json" --in "$first" --expect-recorded
check 'nothing is recorded' refuses '--expect-recorded needs a recorded run' \
    replay --in 0="$first" --expect-recorded
check 'a pipe cannot be read twice' refuses 'reads the captures twice' \
    sh -c "cat '$first' | '$silken' replay '$program' --in - --expect-recorded --fast"
check 'two kinds of golden packets' refuses 'compares with the packets of the recording' \
    replay --in "$first" --expect-recorded --expect "$dir"
check 'an update' refuses 'compares with the packets of the recording' \
    replay --in "$first" --expect-recorded --update

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
