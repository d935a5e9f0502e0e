# SPDX-License-Identifier: Apache-2.0
"""Jobs of SwitchML workers: their packets, the entries that a switch gets for them, and the model of
the switch beside it that says what must come of every packet."""
import struct

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from switchml_model import ELEMENTS, Model, Receiver, Worker

PROGRAM = "p4/switchml/switchml.p4"
SWITCH_MAC = "02:00:00:00:ff:01"
SWITCH_IP = "10.0.0.254"
SIZES = {n: code for code, n in ELEMENTS.items()}
FLOOD = 999


def mac(host):
    return f"02:00:00:00:00:{host:02x}"


def ip(host):
    return f"10.0.{host >> 8}.{host & 255}"


def packed(text):
    if ":" in text:
        return bytes.fromhex(text.replace(":", ""))
    return bytes(map(int, text.split(".")))


class Job:
    """Worker w is host hosts[w] at ports[w], with replication id first_rid + w."""

    def __init__(self, number, ports, first_rid=1, group=100, base=0, slots=16, hosts=None,
                 bits=None):
        self.number, self.ports, self.group = number, ports, group
        self.first_rid, self.base, self.slots = first_rid, base, slots
        self.hosts = hosts or [first_rid + w for w in range(len(ports))]
        self.bits = bits or list(range(len(ports)))

    def rid(self, w):
        return self.first_rid + w

    def udp(self, w):
        return 0xBEE0 + (5 * w + self.number) % 0x2000  # any port will do

    def collective(self, w, slot, version, values, audience, brief, exponent=0, tsi=0):
        """A collective operation's packet. 'values' is a list of elements or, of a packet without, how many there would be;
        'brief': it wants none in an answer to it alone."""
        empty = isinstance(values, int)
        payload = struct.pack(">BBIHbb", (12 | empty << 1 | brief) << 4 | SIZES[values if empty else len(values)],
                              self.number, tsi, version << 15 | slot, exponent, audience)
        if not empty:
            payload += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))
        host = self.hosts[w]
        return bytes(Ether(dst=SWITCH_MAC, src=mac(host)) / IP(src=ip(host), dst=SWITCH_IP)
                     / UDP(sport=self.udp(w), dport=0xBEE0 + w % 16, chksum=0) / payload).ljust(60, b"\0")

    def packet(self, w, slot, version, values, exponents=(0, 0), tsi=0, **ip_fields):
        payload = struct.pack(">BBIHbb", 1 << 4 | SIZES[len(values)], self.number, tsi,
                              version << 15 | slot, *exponents)
        payload += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))
        host = self.hosts[w]
        return bytes(Ether(dst=SWITCH_MAC, src=mac(host))
                     / IP(src=ip(host), dst=SWITCH_IP, **ip_fields)
                     / UDP(sport=self.udp(w), dport=0xBEE0 + w % 16, chksum=0) / payload)


