# SPDX-License-Identifier: Apache-2.0
"""The configuration read again: packets of ports that stay are not lost, a switch is then as if it had been started
with the file, and a file that is bad changes nothing and says one sentence."""
import copy
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "harness/control")
from live import INTERFACES, Checks, Client, L2, SILKEN, Switch, inside, veth  # noqa: E402

inside(__file__)
checks = Checks()
FLOOD = {"program": L2, "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": "sink"},
                                  {"port": 0, "device": "net_null0", "name": "source"}],
         "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}}]}
SECTIONS = ("entries", "members", "groups", "defaults", "value_sets", "meters")


def with_entries(n, odd=0):
    """Entries beside the one that traffic uses."""
    return [{"table": "forward", "key": {"dst_addr": i + 1}, "action": "send", "args": {"port": 100 + (i + odd) % 2}}
            for i in range(n)]


def beside_traffic():
    """Entries, groups and ports come and go; what the source makes comes to the sink."""
    with Switch(FLOOD, "--memory", "700") as sw:
        start = sw.port(0)["rx_packets"]
        changes = 0
        for i in range(60):
            c = copy.deepcopy(FLOOD)
            c["entries"] += with_entries(i * 37 % 400, i)
            if i % 3 == 1:
                c["multicast"] = {"nodes": [{"id": 1, "rid": 1, "ports": [3, 4]}], "groups": [{"id": 1, "nodes": [1]}]}
            if i % 4 == 2:
                c["ports"].append({"port": 5, "device": "net_ring5", "name": "loop", "mtu": 1500 + i})
            if i % 5 == 3:
                c["loopback"] = [9]
            random.Random(i).shuffle(c["entries"])
            sw.write(c)
            done = sw.ask("reload")
            changes += done["added"] + done["changed"] + done["removed"]
            checks.equal("ports as in the file", sorted(p["port"] for p in sw.ask("ports")["ports"] if "device" in p),
                         sorted(p["port"] for p in c["ports"]))
            checks.equal("again: nothing differs", sw.ask("reload"), dict.fromkeys(done, 0))
        checks.true("a lot has changed", changes > 5000, changes)
        checks.true("packets went on", sw.port(0)["rx_packets"] > start + 100000)
        sw.write(FLOOD)
        sw.process.send_signal(signal.SIGHUP)
        checks.equal("SIGHUP", sw.becomes(lambda: "was read again" in sw.said(), True), True)
        hits = [e for e in sw.ask("table.dump", table="forward")["entries"]]
        checks.equal("one entry is left", len(hits), 1)
        checks.equal("ctl", sw.ctl("reload"), (0, "nothing differs"))
        checks.equal("ends, all accounted for", sw.stop(), 0)
        (received, copies, _, sent, dropped), _ = sw.accounts()
        checks.equal("none was lost", (received, copies, dropped), (sent, 0, 0))


def settings():
    """What is said once, for the whole switch."""
    with Switch(FLOOD, "--memory", "700") as sw:
        for text, members, counts in (("loopback", {"loopback": [9]}, (1, 0, 0)),
                                      ("another", {"loopback": [10]}, (1, 0, 1)),
                                      ("faults", {"loopback": [10], "faults": {"loss": 1, "seed": 3}}, (0, 1, 0)),
                                      ("none of them", {}, (0, 1, 1))):
            sw.write({**FLOOD, **members})
            done = sw.ask("reload")
            checks.equal(text, (done["added"], done["changed"], done["removed"]), counts)
            checks.equal(f"{text}: nothing differs then", sw.ctl("reload"), (0, "nothing differs"))
        checks.equal("ends", sw.stop(), 0)
        checks.true("faults were injected", sw.accounts()[1].get("injected loss", 0) > 0)


# ---- as if it had been started so ----

def everything():
    with open("harness/control/everything.json") as f:
        c = json.load(f)
    c["program"] = os.path.abspath(c["program"])
    for key in ("include", "define", "cpus", "cpu_port", "control_socket", "faults", "pktgen"):
        c.pop(key)
    c.update({"lcores": 1, "idle_sleep": 200, "ports": [{"port": 1, "device": "net_null0,no-rx=1"},
                                                       {"port": 2, "device": "net_null1,no-rx=1"},
                                                       {"port": 3, "device": "net_null2,no-rx=1"}]})
    return c


def variation(whole, rng):
    """Some things are not there, others are otherwise."""
    c = copy.deepcopy(whole)
    lists = [(c, k) for k in ("mirror", "queues", "members", "groups", "entries", "defaults", "meters", "value_sets",
                              "ports")]
    lists += [(c["multicast"], k) for k in ("nodes", "lags", "ecmps", "groups", "prune", "backup")]
    for parent, key in lists:
        if rng.random() < 0.5:
            parent[key] = [x for x in parent[key] if rng.random() < 0.7]
        if rng.random() < 0.3:
            rng.shuffle(parent[key])
    for e in c["entries"]:
        if e.get("action") == "send" and rng.random() < 0.5:
            e["args"] = {"port": rng.randrange(1, 60)}
    for p in c["members"]:
        if rng.random() < 0.5:
            p["args"]["value"] = rng.randrange(1, 200)
    for g in c["groups"]:
        g["max_size"] = rng.choice([4, 8])
    for n in c["multicast"]["nodes"]:
        n["rid"] = rng.randrange(10)
    for m in c["mirror"]:
        m["max"] = rng.choice([0, 64, 128])
    for q in c["queues"]:
        q["speed"] = rng.choice([100, 1000])
    return c


