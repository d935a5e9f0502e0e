#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A job of Libra that comes and goes on a running ToR (p4/rack/with_libra.p4), by `silken ctl job add --protocol libra`, beside
a job of SwitchML: the hosts are those of the key-value library, and verify every sum (harness/tools/sums.c). A host that is
none of the job is refused and counted. A job that is removed and added again finds empty cells; one that is there keeps its
sums over a reload and over another program that has its registers; where they are lost, by a restart of the switch or by a
program without Libra, it is not admitted, and says so. A recording of such a job replays to the same output."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab  # noqa: E402

SUMS = os.path.join(os.environ.get("BUILD", "build"), "tools", "sums")
ROUTER_MAC, ROUTER = "02:00:00:00:ff:01", "10.0.10.1"
NAMES = ["s0", "s1", "l0", "l1", "lp", "x"]     # SwitchML; Libra's workers and its server; nobody
NUMBER, EPOCH, HOT = 3, 7, 240000               # as in harness/tools/sums.c
PROGRAM, OTHER = os.path.abspath("p4/rack/with_libra.p4"), os.path.abspath("p4/rack/rack.p4")
LIBRA_PORT, WORKER_PORT, NOT_A_WORKER, PUSH = 0xBEC0, 41000, 13, 1


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


def mac(name):
    return "02:00:00:00:10:%02x" % NAMES.index(name)


