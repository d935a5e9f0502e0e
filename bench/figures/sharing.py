# SPDX-License-Identifier: Apache-2.0
"""Sections 5.4 and D.2: several jobs share a switch's aggregators (figures 13, 14 and 20)."""
import csv
import os

from sweep import OUT, RESNET50_MS, images, names, plot, rack, run as simulate, shares, table, vgg16

# Tensors 400 times as small, links ten times as slow (10 Gbps, and delays ten times as long, so that as many
# packets are in flight): an iteration, and 10 ms of the paper, take a 40th of their time.
SCALE, TIME = 400, 40
ITERATIONS = 6
WORKERS = 3


def in_turn(i, jobs, aggregators):
    """Job i's own aggregators, used in turn as SwitchML uses its slots: window as many, nothing collides."""
    own = aggregators // jobs
    return {"first_index": i * own, "indices": own, "window": own, "window_max": own, "linear": True,
            "congestion_control": False}


def static(i, jobs, aggregators):
    """Job i's own aggregators, and all else as with shared ones."""
    own = aggregators // jobs
    return {"first_index": i * own, "indices": own}


def dynamic(i, jobs, aggregators):
    return {"indices": aggregators}


def linear(i, jobs, aggregators):
    """Shared, and the index is the sequence number modulo their number."""
    return {"indices": aggregators, "linear": True, "rehash": False}


SCHEMES = {"dynamic": dynamic, "static": static, "in-turn": in_turn, "linear": linear}


def vgg_jobs(how, aggregators, jobs=3):
    """Jobs whose workers and servers are on the same hosts, a third of an iteration after each other."""
    return {"limit_ms": 60000, "quiet_ms": 1, "sample_us": 10000 / TIME,
            "topology": rack(WORKERS + 1, gbps=10, delay_us=10),
            "jobs": [dict({"name": f"job{i + 1}", "protocol": "atp", "workers": names(0, WORKERS),
                           "servers": [f"h{WORKERS}"],
                           "work": vgg16(SCALE, TIME, ITERATIONS, start_ms=1.6 * i, jitter=0.02)},
                          **SCHEMES[how](i, jobs, aggregators)) for i in range(jobs)]}


def peak(rows):
    """The fewest aggregators with which the jobs do 99 % of what they do with the most."""
    best = max(rate for _, rate in rows)
    return min(n for n, rate in rows if rate >= 0.99 * best)


def mean_images(result):
    return sum(images(j, TIME) for j in result["jobs"]) / len(result["jobs"])


def find_pta():
    """Peak throughput aggregators, with shares of their own; and, to compare, what slots in turn would need."""
    grid, schemes = [120, 180, 240, 480, 960, 1980, 3000, 6000], ["static", "in-turn"]
    found = simulate({("13-pta", how, n): vgg_jobs(how, n) for n in grid for how in schemes
                      if how == "static" or n < 1000})
    rows = [[n] + [mean_images(found["13-pta", how, n]) if ("13-pta", how, n) in found else "" for how in schemes]
            for n in grid]
    table("13-pta", ["aggregators"] + schemes, rows)


def known_pta(scheme):
    with open(os.path.join(OUT, "13-pta.csv")) as f:
        return peak([(int(row["aggregators"]), float(row[scheme])) for row in csv.DictReader(f) if row[scheme]])


def series(name, result, columns):
    """Per 10 ms of the paper's time, as the mean of four: what `columns` of each job's series add up to."""
    jobs = result["series"]["jobs"]
    rows = []
    for t, us in enumerate(result["series"]["us"]):
        if us > max(j["done_us"] for j in result["jobs"]) + 1000:
            break
        if t % 4 == 0:
            rows.append([round((us + 3 * result["series"]["every_us"]) * TIME / 1000)] + [0] * len(jobs))
        now = [sum(int(jobs[j][c][t]) for c in columns) / 4 for j in sorted(jobs)]
        rows[-1] = rows[-1][:1] + [a + b for a, b in zip(rows[-1][1:], now)]
    table(name, ["ms"] + sorted(jobs), rows)


