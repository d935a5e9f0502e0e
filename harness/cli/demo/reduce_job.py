#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduce end to end on one machine: a switch process with switchml.p4 and worker processes.

    harness/cli/demo/reduce_job.py [--links memif|udp|afpacket|net_af_packet] [--workers 4] [--lanes 1] ...

Each worker is a `silken worker` in a process of its own. With memif the links are shared memory;
otherwise each worker is in a network namespace (needs root) and its link is a veth pair: the switch
has DPDK's net_af_packet on its end, the worker kernel UDP sockets (udp), Silken's packet socket
(afpacket) or the same DPDK driver (net_af_packet). With udp the worker's end has addresses as a
container's has, and the worker is nobody (65534), without capabilities. Everything is removed at the end.

The time of a round is from when all workers have begun to when the last has its whole result, and
every element of it has been checked. Prints one line of JSON: seconds of each round, their median,
gigabits of tensor per second and worker, packets sent again, processor time (of all workers in a
round; of the switch in all rounds, with its start and its waiting).
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

GROUP = 100
TAG = "%x" % os.getpid()  # of namespaces and links: another job may run at the same time
SWITCH_MAC, SWITCH_IP = "02:00:00:00:00:fe", "10.0.0.254"
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all",
          "--inh-caps", "-all", "--no-new-privs"]


