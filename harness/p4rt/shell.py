# SPDX-License-Identifier: Apache-2.0
"""p4runtime-shell against `silken run`: see shell.sh. Its module p4runtime_sh.shell is called as its own tests and users
of it do: each thing is written by one of its objects and read back by another. A line for each thing that
was tried; the shell's code is as it is in the checkout, messages and stubs are made by protoc in a folder that goes
afterwards."""
import argparse
import contextlib
import importlib
import io
import os
import shutil
import subprocess
import sys
import tempfile

os.environ["LIVE_INSIDE"] = "yes" # shell.sh has made the namespace
sys.path[:0] = ["harness/control", "harness/p4rt"]
from live import SILKEN, Switch, Wire, ip, veth  # noqa: E402
from protos import CODES, prepare, write  # noqa: E402

EVERYTHING, PACKETS = os.path.abspath("harness/stf/everything.p4"), os.path.abspath("harness/p4rt/packets.p4")
SECOND = 10 ** 9

def missing():
    """One sentence about what the shell needs and this machine lacks, or none."""
    for what, package in (("IPython", "python3-ipython"), ("grpc", "python3-grpcio"),
                          ("google.protobuf", "python3-protobuf")):
        try:
            importlib.import_module(what)
        except ImportError:
            return f"p4runtime-shell needs Python's {what}: Debian's {package} is not installed"
    for program, package in (("protoc", "protobuf-compiler"), ("grpc_python_plugin", "protobuf-compiler-grpc")):
        if not shutil.which(program):
            return f"the stubs need {program}: Debian's {package} is not installed"
    return ""


class Tried:
    def __init__(self):
        self.passed = self.failed = 0

    @contextlib.contextmanager
    def thing(self, name):
        """One thing; the shell prints much, and ends the process when it is not content."""
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                yield
        except (Exception, SystemExit) as e: # pylint: disable=broad-except # whatever the shell raises
            self.failed += 1
            text = str(e).strip() or said.getvalue().strip()
            print("failed  %s: %s: %s" % (name, type(e).__name__, " ".join(text.split())[:300]), flush=True)
        else:
            self.passed += 1
            print("passed  " + name, flush=True)


tried = Tried()


def same(got, wanted):
    if got != wanted:
        raise AssertionError(f"it is {got!r}, not {wanted!r}")


def refused(code, function, *args):
    """The shell's own exception for an update that failed, with this code."""
    from p4runtime_sh.p4runtime import P4RuntimeWriteException # pylint: disable=import-outside-toplevel
    try:
        function(*args)
    except P4RuntimeWriteException as e:
        same([CODES[error.canonical_code] for _, error in e.errors], [code])
        return
    raise AssertionError("it was not refused")


def texts(entities):
    return [str(e.msg()) for e in entities]


