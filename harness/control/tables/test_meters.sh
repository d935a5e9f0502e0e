#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Meters, counts and ageing of a running switch by configuration file, `silken ctl` and events.
. harness/control/running.sh

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/meters/meters.p4",
 "meters": [{"name": "of_bytes", "index": 3,
             "spec": {"cir_kbps": 8, "pir_kbps": 16, "cbs_kbits": 1, "pbs_kbits": 2}},
            {"name": "average", "index": "all",
             "spec": {"\$LPF_SPEC_TYPE": "RATE", "\$LPF_SPEC_GAIN_TIME_CONSTANT_NS": "10.5",
                      "\$LPF_SPEC_DECAY_TIME_CONSTANT_NS": "20"}}],
 "entries": [{"table": "marking", "key": {"i": 1}, "action": "mark",
              "args": {"\$METER_SPEC_CIR_PPS": 1, "\$METER_SPEC_PIR_PPS": 2,
                       "\$METER_SPEC_CBS_PKTS": 3, "\$METER_SPEC_PBS_PKTS": 4,
                       "\$COUNTER_SPEC_PKTS": 77}}],
 "control_socket": "$dir/s.sock"}
END
check "a switch with meters starts" start
check "meters are listed" says "pipe.Ingress.of_bytes                            meter       16 of bytes" ctl meter list
check "direct ones name their table" says "of the entries of pipe.Ingress.marking" ctl meter list
check "the file's specification" says "3  CIR_KBPS 8  PIR_KBPS 16  CBS_KBITS 1  PBS_KBITS 2" ctl meter read of_bytes 3
check "what nobody set" says "4  CIR_KBPS 5195848221" ctl meter read of_bytes
check "all cells of a filter" says "15  TYPE RATE  GAIN_TIME_CONSTANT_NS 10.5  DECAY_TIME_CONSTANT_NS 20" ctl meter read average 15
check "writing" ctl meter write of_bytes 4 cir_kbps=100 pir_kbps=200 cbs_kbits=10 pbs_kbits=20
check "written" says "4  CIR_KBPS 100  PIR_KBPS 200  CBS_KBITS 10  PBS_KBITS 20" ctl meter read of_bytes 4
check "in part" ctl meter write of_bytes 4 pir_kbps=300
check "the rest stays" says "4  CIR_KBPS 100  PIR_KBPS 300" ctl meter read of_bytes 4
check "a peak below the committed rate" refuses "below the committed rate" ctl meter write of_bytes 4 pir_kbps=99
check "nothing was changed" says "4  CIR_KBPS 100  PIR_KBPS 300" ctl meter read of_bytes 4
check "packets are no bytes" refuses "it has \$METER_SPEC_CIR_PPS" ctl meter write of_packets 1 cir_kbps=1
check "not all of it" refuses "PBS_KBITS is missing" ctl meter write of_bytes 5 cir_kbps=1 pir_kbps=1 cbs_kbits=1
check "out of range" refuses "has 16 cells" ctl meter write of_bytes 16 cir_kbps=1
check "too many decimals" refuses "decimals" ctl meter write average 1 gain_time_constant_ns=0.0000001
check "no probability" refuses "zero" ctl meter write early 0 max_probability=0 time_constant_ns=1 min_thresh_cells=1 max_thresh_cells=2
check "thresholds" refuses "below the minimum" ctl meter write early 0 max_probability=1 time_constant_ns=1 min_thresh_cells=3 max_thresh_cells=2
check "a direct one has no index" refuses "in the entries of table" ctl meter read per_entry 0
check "a meter is no filter" refuses "no meter or filter 'nothing'" ctl meter read nothing
check "reset" ctl meter reset of_bytes all
check "as before" says "4  CIR_KBPS 5195848221" ctl meter read of_bytes 4
check "an entry's data" says "PKTS 77  BYTES 0  CIR_PPS 1  PIR_PPS 2  CBS_PKTS 3  PBS_PKTS 4" ctl table data marking i=1
check "changing it" ctl table data marking i=1 set pkts=5 pir_pps=9
check "changed" says "PKTS 5  BYTES 0  CIR_PPS 1  PIR_PPS 9" ctl table data marking i=1
check "adding one with data" ctl table add marking i=2 'mark($METER_SPEC_CIR_PPS=1, $METER_SPEC_PIR_PPS=1, $METER_SPEC_CBS_PKTS=1, $METER_SPEC_PBS_PKTS=1)'
check "added" says "CIR_PPS 1  PIR_PPS 1  CBS_PKTS 1" ctl table data marking i=2
check "bad data, no entry" refuses "below the committed rate" ctl table add marking i=3 'mark($METER_SPEC_CIR_PPS=2, $METER_SPEC_PIR_PPS=1, $METER_SPEC_CBS_PKTS=1, $METER_SPEC_PBS_PKTS=1)'
check "none was added" refuses "no entry with this key" ctl table data marking i=3
check "no ageing there" refuses "has no '\$ENTRY_TTL'" ctl table add marking i=3 'mark($ENTRY_TTL=1)'
check "a direct counter has no index" refuses "name one by its key" ctl counter read seen
check "the hit state is read only" refuses "no 'hit_state'" ctl table data marking i=1 set hit_state=1
stop

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/meters/counters.p4",
 "counters": [{"name": "plain", "index": 7, "packets": 3, "bytes": 180}],
 "control_socket": "$dir/s.sock"}
END
check "a switch with counters starts" start
check "the file's counts" says "180" ctl counter read plain 7
check "writing a counter" ctl counter write plain 8 5 6
check "its packets" says "5" ctl counter read plain 8
check "clearing" ctl counter clear plain
check "cleared" says '"packets": 0' ctl --json counter read plain 7
stop

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/meters/idle.p4",
 "entries": [{"table": "learned", "key": {"a": 1}, "action": "put",
              "args": {"value": 1, "\$ENTRY_TTL": 100000}}],
 "control_socket": "$dir/s.sock"}
END
check "a switch whose entries age starts" start
check "time goes on without packets" says "TTL 99" ctl table data learned a=1
check "nothing is idle yet" [ -z "$(ctl idle poll)" ]
"$silken" ctl -s "$dir/s.sock" events >"$dir/events" 2>/dev/null &
listener=$!
sleep 0.3
check "a short life" ctl table data learned a=1 set ttl=200
for _ in $(seq 50); do
    [ -s "$dir/events" ] && break
    sleep 0.1
done
check "the event" says "pipe.Ingress.learned ENTRY_IDLE  hdr.op.a=0x1" cat "$dir/events"
check "once" [ "$(wc -l <"$dir/events")" -eq 1 ]
check "it is there still" says "TTL 0  HIT_STATE ENTRY_IDLE" ctl table data learned a=1
check "hit states" ctl idle update learned
check "of a table that ages only" refuses "no table 'nothing'" ctl idle update nothing
kill $listener 2>/dev/null
check "a new life" ctl table data learned a=1 set ttl=50
sleep 0.3
check "polled" says "pipe.Ingress.learned ENTRY_IDLE" ctl idle poll
stop

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
