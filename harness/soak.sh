#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# soak.sh: a switch at full speed for SECONDS_TO_RUN (600), over memif and, where network namespaces
# can be made, over af_packet on veth pairs. All packets must be accounted for and all buffers come
# back.
#
#   switch   two pipes on two lcores, two memif and two af_packet ports; every packet is copied to the
#            three other ports, of which some are the other pipe's
#   peer     makes packets as fast as it can, sends them to all four ports, drops what comes back;
#            every CHURN (20) seconds it is killed without notice, and a new one started
#
# Then the peer stops sending; what it sent over memif since its start must have arrived, packet for
# packet. Prints a line a check and "N passed, N failed".
BUILD=${BUILD:-build}
SECONDS_TO_RUN=${SECONDS_TO_RUN:-600}
CHURN=${CHURN:-20}
LCORES=${LCORES:-2}
if [ -z "${SOAK_INSIDE:-}" ]; then
    SOAK_INSIDE=yes
    export SOAK_INSIDE BUILD SECONDS_TO_RUN CHURN LCORES
    for flags in -n -rn; do
        # shellcheck disable=SC2086
        unshare $flags true 2>/dev/null && exec unshare $flags sh "$0"
    done
    SOAK_INSIDE=alone
fi
. harness/control/running.sh
peer=
trap 'kill $pid $peer 2>/dev/null; rm -rf "$dir"' EXIT
program=$PWD/p4/l2/l2.p4

veth=no
if [ "$SOAK_INSIDE" = yes ] && ip link add swa type veth peer name pea 2>/dev/null &&
    ip link add swb type veth peer name peb; then
    for i in swa pea swb peb; do
        echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/$i/disable_ipv6
        ip link set $i up
    done
    veth=yes
else
    echo "no network namespaces here: memif only"
fi

memif() { # ROLE NUMBER
    echo "net_memif$2,role=$1,socket=$dir/m$2.sock,socket-abstract=no,id=$2"
}
ports() { # ROLE VETH VETH: both ends have the same port numbers
    printf '{"port": 1, "device": "%s"}, {"port": 129, "device": "%s"}' \
        "$(memif "$1" 0)" "$(memif "$1" 1)"
    [ $veth = yes ] && printf ', {"port": 2, "device": "net_af_packet0,iface=%s"},
            {"port": 130, "device": "net_af_packet1,iface=%s"}' "$2" "$3"
}
if [ $veth = yes ]; then all='1 129 2 130'; else all='1 129'; fi
nodes=$(for p in $all; do printf '{"id": %s, "rid": %s, "ports": [%s]},' "$p" "$p" "$p"; done)
group=$(for p in $all; do printf '{"node": %s, "xid": %s},' "$p" "$p"; done)
multicast='"multicast": {"nodes": ['${nodes%,}'], "groups": [{"id": 1, "nodes": ['${group%,}']}]}'

cat >"$dir/c.json" <<END2
{"program": "$program", "lcores": $LCORES, "pipes": 2, "control_socket": "$dir/s.sock",
 "ports": [$(ports server swa swb)], $multicast}
END2
# Its source is the only port of pipe 2; what comes back comes to other pipes.
cat >"$dir/peer.json" <<END2
{"program": "$program", "control_socket": "$dir/p.sock",
 "ports": [{"port": 256, "device": "net_null0,size=${FRAME:-256}"}, $(ports client pea peb)], $multicast,
 "entries": [$(for pipe in 0 1 3; do
    printf '{"table": "forward", "key": {"dst_addr": "00:00:00:00:00:00"}, "action": "drop",
             "pipe": %s},' $pipe
done | sed '$s/,$//')]}
END2

start_peer() {
    : >"$dir/peer.log"
    "$silken" run -c "$dir/peer.json" >"$dir/peer.log" 2>&1 &
    peer=$!
    for _ in $(seq 600); do
        grep -qs '^ready' "$dir/peer.log" && return 0
        kill -0 $peer 2>/dev/null || break
        sleep 0.1
    done
    cat "$dir/peer.log"
    return 1
}
number() { # SOCKET JQ-LIKE PATH: of 'ctl --json port' or 'stats'
    "$silken" ctl -s "$1" --json "$2" | python3 -c '
import json, sys
o = json.load(sys.stdin)
for k in sys.argv[1:]:
    o = next(p for p in o["ports"] if p["port"] == int(k)) if k.isdigit() else o[k]
print(o)' $3
}
balanced() {
    "$silken" ctl -s "$dir/s.sock" --json stats | python3 -c '
import json, sys
s = json.load(sys.stdin)
came = s["rx_packets"] + s["generated"] + s["copies"]
went = s["tx_packets"] + s["dropped"] + s["inside"]
print(s)
sys.exit(came != went or s["rx_packets"] == 0)'
}
alive() {
    kill -0 $pid
}
arrived() { # PORT: what the peer sent is what the switch received, since the peer's start
    sent=$(number "$dir/p.sock" port "$1 tx_packets")
    got=$(($(number "$dir/s.sock" port "$1 rx_packets") - $2))
    echo "port $1: peer sent $sent, switch received $got"
    [ "$sent" -gt 0 ] && [ "$sent" -eq "$got" ]
}

check 'the switch starts' start
end=$(($(date +%s) + SECONDS_TO_RUN))
while [ "$(date +%s)" -lt $end ] && [ $failed -eq 0 ]; do
    [ -z "$peer" ] || { kill -9 $peer; wait $peer 2>/dev/null; sleep 0.2; }
    before1=$(number "$dir/s.sock" port '1 rx_packets')
    before129=$(number "$dir/s.sock" port '129 rx_packets')
    check 'the peer starts' start_peer
    left=$((end - $(date +%s)))
    if [ $left -gt "$CHURN" ]; then sleep "$CHURN"; elif [ $left -gt 0 ]; then sleep $left; fi
    check 'the switch is alive' alive
    check 'balanced while running' balanced
done
# the peer's source goes on, but its packets are dropped
check 'the peer stops sending' "$silken" ctl -s "$dir/p.sock" \
    table add forward dst_addr=00:00:00:00:00:00 'drop()' pipe 2
sleep 1
check 'all of port 1 arrived' arrived 1 "$before1"
check 'all of port 129 arrived' arrived 129 "$before129"
check 'nothing waits' test "$(number "$dir/s.sock" stats inside)" -eq 0
"$silken" ctl -s "$dir/s.sock" stats
"$silken" ctl -s "$dir/s.sock" port
kill -INT $peer
check 'the peer accounts for its packets' wait $peer
check 'the switch accounts for all packets and buffers' stop
grep -A20 '^received' "$dir/log"

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