class Script:
    """What a user of the shell does with everything.p4."""

    def __init__(self, sh):
        self.sh = sh

    def entry(self, table, action=None, priority=0, match=None, **params):
        e = self.sh.TableEntry(table)
        for field, value in (match or {}).items():
            e.match[field] = value
        if action:
            e.action = self.sh.Action(action)
            e.action.set(**params)
        e.priority = priority
        return e

    def all(self, table):
        return list(self.sh.TableEntry(table).read())

    def there(self, e):
        """The same that was written is read, by key and with all others."""
        question = self.sh.TableEntry(e.name)
        question.match, question.priority = e.match, e.priority
        same(texts(question.read()), [str(e.msg())])
        if str(e.msg()) not in texts(self.all(e.name)):
            raise AssertionError("it is not among all entries")

    def life(self, e, param=None, value=None):
        """Inserted, twice refused, changed, deleted."""
        e.insert()
        self.there(e)
        refused("ALREADY_EXISTS", e.insert)
        if param:
            e.action[param] = value
            e.modify()
            self.there(e)
        e.delete()
        refused("NOT_FOUND", e.delete)

    def exact(self):
        with tried.thing("entries: exact"):
            self.life(self.entry("Ingress.forward", "Ingress.send", match={"dst_addr": "00:00:00:00:00:07"}, port="3"),
                      "port", "4")

    def padded(self):
        with tried.thing("entries: values with leading zeros, read in their shortest form"):
            def make():
                return self.entry("Ingress.forward", "Ingress.send", match={"dst_addr": "00:00:00:00:00:07"}, port="3")
            short = make()
            self.sh.global_options["canonical_bytestrings"] = False
            padded = make()
            self.sh.global_options["canonical_bytestrings"] = True
            same(padded.match["dst_addr"].exact.value, bytes(5) + b"\7")
            padded.insert()
            self.there(short)
            short.delete()

    def lpm(self):
        with tried.thing("entries: lpm"):
            self.life(self.entry("Ingress.prefixes", "Ingress.level", match={"hdr.order.a": "10.1.0.0/16"}))
            every = self.entry("Ingress.prefixes", "Ingress.level")
            every.insert()
            same(len(self.all("Ingress.prefixes")), 1)
            every.delete()

    def ternary(self):
        with tried.thing("entries: ternary and range, with priorities"):
            some = [self.entry("Ingress.filter", "Ingress.noted", p, {"a": "0x100&&&0xff00", "i": "1..5",
                                                                      "hdr.order.$valid": "1"}) for p in (10, 20)]
            for e in some:
                name = next(iter(e.action._params)) # pylint: disable=protected-access
                e.action[name] = "9"
                e.insert()
                self.there(e)
            same([e.priority for e in self.all("Ingress.filter")], [20, 10])
            for e in some:
                e.delete()

    def wildcards(self):
        with tried.thing("entries: all of a table, deleted as they are read"):
            for i in range(20):
                self.entry("Ingress.forward", "Ingress.send", match={"dst_addr": str(i + 1)}, port="1").insert()
            same(len(self.all("Ingress.forward")), 20)
            self.sh.TableEntry("Ingress.forward").read(function=lambda e: e.delete())
            same(self.all("Ingress.forward"), [])

    def default(self):
        with tried.thing("the default entry"):
            def read():
                question = self.sh.TableEntry("Ingress.filter")
                question.is_default = True
                return texts(question.read())
            before, e = read(), self.sh.TableEntry("Ingress.filter")
            e.is_default = True
            e.action = self.sh.Action("Ingress.noted")
            e.action[next(iter(e.action._params))] = "5" # pylint: disable=protected-access
            e.modify()
            same(read(), [str(e.msg())])
            e.clear_action()
            e.modify()
            same(read(), before)

    def attached(self):
        with tried.thing("direct counter and meter, idle timeout and metadata of an entry"):
            e = self.entry("Ingress.forward", "Ingress.send", match={"dst_addr": "9"}, port="1")
            e.counter_data.packet_count, e.counter_data.byte_count = 7, 700
            for name, value in (("cir", 10), ("cburst", 20), ("pir", 30), ("pburst", 40)):
                setattr(e.meter_config, name, value)
            e.idle_timeout_ns, e.metadata = 600 * SECOND, b"mine"
            e.insert()
            question = self.entry("Ingress.forward", match={"dst_addr": "9"})
            for name in ("counter_data", "meter_config", "time_since_last_hit"):
                getattr(question, name)
            got = next(question.read())
            same((got.counter_data.packet_count, got.counter_data.byte_count, got.meter_config.pburst,
                  got.idle_timeout_ns, got.metadata), (7, 700, 40, 600 * SECOND, b"mine"))
        with tried.thing("a direct counter and a direct meter by themselves"):
            info = self.sh.context.p4info
            counter = self.sh.DirectCounterEntry(info.direct_counters[0].preamble.name)
            counter.table_entry = self.entry("Ingress.forward", match={"dst_addr": "9"})
            counter.packet_count = 5
            counter.modify()
            counter.clear_data()
            same(next(counter.read()).packet_count, 5)
            same(len(list(self.sh.DirectCounterEntry(counter.name).read())), 1)
            meter = self.sh.DirectMeterEntry(next(m.preamble.name for m in info.direct_meters if m.direct_table_id ==
                                                  self.sh.TableEntry("Ingress.forward").id))
            meter.table_entry = self.entry("Ingress.forward", match={"dst_addr": "9"})
            meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
            meter.modify()
            same(next(meter.read()).pburst, 4)
            e.delete()

    def member(self, number, value):
        m = self.sh.ActionProfileMember("Ingress.members")(member_id=number, action="Ingress.put")
        m.action["value"] = value
        return m

    def profile(self):
        with tried.thing("members of an action profile"):
            for number in (1, 2, 3):
                self.member(number, str(100 + number)).insert()
            changed = self.member(2, "7")
            changed.modify()
            question = self.sh.ActionProfileMember("Ingress.members")(member_id=2)
            same(texts(question.read()), [str(changed.msg())])
            same(len(list(self.sh.ActionProfileMember("Ingress.members").read())), 3)
            refused("ALREADY_EXISTS", self.member(1, "1").insert)
        with tried.thing("groups of an action profile, with weights"):
            group = self.sh.ActionProfileGroup("Ingress.members")(group_id=5, max_size=4)
            group.add(1, weight=2).add(2)
            group.insert()
            same(texts(self.sh.ActionProfileGroup("Ingress.members").read()), [str(group.msg())])
            group.clear()
            group.add(3, weight=3)
            group.modify()
            same(texts(self.sh.ActionProfileGroup("Ingress.members")(group_id=5).read()), [str(group.msg())])
        with tried.thing("entries that name a member and a group"):
            e = self.entry("Ingress.selected", priority=3, match={"i": "1&&&0xff"})
            e.group_id = 5
            e.insert()
            self.there(e)
            refused("FAILED_PRECONDITION", group.delete)
            e.member_id = 2
            e.modify()
            self.there(e)
            e.delete()
        with tried.thing("members and groups go"):
            group.delete()
            self.sh.ActionProfileMember("Ingress.members").read(function=lambda m: m.delete())
            same(list(self.sh.ActionProfileMember("Ingress.members").read()), [])

    def one_shot(self):
        def shot(*actions):
            e = self.entry("Ingress.selected", priority=3, match={"i": "1&&&0xff"})
            for value, weight in actions:
                action = self.sh.Action("Ingress.put")
                action["value"] = value
                e.oneshot.add(action, weight=weight)
            return e
        with tried.thing("a set of actions in an entry (one shot)"):
            e = shot(("10", 1), ("11", 2), ("10", 1))
            e.insert()
            self.there(e)
            same((list(self.sh.ActionProfileMember("Ingress.members").read()),
                  list(self.sh.ActionProfileGroup("Ingress.members").read())), ([], []))
            refused("ALREADY_EXISTS", e.insert)
            e = shot(("12", 3), ("13", 1), ("14", 1), ("15", 1))
            e.modify()
            self.there(e)
            refused("INVALID_ARGUMENT", shot(("1", 9)).modify)
        with tried.thing("members beside sets of actions are refused"):
            refused("INVALID_ARGUMENT", self.member(1, "1").insert)
        with tried.thing("the set goes"):
            e.delete()
            self.member(1, "1").insert()
            self.member(1, "1").delete()

    def copies(self):
        def replicas(e):
            return sorted((r.egress_port, r.instance) for r in e.replicas)
        with tried.thing("a multicast group"):
            group = self.sh.MulticastGroupEntry(5).add(1, 1).add(2, 1).add(1, 2)
            group.insert()
            same([replicas(e) for e in self.sh.MulticastGroupEntry(5).read()], [[(1, 1), (1, 2), (2, 1)]])
            group.replicas = group.replicas[:1]
            group.modify()
            same([(e.group_id, replicas(e)) for e in self.sh.MulticastGroupEntry().read()], [(5, [(1, 1)])])
            group.delete()
            same(list(self.sh.MulticastGroupEntry().read()), [])
        with tried.thing("a clone session"):
            session = self.sh.CloneSessionEntry(7).add(1)
            session.cos, session.packet_length_bytes = 2, 128
            session.insert()
            got = next(self.sh.CloneSessionEntry(7).read())
            same((replicas(got), got.cos, got.packet_length_bytes), ([(1, 0)], 2, 128))
            session.delete()
            same(list(self.sh.CloneSessionEntry().read()), [])

    def cells(self):
        with tried.thing("a counter, by index and all"):
            counter = self.sh.CounterEntry("Ingress.counts")
            counter.index = 3
            counter.packet_count, counter.byte_count = 5, 2 ** 40
            counter.modify()
            question = self.sh.CounterEntry("Ingress.counts")
            same(sum(c.packet_count for c in question.read()), 5)
            question.index = 3
            same(next(question.read()).byte_count, 2 ** 40)
        with tried.thing("a meter, by index and all"):
            meter = self.sh.MeterEntry("Ingress.of_bytes")
            meter.index = 2
            meter.cir, meter.cburst, meter.pir, meter.pburst = 125000, 250, 250000, 500
            meter.modify()
            same(next(meter.read()).pir, 250000)
            meter.clear_config()
            meter.modify()
            same(next(meter.read()).pir, 0)
            same(len(list(self.sh.MeterEntry("Ingress.of_bytes").read())) > 2, True)

    def digests(self, wire):
        with tried.thing("a digest: configured, told, acknowledged"):
            entry = self.sh.DigestEntry("IngressDeparser.seen")
            entry.max_timeout_ns, entry.max_list_size, entry.ack_timeout_ns = SECOND, 2, 600 * SECOND
            entry.insert()
            same([d.ack_timeout_ns for d in self.sh.DigestEntry("IngressDeparser.seen").read()], [600 * SECOND])
            lists = self.sh.DigestList()
            heard = []
            for number in (0x42, 0x43):
                wire.socket.send(number.to_bytes(6, "big") + bytes(6) + b"\x90\0\x80\0\0\2" + bytes(42))
                heard += lists.sniff(timeout=2)
            same([[d.struct.members[0].bitstring for d in m.digest.data] for m in heard], [[b"\x42"], [b"\x43"]])
            entry.delete()

    def idle(self):
        with tried.thing("an entry that becomes idle is told, and again after each time to live"):
            told = self.sh.IdleTimeoutNotification()
            e = self.entry("Ingress.forward", "Ingress.send", match={"dst_addr": "8"}, port="1")
            e.idle_timeout_ns = SECOND // 3
            e.insert()
            heard = list(told.sniff(timeout=3))
            e.delete()
            same({len(m.idle_timeout_notification.table_entry) for m in heard}, {1})
            same(len(heard) >= 2, True)

    def write_file(self, folder):
        with tried.thing("Write() of a file of updates"):
            e = self.entry("Ingress.forward", "Ingress.send", match={"dst_addr": "6"}, port="2")
            request = importlib.import_module("p4.v1.p4runtime_pb2").WriteRequest()
            request.updates.add(type=1).entity.table_entry.CopyFrom(e.msg())
            write(folder, "request.txt", str(request))
            self.sh.Write(os.path.join(folder, "request.txt"))
            self.there(e)
            e.delete()

    def capabilities(self):
        with tried.thing("APIVersion()"):
            same(self.sh.APIVersion(), "1.4.0")


