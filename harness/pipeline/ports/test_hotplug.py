# SPDX-License-Identifier: Apache-2.0
"""Ports that come and go while the switch runs: each kind of device, at full rate beside ports that stay, and devices
that cannot be opened."""
import json
import os
import re
import socket
import sys
import tempfile
import time

sys.path[:0] = ["harness/control", "harness/pcap"]
from captures import pcap  # noqa: E402
from live import INTERFACES, Checks, Client, L2, Switch, Wire, inside, veth  # noqa: E402

inside(__file__)
checks = Checks()
ANYTHING = {"devices": ["af_packet", "af_xdp", "tap", "null", "ring", "memif", "vhost", "pcap", "pacp", "pci"], "folders": ["/"]}
FLOOD = {"program": L2, "requests": ANYTHING, "ports": [{"port": 1, "device": "net_null1,no-rx=1", "name": "sink"},
                                  {"port": 0, "device": "net_null0", "name": "source"}],
         "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}}]}


def interfaces():
    return [name for _, name in socket.if_nameindex()]


def entry(sw, to, port):
    sw.ask("table.add", table="forward", key={"dst_addr": to}, action="send", args={"port": port})


def has_xdp(sw, interface):
    """Whether this kernel takes it; if not, the switch has said so in one sentence, and nothing has changed."""
    before = [p["port"] for p in sw.ask("ports")["ports"]]
    reply = sw.client.request("port.add", port=30, device=f"net_af_xdp9,iface={interface}")
    if reply["ok"]:
        sw.ask("port.remove", port=30)
        return True
    print("SKIP af_xdp: this kernel refuses it:", reply["error"])
    checks.has("af_xdp: one sentence", reply["error"], "cannot")
    checks.equal("af_xdp: nothing changed", [p["port"] for p in sw.ask("ports")["ports"]], before)
    return False


def beside_traffic():
    """Everything that the source makes comes to the sink, whatever happens to other ports."""
    with Switch(FLOOD, "--memory", "1200") as sw:
        sockets = sw.path("m.sock")
        devices = ["net_ring0", f"net_memif0,role=server,socket={sockets},socket-abstract=no",
                   f"net_vhost0,iface={sw.path('v.sock')}"]
        if INTERFACES:
            veth("veth0", "veth1")
            devices += ["net_af_packet0,iface=veth0", "net_tap0,iface=livetap0"]
            if has_xdp(sw, "veth1"):
                devices.append("net_af_xdp0,iface=veth1")
        before = sw.port(0)["rx_packets"]
        for turn in range(3):
            for i, device in enumerate(devices):
                sw.ask("port.add", port=10 + i, device=device, name=f"extra {i}")
            listed = {p["port"]: p for p in sw.ask("ports")["ports"]}
            checks.true("added ports are listed", all(10 + i in listed for i in range(len(devices))))
            checks.equal("with their names", listed[10]["name"], "extra 0")
            checks.equal("and drivers", listed[10]["device_state"]["driver"], "net_ring")
            if INTERFACES:
                checks.true("a tap is there", "livetap0" in interfaces())
            checks.true("a memif's socket is there", os.path.exists(sockets))
            for i in range(len(devices)):
                sw.ask("port.remove", port=10 + i if turn % 2 else f"extra {i}")
            checks.equal("all are gone again", sorted(p["port"] for p in sw.ask("ports")["ports"] if "device" in p), [0, 1])
            checks.true("and the tap", "livetap0" not in interfaces())
        checks.true("the source went on", sw.port(0)["rx_packets"] > before)
        checks.equal("ends, all accounted for", sw.stop(), 0)
        (received, copies, _, sent, dropped), drops = sw.accounts()
        # the kernel itself says something on its new interfaces, and nobody is there to hear it
        checks.equal("all were sent", (received, copies), (sent + dropped, 0))
        checks.true("but for the kernel's", dropped < 100 and list(drops) in ([], ["multicast group without members"]),
                    drops)
        checks.true("at a rate", received > 100000, received)


def loops():
    """A ring gives back what it is sent; frames go through ports that were added, in buffers of their own."""
    none = {"program": L2, "ports": [{"port": 3, "device": "net_null0,no-rx=1"}]}
    with Switch(none) as sw:
        sw.ask("port.add", port=5, device="net_ring5", mtu=1500)
        sw.ask("table.add", table="forward", key={"dst_addr": "02:00:00:00:00:05"}, action="send", args={"port": 5})
        checks.equal("MTU", sw.port(5)["device_state"]["mtu"], 1500)
        checks.equal("up", sw.port(5)["up"], True)
        sw.ask("port.set", port=5, up=False)
        checks.equal("set down", sw.port(5)["up"], False)
        time.sleep(0.1)
        checks.equal("it stays down whatever its link", (sw.port(5)["up"], sw.port(5)["link"]), (False, True))
        sw.ask("port.set", port=5, up=True)
        checks.equal("set up", sw.port(5)["up"], True)
        checks.equal("ctl: down", sw.ctl("port", "set", 5, "down"), (0, ""))
        checks.equal("ctl: is down", sw.port(5)["up"], False)
        checks.equal("ctl: up", sw.ctl("port", "up", 5), (0, ""))
        checks.equal("ctl: remove", sw.ctl("port", "remove", 5), (0, ""))
        checks.equal("ctl: add", sw.ctl("port", "add", 5, "net_ring5", "--name", "loop", "--mtu", 9000), (0, ""))
        checks.equal("ctl: added", (sw.port(5)["name"], sw.port(5)["device_state"]["mtu"]), ("loop", 9000))
        checks.equal("ctl: remove by name", sw.ctl("port", "remove", "loop"), (0, ""))
        checks.has("ctl: misuse", sw.ctl("port", "add", 5, "net_ring5", "--fast")[1], "'--fast' is not one of")
        for _ in range(30): # in the buffers of the one before
            sw.ask("port.add", port=7, device="net_ring7")
            sw.ask("port.remove", port=7)
        checks.equal("ends", sw.stop(), 0)


def go_round():
    """Frames that go round through a ring for ever: they are in it when the switch ends, and their buffers come back."""
    to = "02:00:00:00:00:06"
    ring = {"program": L2, "ports": [{"port": 6, "device": "net_ring6"}],
            "entries": [{"table": "forward", "key": {"dst_addr": to}, "action": "send", "args": {"port": 6}}]}
    with Switch({**ring, "requests": ANYTHING}) as sw:
        with open(sw.path("in.pcap"), "wb") as f:
            f.write(pcap([(0, bytes.fromhex(to.replace(":", "")) + bytes(50))] * 300))
        sw.ask("port.add", port=7, device=f"net_pcap7,rx_pcap={sw.path('in.pcap')},tx_pcap={sw.path('out.pcap')}")
        checks.equal("frames of a capture", sw.becomes(lambda: sw.port(7)["rx_packets"], 300), 300)
        checks.true("go round", sw.becomes(lambda: sw.port(6)["rx_packets"] > 3000, True))
        checks.equal("in a ring at the end: all accounted for", sw.stop(), 0)
        (received, copies, _, sent, dropped), drops = sw.accounts()
        checks.equal("and sent", (received, copies, drops), (sent + dropped, 0, {}))


def between_hosts():
    if not INTERFACES:
        print("no network namespaces here: frames through interfaces are not tried")
        return
    veth("sw0", "host0")
    veth("sw1", "host1")
    with Switch({"program": L2, "lcores": 2, "ports": [{"port": 0, "device": "net_af_packet0,iface=sw0"}]}) as sw:
        a, b = Wire("host0"), Wire("host1")
        entry(sw, "02:00:00:00:00:01", 128)
        a.send("02:00:00:00:00:01", 1)
        checks.equal("nobody there", b.receive(0.3), None)
        events = Client(sw.path("s.sock"))
        events.ask("events")
        sw.ask("port.add", port=128, device="net_af_packet1,iface=sw1")
        a.send("02:00:00:00:00:01", 2)
        checks.equal("through a port that was added", b.receive(), 2)
        checks.equal("link event", events.event(), {"event": "link", "port": 128, "up": True})
        from live import ip
        ip("link", "set", "host1", "down")
        checks.equal("link is down", events.event(), {"event": "link", "port": 128, "up": False})
        ip("link", "set", "host1", "up")
        checks.equal("link is up", events.event(), {"event": "link", "port": 128, "up": True})
        sw.ask("port.set", port=128, up=False)
        a.send("02:00:00:00:00:01", 3)
        checks.equal("not through one that is down", b.receive(0.3), None)
        entry(sw, "02:00:00:00:00:02", 0)
        b.send("02:00:00:00:00:02", 33)
        checks.equal("nor in at it", a.receive(0.3), None)
        checks.true("the list says so", re.search(r"^128 +off ", sw.ctl("port")[1], re.M), sw.ctl("port")[1])
        sw.ask("port.set", port=128, up=True)
        a.send("02:00:00:00:00:01", 4)
        checks.equal("up again", b.receive(), 4)
        b.send("02:00:00:00:00:02", 44)
        checks.equal("both ways, and nothing of before", a.receive(), 44)
        checks.equal("what came meanwhile is counted", sw.port(128)["rx_packets"], 2)
        sw.ask("port.remove", port=128)
        a.send("02:00:00:00:00:01", 5)
        checks.equal("not through one that is gone", b.receive(0.3), None)
        # at another number, as another kind of device
        sw.ask("table.modify", table="forward", key={"dst_addr": "02:00:00:00:00:01"}, action="send", args={"port": 9})
        sw.ask("port.add", port=9, device="net_af_packet1,iface=sw1")
        for first in range(6, 300, 14):
            for i in range(first, first + 14):
                a.send("02:00:00:00:00:01", i)
            checks.equal("back at another number", [b.receive() for _ in range(14)], list(range(first, first + 14)))
        checks.equal("counted there", sw.port(9)["tx_packets"], 294)
        checks.equal("counts of the old one stay", sw.port(128)["tx_packets"], 2)
        events.close()
        checks.equal("ends, all accounted for", sw.stop(), 0)
        checks.equal("what was dropped", sw.accounts()[1], {"port not configured or down": 4})


def through():
    """Frames of two hosts through two ports that come and go: what the one sends the other receives, in the next pipe."""
    if not INTERFACES:
        return
    to, number = "02:00:00:00:00:09", 0
    for i in range(4):
        veth(f"t{i}", f"u{i}")
    with Switch({"program": L2, "lcores": 2, "ports": [{"port": 0, "device": "net_af_packet0,iface=t0"},
                                                      {"port": 129, "device": "net_af_packet1,iface=t1"}],
                 "entries": [{"table": "forward", "key": {"dst_addr": to}, "action": "send", "args": {"port": 13}, "pipe": 0},
                             {"table": "forward", "key": {"dst_addr": to}, "action": "send", "args": {"port": 129},
                              "pipe": 1}]}, "--memory", "1200") as sw:
        a, b = Wire("u0"), Wire("u1")
        memif = f"socket={sw.path('m.sock')},socket-abstract=no"
        pairs = {"vhost": (f"net_vhost3,iface={sw.path('v.sock')}", f"net_virtio_user3,path={sw.path('v.sock')}"),
                 "memif": (f"net_memif3,role=server,{memif}", f"net_memif4,role=client,{memif}"),
                 "tap": ("net_tap3,iface=livetap3", "net_af_packet3,iface=livetap3")}
        if has_xdp(sw, "t2"):
            pairs["af_xdp"] = ("net_af_xdp3,iface=t2", "net_af_packet4,iface=u2")
        for kind, (one, other) in pairs.items():
            for turn in range(2):
                checks.equal(f"{kind}: added", sw.ctl("port", "add", 13, one), (0, ""))
                checks.equal(f"{kind}: the other end, too", sw.ctl("port", "add", 142, other), (0, ""))
                good = 0
                for _ in range(100): # the two ends find each other
                    number += 1
                    a.send(to, number)
                    got = b.receive(0.2)
                    while got is not None and got < number:
                        got = b.receive(0.2)
                    good = good + 1 if got == number else 0
                    if good == 20:
                        break
                checks.equal(f"{kind}: frames come through", good, 20)
                for port in (13, 142) if turn else (142, 13):
                    checks.equal(f"{kind}: removed", sw.ctl("port", "remove", port), (0, ""))
        checks.equal("all kinds: ends, all accounted for", sw.stop(), 0)


def refused():
    with Switch(FLOOD, "--memory", "700") as sw:
        def no(part, **members):
            before = sw.ask("ports")["ports"]
            checks.has("refused: " + part, sw.refused("port.add", **members), part)
            after = sw.ask("ports")["ports"]
            checks.equal("nothing changed: " + part, [(p["port"], p.get("device")) for p in after],
                         [(p["port"], p.get("device")) for p in before])

        checks.equal("without a place", sw.refused("port.add", port=1, device="net_ring3"), "port 1 exists already")
        no("name: '7' would be taken for a number", port=2, device="net_ring3", name="7")
        no("device 'net_null0' is port 0's already", port=2, device="net_null0,no-rx=1")
        no("port 1 has the name 'sink' already", port=2, device="net_ring3", name="sink")
        no("cannot open device 'net_pacp0'", port=2, device="net_pacp0")
        no("cannot open device '0000:3b:00.0': ", port=2, device="0000:3b:00.0")
        no("network cards were not searched when the switch was started" if not os.path.exists("/dev/vfio/vfio")
           else "cannot open device '3b:0.1'", port=2, device="3b:0.1")
        no("there is no such folder", port=2, device="net_vhost5,iface=/nowhere/v.sock")
        no("no process listens at", port=2, device=f"net_memif5,role=client,socket={sw.path('no')},socket-abstract=no")
        no("there is not an interface 'nothere'", port=2, device="net_af_xdp5,iface=nothere")
        no("there is not an interface 'nothere'", port=2, device="net_af_packet0,iface=nothere")
        no("the name of an interface has at most 15 bytes", port=2, device="net_af_packet0,iface=a234567890123456")
        no("the name of an interface has at most 15 bytes", port=2, device="net_tap7,iface=a234567890123456")
        no("it does not name the interface", port=2, device="net_af_packet0")
        # a driver would end the process
        for device in ("net_af_packet5,iface=lo,framecnt", "net_memif5,role", "net_memif5,id=", "net_ring5,nodeaction",
                       "net_af_xdp5,iface", "net_tap5,iface", "net_null5,size", "net_ring5,", "net_ring5,=1"):
            no("is not KEY=VALUE", port=2, device=device)
        # what a driver would leave out without a word, or not name; and an address of the switch's memory
        no("net_tap has no 'ifcae'; it has: iface mac remote persist", port=2, device="net_tap5,ifcae=x0")
        no("net_ring has no 'size'; it has: nodeaction", port=2, device="net_ring5,size=4")
        no("net_ring has no 'internal'", port=2, device="net_ring5,internal=0x1000")
        no("net_af_packet has no 'frames'; it has: iface qpairs", port=2, device="net_af_packet5,iface=lo,frames=4")
        no("net_memif has no 'sokcet'", port=2, device="net_memif5,role=server,sokcet=/x")
        no("'silken run --verbose' shows DPDK's messages", port=2, device="net_pcap5,rx_pcap=/none")
        no("a device's string of 2000 bytes; it has at most 1023", port=2, device="net_ring5,x=".ljust(2000, "x"))
        no("framecnt must be a number", port=2, device="net_af_packet5,iface=lo,framecnt=-1")
        no("framecnt must be a number", port=2, device="net_af_packet5,iface=lo,framecnt=12abc")
        no("qdisc_bypass must be a number", port=2, device="net_af_packet5,iface=lo,qdisc_bypass=x")
        no("framesz must be a number of at most 8 digits", port=2, device="net_af_packet5,iface=lo,framesz=99999999999")
        no("framecnt must be 1 to 65536", port=2, device="net_af_packet5,iface=lo,framecnt=1000000")
        no("port 68 recirculates", port=68, device="net_ring3")
        no("it must be 0 to 9198", port=2, device="net_ring3", mtu=100000)
        no("40 queues, and the device has", port=2, device="net_ring5", queues=40)
        no("speed: unknown key", port=2, device="net_ring3", speed=4)
        no("does not unpack port metadata into fields", port=2, device="net_ring3", metadata={"vrf": 1})
        no("is not a device string", port=2, device=",x")
        before, behind = (json.loads(sw.ctl(*words)[1]) for words in (("--json", "port"), ("port", "--json")))
        checks.equal("--json", [p["port"] for p in behind["ports"]], [p["port"] for p in before["ports"]])
        checks.has("remove", sw.refused("port.remove", port=9), "there is no port 9")
        checks.has("remove", sw.refused("port.remove", port="web"), "there is no port 'web'")
        checks.has("set", sw.refused("port.set", port=0, up=1), "must be true or false")
        # memory is for some ports, and comes back
        added = 0
        while sw.client.request("port.add", port=2 + added, device=f"net_ring{2 + added}")["ok"]:
            added += 1
        checks.true("some fit", 2 <= added < 20, added)
        checks.has("no more memory", sw.refused("port.add", port=40, device="net_ring40"), "not enough memory")
        sw.ask("port.remove", port=2)
        sw.ask("port.add", port=40, device="net_ring40")
        checks.equal("ends", sw.stop(), 0)


def socket_of_one_that_was_killed():
    """A vhost-user port's file stays; the next switch takes its place, and leaves that of one that runs alone."""
    with tempfile.TemporaryDirectory(prefix="silken-live-") as folder:
        device = f"net_vhost0,iface={folder}/v.sock"
        config = {**FLOOD, "ports": [*FLOOD["ports"], {"port": 2, "device": device}]}
        with Switch(config) as sw:
            checks.equal("it listens", os.path.exists(folder + "/v.sock"), True)
            sw.process.kill()
            sw.process.wait()
            checks.equal("its file stays", os.path.exists(folder + "/v.sock"), True)
        with Switch(config) as sw:
            checks.equal("the next one has it", sw.port(2)["device"], device)
            with Switch({**FLOOD, "requests": ANYTHING}) as other:
                checks.has("a third one has not", other.refused("port.add", port=2, device=device), "v.sock is in use by another process")
            checks.equal("and takes nothing away", os.path.exists(folder + "/v.sock"), True)
            checks.equal("ends", sw.stop(), 0)
        with open(folder + "/v.sock", "w", encoding="ascii"):
            pass
        with Switch({**FLOOD, "requests": ANYTHING}) as sw:
            checks.has("a file", sw.refused("port.add", port=2, device=device), "exists already and is not a socket")


beside_traffic()
socket_of_one_that_was_killed()
loops()
go_round()
through()
between_hosts()
refused()
checks.end()
