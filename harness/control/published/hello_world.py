#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The published SwitchML client's hello_world with p4/switchml, on one machine; or with the published program and controller.

    harness/control/published/hello_world.py --client PATH [--links tap|memif] [--workers 4] [--packet 256] [--runs 1]
        [--rack | --app DIR --sde DIR]

PATH is hello_world of a checkout of p4lang/p4app-switchML, built as docs/published-client.md says. In a network namespace
of its own (needs root) it starts `silken run` with "switchml_jobs" and as many clients, each with its own switchml.cfg and
DPDK's net_tap or net_memif, and ends with status 0 if every client says "Data verified successfully" and ends with status
0. With --rack the switch is a ToR with p4/rack. With --app, a checkout of p4lang/p4app-switchML, and --sde, one of
p4lang/open-p4studio, the switch runs the published program, and the published controller fills its tables and answers the
clients, both unmodified; packets have 64 elements then, or 256 with the controller's folded pipeline.

The client asks its port for a flow rule, which net_memif has none of: there a library is loaded before it that says yes,
since all packets come to the port's only queue anyway. Without a rule that is enforced it takes any frame for a result, so
the ToR does not announce its addresses.

Prints one line of JSON for each run: seconds from the first client's start to the last one's end, packets of the workers,
what was sent again, wrong IPv4 checksums, what the switch dropped.
"""
import argparse
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(TREE, "harness", "brt")]
import switchml_controller  # noqa: E402

CLONE_NEWNET = 0x40000000
SWITCH_MAC, SWITCH_IP, PORT = "02:00:00:00:00:fe", "10.0.0.254", 50099
WORDS = "Data verified successfully"
# What the client calls of DPDK's flow rules, for a port with one queue.
FLOW = """
int rte_flow_isolate(void) { return 0; }
int rte_flow_validate(void) { return 0; }
int rte_flow_flush(void) { return 0; }
void *rte_flow_create(void) { static int flow; return &flow; }
"""


def parse_arguments():
    p = argparse.ArgumentParser(description="the published client's hello_world through p4/switchml")
    p.add_argument("--client", required=True, help="the program hello_world, built")
    p.add_argument("--links", choices=["tap", "memif"], default="tap")
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--packet", type=int, default=256, choices=[32, 64, 128, 256], help="elements of a packet")
    p.add_argument("--outstanding", type=int, default=64, help="packets of a worker under way")
    p.add_argument("--timeout", type=float, default=1000, help="ms until the client sends a packet again")
    p.add_argument("--runs", type=int, default=1, help="one after the other, with the same switch")
    p.add_argument("--limit", type=float, default=300, help="seconds for a run")
    p.add_argument("--silken", default=os.path.join(os.environ.get("BUILD", os.path.join(TREE, "build")), "silken"))
    p.add_argument("--program", default=os.path.join(TREE, "p4/switchml/switchml.p4"))
    p.add_argument("--rack", action="store_true", help="as jobs of a ToR with p4/rack; packets of 32 or 64 elements")
    p.add_argument("--app", type=os.path.abspath, help="with the published program and controller: their checkout")
    p.add_argument("--sde", type=os.path.abspath, help="the checkout whose Python client it uses")
    args = p.parse_args()
    if args.rack and args.app:
        p.error("--rack and --app exclude each other")
    if bool(args.app) != bool(args.sde):
        p.error("--app and --sde belong together")
    if args.app and args.packet not in (64, 256):
        p.error("the published controller takes packets of 64 elements or 256")
    return args


def mac(rank):
    return "02:00:00:00:01:%02x" % (rank + 1)


def new_network():
    """This process is in a network of its own from here on; whatever is in it goes with the process."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        sys.exit("a network namespace: " + os.strerror(ctypes.get_errno()))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def make_taps(args):
    for rank in range(args.workers):
        name = "tap%d" % rank
        subprocess.run(["ip", "tuntap", "add", name, "mode", "tap", "multi_queue"], check=True)
        subprocess.run(["sysctl", "-qw", "net.ipv6.conf.%s.disable_ipv6=1" % name], check=True)
        subprocess.run(["ip", "link", "set", name, "address", mac(rank), "up"], check=True)


