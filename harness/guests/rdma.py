#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""RDMA over Ethernet in virtual machines: what is there and is not ours (Linux' rdma_rxe, ibv_uc_pingpong, the published
SwitchML client), through switches of ours, and `silken worker --rdma`.

    harness/guests/rdma.py [--guests 2] [--only WORD...] [--client PATH] [--mend-rxe] [--elements 20000] [--keep FOLDER]

PATH is hello_world of a checkout of p4lang/p4app-switchML with its RDMA backend, built as docs/published-client.md says. All
scenarios are run in the same machines, one after the other; --only runs those whose names begin with a word. Each prints one line
of JSON: its verdict, what it took, and what Scapy and tshark say of the invariant CRC of every frame that the switch's ports
received and sent. Status 0: all verdicts are good. --keep FOLDER keeps the recordings.

With --mend-rxe the machines' rxe is mended in their memory: as Linux has it, it takes no message of a queue pair any more when one
of several packets had no end (guest.py). Without, the client's messages have one packet where frames are lost. Where they are, the
client can spoil its own sums: "overwritten" says how many messages it sent with elements of an answer (judge.py).
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "control")]
from live import INTERFACES, L2, SILKEN, inside  # noqa: E402

import guest  # noqa: E402
import judge  # noqa: E402

ROCE = os.path.abspath("p4/switchml/with_roce.p4")
REFUSED = "invariant CRC of RoCEv2 wrong or not there"
SWITCH_MAC = "02:00:00:00:00:fe"
LOSS = 0.01


def forwarding(program, count):
    """Frames go to the machine that they are addressed to, and to all if that is nobody's address."""
    roce = program == ROCE
    return {"program": program,
            "entries": [{"table": "forward.macs" if roce else "forward", "key": {"dst_addr": guest.mac(n)},
                         "action": "to_port" if roce else "send", "args": {"port": n}} for n in range(count)],
            "defaults": [{"table": "forward.macs", "action": "to_group", "args": {"group": 1}}] if roce else [],  # l2 does so by itself
            "multicast": {"nodes": [{"id": n + 1, "rid": 0, "ports": [n]} for n in range(count)],
                          "groups": [{"id": 1, "nodes": [{"node": n + 1, "xid": n} for n in range(count)]}]}}


def programs(client=None):
    """What the machines need, built."""
    peer = os.path.join(guest.BUILD, "rxe_peer")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-o", peer, os.path.join(HERE, "rxe_peer.c"), "-libverbs"], check=True)
    return [SILKEN, peer, os.path.join(guest.BUILD, "tools/roce_endpoint"), *([client] if client else [])]


class Failed(AssertionError):
    """What a scenario says of itself when it is not good."""


def expect(good, why):
    if not good:
        raise Failed(why)


# ---- ibv_uc_pingpong ----

MESSAGES, BYTES = 200, 4096


def pingpong(rack, switch):
    """From each machine to the next one, all at once."""
    common = f"ibv_uc_pingpong -d rxe0 -g {guest.GID} -s {BYTES} -n {MESSAGES} -m 1024"
    before = [g.counters()["rcvd_pkts"] for g in rack.guests]
    for g in rack.guests:
        g.do(f"{common} >/tmp/serves 2>&1 & echo $! >/tmp/server; until netstat -ltn | grep -q :18515; do sleep 0.2; done")
    for g in rack.guests:
        g.do(f"{common} {guest.address((g.n + 1) % rack.count)} >/tmp/asks 2>&1 &")
    for g in rack.guests:
        said = g.do("wait; cat /tmp/serves /tmp/asks", seconds=600)
        expect(len(re.findall(rf"{2 * MESSAGES * BYTES} bytes in", said)) == 2 and len(re.findall(rf"{MESSAGES} iters in", said)) == 2,
               f"machine {g.n}: {said}")
    received = [g.counters()["rcvd_pkts"] - b for g, b in zip(rack.guests, before)]
    least = 2 * MESSAGES * BYTES // 1024  # it is asked, and answered
    expect(min(received) >= least, f"packets that rxe received: {received}")
    return {"messages_each_way": MESSAGES, "rxe_packets": received}


