# SPDX-License-Identifier: Apache-2.0
"""Two programs on one switch, each in two pipes: packets through both, a controller for each, programs of a
configuration and programs that a client sends, and what goes wrong with them."""
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = ["harness/brt", "harness/control"]
import grpc  # noqa: E402
from controller import Controller, Expect, call, pb  # noqa: E402
from live import INTERFACES, SILKEN, Checks, Switch, Wire, inside, veth  # noqa: E402

inside(__file__)
EDGE, CORE, L2 = (os.path.abspath(p) for p in ("harness/brt/edge.p4", "harness/brt/core.p4", "p4/l2/l2.p4"))
HOST, LOOP = "02:00:00:00:00:01", 130
Set = pb.SetForwardingPipelineConfigRequest
STARTED, FINISHED = 0, 1
INVALID, NOT_FOUND = 3, 5
OUTER, INNER = (0, 2), (1, 3)

checks = Checks()
fails = Expect(checks).fails


class Client(Controller):
    """Of one of several programs; what it is told is in queues by kind."""

    def __init__(self, address, program, client, bind=True, **notifications):
        self.program, self.told = program, queue.Queue()
        super().__init__(address, client=client, **notifications)
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        if bind:
            self.bind(program)

    def describe(self):
        super().describe()
        self.tables, self.learn = {}, {}
        own = [c for c in self.config.config if c.p4_name == self.program]
        if own:
            self.take_schema(own[0].bfruntime_info)
        self.take_schema(self.config.non_p4_config.bfruntime_info)

    def take_schema(self, info):
        import json
        schema = json.loads(info)
        self.tables.update({t["name"]: t for t in schema["tables"]})
        self.learn.update({f["name"]: f for f in schema.get("learn_filters", [])})

    def listen(self):
        try:
            for message in self.responses:
                self.told.put(message)
        except grpc.RpcError as e:
            self.told.put(e.code().name)

    def next(self, kind, seconds=10):
        """The next message of a kind; the status that the stream ended with; None: there is none in time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                message = self.told.get(timeout=left)
            except queue.Empty:
                return None
            if isinstance(message, str):
                return message
            if message.WhichOneof("update") == kind:
                return getattr(message, kind)
        return None

    def start_told(self, seconds=10):
        told = self.next("set_forwarding_pipeline_config_response", seconds)
        return told if told is None or isinstance(told, str) else told.set_forwarding_pipeline_config_response_type


def built(folder, program):
    name = os.path.splitext(os.path.basename(program))[0]
    subprocess.run([SILKEN, "build", "--sde", folder, program], check=True)
    pipeline = {"edge": "edge_pipe", "core": "core_pipe", "l2": "pipe"}[name]
    with open(f"{folder}/share/tofinopd/{name}/{pipeline}/tofino.bin", "rb") as f:
        return name, pipeline, f.read()


def request(client, action, *programs, **fields):
    """Programs are (name, pipeline, binary, pipes)."""
    r = Set(client_id=client, action=action, **fields)
    for name, pipeline, binary, pipes in programs:
        r.config.add(p4_name=name).profiles.add(profile_name=pipeline, binary=binary, pipe_scope=pipes)
    return r


def send(c, action, *programs, **fields):
    return call(c.method["SetForwardingPipelineConfig"], request(c.client, action, *programs, **fields))


def fill(edge, core, out, tag=7):
    """Frames to HOST go from port 1 through both programs to port 'out'."""
    edge.write(edge.update("INSERT", "$PORT_METADATA", {"ig.ingress_port": 1}, data={"site": 1, "rack": tag}),
               edge.update("INSERT", "forward", {"hdr.ethernet.dst_addr": 0x020000000001}, "send", {"port": LOOP}),
               edge.update("INSERT", "leave", {"hdr.tag.value": tag + 100 + 1000}, "strip"))
    core.write(core.update("INSERT", "$PORT_METADATA", {"ig.ingress_port": LOOP}, data={"more": 1000}),
               core.update("INSERT", "route", {"hdr.tag.value": tag + 100}, "send", {"port": out}))


def arrives(wires, number, seconds=5):
    """At which port a frame comes out; None: nowhere."""
    if not wires:
        return None
    for w in wires.values():
        w.drain()
    wires[1].send(HOST, number)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for port, w in wires.items():
            if port != 1 and w.receive(0.05) == number:
                return port
    return None


def both(sw, wires, address):
    """The two of the configuration: a controller each, and packets through both."""
    with Client(address, "edge", 1, learn=True) as edge, \
         Client(address, "core", 2, learn=True, idletimeout=True) as core:
        checks.equal("what runs", [(c.p4_name, [(p.profile_name, list(p.pipe_scope)) for p in c.profiles])
                                   for c in edge.config.config],
                     [("edge", [("edge_pipe", [0, 2])]), ("core", [("core_pipe", [1, 3])])])
        with Client(address, "edge", 3, bind=False) as third:
            fails("the edge has an owner", "ALREADY_EXISTS", third.bind, "edge")
            fails("the core, too", "ALREADY_EXISTS", third.bind, "core")
            fails("no other", "NOT_FOUND", third.bind, "l2")
            checks.equal("who is not bound names one", len(third.read(third.entry("forward"), p4_name="edge")), 1)
            fails("which then is not of the other", "UNKNOWN", third.read, third.entry("forward"), p4_name="core",
                  codes=[NOT_FOUND])
        fails("bound to one", "ALREADY_EXISTS", edge.bind, "core")
        fill(edge, core, 2)
        fails("another program's table", "UNKNOWN", core.write, edge.update(
            "INSERT", "forward", {"hdr.ethernet.dst_addr": 5}, "send", {"port": 1}), codes=[NOT_FOUND])
        fails("a pipe of the other program", "UNKNOWN", core.write, core.update(
            "INSERT", "route", {"hdr.tag.value": 5}, "send", {"port": 1}, pipe=0), codes=[INVALID])
        fails("a port of the other program", "UNKNOWN", core.write, core.update(
            "INSERT", "$PORT_METADATA", {"ig.ingress_port": 1}, data={"more": 1}), codes=[INVALID])
        checks.equal("ctl has both", [t for t in ("edge_pipe.EdgeIn.forward", "core_pipe.CoreIn.route")
                                      if t in sw.ctl("table", "list")[1]], ["edge_pipe.EdgeIn.forward", "core_pipe.CoreIn.route"])
        if wires:
            packets(sw, edge, core, wires)
        core.write(core.update("DELETE", "$PORT_METADATA"), core.update("DELETE", "route"))
        checks.equal("all that the one deletes is its own", [len(edge.read(edge.entry(t))) for t in ("$PORT_METADATA", "forward")],
                     [1, 2])
        fill_again = core.update("INSERT", "route", {"hdr.tag.value": 107}, "send", {"port": 2})
        core.write(fill_again)


def packets(sw, edge, core, wires):
    checks.equal("through both", arrives(wires, 11), 2)
    digest, passed = edge.next("digest"), core.next("digest")
    checks.equal("the edge's digest", digest.digest_id, edge.learn["edge_pipe.EdgeInDeparser.seen"]["id"])
    checks.equal("the core's", (passed.digest_id, passed.data[0].fields[0].stream, passed.target.pipe_id),
                 (core.learn["core_pipe.CoreInDeparser.passed"]["id"], (1107).to_bytes(2, "big"), 1))
    checks.equal("each has its own only", (edge.next("digest", 0.5), core.next("digest", 0.5)), (None, None))
    checks.equal("counted once in pipe 0", edge.read(edge.entry("packets", {"$REGISTER_INDEX": 0}, from_hw=True))[0][3],
                 {"EdgeIn.packets.f1": [1, 0]})
    leave = edge.read(edge.entry("leave", {"hdr.tag.value": 1107}, from_hw=True))[0][3]
    checks.equal("and when it left", (leave["$COUNTER_SPEC_PKTS"], leave["$COUNTER_SPEC_BYTES"]), (1, 60 + 2 + 4))
    request_ = pb.WriteRequest(client_id=core.client)
    request_.target.pipe_id, request_.target.direction, request_.target.prsr_id = 0xffff, 0xff, 0xff
    update = request_.updates.add(type=pb.Update.INSERT_OR_MODIFY)
    update.entity.table_attribute.table_id = core.table("route")["id"]
    idle = update.entity.table_attribute.idle_table
    idle.enable, idle.idle_table_mode, idle.ttl_query_interval = True, pb.IdleTable.IDLE_TABLE_NOTIFY_MODE, 10
    idle.max_ttl, idle.min_ttl = 1000, 10
    core.write(core.update("MODIFY", "route", {"hdr.tag.value": 107}, "send", {"port": 2, "$ENTRY_TTL": 300}))
    call(core.method["Write"], request_)
    told = core.next("idle_timeout_notification", 20)
    checks.equal("an entry that nobody meets", told and told.table_entry.table_id, core.table("route")["id"])
    idle.enable = False
    call(core.method["Write"], request_)
    traced(sw, wires)
    snapshots(edge, wires)


def snapshots(edge, wires):
    """A packet that the edge's controller waits for is caught by the checked build of both programs."""
    address = "hdr.ethernet.dst_addr"
    edge.write(edge.update("INSERT", "snapshot.cfg", {"start_stage": 0, "end_stage": 3}, data={"thread": "INGRESS"}))
    edge.write(edge.update("INSERT", "snapshot.ingress_trigger", {"stage": 0}, data={
        "enable": True, f"trig.{address}": 0x020000000001, f"trig.{address}_mask": (1 << 48) - 1}))
    states, end = [], time.monotonic() + 200
    while "FULL" not in states and time.monotonic() < end:
        wires[1].send(HOST, 13)
        time.sleep(0.1)
        states = edge.read(edge.entry("snapshot.ingress_trigger", {"stage": 0}))[0][3]["trigger_state"]
    checks.equal("a packet is caught in pipe 0", states, ["FULL", "PASSIVE", "PASSIVE", "PASSIVE"])
    data = edge.read(edge.entry("snapshot.ingress_data", {"stage": 0}, pipe=0))[0][3]
    checks.equal("its address", data.get(address), 0x020000000001)
    checks.equal("what was looked up", [t["table_name"].split(".")[-1] for t in data["table_info"]],
                 ["forward", "learn"])
    edge.write(edge.update("DELETE", "snapshot.ingress_trigger"))
    edge.write(edge.update("DELETE", "snapshot.cfg"))
    for w in wires.values():
        w.drain()


