#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `silken ctl job`: a job of two workers of whom one has sent its part of slot 3 and a stranger has
# tried to. What stands still, and for whom it waits, must be there to read.
set -u
BUILD=${BUILD:-build}
silken=$PWD/$BUILD/silken
dir=$(mktemp -d)
passed=0
failed=0
pid=
trap 'kill $pid 2>/dev/null; rm -rf "$dir"' EXIT

says() { # TEXT COMMAND...
    text=$1
    shift
    if "$@" 2>&1 | tee "$dir/said" | grep -qF -- "$text"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL: expected '$text' of $*"
        cat "$dir/said"
    fi
}

cat >"$dir/c.json" <<END
{"program": "$PWD/p4/switchml/switchml.p4",
 "ports": [{"port": 1, "device": "net_pcap0,rx_pcap=$dir/in.pcap,tx_pcap=$dir/out.pcap"}],
 "entries": [
  {"table": "workers", "action": "admit",
   "key": {"job_number": 7, "src_addr": "10.0.0.1", "ingress_port": 1},
   "args": {"worker_bit": 1, "num_workers": 2, "group": 1, "rid": 1, "port": 1,
            "pool_base": 16, "pool_last": 15}},
  {"table": "workers", "action": "admit",
   "key": {"job_number": 7, "src_addr": "10.0.0.2", "ingress_port": 2},
   "args": {"worker_bit": 2, "num_workers": 2, "group": 1, "rid": 2, "port": 2,
            "pool_base": 16, "pool_last": 15}}],
 "control_socket": "$dir/s.sock"}
END
# 64 elements in slot 3, version 1; once from worker 0, once from an address nobody knows
python3 - "$dir/in.pcap" <<'END'
import struct, sys

def ip(source, payload):
    h = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(payload), 0, 0, 64, 17, 0,
                    bytes([10, 0, 0, source]), bytes([10, 0, 0, 100]))
    s = sum(struct.unpack('>10H', h))
    s = (s & 0xffff) + (s >> 16)
    return h[:10] + struct.pack('>H', ~(s + (s >> 16)) & 0xffff) + h[12:] + payload

def frame(source):
    body = struct.pack('>BBIHbb', 0x11, 7, 1, 0x8003, 0, 0) + bytes(4 * 64)
    udp = struct.pack('>HHHH', 0xbee0, 0xbee0, 8 + len(body), 0) + body
    return bytes([2, 0, 0, 0, 0, 100, 2, 0, 0, 0, 0, source, 8, 0]) + ip(source, udp)

with open(sys.argv[1], 'wb') as f:
    f.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for source in (1, 9):
        p = frame(source)
        f.write(struct.pack('<IIII', 0, 0, len(p), len(p)) + p)
END

"$silken" run -c "$dir/c.json" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 600); do
    grep -qs '^ready' "$dir/log" && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
done
sleep 0.5
SILKEN_SOCKET=$dir/s.sock
export SILKEN_SOCKET
says 'job 7: 2 of 2 workers registered, slots 16 to 31' "$silken" ctl job
says 'worker  1  port   2  10.0.0.2' "$silken" ctl job 7
says 'slot 3, pipes 0: has 0; waits for 1' "$silken" ctl job 7
says 'dropped, unknown worker: 1' "$silken" ctl job
says 'no worker is registered for job 8' "$silken" ctl job 8
says '"missing": [' "$silken" ctl --json job 7
kill -TERM $pid
wait $pid
says 'received 2 + copies 0 = sent 0 + dropped 2' cat "$dir/log"

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
