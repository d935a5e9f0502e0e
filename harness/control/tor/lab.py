# SPDX-License-Identifier: Apache-2.0
"""A rack on one machine: hosts are network namespaces with the kernel's own stacks, their links veth pairs, and
the switch a `silken run` with af_packet ports. Needs root; what it made, it removes.

    with Lab({"a": Host(0, vlan=10, addresses=["10.0.10.2/24"])}, configuration) as lab:
        lab["a"].ask("udp", to="10.0.10.3", port=7, bytes=100, tries=3)
"""
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile

SILKEN = os.path.join(os.environ.get("BUILD", "build"), "silken")
HERE = os.path.dirname(os.path.abspath(__file__))
SIOCETHTOOL, ETHTOOL_STXCSUM, ETHTOOL_STSO = 0x8946, 0x17, 0x1f


def stop_joining(interface):
    """The interface cuts no segments, so the port on it sends packets one by one."""
    set_offload(interface, ETHTOOL_STSO, 0)


def set_offload(interface, command, on):
    asked = ctypes.create_string_buffer(struct.pack("II", command, on))
    with socket.socket() as s:
        fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(asked)))


class Host:
    """At a port of the switch. 'tag': its frames carry this VLAN; else they are untagged. 'routes': (prefix,
    by); 'neighbours': (address, mac) that it need not ask for."""

    def __init__(self, port, addresses=(), tag=None, routes=(), neighbours=(), mtu=1500):
        self.port, self.addresses, self.tag, self.mtu = port, list(addresses), tag, mtu
        self.routes, self.neighbours = list(routes), list(neighbours)
        self.mac = "02:00:00:00:10:%02x" % port
        self.namespace = self.process = None
        # several labs may be there at a time
        self.outside, self.inside = f"sk{os.getpid():x}p{port}", "eth0"
        self.interface = self.inside if tag is None else f"vlan{tag}"

    def ip(self, *words):
        run("ip", "-n", self.namespace, *words)

    def make(self, name):
        self.namespace = f"sktor{os.getpid()}-{name}"
        run("ip", "netns", "add", self.namespace)
        run("ip", "link", "add", self.outside, "mtu", str(self.mtu), "type", "veth", "peer", "name", self.inside,
            "netns", self.namespace)
        run("ip", "link", "set", self.outside, "addrgenmode", "none")
        run("ip", "link", "set", self.outside, "up")
        self.ip("link", "set", self.inside, "address", self.mac, "mtu", str(self.mtu), "up")
        self.ip("link", "set", "lo", "up")
        self.process = subprocess.Popen(["ip", "netns", "exec", self.namespace, "python3", os.path.join(HERE, "peer.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.tag is not None:
            stop_joining(self.outside)  # frames are read and tagged there by a program
            # else the kernel reports its groups untagged as well, at times of its own
            run("ip", "netns", "exec", self.namespace, "sh", "-c",
                f"echo 1 > /proc/sys/net/ipv6/conf/{self.inside}/disable_ipv6")
            self.ask("tag", interface=self.inside, name=self.interface, vid=self.tag)
            self.ip("link", "set", self.interface, "address", self.mac)
        self.ip("link", "set", self.interface, "mtu", str(self.mtu), "up")
        for address in self.addresses:
            self.ip("address", "add", address, "dev", self.interface, *(["nodad"] if ":" in address else []))
        for address, mac in self.neighbours:
            self.ip("neighbour", "add", address, "lladdr", mac, "dev", self.interface)
        for prefix, by in self.routes:
            self.ip("route", "add", prefix, "via", by)

    def checksums(self, on):
        """Whether the host leaves checksums, and segments with them, to its interface."""
        run("ip", "netns", "exec", self.namespace, sys.executable, "-c",
            f"import sys; sys.path[:0] = [{HERE!r}]; import lab; lab.set_offload('{self.inside}', lab.ETHTOOL_STXCSUM, {int(on)})")

    def ask(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.namespace}: ended at '{do}'")
        answer = json.loads(line)
        if "error" in answer:
            raise OSError(f"{self.namespace}: {do}: {answer['error']}")
        return answer["answer"]

    def remove(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(10)
            self.process.stdout.close()
        if self.namespace:
            subprocess.run(["ip", "netns", "del", self.namespace], stderr=subprocess.DEVNULL, check=False)
            subprocess.run(["ip", "link", "del", self.outside], stderr=subprocess.DEVNULL, check=False)


def run(*words):
    subprocess.run(words, check=True)


class Lab:
    """'configuration' is the switch's, without its hosts' ports; "@folder" in it is the lab's folder."""

    def __init__(self, hosts, configuration):
        self.hosts, self.configuration = hosts, configuration
        self.folder = self.switch = self.page_port = None
        self.named = {}  # names of hosts' ports; others have none
        self.said = ""

    def __getitem__(self, name):
        return self.hosts[name]

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="silken-tor-")
        try:
            for name, host in self.hosts.items():
                host.make(name)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        ports = [{"port": h.port, "mtu": h.mtu, "device": f"net_af_packet{h.port},iface={h.outside}",
                  **({"name": self.named[n]} if n in self.named else {})}
                 for n, h in self.hosts.items()]
        path = os.path.join(self.folder.name, "switch.json")
        with open(path, "w") as f:
            f.write(json.dumps({**self.configuration, "ports": ports + self.configuration.get("ports", []),
                                "idle_sleep": 100}).replace("@folder", self.folder.name))
        self.switch = subprocess.Popen([SILKEN, "run", "-c", path, "--memory", "1000"], stdout=subprocess.PIPE, text=True)
        for line in self.switch.stdout:
            if line.startswith("page ") and "(port " in line:
                self.page_port = int(line.split("(port ")[1].rstrip(")\n"))
            if line.strip() == "ready":
                return
        raise RuntimeError("the switch did not start")

    def stop(self):
        """Ends the switch; what it said is in self.said."""
        self.switch.send_signal(signal.SIGINT)
        self.said = self.switch.communicate(timeout=30)[0]
        status, self.switch = self.switch.returncode, None
        return status

    def __exit__(self, *_):
        if self.switch:
            self.switch.kill()
            self.switch.communicate()
        for host in self.hosts.values():
            host.remove()
        self.folder.cleanup()
