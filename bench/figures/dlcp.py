#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulated experiments of the DLCP paper: docs/figures-dlcp.md.

    python3 bench/figures/dlcp.py [2] [11] [13] [14] [16] [ideas] [sweep]

writes a CSV and a PNG for each into OUT (build/figures), from BUILD/silken (build), JOBS at a time (2).
Figure 12 (frameworks) is 11: frameworks differ in what no network sees.
"""
import statistics
import sys

from sweep import ROOT, plot, run, table

PROGRAM = f"{ROOT}/p4/dlcp/dlcp.p4"
CELL, SEGMENT_CELLS = 80, 19  # a frame of 1,514 bytes with its FCS
SIGNALS, FRONT = 31, 3        # DSCPs: signals, and of class c: 4 c + 3
T, D, BOUND = 1 / 16, 0.5, 0.1


def cells(size):
    return int(size) // CELL


# ---- switches: what waits where, and for how much there is room ----

def queue_of(dscp, qid, important_only=False):
    """Entries: what is not ECT is yellow if only what is important is green."""
    return [{"table": "queues_of", "key": {"dscp": dscp, "ecn": ecn}, "action": "queue",
             "args": {"qid": qid, "colour": 1 if important_only and not ecn else 0}} for ecn in range(4)]


def room(buffer, pool):
    """Of a port's queues together: a part of its own, or a share of a pool of the whole switch."""
    if pool:
        return {"pool": 0, "share": 1}
    return {"limit": cells(buffer), "red": cells(buffer), "yellow": cells(buffer), "green": cells(buffer)}


def switch(entries, queues, pool, **more):
    config = {"entries": entries, "queues": [queues]}
    if pool:
        config["pools"] = [{"id": 0, "cells": cells(pool)}]
    return dict({"config": config}, **more)


def fifo(buffer, pool=None):
    return switch([], room(buffer, pool), pool)


def dctcp(buffer, pool=None):
    return switch([], room(buffer, pool), pool, ecn_bytes=65 * SEGMENT_CELLS * CELL)


def pias(buffer, pool=None):
    entries = sum((queue_of(32 + level, 7 - level) for level in range(8)), [])
    schedule = [{"qid": q, "priority": q} for q in range(8)]
    return switch(entries, dict(room(buffer, pool), schedule=schedule), pool, ecn_bytes=65 * SEGMENT_CELLS * CELL)


def pfabric(buffer, pool=None):
    """32 queues in 8 priorities; half of the room is guaranteed to them in equal parts."""
    entries = sum((queue_of(32 + level, 31 - level) for level in range(32)), [])
    own = cells(buffer) // 64
    schedule = [{"qid": 31 - level, "priority": 7 - level // 4, "weight": [1000, 100, 10, 1][level % 4],
                 "guaranteed": own} for level in range(32)]
    queues = room(buffer, pool)
    if not pool:
        queues["limit"] = cells(buffer) - 32 * own
    return switch(entries, dict(queues, schedule=schedule), pool)


def dlcp(buffer, pool=None, first=T, step=D, layers=True):
    """Strict priority by class; 'layers' false: all data in one queue, nothing dropped before the others."""
    entries = queue_of(SIGNALS, 7)
    schedule = [{"qid": 7, "priority": 7}]
    for c in range(7):
        entries += queue_of(FRONT + 4 * c, 6 - c if layers else 0, layers)
        limit = max(SEGMENT_CELLS, min(cells(buffer), int(cells(buffer) * first * (1 + c * step))))
        schedule.append(dict({"qid": 6 - c, "priority": 6 - c}, **(
            {"red": limit, "yellow": limit, "green": cells(buffer)} if layers else {})))
    return switch(entries, dict(room(buffer, pool), schedule=schedule), pool)


SWITCHES = {"newreno": fifo, "cubic": fifo, "dctcp": dctcp, "pias": pias, "pfabric": pfabric, "dlcp": dlcp}


def paths(protocol, by_packet=None):
    """Signals of DLCP keep to their flow's path."""
    if protocol == "dlcp" and by_packet is not False:
        return {"paths": "flow", "sprayed": [FRONT + 4 * c for c in range(7)]}
    return {"paths": "packet" if protocol == "pfabric" else "flow"}


