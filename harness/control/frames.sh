# SPDX-License-Identifier: Apache-2.0
#
# frames: captures made and compared, frames sent, a running switch asked; after running.sh. $none is a
# capture without frames.
none=$dir/none.pcap
pcap() { # FILE DST_LAST:LENGTH[xTIMES]...: frames of that length to 02:00:00:00:00:DST, all different
    python3 - "$@" <<'END2'
import sys
from captures import NS, pcap
packets = []
for word in sys.argv[2:]:
    spec, _, times = word.partition('x')
    last, length = (int(x) for x in spec.split(':'))
    for _ in range(int(times or 1)):
        number = len(packets) + 1
        p = bytes([2, 0, 0, 0, 0, last]) + bytes(6) + b'\x88\xb5' + number.to_bytes(4, 'big')
        p += bytes((number + i) % 251 for i in range(length - len(p)))
        packets.append((number * NS, p))
with open(sys.argv[1], 'wb') as f:
    f.write(pcap(packets, nano=False))
END2
}
same_frames() { # PCAP PCAP [MAX [may-be-empty]]: the first's frames, those of up to MAX bytes, are the second's
    python3 - "$@" <<'END2'
import sys
from captures import frames
want = [f for f in frames(sys.argv[1]) if len(f) <= int((sys.argv + ['65535'])[3])]
got = frames(sys.argv[2])
print(len(want), 'frames wanted', len(got), 'came', [len(f) for f in got][:20])
sys.exit(want != got or (not got and sys.argv[4:] != ['may-be-empty']))
END2
}
put() { # INTERFACE PCAP: its frames, one after the other
    python3 - "$@" <<'END2'
import socket, sys
from captures import frames
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
for f in frames(sys.argv[2]):
    s.send(f)
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