def push(sender, src):
    """A push of 1000 to the parameter of rank 0, from the address of 'src'."""
    body = bytes([PUSH << 4, NUMBER]) + (0).to_bytes(2, "big") + (90).to_bytes(4, "big") + b"\x80\0"
    body += EPOCH.to_bytes(2, "big") + bytes(4) + bytes(4) + b"\x44\x7a\0\0"
    body += b"".join(i.to_bytes(4, "big") + bytes(4) for i in range(1, 16))
    udp = WORKER_PORT.to_bytes(2, "big") + LIBRA_PORT.to_bytes(2, "big") + (8 + len(body)).to_bytes(2, "big") + b"\0\0" + body
    head = b"\x45\0" + (20 + len(udp)).to_bytes(2, "big") + b"\0\0\0\0\x40\x11\0\0"
    head += bytes(map(int, src.split("."))) + bytes(map(int, ROUTER.split(".")))
    total = sum(int.from_bytes(head[i:i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + (total ^ 0xFFFF).to_bytes(2, "big") + head[12:]
    return ROUTER_MAC.replace(":", "") + mac(sender).replace(":", "") + "0800" + (head + udp).hex()


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class LibraJob(unittest.TestCase):
    def start(self, **more):
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10} for i, n in enumerate(NAMES)],
                   "macs": [{"vid": 10, "mac": mac(n), "link": n} for n in NAMES],
                   "neighbours": [{"vid": 10, "address": ip(n), "mac": mac(n)} for n in NAMES], "state": "@folder/state/jobs.json"}
        self.lab = Lab({n: Host(i) for i, n in enumerate(NAMES)},
                       {"program": PROGRAM, "pipes": 4, "control_socket": "tor.sock", "tor": section,
                        "requests": {"folders": ["@folder"], "programs": [os.path.dirname(PROGRAM)]}, **more})
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__)
        self.layout = os.path.join(self.lab.folder.name, "layout")
        subprocess.run([SILKEN, "libra", "profile", "--job", str(NUMBER), "--epoch", str(EPOCH), "--portion", "1", "--output",
                        self.layout], input="\n".join(map(str, range(HOT))), text=True, check=True, stdout=subprocess.DEVNULL)

    # ---- commands ----

    def try_ctl(self, *words):
        return subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=600, check=False)

    def ctl(self, *words):
        done = self.try_ctl(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, sentence, *words):
        done = self.try_ctl(*words)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(sentence, done.stderr)

    def add(self, *more):
        words = ("job", "add", "ads", "--protocol", "libra", "--layout", self.layout, "--workers", f"l0:{ip('l0')},l1:{ip('l1')}")
        return self.ctl(*words, *(more or ("--cells", "16384")))

    def jobs(self, which="jobs"):
        return {j["name"]: j for j in json.loads(self.ctl("--json", "job", "list"))[which]}

    def not_workers(self):
        counts = self.ctl("counter", "read", "pipe.Ingress.drops", str(NOT_A_WORKER))
        return int(counts.split("packets")[1].split()[0])

    # ---- hosts ----

    def process(self, name, *words, program=SILKEN):
        p = subprocess.Popen(["ip", "netns", "exec", self.lab[name].namespace, program, *words], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def verified(self, processes):
        for p in processes:
            said = p.communicate(timeout=120)[0]
            self.assertEqual(p.returncode, 0, said[-2000:])

    def libra(self, first, generations=2):
        """Workers that push to keys which no generation had before 'first', since the job was added."""
        words = ["afpacket:eth0", self.layout, f"{mac('lp')}/{ip('lp')}", f"{ROUTER_MAC}/{ROUTER}",
                 *(f"{mac(n)}/{ip(n)}" for n in ("l0", "l1"))]
        server = self.process("lp", "libra-server", *words, program=SUMS)
        self.assertEqual(server.stdout.readline(), "ready\n")
        return [self.process(f"l{r}", "libra", str(r), str(first), str(generations), *words, program=SUMS)
                for r in (0, 1)] + [server]

    def switchml(self):
        return [self.process(f"s{r}", "worker", "--rank", str(r), "--workers", "2", "--device", "afpacket:eth0", "--mac",
                             mac(f"s{r}"), "--ip", ip(f"s{r}"), "--switch-mac", ROUTER_MAC, "--switch-ip", ROUTER, "--job", "1",
                             "--pool", "64", "--packet", "64", "--elements", "40000", "--rounds", "10", "--rto-min", "20000",
                             "--rto-max", "200000") for r in (0, 1)]

    def foreign(self, src):
        """Frames that host x sends; returns how many."""
        sends = ("import socket, sys\ns = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\ns.bind(('eth0', 0))\n"
                 "for _ in range(50):\n    s.send(bytes.fromhex(sys.argv[1]))\n")
        subprocess.run(["ip", "netns", "exec", self.lab["x"].namespace, sys.executable, "-c", sends, push("x", src)], check=True)
        return 50

    # ---- tests ----

    def test_beside_switchml(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.metrics = s.getsockname()[1]
        self.start(metrics={"listen": f"127.0.0.1:{self.metrics}"})
        # a job without enough cells for its layout gets nothing
        self.refused("the layout has 240000 parameters, which are 15000 cells in each register; the job has 4096", "job", "add",
                     "ads", "--protocol", "libra", "--layout", self.layout, "--workers", f"l0:{ip('l0')},l1:{ip('l1')}")
        self.refused("layout: it has the job's number and epoch", "job", "add", "ads", "--protocol", "libra", "--layout",
                     self.layout, "--number", "3", "--workers", f"l0:{ip('l0')}")
        self.refused("folders", "job", "add", "ads", "--protocol", "libra", "--layout", "/etc/hostname", "--workers",
                     f"l0:{ip('l0')}")
        self.assertEqual(self.ctl("job", "list"), "no job\n")
        said = self.add()
        self.assertIn(f"ads: Libra job {NUMBER}, epoch {EPOCH}, {HOT} hot parameters, cells 0 to 16383 of each register\n", said)
        self.refused("there is no room for 1 cells", "job", "add", "more", "--protocol", "libra", "--cells", "1", "--workers",
                     f"x:{ip('x')}")
        self.ctl("job", "add", "resnet", "--protocol", "switchml", "--workers", f"s0:{ip('s0')},s1:{ip('s1')}", "--slots", "64",
                 "--number", "1")
        hosts = self.libra(0) + self.switchml()
        sent = self.foreign(ip("x")) + self.foreign(ip("l0"))  # as itself, and as a worker
        self.verified(hosts)
        self.assertEqual(self.not_workers(), sent)
        for worker in self.jobs()["ads"]["workers"]:
            self.assertGreater(worker["packets"], 100)
        print(self.ctl("job", "list"), flush=True)
        self.seen()
        self.again()
        self.reloaded()
        self.verified(self.switchml())

    def seen(self):
        """What is shown of the job, with its name or its number, is what job list shows."""
        ads = self.jobs()["ads"]
        self.assertEqual(json.loads(self.ctl("--json", "job", "show", "ads")), ads)
        packets, repeated = ([w[k] for w in ads["workers"]] for k in ("packets", "repeated"))
        said = json.loads(self.ctl("--json", "job"))
        self.assertEqual([j["name"] for j in said["libra"]], [str(NUMBER)])
        self.assertEqual([w["packets"] for w in said["libra"][0]["workers"]], packets)
        self.assertEqual([w["repeated"] for w in said["libra"][0]["workers"]], repeated)
        self.assertEqual([w["ip"] for w in said["libra"][0]["workers"]], [ip("l0"), ip("l1")])
        self.assertEqual([j["job"] for j in said["jobs"]], [1])
        text = self.ctl("job")
        self.assertIn(f"job {NUMBER} of Libra: epoch {EPOCH}, cells 0 to 16383 of each register\n", text)
        self.assertRegex(text, rf"  worker  1  {ip('l1')} +packets {packets[1]}, added before {repeated[1]}  last [0-9.]+ s ago\n")
        top = json.loads(self.ctl("--json", "top", "--once", "--view", "jobs"))
        self.assertEqual({(j["kind"], j["job"], j["workers"]) for j in top["jobs"]},
                         {("switchml", "1", 2), ("libra", str(NUMBER), 2)})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=60) as page:
            lines = page.read().decode().splitlines()
        for line in [f'silken_libra_hot_parameters{{job="ads"}} {HOT}', f'silken_libra_epoch{{job="ads"}} {EPOCH}',
                     f'silken_job_workers{{job="{NUMBER}",kind="libra"}} 2',
                     *(f'silken_libra_repetitions_total{{job="ads",member="{i}"}} {n}' for i, n in enumerate(repeated)),
                     *(f'silken_job_worker_packets_total{{job="{NUMBER}",kind="libra",worker="{i}"}} {n}'
                       for i, n in enumerate(packets))]:
            self.assertIn(line, lines)
        self.assertFalse([line for line in lines if line.startswith("silken_libra_waiting")])

    def again(self):
        """The same keys from the first on: what is left of the job before would be in their sums."""
        self.ctl("job", "remove", "ads")
        before = self.not_workers()
        self.add()
        self.assertEqual([w["packets"] for w in self.jobs()["ads"]["workers"]], [0, 0])
        self.verified(self.libra(0))
        self.assertEqual(self.not_workers(), before)

    def reloaded(self):
        """While they run: one more VLAN."""
        hosts = self.libra(2, 4)
        path = os.path.join(self.lab.folder.name, "switch.json")
        with open(path, encoding="utf-8") as f:
            config = json.load(f)
        config["tor"]["vlans"].append({"vid": 30})
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.assertIn("tor changed", self.ctl("reload"))
        self.verified(hosts)

    def test_recorded(self):
        # what the layout said is in the recording, and the file is not needed any more
        run = self.enterContext(tempfile.TemporaryDirectory(prefix="silken-libra-"))
        self.start(record={"file": os.path.join(run, "run.pcapng")})
        for _ in range(2):
            self.add()
            self.verified(self.libra(0, 1))
            self.ctl("job", "remove", "ads")
        os.unlink(self.layout)
        self.assertEqual(self.lab.stop(), 0, self.lab.said)
        same = subprocess.run([SILKEN, "replay", PROGRAM, "--fast", "--config", os.path.join(run, "run.config.json"), "--in",
                               os.path.join(run, "run.pcapng"), "--expect-recorded"], capture_output=True, text=True, timeout=600,
                              check=False)
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        self.assertNotRegex(same.stderr, "differ|control plane")

    def test_registers_that_are_kept_or_lost(self):
        self.start()
        self.add()
        hosts = self.libra(0, 4)
        self.ctl("program", PROGRAM)    # with what is in the registers
        self.verified(hosts)
        self.assertEqual(self.jobs("lost"), {})
        self.ctl("program", OTHER)
        self.assertIn("whose program was replaced", self.jobs("lost")["ads"]["why"])
        self.refused("the running program has no Libra; p4/rack/with_libra.p4 has", "job", "add", "new", "--protocol", "libra",
                     "--workers", f"l0:{ip('l0')}")
        self.ctl("program", PROGRAM)
        self.assertEqual(self.jobs(), {})
        self.ctl("job", "remove", "ads")
        self.add()
        self.verified(self.libra(0))
        # the switch ends without a word, in the middle of a job
        self.lab.switch.kill()
        self.lab.switch.communicate()
        self.lab.start()
        self.assertEqual(self.jobs(), {})
        self.assertIn("its sums were in the switch, which has been restarted", self.jobs("lost")["ads"]["why"])
        self.assertIn("ads", self.ctl("alarms"))
        self.ctl("job", "remove", "ads")
        self.add()
        self.verified(self.libra(0))
        self.ctl("job", "remove", "ads")
        self.assertEqual(self.ctl("job", "list"), "no job\n")


if __name__ == "__main__":
    tally.main()
