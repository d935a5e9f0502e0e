#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `silken ctl top` with a running switch: as text, as JSON, and on a terminal of the test's own (top_pty.py).
. harness/control/running.sh

cat >"$dir/c.json" <<END
{"program": "$PWD/p4/l2/l2.p4",
 "ports": [{"port": 0, "device": "net_null0,size=100", "name": "source"},
           {"port": 1, "device": "net_null1,size=100", "name": "other"}],
 "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}}],
 "control_socket": "$dir/s.sock"}
END
check 'starts' start
check 'text' says 'silken top  l2.p4' ctl top --once --interval 0.3
check 'names' says '   0 source up ' ctl top --interval 0.3 # no terminal: once
check 'a view' says 'port name' ctl top --once --view ports --interval 0.1 --sort in --reverse
check 'no such view' refuses "there is no view 'fish'" ctl top --view fish
check 'no such word' refuses "unexpected argument 'fish'" ctl top fish
check 'too fast' refuses 'must be seconds, 0.1 to 60' ctl top --interval 0
ctl top --once --json --interval 0.3 >"$dir/top.json" # two ports that receive without end, port 1 sends
check 'json' /usr/bin/python3 -c "
import json
t = json.load(open('$dir/top.json'))
a, b = t['ports']
assert a['rx_packets_per_second'] > 1000 and a['tx_packets_per_second'] == 0, t
assert abs(a['rx_bits_per_second'] / a['rx_packets_per_second'] - 800) < 1, t
total = a['rx_packets_per_second'] + b['rx_packets_per_second']
assert abs(t['rx_packets_per_second'] - total) < 1 + total / 1e6, t
assert t['rx_packets_per_second'] >= t['tx_packets_per_second'] > 0, t
assert 0.25 < t['seconds'] < 5 and t['jobs'] == [] and t['alarms'] == [], t"
check 'terminal' /usr/bin/python3 harness/cli/top/top_pty.py "$silken" "$dir/s.sock"
kill -KILL $pid
wait $pid
check 'the switch is gone' refuses 'silken ctl: ' ctl top --once

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
