#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Machines on one machine, below a rack's switch with a job service; needs root. A machine is a network namespace with
a name (m0, m1...), an address (10.0.10.10, .11...) and a link to the switch (p4/rack), and knows the others' names.

    harness/python/machines.py --machines 2 COMMAND...              in each machine at once; %m is its number
    harness/python/machines.py --machines 2 --on 0 COMMAND...       in this one alone
    harness/python/machines.py --machines 2 --slurm --on 0 COMMAND...   with Slurm's daemons in them (Debian's)

Commands have the variables that libsilken needs to find the job service (SILKEN_CONTROLLER, SILKEN_TOKEN,
SILKEN_JOB_NAME), and what else a machine needs to know in a test: PYTHONPATH and SILKEN_LIBRARY of this tree, the
interface for Gloo, and for Open MPI's mpirun how it starts something on another machine. Ends with the first status
of a command that is not 0.
"""
import argparse
import ctypes
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TREE, "harness/control/tor")]
from lab import Host, Lab, run  # noqa: E402

BUILD = os.path.join(TREE, os.environ.get("BUILD", "build"))
TOKEN, SERVICE, PORT = "correct-horse-battery-staple", "10.0.10.254", 9466
CLONE_NEWNET, SIOCETHTOOL, ETHTOOL_STXCSUM = 0x40000000, 0x8946, 0x17

# A command in a machine: its host name, the names of all, and a /tmp and /run of its own where daemons put sockets.
ENTER = """#!/bin/sh
# %s MACHINE COMMAND..., also as mpirun's agent, which gives one command as text
while [ "${1#-}" != "$1" ]; do shift; done
machine=$1
shift
exec ip netns exec "%s$machine" unshare --mount --uts sh -c '
    mount --bind "%s/hosts" /etc/hosts && hostname "$0" && cd "%s" && exec sh -c "$*"' "$machine" "$@"
"""

SLURM = """ClusterName=silken
SlurmctldHost=m0(%(first)s)
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmUser=root
SlurmdUser=root
ReturnToService=2
SlurmctldTimeout=30
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=%(folder)s/spool-%%n
SlurmctldPidFile=%(folder)s/slurmctld.pid
SlurmdPidFile=%(folder)s/slurmd-%%n.pid
SlurmctldLogFile=%(folder)s/slurmctld.log
SlurmdLogFile=%(folder)s/slurmd-%%n.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
%(nodes)s
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def address(machine):
    return "10.0.10.%d" % (10 + machine)


def whole_checksums(interface):
    """What leaves by this interface has its checksums, which nothing behind a veth would fill in."""
    value = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STXCSUM, 0))
    with socket.socket() as s:
        fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", interface.encode(), ctypes.addressof(value)).ljust(40, b"\0"))


