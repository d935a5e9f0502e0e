#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulated experiments of the SwitchML paper: docs/figures-switchml.md.

    python3 bench/figures/switchml.py [3] [4] [6] [6-sizes] [7] [9] [12]

writes a CSV and a PNG for each into OUT (build/figures), from BUILD/silken (build), JOBS at a time (2). A run that is done is kept
in BUILD/figures/switchml-kept until its scenario, the simulator or a program changes: what is interrupted goes on from there. QUICK=1: one small point of each figure, which shows that everything works; nothing is drawn.
Figures 2 and 11 are training: bench/figures/switchml_training.py.
"""
import glob
import hashlib
import json
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

import sweep
from sweep import BUILD, JOBS, ROOT, names, plot, rack, table

QUICK = bool(os.environ.get("QUICK"))
KEPT = os.path.join(sweep.WORK, "switchml-kept")
SLOTS = {10: 128, 100: 512}    # appendix C
QUEUE = {"queue_bytes": 4000000}  # nothing is lost but where loss is asked for
MB = 1000000
PIECES = 16


# ---- runs that are kept ----

def digest():
    """Of what decides a run's result: the simulator, hosts and engine, and the programs that they compile."""
    sum_ = hashlib.sha256()
    for folder in ("sim", "hosts", "pipeline", "p4/switchml", "p4/dlcp"):
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.[chp]*"), recursive=True)):
            with open(path, "rb") as f:
                sum_.update(f.read())
    return sum_.hexdigest()


def one(key, scenario, tree):
    name = "-".join(map(str, key)).replace(" ", "_").replace("/", "_")
    said = json.dumps(scenario, sort_keys=True)
    path = os.path.join(KEPT, name + ".json")
    try:
        with open(path, encoding="utf-8") as f:
            kept = json.load(f)
        if kept["tree"] == tree and kept["scenario"] == said:
            return kept["result"]
    except (FileNotFoundError, ValueError, KeyError):
        pass
    result = sweep.run_one(name, scenario)
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump({"tree": tree, "scenario": said, "result": result}, f)
    os.replace(path + ".new", path)
    return result


def run(scenarios):
    """Results by key."""
    os.makedirs(KEPT, exist_ok=True)
    tree = digest()
    with ThreadPoolExecutor(JOBS) as pool:
        jobs = {key: pool.submit(one, key, s, tree) for key, s in scenarios.items()}
        return {key: job.result() for key, job in jobs.items()}


def some(values):
    """All of a figure's values, or with QUICK one."""
    return list(values)[:1] if QUICK else list(values)


# ---- one tensor after the other ----

def tensors(size, count, **more):
    """Training that computes nothing: one tensor after the other, for all protocols alike."""
    return dict({"kind": "training", "layers": [{"bytes": size, "compute_us": 0}], "compute_ms": 0, "iterations": count}, **more)


def line(gbps, delay):
    return {"gbps": gbps, "delay_us": delay, **QUEUE}


def network(hosts, program, gbps, delay):
    paths = {"paths": "flow"} if program == "dlcp" else {}  # its table wants to be told
    return dict({"kind": "rack", "program": program, "hosts": hosts, "link": line(gbps, delay)}, **paths)


def scenario(topology, job, faults=None, **more):
    return dict({"limit_ms": 600000, "quiet_ms": 1, "topology": topology, "jobs": [dict(job, name="job")],
                 "faults": faults or []}, **more)


