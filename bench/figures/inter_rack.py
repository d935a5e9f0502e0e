# SPDX-License-Identifier: Apache-2.0
"""Section 5.2.2: what the server receives with aggregation at two levels, and in racks only."""
import json
import os

from sweep import ROOT, link_of, run as simulate, table


def scenario(file, linear):
    with open(os.path.join(ROOT, "sim", "scenarios", file + ".json")) as f:
        s = json.load(f)
    s["jobs"][0]["linear"] = linear
    s["jobs"][0]["work"]["count"] = 4
    return s


def run():
    files = {"atp": "atp-figure9", "racks": "atp-figure9-racks"}
    results = simulate({("inter-rack", scheme, how): scenario(files[scheme], how == "linear")
                        for how in ("linear", "hashed") for scheme in files})
    rows = []
    for (_, scheme, how), r in results.items():
        x = link_of(r, "SW2>ps" if scheme == "atp" else "out>ps")
        rows.append([scheme, how, r["jobs"][0]["servers"][0]["completed"], x["delivered"], x["delivered_bytes"]])
    for i in (0, 2):
        rows[i].append(1)
        rows[i + 1].append(rows[i + 1][4] / rows[i][4])
    table("inter-rack", ["scheme", "indices", "fragments", "packets to the server", "bytes", "against atp"], rows)
