# SPDX-License-Identifier: Apache-2.0
"""A virtual machine under QEMU whose network cards are vhost-user ports of the switch: Debian's kernel and a
busybox that takes commands over its console.

    with VM(folder, ["/run/v0.sock"]) as vm:
        print(vm.do("ip address add 10.0.10.9/24 dev eth0"))
"""
import os
import select
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", "build")
QEMU = "qemu-system-x86_64"


def why_not():
    """The reason why there can be no virtual machine here, or None. Fetches a kernel when there is none yet."""
    if not shutil.which(QEMU):
        return f"{QEMU} is not installed"
    done = subprocess.run(["sh", os.path.join(HERE, "vm_kernel.sh"), os.path.join(BUILD, "vm")], capture_output=True,
                          text=True, timeout=300, check=False)
    return f"no kernel for a virtual machine: {done.stderr.strip()[-200:]}" if done.returncode else None


class VM:
    """With `lasting` its cards find the switch again that ends and comes back at the same sockets; `more` are further words
    for QEMU."""
    files = ()  # that QEMU gets

    def __init__(self, sockets, macs, image=None, memory=256, cpu="qemu64", patience=180, lasting=False, more=()):
        self.sockets, self.macs, self.process, self.said = sockets, macs, None, b""
        self.image, self.memory, self.cpu, self.patience = image or os.path.join(BUILD, "vm"), memory, cpu, patience
        self.lasting, self.more, self.errors = lasting, more, tempfile.TemporaryFile()

    def words(self):
        """QEMU's command line."""
        words = [QEMU, "-accel", "tcg", "-cpu", self.cpu, "-m", str(self.memory), "-display", "none", "-nodefaults", "-no-reboot",
                 "-serial", "stdio", "-kernel", os.path.join(self.image, "vmlinuz"), "-initrd",
                 os.path.join(self.image, "initrd"), "-append", "console=ttyS0 quiet panic=-1 no_timer_check",
                 "-object", f"memory-backend-memfd,id=mem,size={self.memory}M,share=on", "-numa", "node,memdev=mem"]
        # no_timer_check: beside busy neighbours the timer is late, and the kernel takes it for broken
        # a speed, without which Linux bonds nothing; no vectors: QEMU 7.2 ends with a fault when vhost-user meets MSI-X without KVM
        for i, (path, mac) in enumerate(zip(self.sockets, self.macs)):
            again = ",reconnect=1" if self.lasting else ""
            words += ["-chardev", f"socket,id=c{i},path={path}{again}", "-netdev", f"vhost-user,id=n{i},chardev=c{i}",
                      "-device", f"virtio-net-pci,netdev=n{i},mac={mac},vectors=0,speed=10000,duplex=full"]
        return [*words, *self.more]

    def start(self):
        self.process = subprocess.Popen(self.words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        pass_fds=self.files)

    def __enter__(self):
        if not self.process:
            self.start()
        try:
            self.until(b"@ready", self.patience)
        except BaseException:
            self.__exit__()
            raise
        return self

    def until(self, mark, seconds):
        """What it says up to a line with the mark; and the rest of that line."""
        end = time.monotonic() + seconds
        while True:
            at = self.said.find(mark)
            newline = self.said.find(b"\n", at)
            if at >= 0 and newline >= 0:
                before, rest = self.said[:at], self.said[at + len(mark):newline]
                self.said = self.said[newline + 1:]
                return before.decode(errors="replace"), rest.strip()
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError(f"the virtual machine does not say {mark!r}: {self.said[-2000:]!r}")
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                self.errors.seek(0)
                raise RuntimeError(f"the virtual machine ended: {self.said[-2000:]!r} {self.errors.read()[-1000:]!r}")
            self.said += part

    def do(self, command, check=True, seconds=60):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        said, status = self.until(b"@", seconds)
        if check and status != b"0":
            raise RuntimeError(f"{command}: {status.decode()}\n{said}")
        return said

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.errors.close()
