#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Pipes on lcores in `silken run`: the same captures on any number of them, port speeds that hold, what
# happens without packets, an idle switch that sleeps.
. harness/control/running.sh
. harness/control/frames.sh
program=$PWD/p4/l2/l2.p4

# ---- the same captures on any number of lcores ----
# Each pipe plays a capture and records what its own entries send, resubmit and copy.
lcores_config() { # LCORES
    {
        printf '{"program": "%s", "lcores": %s, "control_socket": "%s/s.sock", "ports": [' "$program" "$1" "$dir"
        for pipe in 0 1 2 3; do
            first=$((pipe * 128))
            printf '{"port": %s, "device": "net_pcap%s,rx_pcap=%s,tx_pcap=%s"},' $first $((2 * pipe)) \
                "$dir/in$pipe.pcap" "$dir/out$pipe.a.pcap"
            printf '{"port": %s, "device": "net_pcap%s,rx_pcap=%s,tx_pcap=%s"}' $((first + 5)) \
                $((2 * pipe + 1)) "$none" "$dir/out$pipe.b.pcap"
            [ $pipe = 3 ] || printf ','
        done
        printf '], "entries": ['
        for pipe in 0 1 2 3; do
            first=$((pipe * 128))
            printf '{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "pipe": %s,
                     "action": "send", "args": {"port": %s}},' $pipe $((first + 5))
            printf '{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:02"}, "pipe": %s,
                     "action": "send", "args": {"port": %s}},' $pipe $((first + 5 * (pipe % 2)))
            printf '{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:03"}, "pipe": %s,
                     "action": "drop"}' $pipe
            [ $pipe = 3 ] || printf ','
        done
        printf ']}'
    } >"$dir/c.json"
}
for pipe in 0 1 2 3; do
    pcap "$dir/in$pipe.pcap" 1:60x300 2:$((100 + pipe))x200 3:77x50 1:1500x200 4:80x9