def arbitration(sh, address):
    client = importlib.import_module("p4runtime_sh.p4runtime").P4RuntimeClient
    first, other = sh.client, None
    with contextlib.redirect_stdout(io.StringIO()):
        e = Script(sh).entry("Ingress.forward", "Ingress.send", match={"dst_addr": "5"}, port="1")
    with tried.thing("a second client, with a lower election id, is a backup: it reads and may not write"):
        other = client(1, address, (0, 5))
        sh.client = other
        same(len(list(sh.TableEntry("Ingress.forward").read())), 0)
        grpc = importlib.import_module("grpc")
        try:
            e.insert()
            raise AssertionError("the backup wrote")
        except grpc.RpcError as error:
            same(error.code(), grpc.StatusCode.PERMISSION_DENIED)
    sh.client = first
    with tried.thing("a third, with a higher one, becomes primary, and the first is told"):
        third = client(1, address, (1, 0))
        sh.client = third
        e.insert()
        e.delete()
        told = [first.get_stream_packet("arbitration", timeout=5) for _ in range(1)]
        same([CODES[m.arbitration.status.code] for m in told], ["ALREADY_EXISTS"])
    with tried.thing("the first is primary again with an id that is higher still"):
        third.tear_down()
        same(CODES[first.get_stream_packet("arbitration", timeout=5).arbitration.status.code], "NOT_FOUND")
        first.election_id = (2, 0)
        first.handshake()
        sh.client = first
        e.insert()
        e.delete()
    with tried.thing("a client of another role is primary in it"):
        fourth = client(1, address, (0, 1), role_name="other")
        sh.client = fourth
        e.insert()
        e.delete()
        fourth.tear_down()
    sh.client = first
    if other:
        other.tear_down()