def socket_of(folder, rank):
    return "id=0,socket-abstract=no,socket=%s/%d.sock" % (folder, rank)


def make_flow_library(folder):
    """For LD_PRELOAD."""
    source, library = os.path.join(folder, "flow.c"), os.path.join(folder, "flow.so")
    with open(source, "w", encoding="utf-8") as f:
        f.write(FLOW)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def switch_device(args, folder, rank):
    return {"tap": "net_af_packet%d,iface=tap%d" % (rank, rank),
            "memif": "net_memif%d,role=server,%s" % (rank, socket_of(folder, rank))}[args.links]


def switch_configuration(args, folder):
    ranks = range(args.workers)
    service = {"listen": "127.0.0.1:%d" % PORT, "slots": 512, "grace": 1, "silence": 2}
    if args.app:  # which writes the entries
        return {**switchml_controller.switch_configuration(args.app, folder, args.packet == 256),
                "control_socket": os.path.join(folder, "control.sock"),
                "ports": [{"port": 4 * r, "device": switch_device(args, folder, r)} for r in ranks]}
    if args.rack:  # the client does not answer ARP, and sends nothing before its job has begun
        return {
            "program": os.path.join(TREE, "p4/rack/rack.p4"),
            "control_socket": os.path.join(folder, "control.sock"),
            "switchml_jobs": service,
            "ports": [{"port": r + 1, "name": "w%d" % r, "device": switch_device(args, folder, r)} for r in ranks],
            "tor": {"mac": SWITCH_MAC, "vlans": [{"vid": 10, "announce": False, "addresses": [SWITCH_IP + "/24"]}],
                    "links": [{"name": "w%d" % r, "port": "w%d" % r, "access": 10} for r in ranks],
                    "macs": [{"vid": 10, "mac": mac(r), "link": "w%d" % r} for r in ranks],
                    "neighbours": [{"address": "10.0.0.%d" % (r + 1), "mac": mac(r)} for r in ranks]},
        }
    return {
        "program": args.program,
        "control_socket": os.path.join(folder, "control.sock"),
        "switchml_jobs": {**service, "mac": SWITCH_MAC, "ip": SWITCH_IP},
        "ports": [{"port": r + 1, "device": switch_device(args, folder, r)} for r in ranks],
        "entries": [{"table": "forward.macs", "key": {"dst_addr": mac(r)}, "action": "to_port", "args": {"port": r + 1}}
                    for r in ranks],
    }


def client_configuration(args, folder, rank):
    device = {"tap": "net_tap0,iface=tap%d" % rank, "memif": "net_memif0,role=client," + socket_of(folder, rank)}[args.links]
    eal = "--no-huge -m 512 --no-pci --no-shconf --no-telemetry --file-prefix hello%d-%d --vdev %s,mac=%s" % (
        os.getpid(), rank, device, mac(rank))
    general = {"rank": rank, "num_workers": args.workers, "num_worker_threads": 1,
               "max_outstanding_packets": args.outstanding, "packet_numel": args.packet, "backend": "dpdk",
               "scheduler": "fifo", "prepostprocessor": "cpu_exponent_quantizer", "instant_job_completion": "false",
               "controller_ip": "127.0.0.1", "controller_port": PORT, "timeout": args.timeout,
               "timeout_threshold": 100, "timeout_threshold_increment": 100}
    cores = sorted(os.sched_getaffinity(0))
    dpdk = {"worker_port": 4000, "worker_ip": "10.0.0.%d" % (rank + 1), "cores": cores[rank % len(cores)],
            "extra_eal_options": eal, "port_id": 0, "pool_size": 8191, "pool_cache_size": 256, "burst_rx": 64,
            "burst_tx": 64, "bulk_drain_tx_us": 10}
    return "[general]\n%s\n[backend.dpdk]\n%s\n" % tuple(
        "\n".join("%s = %s" % item for item in section.items()) for section in (general, dpdk))


def ctl(args, folder, *words):
    out = subprocess.run([args.silken, "ctl", "-s", os.path.join(folder, "control.sock"), "--json", *words],
                         capture_output=True, text=True)
    return json.loads(out.stdout) if out.returncode == 0 else {}


def packets_in(args, folder):
    """How many have come from the workers."""
    return sum(p["rx_packets"] for p in ctl(args, folder, "port").get("ports", []))