def scenario(topology, job, limit_ms=60000):
    return {"limit_ms": limit_ms, "quiet_ms": 1, "topology": topology, "jobs": [dict({"name": "job"}, **job)]}


def job_of(result):
    return result["jobs"][0]


ITERATIONS = 5


def iteration_ms(result):
    """The mean of those in the middle: nothing is on its way before the first two, and after the last one there is no
    forward pass that could begin while parameters of back layers come."""
    return statistics.mean(t for w in job_of(result)["workers"] for t in w["iteration_us"][2:-1]) / 1000


def flows_ms(result):
    f = job_of(result)["flows"]
    return [f["mean_us"] / 1000, f["p99_us"] / 1000, f["greatest_us"] / 1000]


def lost(result):
    """Part of a run's elements that never came, of DLCP; else of the segments those that were sent again."""
    j = job_of(result)
    if "dlcp" in j:
        return j["dlcp"]["elements_lost"] / max(1, j["dlcp"]["elements"])
    return j["streams"]["again"] / max(1, j["streams"]["segments"])


def dropped(result):
    """Part of the packets that switches received and dropped."""
    return (sum(sum(s["drops"].values()) for s in result["switches"]) /
            max(1, sum(s["received"] for s in result["switches"])))


# ---- figure 2: compression does not help the tail ----

def figure2():
    parameters, workers = 6.8e6, 80
    keys = {}
    for how, factor in [("all", f) for f in (2, 4, 8, 16)] + [("one", f) for f in (2, 4, 8, 16)]:
        # all flows of a host at a time, or one after the other, all hosts beginning with the same server
        job = {"credit_bytes": 1, "begin_with": "the same server"} if how == "one" else {}
        topology = dict({"kind": "rack", "program": PROGRAM, "hosts": workers,
                         "link": {"gbps": 100, "delay_us": 1},
                         "switch": dict(fifo(0, 16e6), pipes=2)}, **paths("newreno"))
        keys["dlcp-2", how, factor] = scenario(topology, {**job,
            "protocol": "newreno", "servers": workers, "cut_bytes": 0, "rto_min_us": 10000,
            "work": {"kind": "training", "layers": [{"bytes": parameters * 4 / factor, "compute_us": 1}],
                     "iterations": 1}})
    results = run(keys)
    rows = [[k[1], f"1/{k[2]}", *flows_ms(r), job_of(r)["streams"]["timeouts"], lost(r)] for k, r in results.items()]
    table("dlcp-2", ["at_a_time", "size", "mean_ms", "p99_ms", "greatest_ms", "timeouts", "again"], rows)
    plot("dlcp-2", "set style data linespoints\nset logscale y\nset yrange [0.1:*]\nset ylabel 'ms'\n"
         "plot 'dlcp-2.csv' using 3:xtic(stringcolumn(1).' '.stringcolumn(2)) title 'mean', '' using 4 title '99 %', "
         "'' using 5 title 'greatest'")


# ---- figures 11 to 13: the testbed ----

POOL, PORTS = 4e6, 7
MODELS = {  # batch, and what is left of the model: one tensor of so many, or sizes divided
    "vgg16": (16, {"scale": 32, "compute_ms": 195 / 2 / 32}), "resnet50": (32, {"every": 8}),
    "inception-v3": (32, {"every": 8}), "transformer": (10, {"every": 12})}
SYSTEMS = {"FIFO": ("cubic", {"connections": "pair"}),
           "ByteScheduler": ("cubic", {"connections": "pair", "order": "layers", "cut_bytes": 500000, "partition_bytes": 500000,
                                       "credit_bytes": 4000000}),
           "DLCP": ("dlcp", {"order": "layers", "cut_bytes": 500000, "partition_bytes": 500000, "credit_bytes": 4000000})}


def testbed(protocol, workers, by_packet=None, settings=None):
    return dict({"kind": "leaf-spine", "program": PROGRAM, "spine_program": PROGRAM, "leaves": 2, "hosts": 5,
                 "spines": 2, "link": {"gbps": 10, "delay_us": 2}, "trunk": {"gbps": 25},
                 "switch": settings or SWITCHES[protocol](POOL / PORTS, POOL)}, **paths(protocol, by_packet))