def switchml(workers, gbps, work, delay=1, k=256, slots=None, f16=False, faults=None, rto_us=None, **more):
    job = {"protocol": "switchml", "workers": names(0, workers), "elements": k,
           "slots": slots or SLOTS[gbps] * 256 // k, "work": dict(work, values="floats") if f16 else work, "f16": f16}
    if rto_us:
        job.update(rto_us=rto_us, rto_min_us=rto_us, rto_max_us=rto_us)
    return scenario(network(workers, "halves" if f16 else "switchml", gbps, delay), job, faults, **more)


def in_pieces(work):
    """A server sends a tensor's sum when it has it from all: so that this begins before all is sent, there are several."""
    if len(work.get("layers", ())) != 1:
        return work
    return dict(work, layers=[{"bytes": work["layers"][0]["bytes"] / PIECES, "compute_us": 0}] * PIECES)


def hosts_alone(form, workers, gbps, work, delay=1, transport="cubic", dedicated=False, faults=None, **more):
    """Over TCP. Servers: one beside each worker, or as many more hosts."""
    job = {"protocol": transport, "form": form, "workers": names(0, workers), "work": work, "connections": "pair"}
    if form == "servers":
        job.update(servers=names(workers, 2 * workers) if dedicated else names(0, workers), cut_bytes=0, work=in_pieces(work))
    return scenario(network(2 * workers if dedicated else workers, "dlcp", gbps, delay), job, faults, **more)


def times(result):
    """Of all workers, microseconds a tensor, without the first one: connections begin there."""
    return [t for w in result["jobs"][0]["workers"] for t in w["iteration_us"][1:]]


def tat(result):
    return statistics.mean(times(result))


def rate(result, size, bytes_=4):
    """Millions of elements a second."""
    return size / bytes_ / tat(result)


def line_rate(gbps, payload, overhead):
    """Millions of elements of 32 bits a second in packets with so much payload."""
    return gbps * 1e3 / 32 * payload / (payload + overhead)


def overhead(result, payload):
    """Bytes of a packet on the wire that are not elements."""
    link = next(x for x in result["links"] if x["name"] == "h0>s0")
    return link["bytes"] / link["packets"] - payload + 24


# ---- figure 3: elements a second ----

def figure3():
    cases = {"SwitchML, 256": (switchml, {}), "SwitchML, 64": (switchml, {"k": 64}), "SwitchML, 256, float16": (switchml, {"f16": True}),
             "dedicated servers": (hosts_alone, {"form": "servers", "dedicated": True}),
             "servers beside workers": (hosts_alone, {"form": "servers"}), "ring": (hosts_alone, {"form": "ring"}),
             "halving and doubling": (hosts_alone, {"form": "halving"})}
    size = {10: MB if QUICK else 4 * MB, 100: MB if QUICK else 8 * MB}
    workers = some([4, 8, 16])
    runs = {("3", gbps, n, case): make(workers=n, gbps=gbps, work=tensors(size[gbps], 2 if QUICK else 3), **more)
            for gbps in some([10, 100]) for n in workers for case, (make, more) in cases.items()}
    results = run(runs)
    for gbps in some([10, 100]):
        over = overhead(results["3", gbps, workers[0], "SwitchML, 256"], 1024)
        rows = [[n] + [rate(results["3", gbps, n, case], size[gbps]) for case in cases] +
                [line_rate(gbps, 1024, over), line_rate(gbps, 1448, 14 + 20 + 20 + 12 + 24) / 2 * n / (n - 1)] for n in workers]
        table(f"3-{gbps}", ["workers"] + heads(cases) + ["limit in the switch", "limit of a ring"], rows)
        draw(f"3-{gbps}", "set style data histograms\nset style fill solid 0.6\nset key outside\n"
             f"set xlabel 'workers, {gbps} Gbps'\nset ylabel 'million elements a second'\n"
             f"plot for [i=2:{len(cases) + 1}] '3-{gbps}.csv' using i:xtic(1)", "900,400")


def heads(cases):
    """Of columns: gnuplot takes a comma for the end of one."""
    return [case.replace(",", "") for case in cases]


def draw(name, commands, size="720,400"):
    if not QUICK:
        plot(name, commands, size)


# ---- figure 9: the pool ----

def figure9():
    pools = some([8, 16, 32, 64, 128, 256, 512, 1024])
    size = MB if QUICK else 4 * MB
    lines = {"10 Gbps, 1 us": (10, 1), "100 Gbps, 1 us": (100, 1), "100 Gbps, 10 us": (100, 10), "100 Gbps, 20 us": (100, 20)}
    results = run({("9", name, n): switchml(8, gbps, tensors(size, 2 if QUICK else 3), delay=delay, slots=n)
                   for name, (gbps, delay) in lines.items() for n in pools})

    def round_trip(r):
        return statistics.mean(f["rtt_us"] for w in r["jobs"][0]["workers"] for f in w["flows"])

    table("9", ["slots"] + [f"{name}: {what}" for name in lines for what in ("M elements/s", "TAT ms of 100 MB", "RTT us")],
          [[n] + [x for name in lines for r in [results["9", name, n]]
                  for x in (rate(r, size), tat(r) / 1000 * 100 * MB / size, round_trip(r))] for n in pools])
    draw("9", "set logscale x 2\nset xlabel 'slots'\nset ylabel 'ms for 100 MB'\nset y2label 'RTT, us'\nset y2tics\nset y2range [0:*]\n"
         "set logscale y\nset yrange [*:*]\nset logscale y2\nset y2range [*:*]\nset key top center\n"
         "plot '9.csv' using 1:6 with linespoints lw 2 title 'TAT, 1 us', '' using 1:9 with linespoints lw 2 title 'TAT, 10 us', "
         "'' using 1:12 with linespoints lw 2 title 'TAT, 20 us', '' using 1:7 axes x1y2 with linespoints dt 2 title 'RTT, 1 us', "
         "'' using 1:10 axes x1y2 with linespoints dt 2 title 'RTT, 10 us', '' using 1:13 axes x1y2 with linespoints dt 2 title 'RTT, 20 us'")


# ---- figure 6: loss ----

def figure6():
    rates = some([1e-4, 1e-3, 1e-2])
    size = MB if QUICK else 4 * MB
    work = tensors(size, 2 if QUICK else 3)
    cases = {"SwitchML, 1 ms": (switchml, {"rto_us": 1000}), "SwitchML": (switchml, {}),
             "ring, cubic": (hosts_alone, {"form": "ring"}), "ring, newreno": (hosts_alone, {"form": "ring", "transport": "newreno"}),
             "halving, cubic": (hosts_alone, {"form": "halving"})}
    seeds = some([1, 2, 3])
    results = run({("6", gbps, case, p, seed): make(workers=8, gbps=gbps, work=work, seed=seed,
                                                    faults=[{"kind": "loss", "rate": p}] if p else [], **more)
                   for gbps in some([10, 100]) for case, (make, more) in cases.items() for p in [0] + rates
                   for seed in (seeds if p else [1])})
    for gbps in some([10, 100]):
        rows = []
        for p in rates:
            row = [100 * p]
            for case in cases:
                lossless = tat(results["6", gbps, case, 0, 1])
                row.append(statistics.median(tat(results["6", gbps, case, p, seed]) for seed in seeds) / lossless)
            rows.append(row)
        table(f"6-{gbps}", ["loss %"] + heads(cases), rows)
        draw(f"6-{gbps}", "set style data histograms\nset style fill solid 0.6\nset logscale y\nset yrange [0.9:*]\n"
             f"set xlabel '% of packets lost on each link, {gbps} Gbps'\nset ylabel 'time / without loss'\n"
             f"plot for [i=2:{len(cases) + 1}] '6-{gbps}.csv' using i:xtic(1)", "900,400")


def figure6_sizes():
    """A time-out is as long whatever a tensor takes."""
    sizes, rates = some([4 * MB if not QUICK else MB, 16 * MB, 100 * MB]), some([1e-4, 1e-3, 1e-2])
    results = run({("6-sizes", gbps, size, p): switchml(8, gbps, tensors(size, 1), rto_us=1000, faults=[{"kind": "loss", "rate": p}] if p else [])
                   for gbps in [100] for size in sizes for p in [0] + rates})

    def took(size, p):
        return results["6-sizes", 100, size, p]["jobs"][0]["done_us"]
    table("6-sizes", ["MB", "ms without loss"] + [f"{100 * p:g} %" for p in rates],
          [[size // MB, took(size, 0) / 1000] + [took(size, p) / took(size, 0) for p in rates] for size in sizes])


# ---- figure 7: in time ----

def figure7():
    size, every = (MB, 100) if QUICK else (50 * MB, 1000)
    faults = {"no loss": [], "0.01 %": [{"kind": "loss", "rate": 1e-4}], "1 %": [{"kind": "loss", "rate": 1e-2}]}
    results = run({("7", name): switchml(8, 10, tensors(size, 1), rto_us=1000, faults=f, sample_us=every) for name, f in faults.items()})
    series = {name: packets(results["7", name], every) for name in faults}
    length = max(map(len, series.values()))
    table("7", ["ms"] + list(faults), [[(i + 1) * every / 1000] + [x[i] if i < len(x) else 0 for x in series.values()]
                                       for i in range(length)])
    draw("7", "set xlabel 'ms'\nset ylabel 'packets of a worker in a ms'\nset key bottom left\n"
         "plot for [i=2:4] '7.csv' using 1:i with steps lw 2")
    # one packet alone, in the middle of a tensor
    shorter, fine = (MB, 20) if QUICK else (8 * MB, 50)
    lost = [{"kind": "loss", "links": ["h0-s0"], "to": "switches", "packets": [shorter // 1024 // 2]}]
    one_loss = {"no loss": ([], 1000), "one loss, 1 ms": (lost, 1000), "one loss": (lost, None)}
    results = run({("7-one", name): switchml(8, 10, tensors(shorter, 1), rto_us=rto, faults=f, sample_us=fine)
                   for name, (f, rto) in one_loss.items()})
    series = {name: packets(results["7-one", name], fine) for name in one_loss}
    length = max(map(len, series.values()))
    table("7-one", ["ms"] + list(one_loss), [[(i + 1) * fine / 1000] + [x[i] if i < len(x) else 0 for x in series.values()]
                                             for i in range(length)])
    table("7-one-total", ["case", "ms", "sent again"],
          [[name, results["7-one", name]["jobs"][0]["done_us"] / 1000, results["7-one", name]["jobs"][0]["retransmissions"]]
           for name in one_loss])
    draw("7-one", f"set xlabel 'ms'\nset ylabel 'packets of a worker in {fine} us'\nset key bottom left\n"
         "plot for [i=2:4] '7-one.csv' using 1:i with steps lw 2")


def packets(result, every):
    """That worker 0 sent in each time of 'every' microseconds, until the job was done."""
    link = next(x for x in result["links"] if x["name"] == "h0>s0")
    frame = link["bytes"] / link["packets"] + 24
    times_ = result["series"]["us"]
    values = result["series"]["links"]["h0>s0"]
    return [g * 1e3 / 8 * every / frame for g, t in zip(values, times_) if t <= result["jobs"][0]["done_us"] + every]


# ---- figure 12: 16-bit floats ----

def figure12():
    size = MB if QUICK else 16 * MB
    work = tensors(size, 2 if QUICK else 3)
    kinds = {"int32": {}, "float32": {"values": "floats"}, "float16": {"values": "floats"}}
    results = run({("12", gbps, kind): switchml(8, gbps, dict(work, **more), f16=kind == "float16")
                   for gbps in some([10, 100]) for kind, more in kinds.items()})
    table("12", ["Gbps", "kind", "TAT ms of 100 MB of 32-bit numbers", "of int32"],
          [[gbps, kind, tat(results["12", gbps, kind]) / 1000 * 100 * MB / size,
            tat(results["12", gbps, kind]) / tat(results["12", gbps, "int32"])] for gbps in some([10, 100]) for kind in kinds])


# ---- figure 4, tables 1 and 2: models ----

# Table 1: MB of a model, ms of a batch and the share of it in communication, of which a part is hidden, at 10 and at 100 Gbps. What
# is left is computing, and is the same at both.
TABLE1 = {"DeepLight": (2319, (2101, 0.97, 0.02), (258, 0.79, 0.20)), "LSTM": (1627, (1534, 0.94, 0.10), (312, 0.46, 0.56)),
          "BERT": (1274, (1677, 0.67, 0.03), (668, 0.17, 0.35)), "VGG19": (548, (661, 0.73, 0.67), (499, 0.10, 0.99)),
          "UGATIT": (511, (1612, 0.28, 0.84), (1212, 0.04, 0.99)), "NCF": (121, (149, 0.72, 0.04), (46, 0.23, 0.27)),
          "SSD": (98, (293, 0.26, 0.99), (293, 0.03, 0.99)), "ResNet-50": (87, (299, 0.29, 0.67), (270, 0.03, 0.94))}
# Its tensors. A table of embeddings comes last in the backward pass and is nearly all of DeepLight, LSTM and NCF; of VGG19 and
# ResNet-50 sim/models.c has the layers; the others' are so many of one size, as published (BERT-large: 24 blocks of four, and the
# embeddings, 124 of 1,336 MB; UGATIT and SSD: convolutions).
TENSORS = {"DeepLight": (20, 0.99), "LSTM": (8, 0.98), "NCF": (8, 0.98), "BERT": (96, 0.093), "UGATIT": (100, 0), "SSD": (80, 0)}
LAYERS = {"VGG19": "vgg19", "ResNet-50": "resnet50"}
SPEEDUP_10 = {"DeepLight": 1.80, "LSTM": 1.77, "NCF": 1.54, "BERT": 1.54, "VGG19": 1.60, "UGATIT": 1.22, "ResNet-50": 1.05, "SSD": 1.01}
SPEEDUP_100 = {"DeepLight": 1.67, "LSTM": 1.20, "NCF": 1.22, "BERT": 1.14}
BYTES = 4 * MB  # of a model, after scaling: an iteration is as much shorter, delays are not


def computing(model):
    """Milliseconds of a batch, from the two networks."""
    return statistics.mean(ms * (1 - share * (1 - hidden)) for ms, share, hidden in TABLE1[model][1:])


def training(model, faster):
    mb = TABLE1[model][0] * 1.048576  # the paper's are 2^20 bytes: VGG19 has 143.7 million parameters
    size = MB / 2 if QUICK else BYTES
    scale = mb * MB / size
    work = {"kind": "training", "iterations": 3, "scale": scale, "compute_ms": computing(model) / faster / scale}
    if model in LAYERS:
        return dict(work, model=LAYERS[model])
    n, last = TENSORS[model]
    each = mb * MB * (1 - last) / n
    layers = [{"bytes": each, "compute_us": 1}] * n
    if last:
        layers += cut(mb * MB * last)
    return dict(work, layers=layers)


def cut(size):
    """A layer has at most 1e9 bytes."""
    parts = int(size // 9e8) + 1
    return [{"bytes": size / parts, "compute_us": 0}] * parts


def figure4():
    models = some(TABLE1)
    systems = {"SwitchML": (switchml, {}), "float16": (switchml, {"f16": True}), "ring": (hosts_alone, {"form": "ring"}),
               "halving": (hosts_alone, {"form": "halving"})}
    speeds = some([(10, 1), (100, 1), (100, 10)])
    results = run({("4", gbps, faster, model, system): make(workers=8, gbps=gbps, work=training(model, faster), **more)
                   for gbps, faster in speeds for model in models for system, (make, more) in systems.items()})
    for gbps, faster in speeds:
        rows = []
        for model in models:
            ms = {system: tat(results["4", gbps, faster, model, system]) / 1000 for system in systems}
            scale = TABLE1[model][0] * 1.048576 * MB / (MB / 2 if QUICK else BYTES)
            paper = {10: SPEEDUP_10, 100: SPEEDUP_100}[gbps].get(model, "") if faster == 1 else ""
            rows.append([model, computing(model) / faster, ms["ring"] * scale, ms["SwitchML"] * scale, ms["ring"] / ms["SwitchML"],
                         ms["halving"] / ms["SwitchML"], ms["ring"] / ms["float16"], paper])
        name = f"4-{gbps}" if faster == 1 else f"4-{gbps}-faster"
        table(name, ["model", "computing ms", "ring ms", "SwitchML ms", "over ring", "over halving", "float16 over ring", "paper"], rows)
        draw(name, "set style data histograms\nset style fill solid 0.6\nset ylabel 'speed-up over a ring'\n"
             f"plot '{name}.csv' using 5:xtic(1) title 'SwitchML', '' using 7 title 'with 16-bit floats'", "800,400")


EXPERIMENTS = {"3": figure3, "4": figure4, "6": figure6, "6-sizes": figure6_sizes, "7": figure7, "9": figure9, "12": figure12}

if __name__ == "__main__":
    wanted = sys.argv[1:] or list(EXPERIMENTS)
    for name_ in wanted:
        if name_ not in EXPERIMENTS:
            sys.exit(f"there is no experiment {name_}; there is: {' '.join(EXPERIMENTS)}")
    for name_ in wanted:
        EXPERIMENTS[name_]()
