# SPDX-License-Identifier: Apache-2.0
"""Section 5.5: congestion control (figures 15 and 16)."""
from sweep import images, link_of, names, plot, rack, run as simulate, shares, table, vgg16

SCALE, TIME = 400, 40  # as in sharing.py: tensors / 400, links / 10, time / 40
ITERATIONS = 10


def single(indices, control, **more):
    """One job of eight workers."""
    return {"limit_ms": 60000, "quiet_ms": 1, "sample_us": 100000 / TIME,
            "topology": rack(9, gbps=10, delay_us=10),
            "jobs": [dict({"name": "job", "protocol": "atp", "workers": names(0, 8), "servers": ["h8"],
                           "indices": indices, "congestion_control": control,
                           "work": vgg16(SCALE, TIME, ITERATIONS)}, **more)]}


def find_peak():
    """Aggregators with which one job is as fast as with more, used in turn."""
    grid = [60, 100, 140, 200, 280]
    found = simulate({("15-peak", n): single(n, False, linear=True, window=n, window_max=n,
                                             work=vgg16(SCALE, TIME, 3)) for n in grid})
    rows = [[n, images(found["15-peak", n]["jobs"][0], TIME)] for n in grid]
    table("15-peak", ["aggregators", "images/s"], rows)
    return min(n for n, rate in rows if rate >= 0.99 * max(r for _, r in rows))


def figure15():
    half = find_peak() // 2
    results = simulate({("15", how): single(half, how == "with") for how in ("with", "without")})
    rows, goodput = [], []
    for (_, how), r in results.items():
        job = r["jobs"][0]
        rows.append([how, half, images(job, TIME), 100 * shares(job), job["retransmissions"],
                     sum(s["drops"].get("egress queue full", 0) for s in r["switches"]),
                     link_of(r, "s0>h8")["utilisation"]])
        end = sum(us < job["done_us"] for us in r["series"]["us"]) + 1
        goodput.append([10 * x for x in r["series"]["jobs"]["job"]["workers_gbps"]["h0"][:end]])
    table("15", ["congestion control", "aggregators", "images/s", "% in network", "sent again", "queue drops",
                 "server's link"], rows)
    at = lambda list_, i: list_[i] if i < len(list_) else ""
    table("15-series", ["s", "with", "without"],
          [[(i + 1) / 10, at(goodput[0], i), at(goodput[1], i)] for i in range(max(map(len, goodput)))])
    plot("15", "set xlabel 's of the unscaled time'\nset ylabel 'Gbps of sums at a worker, unscaled'\n"
         "plot for [i=2:3] '15-series.csv' using 1:i with steps lw 2")


# ---- figure 16 ----

def with_traffic(work, end):
    """Six workers; other traffic for 150 ms at the first one's link, and a job from 50 to 100 ms."""
    others = {"uplink": [{"name": "other", "from": "h0", "to": "h7", "stop_ms": 150}],
              "downlink": [{"name": "other", "from": "h7", "to": "h0", "gbps": 5, "stop_ms": 150}], "none": []}
    return {"limit_ms": 1000, "quiet_ms": 50, "sample_us": 5000, "topology": rack(8, gbps=10, delay_us=10),
            "background": others[end],
            "jobs": [{"name": "job", "protocol": "atp", "workers": names(0, 6), "servers": ["h6"], "indices": 16384,
                      "work": dict(work, start_ms=50, stop_ms=100)}]}


def mean(list_, us):
    """From 60 to 100 ms."""
    return sum(x for x, t in zip(list_, us) if 60000 < t <= 100000) / sum(60000 < t <= 100000 for t in us)


def figure16():
    works = {"vgg16": vgg16(SCALE, TIME, 0),
             "microbenchmark": {"kind": "constant", "bytes": 100000, "count": 0, "outstanding": 4}}
    ends = ["none", "uplink", "downlink"]
    results = simulate({("16", w, e): with_traffic(work, e) for w, work in works.items() for e in ends})
    rows = []
    for w in works:
        row = [w]
        for e in ends:
            x = results["16", w, e]["series"]
            row.append(mean(x["jobs"]["job"]["workers_gbps"]["h0"], x["us"]))
            if e != "none":
                row.append(mean(x["background"]["other"], x["us"]))
        rows.append(row)
        x = results["16", w, "uplink"]["series"]
        table(f"16-{w}", ["ms", "ATP", "other", "both"],
              [[us / 1000, a, b, a + b] for us, a, b in
               zip(x["us"], x["jobs"]["job"]["workers_gbps"]["h0"], x["background"]["other"])])
        plot(f"16-{w}", f"set xlabel 'ms'\nset ylabel 'Gbps, goodput'\nplot for [i=2:4] '16-{w}.csv' using 1:i "
             f"with lines lw 2, {row[1]} with lines dt 2 lc 'black' title 'ATP alone'")
    table("16", ["job", "ATP alone", "ATP, other up", "other up", "ATP, other down", "other down"], rows)
