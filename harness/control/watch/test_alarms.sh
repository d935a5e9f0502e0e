#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Alarms of a running switch: a SwitchML job of which one worker stands still, an aggregator of ATP that nobody
# frees, a table without room, each in ctl alarms, the log, events and metrics; and that they go away.
. harness/control/running.sh
. harness/control/stuck_job.sh

await_alarm() { # TEXT
    await 20 says "$1" "$silken" ctl alarms
}
metric() { # TEXT
    says "$1" /usr/bin/python3 -c "
import re, urllib.request
port = re.search('port ([0-9]+)\)', open('$dir/log').read())[1]
print(urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics').read().decode())"
}

stuck_job '"alarms": {"job_stuck": 2}, "metrics": {"listen": "127.0.0.1:0"},' 1
check 'starts' start
SILKEN_SOCKET=$dir/s.sock
export SILKEN_SOCKET
check 'nothing yet' says 'no alarm' "$silken" ctl alarms
"$silken" ctl --json events >"$dir/events" 2>&1 &
listener=$!
check 'stuck' await_alarm 'slots wait for worker 1 (10.0.0.2), which never sent'
check 'told' await 5 says '"alarm": "stuck-job"' cat "$dir/events"
check 'logged' says 'silken run: alarm: stuck-job: job 7: nothing changed for 2 s while 1 slots' cat "$dir/log"
check 'shown' says 'stuck' "$silken" ctl top --once --interval 0.2
check 'counted' metric 'silken_alarms_raised_total{alarm="stuck-job"} 1'
check 'there' metric 'silken_alarm{alarm="stuck-job",what="7"} 1'
"$silken" ctl table delete workers job_number=7 src_addr=10.0.0.1 ingress_port=1
"$silken" ctl table delete workers job_number=7 src_addr=10.0.0.2 ingress_port=2
check 'over' await_alarm 'no alarm'
check 'told that it is over' await 5 says 'is over: stuck-job: job 7' cat "$dir/log"
kill $listener
listener=
check 'ends' stop

# of now, in the program's units of 65,536 ns: a stamp half a turn of the clock away is taken for one of the future
stamp=$(($(date +%s%N) / 65536 % 4294967296))
cat >"$dir/c.json" <<END
{"program": "$PWD/p4/atp/atp.p4",
 "registers": [{"name": "owner.owners", "index": 5, "value": {"fragment": 33554433, "time": $stamp}, "pipe": 2}],
 "alarms": {"aggregator": 3}, "control_socket": "$dir/s.sock"}
END
check 'ATP starts' start
check 'leaking' await_alarm 'job 2 of ATP holds 1 aggregators; aggregator 5 of pipe 2 has received nothing for'
check 'shown' says '2            stuck' "$silken" ctl top --once --interval 0.2
"$silken" ctl register write owner.owners 5 fragment=0 time=0
check 'freed' await_alarm 'no alarm'
check 'ATP ends' stop

cat >"$dir/c.json" <<END
{"program": "$PWD/p4/l2/l2.p4", "control_socket": "$dir/s.sock", "alarms": {"table_full": 1},
 "entries": [$(seq -s, 1 700 | sed 's/[0-9]*/{"table": "forward", "key": {"dst_addr": &}, "action": "drop"}/g')]}
END
check 'l2 starts' start
check 'full' await_alarm 'table pipe.Ingress.forward has 700 entries of'
"$silken" ctl table clear forward
check 'room' await_alarm 'no alarm'
check 'l2 ends' stop

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
