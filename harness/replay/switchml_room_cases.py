# SPDX-License-Identifier: Apache-2.0
"""Captures of a SwitchML switch whose tables are full, and of what is in the last cells of its registers: as much room
as p4/switchml/README.md says; one more of anything is refused."""
import copy

from scapy.layers.l2 import Ether

from suite import case
from elements import vector
from switchml_model import Cell
from switchml_net import PROGRAM, Job, Net, packed

WORKERS, RECEIVERS, MACS, AUDIENCES = 4096, 1024, 4096, 4096
SLOTS, REASONS = 8192, 16
BASE = SLOTS - 16
CELLS = 2 * SLOTS


def worker(number):
    return {"table": "workers",
            "key": {"hdr.switchml.job_number": number, "hdr.ipv4.src_addr": "10.9.0.1", "ig_intr_md.ingress_port": 9},
            "action": "admit",
            "args": {"worker_bit": 1, "num_workers": 1, "group": 100, "rid": 0, "port": 9, "pool_base": 0,
                     "pool_last": 15}}


def receiver(rid):
    return {"table": "receivers", "key": {"md.rid": rid}, "action": "address",
            "args": {"mac": "02:00:00:00:09:01", "ip": "10.9.0.1", "udp_port": 0xBEE0}}


def audience(n):
    return {"table": "audiences", "key": {"hdr.switchml.job_number": n % 256, "audience": n // 256},
            "action": "audience", "args": {"group": 100, "brief_group": 0}}


def address(n):
    return f"02:01:00:00:{n >> 8:02x}:{n & 255:02x}"


def station(n):
    return {"table": "macs", "key": {"hdr.ethernet.dst_addr": address(n)}, "action": "to_port",
            "args": {"port": n % 64}}


def missing(config, table, room):
    """How many entries a table has room for yet."""
    return range(room - sum(entry["table"] == table for entry in config["entries"]))


@case("switchml/full_tables", PROGRAM)
def full_tables(c):
    """16 hosts of the published client, which counts its calls in the job number, are 4096 workers: as many as there is
    room for, with the last replication ids; all others, 4096 audiences and 4096 addresses are known, too."""
    jobs = [Job(number, list(range(16)), 1008, base=BASE, hosts=list(range(1, 17))) for number in range(256)]
    net = Net(c, jobs[255:])
    entries = c.config["entries"]
    for job in jobs[:255]:
        for w, port in enumerate(job.ports):
            net.add_worker(job, w, port, entries, silent=[job.rid(w)])
    entries += [receiver(rid) for rid in missing(c.config, "receivers", RECEIVERS)]
    for n in missing(c.config, "macs", MACS):
        entries.append(station(n))
        net.model.macs[packed(address(n))] = n % 64
    entries += [audience(n) for n in range(AUDIENCES)]
    for job in (jobs[0], jobs[255]):
        for w in range(16):
            net.send(job, w, 15, job.number & 1, vector(w + job.number, 32))
    for n in (0, MACS - 17, MACS - 16):
        net.receive(5, Ether(dst=address(n), src=address(1), type=0x88B5) / b"of 4096")
    for table, entry, room in (("Ingress.admission.workers", worker(0), WORKERS),
                               ("Ingress.admission.audiences", audience(AUDIENCES), AUDIENCES),
                               ("Egress.receivers", receiver(RECEIVERS), RECEIVERS),
                               ("Ingress.forward.macs", station(MACS), MACS)):
        more = copy.deepcopy(c.config)
        more["entries"].append(entry)
        c.refuses(more, f"table 'pipe.{table}' is full: it holds {room} entries")


def registers(pipe, version, slot, cell):
    """A cell as a configuration has it."""
    index = version * SLOTS + slot
    yield {"name": f"seen.bitmap{version}", "pipe": pipe, "index": slot, "value": cell.seen}
    for i, exponent in enumerate(cell.exponents):
        yield {"name": f"tally{i}.cells", "pipe": pipe, "index": index,
               "value": {"missing": cell.missing, "exponent": exponent}}
    for k in range(32):
        yield {"name": f"lane{k:02}.cells", "pipe": pipe, "index": index,
               "value": {"low": cell.values[k], "high": cell.values[32 + k]}}


@case("switchml/last_cells", PROGRAM)
def last_cells(c):
    """Registers that are set before the first packet, up to the last cell: a job goes on with what another switch had
    of the last slot, in both versions; counters go on from what they were. There is no cell behind the last."""
    job = Job(7, [0, 1], 1022, base=BASE, hosts=[1, 2])
    net = Net(c, [job])
    c.config["registers"] = []
    for version in (0, 1):
        cell = Cell(seen=1, missing=1, exponents=[-4, 9], values=vector(5 + version, 64))
        net.model.cells[0, version, SLOTS - 1] = cell
        c.config["registers"] += registers(0, version, SLOTS - 1, cell)
    c.config["counters"] = [{"name": name, "index": index, "packets": 40} for name, index in
                            (("drops", REASONS - 1), ("repetitions", 1023), ("resent", 1023))]
    for name, index in (("drops", REASONS - 1), ("repetitions", 1023), ("resent", 1023)):
        net.model.counts[name, 0, index] = [40, 0]
    for version in (0, 1):
        net.send(job, 0, 15, version, vector(70, 64))  # its part is in
        net.send(job, 1, 15, version, vector(71 + version, 64), exponents=(-5, 10))
        net.send(job, 1, 15, version, vector(71, 64))
    names = [f"Ingress.seen.bitmap{v}" for v in (0, 1)] + \
        [f"Ingress.tally{i}.cells" for i in (0, 1)] + [f"Ingress.lanes.lane{k:02}.cells" for k in (0, 17, 31)]
    for name in names:
        cells = SLOTS if "bitmap" in name else CELLS
        c.refuses({"registers": [{"name": f"pipe.{name}", "index": cells, "value": 0}]},
                  f"register 'pipe.{name}' has {cells} cells; there is no index {cells}")
    for name, cells in (("drops", REASONS), ("repetitions", 1024), ("steps.resent", 1024)):
        c.refuses({"counters": [{"name": f"pipe.Ingress.{name}", "index": cells, "packets": 0}]},
                  f"counter 'pipe.Ingress.{name}' has {cells} cells; there is no index {cells}")
