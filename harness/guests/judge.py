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
