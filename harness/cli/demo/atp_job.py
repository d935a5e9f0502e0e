#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An ATP job end to end on one machine: a switch process for each rack with atp.p4, parameter servers
(`silken server`) in the last rack, and workers (`silken worker --protocol atp`).

    harness/cli/demo/atp_job.py [--links memif|afpacket] [--racks 0,0,1,1] [--servers 1] [--lanes 1] ...

With memif the links are shared memory. With afpacket (needs root) each station and each switch is in a
network namespace, links are veth pairs, the switches have DPDK's net_af_packet on their ends and the
stations Silken's packet socket. Everything is removed at the end.

The workers check every element. Prints one line of JSON: seconds of each round until the last worker
had it, what workers and servers say at their end, and the switches' last lines.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

GROUP = 100
PORTS = 63


class Link:
    """A lane of a station, which is a port of its rack's switch."""

    def __init__(self, job, station, lane):
        self.port = job.next_port
        job.next_port += 1
        self.lane = lane
        self.mac = "02:00:00:00:01:%02x" % self.port
        self.ip = "10.0.0.%d" % self.port
        if job.links == "memif":
            where = "id=0,socket-abstract=no,socket=%s/%d.sock" % (job.folder, self.port)
            self.switch_device = "net_memif%d,role=server,%s" % (self.port, where)
            self.device = "net_memif%d,role=client,%s,rsize=9,bsize=1152" % (lane, where)
        else:
            self.switch_device = job.af_packet(self.port, "s%d" % self.port)
            self.device = "afpacket:w%d" % self.port
            job.veth("w%d" % self.port, station.namespace, "s%d" % self.port, job.rack_name(station.rack))


class Station:
    """A worker or a server in a rack."""

    def __init__(self, job, name, rack):
        self.name, self.rack = name, rack
        self.namespace = job.namespace(name)
        self.links = [Link(job, self, lane) for lane in range(job.lanes)]

    def entry(self):
        return {"rack": self.rack, "lanes": [{"mac": l.mac, "ip": l.ip} for l in self.links]}

    def devices(self):
        return [word for l in self.links for word in ("--device", l.device)]