def everything(sh, address, switch, wire):
    with tried.thing("setup(): the pipeline config is fetched"):
        sh.setup(device_id=1, grpc_addr=address, election_id=(0, 10), verbose=True)
        same(sh.context.get_table("forward").preamble.name, "Ingress.forward")
    if not sh.client:
        return
    script = Script(sh)
    for part in (script.capabilities, script.exact, script.padded, script.lpm, script.ternary, script.wildcards,
                 script.default, script.attached, script.profile, script.one_shot, script.copies, script.cells):
        part()
    script.write_file(switch.folder)
    script.digests(wire)
    script.idle()
    arbitration(sh, address)
    with tried.thing("teardown()"):
        sh.teardown()
    with tried.thing("setup(): the pipeline config is given"):
        subprocess.run([SILKEN, "build", "--p4info", switch.path("p4info.txt"), EVERYTHING], check=True,
                       stdout=subprocess.DEVNULL, cwd=switch.folder)
        write(switch.folder, "device.bin", "nothing that the switch reads")
        sh.setup(device_id=1, grpc_addr=address, election_id=(3, 0), verbose=True,
                 config=sh.FwdPipeConfig(switch.path("p4info.txt"), switch.path("device.bin")))
        same(list(sh.TableEntry("Ingress.forward").read()), [])
        sh.teardown()


