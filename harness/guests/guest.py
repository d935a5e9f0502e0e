# SPDX-License-Identifier: Apache-2.0
"""Virtual machines with RDMA over Ethernet (Linux' rdma_rxe) at vhost-user ports of a switch: the kernel and tools of image.sh
in harness/control/tor/vm.py's machine.

    with Rack(2, image([SILKEN])) as rack:
        with rack.running({"program": ..., "entries": ...}) as switch:      # the ports are the machines'
            for g in rack.guests:
                print(g.do("ibv_devinfo"))
        with rack.running({...}) as switch:                                  # another one, with the same machines
            ...
"""
import contextlib
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "control", "tor"), os.path.join(HERE, "..", "control")]
import vm  # noqa: E402
from live import Switch  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
HOST = "10.0.2.2"  # the address by which a machine reaches the services of the one that it runs on
GID = 2  # of a machine's address


def made_by(script, *programs):
    folder = os.path.abspath(os.path.join(BUILD, "guests"))
    done = subprocess.run(["sh", os.path.join(HERE, script), folder, *programs], capture_output=True, text=True, timeout=600,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"no image for virtual machines: {done.stderr.strip()[-300:]}")
    return folder


def fetch():
    """The kernel, once. For those who go on in a namespace of their own, where nothing can be fetched."""
    made_by("kernel.sh")


def image(programs=()):
    """The folder with a kernel and an initial file system that has these programs, made anew."""
    return made_by("image.sh", *programs)


def mac(n):
    return f"02:00:00:00:30:{n:02x}"


def address(n):
    return f"10.0.30.{n + 1}"


class Guest(vm.VM):
    """Machine n: a card at the socket of a vhost-user port, which finds the next switch there; another card, by which it
    reaches the host's services; and a processor that has what DPDK asks for."""

    # Linux' rxe_resp.c, do_class_d1e_error(): of a message that is written in several packets and has no end it forgets that it
    # had begun only if it holds a receive, which a write takes with its last packet alone. No message is taken any more then.
    # `test rax,rax; je over` before `mov edx,[rax+0x10]; mov [rax+0x14],edx`: mended, it goes to where it forgets.
    WRONG, OFFSET, MENDED = bytes.fromhex("4885c0742d8b5010895014"), 4, 0x22
    SIGNATURE = 28  # bytes of the mark at a module's end without which Linux takes it for one that is not signed

    def __init__(self, path, n, folder, memory):
        service = ["-netdev", "user,id=service", "-device", f"virtio-net-pci,netdev=service,mac=02:00:00:00:31:{n:02x},vectors=0"]
        super().__init__([path], [mac(n)], folder, memory, "max", 900, lasting=True, more=service)
        self.n = n

    def rxe(self):
        """Its card speaks RoCEv2. The GID of its address has the index GID, as the published client wants it; before it are
        that of its MAC address, and one of an address that nobody uses."""
        self.do("ip link set eth0 up; ip link set eth1 up; ip address add 10.0.2.15/24 dev eth1")
        self.do("rdma link add rxe0 type rxe netdev eth0")
        for index, mine in ((GID - 1, f"10.0.29.{self.n + 1}/32"), (GID, address(self.n) + "/24")):
            self.do(f"ip address add {mine} dev eth0")
            self.do(f"until grep -q ffff: /sys/class/infiniband/rxe0/ports/1/gids/{index}; do sleep 0.2; done")

    def mend_rxe(self):
        """Changes the machine's rxe as above, before rxe()."""
        (module,) = glob.glob(os.path.join(self.image, "package/lib/modules/*/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko"))
        with open(module, "rb") as f:
            code = f.read()
        if code.count(self.WRONG) != 1:
            raise RuntimeError("another rdma_rxe than that of Debian's 6.1.192")
        size = len(code) - self.SIGNATURE
        self.do(f"rmmod rdma_rxe; head -c {size} /modules/rdma_rxe.ko >/tmp/rxe.ko; printf '\\{self.MENDED:03o}' | "
                f"dd of=/tmp/rxe.ko bs=1 seek={code.index(self.WRONG) + self.OFFSET} conv=notrunc 2>/dev/null; insmod /tmp/rxe.ko")

    def counters(self):
        """What rxe has counted, by name."""
        said = self.do("cd /sys/class/infiniband/rxe0/ports/1/hw_counters; for c in *; do echo $c $(cat $c); done; cd /")
        return {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)\s*$", said, re.M)}  # QEMU may say something, too


class Rack:
    """So many machines, and one switch after the other whose port n is machine n's."""

    def __init__(self, count, folder, memory=384, mended=False):  # MiB
        self.temporary = tempfile.TemporaryDirectory(prefix="silken-guests-")
        self.count, self.folder, self.memory, self.mended = count, folder, memory, mended
        self.guests = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for g in self.guests:
            g.__exit__()
        self.temporary.cleanup()

    def boot(self):
        for n in range(self.count):
            self.guests.append(Guest(self.socket(n), n, self.folder, self.memory))
            self.guests[n].start()
        for g in self.guests:
            g.__enter__()
            if self.mended:
                g.mend_rxe()
            g.rxe()

    def socket(self, n):
        return os.path.join(self.temporary.name, f"v{n}.sock")

    @contextlib.contextmanager
    def running(self, config):
        ports = [{"port": n, "device": f"net_vhost{n},iface={self.socket(n)}"} for n in range(self.count)]
        with Switch({**config, "ports": ports}) as switch:
            if not self.guests:
                self.boot()
            for n in range(self.count):
                if switch.becomes(lambda n=n: switch.port(n)["link"], True, 120) is not True:
                    raise TimeoutError(f"machine {n} does not come back to its port")
            time.sleep(1)  # the machine's driver hears of the link later than the port does
            yield switch