class Job:
    """Processes, links and files of a job. To be closed."""

    def __init__(self, silken, racks, servers=1, lanes=1, links="memif", loss=0.0, type="f32",
                 spares=(), program="p4/atp/atp.p4", options=()):
        self.silken, self.lanes, self.links, self.loss = silken, lanes, links, loss
        self.program, self.type, self.options = os.path.realpath(program), type, list(options)
        self.folder = tempfile.mkdtemp(prefix="silken-atp-")
        self.next_port = 1
        self.namespaces, self.processes = [], []
        self.n_racks = max(racks) + 1
        self.last = self.n_racks - 1
        try:
            for rack in range(self.n_racks):
                self.namespace(self.rack_word(rack))
            self.workers = [Station(self, "w%d" % i, rack) for i, rack in enumerate(racks)]
            self.servers = [Station(self, "p%d" % i, self.last) for i in range(servers)]
            # places for workers that will take failed ones' places: ports that nobody uses at first
            self.spares = [Station(self, "x%d" % i, rack) for i, rack in enumerate(spares)]
            self.join_racks()
            self.write_job()
        except BaseException:
            self.close()
            raise

    # ---- namespaces and links ----

    def namespace(self, word):
        name = "silken-%d-%s" % (os.getpid(), word)
        if self.links != "memif":
            self.ip("netns", "add", name)
            self.namespaces.append(name)
        return name

    @staticmethod
    def rack_word(rack):
        return "r%d" % rack

    def rack_name(self, rack):
        return "silken-%d-%s" % (os.getpid(), self.rack_word(rack))

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    def veth(self, one, in_one, other, in_other):
        self.ip("link", "add", one, "netns", in_one, "type", "veth", "peer", "name", other,
                "netns", in_other)
        self.ip("-n", in_one, "link", "set", one, "up")
        self.ip("-n", in_other, "link", "set", other, "up")

    @staticmethod
    def af_packet(number, interface):
        return ("net_af_packet%d,iface=%s,blocksz=65536,framesz=2048,framecnt=2048,qpairs=1"
                % (number, interface))

    def inside(self, namespace, command):
        return command if self.links == "memif" else ["ip", "netns", "exec", namespace, *command]

    def join_racks(self):
        """The last rack has a link to each other one: (its device, the other's device) by rack."""
        self.uplinks = []
        for rack in range(self.last):
            port = PORTS - rack
            if self.links == "memif":
                where = "id=0,socket-abstract=no,socket=%s/rack-%d.sock" % (self.folder, rack)
                ends = ["net_memif%d,role=%s,%s" % (port, role, where) for role in ("server", "client")]
            else:
                self.veth("u%da" % rack, self.rack_name(self.last), "u%db" % rack, self.rack_name(rack))
                ends = [self.af_packet(port, "u%d%s" % (rack, end)) for end in "ab"]
            self.uplinks.append((port, ends))

    # ---- what everybody is told ----

    def write_job(self):
        """The job file, with the workers as they are now."""
        path = os.path.join(self.folder, "job.json")
        with open(path + ".new", "w") as f:
            json.dump({
                "job": 1, "type": self.type, "indices": 16384, "window_max": 384 // len(self.servers),
                "window": 192 // len(self.servers),
                "workers": [w.entry() for w in self.workers],
                "servers": [s.entry() for s in self.servers],
                "groups": [{"mac": "01:00:5e:00:01:%02x" % lane, "ip": "239.0.1.%d" % lane}
                           for lane in range(self.lanes)],
                "switches": [{"rack": rack, **self.switch_address(rack)} for rack in range(self.n_racks)],
            }, f)
        os.replace(path + ".new", path)
        return path

    @staticmethod
    def switch_address(rack):
        return {"mac": "02:00:00:00:00:%02x" % (0xfe - rack), "ip": "10.0.1.%d" % (254 - rack)}

    def configuration(self, rack):
        stations = self.workers + self.servers + self.spares
        here = [l for s in stations if s.rack == rack for l in s.links]
        members = [l for s in self.workers + self.spares if s.rack == rack for l in s.links]
        ways = [(port, ends[0]) for port, ends in self.uplinks] if rack == self.last else [
            (self.uplinks[rack][0], self.uplinks[rack][1][1])]
        up = [port for port, _ in ways]

        def way_to(station, link):
            if station.rack == rack:
                return link.port
            return up[station.rack] if rack == self.last else up[0]

        entry = {"table": "macs"}
        return {
            "program": self.program,
            "sessions": self.switch_address(rack),
            "ports": [{"port": l.port, "device": l.switch_device} for l in here]
            + [{"port": port, "device": device} for port, device in ways],
            "multicast": {
                "nodes": [{"id": p, "rid": p, "ports": [p]} for p in [l.port for l in here] + up],
                "groups": [{"id": GROUP + lane, "nodes": [l.port for l in members if l.lane == lane]
                            + (up if rack == self.last else [])} for lane in range(self.lanes)],
            },
            "entries": [{**entry, "key": {"hdr.ethernet.dst_addr": l.mac}, "action": "to_port",
                         "args": {"port": way_to(s, l)}} for s in stations for l in s.links]
            + [{**entry, "key": {"hdr.ethernet.dst_addr": "01:00:5e:00:01:%02x" % lane},
                "action": "to_group", "args": {"group": GROUP + lane}} for lane in range(self.lanes)],
            "faults": {"loss": self.loss, "seed": 1 + rack},
        }

    # ---- processes ----

    def start(self, namespace, command):
        process = subprocess.Popen(self.inside(namespace, [self.silken, *command]),
                                   stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    @staticmethod
    def wait_for(process, word, what):
        for line in process.stdout:
            if line.strip() == word:
                return
        raise RuntimeError("%s does not start" % what)

    def start_switches(self):
        """The last rack's first: it makes the sockets of the links to the others."""
        self.switches = []
        for rack in [self.last, *range(self.last)]:
            path = os.path.join(self.folder, "switch-%d.json" % rack)
            with open(path, "w") as f:
                json.dump(self.configuration(rack), f)
            switch = self.start(self.rack_name(rack), ["run", "-c", path, "--memory", "600"])
            self.wait_for(switch, "ready", "a switch")
            self.switches.append(switch)

    def start_servers(self):
        self.serving = []
        for i, s in enumerate(self.servers):
            self.serving.append(self.start(s.namespace, [
                "server", "--job-file", os.path.join(self.folder, "job.json"), "--number", str(i),
                *s.devices()]))
            self.wait_for(self.serving[-1], "ready", "a server")

    def start_worker(self, rank, *more):
        w = self.workers[rank]
        return self.start(w.namespace, [
            "worker", "--protocol", "atp", "--job-file", os.path.join(self.folder, "job.json"),
            "--rank", str(rank), *w.devices(), *self.options, *more])

    def stop_servers(self):
        """Asks them to end; what they say."""
        for s in self.serving:
            s.send_signal(signal.SIGINT)
        said = [s.communicate(timeout=20)[0] for s in self.serving]
        if any(s.returncode for s in self.serving):
            raise RuntimeError("a server failed")
        return said

    def stop_switches(self):
        for s in self.switches:
            s.send_signal(signal.SIGINT)
        return [s.communicate(timeout=20)[0].strip().splitlines() for s in self.switches]

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.kill()
            p.wait()
            p.stdout.close()
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def finish(job, workers, limit):
    """Waits for the workers and stops the rest. What they said, or an error."""
    end = time.time() + limit
    texts = [w.communicate(timeout=max(1, end - time.time()))[0] for w in workers]
    if any(w.returncode for w in workers):
        raise RuntimeError("a worker failed:\n" + "\n".join(texts))
    switches = job.stop_switches()
    return texts, job.stop_servers(), switches


def numbers(texts, pattern):
    return sum(int(n) for t in texts for n in re.findall(pattern, t))


def run(job, limit=120):
    """A job from beginning to end; its figures."""
    job.start_switches()
    job.start_servers()
    workers = [job.start_worker(rank) for rank in range(len(job.workers))]
    texts, served, switches = finish(job, workers, limit)
    rounds = [[float(s) for s in re.findall(r"^round \d+: ([\d.]+) s", t, re.M)] for t in texts]
    return {
        "links": job.links, "workers": len(job.workers), "racks": job.n_racks,
        "seconds": [max(s) for s in zip(*rounds)],
        "retransmissions": numbers(texts, r"(\d+) of them again, \d+ answers"),
        "fragments": numbers(served, r"(\d+) fragments:"),
        "sums_of_switches": numbers(served, r"(\d+) complete sums of switches"),
        "overflows": numbers(served, r"(\d+) overflows"),
        "workers_say": texts, "servers_say": served, "switches_say": switches,
    }


def main():
    p = argparse.ArgumentParser(description="an ATP job, end to end")
    p.add_argument("--links", choices=["memif", "afpacket"], default="memif")
    p.add_argument("--racks", default="0,0,1,1", help="of the workers; servers are in the last one")
    p.add_argument("--servers", type=int, default=1)
    p.add_argument("--lanes", type=int, default=1)
    p.add_argument("--loss", type=float, default=0, help="at the switches' ports")
    p.add_argument("--elements", type=int, default=1000000)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--type", default="f32")
    p.add_argument("--silken", default=os.path.join(os.environ.get("BUILD", "build"), "silken"))
    p.add_argument("--limit", type=float, default=300)
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was made is removed on the way out
    with Job(args.silken, [int(r) for r in args.racks.split(",")], args.servers, args.lanes, args.links,
             args.loss, args.type, options=["--elements", str(args.elements), "--rounds",
                                            str(args.rounds)]) as job:
        print(json.dumps(run(job, args.limit)))


if __name__ == "__main__":
    sys.exit(main())
