#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The state that a replay leaves: what is in it, known by hand; that it is the same whatever the build and
the order of entries; that differences are named; what is said of files that are no state."""
import json
import os
import random
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from captures import NS, pcap, replay  # noqa: E402
from folder import FolderCase  # noqa: E402

PROGRAM = "harness/pcap/replay/state.p4"
T0 = 1_700_000_000 * NS
CLOCK = (1 << 48) - 1
CONFIG = {
    "entries": [
        {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send",
         "args": {"port": 1}},
        {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:02"}, "action": "send",
         "args": {"port": 130}},
        {"table": "filter", "key": {"ether_type": "0x86dd"}, "priority": 20, "action": "note"},
        {"table": "filter", "key": {"ether_type": "0x0800", "ingress_port": "0..20"},
         "priority": 10, "action": "note", "pipe": 0}],
    "registers": [{"name": "flows", "index": 6, "value": {"packets": 9, "latest": 16}, "pipe": 1}],
    "counters": [{"name": "received", "index": 500, "packets": 5, "bytes": 400}],
    "meters": [{"name": "policer", "index": 0,
                "spec": {"cir_pps": 1, "cbs_pkts": 1, "pir_pps": 2, "pbs_pkts": 2}}],
    "value_sets": [{"name": "types", "key": {"f1": "0x86dd"}}],
}
EN_01 = {"hdr.ethernet.dst_addr": "02:00:00:00:00:01"}
EN_02 = {"hdr.ethernet.dst_addr": "02:00:00:00:00:02"}
IPV4 = {"hdr.ethernet.ether_type": "2048", "ig_intr_md.ingress_port": "0..20"}
IPV6 = {"hdr.ethernet.ether_type": "34525", "ig_intr_md.ingress_port": "0..511"}
SPEC = {"$METER_SPEC_CIR_PPS": "1", "$METER_SPEC_PIR_PPS": "2", "$METER_SPEC_CBS_PKTS": "1",
        "$METER_SPEC_PBS_PKTS": "2"}


def frame(dst, src, kind):
    return bytes([2, 0, 0, 0, 0, dst, 2, 0, 0, 0, 0, src]) + kind.to_bytes(2, "big") + bytes(46)


def times(packets, size):
    return {"packets": packets, "bytes": packets * size}


def cell(name, pipe, index, **rest):
    return {"name": "pipe.Ingress." + name, "pipe": pipe, "index": index, **rest}


def at(key, name, pipe, where, **rest):
    return {key: "pipe.Ingress." + name, "pipe": pipe, **where, **rest}


# By hand: counters of the program count the frame check sequence, those of ports do not. A meter of
# packets has 10^9 parts a packet. The buckets, 1 and 2 packets, are full at first; a second fills both
# again; 1 ns later there is 1 part in the one and 1 packet and 2 parts in the other: yellow takes from
# that alone.
EXPECTED = {
    "silken_state": 1,
    "registers": [
        cell("balance", 0, 4, value=-6),
        cell("balance", 0, 5, value=-3),
        cell("balance", 1, 6, value=-3),
        {"name": "pipe.Ingress.flows", "otherwise": {"packets": 5, "latest": 0}},
        cell("flows", 0, 4, value={"packets": 7, "latest": 4}),
        cell("flows", 0, 5, value={"packets": 6, "latest": 5}),
        cell("flows", 1, 6, value={"packets": 10, "latest": 6}),
        at("name", "matched", 0, {"key": IPV4, "priority": 10}, value=102),
        at("name", "matched", 1, {"key": IPV6, "priority": 20}, value=101)],
    "counters": [
        cell("received", 0, 4, **times(2, 64)),
        cell("received", 0, 5, **times(1, 64)),
        cell("received", 0, 500, packets=5, bytes=400),
        cell("received", 1, 132, **times(1, 64)),
        at("name", "sent", 0, {"key": EN_01}, packets=2),
        at("name", "sent", 0, {"default": True}, packets=1),
        at("name", "sent", 1, {"key": EN_02}, packets=1)],
    "hits": [
        at("table", "filter", 0, {"key": IPV4, "priority": 10}, hits=2, last_hit=T0 + NS & CLOCK),
        at("table", "filter", 0, {"default": True}, hits=1, last_hit=T0 + NS + 1 & CLOCK),
        at("table", "filter", 1, {"key": IPV6, "priority": 20}, hits=1, last_hit=T0 + 2 * NS & CLOCK),
        at("table", "forward", 0, {"key": EN_01}, hits=2, last_hit=T0 + NS & CLOCK),
        at("table", "forward", 0, {"default": True}, hits=1, last_hit=T0 + NS + 1 & CLOCK),
        at("table", "forward", 1, {"key": EN_02}, hits=1, last_hit=T0 + 2 * NS & CLOCK),
        # nobody keeps when what is the program's own for good was hit last
        at("table", "known", 0, {"key": {"hdr.ethernet.ether_type": "2048"}}, hits=2),
        at("table", "known", 0, {"default": True}, hits=1),
        at("table", "known", 1, {"default": True}, hits=1)],
    "entries": [
        {"table": "pipe.Ingress.filter", "key": IPV4, "priority": 10, "action": "pipe.Ingress.note",
         "args": {}, "pipe": 0},
        {"table": "pipe.Ingress.filter", "key": IPV6, "priority": 20, "action": "pipe.Ingress.note",
         "args": {}},
        {"table": "pipe.Ingress.forward", "key": EN_01, "action": "pipe.Ingress.send",
         "args": {"port": 1}},
        {"table": "pipe.Ingress.forward", "key": EN_02, "action": "pipe.Ingress.send",
         "args": {"port": 130}}],
    "members": [], "groups": [], "selector_bits": [], "defaults": [],
    "value_sets": [{"name": "pipe.IngressParser.types", "key": {"f1": "34525"}}],
    "meters": [{"name": "pipe.Ingress.policer", "index": 0, "spec": SPEC}],
    "meter_states": [
        cell("policer", 0, 0, committed=1, peak=2, last=T0 + NS + 1 & CLOCK),
        cell("policer", 1, 0, committed=0, peak=NS, last=T0 + 2 * NS & CLOCK)],
    "ageing": [],
    "drops": [{"reason": "drop_ctl in ingress", "packets": 1}],
    "ports": [
        {"port": 1, "received": times(0, 0), "sent": times(2, 60), "dropped": {}},
        {"port": 4, "received": times(2, 60), "sent": times(0, 0), "dropped": {}},
        {"port": 5, "received": times(1, 60), "sent": times(0, 0),
         "dropped": {"drop_ctl in ingress": 1}},
        {"port": 130, "received": times(0, 0), "sent": times(1, 60), "dropped": {}},
        {"port": 132, "received": times(1, 60), "sent": times(0, 0), "dropped": {}}],
    "switch": [{"received": 4, "sent": 3, "copies": 0, "recirculated": 0, "resubmitted": 0,
                "mirrored": 0, "generated": 0, "digests": 0}],
}


class State(FolderCase):
    def setUp(self):
        super().setUp()
        self.entries = self.file("entries.json", json.dumps(CONFIG))
        self.inputs = [
            "4=" + self.file("4.pcap", pcap([(T0, frame(1, 4, 0x0800)),
                                             (T0 + NS, frame(1, 4, 0x0800))])),
            "5=" + self.file("5.pcap", pcap([(T0 + NS + 1, frame(0xff, 5, 0x0806))])),
            "132=" + self.file("132.pcap", pcap([(T0 + 2 * NS, frame(2, 6, 0x86dd))]))]

    def play(self, *arguments, entries=None):
        return replay(PROGRAM, "--entries", entries or self.entries, "--in", *self.inputs,
                      *arguments)

    def good(self, *arguments, **options):
        done = self.play(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def dump(self, name="state.json", *arguments, **options):
        self.good("--dump-state", self.path(name), *arguments, **options)
        return self.text(name)

    def differences(self, text, *arguments):
        done = self.play("--expect-state", self.file("expected.json", text), *arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        name = self.path("expected.json") + ": "
        return [line[len(name):] for line in done.stderr.splitlines() if line.startswith(name)]

    # ---- what is in it

    def test_by_hand(self):
        text = self.dump()
        self.assertEqual(json.loads(text), EXPECTED)
        self.assertEqual(list(json.loads(text)), list(EXPECTED))
        # an item a line
        for line in text.splitlines():
            if line.startswith("{\""):
                json.loads(line.rstrip(","))
        self.assertEqual(text.count("\n{\""), sum(len(v) for v in EXPECTED.values() if v != 1))

    def test_the_same_bytes(self):
        backwards = dict(CONFIG, entries=CONFIG["entries"][::-1])
        first = self.dump()
        self.assertEqual(self.dump("2", "--checked"), first)
        self.assertEqual(self.dump("3", entries=self.file("e", json.dumps(backwards))), first)
        self.assertEqual(self.good("--dump-state", "-").stdout, first)

    def everything(self, *arguments):
        """Random packets through the program that has one of each object."""
        noise = random.Random(5)
        packets = []
        for i in range(1500):
            order = bytearray(noise.randbytes(26))
            order[0] &= 0xeb if noise.random() < .7 else 0xff
            order[1] = order[1] & 0xe0 | noise.choice((0, 0, 1, 2, 3, 4, 6))
            order[8:10] = noise.randrange(24), noise.randrange(16)
            packets.append((T0 + i * 1000, bytes([2, 0, 0, 0, 0, noise.randrange(3)] + [4] * 6)
                            + b"\x90\0" + order + noise.randbytes(90)))
        return replay("harness/stf/everything.p4", "--in",
                      f"1={self.file('noise.pcap', pcap(packets))}",
                      "--config", "harness/control/everything.json", *arguments)

    def test_everything(self):
        for i, build in enumerate(([], ["--checked"])):
            done = self.everything("--dump-state", self.path(str(i)), *build)
            self.assertEqual(done.returncode, 0, done.stderr)
        text = self.text("0")
        self.assertEqual(self.text("1"), text)
        state = json.loads(text)
        empty = [name for name, items in state.items() if items == []]
        self.assertEqual(empty, [])
        # what it shows of registers, entries... can be written into a switch again
        again = {k: state[k] for k in ("members", "groups", "entries", "defaults", "value_sets")}
        again["registers"] = [r for r in state["registers"]
                              if "index" in r and not r["name"].endswith(".selector")]
        again["meters"] = [m for m in state["meters"] if "index" in m]
        done = replay("harness/stf/everything.p4", "--in", f"1={self.file('no.pcap', pcap([]))}",
                      "--entries", self.file("again.json", json.dumps(again)), "--dump-state",
                      self.path("again"))
        self.assertEqual(done.returncode, 0, done.stderr)
        after = json.loads(self.text("again"))
        for section, items in again.items():
            if section in ("registers", "meters"):
                after[section] = [r for r in after[section] if r in items or "index" in r
                                  and not r["name"].endswith(".selector")]
            self.assertEqual(after[section], items, section)

    def test_values_of_more_than_64_bits(self):
        args = {"value": "0x123456789abcdef00000000000000001", "shift": 1}
        member = {"profile": "profile", "id": 1, "action": "put_wide", "args": args}
        words = ["harness/stf/everything.p4", "--in", f"1={self.file('no.pcap', pcap([]))}",
                 "--entries", self.file("wide.json", json.dumps({"members": [member]})),
                 "--expect-state"]
        for value, same in (("0x0123456789ABCDEF00000000000000001", True),
                            ("0x923456789abcdef00000000000000001", False),
                            ("0x123456789abcdef00000000000000002", False),
                            ("0xffffffffffffffff", False), (1, False)):
            member["args"] = args | {"value": value}
            done = replay(*words, self.file("state.json", json.dumps(
                {"silken_state": 1, "members": [member]})))
            self.assertEqual((done.returncode, "value: expected" in done.stderr),
                             (0, False) if same else (1, True), (value, done.stderr))

    # ---- comparing

    def test_equal(self):
        self.dump()
        done = self.good("--expect-state", self.path("state.json"))
        self.assertEqual(done.stderr, "4 packets in, 3 out, 1 dropped\n")
        # by short names, other spellings; sections and members that are not there do not matter
        self.file("part.json", json.dumps({"silken_state": 1, "registers": [
            {"name": "flows", "otherwise": {"packets": "0x5", "latest": 0}},
            {"name": "flows", "pipe": 0, "index": 4, "value": {"packets": "0x7", "latest": 4}},
            {"name": "flows", "pipe": 0, "index": 5, "value": {"packets": 6, "latest": 5}},
            {"name": "flows", "pipe": 0, "index": 7, "value": {"packets": 5, "latest": 0}},
            {"name": "flows", "pipe": 1, "index": 6, "value": {"packets": 10, "latest": 6}},
            {"name": "balance", "pipe": 0, "index": 4, "value": -6},
            {"name": "balance", "pipe": 0, "index": 5, "value": "-3"},
            {"name": "balance", "pipe": 1, "index": 6, "value": -3},
            {"name": "balance", "pipe": 1, "index": 7, "value": 0},
            {"name": "matched", "pipe": 0, "priority": 10, "value": 102,
             "key": {"ether_type": "0x800", "ingress_port": "0..20"}},
            {"name": "matched", "pipe": 1, "priority": 20, "value": 101,
             "key": {"ether_type": "0x86dd"}}],
            "entries": [{"table": "forward", "key": {"dst_addr": f"0x20000000{i:03x}"},
                         "action": "send"} for i in (1, 2)] + EXPECTED["entries"][:2],
            "ports": [{"port": p["port"]} for p in EXPECTED["ports"]]}))
        self.good("--expect-state", self.path("part.json"))

    def test_differences_are_named(self):
        state = json.loads(self.dump())
        state["registers"][0]["value"] = -7
        state["registers"][3]["otherwise"]["latest"] = 1
        state["registers"][4]["value"]["packets"] = 8
        state["registers"][7]["value"] = 103
        state["counters"][1]["bytes"] = 65
        state["entries"][2]["args"]["port"] = 7
        state["drops"][0]["packets"] = 2
        state["ports"][2]["dropped"] = {"parser error": 3}
        del state["counters"][0]
        del state["registers"][2]
        del state["entries"][3]
        state["hits"].append({"table": "forward", "pipe": 3, "default": True, "hits": 1})
        state["switch"][0]["sent"] = 4
        said = self.differences(json.dumps(state), "--show", 99)
        self.assertEqual(sorted(said), sorted([
            "registers pipe.Ingress.balance, pipe 0, index 4, value: expected -7, found -6",
            "registers pipe.Ingress.balance, pipe 1, index 6, value: expected 0, found -3",
            "registers pipe.Ingress.flows, otherwise latest: expected 1, found 0",
            "registers pipe.Ingress.flows, pipe 0, index 4, value packets: expected 8, found 7",
            f"registers pipe.Ingress.matched, pipe 0, key {json.dumps(IPV4)}, priority 10, value: "
            "expected 103, found 102",
            'counters pipe.Ingress.received, pipe 0, index 4: expected nothing, '
            'found {"packets": 2, "bytes": 128}',
            "counters pipe.Ingress.received, pipe 0, index 5, bytes: expected 65, found 64",
            f"entries pipe.Ingress.forward, key {json.dumps(EN_01)}, args port: expected 7, "
            "found 1",
            f"entries pipe.Ingress.forward, key {json.dumps(EN_02)}: expected nothing, found "
            '{"action": "pipe.Ingress.send", "args": {"port": 130}}',
            "drops drop_ctl in ingress, packets: expected 2, found 1",
            "ports, port 5, dropped parser error: expected 3, found nothing",
            "ports, port 5, dropped drop_ctl in ingress: expected nothing, found 1",
            'hits pipe.Ingress.forward, pipe 3, default: expected {"hits": 1}, found nothing',
            "switch, sent: expected 4, found 3"]))
        self.assertEqual(len(self.differences(json.dumps(state))), 5)
        done = self.play("--expect-state", self.path("expected.json"), "--show", 0)
        self.assertEqual(done.stderr, f"the state differs from {self.path('expected.json')} in 14 "
                         "places\n4 packets in, 3 out, 1 dropped\n")

    def test_another_initial_value(self):
        state = json.loads(self.dump())
        del state["registers"][3]
        self.assertEqual(self.differences(json.dumps(state)), [
            'registers pipe.Ingress.flows: expected nothing, '
            'found {"otherwise": {"packets": 5, "latest": 0}}'])

    def test_update(self):
        path = self.file("state.json", "old")
        done = self.good("--expect-state", path, "--update")
        self.assertEqual(json.loads(self.text("state.json")), EXPECTED)
        self.good("--expect", self.path("gold"), "--expect-state", path, "--update")
        self.good("--expect", self.path("gold"), "--expect-state", path)
        self.assertEqual(sorted(os.listdir(self.path("gold"))),
                         ["port-1.pcap", "port-130.pcap"])
        self.assertEqual(done.stdout, "")

    # ---- what is none

    def refused(self, sentence, *arguments):
        done = self.play(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(sentence, done.stderr)

    def test_files_that_are_no_state(self):
        def state(**sections):
            return json.dumps({"silken_state": 1, **sections})

        def register(**item):
            return state(registers=[{"name": "flows", "pipe": 0, "index": 1, "value": 1, **item}])

        def hit(**item):
            return state(hits=[{"table": "forward", "pipe": 0, **item}])
        filtered = {"table": "filter", "pipe": 0}
        for text, sentence in (
                ("", "near end of file"),
                ("no JSON", ":1:"),
                ('{"silken_state": 1', ":1:18: "),
                ("[]", "a state must be a JSON object"),
                ("{}", "silken_state: it is missing"),
                ('{"silken_state": 2}', "silken_state: it must be 1"),
                ('{"silken_state": 1, "silken_state": 1}', "duplicate"),
                (state(tables=[]), "tables: unknown key"),
                (state(registers={}), "registers: it must be an array"),
                (state(registers=[1]), "registers[0]: it must be an object"),
                (state(registers=[{}]), "registers[0].name: it is missing"),
                (register(name="none"), "no register 'none'; the program has: "),
                (register(name=""), "it is empty"),
                (register(index=8), "it is 8; it must be 0 to 7"),
                (register(index="1"), "it must be a whole number"),
                (register(pipe=4), "it is 4; it must be 0 to 3"),
                (register(pipe=None), "pipe: it must be a whole number"),
                (register(cell=1), "cell: unknown key; the keys are: name, pipe, index"),
                (register(key={}), "it has \"index\" or \"key\", not both"),
                (register(otherwise=1), "\"otherwise\" applies to all cells"),
                (state(registers=[{"name": "flows", "pipe": 0, "key": {}}]),
                 "no direct register 'flows'"),
                (state(registers=[{"name": "matched", "pipe": 0, "index": 0}]), "no register"),
                (state(counters=[{"name": "sent", "pipe": 0, "index": 0}]), "no cells with an index"),
                (state(counters=[{"name": "received", "pipe": 0, "key": {}}]),
                 "has cells with an index, not in a table's entries"),
                (state(counters=[{"name": "received", "pipe": 0, "index": 1}] * 2),
                 "counters[1]: it is listed twice"),
                (hit(key={}), "key field 'hdr.ethernet.dst_addr' is missing"),
                (hit(key={"none": 1}), "no key field 'none'"),
                (hit(key={"dst_addr": "x"}), "key field 'hdr.ethernet.dst_addr': "),
                (hit(key={"dst_addr": 1, "hdr.ethernet.dst_addr": 2}), "is given twice"),
                (hit(key=1), "it must be an object"),
                (hit(default=False), "it can only be true, in place of a key"),
                (hit(key={"dst_addr": 1}, priority=1), "no priority"),
                (state(hits=[filtered | {"key": {}}]), "priority: it is missing"),
                (state(drops=[{"reason": "boredom"}]), "there is no drop reason"),
                (state(ports=[{"port": 512}]), "it must be 0 to 511"),
                (state(groups=[{"selector": "s", "id": 1}]), "the program has none"),
                (state(value_sets=[{"name": "types"}]), "key: it must be an object"),
                ("[" * 3000, ":1:"),
                (b"\xff\xfe\x00{", ":1:")):
            with self.subTest(text=text):
                path = self.file("bad.json", text)
                self.refused(sentence, "--expect-state", path)
                self.refused("silken replay: " + path + ":1", "--expect-state", path)

    def test_the_line_is_said(self):
        text = self.dump().replace('"index": 500', '"index": 512')
        line = next(i for i, t in enumerate(text.splitlines(), 1) if '"index": 512' in t)
        self.refused(f"bad.json:{line}: counters[2].index: ", "--expect-state",
                     self.file("bad.json", text))

    def test_files_that_cannot_be_used(self):
        self.refused("No such file", "--expect-state", self.path("none"))
        self.refused("it is a directory", "--expect-state", self.dir)
        self.refused("cannot write /dev/full: No space left", "--dump-state", "/dev/full")
        self.refused("No such file", "--dump-state", self.path("none/state"))
        self.refused("it would be overwritten", "--dump-state", self.path("4.pcap"))
        self.refused("--update needs --expect or --expect-state", "--update")
        self.refused("--show takes a number of differences", "--show", "x")


if __name__ == "__main__":
    tally.main()