def training(model, iterations, **more):
    return dict({"kind": "training", "model": model, "iterations": iterations, "forward": "by layer",
                 "jitter": 0.02}, **MODELS[model][1], **more)


def hosts(workers):
    """Half of them below each leaf."""
    return [f"h{i}" for i in range(workers // 2)] + [f"h{5 + i}" for i in range(workers - workers // 2)]


def member(system, workers, work, **more):
    protocol, job = SYSTEMS[system]
    times = {} if protocol == "dlcp" else {"rto_min_us": 5000}
    return dict({"protocol": protocol, "workers": hosts(workers), "work": work}, **job, **times, **more)


def figure11():
    keys = {("dlcp-11", model, workers, system): scenario(
        testbed(SYSTEMS[system][0], workers), member(system, workers, training(model, ITERATIONS), servers=workers))
        for model in MODELS for workers in (2, 10) for system in SYSTEMS}
    speedups("dlcp-11", run(keys))


def figure13():
    keys = {("dlcp-13", model, 10, system): scenario(
        testbed(SYSTEMS[system][0], 10), member(system, 10, training(model, ITERATIONS), form="ring"))
        for model in ("vgg16", "resnet50") for system in SYSTEMS}
    speedups("dlcp-13", run(keys))


def speedups(name, results):
    rows = []
    for (_, model, workers, system), r in results.items():
        if system != "DLCP":
            continue
        ms = {s: iteration_ms(results[name, model, workers, s]) for s in SYSTEMS}
        rows.append([model, workers, *ms.values(), 100 * (ms["FIFO"] / ms["DLCP"] - 1),
                     100 * (ms["ByteScheduler"] / ms["DLCP"] - 1),
                     100 * dropped(results[name, model, workers, "ByteScheduler"]), 100 * lost(r)])
    table(name, ["model", "workers", "FIFO_ms", "ByteScheduler_ms", "DLCP_ms", "over_FIFO_%",
                 "over_ByteScheduler_%", "dropped_ByteScheduler_%", "lost_DLCP_%"], rows)
    plot(name, "set style data histograms\nset style fill solid 0.6\nset ylabel '% faster'\nset yrange [*:*]\n"
         f"plot '{name}.csv' using 6:xtic(stringcolumn(1).' '.stringcolumn(2)) title 'than FIFO', "
         "'' using 7 title 'than ByteScheduler'", "900,400")


# ---- figures 14 and 16: a large network ----

LARGE = ("dctcp", "pias", "pfabric", "dlcp")
EVERY = {"resnet50": 32, "inception-v3": 32}


def large(protocol):
    # 85.2 us for a round trip over four links each way
    return dict({"kind": "leaf-spine", "program": PROGRAM, "spine_program": PROGRAM, "leaves": 9, "hosts": 16,
                 "spines": 4, "link": {"gbps": 100, "delay_us": 85.2 / 8}, "trunk": {"gbps": 400},
                 "switch": SWITCHES[protocol](512e3)}, **paths(protocol))


def spread(workers):
    """As many in each rack."""
    return [f"h{16 * rack + i}" for i in range(workers // 9) for rack in range(9)]


def large_job(protocol, model, workers, rto_ms=10):
    job = {"protocol": protocol, "workers": spread(workers), "servers": workers // 4,
           "work": {"kind": "training", "model": model, "iterations": 1, "every": EVERY[model], "jitter": 0.02}}
    if protocol != "dlcp":
        job["rto_min_us"] = 1000 * rto_ms
    if protocol == "pfabric":
        job["initial_window"] = int(100e9 * 85.2e-6 / 8 / 1514)
    return job


def reductions(name, results, head, label):
    rows = []
    for key, r in results.items():
        *where, protocol = key[1:]
        ours = flows_ms(results[(name, *where, "dlcp")] if (name, *where, "dlcp") in results else
                        results[(name, *where[:-1], 10, "dlcp")])
        mine = flows_ms(r)
        rows.append([*where, protocol, *mine, *(100 * (1 - o / m) for o, m in zip(ours, mine)), 100 * lost(r)])
    table(name, head + ["protocol", "mean_ms", "p99_ms", "greatest_ms", "DLCP_less_mean_%", "DLCP_less_p99_%",
                        "DLCP_less_greatest_%", "lost_or_again_%"], rows)
    n = len(head)
    plot(name, "set style data histograms\nset style fill solid 0.6\nset ylabel 'ms'\nset xtics rotate\n"
         f"plot '{name}.csv' using {n + 2}:xtic({label}) title 'mean', '' using {n + 3} title '99 %'", "900,420")


def figure14():
    cases = [("resnet50", 36), ("resnet50", 144), ("inception-v3", 36), ("inception-v3", 144)]
    keys = {("dlcp-14", model, workers, p): scenario(large(p), large_job(p, model, workers))
            for model, workers in cases for p in LARGE}
    reductions("dlcp-14", run(keys), ["model", "workers"],
               "stringcolumn(1).' '.stringcolumn(2).' '.stringcolumn(3)")


def figure16():
    keys = {("dlcp-16", model, rto, p): scenario(large(p), large_job(p, model, 36, rto))
            for model in EVERY for rto in (10, 5, 1) for p in LARGE if p != "dlcp" or rto == 10}
    reductions("dlcp-16", run(keys), ["model", "rto_min_ms"],
               "stringcolumn(1).' '.stringcolumn(2).' '.stringcolumn(3)")


# ---- ours: each idea alone, and left out ----

def ideas():
    pool = POOL / PORTS
    keys = {}
    for bounded in (False, True):
        for layers in (False, True):
            for sprayed in (False, True):
                job = member("DLCP", 10, training("resnet50", ITERATIONS), servers=10, bound=BOUND if bounded else 0)
                keys["dlcp-ideas", bounded, layers, sprayed] = scenario(
                    testbed("dlcp", 10, sprayed, dlcp(pool, POOL, layers=layers)), job)
    rows = [["yes" if x else "no" for x in k[1:]] + [iteration_ms(r), *flows_ms(r), 100 * lost(r), 100 * dropped(r)]
            for k, r in run(keys).items()]
    table("dlcp-ideas", ["bounded_loss", "layers_and_importance", "sprayed", "iteration_ms", "mean_ms", "p99_ms",
                         "greatest_ms", "lost_%", "dropped_%"], rows)


def sweep():
    pool = POOL / PORTS
    cases = {("T", f"{1 / n:g}"): dict(first=1 / n) for n in (64, 32, 16, 8, 4)}
    cases |= {("d", str(d)): dict(step=d) for d in (0, 0.25, 0.5, 1, 2)}
    cases |= {("pull", str(b)): dict(pull=b) for b in (0, 0.01, 0.03, 0.1)}
    cases |= {("pool_share", str(s)): dict(share=s) for s in (0.25, 0.5, 1, 2)}
    keys = {}
    for name, case in cases.items():
        pull, share = case.pop("pull", BOUND / 10), case.pop("share", 1)
        settings = dlcp(pool, POOL, **case)
        settings["config"]["queues"][0]["share"] = share
        keys["dlcp-sweep", *name] = scenario(
            testbed("dlcp", 10, None, settings),
            member("DLCP", 10, training("resnet50", ITERATIONS), servers=10, pull_bound=pull))
    rows = [[*k[1:], iteration_ms(r), *flows_ms(r), 100 * lost(r), 100 * dropped(r)] for k, r in run(keys).items()]
    table("dlcp-sweep", ["what", "value", "iteration_ms", "mean_ms", "p99_ms", "greatest_ms", "lost_%", "dropped_%"],
          rows)


EXPERIMENTS = {"2": figure2, "11": figure11, "13": figure13, "14": figure14, "16": figure16, "ideas": ideas,
               "sweep": sweep}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(EXPERIMENTS)
    for name in wanted:
        if name not in EXPERIMENTS:
            sys.exit(f"there is no experiment {name}; there is: {' '.join(EXPERIMENTS)}")
    for name in wanted:
        EXPERIMENTS[name]()