def compare(name, pta):
    """Figure 13a with so many aggregators as 100 %."""
    ratios, schemes = [100, 83, 67, 50, 33], ["dynamic", "static", "in-turn"]
    results = simulate({(name, how, p): vgg_jobs(how, pta * p // 100) for p in ratios for how in schemes})
    rows = []
    for p in ratios:
        of = [results[name, how, p] for how in schemes]
        rows.append([p, pta * p // 100] + [mean_images(r) for r in of] +
                    [100 * sum(shares(j) for j in r["jobs"]) / 3 for r in of])
    table(name, ["% of PTA", "aggregators"] + schemes + [f"{s}: % in network" for s in schemes], rows)
    plot(name, "set xlabel 'aggregators, % of PTA'\nset ylabel 'images/s and worker'\nset key bottom right\n"
         f"plot for [i=3:5] '{name}.csv' using 1:i with linespoints lw 2", "560,320")
    return results


def figure13():
    find_pta()
    compare("13a-slots", known_pta("in-turn"))
    results = compare("13a", known_pta("static"))
    series("13b", results["13a", "dynamic", 100], ["from_one", "from_some"])
    series("13c", results["13a", "dynamic", 33], ["from_all"])
    for name, what in (("13b", "packets added by the server"), ("13c", "fragments summed in the switch")):
        plot(name, f"set xlabel 'ms of the unscaled time'\nset ylabel '{what}, in 10 ms'\n"
             f"plot for [i=2:4] '{name}.csv' using 1:i with lines", "560,300")


# ---- figure 14 ----

def micro_jobs(how, jobs, aggregators):
    """Microbenchmarks, tensors 8 times as small, links as they are."""
    return {"limit_ms": 60000, "quiet_ms": 1, "topology": rack(3),
            "jobs": [dict({"name": f"job{i + 1}", "protocol": "atp", "workers": ["h0", "h1"], "servers": ["h2"],
                           "work": {"kind": "constant", "bytes": 500000, "count": 6, "outstanding": 2}},
                          **SCHEMES[how](i, jobs, aggregators)) for i in range(jobs)]}


def figure14():
    counts, schemes = [1, 2, 4, 6, 8], ["dynamic", "linear", "static", "in-turn"]
    for name, pta in (("14", known_pta("static")), ("14-slots", known_pta("in-turn"))):
        results = simulate({(name, how, n): micro_jobs(how, n, pta) for n in counts for how in schemes})
        rows = []
        for n in counts:
            of = [results[name, how, n]["jobs"] for how in schemes]
            rows.append([n] + [sum(j["gbps"] for j in jobs) for jobs in of] +
                        [sum(j["retransmissions"] for j in jobs) for jobs in of] +
                        [100 * sum(shares(j) for j in jobs) / n for jobs in of])
        table(name, ["jobs"] + schemes + [f"{s}: sent again" for s in schemes] +
              [f"{s}: % in network" for s in schemes], rows)
        plot(name, f"set title '{pta} aggregators'\nset xlabel 'jobs'\nset ylabel 'Gbps of sums, all jobs'\n"
             f"set key bottom right\nplot for [i=2:5] '{name}.csv' using 1:i with linespoints lw 2", "560,320")


# ---- figure 20 ----

def training(workers, aggregators, model="vgg16", ms=None):
    work = vgg16(SCALE, TIME, ITERATIONS, jitter=0.02)
    work["model"] = model
    if ms:
        work["compute_ms"] = ms / TIME
    return {"protocol": "atp", "workers": workers, "servers": ["h7"], "indices": aggregators, "work": work}


def figure20():
    pta = known_pta("in-turn")  # few: else there is nothing to share but links
    three, others = names(0, 3), names(3, 6)
    cases = {"3 and 3 workers": (training(three, pta), training(others, pta)),
             "5 and 2 workers": (training(names(0, 5), pta), training(names(5, 7), pta)),
             "VGG16 and ResNet50": (training(three, pta), training(others, pta, "resnet50", RESNET50_MS))}
    scenarios = {}
    for case, jobs in cases.items():
        for which, use in (("both", jobs), ("first", jobs[:1]), ("second", jobs[1:])):
            scenarios["20", case.replace(" ", "-"), which] = {
                "limit_ms": 60000, "quiet_ms": 1, "topology": rack(8, gbps=10, delay_us=10),
                "jobs": [dict(j, name=f"job{i}") for i, j in enumerate(use)]}
    results = simulate(scenarios)
    rows = []
    for case in cases:
        both, first, second = ([images(j, TIME) for j in results["20", case.replace(" ", "-"), which]["jobs"]]
                               for which in ("both", "first", "second"))
        alone = first + second
        rows.append([case] + both + alone + [b / a for b, a in zip(both, alone)])
    table("20", ["jobs", "first", "second", "first alone", "second alone", "first / alone", "second / alone"], rows)
    plot("20", "set style data histograms\nset style fill solid 0.6\nset ylabel 'throughput / alone'\n"
         "set yrange [0:1.2]\nplot '20.csv' using 6:xtic(1) title 'first', '' using 7 title 'second'")
