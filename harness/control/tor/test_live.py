# SPDX-License-Identifier: Apache-2.0
"""A running ToR: the kernel's own stacks in two namespaces talk through a `silken run` with "tor": learned addresses,
the switch's own ones, routing, ports and sections that change while it runs."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "harness/control")
from live import INTERFACES, Checks, Switch, inside, ip, veth # noqa: E402

inside(__file__)
checks = Checks()
if not INTERFACES or not shutil.which("ping"):
    print("no network namespaces here, or no ping: nothing is tried")
    checks.true("nothing to try", True)
    checks.end()


class Host:
    """A process that keeps a namespace, whose end of a veth is eth0."""

    def __init__(self, name, address, gateway, mac):
        self.process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 1000"], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        veth("sw" + name, "h" + name)
        ip("link", "set", "h" + name, "netns", str(self.process.pid), "name", "eth0")
        for words in (("link", "set", "lo", "up"), ("link", "set", "eth0", "address", mac, "up"),
                      ("address", "add", address, "dev", "eth0"), ("route", "add", "default", "via", gateway)):
            self.run("ip", *words)

    def run(self, *words):
        r = subprocess.run(["nsenter", "-t", str(self.process.pid), "-n", *words], capture_output=True, text=True,
                           check=False)
        if r.returncode and words[0] == "ip":
            raise AssertionError(r.stderr)
        return r.returncode

    def pings(self, to):
        return any(self.run("ping", "-c", "1", "-W", "1", to) == 0 for _ in range(4))

    def end(self):
        self.process.kill()
        self.process.wait()


TOR = {"mac": "02:00:00:00:00:fe",
       "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"]}, {"vid": 20, "addresses": ["10.0.20.1/24"]}],
       "links": [{"name": "a", "port": "a", "access": 10}, {"name": "b", "port": "b", "access": 10}]}
hosts = [Host("a", "10.0.10.2/24", "10.0.10.1", "02:00:00:00:10:02"),
         Host("b", "10.0.10.3/24", "10.0.10.1", "02:00:00:00:10:03"),
         Host("c", "10.0.20.2/24", "10.0.20.1", "02:00:00:00:20:02")]
a, b, c = hosts
config = {"program": os.path.abspath("p4/tor/tor.p4"),
          "ports": [{"port": 1, "device": "net_af_packet1,iface=swa", "name": "a"},
                    {"port": 2, "device": "net_af_packet2,iface=swb", "name": "b"}],
          "tor": TOR}
try:
    with Switch(config, "--memory", "900") as sw:
        checks.true("two hosts of a VLAN", a.pings("10.0.10.3") and b.pings("10.0.10.2"))
        checks.has("their addresses are learned", sw.ctl("macs")[1], "02:00:00:00:10:02")
        checks.equal("links", sw.ctl("links")[0], 0)
        # of one flow: what is like it is not run (pipeline/switch/flows.h)
        def remembered():
            """Of 50 datagrams: those of one burst with the first, or before a table changes, are not."""
            a.run(sys.executable, "-c", "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                  "for i in range(50): s.sendto(bytes(100 + i), ('10.0.10.3', 9))")
            return sw.ask("stats")["remembered"] >= 20

        checks.true("datagrams go as those before did", sw.becomes(remembered, True), sw.ask("stats"))
        before = sw.ask("stats")["remembered"]
        a.run("ping", "-q", "-c", "40", "-i", "0.01", "10.0.10.3")
        checks.true("and echoes", sw.ask("stats")["remembered"] >= before + 40, sw.ask("stats"))
        checks.has("and are counted", sw.ctl("stats")[1], "of flows remembered")
        # a third host at a port that is added, in a VLAN that is routed
        sw.ask("port.add", port=3, device="net_af_packet3,iface=swc", name="c")
        more = {**config, "tor": {**TOR, "links": TOR["links"] + [{"name": "c", "port": "c", "access": 20}]}}
        more["ports"] = config["ports"] + [{"port": 3, "device": "net_af_packet3,iface=swc", "name": "c"}]
        sw.write(more)
        checks.equal("reload", sw.ask("reload")["ports_added"], 0)
        checks.true("routed", a.pings("10.0.20.2"))
        checks.true("and back", c.pings("10.0.10.3"))
        checks.has("a port of the section stays", sw.refused("port.remove", port="c"), "c")
        checks.true("still", c.pings("10.0.10.3"))
        # set up, a port without a carrier is none to the ToR either: a LAG would send half of its flows there
        def link_of_c():
            return [link["up"] for link in sw.ask("tor.links") if link["link"] == "c"]

        c.run("ip", "link", "set", "eth0", "down")
        checks.true("without a carrier c is down", sw.becomes(link_of_c, [False]), link_of_c())
        sw.ask("port.set", port=3, up=True)
        checks.equal("also when it is set up", link_of_c(), [False])
        sw.ask("port.set", port=3, up=False)
        c.run("ip", "link", "set", "eth0", "up")
        checks.true("the port has a link", sw.becomes(lambda: sw.port(3)["link"], True))
        checks.equal("set down, c is down", link_of_c(), [False])
        sw.ask("port.set", port=3, up=True)
        checks.true("and up again", sw.becomes(link_of_c, [True]))
        # a container that is started again has another interface
        c.end()
        subprocess.run(["ip", "link", "delete", "swc"], stderr=subprocess.DEVNULL, check=False) # if it is not gone yet
        checks.true("it is gone", sw.becomes(link_of_c, [False]), link_of_c())
        c = hosts[2] = Host("c", "10.0.20.2/24", "10.0.20.1", "02:00:00:00:20:02")
        checks.true("started again, it is there", sw.becomes(link_of_c, [True]), link_of_c())
        checks.true("and routed", a.pings("10.0.20.2"))
        bad = {**more, "tor": {**more["tor"], "vlans": [{"vid": 5000}]}}
        sw.write(bad)
        checks.has("a bad section", sw.refused("reload"), "tor.vlans[0].vid")
        checks.true("changes nothing", a.pings("10.0.20.2"))
        sw.write(config)
        checks.equal("and back again", sw.ask("reload")["ports_removed"], 1)
        checks.true("without it", not c.pings("10.0.10.3"))
        checks.true("others are there", a.pings("10.0.10.3"))
        cpu = sw.port(64)
        checks.true("the CPU port counts", cpu["rx_packets"] > 0 and cpu["tx_packets"] > 0, cpu)
        checks.equal("ends, all accounted for", sw.stop(), 0)
finally:
    for h in hosts:
        h.end()
checks.end()