def state_of(sw):
    state = json.loads(sw.ask("state")["state"])
    s = {k: state.get(k) for k in SECTIONS}
    s["pre"], s["mirror"], s["queues"] = sw.ask("pre"), sw.ask("mirror"), sw.ask("queues")
    s["ports"] = [{k: p.get(k) for k in ("port", "device", "name", "metadata", "up")} for p in sw.ask("ports")["ports"]
                  if "device" in p]
    return json.loads(json.dumps(s, sort_keys=True))


def as_if_started():
    whole, rng = everything(), random.Random(7)
    refused = 0
    sw = Switch(whole)
    with sw:
        with open(whole["program"]) as f:
            text = f.read()
        with open(sw.path("changed.p4"), "w") as f:
            f.write(text + "// changed\n")
        for i in range(24):
            c = variation(whole, rng)
            if i % 3 == 1:
                c["program"] = sw.path("changed.p4")
            before = state_of(sw)
            sw.write(c)
            reply = sw.reload()
            fresh = Switch(c, folder=None)
            try:
                with fresh:
                    want = state_of(fresh)
                checks.true(f"variation {i} is taken", reply["ok"], reply.get("error"))
                got = state_of(sw)
                for k in want:
                    checks.equal(f"variation {i}: {k}", got[k], want[k])
            except AssertionError as e: # nor can one start with it: members that are gone, and so on
                refused += 1
                checks.true(f"variation {i} is refused", not reply["ok"], str(e))
                checks.equal(f"variation {i} changed nothing", state_of(sw), before)
        checks.true("not all are refused", refused < 20, refused)


def refused():
    with Switch(FLOOD, "--memory", "700") as sw:
        sw.ask("table.add", table="forward", key={"dst_addr": 77}, action="drop")
        before = state_of(sw)

        def no(part, config):
            sw.write(config)
            error = sw.refused("reload")
            checks.has("refused", error, part)
            checks.true("one sentence", "\n" not in error)
            checks.equal("nothing changed: " + part, state_of(sw), before)

        def other(**members):
            return {**copy.deepcopy(FLOOD), **members}

        no("c.json:1", "{")
        no("fautls: unknown key", other(fautls={}))
        no("no key field 'dst'", other(entries=[{"table": "forward", "key": {"dst": 0}, "action": "drop"}]))
        no("entries[1]", other(entries=FLOOD["entries"] * 2))
        no('"pipes" cannot change', other(pipes=2))
        no('"lcores" cannot change', other(lcores=2))
        no('"control_socket" cannot change', other(control_socket="other.sock"))
        no("cannot open device 'net_nothing'", other(ports=FLOOD["ports"] + [{"port": 2, "device": "net_nothing"}],
                                                     entries=[]))
        no("port 69 recirculates", other(ports=FLOOD["ports"] + [{"port": 69, "device": "net_ring1"}]))
        no("no register", other(registers=[{"name": "x", "index": 0, "value": 1}]))
        # the last of many steps fails, and all others are taken back: the table has 1024 entries, with what is
        # there besides
        sw.ask("table.clear", table="forward")
        for i in range(600):
            sw.ask("table.add", table="forward", key={"dst_addr": 100000 + i}, action="drop")
        before = state_of(sw)
        no("is full: it holds 1024 entries", other(entries=with_entries(500)))
        os.remove(sw.path("c.json"))
        checks.has("no file", sw.refused("reload"), "c.json")
        sw.process.send_signal(signal.SIGHUP)
        checks.equal("SIGHUP says why", sw.becomes(lambda: "No such file" in sw.said(), True), True)
        # a FIFO nobody writes: waited for, it would hold up the control plane, and the switch's end
        os.mkfifo(sw.path("c.json"))
        checks.equal("a FIFO", sw.refused("reload"), f"cannot read {sw.path('c.json')}: it is not a regular file")
        os.remove(sw.path("c.json"))
        os.mkfifo(sw.path("fifo.p4"))
        no("fifo.p4: it is not a regular file", other(program="fifo.p4"))
        checks.has("a program", sw.refused("program", file=sw.path("fifo.p4")), "it is not a regular file")
        sw.write(FLOOD)
        checks.equal("good again", sw.ctl("reload")[0], 0)
        checks.equal("ends", sw.stop(), 0)


def a_message_is_a_line():
    """Whatever it quotes."""
    with tempfile.TemporaryDirectory(prefix="silken-line-") as folder:
        with open(f"{folder}/c.json", "w") as f:
            json.dump({**FLOOD, "program": "x\n"}, f)
        done = subprocess.run([SILKEN, "run", "-c", f"{folder}/c.json"], capture_output=True, text=True, check=False)
        checks.equal("a line", done.stderr,
                     f"silken run: {folder}/c.json:1: program: it contains the control character U+000A\n")


def from_a_pipe():
    """A switch starts with what a pipe gives; there is nothing in it to be read again."""
    sw = Switch({**FLOOD, "control_socket": "/proc/self/cwd/s.sock"}, "--memory", "700")
    with tempfile.TemporaryDirectory(prefix="silken-pipe-") as sw.folder:
        process = subprocess.Popen([SILKEN, "run", "-c", "/dev/stdin", "--memory", "700"], cwd=sw.folder, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        process.stdin.write(json.dumps(sw.config))
        process.stdin.close()
        while (line := process.stdout.readline()) not in ("ready\n", ""):
            pass
        checks.equal("starts", line, "ready\n")
        checks.has("cannot be read again", sw.ctl("reload")[1], "cannot read /dev/stdin: it is not a regular file")
        process.terminate()
        checks.equal("ends", ("= sent" in process.stdout.read(), process.wait(60)), (True, 0))


beside_traffic()
settings()
a_message_is_a_line()
from_a_pipe()
as_if_started()
refused()
checks.end()
