#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A port whose interface was deleted raises an alarm, can be removed, and can be added again; a tap and an af_packet port."""
import sys
import time

sys.path.insert(0, "harness/control")
from live import INTERFACES, L2, Checks, Switch, Wire, inside, ip, veth # noqa: E402

inside(__file__)
checks = Checks()
KIND = "deleted-interface"


def alarms(sw):
    return [a["what"] for a in sw.ask("alarms")["alarms"] if a["alarm"] == KIND]


def until(name, sw, want):
    end = time.time() + 20
    while alarms(sw) != want and time.time() < end:
        time.sleep(0.05)
    checks.equal(name, alarms(sw), want)


TAP = {"port": 1, "device": "net_tap71,iface=skdel1"}
PACKET = {"port": 2, "device": "net_af_packet72,iface=skdel2", "name": "two"}

if not INTERFACES:
    print("no network namespaces here")
    sys.exit(77)
veth("skdel2", "skdel2h")
with Switch({"program": L2, "ports": [TAP, PACKET]}) as sw:
    checks.equal("none at first", alarms(sw), [])
    for deleted, port, what in (("skdel1", TAP, "port 1"), ("skdel2", PACKET, "port 2 (two)")):
        ip("link", "del", deleted)
        until(f"{deleted} is gone", sw, [what])
        sw.ask("port.remove", port=port["port"])
        until(f"{deleted} is removed", sw, [])
        if port is PACKET:
            veth("skdel2", "skdel2h")
        sw.ask("port.add", **port)
        if port is TAP:
            ip("link", "set", "skdel1", "up")
        checks.equal(f"{deleted} is up", sw.becomes(lambda: sw.port(port["port"])["link"], True), True)
        checks.equal(f"{deleted} has no alarm", alarms(sw), [])
    # one that is made again by its owner is opened again, and the alarm goes
    ip("link", "del", "skdel2")
    until("gone once more", sw, ["port 2 (two)"])
    veth("skdel2", "skdel2h")
    until("and back", sw, [])
    wire = Wire("skdel2h")
    before = sw.port(2)["rx_packets"]
    checks.equal("frames come in", sw.becomes(
        lambda: (wire.send("02:00:00:00:00:09"), sw.port(2)["rx_packets"] > before)[1], True), True)
    wire.close()
    checks.equal("ends", sw.stop(), 0)
checks.end()