# ---- silken worker --rdma ----

PAIRS, SLOTS, RKEY, QPN, SWITCH_IP = 4, 32, 0x53494C4B, 0x100, "10.0.31.254"


def worker_ip(n):
    return f"10.0.31.{n + 1}"


def worker_entries(n, count):
    """Of worker n of so many, at port n, with replication id n + 1."""
    end = 2 * (SLOTS - 1)
    common = {"worker_bit": 1 << n, "num_workers": count, "group": 100, "rid": n + 1, "port": n}
    for begins, action, args in ((1, "begin", {"first": 0x8000, "last": end + 1}), (0, "go_on", {"end": 0x8000 + end})):
        yield {"table": "writers",
               "key": {"hdr.ipv4.src_addr": worker_ip(n), "hdr.ipv4.dst_addr": SWITCH_IP, "ig_intr_md.ingress_port": n,
                       "queue_pairs": n + 1, "begins": begins},
               "action": action, "args": {**common, **args}}
    yield {"table": "receivers", "key": {"md.rid": n + 1}, "action": "address",
           "args": {"mac": guest.mac(n), "ip": worker_ip(n), "udp_port": 4791}}
    for pair in range(PAIRS):
        yield {"table": "queue_pairs", "key": {"md.rid": n + 1, "queue_pair": pair}, "action": "queue_pair",
               "args": {"qpn": QPN + pair, "rkey_high": RKEY >> 16, "rkey": RKEY & 0xFFFF}}


def worker_configuration(count):
    return {"program": ROCE, "entries": [e for n in range(count) for e in worker_entries(n, count)],
            "multicast": {"nodes": [{"id": n + 1, "rid": n + 1, "ports": [n]} for n in range(count)],
                          "groups": [{"id": 100, "nodes": [n + 1 for n in range(count)]}]}}


def workers(rack, switch, elements=20000):
    """Every element of every sum is checked. The workers' addresses are not the machines' own, so that the kernels answer nothing."""
    words = (f"silken worker --rdma --device eth0 --workers {rack.count} --switch-mac {SWITCH_MAC} --switch-ip {SWITCH_IP} --pool {SLOTS} "
             f"--pairs {PAIRS} --elements {elements} --rounds 2 --limit 300000 --rto-min 100000 --rto-max 1000000")
    for g in rack.guests:
        g.do(f"{words} --rank {g.n} --mac {guest.mac(g.n)} --ip {worker_ip(g.n)} --queue-pair {64 * (g.n + 1)} >/tmp/said 2>&1 &")
    for g in rack.guests:
        said = g.do("wait; cat /tmp/said", seconds=900)
        expect(f"verified: 2 rounds of {elements} elements" in said, f"machine {g.n}: {said}")
    return {"rounds": 2, "elements": elements}


# ---- our endpoint against rxe ----

OUR_QPN, OUR_RKEY = 0x321, 0x53494C4B  # of harness/tools/roce_endpoint.c


