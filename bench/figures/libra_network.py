# SPDX-License-Identifier: Apache-2.0
"""Figures 12, 13, 14 and 18 of the Libra paper in the simulator: docs/figures-libra.md.

    python3 bench/figures/libra_network.py [12] [13] [14] [18]
"""
import sys

from sweep import names, plot, rack, run as simulate, table

DRAWS = 4000  # features of a batch, as in libra.c, which fits the exponents
MODELS = {"OA": {"parameters": 150000000, "zipf": 1.0707}, "SE": {"parameters": 9000000, "zipf": 1.1689}}
HOT = 30000
BATCHES, AT_ONCE = 20, 4
# Nothing is lost for want of room, nor repeated for want of time, where no loss is asked for: all that is on
# the way fits into a port's queue.
LINE = {"queue_bytes": 4000000}
PATIENT, HASTY = {"rto_us": 5000, "rto_min_us": 2000}, {"rto_us": 1000, "rto_min_us": 100}
START = 0.1  # ms: servers have joined by then
SLOTS = 512  # SwitchML's in 1 MB: 256 values of 4 bytes, twice
TENSOR = 2000000  # bytes


def libra(model, workers, servers=1, hot=HOT, batches=BATCHES, at_once=AT_ONCE, loss=0, rto=PATIENT, **work):
    """Workers push batches as fast as they can; without hot parameters it is what PS-lite does."""
    topology = rack(workers + servers, program="libra" if hot else "l2", **LINE)
    job = {"name": "job", "protocol": "libra", "workers": names(0, workers),
           "servers": names(workers, workers + servers), "hot": hot, "window": 64, "window_max": 256,
           "work": dict(MODELS[model], draws=DRAWS, batches=batches, outstanding=at_once, values="floats",
                        start_ms=START, **work)}
    return {"limit_ms": 60000, "quiet_ms": 1, "topology": topology, "jobs": [dict(job, **rto)],
            "faults": [{"kind": "loss", "rate": loss}] if loss else []}


def switchml(workers, slots):
    """All values, zeros too; what a tensor of 2 MB takes tells its rate."""
    return {"limit_ms": 60000, "quiet_ms": 1, "topology": rack(workers, program="switchml"),
            "jobs": [{"name": "job", "protocol": "switchml", "workers": names(0, workers), "slots": slots,
                      "work": {"kind": "constant", "bytes": TENSOR, "count": 2, "outstanding": 2}}]}


def rate(result):
    """Non-zero values a second that a worker's pushes have added."""
    return result["jobs"][0]["pairs_per_second"]


def all_values(result):
    """Values a second of SwitchML, zeros too."""
    return result["jobs"][0]["gbps"] * 1e9 / 32


def busy(result, link):
    """How much of its time the link was busy while the job worked."""
    x = next(x for x in result["links"] if x["name"] == link)
    return (x["bytes"] + 24 * x["packets"]) * 8 / (x["gbps"] * 1e3 * (result["jobs"][0]["done_us"] - START * 1e3))


def batch_keys(result):
    """Non-zero values of a batch."""
    done = result["jobs"][0]["workers"]
    return sum(w["pairs"] for w in done) / sum(w["batches"] for w in done)


def figure12():
    counts, server_counts = (8, 16, 32), (1, 4)
    runs = {("12", m, w, s, h): libra(m, w, s, h)
            for m in MODELS for w in counts for s in server_counts for h in (HOT, 0)}
    runs.update({("12", "switchml", w): switchml(w, SLOTS) for w in counts})
    r = simulate(runs)
    rows = []
    for m in MODELS:
        for s in server_counts:
            for w in counts:
                ours, none = r["12", m, w, s, HOT], r["12", m, w, s, 0]
                dense = all_values(r["12", "switchml", w])
                rows.append([m, s, w, rate(ours) / 1e6, rate(none) / 1e6, rate(ours) / rate(none),
                             ours["jobs"][0]["hot_share"], dense / 1e6,
                             dense * batch_keys(ours) / MODELS[m]["parameters"] / rate(ours)])
    table("12", ["model", "servers", "workers", "Libra M/s", "PS-lite M/s", "Libra / PS-lite", "hot share",
                 "SwitchML M/s with zeros", "SwitchML / Libra"], rows)
    link = [[m, w, s, h, busy(r["12", m, w, s, h], f"s0>h{w}"), busy(r["12", m, w, s, h], "h0>s0"),
             r["12", m, w, s, h]["jobs"][0]["retransmissions"]]
            for m in MODELS for w in counts for s in server_counts for h in (HOT, 0)]
    table("12-links", ["model", "workers", "servers", "hot", "a server's link", "a worker's link", "sent again"], link)


def figure13():
    runs = {("13", m, h): libra(m, 16, hot=h) for m in MODELS for h in (HOT, 2 * HOT)}
    slots = (8, 16, 32, 64, SLOTS, 2 * SLOTS)
    runs.update({("13", "switchml", n): switchml(16, n) for n in slots})
    r = simulate(runs)
    table("13", ["model", "60,000 / 30,000 hot"], [[m, rate(r["13", m, 2 * HOT]) / rate(r["13", m, HOT])] for m in MODELS])
    full = all_values(r["13", "switchml", SLOTS])
    table("13-switchml", ["slots", "KB", "M/s with zeros", "/ 1 MB"],
          [[n, n * 2, all_values(r["13", "switchml", n]) / 1e6, all_values(r["13", "switchml", n]) / full] for n in slots])


def figure14():
    hots = (5000, 10000, 20000, 30000, 40000, 50000, 60000, 80000, 100000)
    r = simulate({("14", m, h): libra(m, 16, hot=h) for m in MODELS for h in hots})
    table("14", ["hot"] + list(MODELS), [[h] + [rate(r["14", m, h]) / rate(r["14", m, HOT]) for m in MODELS] for h in hots])
    plot("14", "set xlabel 'hot parameters'\nset ylabel 'throughput / 30,000'\nset key bottom right\n"
         "plot for [i=2:3] '14.csv' using 1:i with linespoints lw 2")


def figure18():
    rates, computes, seeds = (0, 1e-4, 2e-4, 5e-4, 1e-3), (0, 500, 5000), range(1, 5)
    runs = {("18", c, p, n): dict(libra("OA", 16, batches=40, at_once=1, loss=p, rto=HASTY, compute_us=c), seed=n)
            for c in computes for p in rates for n in seeds}
    r = simulate(runs)

    def mean(compute, loss, of):
        return sum(of(w) for n in seeds for w in r["18", compute, loss, n]["jobs"][0]["workers"]) / len(seeds) / 16

    def time(compute, loss):
        return mean(compute, loss, lambda w: w["done_us"] - 1e3 * START)

    table("18", ["loss %"] + [f"compute {c} us" for c in computes] + ["sent again by a worker"],
          [[100 * p] + [100 * (time(c, p) / time(c, 0) - 1) for c in computes] +
           [mean(0, p, lambda w: w["retransmissions"])] for p in rates])
    table("18-absolute", ["compute us", "us a batch"], [[c, time(c, 0) / 40] for c in computes])


if __name__ == "__main__":
    figures = {"12": figure12, "13": figure13, "14": figure14, "18": figure18}
    for name in sys.argv[1:] or figures:
        if name not in figures:
            sys.exit(f"there is no figure {name}; there is: {' '.join(figures)}")
    for name in sys.argv[1:] or figures:
        figures[name]()
