#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken schema`: what Silken takes is valid by the schema, what it refuses is not; and entries that are
written as a BF Runtime controller writes them, by the names of `silken build --bf-rt`."""
import copy
import json
import os
import re
import subprocess
import sys

from jsonschema import Draft202012Validator

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pcap")]
import tally  # noqa: E402
from captures import pcap  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.environ.get("BUILD", "build") + "/silken"
EVERYTHING, STATE, TWICE = ("harness/stf/everything.p4", "harness/pcap/replay/state.p4",
                            "harness/control/schema/twice.p4")


def silken(*arguments):
    return subprocess.run([SILKEN, *arguments], text=True, capture_output=True, timeout=300)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def validator(*arguments):
    done = silken("schema", *arguments)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    schema = json.loads(done.stdout)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


class Schema(FolderCase):
    @classmethod
    def setUpClass(cls):
        cls.of = {program: validator(program) for program in (EVERYTHING, STATE, TWICE)}
        cls.general = validator()
        cls.whole = validator("--config")

    def setUp(self):
        super().setUp()
        self.file("no.pcap", pcap([]))

    def replay(self, program, entries):
        return silken("replay", program, "--in", "1=" + self.path("no.pcap"), "--entries",
                      self.file("entries.json", json.dumps(entries)),
                      "--dump-state", self.path("state.json"))

    def errors(self, program, entries):
        return [e.message for e in self.of[program].iter_errors(entries)]

    def taken(self, program, entries):
        """By Silken and by both schemas; returns the state that it leaves."""
        done = self.replay(program, entries)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.errors(program, entries), [])
        self.assertEqual([e.message for e in self.general.iter_errors(entries)], [])
        return load(self.path("state.json"))

    def refused(self, program, entries, sentence, schema=True):
        done = self.replay(program, entries)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(self.of[program].is_valid(entries), not schema)

    # ---- the schema

    def test_a_whole_configuration(self):
        config = load("harness/control/everything.json")
        for schema in (self.general, self.whole, self.of[EVERYTHING]):
            self.assertEqual([e.message for e in schema.iter_errors(config)], [])
        del config["program"]
        self.assertTrue(self.general.is_valid(config))
        self.assertFalse(self.whole.is_valid(config))

    def test_several_programs(self):
        config = load("harness/control/several.json")
        for schema in (self.general, self.whole):
            self.assertEqual([e.message for e in schema.iter_errors(config)], [])
            for key, value in (("program", "x.p4"), ("tor", {}), ("p4runtime", {"listen": "unix:x"}),
                               ("record", {"file": "x"}), ("programs", config["programs"][:1]),
                               ("programs", [{**p, "pipes": []} for p in config["programs"]]),
                               ("programs", [{**p, "name": "a/b"} for p in config["programs"]])):
                self.assertFalse(schema.is_valid({**config, key: value}), key)

    def test_the_manuals_examples(self):
        with open("docs/manual.md", encoding="utf-8") as f:
            examples = re.findall(r"```json\n(.*?)```", f.read(), re.S)
        self.assertGreaterEqual(len(examples), 1)
        for text in examples:
            part = not text.startswith("{")  # some of its members
            schema = self.general if part else self.whole
            example = json.loads("{" + text + "}" if part else text)
            self.assertEqual([e.message for e in schema.iter_errors(example)], [])

    def test_every_member_is_looked_at(self):
        """Of the configuration that has everything, no member can have a value of another type."""
        for path, schema in (("harness/control/everything.json", self.of[EVERYTHING]),
                             ("harness/control/several.json", self.whole),
                             ("harness/control/tor/everything.json", self.whole)):
            self.no_other_type(load(path), schema)

    def no_other_type(self, config, schema):
        def places(value, at=()):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                yield at + (key,)
                if isinstance(item, (dict, list)):
                    yield from places(item, at + (key,))

        for place in places(config):
            if place[:2] == ("tor", "jobs") and len(place) > 3:
                continue  # jobs.h
            for bad in (1.5, None):
                changed = copy.deepcopy(config)
                parent = changed
                for key in place[:-1]:
                    parent = parent[key]
                if place == ("faults", "loss") or place[:-1] == ("multicast", "ecmps", 0, "nodes"):
                    continue
                parent[place[-1]] = bad
                self.assertFalse(self.general.is_valid(changed), (place, bad))
            if isinstance(place[-1], str) and place[-1][0] != "$":
                changed = copy.deepcopy(config)
                parent = changed
                for key in place[:-1]:
                    parent = parent[key]
                parent["nothing"] = parent.pop(place[-1])
                self.assertFalse(schema.is_valid(changed), place)

    def test_tor(self):
        """What the section's reader refuses, the schema does, unless it takes two places to see it."""
        config = load("harness/control/tor/everything.json")
        self.assertEqual([e.message for e in self.whole.iter_errors(config)], [])
        beyond = re.compile(
            "given twice|is not among|there is no |the switch has no port|already|overlaps|"
            "does not carry|carries VLANs|in no subnet|own address|broadcast address|no host|not of a host|"
            "loopback|group$|of a group|only valid on one link|longer than 0|is the address of all nodes|224.0.0.0/24|is in VLAN|"
            "does not leave|in 0.0.0.0/8|in 240|the destination of the mirror|the native one|in no VLAN|"
            "set after its length|family of the prefix|of groups|of links|not of family|next hop|"
            "contains no port|control plane's own|not supported yet|does not have it$|is not a prefix$|"
            "is not an address and port$")
        done = subprocess.run([os.path.dirname(SILKEN) + "/harness/control/tor/test_section", "--mistakes"],
                              text=True, capture_output=True, timeout=60, check=True)
        by_schema = 0
        mistakes = json.loads(done.stdout)
        for mistake in mistakes:
            config["tor"] = mistake["tor"]
            valid = self.whole.is_valid(config)
            by_schema += not valid
            if not beyond.search(mistake["sentence"]):
                self.assertFalse(valid, mistake)
        self.assertGreater(by_schema, 80)
        self.assertGreater(len(mistakes), 150)

    def test_sessions(self):
        good = {"mac": "02:00:00:00:00:fe", "ip": "10.0.0.254"}
        for more in ({}, {"except": {}}, {"except": {"switchml": [2], "atp": [0, 255]}}):
            self.assertTrue(self.general.is_valid({"sessions": {**good, **more}}), more)
        for bad in ({}, {"mac": "02:00:00:00:00:fe"}, {"ip": "10.0.0.254"}, {**good, "mac": "01:00:00:00:00:fe"},
                    {**good, "ip": "239.0.0.1"}, {**good, "ip": "0.0.0.1"}, {**good, "ip": "fe80::1"},
                    {**good, "except": [1]}, {**good, "except": {"libra": [1]}}, {**good, "job": 1},
                    {**good, "except": {"atp": [256]}}, {**good, "except": {"switchml": ["1"]}}):
            self.assertFalse(self.general.is_valid({"sessions": bad}), bad)

    def test_spellings(self):
        entries = [
            {"table": "filter", "key": {"a": "0x1*", "order.isValid()": 1}, "action": "none"},
            {"table": "Ingress.filter", "key": {"hdr.order.a": 7, "i": "*", "$valid": True},
             "priority": 4294967295, "action": "pipe.Ingress.noted", "args": {"group": "0b11"}},
            {"table": "filter", "key": {"order.isValid()": "true", "order.i": "0x1 .. 7"},
             "action": "noted", "data": {"group": 65535}},
            {"table": "prefixes", "key": {"a": "10.0.0.0/8"}, "action": "level",
             "args": {"$LPF_SPEC_TYPE": "RATE", "$LPF_SPEC_GAIN_TIME_CONSTANT_NS": "1.5",
                      "$LPF_SPEC_DECAY_TIME_CONSTANT_NS": 7}},
            {"table": "prefixes", "key": {"a": "0xff00_0000 &&& 0xff000000"}, "action": "level"},
            {"table": "profile", "key": {"$ACTION_MEMBER_ID": 2}, "action": "put_wide",
             "args": {"value": "2001:db8::1", "shift": -128}},
        ]
        self.taken(EVERYTHING, {"entries": entries})

    def test_bad_entries(self):
        forward = {"table": "forward", "key": {"dst_addr": 1}, "action": "send",
                   "args": {"port": 2}}
        filtered = {"table": "filter", "key": {"$valid": 1}, "action": "noted",
                    "args": {"group": 1}}

        def changed(entry, **members):
            return {k: v for k, v in (entry | members).items() if v is not None}
        for entry, sentence in (
                (changed(forward, table="none"), "no table 'none'"),
                (changed(forward, table=7), "it must be a string"),
                (changed(forward, key=None), "an exact key must be given"),
                (changed(forward, key={}), "an exact key must be given"),
                (changed(forward, key={"src_addr": 1}), "no key field 'src_addr'"),
                (changed(forward, key={"dst_addr": 1 << 48}), "does not fit 48 bits"),
                (changed(forward, key={"dst_addr": -1}), "is negative"),
                (changed(forward, key={"dst_addr": "1..2"}), "low..high is not allowed for an exact key"),
                (changed(forward, key={"dst_addr": "*"}), "* is not allowed for an exact key"),
                (changed(forward, key={"dst_addr": "10.0.0.1"}), "is an IPv4 address of 32 bits"),
                (changed(forward, key={"dst_addr": "1x"}), "is not a value"),
                (changed(forward, priority=1), "takes no priority"),
                (changed(forward, action=None), "it is missing"),
                (changed(forward, action="none", args=None), "is not allowed here"),
                (changed(forward, action="noted"), "no action 'noted'"),
                (changed(forward, args=None), "argument 'port' is missing"),
                (changed(forward, args={}), "argument 'port' is missing"),
                (changed(forward, args={"port": 512}), "does not fit 9 bits"),
                (changed(forward, args={"port": 1, "x": 1}), "no argument 'x'"),
                (changed(forward, args={"port": 1, "$LPF_SPEC_TYPE": "RATE"}), "$LPF_SPEC_TYPE"),
                (changed(forward, data={"port": 2}), "there are \"args\" already"),
                (changed(forward, member=1), "it has \"action\""),
                (changed(forward, action=None, args=None, member=1), "no action profile"),
                (changed(forward, pipe=4), "it must be 0 to 3"),
                (changed(forward, paint=4), "unknown key"),
                (changed(filtered, priority=-1), "it must be 0 to"),
                (changed(filtered, key={"$valid": 1, "i": "1/8"}), "a prefix is not allowed for a range"),
                (changed(filtered, key={"$valid": 2}), "does not fit 1 bit"),
                ({"table": "profiled", "key": {"i": 1}, "action": "put", "args": {"value": 1}},
                 "an entry names a member"),
                ({"table": "profiled", "key": {"i": 1}, "group": 1}, "no action selector"),
        ):
            with self.subTest(entry=entry):
                self.refused(EVERYTHING, {"entries": [entry]}, sentence)

    def test_bad_objects(self):
        for section, item, sentence in (
                ("registers", {"name": "pears", "index": 1, "value": 1}, "no register 'pears'"),
                ("registers", {"name": "pairs", "index": 16, "value": 1}, "no index 16"),
                ("registers", {"name": "pairs", "index": 1, "value": {"third": 1}}, "'third'"),
                ("registers", {"name": "flags", "index": 1, "value": 2}, "does not fit 1 bit"),
                ("registers", {"name": "pairs", "index": 1}, "value: it is missing"),
                ("counters", {"name": "counts", "index": 16, "packets": 1}, "no index 16"),
                ("counters", {"name": "none", "index": 1}, "no counter 'none'"),
                ("meters", {"name": "of_bytes", "index": 1, "spec": {"cir_pps": 1}}, "cir_pps"),
                ("meters", {"name": "of_bytes", "index": 1, "spec": {}}, "nothing to set"),
                ("meters", {"name": "of_bytes", "index": "some", "spec": {"cir_kbps": 1}},
                 "it must be a whole number"),
                ("value_sets", {"name": "types", "key": {"f2": 1}}, "no key field 'f2'"),
                ("members", {"profile": "forward", "id": 1, "action": "send", "args": {"port": 1}},
                 "'$ACTION_MEMBER_ID'"),
                ("members", {"profile": "profile", "id": 1, "action": "put"}, "'value' is missing"),
                ("groups", {"selector": "members", "id": 1, "members": []}, "no selector"),
                ("defaults", {"table": "forward", "action": "none"}, "its default action is const"),
                ("hashes", {"name": "crc", "fields": []}, "at least one field"),
                ("hashes", {"name": "crc", "algorithm": {}}, "it is empty"),
                ("hashes", {"name": "crc"}, "needs"),
                ("hashes", {"name": "none", "fields": ["a"]}, "no hash that can be changed 'none'"),
                ("key_masks", {"table": "forward", "masks": {}}, "has no key masks"),
                ("ports", {"port": 1, "device": "d", "metadata": {"vrf": 1}},
                 "does not unpack port metadata"),
                ("ports", {"port": 1, "device": "d", "name": "7"}, "would be taken for a number")):
            with self.subTest(item=item):
                self.refused(EVERYTHING, {section: [item]}, sentence)

    def test_command_line(self):
        for arguments, status, text in (
                (("--help",), 0, "JSON Schema"), (("a.p4", "b.p4"), 2, "only one P4 file"),
                (("--none",), 2, "no option '--none'"), (("none.p4",), 2, "none.p4")):
            done = silken("schema", *arguments)
            self.assertEqual(done.returncode, status)
            self.assertIn(text, done.stdout + done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([SILKEN, "schema"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (2, "silken schema: cannot write the schema\n"))

    # ---- names of BF Runtime

    def bf_entry(self, table):
        """An entry of a table of bf-rt.json, by its names, and where the state shows it."""
        key, data = {}, {}
        for field in table["key"]:
            width = field["type"].get("width", 32)
            key[field["name"]] = {"$MATCH_PRIORITY": 7, "$ACTION_MEMBER_ID": 5,
                                  "$SELECTOR_GROUP_ID": 1}.get(field["name"], 1 if width else 0)
        entry = {"table": table["name"], "key": key}
        names = [d["singleton"]["name"] for d in table.get("data", [])]
        if table["table_type"] == "Selector":
            data = {"$ACTION_MEMBER_ID": [5], "$ACTION_MEMBER_STATUS": [True],
                    "$MAX_GROUP_SIZE": 4}
        elif "$SELECTOR_GROUP_ID" in names:
            data = {"$SELECTOR_GROUP_ID": 1}
        elif "$ACTION_MEMBER_ID" in names:
            data = {"$ACTION_MEMBER_ID": 5}
        elif "action_specs" in table:
            action = next(a for a in table["action_specs"]
                          if not any(x["name"] == "@defaultonly" for x in a["annotations"]))
            entry["action"] = action["name"]
            data = {field["name"]: 1 for field in action["data"]}
        else:
            data = {f["name"]: min(2, (1 << f["type"].get("width", 32)) - 1)
                    for f in (d["singleton"] for d in table["data"])}
        for name in names:
            if name.startswith("Ingress.by_entry") or name.startswith("Ingress.matched"):
                data[name] = 9
            elif name in ("$COUNTER_SPEC_PKTS", "$COUNTER_SPEC_BYTES", "$ENTRY_TTL"):
                data[name] = 3
            elif name.startswith("$METER_SPEC"):
                data[name] = 4
            elif name.startswith("$LPF_SPEC") or name.startswith("$WRED_SPEC"):
                data[name] = {"$LPF_SPEC_TYPE": "SAMPLE", "$WRED_SPEC_MAX_PROBABILITY": 1}.get(
                    name, 5)
        if data:
            entry["data"] = data
        if table["table_type"] == "RegisterParam":
            del entry["key"]
        return entry

    def bf_tables(self, program):
        done = silken("build", program, "--bf-rt", self.path("bf-rt.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        unsettable = ("SelectorGetMember", "DynHashConfigure", "DynHashAlgorithm",
                      "DynHashCompute", "SnapshotCfg", "SnapshotTrigger", "SnapshotData", "SnapshotLiveness")
        return [t for t in load(self.path("bf-rt.json"))["tables"]
                if t["table_type"] not in unsettable and "selected" not in t["name"]
                and "ConstTable" not in t["attributes"]]

    def test_every_table_of_the_bf_runtime_schema(self):
        seen = set()
        for program in (EVERYTHING, STATE, TWICE):
            tables = self.bf_tables(program)
            seen |= {t["table_type"] for t in tables}
            entries = [self.bf_entry(t) for t in tables]
            with self.subTest(program=program):
                state = self.taken(program, {"entries": entries})
                told = json.dumps(state)
                for table in tables:
                    if table["table_type"] != "PortMetadata":
                        self.assertIn(table["name"], told)
        self.assertLessEqual({"MatchAction_Direct", "MatchAction_Indirect", "Register", "Counter",
                              "Meter", "Lpf", "Wred", "Action", "Selector", "ParserValueSet",
                              "RegisterParam", "PortMetadata"}, seen)

    def test_what_they_mean(self):
        # in any order: what is referred to is written first
        entries = load("harness/control/everything.bf.json")
        self.assertTrue(self.whole.is_valid(entries))
        state = self.taken(EVERYTHING, entries)
        self.assertEqual(state["members"], [
            {"profile": "pipe.Ingress.members", "id": i, "action": "pipe.Ingress.put",
             "args": {"value": hex(10 + i)}} for i in (1, 2)])
        self.assertEqual(state["groups"], [
            {"selector": "pipe.Ingress.selector", "id": 4, "max_size": 3,
             "members": [{"member": 2, "up": False}, {"member": 1, "up": True}]}])
        self.assertEqual([(e["table"], e["priority"], e.get("group"), e.get("args"))
                          for e in state["entries"]], [
            ("pipe.Ingress.filter", 3, None, {"group": 5}),
            ("pipe.Ingress.selected", 9, 4, None)])
        cells = [(r["name"][13:], r["pipe"], r.get("index"), r["value"])
                 for r in state["registers"] if "pipe" in r and not r["name"].endswith("selector")]
        self.assertEqual(cells, [("pairs", 2, 3, {"first": 1, "second": 2})]
                         + [("roots", p, 0, 3) for p in range(4)]
                         + [("step", p, 0, 4) for p in range(4)]
                         + [("by_entry", p, None, {"first": 100, "second": 6}) for p in range(4)])
        self.assertEqual(state["value_sets"],
                         [{"name": "pipe.IngressParser.types", "key": {"f1": "34997"}}])
        self.assertEqual(state["counters"], [{"name": "pipe.Ingress.counts", "pipe": 0,
                                              "index": 15, "packets": 7, "bytes": 8}])

    def test_registers_by_these_names_elsewhere(self):
        state = self.taken(EVERYTHING, {"registers": [
            {"name": "pipe.Ingress.pairs", "index": 1, "pipe": 0,
             "value": {"Ingress.pairs.first": 5, "pairs.second": 6}}]})
        self.assertIn({"name": "pipe.Ingress.pairs", "pipe": 0, "index": 1,
                       "value": {"first": 5, "second": 6}}, state["registers"])

    def test_port_metadata(self):
        self.taken(TWICE, {"entries": [
            {"table": "pipe.IngressParser.$PORT_METADATA", "key": {"ig_intr_md.ingress_port": 4},
             "data": {"vrf": 7}}]})
        for entry, sentence in (({"data": {"vrf": 4096}}, "does not fit 12 bits"),
                                ({"data": {"none": 1}}, "'none'"),
                                ({"key": {"ig_intr_md.ingress_port": 100}}, "not a device port"),
                                ({"key": {}}, "only the index")):
            self.refused(TWICE, {"entries": [
                {"table": "$PORT_METADATA", "key": {"ingress_port": 4}, "data": {"vrf": 1}} | entry
            ]}, sentence, schema="100" not in str(entry) and "key" not in entry
                and "4096" not in str(entry) and "none" not in str(entry))

    def test_ambiguous_names(self):
        good = {"table": "first.lookup", "key": {"vrf": 1}, "action": "note", "args": {"index": 1}}
        state = self.taken(TWICE, {"entries": [
            good, good | {"table": "pipe.Ingress.second.lookup",
                          "action": "Ingress.second.note"}]})
        self.assertEqual([e["action"] for e in state["entries"]],
                         ["pipe.Ingress.first.note", "pipe.Ingress.second.note"])
        for entry, sentence in (
                (good | {"table": "lookup"},
                 "table name 'lookup' is ambiguous: pipe.Ingress.first.lookup, "
                 "pipe.Ingress.second.lookup\n"),
                ({"table": "seen", "key": {"$REGISTER_INDEX": 1}, "data": {"f1": 1}},
                 "register name 'seen' is ambiguous: pipe.Ingress.first.seen, "
                 "pipe.Ingress.second.seen\n"),
                ({"table": "first.seen", "key": {"$REGISTER_INDEX": 1},
                  "data": {"second.seen.f1": 1}}, "no field 'second.seen.f1'")):
            self.refused(TWICE, {"entries": [entry]}, sentence)

    def test_bad_entries_of_bf_runtime(self):
        register = {"table": "pairs", "key": {"$REGISTER_INDEX": 1}, "data": {"first": 1}}
        for entry, sentence in (
                (register | {"table": "forward"}, "no register 'forward'"),
                (register | {"key": {"$REGISTER_INDEX": 16}}, "there is no index 16"),
                (register | {"key": {"$REGISTER_INDEX": "1"}}, "it must be a whole number"),
                (register | {"key": {"$REGISTER_INDEX": 1, "x": 1}}, "only the index"),
                (register | {"key": {"$COUNTER_INDEX": 1}, "data": {"$COUNTER_SPEC_PKTS": 1}},
                 "no counter 'pairs'"),
                (register | {"data": {}}, "no field is given"),
                (register | {"data": {"pairs.third": 1}}, "'third'"),
                (register | {"action": "none"}, "unknown key"),
                ({"table": "pairs", "key": {"$REGISTER_INDEX": 1}}, "data: it is missing"),
                ({"table": "pairs", "data": {"value": 1}}, "is not a RegisterParam"),
                ({"table": "step", "data": {"values": 1}}, "its data is \"value\""),
                ({"table": "counts", "key": {"$COUNTER_INDEX": 1}, "pipe": 1,
                  "data": {"$COUNTER_SPEC_PKTS": 1}}, "it is written in all pipes"),
                ({"table": "counts", "key": {"$COUNTER_INDEX": 1},
                  "data": {"$ENTRY_TTL": 1}}, "$ENTRY_TTL"),
                ({"table": "types", "key": {"f3": 1}}, "no key field 'f3'"),
                ({"table": "forward", "key": {"dst_addr": 1}}, "an action is missing"),
                ({"table": "filter", "key": {"$valid": 1, "$MATCH_PRIORITY": 1}, "priority": 2,
                  "action": "none"}, "a \"$MATCH_PRIORITY\" already"),
                ({"table": "profiled", "key": {"i": 1}, "member": 2,
                  "data": {"$ACTION_MEMBER_ID": 1}}, "a \"$ACTION_MEMBER_ID\" already"),
                ({"table": "selector", "key": {"$SELECTOR_GROUP_ID": 1},
                  "data": {"$ACTION_MEMBER_ID": [1], "$ACTION_MEMBER_STATUS": []}},
                 "one for each member"),
                ({"table": "selector", "key": {"$SELECTOR_GROUP_ID": 1}, "data": {"x": 1}},
                 "unknown key"),
        ):
            with self.subTest(entry=entry):
                # that two members are there, and lengths of two lists, are beyond a schema
                self.refused(EVERYTHING, {"entries": [entry]}, sentence,
                             "already" not in sentence and "one for each" not in sentence)


if __name__ == "__main__":
    tally.main()