def endpoint(rack, switch, short, harm, messages=300, seed=1, seconds=300):
    """harness/tools/roce_endpoint.c in machine 1 and rxe in machine 0: messages there and back. With `harm` one of so many
    frames is lost, doubled, late or damaged, in each direction. rxe takes no message any more after one of several packets that
    has no end, so that its process begins the queue pair anew then."""
    peer, our = rack.guests[:2]
    renew = "renew" if harm and not short and not rack.mended else ""
    peer.do(f"ip route add {worker_ip(1)}/32 dev eth0 2>/dev/null; arp -s {worker_ip(1)} {guest.mac(1)}")
    peer.do(f"rm -f /tmp/peer; rxe_peer {guest.GID} {worker_ip(1)} {OUR_QPN:#x} {OUR_RKEY:#x} {renew} >/tmp/peer 2>&1 & "
            "echo $! >/tmp/pid; until grep -q . /tmp/peer 2>/dev/null; do sleep 0.2; done")
    said = peer.do("cat /tmp/peer")
    numbers = re.search(r"peer (\d+) 0 (\d+) (\d+)", said)
    expect(numbers, said)
    said = our.do(f"roce_endpoint eth0 {guest.mac(1)}/{worker_ip(1)} {guest.mac(0)}/{guest.address(0)} {' '.join(numbers.groups())} "
                  f"{messages} {seconds} {harm} {seed} {'short' if short else ''} 2>&1", check=False, seconds=seconds + 120)
    heard = peer.do("kill $(cat /tmp/pid); wait; cat /tmp/peer")
    expect(f"verified: {messages} messages" in said and " wrong 0 " in heard, said + heard)
    return {"ours": said.strip(), "rxe": heard.strip().splitlines()[-1], "damaged": int(re.search(r"damaged on the way out (\d+)", said)[1])}


# ---- the published client ----

PORT, CONTROLLER_IP = 50099, "10.0.30.254"
OUTSTANDING = 64  # packets under way
WORDS = "Data verified successfully"


def client_configuration(count):
    return {**forwarding(ROCE, count), "defaults": [],
            "switchml_jobs": {"listen": f"127.0.0.1:{PORT}", "mac": SWITCH_MAC, "ip": CONTROLLER_IP, "slots": 512, "grace": 1, "silence": 2}}


def prepare_client(g):
    """What it wants of a machine: hugepages, a NUMA node of the device, which rxe's has none of, and a neighbour."""
    g.do("echo 8 >/proc/sys/vm/nr_hugepages; mount -t tmpfs none /sys/class/infiniband; cd /sys/class/infiniband; mkdir -p rxe0/device; "
         "ln -s /sys/devices/virtual/infiniband/rxe0/* rxe0/; echo 0 >rxe0/device/numa_node; cd /")
    g.do(f"arp -s {CONTROLLER_IP} {SWITCH_MAC}")


def client_settings(rank, count, message, timeout):
    general = {"rank": rank, "num_workers": count, "num_worker_threads": 1, "max_outstanding_packets": OUTSTANDING, "packet_numel": 256,
               "backend": "rdma", "scheduler": "fifo", "prepostprocessor": "cpu_exponent_quantizer", "instant_job_completion": "false",
               "controller_ip": guest.HOST, "controller_port": PORT, "timeout": timeout, "timeout_threshold": 100,
               "timeout_threshold_increment": 100}
    rdma = {"msg_numel": message, "device_name": "rxe0", "device_port_id": 1, "gid_index": guest.GID}
    return "".join(f"[{name}]\\n" + "".join(f"{key} = {value}\\n" for key, value in section.items())
                   for name, section in (("general", general), ("backend.rdma", rdma)))


def client(rack, switch, packets=4, timeout=5000, seconds=300):
    """hello_world of the published client, messages of so many packets of 256 elements."""
    for g in rack.guests:
        if "numa_node" not in g.do("ls /sys/class/infiniband/rxe0/device", check=False):
            prepare_client(g)
        g.do(f"printf '{client_settings(g.n, rack.count, 256 * packets, timeout)}' >/tmp/switchml.cfg")
        g.do("cd /tmp; (ulimit -s unlimited; GLOG_logtostderr=1 GLOG_v=1 "
             f"timeout {seconds} hello_world; echo status $?) >/tmp/said 2>&1 & cd /")
    said = [g.do("wait; tr @ % </tmp/said", seconds=seconds + 120) for g in rack.guests]
    timeouts = [int(n) for text in said for n in re.findall(r"Number of timeouts: #(\d+)#", text)]
    for n, text in enumerate(said):
        expect(WORDS in text and "status 0" in text, f"machine {n}: {text[-600:]}")
    return {"packets_of_a_message": packets, "timeouts": timeouts}


# ---- the whole ----