class Net:
    """A switch with jobs: 'case' gets its entries, packets and expectations. Every port of a worker is
    in the flood group."""

    def __init__(self, case, jobs, flood=True, silent=(), model=None):
        self.case, self.jobs, self.model = case, jobs, model or Model()
        case.derived = "computed by the model in switchml_model.py"
        case.at_end.append(self.expect_state)
        entries, nodes, groups, stations = [], [], [], {}
        for job in jobs:
            for w, port in enumerate(job.ports):
                self.add_worker(job, w, port, entries, silent)
                nodes.append({"id": job.rid(w), "rid": job.rid(w), "ports": [port]})
                stations[mac(job.hosts[w])] = port
            members = [(job.rid(w), port, None) for w, port in enumerate(job.ports)]
            self.model.groups[job.group] = members
            groups.append({"id": job.group, "nodes": [rid for rid, _, _ in members]})
        for address, port in stations.items():
            self.model.macs[packed(address)] = port
            entries.append({"table": "macs", "key": {"hdr.ethernet.dst_addr": address},
                            "action": "to_port", "args": {"port": port}})
        case.config = {"multicast": {"nodes": nodes, "groups": groups}, "entries": entries}
        if flood:
            self.add_flood(sorted(set(stations.values())), nodes, groups)

    def add_worker(self, job, w, port, entries, silent):
        bit, address = job.bits[w], ip(job.hosts[w])
        self.model.workers[job.number, packed(address), port] = Worker(
            job.number, bit, len(job.ports), packed(address), port, job.group, job.rid(w), job.base,
            job.slots)
        entries.append({
            "table": "workers",
            "key": {"hdr.switchml.job_number": job.number, "hdr.ipv4.src_addr": address,
                    "ig_intr_md.ingress_port": port},
            "action": "admit",
            "args": {"worker_bit": 1 << bit, "num_workers": len(job.ports), "group": job.group,
                     "rid": job.rid(w), "port": port, "pool_base": job.base,
                     "pool_last": job.slots - 1}})
        if job.rid(w) in silent:
            return
        self.model.receivers[job.rid(w)] = Receiver(packed(mac(job.hosts[w])), packed(address),
                                                    job.udp(w))
        entries.append({"table": "receivers", "key": {"md.rid": job.rid(w)}, "action": "address",
                        "args": {"mac": mac(job.hosts[w]), "ip": address, "udp_port": job.udp(w)}})

    def add_audiences(self, job, first_group=300):
        """Those of p4/switchml/README.md, of a job whose workers have consecutive bits."""
        config, model = self.case.config, self.model

        def group(number, members):
            config["multicast"]["nodes"] += [{"id": 5000 + number * 64 + i, "rid": rid, "ports": [port]}
                                             for i, (rid, port) in enumerate(members)]
            config["multicast"]["groups"].append({"id": number,
                                                  "nodes": [5000 + number * 64 + i for i in range(len(members))]})
            model.groups[number] = [(rid, port, None) for rid, port in members]

        def audience(number, full, brief):
            model.audiences[job.number, number] = full, brief
            config["entries"].append({"table": "audiences",
                                      "key": {"hdr.switchml.job_number": job.number, "audience": number},
                                      "action": "audience", "args": {"group": full, "brief_group": brief}})

        for pipe in (0, 1, 3) if 0xFFF0 not in model.groups else ():
            group(0xFFF0 + pipe, [(0, 128 * pipe + 68), (0, 128 * pipe + 70)])
        places = [(job.rid(w), port) for w, port in enumerate(job.ports)]
        for w, place in enumerate(places):
            group(first_group + 2 * w, [place])
            group(first_group + 2 * w + 1, [p for p in places if p != place])
            audience(w, first_group + 2 * w, first_group + 2 * w + 1)
            audience(32 + w, first_group + 2 * w + 1, first_group + 2 * w)
        audience(64, 0, job.group)

    def add_flood(self, ports, nodes, groups):
        members = []
        for port in ports:
            nodes.append({"id": 2000 + port, "rid": 0, "ports": [port]})
            members.append({"node": 2000 + port, "xid": port})
        groups.append({"id": FLOOD, "nodes": members})
        self.model.groups[FLOOD] = [(None, port, port) for port in ports]
        self.model.flood = FLOOD
        self.case.config["defaults"] = [{"table": "macs", "action": "to_group",
                                         "args": {"group": FLOOD}}]

    def receive(self, port, frame, after=1000):
        """The case goes on with a packet and what the model makes of it, which is returned."""
        self.case.receive(port, frame, after)
        return self.expect(*self.model.receive(port, bytes(frame)))

    def expect(self, sent, dropped):
        """What must come of the last packet; returns what must be sent."""
        for to, out in sent:
            self.case.sends(to, out)
        for reason, last in dropped:
            self.case.drops(reason, received=last)
        return sent

    def send(self, job, w, slot, version, values, after=1000, **more):
        """Worker w of a job sends a part."""
        return self.receive(job.ports[w], job.packet(w, slot, version, values, **more), after)

    # ---- what is left in the switch, under the names of p4/switchml/README.md

    def expect_state(self):
        reasons = {}
        for d in self.case.dropped:
            reasons[d["reason"]] = reasons.get(d["reason"], 0) + 1
        self.case.state = {
            "registers": list(self.registers()), "counters": list(self.counters()),
            "drops": [{"reason": r, "packets": n} for r, n in sorted(reasons.items())]}

    def registers(self):
        for (pipe, version, slot), cell in sorted(self.model.cells.items()):
            index = version * 8192 + slot
            if cell.seen:
                yield {"name": f"pipe.Ingress.seen.bitmap{version}", "pipe": pipe, "index": slot,
                       "value": cell.seen}
            for i, exponent in enumerate(cell.exponents):
                if cell.missing or exponent:
                    yield {"name": f"pipe.Ingress.tally{i}.cells", "pipe": pipe, "index": index,
                           "value": {"missing": cell.missing, "exponent": exponent}}
            for k in range(32):
                low, high = cell.values[k], cell.values[32 + k]
                if low or high:
                    yield {"name": f"pipe.Ingress.lanes.lane{k:02}.cells", "pipe": pipe,
                           "index": index, "value": {"low": low, "high": high}}

    def counters(self):
        names = {"drops": "pipe.Ingress.drops", "repetitions": "pipe.Ingress.repetitions",
                 "wrong_checksums": "pipe.Ingress.admission.wrong_checksums",
                 "resent": "pipe.Ingress.steps.resent"}
        for (name, pipe, index), (packets, size) in self.model.counts.items():
            if name in names:
                yield {"name": names[name], "pipe": pipe, "index": index, "packets": packets}
                continue
            item = {"name": "pipe.Egress.sent", "pipe": pipe}
            if name == "workers":
                item["name"] = "pipe.Ingress.admission.received"
            if index is None:
                item["default"] = True
            elif name == "workers":
                item["key"] = {"hdr.switchml.job_number": index[0],
                               "hdr.ipv4.src_addr": ".".join(map(str, index[1])),
                               "ig_intr_md.ingress_port": index[2]}
            else:
                item["key"] = {"md.rid": index}
            yield {**item, "packets": packets, "bytes": size}
