#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The state of a running switch, by `silken ctl state dump`.
. harness/control/running.sh

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/pcap/replay/state.p4",
 "ports": [{"port": 4, "device": "net_null0,no-rx=1"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send", "args": {"port": 1}}],
 "control_socket": "$dir/s.sock"}
END
has() { # LINE: the state has it
    ctl state dump >"$dir/state" && grep -qxF -- "$1" "$dir/state" || { cat "$dir/state"; return 1; }
}
check "a switch starts" start
check "its state is JSON" sh -c "'$silken' ctl -s '$dir/s.sock' state dump | ${PYTHON:-/usr/bin/python3} -m json.tool"
check "what a register's cells are" \
    has '{"name": "pipe.Ingress.flows", "otherwise": {"packets": 5, "latest": 0}}'
check "an entry" has '{"table": "pipe.Ingress.forward", "key": {"hdr.ethernet.dst_addr": "02:00:00:00:00:01"}, "action": "pipe.Ingress.send", "args": {"port": 1}}'
check "a cell is written" ctl register write flows 3 packets=7 pipe 2
check "it is in the state" \
    has '{"name": "pipe.Ingress.flows", "pipe": 2, "index": 3, "value": {"packets": 7, "latest": 0}}'
check "an entry of one pipe" ctl table delete forward dst_addr=02:00:00:00:00:01 pipe 3
check "pipes that are not alike" has '{"table": "pipe.Ingress.forward", "key": {"hdr.ethernet.dst_addr": "02:00:00:00:00:01"}, "action": "pipe.Ingress.send", "args": {"port": 1}, "pipe": 2}'
check "another default action" ctl table default filter note
check "in the state" has '{"table": "pipe.Ingress.filter", "action": "pipe.Ingress.note", "args": {}}'
check "the reply as it is" says '"state": "{\n\"silken_state\": 1,' ctl --json state dump
check "no such command" refuses "'state show'" ctl state show
check "a word too many" refuses "'x'" ctl state dump x
check "what it knows is what is expected" \
    sh -c "'$silken' ctl -s '$dir/s.sock' state dump >'$dir/a' && '$silken' ctl -s '$dir/s.sock' state dump | cmp - '$dir/a'"
stop

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
