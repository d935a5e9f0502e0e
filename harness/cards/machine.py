# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with network cards of QEMU's on PCI behind an IOMMU, for `silken run` by vfio-pci, and the hosts at the
other ends of their cables: network namespaces, whose interfaces are QEMU's taps. The machine's files are this machine's
(image.sh). Needs root; what it made, it removes.

    with Network([Card("e1000e"), Card("virtio-net-pci", queues=4)]) as network, Machine(network.cards, KERNEL, IMAGE) as m:
        m.do("ls /sys/kernel/iommu_groups")
        m.cable(0, False)
        network.hosts[0].run("ping", "-c", "1", "10.0.40.2")
"""
import base64
import contextlib
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "control", "tor")]
import vm  # noqa: E402

TUNSETIFF, IFF_TAP, IFF_MULTI_QUEUE, IFF_NO_PI, IFF_VNET_HDR = 0x400454CA, 0x2, 0x100, 0x1000, 0x4000
CLONE_NEWNET = 0x40000000
FIRST_SLOT = 0x10  # of the cards on PCI
LINE = 3000        # characters that the console takes at once, with room
# what DPDK wants to know of the processor, and the IOMMU's addresses as wide as those of a process
MACHINE = ["-machine", "q35", "-cpu", "max", "-smp", "2", "-device", "intel-iommu,intremap=on,aw-bits=48"]


class Card:
    """'kind': QEMU's name of it."""

    def __init__(self, kind, queues=1):
        self.kind, self.queues = kind, queues
        self.number = self.files = None

    def address(self):
        return "0000:00:%02x.0" % (FIRST_SLOT + self.number)

    def words(self):
        more = ""
        if self.kind.startswith("virtio"):
            # by the IOMMU as hardware is; flows are spread over the queues by the card
            more = ",iommu_platform=on,disable-legacy=on"
            more += f",mq=on,rss=on,vectors={2 * self.queues + 2}" if self.queues > 1 else ""
        return ["-netdev", f"tap,id=n{self.number},fds={':'.join(map(str, self.files))},vhost=off",
                "-device", f"{self.kind},id=card{self.number},netdev=n{self.number},addr={FIRST_SLOT + self.number:#x},"
                           f"mac=02:00:00:00:41:{self.number:02x}{more}"]


class Host:
    """At the other end of a card's cable."""

    def __init__(self, number):
        self.number = number
        self.namespace = f"skcard{os.getpid()}-{number}"
        self.mac, self.address = "02:00:00:00:40:%02x" % number, f"10.0.40.{number + 1}"

    def make(self, card, mtu=1500):
        name = f"skc{os.getpid():x}n{self.number}"
        flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | (IFF_MULTI_QUEUE if card.queues > 1 else 0)
        card.files = []
        for _ in range(card.queues):
            card.files.append(os.open("/dev/net/tun", os.O_RDWR))
            fcntl.ioctl(card.files[-1], TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        run("ip", "netns", "add", self.namespace)
        run("ip", "link", "set", name, "netns", self.namespace, "name", "eth0")
        self.run("sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6")  # of itself it sends nothing
        self.ip("link", "set", "eth0", "address", self.mac, "mtu", str(mtu), "txqueuelen", "10000", "up")
        self.ip("address", "add", f"{self.address}/24", "dev", "eth0")

    def ip(self, *words):
        run("ip", "-n", self.namespace, *words)

    def run(self, *words, check=True):
        return subprocess.run(["ip", "netns", "exec", self.namespace, *words], capture_output=True, text=True, check=check).stdout

    @contextlib.contextmanager
    def inside(self):
        """What makes sockets there makes them of this host."""
        with open("/proc/self/ns/net", "rb") as own, open(f"/run/netns/{self.namespace}", "rb") as here:
            enter(here.fileno())
            try:
                yield
            finally:
                enter(own.fileno())

    def wire(self):
        """A socket for frames."""
        with self.inside():
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            s.bind(("eth0", 0))
        s.setsockopt(263, 23, 1)  # PACKET_IGNORE_OUTGOING
        s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        return s

    def counts(self):
        """(sent to the card, not taken from here, received from it)"""
        link = json.loads(subprocess.run(["ip", "-n", self.namespace, "-s", "-j", "link", "show", "eth0"], capture_output=True,
                                         text=True, check=True).stdout)[0]["stats64"]
        return link["tx"]["packets"], link["tx"]["dropped"], link["rx"]["packets"]

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.namespace], stderr=subprocess.DEVNULL, check=False)


def enter(namespace):
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def run(*words):
    subprocess.run(words, check=True)


class Network:
    """Of each card a host."""

    def __init__(self, cards):
        self.cards, self.hosts = cards, []

    def __enter__(self):
        try:
            for i, card in enumerate(self.cards):
                card.number = i
                self.hosts.append(Host(i))
                self.hosts[-1].make(card)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for h in self.hosts:
            h.remove()
        for c in self.cards:
            for f in c.files or ():
                os.close(f)
            c.files = None


def image(kernel, folder, modules):
    for script, *words in (("../guests/kernel.sh", kernel), ("image.sh", kernel, folder, *modules)):
        done = subprocess.run(["sh", os.path.join(HERE, script), *words], capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "PATH": "/usr/sbin:/sbin:" + os.environ["PATH"]})
        if done.returncode:
            raise RuntimeError(f"no image for virtual machines: {done.stderr.strip()[-300:]}")


class Machine(vm.VM):
    """'folder': of the monitor's socket. 'patience': seconds until it must be there."""

    def __init__(self, cards, kernel, folder, patience=900):
        super().__init__([], [], kernel, 2048, "max", patience)
        self.cards, self.folder = cards, folder
        self.files = [f for c in cards for f in c.files]

    def monitor_path(self):
        return os.path.join(self.folder, f"monitor{os.getpid()}")

    def words(self):
        # beside whatever else this machine does
        words = ["nice", "-n", "10", vm.QEMU, "-accel", "tcg,thread=multi", *MACHINE, "-m", str(self.memory), "-display", "none",
                 "-nodefaults", "-no-reboot", "-serial", "stdio", "-kernel", os.path.join(self.image, "vmlinuz"),
                 "-initrd", os.path.join(self.folder, "initrd"), "-append", "console=ttyS0 quiet panic=-1",
                 "-monitor", f"unix:{self.monitor_path()},server=on,wait=off",
                 "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
                 "-device", "virtio-9p-pci,fsdev=root,mount_tag=root"]
        for c in self.cards:
            words += c.words()
        return words

    def write(self, path, text):
        """A file of the machine's."""
        text = base64.b64encode(text.encode()).decode()
        self.do(f": >{path}")
        for at in range(0, len(text), LINE // 4 * 4):
            self.do(f"echo {text[at:at + LINE // 4 * 4]} | base64 -d >>{path}")

    def block(self, commands, seconds=120):
        """Several lines, as a shell has them that stops where one fails. What they say."""
        self.write("/run/block.sh", commands)
        return self.do("sh -e /run/block.sh 2>&1", seconds=seconds)

    def cable(self, number, plugged):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(self.monitor_path())
            said = b""
            for words in (b"", f"set_link card{number} {'on' if plugged else 'off'}\n".encode()):
                s.sendall(words)
                said = b""
                while not said.endswith(b"(qemu) "):
                    said += s.recv(4096)
            if b"Error" in said:
                raise RuntimeError(said.decode())

    def until_true(self, what, seconds, message):
        """what() until it is true."""
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                raise TimeoutError(message)
            time.sleep(0.5)

    def __exit__(self, *_):
        super().__exit__()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.monitor_path())
