# SPDX-License-Identifier: Apache-2.0
"""Section 5.2.3, figure 10: one worker loses packets, ATP against SwitchML with a time-out of 1 ms."""
from sweep import images, plot, rack, run as simulate, table, vgg16

RATES = [0, 1e-5, 1e-4, 1e-3, 1e-2]
WORKERS, SCALE = 4, 200  # VGG16 and its compute time 200 times as small; links as they are, 100 Gbps
FLIGHT = 256  # packets: the window, and SwitchML's slots
RTO = {"rto_us": 1000, "rto_min_us": 1000}


def work(kind):
    if kind == "vgg16":
        return vgg16(SCALE, SCALE, 6)
    return {"kind": "constant", "bytes": 1000000, "count": 16, "outstanding": 2}


def scenario(protocol, kind, rate):
    if protocol == "atp":
        hosts = WORKERS + 1
        job = {"servers": [f"h{WORKERS}"], "indices": 16384, "window": FLIGHT, "congestion_control": False}
    else:
        hosts = WORKERS
        job = {"elements": 64, "slots": FLIGHT, "rto_max_us": 1000}
    return {"limit_ms": 60000, "quiet_ms": 1, "topology": rack(hosts, program=protocol),
            "jobs": [dict(job, protocol=protocol, name="job", work=work(kind), **RTO)],
            "faults": [{"kind": "loss", "links": ["h0-s0"], "rate": rate}] if rate else []}


def throughput(result, kind):
    job = result["jobs"][0]
    return images(job, SCALE) if kind == "vgg16" else job["gbps"]


def run():
    kinds, protocols = ("vgg16", "microbenchmark"), ("atp", "switchml")
    results = simulate({("10", kind, p, rate): scenario(p, kind, rate)
                        for kind in kinds for p in protocols for rate in RATES})
    rows = []
    for rate in RATES:
        row = [100 * rate]
        for kind in kinds:
            for p in protocols:
                row.append(throughput(results["10", kind, p, rate], kind) /
                           throughput(results["10", kind, p, 0], kind))
        rows.append(row)
    table("10", ["loss %"] + [f"{k} {p}" for k in kinds for p in protocols], rows)
    table("10-absolute", ["workload", "protocol", "without loss"],
          [[k, p, throughput(results["10", k, p, 0], k)] for k in kinds for p in protocols])
    plot("10", "set logscale x\nset xlabel 'packets lost at one worker, %'\nset ylabel 'throughput / without loss'\n"
         "set key bottom left\nplot for [i=2:5] '10.csv' using 1:i with linespoints lw 2")
