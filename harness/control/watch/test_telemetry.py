#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A running switch through DPDK's telemetry, by a client of this file's own: SOCK_SEQPACKET, a greeting that says
how long replies are, then a command and its parameter for each reply (DPDK's "Telemetry User Guide", version 2)."""
import json
import os
import pwd
import signal
import socket
import stat
import sys
import tempfile
import threading
import time

sys.path.insert(0, "harness/control")
from live import Checks, L2, Switch  # noqa: E402

checks = Checks()
SWITCHML = os.path.abspath("p4/switchml/switchml.p4")


class Telemetry:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setblocking(False)
        for _ in range(3000): # DPDK lets one wait, and says to others that they may try again
            try:
                self.socket.connect(path)
                break
            except BlockingIOError:
                time.sleep(0.01)
        self.socket.settimeout(60)
        self.hello = json.loads(self.socket.recv(1024))

    def get(self, command, parameter=None):
        self.socket.send((command + ("" if parameter is None else f",{parameter}")).encode())
        return json.loads(self.socket.recv(self.hello["max_output_len"] + 1))[command]

    def close(self):
        self.socket.close()


def config(**more):
    return {"program": L2, "telemetry": True,
            "ports": [{"port": 0, "device": "net_null0,size=100", "name": 'a "b" \\ c d \u6f22'},
                      {"port": 1, "device": "net_null1,no-rx=1", "name": "sink"}],
            "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}}], **more}


def path_of(sw):
    return next((line.split(" ", 1)[1] for line in sw.said().split("\n") if line.startswith("telemetry ")), None)


# ---- what there is ----
with Switch(config(queues=[{"port": 1, "speed": 100, "green": 1000}])) as sw:
    os.environ.pop("RUNTIME_DIRECTORY", None)
    sw.stop()
    sw.environment = {"RUNTIME_DIRECTORY": sw.folder}
    sw.start()
    path = path_of(sw)
    checks.equal("its place", path, sw.path("dpdk/silken/dpdk_telemetry.v2"))
    checks.equal("its owner's", stat.S_IMODE(os.stat(path).st_mode), 0o600)
    checks.equal("and so is the folder", stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
    t = Telemetry(path)
    checks.equal("the process", t.hello["pid"], sw.process.pid)
    checks.true("commands", {"/silken/info", "/silken/ports", "/silken/port", "/silken/drops", "/silken/jobs",
                             "/silken/alarms", "/silken/tables"} <= set(t.get("/")), t.get("/"))
    before = sw.ask("stats")
    info = t.get("/silken/info")
    after = sw.ask("stats")
    checks.equal("program", info["program"], L2)
    checks.true("received", before["rx_packets"] <= info["rx_packets"] <= after["rx_packets"], info)
    checks.equal("of one moment", info["rx_packets"] + info["copies"] + info["generated"],
                 info["tx_packets"] + info["dropped"] + info["inside"])
    checks.equal("ports", t.get("/silken/ports"), [0, 1])
    port = t.get("/silken/port", 0)
    checks.equal("a port's name, in characters that DPDK takes", port["name"], 'a "b" \\ c d ???')
    checks.equal("bytes", port["rx_bytes"], 100 * port["rx_packets"])
    checks.equal("device", (port["driver"], port["link_up"]), ("net_null", 1))
    sink = t.get("/silken/port", "sink")
    checks.equal("by name", sink["port"], 1)
    checks.true("its queue is full", 70000 < sink["queue_bytes"] <= 82000, sink)
    drops = t.get("/silken/drops")
    checks.true("drops by reason", drops["egress_queue_full"] > 0, drops)
    checks.true("of the port", t.get("/silken/drops", 1)["egress_queue_full"] >= drops["egress_queue_full"], drops)
    checks.true("in the port", sink["drops"]["egress_queue_full"] > 0, sink)
    checks.equal("tables", t.get("/silken/tables"), ["pipe.Ingress.forward"])
    table = t.get("/silken/table", "pipe.Ingress.forward")
    checks.equal("entries", (table["pipes"], table["entries"]), ([0, 1, 2, 3], [1, 1, 1, 1]))
    checks.true("size", table["size"] > 1)
    checks.equal("jobs", t.get("/silken/jobs"), [])
    checks.equal("alarms are a list", isinstance(t.get("/silken/alarms"), list), True)
    # what is not there
    for command, parameter in (("/silken/port", 9), ("/silken/port", None), ("/silken/port", "x" * 900),
                               ("/silken/drops", "nobody"), ("/silken/table", "a.b"), ("/silken/job", "switchml/7"),
                               ("/silken/nothing", None)):
        checks.equal(f"{command} {str(parameter)[:9]}", t.get(command, parameter), None)
    checks.true("DPDK's own", t.get("/ethdev/list"), "no devices")

    # ten clients at a time, and one that hangs up while it waits
    def ask(said):
        client = Telemetry(path)
        for _ in range(50):
            said.append(client.get("/silken/info")["rx_packets"])
        client.close()

    said = [[] for _ in range(6)]
    threads = [threading.Thread(target=ask, args=(s,)) for s in said]
    for thread in threads:
        thread.start()
    for _ in range(3):
        gone = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        gone.setblocking(False)
        try:
            gone.connect(path)
            gone.send(b"/silken/info")
        except BlockingIOError:
            pass
        gone.close()
    for thread in threads:
        thread.join(60)
    checks.true("all are answered, counts never go back", all(len(s) == 50 and s == sorted(s) for s in said))
    # ports that come and go
    sw.ask("port.add", port=3, device="net_null3,no-rx=1")
    checks.equal("with it", sw.becomes(lambda: t.get("/silken/ports"), [0, 1, 3]), [0, 1, 3])
    sw.ask("port.remove", port=3)
    checks.equal("without it", sw.becomes(lambda: t.get("/silken/ports"), [0, 1]), [0, 1])
    checks.has("stays as it is", sw.ctl("reload")[1], "")
    sw.write(config(telemetry="other"))
    checks.has("cannot change", sw.refused("reload"), '"telemetry" cannot change while the switch runs')
    # a second switch of this prefix
    with Switch(config(), environment={"RUNTIME_DIRECTORY": sw.folder}) as second:
        checks.equal("another's place", path_of(second), path + ":1")
        other = Telemetry(path + ":1")
        checks.equal("another process", other.hello["pid"], second.process.pid)
        other.close()
        checks.equal("and both end", second.stop(), 0)
    checks.equal("ends, all accounted for, while a client is there", sw.stop(), 0)
    checks.equal("nothing is left", os.path.exists(path), False)
    t.close()

# ---- killed, and started again; another prefix ----
with Switch(config(telemetry="left-1")) as sw:
    sw.stop()
    sw.environment = {"RUNTIME_DIRECTORY": sw.folder}
    sw.start()
    path = path_of(sw)
    checks.equal("a prefix", path, sw.path("dpdk/left-1/dpdk_telemetry.v2"))
    sw.stop(signal.SIGKILL)
    checks.equal("is left behind", os.path.exists(path), True)
    sw.start()
    checks.equal("taken again", path_of(sw), path)
    t = Telemetry(path)
    checks.equal("and answers", t.get("/silken/ports"), [0, 1])
    t.close()
    checks.equal("ends", sw.stop(), 0)

# ---- off unless it is wanted ----
for off in ({"telemetry": False}, {}):
    with Switch({**{k: v for k, v in config().items() if k != "telemetry"}, **off}) as sw:
        sw.stop()
        sw.environment = {"RUNTIME_DIRECTORY": sw.folder}
        sw.start()
        checks.equal("says nothing", path_of(sw), None)
        checks.equal("no socket", os.path.exists(sw.path("dpdk/silken/dpdk_telemetry.v2")), False)
        checks.equal("ends", sw.stop(), 0)

# ---- jobs ----
worker = {"worker_bit": 1, "num_workers": 2, "group": 1, "rid": 1, "port": 1, "pool_base": 16, "pool_last": 15}
with tempfile.TemporaryDirectory() as runtime, Switch({"program": SWITCHML, "telemetry": True,
             "ports": [{"port": 1, "device": "net_null1,no-rx=1"}],
             "entries": [{"table": "workers", "action": "admit", "args": worker,
                          "key": {"job_number": 7, "src_addr": "10.0.0.1", "ingress_port": 1}}]},
            environment={"RUNTIME_DIRECTORY": runtime}) as sw:
    t = Telemetry(path_of(sw))
    checks.equal("jobs", t.get("/silken/jobs"), ["switchml/7"])
    job = t.get("/silken/job", "switchml/7")
    checks.equal("a job", (job["size"], job["waits"], job["workers"], job["worker_packets"]), (2, 0, [0], [0]))
    t.close()
    checks.equal("ends", sw.stop(), 0)


# ---- where it cannot be, and whose it is then ----
def not_started(name, says, folder="/proc/nowhere", **more):
    try:
        with Switch(config(**more), environment={"RUNTIME_DIRECTORY": folder}):
            checks.true(name, False, "it started")
    except AssertionError as e:
        checks.has(name, str(e), says)


not_started("no such folder", "telemetry: cannot make /proc/nowhere/dpdk: No such file")
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(folder + "/dpdk")
    os.chmod(folder + "/dpdk", 0o777)
    not_started("a folder of everybody's", f"telemetry: {folder}/dpdk must be a folder that belongs to this user alone", folder)
not_started("no prefix", "it must be true, false, or a file prefix", telemetry="a/b")
if os.geteuid() == 0:
    nobody = pwd.getpwnam("nobody")
    with Switch(config(), "--user", "nobody") as sw:
        os.chmod(sw.folder, 0o711)
        os.mkdir(sw.path("cache"), 0o700)
        sw.stop()
        sw.environment = {"RUNTIME_DIRECTORY": sw.folder, "SILKEN_CACHE": sw.path("cache")}
        sw.start()
        path = path_of(sw)
        checks.equal("the user's", os.stat(path).st_uid, nobody.pw_uid)
        checks.equal("its folder, too", os.stat(os.path.dirname(path)).st_uid, nobody.pw_uid)
        os.setegid(nobody.pw_gid)
        os.seteuid(nobody.pw_uid)
        t = Telemetry(path)
        checks.equal("who may use it", t.get("/silken/ports"), [0, 1])
        t.close()
        os.seteuid(0)
        os.setegid(0)
        daemon = pwd.getpwnam("daemon")
        os.setegid(daemon.pw_gid)
        os.seteuid(daemon.pw_uid)
        try:
            Telemetry(path).close()
            checks.true("others may not", False, "they may")
        except PermissionError:
            checks.true("others may not", True)
        os.seteuid(0)
        os.setegid(0)
        checks.equal("ends", sw.stop(), 0)
        checks.equal("and removes it", os.path.exists(path), False)
else:
    print("SKIP the socket of another user: needs root")
checks.end()