def traced(sw, wires):
    """A packet's way through both programs, by their checked builds."""
    sw.ask("trace.start", ports=[1], count=1, timeout=300, form="json")
    state = sw.becomes(lambda: sw.ask("trace.read")["state"] in ("armed", "failed", "done"), True, 200)
    checks.equal("armed", (state, sw.ask("trace.read")["error"]), (True, ""))
    checks.equal("through both", arrives(wires, 12), 2)
    reply = sw.ask("trace.read")
    while not reply["packets"] and reply["state"] == "armed":
        time.sleep(0.05)
        reply = sw.ask("trace.read")
    text = str(reply["packets"])
    checks.equal("both are in it", [w for w in ("EdgeIn.forward", "CoreIn.route", "EdgeOut.leave") if w in text],
                 ["EdgeIn.forward", "CoreIn.route", "EdgeOut.leave"])
    checks.equal("and none differs", reply["differing"], 0)
    sw.ask("trace.stop")


def bad(address, edge, core, l2):
    """Each is refused with a sentence, and the programs go on."""
    everywhere = (0, 1, 2, 3)
    with Client(address, "edge", 4, bind=False) as c:
        for what, said, programs in (
                ("a pipe that none has", "pipe 3 is given no program", [(*edge, (0, 2)), (*core, (1,))]),
                ("a pipe that two have", "pipe 2 is given twice", [(*edge, (0, 2)), (*core, (1, 2, 3))]),
                ("a program twice", "'edge' is given twice", [(*edge, (0, 2)), (*edge, (1, 3))]),
                ("five programs", "one to 4 programs", [(*edge, (0,))] * 5),
                ("a pipeline of another name", "no pipeline 'other'", [(*edge, OUTER), ("core", "other", core[2], INNER)]),
                ("pipelines of one name", "both have a pipeline 'edge_pipe'",
                 [(*edge, OUTER), ("same", "edge_pipe", edge[2], INNER)]),
                ("one that is no program", "not a program of", [(*edge, OUTER), ("core", "core_pipe", b"x" * 99, INNER)])):
            for action in (Set.VERIFY, Set.VERIFY_AND_WARM_INIT_BEGIN_AND_END):
                checks.has(what, fails(what, "INVALID_ARGUMENT", send, c, action, *programs), said)
        checks.equal("they go on", [p.p4_name for p in c.config.config], ["edge", "core"])
        checks.equal("two that fit", send(c, Set.VERIFY, (*edge, OUTER), (*core, INNER)),
                     pb.SetForwardingPipelineConfigResponse())
        checks.equal("one alone", send(c, Set.VERIFY, (*l2, everywhere)), pb.SetForwardingPipelineConfigResponse())


