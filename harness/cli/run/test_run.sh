#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `silken run` and `silken ctl` as a user meets them: a capture goes in at one port and out at others,
# tables change meanwhile, and at the end every packet is accounted for.
. harness/control/running.sh
program=$PWD/p4/l2/l2.p4

status() { # NUMBER COMMAND...
    want=$1
    shift
    "$@"
    [ $? -eq "$want" ]
}
config() { # EXTRA: a switch whose port 0 plays a capture and whose ports 1 and 2 record
    cat >"$dir/c.json" <<END
{"program": "$program",
 "ports": [{"port": 0, "device": "net_pcap0,rx_pcap=$dir/in.pcap,tx_pcap=$dir/out0.pcap"},
           {"port": 1, "device": "net_pcap1,rx_pcap=$dir/none.pcap,tx_pcap=$dir/out1.pcap"},
           {"port": 2, "device": "net_pcap2,rx_pcap=$dir/none.pcap,tx_pcap=$dir/out2.pcap"}],
 "multicast": {"nodes": [{"id": 1, "rid": 1, "ports": [1]}, {"id": 2, "rid": 2, "ports": [2]}],
               "groups": [{"id": 1, "nodes": [1, 2]}]},
 "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"},
              "action": "send", "args": {"port": 1}},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:02"}, "action": "drop"},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:03"},
              "action": "send", "args": {"port": 9}}],
 "control_socket": "$dir/s.sock"$1}
END
}

# four frames of 60 bytes: to port 1, dropped, to a port that is not there, to everybody
python3 - "$dir" <<'END'
import struct, sys
head = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
with open(sys.argv[1] + '/none.pcap', 'wb') as f:
    f.write(head)
with open(sys.argv[1] + '/in.pcap', 'wb') as f:
    f.write(head)
    for last in (1, 2, 3, 4):
        p = bytes([2, 0, 0, 0, 0, last]) + bytes(48 + 6)
        f.write(struct.pack('<IIII', last, 0, len(p), len(p)) + p)
END

config ''
check 'starts' start --stats
SILKEN_SOCKET=$dir/s.sock
export SILKEN_SOCKET
sleep 0.5
check 'stats' says 'received                                                  4' "$silken" ctl stats
check 'dump' says 'dst_addr=02:00:00:00:00:01  pipe.Ingress.send(port=1)' \
    "$silken" ctl table dump forward
check 'add' "$silken" ctl table add forward dst_addr=02:00:00:00:00:09 'send(port=2)'
check 'added' says 'dst_addr=02:00:00:00:00:09  pipe.Ingress.send(port=2)' \
    "$silken" ctl table dump forward
check 'add twice' says 'an entry with this key exists' \
    "$silken" ctl table add forward dst_addr=02:00:00:00:00:09 'send(port=2)'
check 'modify' "$silken" ctl table modify forward dst_addr=02:00:00:00:00:09 'drop()'
check 'modified' says 'dst_addr=02:00:00:00:00:09  pipe.Ingress.drop()' \
    "$silken" ctl table dump forward
check 'delete' "$silken" ctl table delete forward dst_addr=02:00:00:00:00:09
check 'too wide' says 'does not fit 9 bits' \
    "$silken" ctl table add forward dst_addr=1 'send(port=512)'
check 'failure is status 1' status 1 "$silken" ctl table clear nothing
check 'misuse is status 2' status 2 "$silken" ctl table fly
check 'ports' says 'port not configured or down' "$silken" ctl port
check 'json' says '"rx_packets": 4' "$silken" ctl --json stats
check 'groups' says 'group 1  nodes 1 2' "$silken" ctl pre
check 'no jobs here' says 'no aggregation jobs' "$silken" ctl job
check 'only one at a socket' says 'is in use by another switch' "$silken" run -c "$dir/c.json"
check 'ends well' stop
check 'accounts' says 'received 4 + copies 1 = sent 3 + dropped 2' cat "$dir/log"
check 'drop by program' says 'drop_ctl in ingress                      1' cat "$dir/log"
check 'drop by port' says 'port not configured or down              1' cat "$dir/log"
# 24 bytes of file header, then 16 + 60 bytes a packet
check 'port 1 got two' test "$(wc -c <"$dir/out1.pcap")" -eq $((24 + 2 * 76))
check 'port 2 got one' test "$(wc -c <"$dir/out2.pcap")" -eq $((24 + 76))
check 'the socket is gone' test ! -e "$dir/s.sock"
check 'nobody listens' says 'no switch listens' "$silken" ctl stats

config ', "faults": {"loss": 1}'
check 'starts with faults' start --stats
sleep 0.5
check 'ends with faults' stop
check 'all lost' says 'received 4 + copies 0 = sent 0 + dropped 4' cat "$dir/log"

refused() { # NAME TEXT EXTRA: the configuration is refused with the text
    config "$3"
    check "$1" status 2 "$silken" run -c "$dir/c.json"
    check "$1: words" says "$2" "$silken" run -c "$dir/c.json"
}
refused 'unknown key' 'c.json:12: fautls: unknown key' ', "fautls": {}'
refused 'unknown table' "registers[0]: no register 'x'" \
    ', "registers": [{"name": "x", "index": 0, "value": 1}]'
sed -i 's/net_pcap2/net_pacp2/' "$dir/c.json"
sed -i 's/, "registers.*/}/' "$dir/c.json"
check 'unknown driver' says "port 2: cannot open device 'net_pacp2" \
    "$silken" run -c "$dir/c.json"
check 'no configuration' status 2 "$silken" run
check 'no such option' says "there is no option '--fly'; see 'silken help run'" "$silken" run --fly
check 'help' says 'usage: silken run' "$silken" help run
check 'no such command' status 2 "$silken" fly

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