def scenarios(count, has_client, mended, elements=20000):
    """Name, configuration, what to do, loss."""
    yield "pingpong", forwarding(L2, count), pingpong, 0
    yield "pingpong-roce", forwarding(ROCE, count), pingpong, 0
    yield "worker", worker_configuration(count), lambda *a: workers(*a, elements), 0
    yield "worker-loss", worker_configuration(count), lambda *a: workers(*a, elements), LOSS
    for packets, short in (("one", True), ("many", False)):
        yield f"endpoint-{packets}", forwarding(L2, count), lambda *a, s=short: endpoint(*a, s, 0), 0
        yield f"endpoint-{packets}-harmed", forwarding(L2, count), lambda *a, s=short: endpoint(*a, s, 20 if s else 100), 0
    if not has_client:
        return
    for packets in (1, 4):
        yield f"client-{packets}", client_configuration(count), lambda *a, p=packets: client(*a, p), 0
    for packets in (1, 4) if mended else (1,):
        yield f"client-{packets}-loss", client_configuration(count), lambda *a, p=packets: client(*a, p, 1000), LOSS


def run(rack, name, config, what, loss, folder=None):
    """The verdict. Every frame's invariant CRC is a part of it."""
    path = os.path.join(folder or rack.temporary.name, f"{name}-{rack.count}.pcapng")
    out = {"scenario": name, "guests": rack.count, "good": True}
    if loss:
        config = {**config, "faults": {"loss": loss, "seed": 5}}
    with rack.running(config) as switch:
        began = time.monotonic()
        for g in rack.guests:  # what a scenario that failed has left
            g.do("kill -9 $(jobs -p) 2>/dev/null; wait", check=False)
        try:
            with judge.recording(switch, path):
                out.update(what(rack, switch))
        except (Failed, RuntimeError) as e:
            out.update({"good": False, "why": str(e)})
        except TimeoutError as e:  # its console is not to be used any more
            return {**out, "good": False, "why": str(e), "over": True}
        out["seconds"] = round(time.monotonic() - began, 1)
        drops = switch.ask("stats")["drops"]
    out["lost"] = drops.get("injected loss", 0)
    out.update(judge.judge(path))
    if name.startswith("client"):
        out["overwritten"] = judge.overwritten(path, bytes(map(int, CONTROLLER_IP.split("."))), OUTSTANDING // int(name.split("-")[1]))
    # a frame that our endpoint has damaged comes and goes; what p4/l2 does not look at may be what was damaged
    damaged = 2 * out.get("damaged", 0)
    wrong = max(out["wrong_by_scapy"], out["other_by_tshark"]) > damaged or REFUSED in drops
    if out["good"] and (wrong or not out["frames"] or bool(loss) != bool(out["lost"])):
        out.update({"good": False, "why": f"frames, or drops: {drops}"})
    return out


def main():
    p = argparse.ArgumentParser(description="RDMA in virtual machines")
    p.add_argument("--guests", type=int, default=2, choices=(2, 3, 4))
    p.add_argument("--only", nargs="+", default=[""])
    p.add_argument("--client", type=os.path.abspath, help="the program hello_world, built with the RDMA backend")
    p.add_argument("--mend-rxe", action="store_true", help="in the machines' memory, so that it outlives messages without an end")
    p.add_argument("--elements", type=int, default=20000, help="of a round of silken worker")
    p.add_argument("--keep", help="a folder for recordings")
    args = p.parse_args()
    good = True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the machines go with it
    with guest.Rack(args.guests, guest.image(programs(args.client)), 512 if args.client else 384, args.mend_rxe) as rack:
        for name, config, what, loss in scenarios(args.guests, args.client, args.mend_rxe, args.elements):
            if any(name.startswith(word) for word in args.only):
                verdict = run(rack, name, config, what, loss, args.keep)
                print(json.dumps(verdict), flush=True)
                good &= verdict["good"]
                if "over" in verdict:
                    break
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    guest.fetch()
    inside(__file__)
    if not INTERFACES:
        sys.exit("no network namespace can be made here")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    main()