def sent(sw, wires, address, edge, core, l2):
    """From the two to other two, to one, and back."""
    everywhere = (0, 1, 2, 3)
    with Client(address, "edge", 1) as a, Client(address, "core", 2) as b:
        # the edge by another name: its client is sent away, the core's stays
        send(a, Set.VERIFY_AND_WARM_INIT_BEGIN_AND_END, ("rim", *edge[1:], OUTER), (*core, INNER))
        checks.equal("the edge's", [a.start_told() for _ in range(3)], [STARTED, FINISHED, "CANCELLED"])
        checks.equal("the core's", [b.start_told(), b.start_told(), b.start_told(0.5)], [STARTED, FINISHED, None])
        checks.equal("it is empty", len(b.read(b.entry("route"))), 1)
        with Client(address, "rim", 1) as rim:
            fill(rim, b, 2)
            checks.equal("through both", arrives(wires, 21), 2 if wires else None)
            # a warm start: packets take the old ones until its end
            send(rim, Set.VERIFY_AND_WARM_INIT_BEGIN, ("rim", *edge[1:], OUTER), (*core, INNER))
            checks.equal("begun", (rim.start_told(), b.start_told()), (STARTED, STARTED))
            fill(rim, b, 3)
            checks.equal("the old ones", arrives(wires, 22), 2 if wires else None)
            send(rim, Set.WARM_INIT_END)
            checks.equal("ended", (rim.start_told(), b.start_told()), (FINISHED, FINISHED))
            checks.equal("the new ones", arrives(wires, 23), 3 if wires else None)
            # the pipes change places
            send(rim, Set.VERIFY_AND_WARM_INIT_BEGIN_AND_END, (*core, OUTER), ("rim", *edge[1:], INNER))
            checks.equal("both stay", (rim.start_told(), rim.start_told(), rim.start_told(0.2)), (STARTED, FINISHED, None))
            rim.write(rim.update("INSERT", "$PORT_METADATA", {"ig.ingress_port": LOOP}, data={"rack": 1}))
            checks.equal("the other port is the edge's", len(rim.read(rim.entry("$PORT_METADATA"))), 1)
            send(rim, Set.VERIFY_AND_WARM_INIT_BEGIN_AND_END, (*l2, everywhere))
            checks.equal("neither has a program", ([rim.start_told() for _ in range(3)][-1],
                                                   [b.start_told() for _ in range(5)][-1]), ("CANCELLED", "CANCELLED"))
        with Client(address, "l2", 1) as c:
            checks.equal("one program", [p.p4_name for p in c.config.config], ["l2"])
            send(c, Set.VERIFY_AND_WARM_INIT_BEGIN, (*edge, OUTER), (*core, INNER))
            checks.equal("begun", [c.start_told(), c.start_told()], [STARTED, "CANCELLED"])
        with Client(address, "edge", 1) as c:
            checks.equal("its tables", len(c.read(c.entry("forward"))), 1)
        with Client(address, "l2", 5, bind=False) as c: # who began it went: the start is given up
            end = time.monotonic() + 10
            while [p.p4_name for p in c.config.config] != ["l2"] and time.monotonic() < end:
                time.sleep(0.05)
                c.describe()
            checks.equal("the one goes on", [p.p4_name for p in c.config.config], ["l2"])
            fails("nothing to end", "UNAVAILABLE", send, c, Set.WARM_INIT_END)