done
for n in 1 2 4; do
    lcores_config $n
    check "$n lcores: starts" start --stats
    check "$n lcores: all received" becomes 3036 stats 'r["rx_packets"]'
    check "$n lcores: lcores" becomes $n stats 'r["lcores"]'
    check "$n lcores: ends, all accounted for" stop
    check "$n lcores: what was dropped" says 'drop_ctl in ingress                      200' cat "$dir/log"
    mkdir -p "$dir/$n"
    mv "$dir"/out?.?.pcap "$dir/$n"
    for f in "$dir/$n"/*; do
        empty= # nothing leaves the first ports of pipes 1 and 3
        case $f in *out[13].a.pcap) empty=may-be-empty ;; esac
        check "$n lcores: $(basename "$f") as on one" \
            same_frames "$f" "$dir/1/$(basename "$f")" 65535 $empty
    done
done


# ---- control of a switch at full speed: nothing is half done when it is read or written ----
cat >"$dir/c.json" <<END
{"program": "$program", "lcores": 4, "control_socket": "$dir/s.sock",
 "ports": [{"port": 0, "device": "net_null0,size=64"}, {"port": 128, "device": "net_null1,size=64"},
           {"port": 256, "device": "net_null2,no-rx=1"}, {"port": 384, "device": "net_null3,no-rx=1"}],
 "multicast": {"nodes": [{"id": 1, "rid": 1, "ports": [256]}, {"id": 2, "rid": 2, "ports": [384]}],
               "groups": [{"id": 1, "nodes": [1, 2]}]}}
END
zero=dst_addr=00:00:00:00:00:00
balance='r["rx_packets"] + r["copies"] + r["generated"] - r["tx_packets"] - r["dropped"] - r["inside"]'
change() { # all at the speed of the control socket
    for i in 1 2 3 4 5 6 7 8; do
        "$silken" ctl -s "$dir/s.sock" table add forward $zero 'send(port=384)' &&
            "$silken" ctl -s "$dir/s.sock" pre group 1 $((1 + i % 2)) &&
            "$silken" ctl -s "$dir/s.sock" table modify forward $zero 'drop()' &&
            [ "$(ctl_json stats "$balance")" = 0 ] &&
            "$silken" ctl -s "$dir/s.sock" table delete forward $zero &&
            "$silken" ctl -s "$dir/s.sock" pre group 1 1 2 &&
            [ "$(ctl_json stats "$balance")" = 0 ] || return 1
    done
}
check 'control: starts' start
check 'control: while packets flow' change
check 'control: packets flow' test "$(ctl_json stats 'r["tx_packets"] > 1000 and r["copies"] > 1000')" = True
check 'control: ends, all accounted for' stop

# ---- a port with a speed, in another pipe than its packets come from ----
cat >"$dir/c.json" <<END
{"program": "$program", "lcores": 2, "control_socket": "$dir/s.sock",
 "ports": [{"port": 0, "device": "net_null0,size=996"},
           {"port": 128, "device": "net_null1,no-rx=1"}],
 "queues": [{"port": 128, "speed": 8, "green": 1000}],
 "entries": [{"table": "forward", "key": {"dst_addr": "00:00:00:00:00:00"},
              "action": "send", "args": {"port": 128}}]}
END
# 1020 bytes on the wire take 1.02 ms at 8 Mbit/s. The counts are read some time in between: not more
# than the whole time allows, not less than the shorter one.
speed_holds() {
    t0=$(date +%s%N)
    before=$(ctl_json port 'port(128)["tx_packets"]')
    t1=$(date +%s%N)
    sleep 2
    t2=$(date +%s%N)
    after=$(ctl_json port 'port(128)["tx_packets"]')
    t3=$(date +%s%N)
    sent=$((after - before))
    echo "$sent packets in $((t2 - t1)) to $((t3 - t0)) ns"
    [ $((sent - 2)) -le $(((t3 - t0) / 1020000)) ] &&
        [ $sent -ge $(((t2 - t1) / 1020000 * 9 / 10)) ]
}
about() { # LOW HIGH COMMAND...
    low=$1 high=$2
    shift 2
    got=$("$@")
    echo "$got per cent"
    [ "$got" -ge "$low" ] && [ "$got" -le "$high" ]
}
check 'speed: starts' start
sleep 0.5
check 'speed: holds' speed_holds
check 'speed: the queue is full' test \
    "$(ctl_json stats 'r["drops"].get("egress queue full", 0) > 0')" = True
check 'speed: ends, all accounted for' stop
check 'speed: what waited' says 'still in a queue when the switch stopped' cat "$dir/log"

# ---- a packet generator needs no packets to come ----
cat >"$dir/c.json" <<END
{"program": "$program", "lcores": 2,
 "ports": [{"port": 128, "device": "net_pcap0,rx_pcap=$none,tx_pcap=$dir/out.pcap"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "08:00:00:00:00:00"},
              "action": "send", "args": {"port": 128}}],
 "defaults": [],
 "pktgen_buffers": [{"pipe": 1, "offset": 0, "bytes": "00112233445566778899"}],
 "pktgen": [{"pipe": 1, "app": 0, "trigger": "one_shot", "length": 60, "offset": 0, "timer": 1000000,
             "batches": 2, "packets": 5}]}
END
check 'generator: starts' start
sleep 1
check 'generator: ends' stop
check 'generator: has fired' says 'generated 10 = sent' cat "$dir/log"

# ---- idle ----
cpu_ms() { # of the switch, in a second
    before=$(awk '{print $14 + $15}' "/proc/$pid/stat")
    sleep 1
    after=$(awk '{print $14 + $15}' "/proc/$pid/stat")
    echo $(((after - before) * 1000 / $(getconf CLK_TCK)))
}
check 'idle: starts' start --idle-sleep 1000
check 'idle: sleeps' about 0 300 cpu_ms
check 'idle: ends' stop

# ---- refused ----
refused() { # TEXT OPTION...: one sentence, and status 2
    text=$1
    shift
    check "refused: $*" refuses "$text" "$silken" run -c "$dir/c.json" "$@"
    check "refused: $*: one line" test "$(wc -l <"$dir/said")" -eq 1
}
refused "'5' is not a number in range" --lcores 5
refused "'0' is not a number in range" --lcores 0
refused "'1,x' is not a number in range" --cpu 1,x
refused 'name one processor for all lcores, or one for each' --lcores 3 --cpu 0,1
refused "'-1' is not a number in range" --idle-sleep -1
check 'no such processor' refuses 'this process cannot use processor 1023 ("cpus"); it can use: 0' \
    "$silken" run -c "$dir/c.json" --lcores 2 --cpu 0,1023
check 'checked on one lcore' start --checked --lcores 2
check 'checked: says so' says 'the checked build runs on one lcore' cat "$dir/log"
check 'checked: ends' stop

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
