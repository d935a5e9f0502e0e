# SPDX-License-Identifier: Apache-2.0
"""A switch as a service: what systemd is told, rights that are given up, sockets' owners, the log's levels, and a
switch that starts again after it was killed."""
import grp
import json
import os
import pwd
import re
import signal
import socket
import stat
import subprocess
import sys
import time

sys.path.insert(0, "harness/control")
from live import INTERFACES, SILKEN, Checks, L2, Switch, Wire, inside, veth  # noqa: E402

inside(__file__)
checks = Checks()
ROOT = os.geteuid() == 0 and os.environ.get("LIVE_INSIDE") == "yes" and open("/proc/self/uid_map").read().split()[:2] == ["0", "0"]
PLAIN = {"program": L2, "ports": [{"port": 1, "device": "net_ring1"}]}


class Systemd:
    """The end of NOTIFY_SOCKET that systemd has."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(("\0" + name[1:]) if name[0] == "@" else name)
        self.socket.settimeout(10)

    def hears(self, wanted):
        """True when the message comes, among others."""
        try:
            while True:
                if self.socket.recv(4096).decode().split("\n")[0] == wanted:
                    return True
        except (TimeoutError, socket.timeout):
            return False


def notified():
    for abstract in (False, True):
        sw = Switch(PLAIN)
        name = f"@silken-test-{os.getpid()}" if abstract else sw.path("notify")
        systemd = Systemd(name)
        sw.environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000"}
        with sw:
            checks.true("ready", systemd.hears("READY=1"))
            checks.true("watched", systemd.hears("WATCHDOG=1") and systemd.hears("WATCHDOG=1"))
            sw.process.send_signal(signal.SIGHUP)
            checks.true("reloading", systemd.hears("RELOADING=1") and systemd.hears("READY=1"))
            sw.write("{")
            sw.process.send_signal(signal.SIGHUP)
            checks.true("a bad file", systemd.hears("RELOADING=1") and systemd.hears("READY=1"))
            checks.equal("ends", sw.stop(), 0)
            checks.true("stopping", systemd.hears("STOPPING=1"))
        systemd.socket.close()


def files():
    sw = Switch({**PLAIN, "daemon": {"pid_file": "pid", "socket_mode": "0660"}})
    with sw:
        with open(sw.path("pid")) as f:
            checks.equal("its number", int(f.read()), sw.process.pid)
        checks.equal("the socket's mode", stat.S_IMODE(os.stat(sw.path("s.sock")).st_mode), 0o660)
        checks.equal("ends", sw.stop(), 0)
        checks.true("the file is gone", not os.path.exists(sw.path("pid")))
        checks.true("the socket is gone", not os.path.exists(sw.path("s.sock")))
    with Switch(PLAIN) as sw:
        checks.equal("its owner alone", stat.S_IMODE(os.stat(sw.path("s.sock")).st_mode), 0o600)


def rights_of(pid):
    """Of each thread: user numbers, effective and permitted capabilities."""
    out = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as f:
            text = f.read()
        out.add(tuple(re.search(rf"^{k}:\s+(.*)$", text, re.M).group(1) for k in ("Uid", "CapEff", "CapPrm", "NoNewPrivs")))
    return out


def user():
    if not ROOT:
        print("not root: rights are not given up here")
        return
    veth("swu", "hostu")
    veth("swv", "hostv")
    nobody = pwd.getpwnam("nobody")
    uids = "\t".join([str(nobody.pw_uid)] * 4)
    for kept, mask in (([], 0), (["net_raw"], 1 << 13), (["net_raw", "net_admin"], 1 << 13 | 1 << 12)):
        sw = Switch({**PLAIN, "daemon": {"user": "nobody", "capabilities": kept, "pid_file": "pid"}})
        os.chmod(sw.folder, 0o777)
        with sw:
            rights = rights_of(sw.process.pid)
            checks.equal("users", {r[0] for r in rights}, {uids})
            # to lock memory, where the limit of it cannot be raised
            locks = (1 << 14) if kept else 0
            for what, n in (("most that a thread may", 1), ("and could", 2)):
                most = max(int(r[n], 16) for r in rights)
                checks.true(what, most in (mask, mask | locks), hex(most))
            checks.true("nothing more", "1" in {r[3] for r in rights})
            checks.equal("the socket's owner", os.stat(sw.path("s.sock")).st_uid, nobody.pw_uid)
            reply = sw.client.request("port.add", port=5, device="net_af_packet5,iface=swu")
            # it opens a packet socket, and nothing else needs a right
            checks.equal(f"a port that needs rights, with {kept}", reply["ok"], "net_raw" in kept)
            # DPDK's driver makes the interface take all frames, and its rings are more locked memory than a user has; where
            # root may neither raise that nor lock memory, it stays so
            own = int(re.search(r"CapEff:\s*(\w+)", open("/proc/self/status").read()).group(1), 16)
            reply = sw.client.request("port.add", port=6, device="eth_af_packet6,iface=swv,framecnt=8192")
            checks.equal(f"one with large rings, with {kept}", reply["ok"], len(kept) == 2 and own & (1 << 24 | 1 << 14) != 0)
            os.chmod(sw.path("c.json"), 0o644)
            checks.equal("reload", sw.ctl("reload")[0], 0)
            checks.equal("ends", sw.stop(), 0)
            checks.true("the file is gone", not os.path.exists(sw.path("pid")))
    sw = Switch({**PLAIN, "daemon": {"socket_group": grp.getgrgid(nobody.pw_gid).gr_name, "socket_mode": "0660"}},
                "--user", "nobody")
    os.chmod(sw.folder, 0o777)
    with sw:
        checks.equal("--user", {r[0] for r in rights_of(sw.process.pid)}, {uids})
        checks.equal("the socket's group", os.stat(sw.path("s.sock")).st_gid, nobody.pw_gid)
    # what it compiles from then on is kept where systemd says, if nobody else does
    sw = Switch(PLAIN, "--user", "nobody")
    os.chmod(sw.folder, 0o755)
    os.mkdir(sw.path("cache"), 0o700)
    sw.environment = {"SILKEN_CACHE": "", "CACHE_DIRECTORY": sw.path("cache")}
    with sw:
        with open(L2) as f, open(sw.path("l2.p4"), "w") as out:
            out.write(f.read().replace("size = 1024", "size = 1000"))
        checks.equal("another program", sw.ctl("program", sw.path("l2.p4"))[0], 0)
        kept = sw.path("cache/nobody")
        checks.equal("its folder", (os.stat(kept).st_uid, os.stat(kept).st_mode & 0o777), (nobody.pw_uid, 0o700))
        checks.true("has it", os.listdir(kept))


def refused():
    sw = Switch(PLAIN)

    def no(part, daemon, *options):
        sw.write({**PLAIN, "daemon": daemon})
        r = subprocess.run([SILKEN, "run", "-c", sw.path("c.json"), *options], capture_output=True, text=True, check=False)
        checks.equal("status", r.returncode, 2)
        checks.has("why", r.stderr, part)

    no("daemon.capabilities[0]: 'sys_admin' is neither", {"capabilities": ["sys_admin"]})
    no("is not the mode of a socket", {"socket_mode": "0440"})
    no("is not the mode of a socket", {"socket_mode": "rw"})
    no("daemon.usr: unknown key", {"usr": "nobody"})
    no("find the user 'nosuchuser'", {"user": "nosuchuser"})
    no("find the group 'nosuchgroup'", {"socket_group": "nosuchgroup"})
    no("cannot write /nowhere/pid", {"pid_file": "/nowhere/pid"})
    no("log 'tor:loud'", {"log": ["tor:loud"]})
    no("unexpected argument", {}, "extra")
    sw.temporary.cleanup()


def appctl(path, method, *params):
    """What ovs-appctl does: JSON-RPC."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.settimeout(10)
        s.sendall(json.dumps({"method": method, "params": params, "id": 0}).encode())
        text, decoder = "", json.JSONDecoder()
        while True:
            text += s.recv(65536).decode()
            try:
                reply = decoder.raw_decode(text)[0]
                return reply["error"] or reply["result"]
            except ValueError:
                continue


