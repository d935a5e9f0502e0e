#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""p4/rack/with_levels.p4: test_rack.py's jobs once more, what hostile hosts send to them, and jobs with a switch above or
below beside them: what passes between two switches, and each refusal. What levels do with a packet is in test_levels.py."""
import os
import struct
import sys
import unittest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..")]
import tally  # noqa: E402
import test_rack as rack  # noqa: E402
import test_switchml as sml  # noqa: E402
from elements import vector  # noqa: E402
from switch import Switch  # noqa: E402
from test_levels import BAD_LENGTH, BAD_POOL_INDEX, BAD_STATE, KNOWN_RESULT, OTHER_SESSION, STALE_RESULT  # noqa: E402
from test_rack import FREE, NOT_A_WORKER, NOT_ITS_OWN, TRUNK, VID, guarded, registered, tagged  # noqa: E402
from test_tor import entry  # noqa: E402

PROGRAM = "p4/rack/with_levels.p4"
TO_JOB, TO_ABOVE = 0, 2
# The lower switch's job: workers at two ports, and the switch above behind the trunk. Towards it the switch has other
# addresses than to its workers.
LOW = sml.Job(9, [9, 13], 20, 102, 32, 16)
ABOVE_RID, ABOVE_GROUP, ABOVE = 22, 103, 200
OWN_MAC, OWN_IP = "02:00:00:00:ff:02", "10.0.99.2"
# The top switch's: a worker, and a switch below behind the trunk, who is the job's second one.
TOP = sml.Job(10, [11, TRUNK], 24, 104, 48, 16)
SESSION_JOB = 11   # as LOW, with sessions


def low_entries(job, above_rid, above_group):
    pool = {"pool_base": job.pool_base, "pool_last": job.pool_size - 1}
    yield from rack.switchml_entries(job)
    yield registered(TRUNK, sml.worker_ip(ABOVE), 1, job.number, 0, "switchml")
    yield {"table": "workers", "key": {"hdr.switchml.job_number": job.number, "hdr.ipv4.src_addr": sml.worker_ip(ABOVE),
                                       "ig_intr_md.ingress_port": rack.TO_SWITCHML},
           "action": "result", "args": {"group": job.group, **pool}}
    yield {"table": "receivers", "key": {"md.rid": above_rid}, "action": "above",
           "args": {"mac": sml.worker_mac(ABOVE), "ip": sml.worker_ip(ABOVE), "own_mac": OWN_MAC, "own_ip": OWN_IP}}
    yield entry("tagged", {"rid": above_rid}, "tag", vid=VID)
    yield from guarded(sml.worker_ip(ABOVE), *range(0xBEE0, 0xBEF0))
    yield from guarded(OWN_IP, *range(0xBEE0, 0xBEF0))


def configuration(**changes):
    config = rack.configuration(**changes)
    config["program"] = os.path.abspath(PROGRAM)
    session_job = sml.Job(SESSION_JOB, [9, 13], 30, 105, 64, 16, first_host=20)
    added = [*low_entries(LOW, ABOVE_RID, ABOVE_GROUP), *low_entries(session_job, 32, 106), *rack.switchml_entries(TOP),
             *guarded(sml.worker_ip(TOP.host(1)), *range(0xBEE0, 0xBEF0)),
             entry("sessions", {"hdr.switchml.job_number": SESSION_JOB}, "session", number=7)]
    for e in added:
        if e["table"] == "sessions":
            e["table"] = "admission.sessions"
        if e not in config["entries"]:
            config["entries"].append(e)
    for e in config["entries"]:
        if e.get("action") == "admit":
            below = e["key"]["hdr.switchml.job_number"] in (LOW.number, SESSION_JOB)
            group = ABOVE_GROUP if e["key"]["hdr.switchml.job_number"] == LOW.number else 106
            e["args"].update(way=TO_ABOVE if below else TO_JOB, above=group if below else 0)
    nodes, groups = config["multicast"]["nodes"], config["multicast"]["groups"]
    for job, above_rid, above_group in ((LOW, ABOVE_RID, ABOVE_GROUP), (session_job, 32, 106), (TOP, 0, 0)):
        nodes += [{"id": 5000 + job.rid(w), "rid": job.rid(w), "ports": [p]} for w, p in enumerate(job.ports)]
        groups.append({"id": job.group, "nodes": [5000 + job.rid(w) for w in range(len(job.ports))]})
        if above_rid:
            nodes.append({"id": 5000 + above_rid, "rid": above_rid, "ports": [TRUNK]})
            groups.append({"id": above_group, "nodes": [5000 + above_rid]})
    return config


class Rack(rack.RackTest):
    def start(self, **changes):
        self.switch = Switch(configuration(**changes))
        self.addCleanup(self.switch.close)


def of_levels(case):
    return type(f"Levels{case.__name__}", (case,), {"start": Rack.start})


LevelsJobs, LevelsHostile, LevelsOthers = of_levels(rack.Jobs), of_levels(rack.Hostile), of_levels(rack.Others)


class Levels(Rack):
    size, use = 64, 5

    def values(self, more=0):
        return [vector(10 * w + more, self.size) for w in range(2)]

    def drops(self):
        return {r: n for r in range(16) for n in [self.switch.counter("switchml.Switchml.ingress.drops", r)[0]] if n}

    def part(self, worker, slot=3, job=LOW, tsi=use, more=0):
        return self.send_elements(worker, slot, 0, self.values(more)[worker], job, tsi=tsi)

    def sums(self, slot=3, version=0, tsi=use, job=LOW.number, values=None, first=None, **ip):
        """From the switch above, as it comes by the trunk."""
        values = values or vector(777, self.size)
        payload = struct.pack(">BBIHbb", first or 1 << 4 | sml.SIZES[len(values)], job, tsi, version << 15 | slot, 0, 0)
        payload += struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))
        return rack.wire(OWN_MAC, sml.worker_mac(ABOVE), {"src": sml.worker_ip(ABOVE), "dst": OWN_IP, **ip}, payload,
                         port=sml.UDP_PORT)

    def assert_partial(self, out, values, slot=3, tsi=use):
        (port, data), = out
        self.assertEqual((port, data[12:16].hex()), (TRUNK, f"8100{VID:04x}"))
        r = sml.Result(data[:12] + data[16:])
        self.assertEqual((r.dst.hex(":"), r.src.hex(":")), (sml.worker_mac(ABOVE), OWN_MAC))
        self.assertEqual([".".join(map(str, r.ip[a:a + 4])) for a in (12, 16)], [OWN_IP, sml.worker_ip(ABOVE)])
        self.assertEqual(sml.ones_sum(r.ip), 0xFFFF)
        self.assertEqual((r.sport, r.dport, r.udp_sum), (sml.UDP_PORT, sml.UDP_PORT, 0))
        self.assertEqual((r.job, r.tsi, r.slot, r.values), (LOW.number, tsi, slot, values))

    def assert_down(self, out, values, slot=3, tsi=use, workers=(0, 1)):
        """The sums, as they came from above, to the job's workers."""
        self.assertEqual([p for p, _ in out], [LOW.ports[w] for w in workers])
        for w, (_, data) in zip(workers, out):
            r = sml.Result(data)
            self.assertEqual((r.dst.hex(":"), ".".join(map(str, r.ip[16:20]))),
                             (sml.worker_mac(LOW.host(w)), sml.worker_ip(LOW.host(w))))
            self.assertEqual(sml.ones_sum(r.ip), 0xFFFF)
            self.assertEqual((r.dport, r.tsi, r.slot, r.values), (sml.SOURCE_PORT + w, tsi, slot, sml.total(values)))

    def ask_above(self, slot=3):
        self.assertEqual(self.part(0, slot), [])
        self.assert_partial(self.part(1, slot), sml.total(*self.values()), slot)

    def test_up_and_down(self):
        self.ask_above()
        self.assert_partial(self.part(0), sml.total(*self.values()))   # repeated
        down = vector(777, self.size)
        self.assert_down(self.switch.send(TRUNK, tagged(self.sums(), VID)), down)
        self.assert_down(self.part(1), down, workers=[1])              # asked for again
        self.assertEqual(self.drops(), {})
        self.assertEqual([self.dropped(n) for n in range(1, 16)], [0] * 15)

    def test_the_top(self):
        values = self.values()
        self.assertEqual(self.part(1, job=TOP), [])
        self.assert_results(self.part(0, job=TOP), sml.total(*values), [0, 1], 3, 0, job=TOP, tsi=self.use)
        self.assert_results(self.part(1, job=TOP), sml.total(*values), [1], 3, 0, job=TOP, tsi=self.use)

    def test_sums_that_are_not_awaited(self):
        send = lambda **more: self.assertEqual(self.switch.send(TRUNK, tagged(self.sums(**more), VID)), [])
        self.assertEqual(self.part(0), [])
        send()                                    # a part is missing
        self.assertEqual(self.drops(), {BAD_STATE: 1})
        self.assert_partial(self.part(1), sml.total(*self.values()))
        send(tsi=4)
        self.assertEqual(self.drops(), {BAD_STATE: 1, STALE_RESULT: 1})
        self.assertEqual(len(self.switch.send(TRUNK, tagged(self.sums(), VID))), 2)
        send()
        self.assertEqual(self.drops(), {BAD_STATE: 1, STALE_RESULT: 1, KNOWN_RESULT: 1})
        self.assert_down(self.part(0), vector(777, self.size), workers=[0])

    def test_what_is_no_sum_of_this_job(self):
        self.ask_above()
        send = lambda **more: self.assertEqual(self.switch.send(TRUNK, tagged(self.sums(**more), VID)), [])
        for slot in (16, 0x7FF0):
            send(slot=slot)
        self.assertEqual(self.drops(), {BAD_POOL_INDEX: 2})
        send(first=0xC0 | sml.SIZES[self.size])   # a collective operation's
        self.assertEqual(self.drops(), {BAD_POOL_INDEX: 2, BAD_LENGTH: 1})
        self.assertEqual([self.dropped(n) for n in (NOT_A_WORKER, NOT_ITS_OWN)], [0, 0])
        self.assert_refused(TRUNK, tagged(self.sums(job=TOP.number), VID))   # of another job's, as which it is not known
        self.assert_refused(TRUNK, tagged(self.sums(job=200), VID))
        self.assert_refused(TRUNK, tagged(self.sums(flags=1), VID), NOT_ITS_OWN)
        self.assert_refused(TRUNK, tagged(self.sums(options=b"\x01" * 4), VID))
        for size in (128, 256):
            self.assert_refused(TRUNK, tagged(self.sums(values=vector(1, size)), VID))
        self.assert_partial(self.part(0), sml.total(*self.values()))

    def test_in_the_upper_switchs_name(self):
        """By another port, in another VLAN, from another address; to this switch, a worker, or the switch below."""
        self.ask_above()
        for port in (FREE, 9, 13, 11):
            self.assert_refused(port, self.sums())
            self.assert_refused(port, self.sums(dst=sml.worker_ip(LOW.host(0))))
        self.assert_refused(TRUNK, tagged(self.sums(), 10))
        self.assert_refused(TRUNK, tagged(self.sums(src=sml.worker_ip(77)), VID))
        for n in range(16):
            f = bytearray(self.sums(dst=sml.worker_ip(TOP.host(1)), job=TOP.number))
            f[36:38] = struct.pack(">H", 0xBEE0 + n)
            self.assert_refused(FREE, bytes(f))
        self.assert_partial(self.part(0), sml.total(*self.values()))

    def test_in_this_switchs_name(self):
        """Partial sums to the switch above, at any of its ports, from where a host is."""
        for n in range(16):
            for src in (OWN_IP, sml.worker_ip(LOW.host(0)), sml.SWITCH_IP):
                f = bytearray(self.sums(src=src, dst=sml.worker_ip(ABOVE)))
                f[36:38] = struct.pack(">H", 0xBEE0 + n)
                self.assert_refused(FREE, bytes(f))
        # a worker's own part is its own, whomever it is addressed to
        f = bytearray(LOW.packet(0, 3, 0, self.values()[0], tsi=self.use))
        f[30:34] = bytes(map(int, sml.worker_ip(ABOVE).split(".")))
        self.assertEqual(self.switch.send(9, bytes(f)), [])
        self.assert_partial(self.part(1), sml.total(*self.values()))

    def test_in_a_lower_switchs_name(self):
        part = TOP.packet(1, 3, 0, self.values()[1], tsi=self.use)
        for port in (FREE, 11, 9):
            self.assert_refused(port, part)
        self.assert_refused(TRUNK, tagged(part, 10))
        self.assertEqual(self.part(0, job=TOP), [])   # so it is still awaited

    def test_sessions(self):
        """Both ways: packets of another session, and none between two."""
        job = sml.Job(SESSION_JOB, [9, 13], 30, 105, 64, 16, first_host=20)
        now, other = 7 << 24 | 5, 6 << 24 | 5
        self.assertEqual(self.part(0, job=job, tsi=other), [])
        self.assertEqual(self.drops(), {OTHER_SESSION: 1})
        self.assertEqual(self.part(0, job=job, tsi=now), [])
        self.assertEqual(len(self.part(1, job=job, tsi=now)), 1)
        for tsi in (other, 5):
            self.assertEqual(self.switch.send(TRUNK, tagged(self.sums(job=SESSION_JOB, tsi=tsi), VID)), [])
        self.assertEqual(self.drops(), {OTHER_SESSION: 3})
        self.assertEqual(len(self.switch.send(TRUNK, tagged(self.sums(job=SESSION_JOB, tsi=now), VID))), 2)

    def test_without_elements(self):
        """A packet of a collective operation: its length is SwitchML's, and this program has none."""
        f = bytearray(LOW.packet(0, 3, 0, self.values()[0]))[:52]
        f[42] = 0xE0
        struct.pack_into(">H", f, 16, 38)
        struct.pack_into(">H", f, 38, 18)
        struct.pack_into(">H", f, 24, 0)
        struct.pack_into(">H", f, 24, 0xFFFF ^ sml.ones_sum(f[14:34]))
        self.assertEqual(self.switch.send(9, bytes(f) + bytes(8)), [])
        self.assertEqual(self.drops(), {sml.PARSER_ERROR: 1})


class SmallLevels(Levels):
    size = 32


if __name__ == "__main__":
    tally.main()
