#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py FOLDER: seeds for fuzz_frame, each a frame of l3_frames.h, from the wire, that has time to be answered."""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
text = open(os.path.join(here, "l3_frames.h")).read().replace("\\\n", " ")
for name, body in re.findall(r"#define (\w+) +((?:\"[0-9a-f]+\"\s*)+)", text):
    frame = bytes.fromhex("".join(re.findall(r'"([0-9a-f]+)"', body)))
    if len(frame) > 1000:
        continue
    size = len(frame)
    port = 1 if "_B" in name.split("_TO_")[0] else 0
    wire = bytes([0, port, (size & 3) << 6, size >> 2]) + frame
    asked = bytes([0, 0, (60 & 3) << 6, 60 >> 2]) + bytes.fromhex(
        "ffffffffffff02000000000a0806000108000604000102000000000a0a000a0a0000000000000a000a01") + bytes(18)
    with open(os.path.join(sys.argv[1], "seed-" + name), "wb") as f:
        f.write(asked + wire + bytes([7, 0]) * 4 + wire)