def log():
    sw = Switch({**PLAIN, "daemon": {"log": ["console:warn"], "log_socket": "log.sock"}}, "--log", "tor:dbg")
    with sw:
        levels = appctl(sw.path("log.sock"), "vlog/list")
        checks.true("levels of the start", re.search(r"^tor\s+\S+\s+DBG", levels, re.M), levels[:400])
        checks.equal("are changed", appctl(sw.path("log.sock"), "vlog/set", "tor:console:err"), None or "")
        levels = appctl(sw.path("log.sock"), "vlog/list")
        checks.true("at run time", re.search(r"^tor\s+ERR", levels, re.M), levels[:400])
        checks.has("wrong ones", appctl(sw.path("log.sock"), "vlog/set", "tor:loud"), "loud")
        checks.has("other commands", appctl(sw.path("log.sock"), "list-commands"), "vlog/set")
        checks.equal("ends", sw.stop(), 0)
        checks.true("its socket is gone", not os.path.exists(sw.path("log.sock")))


def killed():
    """Nothing of a switch that was killed is in the way of the next."""
    memif = f"/tmp/silken-killed-{os.getpid()}.sock"
    c = {"program": L2, "daemon": {"pid_file": "pid", "log_socket": "log.sock"},
         "ports": [{"port": 1, "device": f"net_memif1,role=server,socket={memif},socket-abstract=no"},
                   {"port": 2, "device": "net_null2"}, {"port": 3, "device": "net_null3,no-rx=1"}],
         "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 3}},
                     {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send", "args": {"port": 5}}]}
    if INTERFACES:
        veth("swk", "hostk")
        c["ports"] += [{"port": 4, "device": "net_tap4,iface=livetap4"}, {"port": 5, "device": "net_af_packet5,iface=swk"}]
        wire = Wire("hostk")
    sw = Switch(c, "--memory", "900")
    with sw:
        for turn in range(3):
            checks.true("packets flow", sw.becomes(lambda: sw.port(3)["tx_packets"] > 1000, True))
            if INTERFACES:
                wire.send("02:00:00:00:00:01", turn)
                # the driver sends a frame twice when the kernel was not ready for the first
                got = next((n for n in iter(wire.receive, None) if n >= turn), None)
                checks.equal("and through an interface", got, turn)
            checks.equal("killed", sw.stop(signal.SIGKILL), -signal.SIGKILL)
            checks.true("its sockets are left", os.path.exists(sw.path("s.sock")) and os.path.exists(memif))
            sw.start()
            checks.equal("all ports are back", sorted(p["port"] for p in sw.ask("ports")["ports"] if "device" in p),
                         sorted(p["port"] for p in c["ports"]))
        checks.equal("ends, all accounted for", sw.stop(), 0)
    checks.true("nothing is left", not os.path.exists(memif))


notified()
files()
user()
refused()
log()
killed()
checks.end()
