# SPDX-License-Identifier: Apache-2.0
#
# stuck_job: what tests share of a SwitchML job that stands still; read with '.' behind running.sh.
#
# stuck_job MEMBERS SOURCE...: $dir/c.json is a switch with job 7 of two workers, 10.0.0.1 and 10.0.0.2, in slots 16 to
# 31, and MEMBERS, text like '"metrics": {...},'. A packet of 64 elements for its slot 3, version 1, comes from each
# address 10.0.0.SOURCE; with a wrong IPv4 checksum if SOURCE ends in x.
stuck_job() {
    cat >"$dir/c.json" <<END
{"program": "$PWD/p4/switchml/switchml.p4", $1
 "ports": [{"port": 1, "device": "net_pcap0,rx_pcap=$dir/in.pcap,tx_pcap=$dir/out.pcap"}],
 "entries": [
  {"table": "workers", "action": "admit",
   "key": {"job_number": 7, "src_addr": "10.0.0.1", "ingress_port": 1},
   "args": {"worker_bit": 1, "num_workers": 2, "group": 1, "rid": 1, "port": 1,
            "pool_base": 16, "pool_last": 15}},
  {"table": "workers", "action": "admit",
   "key": {"job_number": 7, "src_addr": "10.0.0.2", "ingress_port": 2},
   "args": {"worker_bit": 2, "num_workers": 2, "group": 1, "rid": 2, "port": 2,
            "pool_base": 16, "pool_last": 15}}],
 "control_socket": "$dir/s.sock"}
END
    shift
    /usr/bin/python3 - "$dir/in.pcap" "$@" <<'END'
import struct
import sys
from captures import pcap


def ip(source, payload, wrong):
    h = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(payload), 0, 0, 64, 17, 0,
                    bytes([10, 0, 0, source]), bytes([10, 0, 0, 100]))
    s = sum(struct.unpack('>10H', h))
    s = (s & 0xffff) + (s >> 16)
    return h[:10] + struct.pack('>H', ~(s + (s >> 16)) & 0xffff ^ wrong) + h[12:] + payload


def frame(source, wrong):
    body = struct.pack('>BBIHbb', 0x11, 7, 1, 0x8003, 0, 0) + bytes(4 * 64)
    udp = struct.pack('>HHHH', 0xbee0, 0xbee0, 8 + len(body), 0) + body
    return bytes([2, 0, 0, 0, 0, 100, 2, 0, 0, 0, 0, source, 8, 0]) + ip(source, udp, wrong)


open(sys.argv[1], 'wb').write(pcap([(0, frame(int(source.strip('x')), source[-1] == 'x')) for source in sys.argv[2:]]))
END
}
await() { # SECONDS COMMAND...: until the command does
    tenths=$((10 * $1))
    shift
    for _ in $(seq $tenths); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}
