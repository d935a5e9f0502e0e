#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The ToR beside Open vSwitch's userspace datapath with DPDK and the Linux bridge, each on ports of its own of the
same kind, doing the same: switching Ethernet frames between hosts whose places are known. Silken does it with two
programs: p4/tor with its control plane, the whole ToR, and p4/l2, which does that job alone.

    tor.py SECONDS FOLDER [ROUNDS]     writes FOLDER/tor.json and prints tables

  memory   a net_pcap port that gives the same 2,048 small frames again and again, a net_null port that takes them:
           what the switch itself can do. One, 256 and 2,048 pairs of addresses. Packets sent a second, on one
           processor.
  veth     two hosts, namespaces on veth pairs, on net_af_packet ports as they are by default (the bridge: on the
           pairs themselves). Small and large frames sent as fast as the kernel takes them by the other processor;
           those that arrive count. The round trip of single packets (ICMP echo). And a TCP connection (iperf3) of
           hosts that leave checksums and segments to their card, as they do by default; Open vSwitch's ports do not
           take these, so its hosts cut for themselves.

The switches are there side by side and take turns, in rounds: all but the one whose turn it is are stopped (SIGSTOP),
the bridge's ports are idle. On veth, where what else the machine does shows most, a turn is 50 ms, shorter than most of
that, what sends is stopped and goes on with its switch, and there are so many rounds that frames are sent to each as long
as in memory. Medians of the rounds, and of each round's ratios. The kernel shares processors out among sessions: each
switch, and what sends, is one of its own, and comes before other work of the machine. What is made of a second of a
switch's own time on its processor is told too: other work disturbs that least. Needs root. All is in network namespaces
of its own and gone at the end; so are hugepages that were not there before."""
import json
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
SILKEN = os.path.join(BUILD, "silken")
FLOOD, ECHO = (os.path.abspath(os.path.join(BUILD, "bench", name)) for name in ("flood", "echo"))
VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
A, B = "02:00:00:00:00:aa", "02:00:00:00:00:bb"
PAIRS = (1, 256, 2048)  # of addresses, in memory
FRAMES = 2048
HUGEPAGES = 640
SWITCH_CPU, OTHER_CPU = 1, 0
PRIORITY = -20  # of switches and of what sends
VETH_TURN = 0.05  # seconds
VETH_STARTS = 0.01  # of them before it, for frames to be on their way
TCP_TURN = 2  # seconds of a connection in a turn, of which the first half does not count
ECHO_TURNS = 4  # of echoes, in a round


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr or done.stdout}".strip()[-2000:])
    return done.stdout


def favour(pid):
    """Its session comes before others."""
    os.setpriority(os.PRIO_PROCESS, pid, PRIORITY)
    if os.path.exists(f"/proc/{pid}/autogroup"):
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as f:
            f.write(str(PRIORITY))


def in_front(*words, **more):
    """A process in a session of its own that comes before others."""
    return subprocess.Popen(words, start_new_session=True, preexec_fn=lambda: favour(os.getpid()), **more)


def addresses(pairs):
    """(destination, source) of each of so many."""
    n = max(1, int(pairs ** 0.5))
    return [(f"02:00:00:01:{i // n >> 8:02x}:{i // n & 255:02x}", f"02:00:00:02:00:{i % n:02x}") for i in range(pairs)]


def frames(path, pairs):
    both = [bytes.fromhex((d + s).replace(":", "")) for d, s in addresses(pairs)]
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(FRAMES):
            frame = both[i % pairs] + b"\x88\xb5" + bytes(46)
            f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def cpu_seconds(pid):
    """Of each thread of the process."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task") if pid else []:
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
                found[thread] = int(f.read().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has just ended
    return found


def busiest(before, after):
    """Seconds of the thread that ran most: the one that switches."""
    return max((t - before.get(thread, 0) for thread, t in after.items()), default=0)


class Silken:
    name = "silken"

    def __init__(self, folder):
        self.folder, self.process = folder, None

    def job(self, n_ports, places):
        """The program and what it is told."""
        return {"program": os.path.abspath("p4/tor/tor.p4"),
                "tor": {"vlans": [{"vid": 10}],
                        "links": [{"name": f"p{i}", "port": f"p{i}", "access": 10} for i in range(n_ports)],
                        "macs": [{"vid": 10, "mac": mac, "link": f"p{port}"} for mac, port in places]}}

    def start(self, devices, places):
        """'places': (address, port)."""
        config = {**self.job(len(devices), places), "control_socket": f"{self.name}.sock", "idle_sleep": 0,
                  "cpus": [SWITCH_CPU],
                  "ports": [{"port": i, "device": d, "name": f"p{i}"} for i, d in enumerate(devices)]}
        path = os.path.join(self.folder, f"{self.name}.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(config, f)
        with open(os.path.join(self.folder, "silken.log"), "a", encoding="ascii") as log:
            self.process = in_front(SILKEN, "run", "-c", path, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
        with open(os.path.join(self.folder, "silken.log"), encoding="ascii") as log:
            raise RuntimeError(f"silken did not start: {log.read()}"[-2000:])

    def pid(self):
        return self.process.pid if self.process else None

    def sent(self):
        """Packets, by the second port."""
        said = json.loads(run(SILKEN, "ctl", "--json", "-s", os.path.join(self.folder, f"{self.name}.sock"), "port"))
        return next(p["tx_packets"] for p in said["ports"] if p["port"] == 1)

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.communicate(timeout=30)
            self.process = None


class SilkenL2(Silken):
    """A switch that has nothing else to do: unknown addresses are flooded, and not back to where they came from."""
    name = "silken-l2"

    def job(self, n_ports, places):
        members = [{"node": i + 1, "xid": i} for i in range(n_ports)]
        return {"program": os.path.abspath("p4/l2/l2.p4"),
                "multicast": {"nodes": [{"id": i + 1, "rid": 0, "ports": [i]} for i in range(n_ports)],
                              "groups": [{"id": 1, "nodes": members}]},
                "entries": [{"table": "forward", "key": {"hdr.ethernet.dst_addr": mac}, "action": "send",
                             "args": {"port": port}} for mac, port in places]}


class OpenVSwitch:
    name = "openvswitch"

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "OVS_RUNDIR": folder, "OVS_DBDIR": folder, "OVS_LOGDIR": folder,
                            "OVS_SYSCONFDIR": folder}
        self.database = f"unix:{folder}/db.sock"

    def vsctl(self, *words):
        return run("ovs-vsctl", "--timeout=30", f"--db={self.database}", *words, env=self.environment)

    def start(self, devices, places):
        f = self.folder
        for old in ("conf.db", ".conf.db.~lock~"):
            if os.path.exists(os.path.join(f, old)):
                os.remove(os.path.join(f, old))
        run("ovsdb-tool", "create", f"{f}/conf.db", "/usr/share/openvswitch/vswitch.ovsschema")
        run("ovsdb-server", f"{f}/conf.db", f"--remote=punix:{f}/db.sock", f"--pidfile={f}/db.pid", "--detach",
            f"--log-file={f}/db.log", "-vconsole:off", env=self.environment)
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   "other_config:dpdk-extra=--no-pci", "other_config:dpdk-socket-mem=512",
                   f"other_config:pmd-cpu-mask={1 << SWITCH_CPU:#x}", f"other_config:dpdk-lcore-mask={1 << OTHER_CPU:#x}")
        run(VSWITCHD, f"unix:{f}/db.sock", f"--pidfile={f}/v.pid", "--detach", f"--log-file={f}/v.log",
            "-vconsole:off", env=self.environment)
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                   "other-config:mac-table-size=8192")
        for i, device in enumerate(devices):
            self.vsctl("--no-wait", "add-port", "br0", f"p{i}", "--", "set", "Interface", f"p{i}", "type=dpdk",
                       f"options:dpdk-devargs={device}")
        time.sleep(2)
        favour(self.pid())
        for thread in os.listdir(f"/proc/{self.pid()}/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), PRIORITY)
        for mac, port in places:
            self.place(mac, port)

    def place(self, mac, port):
        """Its ports are there some time after they were added."""
        for last in [False] * 50 + [True]:
            try:
                self.appctl("fdb/add", "br0", f"p{port}", "0", mac)
                return
            except RuntimeError:
                if last:
                    raise
                time.sleep(0.3)

    def pid(self, name="v"):
        path = f"{self.folder}/{name}.pid"
        if not os.path.exists(path):  # it did not come up, or is gone
            return None
        with open(path, encoding="ascii") as f:
            return int(f.read())

    def appctl(self, *words):
        return run("ovs-appctl", "-t", f"{self.folder}/ovs-vswitchd-dpdk.{self.pid()}.ctl", *words, env=self.environment)

    def sent(self):
        said = run("ovs-ofctl", "dump-ports", f"unix:{self.folder}/br0.mgmt", "p1", env=self.environment)
        return int(re.search(r"tx pkts=(\d+)", said).group(1))

    def stop(self):
        pids = {name: self.pid(name) for name in ("v", "db")}
        if pids["v"]:
            self.appctl("exit", "--cleanup")  # with its interfaces
        if pids["db"]:
            os.kill(pids["db"], signal.SIGTERM)
        for _ in range(100):
            if not any(pid and os.path.exists(f"/proc/{pid}") for pid in pids.values()):
                return
            time.sleep(0.1)
        raise RuntimeError("Open vSwitch did not end")


class Bridge:
    name = "bridge"

    def start(self, devices, places):
        run("ip", "link", "add", "bench-br", "type", "bridge")
        for device in devices:
            run("ip", "link", "set", device.split("iface=")[1], "master", "bench-br")
        for mac, port in places:
            run("bridge", "fdb", "add", mac, "dev", devices[port].split("iface=")[1], "master", "static")
        run("ip", "link", "set", "bench-br", "up")

    def pid(self):
        return None

    def stop(self):
        subprocess.run(["ip", "link", "del", "bench-br"], check=False, capture_output=True)


class Hosts:
    """Two of them, in namespaces, for one switch."""

    def __init__(self, name):
        self.names = [f"{name}{i}-{os.getpid()}" for i in (0, 1)]
        self.links = [f"{name[:8]}-p{i}" for i in (0, 1)]
        self.sleepers = []

    def __enter__(self):
        for i, (name, link, mac) in enumerate(zip(self.names, self.links, (A, B))):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", link, "addrgenmode", "none", "up")
            run("ip", "-n", name, "link", "set", "eth0", "address", mac, "up")
            run("ip", "-n", name, "address", "add", f"10.9.0.{i + 1}/24", "dev", "eth0")
            other = (B, A)[i]
            run("ip", "-n", name, "neighbour", "add", f"10.9.0.{2 - i}", "lladdr", other, "dev", "eth0")
            # its /proc/PID/net is the namespace's
            self.sleepers.append(subprocess.Popen(["ip", "netns", "exec", name, "sleep", "infinity"]))
        time.sleep(0.2)
        return self

    def __exit__(self, *_):
        for sleeper in self.sleepers:
            sleeper.kill()
            sleeper.wait()
        for name, link in zip(self.names, self.links):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
            subprocess.run(["ip", "link", "del", link], check=False, capture_output=True)

    def devices(self):
        return [f"net_af_packet{i},iface={link}" for i, link in enumerate(self.links)]

    def inside(self, host, *words):
        return ("ip", "netns", "exec", self.names[host], "taskset", "-c", str(OTHER_CPU), *words)

    def count(self, host, what):
        """Packets of eth0."""
        with open(f"/proc/{self.sleepers[host].pid}/net/dev", encoding="ascii") as f:
            numbers = re.search(r"eth0:\s*(.*)", f.read()).group(1).split()
        return int(numbers[{"received": 1, "sent": 9}[what]])

    def flood(self, length):
        """Sends until it is ended, when it is let."""
        flood = in_front(*self.inside(0, FLOOD, "eth0", "86400", str(length), B, A), stdout=subprocess.DEVNULL)
        time.sleep(0.1)
        flood.send_signal(signal.SIGSTOP)
        return flood

    def counts(self):
        """Frames sent to the switch and received from it, and when."""
        return self.count(0, "sent"), self.count(1, "received"), time.monotonic()

    def round_trip(self, n=250):
        """Of an ICMP echo, in microseconds: the median."""
        with in_front(*self.inside(0, ECHO, "10.9.0.2", str(n), "500"), stdout=subprocess.PIPE, text=True) as echo:
            return float(echo.communicate(timeout=60)[0])


    def cut_themselves(self):
        for i in (0, 1):
            run(*self.inside(i, "ethtool", "-K", "eth0", "tx", "off"))

    def tcp(self):
        """Mbit/s that arrive of one connection."""
        with in_front(*self.inside(1, "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL) as server:
            time.sleep(0.2)
            with in_front(*self.inside(0, "iperf3", "-c", "10.9.0.2", "-J", "-t", str(TCP_TURN / 2), "-O",
                                       str(TCP_TURN / 2)), stdout=subprocess.PIPE, text=True) as client:
                said = json.loads(client.communicate(timeout=60)[0])
            server.wait(timeout=30)
        return said["end"]["sum_received"]["bits_per_second"] / 1e6


def wake(switch, awake):
    if switch.pid():
        os.kill(switch.pid(), signal.SIGCONT if awake else signal.SIGSTOP)


def end_all(switches):
    for s in switches:
        wake(s, True)
        s.stop()


# ---- measured ----


def memory_turn(switch, seconds):
    wake(switch, True)
    time.sleep(0.2)
    before, cpu, start = switch.sent(), cpu_seconds(switch.pid()), time.monotonic()
    time.sleep(seconds)
    sent, of_cpu = switch.sent() - before, busiest(cpu, cpu_seconds(switch.pid()))
    took = time.monotonic() - start
    wake(switch, False)
    return {"pps": sent / took, "pps_of_cpu": sent / of_cpu}


def memory(folder, pairs, seconds, rounds):
    path = os.path.join(folder, "frames.pcap")
    frames(path, pairs)
    switches = [Silken(folder), SilkenL2(folder), OpenVSwitch(folder)]
    found = {s.name: [] for s in switches}
    places = [(mac, 1) for mac in sorted({d for d, _ in addresses(pairs)})]
    try:
        for s in switches:
            s.start([f"net_pcap0,rx_pcap={path},infinite_rx=1", "net_null0,no-rx=1"], places)
            time.sleep(1)
            wake(s, False)
        for _ in range(rounds):
            for s in switches:
                found[s.name].append(memory_turn(s, seconds))
    finally:
        end_all(switches)
    return found


def flood_turn(switch, hosts, flood):
    """Packets offered and received a second, and received in a second of the switch's own time."""
    wake(switch, True)
    flood.send_signal(signal.SIGCONT)
    time.sleep(VETH_STARTS)
    cpu, before = cpu_seconds(switch.pid()), hosts.counts()
    time.sleep(VETH_TURN)
    after, of_cpu = hosts.counts(), busiest(cpu, cpu_seconds(switch.pid()))
    flood.send_signal(signal.SIGSTOP)
    wake(switch, False)
    sent, received, took = (y - x for x, y in zip(before, after))
    return {"offered_pps": sent / took, "pps": received / took, "pps_of_cpu": received / of_cpu if of_cpu else None}


def echo_turn(switch, hosts):
    wake(switch, True)
    time.sleep(0.1)
    hosts.round_trip(20)
    turn = {"round_trip_us": hosts.round_trip()}
    wake(switch, False)
    return turn


def tcp_turn(switch, hosts):
    wake(switch, True)
    turn = {"tcp_mbps": hosts.tcp()}
    wake(switch, False)
    return turn


def in_turns(places, rounds, turn):
    """'places': (switch, hosts, ...) of each. What the turns of each found."""
    found = {place[0].name: [] for place in places}
    for _ in range(rounds):
        for place in places:
            found[place[0].name].append(turn(*place))
    return found


def flooded(places, rounds, length):
    floods = []
    try:
        for _, hosts in places:
            floods.append(hosts.flood(length))
        return in_turns([(*place, flood) for place, flood in zip(places, floods)], rounds, flood_turn)
    finally:
        for flood in floods:
            flood.kill()
            flood.wait()


def tcp(places, rounds):
    for switch, hosts in places:
        if switch.name == "openvswitch":
            hosts.cut_themselves()
    return in_turns(places, rounds, tcp_turn)


def veth(folder, seconds, rounds):
    """Medians already: small and large frames and echoes are not of the same rounds."""
    switches = [Silken(folder), SilkenL2(folder), OpenVSwitch(folder), Bridge()]
    told = {s.name: {} for s in switches}
    with Hosts("silken") as a, Hosts("l2") as l2, Hosts("ovs") as b, Hosts("bridge") as c:
        places = list(zip(switches, (a, l2, b, c)))
        try:
            for s, hosts in places:
                s.start(hosts.devices(), [(A, 0), (B, 1)])
                hosts.round_trip(20)
                wake(s, False)
            floods = max(1, round(rounds * seconds / VETH_TURN))
            for prefix, found in (("small_", flooded(places, floods, 60)), ("large_", flooded(places, floods, 1514)),
                                  ("", in_turns(places, rounds * ECHO_TURNS, echo_turn)),
                                  ("", tcp(places, rounds))):
                for name, figures in medians(found, prefix).items():
                    told[name].update(figures)
        finally:
            end_all(switches)
    return told


# ---- told ----


def times(ours, theirs, less):
    """So many times as good; 'less' is better. In a turn a switch may have sent nothing."""
    better, worse = (theirs, ours) if less else (ours, theirs)
    return better / worse if worse else float("inf")


def medians(found, before=""):
    """Of each figure of each switch, and of each round's ratios of Silken's two programs to the others: above 1,
    Silken's is better. 'before': of the figures' names."""
    told = {}
    for name, turns in found.items():
        told[name] = {}
        for key in turns[0]:
            theirs = [t[key] for t in turns]
            if None in theirs:
                continue
            told[name][before + key] = statistics.median(theirs)
            if name.startswith("silken") or "offered" in key:
                continue
            for program, prefix in (("silken", "ratio_"), ("silken-l2", "l2_ratio_")):
                told[name][prefix + before + key] = statistics.median(
                    times(t[key], y, key.endswith("_us")) for t, y in zip(found[program], theirs))
    return told


RATIOS = (("ratio_", "  p4/tor's ratio"), ("l2_ratio_", "  p4/l2's ratio"))


def show(result):
    print(f"{'in memory':24}" + "".join(f"{p:>12} pairs" for p in PAIRS))
    for name in ("silken", "silken-l2", "openvswitch"):
        print(f"{name:24}" + "".join(f"{result[f'memory_{p}'][name]['pps'] / 1e6:13.2f} Mpps" for p in PAIRS))
    for prefix, label in RATIOS:
        print(f"{label:24}" + "".join(f"{result[f'memory_{p}']['openvswitch'][prefix + 'pps']:18.2f}" for p in PAIRS))
    print(f"\n{'veth':18}{'60 B':>12}{'of own CPU':>14}{'1514 B':>12}{'of own CPU':>14}{'round trip':>14}{'TCP':>14}")
    for name, v in result["veth"].items():
        lines = [("", name)] + ([] if name.startswith("silken") else list(RATIOS))
        for prefix, label in lines:
            cells = [v.get(prefix + key) for key in ("small_pps", "small_pps_of_cpu", "large_pps", "large_pps_of_cpu")]
            print(f"{label:18}" + "".join(("-" if c is None else f"{c:.2f}" if prefix else f"{c / 1e3:.0f}k").rjust(w)
                                          for c, w in zip(cells, (12, 14, 12, 14))) +
                  f"{v[prefix + 'round_trip_us']:11.2f}" + ("   " if prefix else " us") +
                  (f"{v[prefix + 'tcp_mbps']:14.2f}" if prefix else f"{v['tcp_mbps']:9.0f} Mb/s"))


def main():
    seconds, out = float(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    if os.environ.get("TOR_BENCH_INSIDE") != "yes":  # interfaces of our own
        os.environ["TOR_BENCH_INSIDE"] = "yes"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    with open("/proc/sys/vm/nr_hugepages", encoding="ascii") as f:
        before = f.read().strip()
    run("ip", "link", "set", "lo", "up")
    run("sysctl", "-w", f"vm.nr_hugepages={max(int(before), HUGEPAGES)}")
    result = {}
    try:
        with tempfile.TemporaryDirectory(prefix="sktor-") as folder:
            for pairs in PAIRS:
                result[f"memory_{pairs}"] = medians(memory(folder, pairs, seconds, rounds))
            result["veth"] = veth(folder, seconds, rounds)
    finally:
        run("sysctl", "-w", f"vm.nr_hugepages={before}")
    with open(os.path.join(out, "tor.json"), "w", encoding="ascii") as f:
        json.dump(result, f, indent=2)
    show(result)


if __name__ == "__main__":
    main()
