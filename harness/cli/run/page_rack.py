# SPDX-License-Identifier: Apache-2.0
"""page_rack: a rack with a job of SwitchML whose page a browser shows. Needs root, for network namespaces.

    with Rack() as rack:
        rack.start_job()
        rack.lose(2)                     # worker 2 is killed
        rack.url                         # of the page
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "control", "tor")]
from lab import SILKEN, Host, Lab  # noqa: E402

ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
WORKERS = 4
SLOTS = 64
# the last two send other traffic; the name of one would be markup, if a name could be
NAMES = [f"w{i}" for i in range(WORKERS)] + ["t0", "t1"]
HOSTILE = "<img src=x onerror=document.title='taken'>"


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


class Rack:
    def __init__(self, job_stuck=1, hostile=True, elements=2000000, more=None):
        self.elements = elements
        self.names = {**{n: n for n in NAMES}, **({"t1": HOSTILE} if hostile else {})}
        links = [{"name": n, "port": i, "access": 10, "learn": n[0] == "t"} for i, n in enumerate(NAMES)]
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}], "links": links,
                   "macs": [{"vid": 10, "mac": mac(n), "link": n} for n in NAMES],
                   "neighbours": [{"vid": 10, "address": ip(n), "mac": mac(n)} for n in NAMES if n[0] == "w"]}
        hosts = {n: Host(i, [f"{ip(n)}/24"] if n[0] == "t" else []) for i, n in enumerate(NAMES)}
        self.lab = Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "control_socket": "tor.sock",
                               "page": {"listen": "127.0.0.1:0"}, "alarms": {"job_stuck": job_stuck, "queue_drops": 0}, "tor": section,
                               **(more or {})})
        self.lab.named = self.names
        self.workers, self.others = {}, []

    def __enter__(self):
        self.lab.__enter__()
        self.url = f"http://127.0.0.1:{self.lab.page_port}/"
        return self

    def __exit__(self, *_):
        for p in [*self.workers.values(), *self.others]:
            p.kill()
            p.communicate()
        self.lab.__exit__()

    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout

    def inside(self, name, *words):
        return subprocess.Popen(["ip", "netns", "exec", self.lab[name].namespace, *words], stdout=subprocess.DEVNULL,
                                stderr=subprocess.STDOUT)

    def start_job(self):
        members = ",".join(f"w{i}:{ip(f'w{i}')}" for i in range(WORKERS))
        self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers", members, "--slots", str(SLOTS), "--number", "1")
        for i in range(WORKERS):
            self.workers[i] = self.inside(
                f"w{i}", SILKEN, "worker", "--rank", str(i), "--workers", str(WORKERS), "--device", "afpacket:eth0", "--mac",
                mac(f"w{i}"), "--ip", ip(f"w{i}"), "--switch-mac", ROUTER_MAC, "--switch-ip", ROUTER, "--job", "1", "--pool",
                str(SLOTS), "--packet", "64", "--elements", str(self.elements), "--rounds", "1000", "--rto-min", "20000",
                "--rto-max", "200000")

    def hurry(self):
        """What the switch compiles beside its packets has what they leave of the processors; on a busy machine that
        is nothing for minutes."""
        for task in os.listdir(f"/proc/{self.lab.switch.pid}/task"):
            with open(f"/proc/{self.lab.switch.pid}/task/{task}/children", encoding="ascii") as f:
                for child in f.read().split():
                    try:
                        os.setpriority(os.PRIO_PROCESS, int(child), -5)
                    except ProcessLookupError:
                        pass  # it has ended

    def lose(self, worker):
        self.workers[worker].kill()
        self.workers.pop(worker).communicate()

    def other_traffic(self, rate="40M"):
        """UDP from t0 to t1."""
        self.others.append(self.inside("t1", "iperf3", "-s"))
        subprocess.run(["sleep", "0.5"], check=True)
        self.others.append(self.inside("t0", "iperf3", "-c", ip("t1"), "-t", "600", "-u", "-b", rate, "-l", "1200"))
