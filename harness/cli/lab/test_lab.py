# SPDX-License-Identifier: Apache-2.0
"""silken lab: the network of a scenario as processes. The same file gives the same sums and, where time plays no part,
the same losses and drops as silken sim; commands run in hosts and packets are captured on links; nothing is left when a
lab is killed at any moment; a user without rights has labs, too; mistakes are told. LAB_KILLS: how often one is killed
(10). Needs root, to be somebody else."""
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, "harness")
import tally  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build")) + "/silken"
KILLS = int(os.environ.get("LAB_KILLS", "10"))
ROOT = "/run/silken-lab"
NOBODY = 65534

# No timer of these hosts may end by itself on a busy machine: then the number of packets is no matter of time.
PATIENT = {"rto_us": 20000000, "rto_min_us": 20000000, "rto_max_us": 60000000}
RACK = {"name": "lab rack", "limit_ms": 200000, "quiet_ms": 200,
        "topology": {"kind": "rack", "program": "switchml", "hosts": 3, "link": {"gbps": 1, "delay_us": 50}},
        "jobs": [{"protocol": "switchml", "elements": 64, "slots": 8, **PATIENT,
                  "work": {"kind": "constant", "bytes": 40000, "count": 3}}]}


def silken(*words, **more):
    more.setdefault("timeout", 120)
    return subprocess.run([SILKEN, *words], capture_output=True, text=True, **more)


def processes(name):
    """Those that have the lab's folder on their command lines, without zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read()
        except OSError:
            continue
        if f"{ROOT}/{name}/".encode() in words or f"--name\0{name}\0".encode() in words:
            found.append(int(pid))
    return found


def words(pid):
    with open(f"/proc/{pid}/cmdline") as f:
        return f.read().replace("\0", " ")


def namespaces():
    """Network namespaces that some process is in or holds."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
            for fd in os.listdir(f"/proc/{pid}/fd"):
                to = os.readlink(f"/proc/{pid}/fd/{fd}")
                if to.startswith("net:"):
                    found.add(to)
        except OSError:
            continue
    return found


def lab_json(name):
    with open(f"{ROOT}/{name}/lab.json") as f:
        return json.load(f)