def refused(folder, said, **members):
    """A configuration with which a switch does not start."""
    try:
        Switch({"ports": [{"port": 1, "device": "net_null0,no-rx=1"}], **members}, folder=folder).start()
    except AssertionError as e:
        checks.has(said, str(e), said)
        return
    checks.equal(said, "started", "refused")


def of_pipe(sw, table, pipe):
    """Entries of a pipe, as `ctl` prints them."""
    return sw.ctl("table", "dump", table, "pipe", pipe)[1]


def reloads(sw, base):
    sw.write({**base, "programs": [{"program": EDGE, "name": "rim", "pipes": OUTER}, {"program": CORE, "pipes": INNER}]})
    checks.equal("the configuration again", sw.reload()["ok"], True)
    tables = sw.ctl("table", "list")[1]
    checks.equal("as it says", ("EdgeIn.forward" in tables, "CoreIn.route" in tables), (True, True))
    # from two pipes of the edge to all, with another entry each time, and back
    swapped = [{**TWO[0], "pipes": INNER}, {**TWO[1], "pipes": OUTER}]
    for port, programs in ((4, TWO), (5, None), (6, TWO), (6, None), (7, TWO), (8, swapped), (9, None)):
        entry = {"table": "EdgeIn.forward", "key": {"hdr.ethernet.dst_addr": 1}, "action": "send", "args": {"port": port}}
        sw.write({**base, "entries": [entry], **({"programs": programs} if programs else {"program": EDGE})})
        reply = sw.reload()
        checks.equal(f"reloaded, {port}", (reply["ok"], reply.get("error", "")), (True, ""))
        if programs is not swapped:
            checks.equal(f"nothing is lost, {port}", [t for t in reply["result"].get("lost", []) if "forward" in t], [])
        pipes = programs[0]["pipes"] if programs else range(4)
        checks.equal(f"in each pipe, {port}", [f"send(port={port})" in of_pipe(sw, "EdgeIn.forward", p) for p in pipes],
                     [True] * len(pipes))
    sw.write({**base, "programs": [{"program": EDGE, "name": "rim", "pipes": OUTER}, {"program": CORE, "pipes": INNER}]})
    checks.equal("two again", sw.reload()["ok"], True)
    sw.ctl("table", "add", "EdgeIn.forward", "hdr.ethernet.dst_addr=77", "send(port=1)")
    sw.write({**base, "programs": [{"program": EDGE, "pipes": INNER}, {"program": CORE, "pipes": OUTER}]})
    reply = sw.reload()
    checks.equal("in other pipes", reply["ok"], True)
    checks.has("what was written meanwhile is told", " ".join(reply["result"]["lost"]), "EdgeIn.forward: it is in other pipes")
    checks.has("core in pipe 0", sw.ctl("table", "add", "CoreIn.route", "hdr.tag.value=1", "send(port=1)", "pipe", 1)[1], "pipe 1 does not run 'core_pipe'")
    sw.write({**base, "program": L2})
    checks.equal("one program", sw.reload()["ok"], True)
    checks.equal("of one", "EdgeIn" in sw.ctl("table", "list")[1], False)
    sw.write({**base, "programs": [{"program": EDGE, "pipes": OUTER}, {"program": CORE, "pipes": INNER}]})
    checks.equal("and two", sw.reload()["ok"], True)