class Watch:
    """What the switch says of the job: it is gone some time after its workers are."""

    def __init__(self):
        self.packets, self.wrong, self.seen = 0, 0, False

    def look(self, jobs):
        for job in jobs.get("jobs", []):
            self.seen = True
            self.packets = max(self.packets, sum(w["packets"] for w in job["workers"]))
            self.wrong = max(self.wrong, sum(w.get("wrong_checksums", 0) for w in job["workers"]))


def run_once(args, folder, number):
    environment = {**os.environ, "GLOG_logtostderr": "1", "GLOG_v": "1"}
    if args.links == "memif":
        environment["LD_PRELOAD"] = make_flow_library(folder)
    clients, watch, began = [], Watch(), time.monotonic()
    came = packets_in(args, folder) if args.app else 0
    for rank in range(args.workers):
        own = os.path.join(folder, "run%d-worker%d" % (number, rank))
        os.mkdir(own)
        with open(os.path.join(own, "switchml.cfg"), "w", encoding="utf-8") as f:
            f.write(client_configuration(args, folder, rank))
        with open(os.path.join(own, "log"), "wb") as log:
            clients.append(subprocess.Popen(
                ["sh", "-c", "ulimit -s unlimited; exec \"$0\"", os.path.abspath(args.client)], cwd=own, stdout=log,
                stderr=log, env=environment))
    end = began + args.limit
    while any(c.poll() is None for c in clients) and time.monotonic() < end:
        watch.look(ctl(args, folder, "job"))
        time.sleep(0.1)
    seconds = time.monotonic() - began
    for client in clients:
        if client.poll() is None:
            client.kill()
            client.wait()
    watch.look(ctl(args, folder, "job"))
    logs = []
    for rank in range(args.workers):
        with open(os.path.join(folder, "run%d-worker%d" % (number, rank), "log"), encoding="utf-8", errors="replace") as f:
            logs.append(f.read())
    good = all(c.returncode == 0 and WORDS in log for c, log in zip(clients, logs))
    timeouts = [int(n) for log in logs for n in re.findall(r"Number of timeouts: #(\d+)#", log)]
    drops = {d["reason"]: d["packets"] for d in ctl(args, folder, "job").get("drops", [])}
    if args.app:  # no job that the switch knows of, and a program that does not look at checksums
        watch.packets, watch.wrong = packets_in(args, folder) - came, None
    print(json.dumps({"run": number, "links": args.links, "workers": args.workers, "verified": good, "seconds": round(seconds, 2),
                      "packets": watch.packets, "wrong_checksums": watch.wrong, "timeouts": timeouts, "drops": drops}),
          flush=True)
    if not good:
        for rank, log in enumerate(logs):
            print("worker %d, status %s:\n%s" % (rank, clients[rank].returncode, log[-3000:]), file=sys.stderr)
    return good


def main():
    args = parse_arguments()
    new_network()
    if args.links == "tap":
        make_taps(args)
    folder = tempfile.mkdtemp(prefix="silken-hello-", dir="/tmp")
    path = os.path.join(folder, "switch.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(switch_configuration(args, folder), f, indent=1)
    controller = switchml_controller.Controller(
        args.app, args.sde, folder, [mac(r) for r in range(args.workers)], SWITCH_MAC, SWITCH_IP,
        folded=args.packet == 256) if args.app else None
    good, log = False, os.path.join(folder, "switch.log")
    with open(log, "wb") as f:
        switch = subprocess.Popen([args.silken, "run", "-c", path, "--memory", "400"], stdout=f, stderr=f)
    try:
        switchml_controller.ends(switch, "the switch does not start", r"^ready$", log, 600)
        if controller:
            controller.start()
        good = all([run_once(args, folder, n) for n in range(args.runs)])
        if controller:
            _, rows = controller.statistics(args.outstanding)
            print(json.dumps({"controller": "published", "results_broadcast": sum(r[1] + r[2] for r in rows)}))
    finally:
        if controller:
            controller.stop()
        switch.send_signal(signal.SIGINT)
        try:
            switch.wait(timeout=20)
        except subprocess.TimeoutExpired:
            switch.kill()
            switch.wait()
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