def parse_arguments():
    p = argparse.ArgumentParser(description="all-reduce through a switch, end to end")
    p.add_argument("--links", choices=["memif", "udp", "afpacket", "net_af_packet"], default="memif")
    p.add_argument("--workers", type=int, default=4)
    p.add_argument("--lanes", type=int, default=1)
    p.add_argument("--elements", type=int, default=25000000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--pool", type=int, default=256)
    p.add_argument("--packet", type=int, default=256)
    p.add_argument("--silken", default=os.path.join(os.environ.get("BUILD", "build"), "silken"))
    p.add_argument("--program", default="p4/switchml/switchml.p4")
    p.add_argument("--worker-options", default="", help="more options of silken worker")
    p.add_argument("--switch-options", default="", help="more options of silken run")
    p.add_argument("--faults", help="of each link, as in faulty:FAULTS:DEVICE (seed=1,drop=0.01)")
    p.add_argument("--memif-options", default="rsize=9,bsize=1152",
                   help="of the workers' ends, which determine the rings")
    p.add_argument("--limit", type=float, default=300)
    return p.parse_args()


def namespace(worker):
    return "silken-%s-w%d" % (TAG, worker)


class Lane:
    """One link: lane of a worker, port of the switch."""

    def __init__(self, args, folder, worker, lane):
        self.worker, self.lane = worker, lane
        self.port = worker * args.lanes + lane + 1
        self.mac = "02:00:00:00:01:%02x" % self.port
        self.ip = "10.0.0.%d" % self.port
        self.namespace = namespace(worker)
        self.ends = ["s%ss%d" % (TAG, self.port), "s%sw%d" % (TAG, self.port)]
        if args.links == "memif":
            where = "id=0,socket-abstract=no,socket=%s/%d.sock" % (folder, self.port)
            self.switch_device = "net_memif%d,role=server,%s" % (self.port, where)
            self.worker_device = "net_memif%d,role=client,%s,%s" % (
                self.port, where, args.memif_options)
        else:
            fast = "blocksz=65536,framesz=2048,framecnt=2048,qpairs=1"
            self.switch_device = "net_af_packet%d,iface=%s,%s" % (self.port, self.ends[0], fast)
            self.worker_device = {"afpacket": "afpacket:" + self.ends[1], "udp": "udp:" + self.ip}.get(
                args.links, "net_af_packet%d,iface=%s,%s" % (self.port, self.ends[1], fast))


def configuration(args, lanes, program):
    """The tables and groups that p4/switchml/README.md lists; each lane has a group of its own."""
    entries = []
    for l in lanes:
        entries += [{
            "table": "pipe.Ingress.admission.workers",
            "key": {"hdr.switchml.job_number": 1, "hdr.ipv4.src_addr": l.ip,
                    "ig_intr_md.ingress_port": l.port},
            "action": "admit",
            "args": {"worker_bit": 1 << l.worker, "num_workers": args.workers,
                     "group": GROUP + l.lane, "rid": l.port, "port": l.port,
                     "pool_base": 0, "pool_last": args.pool - 1},
        }, {
            "table": "pipe.Egress.receivers", "key": {"md.rid": l.port},
            "action": "address", "args": {"mac": l.mac, "ip": l.ip, "udp_port": 0xbee0},
        }]
    return {
        "program": program,
        "sessions": {"mac": SWITCH_MAC, "ip": SWITCH_IP},
        "ports": [{"port": l.port, "device": l.switch_device} for l in lanes],
        "multicast": {
            "nodes": [{"id": l.port, "rid": l.port, "ports": [l.port]} for l in lanes],
            "groups": [{"id": GROUP + i, "nodes": [l.port for l in lanes if l.lane == i]}
                       for i in range(args.lanes)],
        },
        "entries": entries,
    }


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def make_links(args, lanes):
    if args.links == "memif":
        return
    for w in range(args.workers):
        ip("netns", "add", namespace(w))
    for l in lanes:
        ip("link", "add", l.ends[0], "type", "veth", "peer", "name", l.ends[1])
        ip("link", "set", l.ends[1], "netns", l.namespace)
        ip("link", "set", l.ends[0], "up")
        if args.links == "udp":
            ip("-n", l.namespace, "link", "set", l.ends[1], "address", l.mac)
            ip("-n", l.namespace, "address", "add", l.ip + "/24", "dev", l.ends[1])
        ip("-n", l.namespace, "link", "set", l.ends[1], "up")
        if args.links == "udp":  # switchml.p4 does not answer ARP
            ip("-n", l.namespace, "neighbour", "add", SWITCH_IP, "lladdr", SWITCH_MAC, "dev", l.ends[1])


def remove_links(args, lanes):
    if args.links == "memif":
        return
    for w in range(args.workers):
        subprocess.run(["ip", "netns", "del", namespace(w)], stderr=subprocess.DEVNULL)
    for l in lanes:
        subprocess.run(["ip", "link", "del", l.ends[0]], stderr=subprocess.DEVNULL)


def start_switch(args, folder, lanes):
    path = os.path.join(folder, "switch.json")
    with open(path, "w") as f:
        json.dump(configuration(args, lanes, os.path.realpath(args.program)), f)
    switch = subprocess.Popen([args.silken, "run", "-c", path, "--memory", "400",
                               *args.switch_options.split()],
                              stdout=subprocess.PIPE, text=True)
    for line in switch.stdout:
        if line.strip() == "ready":
            return switch
    sys.exit("the switch does not start")


def start_worker(args, lanes, rank):
    command = [args.silken, "worker", "--rank", str(rank), "--workers", str(args.workers),
               "--pool", str(args.pool), "--packet", str(args.packet),
               "--elements", str(args.elements), "--rounds", str(args.rounds)]
    for l in lanes:
        if l.worker == rank:
            device = l.worker_device
            if args.faults:
                device = "faulty:%s:%s" % (args.faults, device)
            command += ["--device", device]
            command += [] if args.links == "udp" else ["--mac", l.mac, "--ip", l.ip]
    command += args.worker_options.split()
    if args.links == "udp":
        command = [*NOBODY, *command]
    if args.links != "memif":
        command = ["ip", "netns", "exec", namespace(rank), *command]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def rounds_of(text):
    return [float(s) for s in re.findall(r"^round \d+: ([\d.]+) s", text, re.M)]


def run(args, folder, lanes):
    make_links(args, lanes)
    switch = start_switch(args, folder, lanes)
    workers = []
    try:
        workers = [start_worker(args, lanes, rank) for rank in range(args.workers)]
        texts = [w.communicate(timeout=args.limit)[0] for w in workers]
        failed = [w.returncode for w in workers if w.returncode]
    finally:
        for p in workers:
            if p.poll() is None:
                p.kill()
        switch.send_signal(signal.SIGINT)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        end = switch.communicate(timeout=10)[0]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if failed:
        sys.exit("a worker failed")
    seconds = [max(s) for s in zip(*map(rounds_of, texts))]
    median = statistics.median(seconds)
    again = sum(int(n) for t in texts for n in re.findall(r"(\d+) of them again", t))
    cpu = [sum(s) for s in zip(*[[float(s) for s in re.findall(r"([\d.]+) s of processors", t)]
                                 for t in texts])]
    print(json.dumps({
        "links": args.links, "workers": args.workers, "lanes": args.lanes,
        "bytes": 4 * args.elements, "seconds": seconds, "median": median,
        "gbps": round(args.elements * 32 / median / 1e9, 3), "retransmissions": again,
        "worker_cpu_seconds": round(statistics.median(cpu), 3),
        "switch_cpu_seconds": round(sum(after[:2]) - sum(before[:2]), 3),
        "switch": end.strip().splitlines(),
    }))


def main():
    args = parse_arguments()
    folder = tempfile.mkdtemp(prefix="silken-allreduce-")
    lanes = [Lane(args, folder, w, l) for w in range(args.workers) for l in range(args.lanes)]
    try:
        run(args, folder, lanes)
    finally:
        remove_links(args, lanes)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
