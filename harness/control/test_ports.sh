#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Ports: each kind of device that this machine can have carries frames of every length up to its
# MTU; what is longer is counted; pipes on any number of lcores give the same captures; a peer that
# vanishes does no harm; what cannot be opened says why in one sentence.
if [ -z "${PORTS_INSIDE:-}" ]; then # interfaces of our own, gone with the test
    PORTS_INSIDE=no
    export PORTS_INSIDE
    for flags in -n -rn; do
        # shellcheck disable=SC2086
        unshare $flags true 2>/dev/null && PORTS_INSIDE=yes exec unshare $flags sh "$0"
    done
fi
. harness/control/running.sh
program=$PWD/p4/l2/l2.p4
none=$dir/none.pcap
peer=
trap 'kill $pid $peer 2>/dev/null; rm -rf "$dir"' EXIT

pcap() { # FILE DST_LAST:LENGTH[xTIMES]...: frames of that length to 02:00:00:00:00:DST, all different
    python3 - "$@" <<'END2'
import struct, sys
number = 0
with open(sys.argv[1], 'wb') as f:
    f.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for word in sys.argv[2:]:
        spec, _, times = word.partition('x')
        last, length = (int(x) for x in spec.split(':'))
        for _ in range(int(times or 1)):
            number += 1
            p = bytes([2, 0, 0, 0, 0, last]) + bytes(6) + b'\x88\xb5' + struct.pack('>I', number)
            p += bytes((number + i) % 251 for i in range(length - len(p)))
            f.write(struct.pack('<IIII', number, 0, len(p), len(p)) + p)
END2
}
same_frames() { # PCAP PCAP [MAX [may-be-empty]]: the first's frames, those of up to MAX bytes, are the second's
    python3 - "$@" <<'END2'
import struct, sys
def frames(name):
    b = open(name, 'rb').read()
    at, out = 24, []
    while at < len(b):
        n = struct.unpack_from('<I', b, at + 8)[0]
        out.append(b[at + 16:at + 16 + n])
        at += 16 + n
    return out
want = [f for f in frames(sys.argv[1]) if len(f) <= int((sys.argv + ['65535'])[3])]
got = frames(sys.argv[2])
print(len(want), 'frames wanted', len(got), 'came', [len(f) for f in got][:20])
sys.exit(want != got or (not got and sys.argv[4:] != ['may-be-empty']))
END2
}
put() { # INTERFACE PCAP: its frames, one after the other
    python3 - "$@" <<'END2'
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
b = open(sys.argv[2], 'rb').read()
at = 24
while at < len(b):
    n = struct.unpack_from('<I', b, at + 8)[0]
    s.send(b[at + 16:at + 16 + n])
    at += 16 + n
END2
}
ctl_json() { # OP EXPRESSION: of its reply 'r'; 'port(N)' is a port of it
    "$silken" ctl -s "$dir/s.sock" --json "$1" 2>"$dir/ctl_error" >"$dir/reply" || return
    python3 -c '
import json, sys
r = json.load(sys.stdin)
def port(n):
    return next(p for p in r["ports"] if p["port"] == n)
print(eval(sys.argv[1]))' "$2" <"$dir/reply"
}
becomes() { # VALUE OP EXPRESSION: within a few seconds
    for _ in $(seq 50); do
        got=$(ctl_json "$2" "$3")
        [ "$got" = "$1" ] && return 0
        kill -0 $pid || break
        sleep 0.1
    done
    cat "$dir/ctl_error"
    echo "$3 is $got, not $1"
    return 1
}
pcap "$none"

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

# ---- kinds of devices ----
# host - veth - switch port 256 -> first device = second device -> port 3, a capture
if [ $PORTS_INSIDE = no ] || ! ip link add hosta type veth peer name swa; then
    echo 'no network namespaces here: devices with a kernel interface are not tried'
    printf '\n%d passed, %d failed\n' $passed $failed
    [ $failed -eq 0 ]
    exit
fi
ip link add hostb type veth peer name swb
for i in hosta swa hostb swb; do
    sysctl -qw net.ipv6.conf.$i.disable_ipv6=1
    ip link set $i up mtu 9198
done
lengths='1:60 1:64 1:1514 1:1515 1:2048 1:4000 1:9014 1:9015 1:9212'
# shellcheck disable=SC2086
pcap "$dir/in.pcap" $lengths

config() { # DEVICE DEVICE [PORT_KEYS]
    cat >"$dir/c.json" <<END2
{"program": "$program", "lcores": 2, "pipes": 3, "control_socket": "$dir/s.sock",
 "ports": [{"port": 129, "device": "$1"${3:-}},
           {"port": 2, "device": "$2"${3:-}},
           {"port": 3, "device": "net_pcap1,rx_pcap=$none,tx_pcap=$dir/out.pcap"},
           {"port": 256, "device": "net_af_packet0,iface=swa", "mtu": 9198}],
 "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "pipe": 2,
              "action": "send", "args": {"port": 129}},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "pipe": 0,
              "action": "send", "args": {"port": 3}}]}
END2
}
through() { # NAME LONGEST: frames up to that length come through, the others are counted
    rm -f "$dir/out.pcap"
    want=$(for l in $lengths; do [ "${l#1:}" -gt "$2" ] || echo x; done | wc -l)
    check "$1: starts" start
    check "$1: link" becomes '(True, True)' port 'port(129)["link"], port(2)["link"]'
    put hosta "$dir/in.pcap"
    check "$1: come" becomes "$want" port 'port(3)["tx_packets"]'
    check "$1: the others" becomes $((9 - want)) port \
        'port(129)["drops"].get("longer than a packet buffer or its port takes", 0)'
    ctl_json port r >"$dir/ports"
    check "$1: ends, all accounted for" stop
    check "$1: frames" same_frames "$dir/in.pcap" "$dir/out.pcap" "$2"
}

config "net_memif0,role=server,socket=$dir/m.sock,socket-abstract=no" \
    "net_memif1,role=client,socket=$dir/m.sock,socket-abstract=no"
through memif 9212
config "net_memif0,role=server,socket=$dir/m.sock,socket-abstract=no" \
    "net_memif1,role=client,socket=$dir/m.sock,socket-abstract=no" ', "mtu": 2000'
through 'memif with an MTU' 2018
config net_af_packet1,iface=hostb net_af_packet2,iface=swb
through 'af_packet' 9212
config net_af_packet1,iface=hostb net_af_packet2,iface=swb ', "mtu": 9000'
through 'af_packet, MTU 9000' 9014
check 'af_packet, MTU 9000: the interface has it' says 'mtu 9000' ip link show hostb
config net_af_packet1,iface=hostb net_af_packet2,iface=swb ', "mtu": 1500'
through 'af_packet, MTU 1500' 1514

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
