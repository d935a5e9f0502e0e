#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Ports: each kind of device that this machine can have carries frames of every length up to its
# MTU; what is longer is counted; what cannot be opened says why in one sentence.
if [ -z "${PORTS_INSIDE:-}" ]; then # interfaces of our own, gone with the test
    PORTS_INSIDE=no
    export PORTS_INSIDE
    for flags in -n -rn; do
        # shellcheck disable=SC2086
        unshare $flags true 2>/dev/null && PORTS_INSIDE=yes exec unshare $flags sh "$0"
    done
fi
. harness/control/running.sh
. harness/control/frames.sh
program=$PWD/p4/l2/l2.p4

# ---- kinds of devices ----
# host - veth - switch port 256 -> first device = second device -> port 3, a capture
if [ "$PORTS_INSIDE" = no ] || ! ip link add hosta type veth peer name swa; then
    echo 'no network namespaces here: devices with a kernel interface are not tried'
    printf '\n%d passed, %d failed\n' $passed $failed
    [ $failed -eq 0 ]
    exit
fi
ip link add hostb type veth peer name swb
for i in hosta swa hostb swb; do
    echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/$i/disable_ipv6
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
        'port(129)["drops"].get("longer than a packet buffer or its port allows", 0)'
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

# what comes while the process does not run: rings of 2,048 frames, and 1,024 large ones
waits() { # FRAMES
    pcap "$dir/burst.pcap" "1:60x$1"
    rm -f "$dir/out.pcap"
    check "$1 frames wait: starts" start
    kill -STOP $pid
    put hosta "$dir/burst.pcap"
    kill -CONT $pid
    check "$1 frames wait: come" becomes "$1" port 'port(3)["tx_packets"]'
    check "$1 frames wait: ends" stop
}
waits 1000
ip link set swa mtu 1500
sed -i 's/"device": "net_af_packet0,iface=swa", "mtu": 9198/"device": "net_af_packet0,iface=swa"/' "$dir/c.json"
waits 2000
ip link set swa mtu 9198

config net_tap0,iface=swt net_af_packet1,iface=swt ', "mtu": 1400'
through tap 1414
check 'tap: is gone' refuses 'does not exist' ip link show swt
config "net_vhost0,iface=$dir/v.sock,queues=2" "net_virtio_user0,path=$dir/v.sock,queues=2" ', "queues": 2'
through 'vhost and virtio, two queues' 9212
check 'vhost: queues' says "'queues': 2" cat "$dir/ports"
config net_af_xdp0,iface=swb net_af_packet1,iface=hostb ', "mtu": 1500'
"$silken" run -c "$dir/c.json" >"$dir/xdp" 2>&1 & # does the kernel have it?
pid=$!
sleep 3
if kill -INT $pid && wait $pid; then
    through af_xdp 1514
else
    echo 'no AF_XDP here:'
    cat "$dir/xdp"
fi
config net_ring0 net_null0,no-rx=1 # a ring gives back what it gets, to its own pipe's entry
sed -i 's/"pipe": 0,/"pipe": 1,/' "$dir/c.json"
through ring 9212
config net_null0,no-rx=1 net_af_packet1,iface=swb ', "promiscuous": false'
check 'not promiscuous: starts' start
check 'not promiscuous' becomes False port 'port(2)["device_state"]["promiscuous"]'
check 'not promiscuous: ends' stop

# ---- refused, each with one sentence ----
refused() { # TEXT DEVICE [PORT_KEYS [OPTION...]]
    text=$1 device=$2 keys=${3:-}
    shift 2
    [ $# -eq 0 ] || shift
    config net_null1,no-rx=1 net_null2,no-rx=1
    sed -i "s|\"net_null1,no-rx=1\"|\"$device\"$keys|" "$dir/c.json"
    check "refused: $device$keys $*" refuses "$text" "$silken" run -c "$dir/c.json" "$@"
    check "refused: $device$keys $*: one line" test "$(wc -l <"$dir/said")" -eq 1
}
refused "cannot open device 'net_nothing0': there is no such device or driver" net_nothing0
refused "cannot open device '0000:ff:1f.7': there is no such network card, or it is not bound to vfio-pci" \
    0000:ff:1f.7
refused "cannot open device 'ff:1E.7,x=1': there is no such network card" ff:1E.7,x=1
refused "there is not an interface 'nowhere'" net_af_packet1,iface=nowhere
refused "role is 'king', and must be server or client" net_memif0,role=king
refused 'cannot open device' net_pcap3,rx_pcap=/nowhere/x.pcap
refused "2 queues, and the device has 1 to receive on" net_af_packet1,iface=hostb ', "queues": 2'
refused "the frames of its rings are of 2048 bytes" \
    net_af_packet1,iface=hostb,framesz=2048,blocksz=4096 ', "mtu": 9000'
refused 'blocksz must be a multiple of framesz, which is 3072' \
    net_af_packet1,iface=hostb,framesz=3072,blocksz=4096
refused 'cannot set its MTU to 9000: the device does not support that' net_tap1 ', "mtu": 9000'
refused "is not a device string" ,x=1
refused 'see --memory' net_null7 '' --memory 1
refused 'not enough memory for' net_null7 '' --memory 24

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
