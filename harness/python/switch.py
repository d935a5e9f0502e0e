#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A switch for a job of SwitchML on one machine, whose links are shared memory; needs no privileges.

    harness/python/switch.py --workers 4 COMMAND...

runs the command with the environment that its workers need (ENVIRONMENT in allreduce.h), and ends the switch
after it. As a module: Switch(...).
"""
import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MAC, IP = "02:00:00:00:01:0%d", "10.0.0.10%d"  # by the rank, of which there are ten at most
GROUP = 100
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TREE, os.environ.get("BUILD", "build"))


def socket_of(folder, rank):
    return os.path.join(folder, "w%s.sock" % rank)


def audiences(workers, job=1):
    """Of collective operations: multicast nodes, groups and entries. Worker i is at port i + 1, with that rid."""
    nodes, groups, entries = [], [], []

    def group(number, members):
        for i, node in enumerate(members):
            nodes.append({"id": number * 64 + i, **node})
        groups.append({"id": number, "nodes": [number * 64 + i for i in range(len(members))]})

    def audience(number, full, brief):
        entries.append({"table": "pipe.Ingress.admission.audiences",
                        "key": {"hdr.switchml.job_number": job, "audience": number},
                        "action": "audience", "args": {"group": full, "brief_group": brief}})

    for pipe in (0, 1, 3):
        group(0xfff0 + pipe, [{"rid": 0, "ports": [pipe * 128 + 68]}, {"rid": 0, "ports": [pipe * 128 + 70]}])
    for i in range(workers):
        one, rest = GROUP + 1 + 2 * i, GROUP + 2 + 2 * i if workers > 1 else 0
        group(one, [{"rid": i + 1, "ports": [i + 1]}])
        if rest:
            group(rest, [{"rid": k + 1, "ports": [k + 1]} for k in range(workers) if k != i])
        audience(i, one, rest)
        audience(32 + i, rest, one)
    audience(64, 0, GROUP)
    return nodes, groups, entries


def configuration(folder, workers, program, pool, collectives=True, f16=False):
    """What p4/switchml/README.md lists for one job, with a memif port for each worker."""
    ports = range(1, workers + 1)
    entries = []
    for port in ports:
        entries += [
            {"table": "pipe.Ingress.admission.workers",
             "key": {"hdr.switchml.job_number": 1, "hdr.ipv4.src_addr": IP % (port - 1),
                     "ig_intr_md.ingress_port": port},
             "action": "admit",
             "args": {"worker_bit": 1 << (port - 1), "num_workers": workers, "group": GROUP, "rid": port,
                      "port": port, "pool_base": 0, "pool_last": pool - 1}},
            {"table": "pipe.Egress.receivers", "key": {"md.rid": port}, "action": "address",
             "args": {"mac": MAC % (port - 1), "ip": IP % (port - 1), "udp_port": 0xbee0}}]
    more = audiences(workers) if collectives else ([], [], [])
    return {
        "program": program,
        "sessions": {"mac": "02:00:00:00:00:fe", "ip": "10.0.0.254"},
        "control_socket": os.path.join(folder, "control.sock"),
        "ports": [{"port": p, "device": "net_memif%d,role=server,id=0,socket-abstract=no,socket=%s"
                   % (p, socket_of(folder, p - 1))} for p in ports],
        "multicast": {"nodes": [{"id": p, "rid": p, "ports": [p]} for p in ports] + more[0],
                      "groups": [{"id": GROUP, "nodes": list(ports)}] + more[1]},
        "entries": entries + more[2],
        **({"filled": [{"tables": "halves"}]} if f16 else {}),
    }


class Switch:
    """A running switch. |silken| is the command, as words; |program| a P4 program or a compiled one."""

    def __init__(self, workers, silken=None, program=None, pool=128, collectives=True, f16=False):
        self.folder = tempfile.mkdtemp(prefix="silken-python-", dir="/tmp")
        self.workers, self.pool, self.collectives, self.f16 = workers, pool, collectives and not f16, f16
        self.silken = silken or [os.path.join(BUILD, "silken")]
        self.program = program or os.path.join(TREE, "p4/switchml", "halves.p4" if f16 else "switchml.p4")
        self.process = None
        self.start()

    def start(self):
        path = os.path.join(self.folder, "switch.json")
        with open(path, "w") as f:
            json.dump(configuration(self.folder, self.workers, self.program, self.pool,
                                    self.collectives, self.f16), f, indent=1)
        self.log = open(os.path.join(self.folder, "switch.log"), "w+")
        self.process = subprocess.Popen([*self.silken, "run", "-c", path, "--memory", "400"],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
        self.log.seek(0)
        raise RuntimeError("the switch does not start: " + self.log.read()[-2000:])

    def environment(self):
        """What the job's workers need to have in their environment."""
        return {
            "SWITCH_PID": str(self.process.pid),
            "SILKEN_LIBRARY": os.environ.get("SILKEN_LIBRARY", os.path.join(BUILD, "libsilken.so.0")),
            "SILKEN_DEVICE": "net_memif0,role=client,id=0,socket-abstract=no,socket="
                             + socket_of(self.folder, "%r"),
            "SILKEN_WORKER_MAC": MAC.replace("%d", "%r"), "SILKEN_WORKER_IP": IP.replace("%d", "%r"),
            "SILKEN_SWITCH_MAC": "02:00:00:00:00:fe", "SILKEN_SWITCH_IP": "10.0.0.254",
            "SILKEN_JOB": "1", "SILKEN_POOL": str(self.pool),
            "PYTHONPATH": os.path.join(TREE, "python"),
            **({"SILKEN_F16": "1"} if self.f16 else {}),
        }

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def end_session(command, seconds=5):
    """Ends what a command with a session of its own has left."""
    for which in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + seconds
        try:
            os.killpg(command.pid, which)
            while time.monotonic() < end:
                command.poll()
                os.killpg(command.pid, 0)
                time.sleep(0.05)
        except ProcessLookupError:
            return


def main():
    p = argparse.ArgumentParser(description="a command with a switch beside it")
    p.add_argument("--workers", type=int, default=4)
    p.add_argument("--f16", action="store_true", help="the switch adds 16-bit floats")
    p.add_argument("--silken", help="the command of the switch, as words")
    p.add_argument("--program", help="P4 program, or a compiled one")
    p.add_argument("command", nargs=argparse.REMAINDER)
    args = p.parse_args()

    def end(*_):
        sys.exit(128 + signal.SIGTERM)
    signal.signal(signal.SIGTERM, end)  # and the switch is ended
    with Switch(args.workers, shlex.split(args.silken) if args.silken else None, args.program,
                f16=args.f16) as switch:
        came = []  # a command that runs already, and that nobody here knows yet, could not be ended
        signal.signal(signal.SIGTERM, lambda *_: came.append(True))
        command = subprocess.Popen(args.command, env={**os.environ, **switch.environment()}, start_new_session=True)
        try:
            signal.signal(signal.SIGTERM, end)
            if came:
                end()
            sys.exit(command.wait())
        finally:
            end_session(command)


if __name__ == "__main__":
    main()