with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder_:
    ADDRESS = f"unix:{folder_}/b.sock"
    of_edge, of_core, of_l2 = (built(folder_, p) for p in (EDGE, CORE, L2))
    devices = {port: f"net_null{port},no-rx=1" for port in (1, 2, 3)}
    if INTERFACES:
        for port_ in (1, 2, 3):
            veth(f"sw{port_}", f"host{port_}")
            devices[port_] = f"net_af_packet{port_},iface=sw{port_}"
    BASE = {"ports": [{"port": p, "device": d} for p, d in devices.items()], "loopback": [LOOP],
            "bfrt": {"listen": ADDRESS}}
    TWO = [{"program": EDGE, "pipes": OUTER}, {"program": CORE, "pipes": INNER}]
    with Switch({**BASE, "programs": TWO}) as switch:
        hosts = {p: Wire(f"host{p}") for p in (1, 2, 3)} if INTERFACES else {}
        both(switch, hosts, ADDRESS)
        bad(ADDRESS, of_edge, of_core, of_l2)
        checks.equal("what it says of itself", switch.ask("watch")["program"], f"{EDGE}, {CORE}")
        done = subprocess.run([SILKEN, "record", "-s", switch.path("s.sock"), "--out", f"{folder_}/r.pcapng", "--packets", "1"],
                              capture_output=True, text=True, check=False)
        for more, said in (((), "several programs"), (("--program", "core"), "core: ")):
            dump = subprocess.run([SILKEN, "twin", "dump", *more, ADDRESS, f"{folder_}/dump"], capture_output=True, text=True,
                                  check=False)
            checks.has("a dump of one", dump.stdout + dump.stderr, said)
        checks.equal("a recording", (done.returncode != 0, "one program" in done.stderr), (True, True))
        sent(switch, hosts, ADDRESS, of_edge, of_core, of_l2)
        checks.equal("the switch ends well", switch.stop(), 0)
    with Switch({**BASE, "programs": TWO, "entries": [
            {"table": "CoreIn.route", "key": {"hdr.tag.value": 107}, "action": "send", "args": {"port": 2}}]}) as switch:
        with Client(ADDRESS, "core", 1) as owner:
            checks.equal("the configuration's entry", len(owner.read(owner.entry("route"))), 2)
        reloads(switch, BASE)
        checks.equal("the switch ends well", switch.stop(), 0)
    refused(folder_, "exclude each other", programs=TWO, program=L2)
    refused(folder_, "exclude each other", programs=TWO, p4runtime={"listen": "127.0.0.1:0"})
    refused(folder_, "pipe 3 is given no program", programs=[{"program": EDGE, "pipes": [0, 2]}, {"program": CORE, "pipes": [1]}])
    with open(f"{folder_}/other_chip.p4", "w", encoding="utf-8") as text, open(CORE, encoding="utf-8") as core_text:
        text.write(core_text.read().replace("<tna.p4>", "<t2na.p4>"))
    refused(folder_, "for different chips", programs=[TWO[0], {"program": "other_chip.p4", "pipes": INNER}])
    with open(f"{folder_}/crc.p4", "w", encoding="utf-8") as text, open(CORE, encoding="utf-8") as core_text:
        text.write(core_text.read().replace("Switch(core_pipe)", "@silken_invariant_crc Switch(core_pipe)"))
    refused(folder_, "for one of them only", programs=[TWO[0], {"program": "crc.p4", "pipes": INNER}])
    refused(folder_, "two programs are called 'x'", programs=[{**p, "name": "x"} for p in TWO])
    refused(folder_, "both have a pipeline 'edge_pipe'", programs=[TWO[0], {"program": EDGE, "name": "b", "pipes": INNER}])
checks.end()
