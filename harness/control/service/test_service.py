#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The job service of a running ToR (p4/rack) with workers in namespaces that know only its address, a job's name, their
rank and the token: one job, two at once, twenty in a row, a worker killed, two with one rank, strangers of all kinds.
Every worker that ends well has checked every element of every sum."""
import ctypes
import json
import os
import random
import re
import select
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "tor"), os.path.join(os.path.dirname(__file__), "..", "..")]
import tally  # noqa: E402
from lab import SILKEN, Host, Lab, run  # noqa: E402
from test_kill import Process  # noqa: E402

ROUTER_MAC, ROUTER, SERVICE, PORT = "02:00:00:00:ff:01", "10.0.10.1", "10.0.10.254", 9466
TOKEN = "correct-horse-battery-staple"
NAMES = ["w0", "w1", "w2", "w3"]
MOST = 512  # connections
PATIENCE = 120
JOBS = int(os.environ.get("JOBS", "20"))


def ip(name):
    return f"10.0.10.{10 + NAMES.index(name)}"


class Line:
    """A connection to the service, line by line, from the machine that it runs on."""

    def __init__(self, text=None, **request):
        self.socket = socket.create_connection((SERVICE, PORT), 20)
        self.rest = b""
        if text is None and request:
            text = json.dumps({"token": TOKEN, **request}) + "\n"
        if text:
            self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def read(self, seconds=20):
        self.socket.settimeout(seconds)
        while b"\n" not in self.rest:
            got = self.socket.recv(65536)
            if not got:
                return None
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def error(self, seconds=20):
        """The sentence that ends it."""
        while (line := self.read(seconds)) is not None:
            if "error" in line:
                return line["error"]
        return None

    def close(self):
        self.socket.close()

    def __del__(self):
        if hasattr(self, "socket"):
            self.socket.close()


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # a network of its own, so that the service's address is nobody else's
        if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):
            raise OSError(ctypes.get_errno(), "unshare")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "skmgmt", "type", "veth", "peer", "name", "skmgmtp")
        for name in ("skmgmt", "skmgmtp"):
            run("ip", "link", "set", name, "addrgenmode", "none", "up")
        run("ip", "address", "add", SERVICE + "/24", "dev", "skmgmt")
        # the kernel of the switch's machine is a host at port 9
        hosts = {n: Host(i, [f"{ip(n)}/24"]) for i, n in enumerate(NAMES)}
        section = {"mac": ROUTER_MAC, "vlans": [{"vid": 10, "addresses": [ROUTER + "/24"]}],
                   "links": [{"name": n, "port": i, "access": 10} for i, n in enumerate(NAMES)] +
                            [{"name": "mgmt", "port": 9, "access": 10}],
                   "state": "state/jobs.json"}
        cls.lab = Lab(hosts, {"program": os.path.abspath("p4/rack/rack.p4"), "pipes": 3, "control_socket": "tor.sock",
                              "metrics": {},
                              "ports": [{"port": 9, "device": "net_af_packet9,iface=skmgmtp"}], "tor": section,
                              "job_service": {"listen": f"{SERVICE}:{PORT}", "token_file": "token", "slots": 64, "wait": 60,
                                              "grace": 1, "silence": 3}})
        enter = cls.lab.start

        def start():
            cls.token = os.path.join(cls.lab.folder.name, "token")
            if not os.path.exists(cls.token):
                with open(cls.token, "w", opener=lambda p, f: os.open(p, f, 0o600), encoding="ascii") as f:
                    f.write(TOKEN + "\n")
            enter()
        cls.lab.start = start
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        subprocess.run([sys.executable, "-c", QUIET, "skmgmt"], check=True)

    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", os.path.join(self.lab.folder.name, "tor.sock"), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def jobs(self):
        return json.loads(self.ctl("--json", "job", "list"))

    def no_jobs(self, seconds=20):
        end = time.monotonic() + seconds
        while (left := self.jobs())["jobs"] or left["service"]:
            self.assertLess(time.monotonic(), end, left)
            time.sleep(0.1)

    def worker(self, host, job, rank, workers, *more, elements=20000, rounds=3, seed=0):
        return Process(self, self.lab[host], "worker", "--controller", f"{SERVICE}:{PORT}", "--token-file", self.token,
                       "--job-name", job, "--rank", str(rank), "--workers", str(workers), "--device", "afpacket:eth0",
                       "--elements", str(elements), "--rounds", str(rounds), "--seed", str(seed), "--rto-min", "20000",
                       "--rto-max", "200000", *more)

    def good(self, *workers):
        for w in workers:
            self.assertEqual(w.end(PATIENCE), 0, "".join(w.said) + str(self.jobs()))
            self.assertRegex("".join(w.said), r"verified: \d+ rounds of \d+ elements, each the sum of")

    def running(self, *workers, rounds=2):
        end = time.monotonic() + PATIENCE
        while any(w.rounds < rounds for w in workers):
            self.assertLess(time.monotonic(), end, "".join("".join(w.said) for w in workers))
            self.assertTrue(all(w.process.poll() is None for w in workers), "".join("".join(w.said) for w in workers))
            time.sleep(0.05)

    # ---- jobs ----

    def test_a_job_of_two(self):
        first = self.worker("w0", "resnet", 0, 2)
        end = time.monotonic() + 20
        while not (listed := self.jobs()["service"]):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertEqual((listed[0]["name"], listed[0]["state"], listed[0]["missing"]), ("resnet", "waiting", [1]))
        self.assertEqual(listed[0]["members"][0]["address"], ip("w0"))
        self.assertIn("resnet: waits for rank 1", self.ctl("job", "list"))
        second = self.worker("w1", "resnet", 1, 2)
        self.good(first, second)
        self.no_jobs()

    def test_two_at_once_and_one_of_all(self):
        a = [self.worker(f"w{r}", "a", r, 2, rounds=20, seed=1) for r in (0, 1)]
        b = [self.worker(f"w{r + 2}", "b", r, 2, rounds=20, seed=2) for r in (0, 1)]
        self.running(*a, *b)
        jobs = self.jobs()["jobs"]
        self.assertEqual(len({j["number"] for j in jobs}), 2)
        self.assertEqual(len({j["first_slot"] for j in jobs}), 2)
        self.good(*a, *b)
        self.good(*[self.worker(n, "all", r, 4, "--pool", "16") for r, n in enumerate(NAMES)])
        self.no_jobs()

    def test_nobody_by_the_environment(self):
        """Workers of uid 65534 without capabilities: libsilken's silken_open_env() over UDP sockets, as torchrun or a
        shell sets variables."""
        library = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "libsilken.so.0"))
        job = []
        for rank, places in enumerate(({"RANK": "0", "WORLD_SIZE": "2"}, {"SILKEN_RANK": "1", "SILKEN_WORKERS": "2"})):
            job.append(subprocess.Popen(
                ["ip", "netns", "exec", self.lab[f"w{rank}"].namespace, *NOBODY, sys.executable, "-c", BY_ENVIRONMENT, library,
                 str(rank)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
                env={"PATH": os.environ["PATH"], "SILKEN_CONTROLLER": f"{SERVICE}:{PORT}", "SILKEN_TOKEN": TOKEN,
                     "SILKEN_JOB_NAME": "environment", **places}))
        for p in job:
            self.assertEqual(p.communicate(timeout=PATIENCE)[0].splitlines()[-1:], ["exact, uid 65534"])
        self.no_jobs()

    def test_many_in_a_row(self):
        """Of one name, without waiting for the one before to be gone, in any order of ranks and at any places."""
        chance = random.Random(7)
        for i in range(JOBS):
            hosts = chance.sample(NAMES, 2)
            ranks = [0, 1]
            chance.shuffle(ranks)
            self.good(*[self.worker(h, "row", r, 2, rounds=1, elements=3000, seed=i) for h, r in zip(hosts, ranks)])
        self.no_jobs()

    def test_the_next_of_a_name_waits_for_the_one_that_runs(self):
        """A worker that leaves comes again at once, while the other one is still there."""
        lines = [Line(job="next", rank=r, workers=2, ip=ip(f"w{r}")) for r in (0, 1)]
        for line in lines:
            while line.read()["state"] != "admitted":
                pass
        lines[0].socket.sendall(b'{"leave": true}\n')
        again = Line(job="next", rank=0, workers=2, ip=ip("w0"))
        self.assertEqual(again.read(), {"state": "waiting", "missing": [1]})
        other = Line(job="next", rank=1, workers=2, ip=ip("w1"))
        self.assertIn("is running, and its rank 1 is taken", other.error())
        lines[1].socket.sendall(b'{"leave": true}\n')
        self.assertIsNone(lines[1].read())
        other = Line(job="next", rank=1, workers=2, ip=ip("w1"))
        for line in (again, other):
            while line.read()["state"] != "admitted":
                pass
            line.socket.sendall(b'{"leave": true}\n')
        self.no_jobs()

    # ---- failures ----

    def test_a_worker_is_killed(self):
        for victim in range(2):
            job = [self.worker(f"w{r}", "killed", r, 3, rounds=100000, elements=3000) for r in range(3)]
            self.running(*job)
            job[victim].kill()
            began = time.monotonic()
            for r, w in enumerate(job):
                if r == victim:
                    continue
                self.assertEqual(w.end(10), 1, "".join(w.said))
                said = "".join(w.said)
                self.assertIn(f"the job is over: worker {victim} of job 'killed' ({ip(f'w{victim}')}) is gone", said)
                self.assertNotRegex(said, r"element \d+ is")
            self.assertLess(time.monotonic() - began, 10)
        self.good(*[self.worker(f"w{r}", "killed", r, 3, seed=9) for r in range(3)])  # at once, in its place
        self.no_jobs()

    def test_a_host_that_is_silent(self):
        """No FIN and no RST: its link is cut."""
        job = [self.worker(f"w{r}", "silent", r, 2, rounds=100000, elements=3000) for r in range(2)]
        self.running(*job)
        self.lab["w1"].ip("link", "set", "eth0", "down")
        self.addCleanup(self.lab["w1"].ip, "link", "set", "eth0", "up")
        self.assertEqual(job[0].end(25), 1)
        self.assertIn("is gone", "".join(job[0].said))
        job[1].kill()
        self.lab["w1"].ip("link", "set", "eth0", "up")
        self.no_jobs()

    def test_two_with_one_rank(self):
        first = self.worker("w0", "twice", 0, 2, rounds=50)
        end = time.monotonic() + 20
        while not self.jobs()["service"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        second = self.worker("w2", "twice", 0, 2)
        self.assertEqual(second.end(20), 2)
        self.assertIn(f"rank 0 of job 'twice' is taken, by a worker at {ip('w0')}", "".join(second.said))
        other = self.worker("w1", "twice", 1, 2, rounds=50)
        self.running(first, other)
        third = self.worker("w3", "twice", 1, 2)
        self.assertEqual(third.end(20), 2)
        self.assertIn("is running, and its rank 1 is taken", "".join(third.said))
        self.good(first, other)
        self.no_jobs()

    def test_the_operator_removes_it(self):
        job = [self.worker(f"w{r}", "gone", r, 2, rounds=100000, elements=3000) for r in range(2)]
        self.running(*job)
        self.ctl("job", "remove", "gone")
        for w in job:
            self.assertEqual(w.end(20), 1)
            self.assertIn("was removed from the switch by its operator", "".join(w.said))
        self.no_jobs()

    def test_the_switch_is_killed(self):
        """The workers get an error, and a switch that remembers its jobs does not have those of the service."""
        job = [self.worker(f"w{r}", "switch", r, 2, rounds=100000, elements=3000) for r in range(2)]
        self.running(*job)
        self.lab.switch.kill()
        self.lab.switch.communicate()
        for w in job:
            self.assertEqual(w.end(30), 1, "".join(w.said))
            self.assertRegex("".join(w.said), "the job is over: the job service (does not answer any more|has closed)")
        self.lab.start()
        self.assertEqual(self.jobs(), {"jobs": [], "lost": [], "service": []})
        self.good(*[self.worker(f"w{r}", "switch", r, 2, seed=3) for r in range(2)])
        self.no_jobs()

    def test_the_switch_ends(self):
        """As an operator ends it: its jobs are taken away when everything that looks at the switch is gone already."""
        job = [self.worker(f"w{r}", "ended", r, 2, rounds=100000, elements=3000) for r in range(2)]
        self.running(*job)
        self.lab.switch.terminate()
        said = self.lab.switch.communicate(timeout=PATIENCE)
        self.assertEqual(self.lab.switch.returncode, 0, said)
        for w in job:
            self.assertEqual(w.end(30), 1, "".join(w.said))
        self.lab.start()
        self.assertEqual(self.jobs(), {"jobs": [], "lost": [], "service": []})

    def test_metrics(self):
        with urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=20) as page:
            before = dict(re.findall(r"^(silken_service_\w+) (\d+)$", page.read().decode(), re.M))
        self.good(*[self.worker(f"w{r}", "counted", r, 2, rounds=1, elements=3000) for r in range(2)])
        self.no_jobs()
        time.sleep(1)
        with urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=20) as page:
            after = dict(re.findall(r"^(silken_service_\w+) (\d+)$", page.read().decode(), re.M))
        self.assertEqual(int(after["silken_service_jobs_admitted_total"]),
                         int(before["silken_service_jobs_admitted_total"]) + 1)
        self.assertEqual((after["silken_service_jobs"], after["silken_service_connections"]), ("0", "0"))
        self.assertEqual(after["silken_service_jobs_failed_total"], before["silken_service_jobs_failed_total"])

    def test_what_does_not_fit(self):
        keep = Line(job="fits", rank=0, workers=2, ip=ip("w0"))
        self.assertEqual(keep.read()["state"], "waiting")
        for request, sentence in (
                ({"rank": 1, "workers": 3, "ip": ip("w1")}, "were started for 2 workers, this one for 3"),
                ({"rank": 1, "workers": 2, "ip": ip("w0")}, "is worker 0's of job 'fits'"),
                ({"rank": 1, "workers": 2, "ip": ip("w1"), "port": 4791}, "use UDP port 4791, and others the one that the service gives"),
                ({"rank": 1, "workers": 2, "ip": ip("w1"), "slots": 32}, "asked for 64 slots, this one for 32"),
                ({"rank": 2, "workers": 2, "ip": ip("w1")}, "rank: it is 2; it must be 0 to 1"),
                ({"rank": 0, "workers": 33, "ip": ip("w1")}, "workers: it is 33"),
                ({"rank": 1, "workers": 2, "ip": "10.0.10.777"}, "must be an IPv4 address"),
                ({"rank": 1, "workers": 2, "ip": ip("w1"), "kind": "atp"}, "it must be switchml"),
                ({"rank": 1, "workers": 2, "ip": ip("w1"), "what": 1}, "what"),
                ({"rank": 1, "workers": 2, "ip": "192.168.7.7"}, "outside the switch's IPv4 subnets"),
                ({"rank": 1, "workers": 2, "ip": ip("w1"), "mac": "02:00:00:00:10:77"}, "at another MAC address"),
                ({"rank": 1, "workers": 2, "ip": "10.0.10.99"}, "no host has answered")):
            line = Line(job="fits", **request)
            self.assertIn(sentence, line.error(30) or "nothing was said", request)
            line.close()
        self.assertEqual(self.jobs()["service"][0]["missing"], [1])
        keep.close()
        self.no_jobs()

    def test_too_many_slots(self):
        lines = [Line(job="big", rank=r, workers=2, ip=ip(f"w{r}"), slots=8192) for r in (0, 1)]
        small = [Line(job="small", rank=r, workers=2, ip=ip(f"w{r + 2}"), slots=64) for r in (0, 1)]
        told = [next(x for x in iter(line.read, None) if x.get("state") != "waiting") for line in lines + small]
        admitted = [t.get("state") == "admitted" for t in told]
        self.assertIn(admitted, ([True, True, False, False], [False, False, True, True]))
        self.assertIn("there is no room for", next(t["error"] for t in told if "error" in t))
        for line in lines + small:
            line.close()
        self.no_jobs()

    # ---- strangers ----

    def test_strangers(self):
        half = Line('{"token": "' + TOKEN + '", "job"')  # never ends
        for text, sentence in (
                (json.dumps({"token": "guessed-by-somebody-else", "job": "x", "rank": 0, "workers": 1}) + "\n",
                 "the token is not that of this service"),
                (json.dumps({"token": TOKEN[:-1], "job": "x", "rank": 0, "workers": 1}) + "\n", "the token is not"),
                ('{"job": "x", "rank": 0, "workers": 1}\n', "has no \"token\""),
                ('{"token": 7}\n', "has no \"token\""),
                ("GET /metrics HTTP/1.1\r\n\r\n", "must be an object of JSON"),
                ("\n", "must be an object of JSON"),
                ("[" * 2000 + "\n", "must be an object of JSON"),
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", "must be an object of JSON"),
                ("x" * 100000, "one line of at most 2048 bytes"),
                ('{"token": "' + "y" * 3000, "one line of at most 2048 bytes")):
            line = Line(text)
            self.assertIn(sentence, line.error() or "nothing was said", text[:80])
            line.close()
        self.assertIn("no request has come within 5 s", half.error() or "nothing was said")
        self.assertEqual(self.jobs()["service"], [])

    def test_half_messages_are_whole_ones_later(self):
        request = (json.dumps({"token": TOKEN, "job": "slow", "rank": 0, "workers": 1, "ip": ip("w0")}) + "\n").encode()
        line = Line()
        for byte in request:
            line.socket.sendall(bytes([byte]))
            time.sleep(0.005)
        while line.read()["state"] != "admitted":
            pass
        line.socket.sendall(b'{"leave"')
        time.sleep(0.1)
        line.socket.sendall(b': true}\n')
        self.assertIsNone(line.read())
        both = Line(request.decode() + '{"leave": true}\n')
        self.assertIsNone(both.error())
        self.no_jobs()

    def test_garbage_from_a_worker_ends_its_job(self):
        lines = [Line(job="garbage", rank=r, workers=2, ip=ip(f"w{r}")) for r in (0, 1)]
        for line in lines:
            while line.read()["state"] != "admitted":
                pass
        lines[0].socket.sendall(b"what?\n")
        self.assertIn("a worker can only say", lines[0].error())
        self.assertIn("worker 0 of job 'garbage'", lines[1].error())
        self.no_jobs()

    def test_too_many(self):
        """The switch, its control socket and a job go on."""
        job = [self.worker(f"w{r}", "among", r, 2, rounds=100000, elements=3000) for r in range(2)]
        self.running(*job)
        before = sum(w.rounds for w in job)
        memory = self.memory()
        idle = [Line() for _ in range(600)]
        workers = []
        for i in range(MOST + 20):
            try:
                workers.append(Line(job=f"j{i % 300}", rank=i // 300, workers=3, ip=f"10.0.10.{20 + i // 300}"))
            except OSError:
                break
        said, end = {"waiting": 0, "many": 0, "jobs": 0}, time.monotonic() + 30
        for line in workers:
            try:
                got = line.read(max(1, end - time.monotonic())) or {}
            except OSError:
                continue
            said["waiting"] += got.get("state") == "waiting"
            said["many"] += "too many connections" in got.get("error", "")
            said["jobs"] += "the most that it can have" in got.get("error", "")
        began = time.monotonic()
        self.ctl("job", "list")
        self.assertLess(time.monotonic() - began, 10)
        print(f"\n{said}, memory grew by {self.memory() - memory} KiB", flush=True)
        self.assertGreater(said["waiting"], 200)
        self.assertGreater(said["many"] + said["jobs"], 0)
        self.assertLess(self.memory() - memory, 20000)
        for line in idle + workers:
            line.close()
        end = time.monotonic() + PATIENCE
        while sum(w.rounds for w in job) <= before + 4:
            self.assertLess(time.monotonic(), end)
            self.assertTrue(all(w.process.poll() is None for w in job), "".join(job[0].said + job[1].said))
            time.sleep(0.1)
        for w in job:
            w.kill()
        self.no_jobs(60)

    def memory(self):
        with open(f"/proc/{self.lab.switch.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

    def test_one_that_does_not_read(self):
        """Others come and go; it is told, and what it does not read is not kept."""
        deaf = Line(job="deaf", rank=0, workers=3, ip=ip("w0"))
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for i in range(300):
            other = Line(job="deaf", rank=1 + i % 2, workers=3, ip=ip(f"w{1 + i % 2}"))
            self.assertIn("state", other.read())
            other.close()
        readable, _, _ = select.select([deaf.socket], [], [], 5)
        self.assertTrue(readable)
        deaf.close()
        self.no_jobs()


NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all"]

BY_ENVIRONMENT = """
import ctypes, os, sys
silken, rank, n = ctypes.CDLL(sys.argv[1]), int(sys.argv[2]), 10007
comm, why = ctypes.c_void_p(), ctypes.create_string_buffer(1000)
if silken.silken_open_env(ctypes.byref(comm), why, ctypes.c_size_t(len(why))):
    sys.exit(why.value.decode())
for turn in range(3):
    tensor = (ctypes.c_int32 * n)(*(i * (rank + 1) + turn for i in range(n)))
    rc = silken.silken_allreduce_i32(comm, tensor, tensor, ctypes.c_size_t(n))
    if rc or list(tensor) != [3 * i + 2 * turn for i in range(n)]:
        sys.exit(f"turn {turn}: {rc}, {tensor[:8]}")
silken.silken_close(comm)
print(f"exact, uid {os.getuid()}")
"""

QUIET = """
import ctypes, fcntl, socket, struct, sys
value = ctypes.create_string_buffer(struct.pack("II", 0x17, 0))
fcntl.ioctl(socket.socket(), 0x8946, struct.pack("16sP", sys.argv[1].encode(), ctypes.addressof(value)).ljust(40, b"\\0"))
"""

if __name__ == "__main__":
    tally.main()
