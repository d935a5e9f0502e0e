# SPDX-License-Identifier: Apache-2.0
#
# pcapng: reads the files of `silken record`, strictly, and independently of Silken's own reader.
#
#   python3 pcapng.py FILE EXPRESSION      prints it; 'p' is the list of packets: port, time (ns),
#                                          direction (in, out, note), data, wire (length), comment, id, lost;
#                                          's' the statistics of ports: port -> (packets, lost);
#                                          'frames(CAPTURE)' the frames of a pcap
import struct
import sys
from collections import namedtuple

Packet = namedtuple('Packet', 'port time direction data wire comment id lost')


def options(body):
    at, found = 0, {}
    while at < len(body):
        code, n = struct.unpack_from('<HH', body, at)
        if code == 0:
            assert n == 0 and at + 4 == len(body), 'options end where the block does'
            return found
        assert code not in found, 'no option twice'
        found[code] = body[at + 4:at + 4 + n]
        at += 4 + (n + 3) // 4 * 4
    assert not found, 'options have an end'
    return found


def read(name):
    bytes_ = open(name, 'rb').read()
    at, ports, packets, stats = 0, [], [], {}
    while at < len(bytes_):
        kind, length = struct.unpack_from('<II', bytes_, at)
        assert length % 4 == 0 and length >= 12
        assert struct.unpack_from('<I', bytes_, at + length - 4)[0] == length
        body = bytes_[at + 8:at + length - 4]
        at += length
        if kind == 0x0A0D0D0A:
            assert body[:8] == struct.pack('<IHH', 0x1A2B3C4D, 1, 0)
            ports = []
        elif kind == 1:
            o = options(body[8:])
            assert struct.unpack_from('<H', body)[0] == 1 and o[9] == b'\x09'
            ports.append(int(o[2].decode().removeprefix('port-')))
        elif kind == 5:
            o = options(body[12:])
            port = ports[struct.unpack_from('<I', body)[0]]
            stats[port] = (struct.unpack('<Q', o[4])[0], struct.unpack('<Q', o[5])[0])
        else:
            assert kind == 6, kind
            i, high, low, n, wire = struct.unpack_from('<5I', body)
            o = options(body[20 + (n + 3) // 4 * 4:])
            packets.append(Packet(ports[i], high << 32 | low,
                                  {1: 'in', 2: 'out'}[struct.unpack('<I', o[2])[0] & 3] if 2 in o else 'note',
                                  body[20:20 + n], wire, o.get(1, b'').decode(),
                                  struct.unpack('<Q', o[5])[0] if 5 in o else 0,
                                  struct.unpack('<Q', o[4])[0] if 4 in o else 0))
    return packets, stats


def frames(name):
    b = open(name, 'rb').read()
    at, out = 24, []
    while at < len(b):
        n = struct.unpack_from('<I', b, at + 8)[0]
        out.append(b[at + 16:at + 16 + n])
        at += 16 + n
    return out


if __name__ == '__main__':
    p, s = read(sys.argv[1])
    print(eval(sys.argv[2]))