class Lab(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="silken-lab-test-")
        self.names = []

    def tearDown(self):
        for name in self.names:
            silken("lab", "down", "--lab", name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def scenario(self, name, what, program="p4/switchml/switchml.p4"):
        """The file of a lab that is called so."""
        what = json.loads(json.dumps(what))
        if "program" in what["topology"]:
            what["topology"]["program"] = os.path.abspath(program)
        path = f"{self.folder}/{name}.json"
        with open(path, "w") as f:
            json.dump(what, f)
        self.names.append(name)
        return path

    def both(self, path, *options):
        """The results of a lab and of a simulation of the same file."""
        results = []
        for command in (["lab", "run", "--within", "100", *options], ["sim"]):
            out = f"{self.folder}/{command[0]}.json"
            run = silken(*command, "--json", out, path)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            with open(out) as f:
                results.append(json.load(f))
        return results

    def same_sums(self, lab, sim):
        self.assertEqual(lab["state"], "done")
        self.assertEqual((lab["outcome"], sim["outcome"]), ("sums", "sums"))
        for a, b in zip(lab["jobs"], sim["jobs"], strict=True):
            self.assertEqual((a["name"], a["outcome"], a["verified"]), (b["name"], b["outcome"], b["verified"]))
            self.assertGreater(a["verified"], 0)

    def test_a_rack_has_the_same_packets_as_the_simulation(self):
        lab, sim = self.both(self.scenario("lab-rack", RACK))
        self.same_sums(lab, sim)
        for a, b in zip(lab["links"], sim["links"], strict=True):
            self.assertEqual((a["name"], a["packets"], a["delivered_bytes"], a["lost"]),
                             (b["name"], b["packets"], b["delivered_bytes"], b["lost"]))
        a, b = lab["switches"][0]["counts"], sim["switches"][0]
        self.assertEqual((a["rx_packets"], a["tx_packets"], a["copies"], a["drops"]),
                         (b["received"], b["sent"], b["copies"], b["drops"]))

    def test_listed_losses_are_the_same(self):
        what = json.loads(json.dumps(RACK))
        what["jobs"][0].update(rto_us=1000000, rto_min_us=1000000, rto_max_us=5000000)
        what["faults"] = [{"kind": "loss", "packets": [2, 30], "links": ["h0-s0"], "to": "switches"},
                          {"kind": "loss", "packets": [5], "links": ["h2-s0"], "to": "hosts"}]
        lab, sim = self.both(self.scenario("lab-loss", what))
        self.same_sums(lab, sim)
        lost = [{link["name"]: link["lost"] for link in r["links"] if link["lost"]} for r in (lab, sim)]
        self.assertEqual(lost[0], lost[1])
        self.assertEqual(lost[0], {"h0>s0": {"loss": 2}, "s0>h2": {"loss": 1}})

    def test_two_levels_with_random_faults_have_the_same_sums(self):
        what = {"name": "lab levels", "limit_ms": 60000,
                "topology": {"kind": "tree", "program": "atp", "leaves": [2, 2], "root_hosts": 1,
                             "link": {"gbps": 1, "delay_us": 20}},
                "jobs": [{"protocol": "atp", "workers": ["h0", "h1", "h2", "h3"], "servers": ["h4"], "rto_us": 20000,
                          "rto_min_us": 10000, "rto_max_us": 200000,
                          "work": {"kind": "constant", "bytes": 40000, "count": 3}}],
                "faults": [{"kind": "loss", "rate": 0.01}, {"kind": "duplicate", "rate": 0.02},
                           {"kind": "reorder", "rate": 0.02, "by_us": 2000}, {"kind": "corrupt", "rate": 0.005}]}
        lab, sim = self.both(self.scenario("lab-levels", what, "p4/atp/atp.p4"))
        self.same_sums(lab, sim)
        # of each kind something has happened, and is counted
        self.assertGreater(sum(link["lost"].get("loss", 0) for link in lab["links"]), 0)
        self.assertGreater(sum(link["duplicated"] for link in lab["links"]), 0)

    def test_a_switch_that_restarts(self):
        with open("sim/scenarios/switchml-restart.json") as f:
            what = json.load(f)
        what["jobs"][0].update(rto_us=50000, rto_min_us=50000, rto_max_us=500000)
        what["jobs"][0]["work"].update(bytes=20000, count=10, stop_ms=6000)
        what["limit_ms"] = 90000
        lab, _ = self.both(self.scenario("lab-restart", what))
        self.assertEqual(lab["outcome"], "sums")
        workers = lab["jobs"][0]["workers"]
        self.assertTrue(all(w["incarnations"] > 1 for w in workers), workers)

    def test_paths_go_round_a_link_that_is_down(self):
        with open("sim/scenarios/dlcp-faults.json") as f:
            what = json.load(f)
        what["topology"]["spine_program"] = os.path.abspath("p4/dlcp/dlcp.p4")
        what["topology"]["link"]["gbps"] = 1
        what["faults"] = [{"kind": "link_down", "links": ["s0-p0"], "at_us": 2000, "for_us": 400000}]
        lab, sim = self.both(self.scenario("lab-paths", what, "p4/dlcp/dlcp.p4"), "--slower", "20")
        self.assertEqual((lab["outcome"], sim["outcome"]), ("sums", "sums"))

    def test_a_job_of_libra(self):
        self.names.append("libra-rack")
        lab, sim = self.both("sim/scenarios/libra-rack.json")
        self.same_sums(lab, sim)

    def test_collective_operations(self):
        what = json.loads(json.dumps(RACK))
        what["jobs"][0]["work"].update(collectives=True, count=12)
        lab, sim = self.both(self.scenario("lab-collectives", what))
        self.same_sums(lab, sim)

    def test_leaf_and_spine_of_tors(self):
        name = f"lab-spines-{os.getpid()}"
        self.names.append(name)
        lab, sim = self.both("examples/leaf-spine/leaf-spine.json")
        sent = [(b["name"], b["sent"]) for b in sim["background"]]
        for result in (lab, sim):  # on a busy machine hosts' frames may wait, and the last ones be late
            self.assertEqual([(b["name"], b["received"]) for b in result["background"]], sent)
            links = {link["name"]: link["delivered"] for link in result["links"]}
            for link in ("l0>p0", "l0>p1", "l1>p0", "l1>p1"):
                self.assertGreater(links[link], 90)
        up = silken("lab", "up", "--name", name, "examples/leaf-spine/leaf-spine.json")
        self.assertEqual(up.returncode, 0, up.stderr)
        ping = silken("lab", "exec", "--lab", name, "h0", "ping", "-c", "3", "-i", "0.2", "-W", "10", "10.1.1.12")
        self.assertEqual(ping.returncode, 0, ping.stdout + ping.stderr)
        self.assertIn("ttl=61", ping.stdout)  # three switches route
        # flows of many ports take both spines
        ways = set()
        for _ in range(10):
            way = silken("lab", "exec", "--lab", name, "h0", "traceroute", "-n", "-q", "8", "-w", "3", "10.1.1.13")
            ways |= {w for w in ("10.2.0.2", "10.2.1.2") if w in way.stdout}
            if len(ways) == 2:
                break
        self.assertEqual(len(ways), 2, way.stdout)

    def test_an_aggregation_of_ones_own(self):
        folder = self.folder + "/maximum"
        shutil.copytree("examples/maximum", folder, ignore=shutil.ignore_patterns("*.so"))
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-I", "hosts/include", "-o",
                        folder + "/maximum.so", folder + "/maximum.c", "-ljansson"], check=True)
        with open(folder + "/maximum.json") as f:
            what = json.load(f)
        what["faults"] = [{"kind": "loss", "rate": 0.01}]
        what["limit_ms"] = 20000
        what["jobs"][0]["options"].update(pieces=500, rto_us=10000)
        with open(folder + "/loss.json", "w") as f:
            json.dump(what, f)
        self.names.append("loss")
        lab, sim = self.both(folder + "/loss.json")
        self.same_sums(lab, sim)
        self.assertEqual(lab["jobs"][0]["verified"], 4 * 500 * 16)
        self.assertGreater(sum(link["lost"].get("loss", 0) for link in lab["links"]), 0)

    def test_results_that_cannot_be_written(self):
        path = self.scenario("lab-unwritable", RACK)
        run = silken("lab", "run", "--json", "/nowhere/x.json", path)
        self.assertEqual(run.returncode, 2)
        self.assertIn("cannot write /nowhere/x.json", run.stderr)
        self.assertEqual(run.stdout, "")  # before anything began

    def test_logs_of_a_run_that_failed_stay(self):
        what = json.loads(json.dumps(RACK))
        what["faults"] = [{"kind": "loss", "rate": 1}]
        what["limit_ms"] = 300
        path = self.scenario(f"lab-failed-{os.getpid()}", what)
        run = silken("lab", "run", path)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        folder = run.stderr.split("its logs are in ")[1].strip()
        self.assertIn("s0.log", os.listdir(folder))
        self.assertEqual(silken("lab", "down", "--lab", f"lab-failed-{os.getpid()}").returncode, 0)
        self.assertFalse(os.path.exists(folder))

    def test_hosts_that_are_scripts(self):
        name = f"lab-scripts-{os.getpid()}"
        self.names.append(name)
        up = silken("lab", "up", "--name", name, "examples/maximum/network.json")
        self.assertEqual(up.returncode, 0, up.stderr)
        hosts = [subprocess.Popen([SILKEN, "lab", "exec", "--lab", name, f"h{h}", sys.executable,
                                   os.path.abspath("examples/maximum/host.py"), str(h), "4"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) for h in range(4)]
        self.assertEqual([h.communicate(timeout=60)[0] for h in hosts], ["1600 elements verified\n"] * 4)

    def test_commands_in_hosts_and_captures_on_links(self):
        name = f"lab-commands-{os.getpid()}"
        path = self.scenario(name, RACK)
        up = silken("lab", "up", path)
        self.assertEqual(up.returncode, 0, up.stderr)
        again = silken("lab", "up", path)
        self.assertEqual(again.returncode, 2)
        self.assertIn("is up already", again.stderr)
        wait = silken("lab", "wait", "--lab", name, "--within", "100")
        self.assertEqual(wait.returncode, 0, wait.stdout + wait.stderr)
        self.assertIn("sums", wait.stdout)
        addresses = {s["name"]: s.get("address") for s in lab_json(name)["stations"]}
        capture = f"{self.folder}/link.pcap"
        with subprocess.Popen([SILKEN, "lab", "pcap", "--lab", name, "h0-s0", "--filter", "icmp", "--count", "6", "-o",
                               capture], stderr=subprocess.PIPE, text=True) as tap:
            self.assertEqual(tap.stderr.readline(), "capturing\n")
            ping = silken("lab", "exec", "--lab", name, "h1", "ping", "-c", "3", "-i", "0.2", "-W", "5", addresses["h0"])
            self.assertEqual(ping.returncode, 0, ping.stdout + ping.stderr)
            self.assertEqual(tap.wait(timeout=20), 0)
        shown = subprocess.run(["tcpdump", "-nr", capture], capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown.count("ICMP echo request"), 3, shown)
        self.assertEqual(shown.count("ICMP echo reply"), 3, shown)
        # what jobs send and receive is on the link as well
        one = json.loads(json.dumps(RACK))
        one["jobs"][0]["work"]["count"] = 0
        jobs = f"lab-jobs-{os.getpid()}"
        self.names.append(jobs)
        self.assertEqual(silken("lab", "up", "--name", jobs, self.scenario("endless", one)).returncode, 0)
        taken = silken("lab", "pcap", "--lab", jobs, "h0-s0", "--filter", "udp", "--count", "40", "-o", capture)
        self.assertEqual(taken.returncode, 0, taken.stderr)
        shown = subprocess.run(["tcpdump", "-nr", capture], capture_output=True, text=True, check=True).stdout
        self.assertIn("10.0.0.2.48864 > 10.0.0.1.48864", shown)
        self.assertIn("10.0.0.1.48864 > 10.0.0.2.48864", shown)
        self.assertEqual(silken("lab", "down", "--lab", jobs).returncode, 0)
        # TCP: no frame on a cable is longer than the interface says, none lacks its checksum
        server = subprocess.Popen([SILKEN, "lab", "exec", "--lab", name, "h2", "timeout", "40", "iperf3", "--forceflush", "-s",
                                   "-1"],
                                  stdout=subprocess.PIPE, text=True)
        while "listening" not in server.stdout.readline():
            self.assertIsNone(server.poll())
        client = silken("lab", "exec", "--lab", name, "h0", "iperf3", "-n", "2M", "-c", addresses["h2"])
        said, _ = server.communicate(timeout=60)
        self.assertEqual(client.returncode, 0, client.stdout + client.stderr + said)
        self.assertEqual(silken("lab", "exec", "--lab", name, "h0", "sh", "-c", "exit 7").returncode, 7)
        status = json.loads(silken("lab", "status", "--lab", name, "--json", "-").stdout)
        self.assertEqual((status["state"], status["result"]["outcome"]), ("up", "sums"))
        self.assertGreater(status["result"]["switches"][0]["counts"]["rx_packets"], 0)
        for words, sentence in [(["exec", "--lab", name, "h9", "true"], "no station 'h9'"),
                                (["exec", "--lab", name, "h0", "/no/such/command"], "cannot run"),
                                (["pcap", "--lab", name, "h0-h1"], "no link 'h0-h1'"),
                                (["pcap", "--lab", name, "h0-s0", "--filter", "tcp port"], "syntax error")]:
            run = silken("lab", *words)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn(sentence, run.stderr)
        self.assertEqual(silken("lab", "down", "--lab", name).returncode, 0)
        self.assertEqual(processes(name), [])
        self.assertFalse(os.path.exists(f"{ROOT}/{name}"))

    def test_ends_of_a_run(self):
        name = f"lab-ends-{os.getpid()}"
        self.names.append(name)
        endless = json.loads(json.dumps(RACK))
        endless["jobs"][0]["work"]["count"] = 0
        path = self.scenario("endless", endless)
        for number in (signal.SIGINT, signal.SIGTERM):
            run = subprocess.Popen([SILKEN, "lab", "run", "--name", name, path], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
            self.wait_until_up(name)
            run.send_signal(number)
            self.assertEqual(run.wait(timeout=30), 1)
            self.assertIn("interrupted", run.stderr.read())
            run.stderr.close()
            self.assertFalse(os.path.exists(f"{ROOT}/{name}"))
        # when the process of the cables dies the lab ends, and whoever waits is told
        run = subprocess.Popen([SILKEN, "lab", "run", "--name", name, path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        self.wait_until_up(name)
        carrier = [p for p in processes(name) if p not in (run.pid, lab_json(name)["pid"]) and "run -c" not in words(p)]
        self.assertEqual(len(carrier), 1, carrier)
        os.kill(carrier[0], signal.SIGKILL)
        self.assertEqual(run.wait(timeout=30), 1)
        self.assertIn("has ended before its jobs", run.stderr.read())
        run.stderr.close()

    def wait_until_up(self, name):
        for _ in range(600):
            with contextlib.suppress(OSError, ValueError):
                if lab_json(name)["stations"]:
                    return
            time.sleep(0.05)
        self.fail("the lab does not come up")

    def test_two_at_once_and_the_end_of_one_that_comes_up(self):
        name = f"lab-twice-{os.getpid()}"
        self.names.append(name)
        path = self.scenario("twice", RACK)
        both = [subprocess.Popen([SILKEN, "lab", "up", "--name", name, path], stderr=subprocess.DEVNULL) for _ in range(2)]
        self.assertEqual(sorted(p.wait(timeout=60) for p in both), [0, 2])
        self.assertEqual(silken("lab", "down", "--lab", name).returncode, 0)
        self.assertEqual(processes(name), [])
        up = subprocess.Popen([SILKEN, "lab", "up", "--name", name, path], stderr=subprocess.DEVNULL)
        for _ in range(200):
            if os.path.exists(f"{ROOT}/{name}/lab.json"):
                break
            time.sleep(0.01)
        self.assertEqual(silken("lab", "down", "--lab", name).returncode, 0)
        self.assertIn(up.wait(timeout=60), (0, 2))
        for _ in range(100):
            if not processes(name):
                break
            time.sleep(0.1)
        self.assertEqual(processes(name), [])

    def test_tags_stay_on_frames(self):
        name = f"lab-tags-{os.getpid()}"
        self.names.append(name)
        what = {"name": "tags", "topology": {"kind": "rack", "program": "l2", "hosts": 2,
                                             "link": {"gbps": 1, "delay_us": 10}}}
        path = self.scenario("tags", what, "p4/l2/l2.p4")
        self.assertEqual(silken("lab", "up", "--name", name, path).returncode, 0)
        frame = "020000000003" + "020000000002" + "8100000a" + "88b6" + "5a" * 46
        capture = f"{self.folder}/tags.pcap"
        with subprocess.Popen([SILKEN, "lab", "pcap", "--lab", name, "h1-s0", "--filter", "vlan 10", "--count", "1", "-o",
                               capture], stderr=subprocess.PIPE, text=True) as tap:
            self.assertEqual(tap.stderr.readline(), "capturing\n")
            send = ("import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('s0', 0)); "
                    f"s.send(bytes.fromhex('{frame}'))")
            self.assertEqual(silken("lab", "exec", "--lab", name, "h0", sys.executable, "-c", send).returncode, 0)
            self.assertEqual(tap.wait(timeout=20), 0)
        with open(capture, "rb") as f:
            self.assertIn(bytes.fromhex(frame), f.read())

    def test_places_of_others(self):
        place = tempfile.mkdtemp(prefix="silken-lab-place-")
        self.addCleanup(shutil.rmtree, place)
        os.chmod(place, 0o755)
        victim = subprocess.Popen(["sleep", "100"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        with open(f"/proc/{victim.pid}/stat") as f:
            began = int(f.read().rsplit(")", 1)[1].split()[19])
        os.makedirs(f"{place}/silken-lab/trap")
        with open(f"{place}/silken-lab/trap/lab.json", "w") as f:
            json.dump({"name": "trap", "pid": victim.pid, "began": began}, f)
        os.chmod(f"{place}/silken-lab", 0o755)
        shutil.copy(SILKEN, place)
        run = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env",
                              f"XDG_RUNTIME_DIR={place}", place + "/silken", "lab", "down", "--lab", "trap"],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("is not a folder that only this user can use", run.stderr)
        self.assertIsNone(victim.poll())
        self.assertTrue(os.path.exists(f"{place}/silken-lab/trap/lab.json"))

    def test_bad_names_and_addresses(self):
        def custom(switch="s0", host="h0"):
            return {"name": "x", "topology": {"kind": "custom", "switches": [{"name": switch, "program": "l2"}],
                                              "hosts": [host, "b"], "links": [{"between": [host, switch]},
                                                                              {"between": ["b", switch]}]}}

        def addresses(*items):
            return {"name": "x", "topology": {"kind": "rack", "program": os.path.abspath("p4/l2/l2.p4"), "hosts": 2,
                                              "addresses": list(items)}}
        good = {"host": "h0", "address": "10.1.0.2/24"}
        for what, sentence in [
                (custom(switch="../../esc"), "must have another name in a lab"),
                (custom(switch="lab"), "must have another name in a lab"),
                (custom(host="1"), "must have another name in a lab"),
                (custom(host="$(touch x)"), "must have another name in a lab"),
                (addresses(dict(good, gateway="111.111.111.111\naddress add 9.9.9.9 dev s0")), "must be an IPv4 address"),
                (addresses(dict(good, address="10.1.0.2/\n24")), "must be an IPv4 address"),
                (addresses(dict(good, address="10.1.0.2")), "must be an IPv4 address"),
                (addresses(dict(good, address="224.0.0.1/4")), "must be an IPv4 address"),
                (addresses(good, good), "has an address already"),
                ({"name": "x", "topology": {"kind": "rack", "program": "l2", "hosts": 2, "switch": {"config": {"tor": 5}}}},
                 "must be an object")]:
            path = f"{self.folder}/bad.json"
            with open(path, "w") as f:
                json.dump(what, f)
            run = silken("lab", "up", path)
            self.assertEqual(run.returncode, 2, (what, run.stderr))
            self.assertIn(sentence, run.stderr, what)

    def test_names_that_are_words_of_ip(self):
        what = {"name": "words", "topology": {"kind": "custom", "link": {"gbps": 1},
                                              "switches": [{"name": "type", "program": os.path.abspath("p4/l2/l2.p4")}],
                                              "hosts": ["up", "all", "a_name_that_is_long"],
                                              "links": [{"between": [h, "type"]} for h in ("up", "all", "a_name_that_is_long")]}}
        name = f"lab-words-{os.getpid()}"
        self.names.append(name)
        path = f"{self.folder}/words.json"
        with open(path, "w") as f:
            json.dump(what, f)
        up = silken("lab", "up", "--name", name, path)
        self.assertEqual(up.returncode, 0, up.stderr)
        ping = silken("lab", "exec", "--lab", name, "up", "ping", "-c", "1", "-W", "10", "10.128.0.4")
        self.assertEqual(ping.returncode, 0, ping.stdout)

    def begun_inside(self, name):
        """A command in the lab that has begun and does not end by itself."""
        mark = f"{self.folder}/inside"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(mark)
        inside = subprocess.Popen([SILKEN, "lab", "exec", "--lab", name, "h0", "sh", "-c", f"echo >{mark}; exec sleep 1000"])
        for _ in range(600):
            if os.path.exists(mark):
                break
            time.sleep(0.1)
        self.assertTrue(os.path.exists(mark), "the command did not begin")
        return inside

    def test_nothing_is_left_of_a_lab_that_is_killed(self):
        draw = random.Random(36)
        name = f"lab-killed-{os.getpid()}"
        path = self.scenario(name, RACK)
        before = namespaces()
        killed_up = 0
        for _ in range(KILLS):
            shutil.rmtree(f"{ROOT}/{name}", ignore_errors=True)
            began = subprocess.Popen([SILKEN, "lab", "up", "--name", name, path], stderr=subprocess.DEVNULL)
            inside = None
            try:
                began.wait(timeout=draw.uniform(0.05, 4))
                lab = lab_json(name)
                inside = self.begun_inside(name)
                time.sleep(draw.uniform(0, 1))
                os.kill(lab["pid"], signal.SIGKILL)
                killed_up += 1
            except subprocess.TimeoutExpired:
                began.kill()  # while it comes up
                began.wait()
                time.sleep(0.2)
                if os.path.exists(f"{ROOT}/{name}/lab.json"):  # it was up at that moment
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(lab_json(name)["pid"], signal.SIGKILL)
            if inside:
                self.assertEqual(inside.wait(timeout=20), 128 + signal.SIGKILL)
            for _ in range(200):
                if not processes(name) and namespaces() <= before:
                    break
                time.sleep(0.1)
            self.assertEqual(processes(name), [])
            left = namespaces() - before
            self.assertEqual(left, set())
        print(f"{KILLS} labs killed, {killed_up} of them after they were up")

    def test_a_user_without_rights(self):
        place = tempfile.mkdtemp(prefix="silken-lab-user-")
        try:
            os.chmod(place, 0o755)
            shutil.copy(SILKEN, place)
            what = self.scenario("lab-user", RACK)
            with open(what) as f:
                text = f.read().replace(os.path.abspath("p4"), place + "/p4")
            with open(place + "/lab-user.json", "w") as f:
                f.write(text)
            shutil.copytree("p4", place + "/p4")
            os.makedirs(place + "/run", mode=0o700)
            os.chown(place + "/run", NOBODY, NOBODY)
            subprocess.run(["chmod", "-R", "a+rX", place + "/p4"], check=True)
            run = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env",
                                  f"XDG_RUNTIME_DIR={place}/run", f"SILKEN_CACHE={place}/run/cache",
                                  place + "/silken", "lab", "run", "--within", "100", place + "/lab-user.json"],
                                 capture_output=True, text=True, timeout=150)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("sums", run.stdout)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def test_mistakes(self):
        libra = os.path.abspath("sim/scenarios/libra-move-faults.json")
        broken = self.folder + "/broken.json"
        with open(broken, "w") as f:
            f.write('{"name": 3}')
        at_a_tor = self.folder + "/tor.json"
        with open(at_a_tor, "w") as f:
            json.dump({"topology": {"kind": "rack", "program": os.path.abspath("p4/rack/with_libra.p4"), "hosts": 3,
                                    "switch": {"config": {"tor": {}}}},
                       "jobs": [{"protocol": "libra", "hot": 16, "servers": ["h0"], "work": {"values": "floats"}}]}, f)
        for words, status, sentence in [
                (["up"], 2, "up needs one scenario file"),
                (["up", "/no/such/file.json"], 2, "No such file"),
                (["up", broken], 2, "broken.json"),
                (["up", at_a_tor], 2, 'jobs of Libra are at a switch with a "tor"'),
                (["up", libra], 2, "controller of Libra runs in virtual time only"),
                (["up", "--name", "../x", libra], 2, "is not a name"),
                (["up", "--slower", "0", libra], 2, "is not a number"),
                (["up", "--seed", "-1", libra], 2, "is not a seed"),
                (["run", "--no-jobs", libra], 2, "run waits for jobs"),
                (["exec", "--lab", "nothing", "h0", "true"], 2, "no lab 'nothing'"),
                (["exec", "--lab", "../x", "h0", "true"], 2, "no lab '../x'"),
                (["down", "--lab", "nothing"], 2, "no lab 'nothing'"),
                (["sideways"], 2, "no 'lab sideways'"),
                ([], 2, "is needed")]:
            run = silken("lab", *words)
            self.assertEqual(run.returncode, status, (words, run.stdout, run.stderr))
            self.assertIn(sentence, run.stderr)


if __name__ == "__main__":
    os.environ.setdefault("SILKEN_CACHE", os.path.abspath(os.environ.get("BUILD", "build")) + "/test-cache")
    tally.main()
