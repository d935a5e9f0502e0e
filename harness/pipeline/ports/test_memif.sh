#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# memif peers that come and vanish: the switch that sends to them as fast as it can goes on, and the
# socket file of a switch that was killed does not stop the next one.
. harness/control/running.sh
. harness/control/frames.sh
program=$PWD/p4/l2/l2.p4
peer=
listener=
trap 'kill $pid $peer $listener 2>/dev/null; rm -rf "$dir"' EXIT

cat >"$dir/c.json" <<END
{"program": "$program", "control_socket": "$dir/s.sock",
 "ports": [{"port": 0, "device": "net_null0,size=64"},
           {"port": 1, "device": "net_memif0,role=server,socket=$dir/m.sock,socket-abstract=no"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "00:00:00:00:00:00"},
              "action": "send", "args": {"port": 1}}]}
END
cat >"$dir/peer.json" <<END
{"program": "$program", "control_socket": "$dir/p.sock",
 "ports": [{"port": 1, "device": "net_memif0,role=client,socket=$dir/m.sock,socket-abstract=no"}]}
END
alive() {
    kill -0 $pid
}
check 'starts' start
for n in $(seq "${PEERS:-10}"); do
    "$silken" run -c "$dir/peer.json" >"$dir/peer.log" 2>&1 &
    peer=$!
    check "peer $n: link" becomes '(True, True)' port 'port(1)["link"], port(1)["up"]'
    sleep 0.1
    kill -9 $peer
    wait $peer 2>/dev/null
    check "peer $n: the switch lives" alive
    check "peer $n: link is down" becomes '(False, False)' port 'port(1)["link"], port(1)["up"]'
done
peer=
check 'ends, all accounted for' stop
check 'nothing was queued for a peer that is not there' says 'port not configured or down' \
    cat "$dir/log"

# ---- a socket file that nobody listens to ----
check 'starts again' start
kill -9 $pid
wait $pid 2>/dev/null
check 'it left its socket' test -S "$dir/m.sock"
check 'starts over it' start
check 'says so' says "removed $dir/m.sock, at which no process listened" cat "$dir/log"
sed "s|$dir/s.sock|$dir/t.sock|" "$dir/c.json" >"$dir/second.json"
check 'one that is listened to stays' refuses "cannot open device 'net_memif0" \
    "$silken" run -c "$dir/second.json"
check 'the first is not disturbed' alive
check 'its socket is there' test -S "$dir/m.sock"
# peers that are gone before they were greeted
hasty() {
    python3 - "$dir/m.sock" "$1" <<'END2'
import socket, sys
for _ in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.close()
END2
}
check 'hasty peers' hasty 200
sleep 0.2
check 'they do no harm' alive
"$silken" run -c "$dir/peer.json" >"$dir/peer.log" 2>&1 &
peer=$!
check 'a patient one is served' becomes True port 'port(1)["link"]'
# and hasty ones while it ends
hasty 100000 >"$dir/hasty" 2>&1 &
listener=$!
sleep 0.3
kill $peer
check 'ends' stop
wait $listener # its last connection was refused
echo text >"$dir/m.sock.txt"
sed "s|$dir/m.sock|$dir/m.sock.txt|" "$dir/c.json" >"$dir/third.json"
check 'another file is not a socket' refuses "cannot" "$silken" run -c "$dir/third.json"
check 'and stays' says text cat "$dir/m.sock.txt"

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