class Machines:
    def __init__(self, n):
        self.names = ["m%d" % i for i in range(n)]
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            sys.exit("a network namespace: " + os.strerror(ctypes.get_errno()))
        run("ip", "link", "set", "lo", "up")
        # the job service is at the switch's machine, which is a host at port 9
        run("ip", "link", "add", "skmgmt", "type", "veth", "peer", "name", "skmgmtp")
        for name in ("skmgmt", "skmgmtp"):
            run("ip", "link", "set", name, "addrgenmode", "none", "up")
        run("ip", "address", "add", SERVICE + "/24", "dev", "skmgmt")
        whole_checksums("skmgmt")
        hosts = {name: Host(i, [address(i) + "/24"]) for i, name in enumerate(self.names)}
        section = {"mac": "02:00:00:00:ff:01", "vlans": [{"vid": 10, "addresses": ["10.0.10.1/24"]}],
                   "links": [{"name": name, "port": i, "access": 10} for i, name in enumerate(self.names)] +
                            [{"name": "service", "port": 9, "access": 10}]}
        self.lab = Lab(hosts, {"program": os.path.join(TREE, "p4/rack/rack.p4"), "pipes": 3, "tor": section,
                               "ports": [{"port": 9, "device": "net_af_packet9,iface=skmgmtp"}],
                               "job_service": {"listen": "%s:%d" % (SERVICE, PORT), "token_file": "token", "grace": 1}})
        start = self.lab.start

        def with_token():
            with open(os.path.join(self.lab.folder.name, "token"), "w", encoding="ascii",
                      opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
                f.write(TOKEN + "\n")
            start()
        self.lab.start = with_token
        self.daemons = []

    def __enter__(self):
        self.lab.__enter__()
        self.folder = self.lab.folder.name
        with open(os.path.join(self.folder, "hosts"), "w", encoding="ascii") as f:
            f.write("127.0.0.1 localhost\n" + "".join("%s %s\n" % (address(i), n) for i, n in enumerate(self.names)))
        self.enter = os.path.join(self.folder, "enter")
        with open(self.enter, "w", encoding="utf-8") as f:
            f.write(ENTER % (self.enter, self.lab[self.names[0]].namespace[:-len(self.names[0])], self.folder, os.getcwd()))
        os.chmod(self.enter, 0o755)
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.end_commands()
        self.lab.__exit__()

    def end_commands(self, seconds=5):
        """Ends all processes that are left in the machines, which may have started others."""
        for which in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + seconds
            while (left := self.processes()) and time.monotonic() < end:
                for pid in left:
                    try:
                        os.kill(pid, which)
                    except ProcessLookupError:
                        pass
                time.sleep(0.2)

    def processes(self):
        asked = [subprocess.run(["ip", "netns", "pids", self.lab[name].namespace], capture_output=True, text=True, check=False)
                 for name in self.names]
        own = {self.lab[name].process.pid for name in self.names}  # the lab's, which it ends itself
        return [int(pid) for a in asked for pid in a.stdout.split() if int(pid) not in own]

    def environment(self):
        return {**os.environ, "SILKEN_CONTROLLER": "%s:%d" % (SERVICE, PORT), "SILKEN_TOKEN": TOKEN,
                "SILKEN_JOB_NAME": os.environ.get("SILKEN_JOB_NAME", "training"), "GLOO_SOCKET_IFNAME": "eth0",
                "SILKEN_LIBRARY": os.environ.get("SILKEN_LIBRARY", os.path.join(BUILD, "libsilken.so.0")),
                "PYTHONPATH": os.path.join(TREE, "python"), "OMPI_MCA_plm_rsh_agent": self.enter,
                # whoever is here is root, which mpirun wants to be told
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_btl_tcp_if_include": "eth0", "OMPI_MCA_oob_tcp_if_include": "eth0",
                "SLURM_CONF": os.path.join(self.folder, "slurm.conf")}

    def start(self, machine, words, **more):
        # one text, as a shell reads it again in the machine
        return subprocess.Popen([self.enter, self.names[machine], " ".join(words)], env=self.environment(), **more)

    def start_slurm(self):
        nodes = "\n".join("NodeName=%s NodeAddr=%s CPUs=1 State=UNKNOWN" % (n, address(i)) for i, n in enumerate(self.names))
        with open(os.path.join(self.folder, "slurm.conf"), "w", encoding="ascii") as f:
            f.write(SLURM % {"folder": self.folder, "first": address(0), "nodes": nodes})
        # nothing uses control groups here; without this the daemon wants to see them mounted
        with open(os.path.join(self.folder, "cgroup.conf"), "w", encoding="ascii") as f:
            f.write("CgroupPlugin=cgroup/v1\n")
        for name in ["state"] + ["spool-" + n for n in self.names]:
            os.mkdir(os.path.join(self.folder, name))
        self.daemons.append(self.start(0, ["exec slurmctld -D"], stderr=subprocess.DEVNULL))
        for i, name in enumerate(self.names):
            self.daemons.append(self.start(i, ["exec slurmd -D -N", name], stderr=subprocess.DEVNULL))
        end = time.monotonic() + 60
        while True:
            asked = self.start(0, ["sinfo -h -o %T"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            states = asked.communicate(timeout=60)[0].split()
            if states == ["idle"]:
                return
            if time.monotonic() > end:
                for name in ["slurmctld"] + ["slurmd-" + n for n in self.names]:
                    path = os.path.join(self.folder, name + ".log")
                    if os.path.exists(path):
                        with open(path, encoding="utf-8") as f:
                            print("%s:\n%s" % (name, f.read()[-1500:]), file=sys.stderr)
                sys.exit("Slurm does not start: %s" % states)
            time.sleep(0.5)


def main():
    p = argparse.ArgumentParser(description="commands in machines below a switch")
    p.add_argument("--machines", type=int, default=2)
    p.add_argument("--on", type=int, help="in this machine alone")
    p.add_argument("--slurm", action="store_true")
    p.add_argument("command", nargs=argparse.REMAINDER)
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and everything is ended
    with Machines(args.machines) as machines:
        if args.slurm:
            machines.start_slurm()
        which = range(args.machines) if args.on is None else [args.on]
        quoted = [w.replace("'", "'\\''") for w in args.command]
        running = [machines.start(m, ["'%s'" % w.replace("%m", str(m)) for w in quoted]) for m in which]
        statuses = [r.wait() for r in running]
    sys.exit(next((s for s in statuses if s), 0))


if __name__ == "__main__":
    main()