def packets(sh, address, wire):
    with tried.thing("setup(): with a program of packets"):
        sh.setup(device_id=1, grpc_addr=address, election_id=(0, 1), verbose=True)
    if not sh.client:
        return
    payload = (bytes.fromhex("020000000001020000000002") + b"\x90\0hello").ljust(60, b"\0")
    with tried.thing("PacketIn from the CPU port, with its metadata"):
        ears = sh.PacketIn()
        wire.socket.send(payload)
        heard = list(ears.sniff(timeout=3))
        same([([(m.metadata_id, m.value) for m in p.packet.metadata], p.packet.payload) for p in heard],
             [([(1, b"\0"), (2, b"\1")], payload)])
    with tried.thing("PacketOut to the CPU port, with its metadata"):
        sh.PacketOut(payload, egress_port="1", mark="0x010203").send()
        wire.socket.settimeout(5)
        got = wire.socket.recv(2000)
        while got[12:14] != b"\x90\0" or got == payload:
            got = wire.socket.recv(2000)
        same(got, payload[:9] + b"\1\2\3" + payload[12:])
    with tried.thing("teardown() with a listener"):
        sh.teardown()


def main():
    p = argparse.ArgumentParser(prog="shell.sh")
    p.add_argument("--shell", required=True, type=os.path.abspath)
    p.add_argument("--p4runtime", type=os.path.abspath)
    args = p.parse_args()
    why = missing()
    if why:
        sys.exit("error: " + why)
    with tempfile.TemporaryDirectory(prefix="silken-shell-") as folder:
        prepare(folder, args.shell, args.p4runtime)
        sh = importlib.import_module("p4runtime_sh.shell")
        ip("link", "set", "lo", "up")
        veth("p4rtsw1", "p4rth1")
        address, line = f"unix:{folder}/p.sock", {"port": 1, "device": "net_af_packet0,iface=p4rtsw1"}
        wire = Wire("p4rth1")
        with Switch({"program": EVERYTHING, "ports": [line, {"port": 2, "device": "net_null0,no-rx=1"}],
                     "p4runtime": {"listen": address}}) as switch:
            everything(sh, address, switch, wire)
            with tried.thing("the switch ends well"):
                same(switch.stop(), 0)
        with Switch({"program": PACKETS, "ports": [line, {"port": 64, "device": "inside"}],
                     "p4runtime": {"listen": address}}) as switch:
            packets(sh, address, wire)
            with tried.thing("the second switch ends well"):
                same(switch.stop(), 0)
    print(f"{tried.passed} passed, {tried.failed} failed", flush=True)
    sys.stdout.flush()
    os._exit(tried.failed != 0) # a thread of a client that failed may still wait


main()
