# SPDX-License-Identifier: Apache-2.0
"""Runs simulations, two at a time, and puts what comes of them into tables and pictures."""
import csv
import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
WORK = os.path.join(BUILD, "figures")
OUT = os.environ.get("OUT", WORK)
JOBS = int(os.environ.get("JOBS", "2"))

VGG16_MS, RESNET50_MS, BATCH = 195, 110, 32  # sim/models.c


def run_one(name, scenario):
    """The result of a scenario. Sums that are wrong, or missing, end everything: then there is no figure."""
    path, out = os.path.join(WORK, name + ".json"), os.path.join(WORK, name + ".result.json")
    with open(path, "w") as f:
        json.dump(dict(scenario, name=name), f, indent=1)
    done = subprocess.run([os.path.join(BUILD, "silken"), "sim", path, "--json", out],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{name}: silken sim ended with {done.returncode}\n{done.stderr[-2000:]}")
    with open(out) as f:
        result = json.load(f)
    os.unlink(out)
    return result


def run(scenarios):
    """Results of several scenarios by name (any hashable; the file is called after its parts)."""
    os.makedirs(WORK, exist_ok=True)
    with ThreadPoolExecutor(JOBS) as pool:
        jobs = {key: pool.submit(run_one, "-".join(map(str, key)), s) for key, s in scenarios.items()}
        return {key: job.result() for key, job in jobs.items()}


def rack(hosts, gbps=100, delay_us=1, program="atp", **line):
    return {"kind": "rack", "program": program, "hosts": hosts,
            "link": dict({"gbps": gbps, "delay_us": delay_us}, **line), "switch": {"ecn_bytes": 65536}}


def names(first, last):
    return [f"h{i}" for i in range(first, last)]


def vgg16(scale, time, iterations, **more):
    """An iteration is `time` times as short as a real one, its tensors `scale` times as small."""
    return dict({"kind": "training", "model": "vgg16", "scale": scale, "iterations": iterations,
                 "compute_ms": VGG16_MS / time}, **more)


def job_of(result, name):
    return next(j for j in result["jobs"] if j["name"] == name)


def link_of(result, name):
    return next(x for x in result["links"] if x["name"] == name)


def iteration_us(job, skip=1):
    """Mean of an iteration without the first `skip` ones."""
    return statistics.mean(t for w in job["workers"] for t in w["iteration_us"][skip:])


def images(job, time, batch=BATCH, skip=1):
    """Pictures a second and worker, of a real iteration that is `time` times as long."""
    return batch / (iteration_us(job, skip) * time / 1e6)


def shares(job):
    """Of the fragments: how many reached the server as one sum over all workers."""
    all_ = sum(s["from_all"] for s in job["servers"])
    return all_ / sum(s["completed"] for s in job["servers"])


def table(name, head, rows):
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, name + ".csv"), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(head)
        for row in rows:
            w.writerow([f"{x:.4g}" if isinstance(x, float) else x for x in row])
    print(name, *head)
    for row in rows[:40]:
        print("   ", *[f"{x:.4g}" if isinstance(x, float) else x for x in row], flush=True)


def plot(name, commands, size="720,400"):
    """A picture from gnuplot's commands; tables are beside it."""
    script = (f"set terminal pngcairo size {size} font 'Sans,10'\nset output '{name}.png'\n"
              "set datafile separator ','\nset key autotitle columnhead\nset grid\nset yrange [0:*]\n"
              + commands + "\n")
    subprocess.run(["gnuplot", "-"], input=script, text=True, cwd=OUT, check=True)
