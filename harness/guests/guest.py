# SPDX-License-Identifier: Apache-2.0
"""Virtual machines with RDMA over Ethernet (Linux' rdma_rxe) at vhost-user ports of a switch: the kernel and tools of image.sh
in harness/control/tor/vm.py's machine.

    image = guest.image([SILKEN])
    with Switch({..., "ports": [{"port": 0, "device": "net_vhost0,iface=v0.sock"}]}) as switch, \\
         guest.Guest(switch.path("v0.sock"), 0, image) as g:
        g.rxe()
        print(g.do("ibv_devinfo"))
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "control", "tor")]
import vm  # noqa: E402

BUILD = os.environ.get("BUILD", "build")


def image(programs=()):
    """The folder with a kernel and an initial file system that has these programs, made anew."""
    folder = os.path.abspath(os.path.join(BUILD, "guests"))
    done = subprocess.run(["sh", os.path.join(HERE, "image.sh"), folder, *programs], capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"no image for virtual machines: {done.stderr.strip()[-300:]}")
    return folder


def mac(n):
    return f"02:00:00:00:30:{n:02x}"


def address(n):
    return f"10.0.30.{n + 1}"


class Guest(vm.VM):
    """Machine n, with one card at the socket of a vhost-user port, and a processor that has what DPDK asks for."""

    def __init__(self, path, n, folder, memory=384):  # MiB
        super().__init__([path], [mac(n)], folder, memory, "max", 600)
        self.n = n

    def up(self, with_address=True):
        self.do("ip link set eth0 up")
        if with_address:
            self.do(f"ip address add {address(self.n)}/24 dev eth0")

    def rxe(self):
        """Its card speaks RoCEv2. Returns the index of the GID of its IPv4 address."""
        self.up()
        self.do("rdma link add rxe0 type rxe netdev eth0")
        gids = self.do("cd /sys/class/infiniband/rxe0/ports/1/gids; for i in 0 1 2 3; do echo $i $(cat $i); done; cd /")
        wanted = "ffff:0a00:1e%02x" % (self.n + 1)
        for line in gids.splitlines():
            index, _, gid = line.partition(" ")
            if gid.strip().endswith(wanted):
                return int(index)
        raise RuntimeError(f"no GID for {address(self.n)}: {gids}")
