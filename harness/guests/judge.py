# SPDX-License-Identifier: Apache-2.0
"""The invariant CRC of every frame of RoCEv2 in a recording of `silken record`, by Scapy's RoCE layer, which computes it, and by
tshark, which shows where it is and what else the frame says, and does not compute it: both have to name the same CRC."""
import contextlib
import logging
import os
import signal
import struct
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "control")]
from live import SILKEN  # noqa: E402

logging.getLogger("scapy").setLevel(logging.ERROR)
FIELDS = ("frame.number", "frame.len", "infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.invariant.crc", "_ws.malformed")


@contextlib.contextmanager
def recording(switch, path):
    recorder = subprocess.Popen([SILKEN, "record", "-s", switch.path("s.sock"), "--out", path, "--filter", "udp dst port 4791",
                                 "--ring", "256", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield
    finally:
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=120)[0]
    if recorder.returncode:
        raise RuntimeError(f"silken record: {recorder.returncode} {said}")


def by_tshark(path):
    """Opcode, number and CRC of each frame that has bytes."""
    words = ["tshark", "-r", path, "-n", "-T", "fields", *(w for f in FIELDS for w in ("-e", f))]
    for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines():
        values = dict(zip(FIELDS, line.split("\t")))
        if values["frame.len"] != "0":  # a note on a packet
            yield tuple(int(values[f] or "-1", 0) for f in FIELDS[2:5]) + (values["_ws.malformed"],)


def by_scapy(path):
    """The same, and whether the CRC is right."""
    from scapy.contrib.roce import BTH
    from scapy.layers.l2 import Ether
    from scapy.utils import RawPcapNgReader
    with contextlib.closing(RawPcapNgReader(path)) as reader:
        for frame, *_ in reader:
            if frame:
                layer = Ether(frame)[BTH]
                yield layer.opcode, layer.psn, layer.icrc, layer.compute_icrc(None) == struct.pack("!I", layer.icrc)


def judge(path):
    """How many frames there are, how many of them Scapy calls wrong, and of how many tshark says something else."""
    frames = wrong = other = 0
    shown = list(by_tshark(path))
    for i, (opcode, psn, crc, good) in enumerate(by_scapy(path)):
        frames += 1
        wrong += not good
        other += i >= len(shown) or shown[i] != (opcode, psn, crc, "")
    return {"frames": frames, "wrong_by_scapy": wrong, "other_by_tshark": other + max(0, len(shown) - frames)}


# ---- the published client's buffer ----

FIRSTS, LASTS = (0x26, 0x2A, 0x2B), (0x29, 0x2B)  # opcodes of packets that begin a message, and that have immediate data at its end


def packets(path, switch):
    """Worker's address and queue pair, whether it sends, opcode, key, immediate data, elements."""
    from scapy.utils import RawPcapNgReader
    with contextlib.closing(RawPcapNgReader(path)) as reader:
        for frame, *_ in reader:
            if frame:
                sends, opcode, at, key, immediate = frame[30:34] == switch, frame[42], 54, None, None
                if opcode in FIRSTS:
                    key, at = struct.unpack(">I", frame[62:66])[0], at + 16
                if opcode in LASTS:
                    immediate, at = frame[at:at + 4], at + 4
                worker = frame[26:30] if sends else frame[30:34]
                yield worker, int.from_bytes(frame[47:50], "big"), sends, opcode, key, immediate, frame[at:-4]


def overwritten(path, switch, pairs):
    """How many messages a worker of the published client's RDMA backend sent for the first time with elements of the answer before,
    at the beginning or the end of a packet. It sends from where it receives, so that a second answer to a message that it has
    repeated is written over the next one. Messages of exponents, whose numbers are below `pairs`, are sent with whatever
    is there."""
    all_of_them = list(packets(path, switch))
    numbers = {worker: sorted({qpn for w, qpn, sends, *_ in all_of_them if w == worker and not sends}) for worker, *_ in all_of_them}
    answers, last, now, count = {}, {}, {}, 0
    for worker, qpn, sends, opcode, key, immediate, elements in all_of_them:
        at = worker, qpn & 63 if sends else numbers[worker].index(qpn)
        ends = {elements[:32], elements[-32:]}
        if opcode in FIRSTS:
            now[at, sends] = [key, False]
            answers[at] = set() if not sends else answers.get(at, set())
        if not sends:
            answers[at] = answers.get(at, set()) | ends
            continue
        message = now.setdefault((at, sends), [key, False])
        message[1] |= any(end in answers.get(at, ()) and any(end) for end in ends)
        if immediate:
            message[0] = message[0], immediate
            count += message[1] and last.get(at) != message[0] and int.from_bytes(immediate[:2], "little") >= pairs
            last[at] = message[0]
    return count
