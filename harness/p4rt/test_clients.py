# SPDX-License-Identifier: Apache-2.0
"""P4Runtime's clients and `silken run`: streams, who is primary, roles, what becomes of them when a primary comes and
goes; the program that clients get, and what they may do with it."""
import json
import os
import subprocess
import sys
import tempfile

from google.protobuf import text_format

sys.path[:0] = ["harness/p4rt", "harness/control"]
from client import Client, Expect, call, info_pb, pb  # noqa: E402
from live import SILKEN, Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
OK, NOT_FOUND, EXISTS = 0, 5, 6
BIG = 2 ** 64 # an election id of more than 64 bits

checks = Checks()
fails = Expect(checks).fails


def default_put(c, **fields):
    """A write that changes nothing."""
    c.write(c.update("MODIFY", c.entry("Ingress.filter", is_default_action=True)), **fields)


def primaries(address):
    with Client(address, stream=False) as c:
        checks.equal("its version", call(c.method["Capabilities"], pb.CapabilitiesRequest()).p4runtime_api_version,
                     "1.4.0")
        fails("a write before anybody is primary", "PERMISSION_DENIED", default_put, c, election=1)
    with Client(address) as c:
        checks.equal("without an election id", (c.first.status.code, c.first.HasField("election_id")),
                     (NOT_FOUND, False))
        with Client(address, BIG + 5) as first:
            checks.equal("the first is primary", (first.first.status.code, first.first.election_id.high,
                                                  first.first.election_id.low, first.first.device_id),
                         (OK, 1, 5, 1))
            checks.equal("the other is told", c.status(), (EXISTS, BIG + 5))
            default_put(first)
            fails("a write with another election id", "PERMISSION_DENIED", default_put, first, election=4)
            fails("a write of a backup", "PERMISSION_DENIED", default_put, c)
            with Client(address, BIG + 4) as lower:
                checks.equal("a lower id", lower.first.status.code, EXISTS)
                fails("another of the same id", "INVALID_ARGUMENT", Client, address, BIG + 4)
                told = lower.arbitrate(BIG + 6)
                checks.equal("a client takes over", (told.status.code, told.election_id.low), (OK, 6))
                checks.equal("the one before is told", first.status(), (EXISTS, BIG + 6))
                checks.equal("and the others", c.status(), (EXISTS, BIG + 6))
                fails("the one before writes", "PERMISSION_DENIED", default_put, first)
                default_put(lower, election=BIG + 6)
                told = lower.arbitrate(BIG + 2)
                checks.equal("it steps down", (told.status.code, told.election_id.low), (NOT_FOUND, 6))
                checks.equal("all are told", (first.status(), c.status()), 2 * ((NOT_FOUND, BIG + 6),))
                told = first.arbitrate(BIG + 5)
                checks.equal("an id below the highest is not enough", told.status.code, NOT_FOUND)
                told = lower.arbitrate(BIG + 6)
                checks.equal("the highest itself is", told.status.code, OK)
                checks.equal("all are told again", (first.status(), c.status()), 2 * ((EXISTS, BIG + 6),))
            checks.equal("the primary is gone", (first.status(), c.status()), 2 * ((NOT_FOUND, BIG + 6),))
            fails("nobody writes", "PERMISSION_DENIED", default_put, first, election=BIG + 6)


def zero(address):
    with Client(address, 0, role="zero") as c:
        checks.equal("an election id of 0 is one", c.first.status.code, OK)
        default_put(c)
        fails("another of 0", "INVALID_ARGUMENT", Client, address, 0, role="zero")
        c.arbitrate(None)
        fails("without one it is not primary", "PERMISSION_DENIED", default_put, c)


def roles(address):
    with Client(address, 7, role="one") as one, Client(address, 7, role="two") as two:
        checks.equal("each role has its primary", (one.first.status.code, two.first.status.code,
                                                   two.first.role.name), (OK, OK, "two"))
        default_put(one)
        default_put(two)
        fails("a role that nobody has", "NOT_FOUND", default_put, one, role="three")
        fails("another role on the stream", "FAILED_PRECONDITION", one.arbitrate, 7, role="two")
    with Client(address, 8, role="two") as two:
        fails("another device on the stream", "FAILED_PRECONDITION", two.arbitrate, 9, device=2)
    fails("another device", "NOT_FOUND", Client, address, 1, device=2)
    fails("device 0", "NOT_FOUND", Client, address, 1, device=0)
    fails("a role with a configuration", "INVALID_ARGUMENT", configured, address)
    fails("a long name", "INVALID_ARGUMENT", Client, address, 1, role="x" * 300)


def configured(address):
    with Client(address, stream=False) as c:
        c.open()
        update = pb.MasterArbitrationUpdate(device_id=1, role=pb.Role(name="r", config=pb.Any(type_url="x")))
        c.send(arbitration=update)
        c.next()


def many(address):
    """As many clients as there is room for, and one more; as many roles, and one more."""
    with Client(address) as first: # all over one connection: those are fewer
        clients = [Client(address, channel=first.channel) for _ in range(63)]
        fails("one too many", "RESOURCE_EXHAUSTED", Client, address, channel=first.channel)
        checks.equal("the others go on", clients[-1].arbitrate(None).status.code, NOT_FOUND)
    for i in range(20):
        try:
            Client(address, 1, role=f"role {i}").close()
        except Exception as e: # pylint: disable=broad-except
            checks.equal("roles are bounded", e.code, "RESOURCE_EXHAUSTED")
            break
    else:
        checks.equal("roles are bounded", "no", "yes")


def garbage(address):
    with Client(address, stream=False) as c:
        for method in ("Write", "SetForwardingPipelineConfig", "GetForwardingPipelineConfig"):
            fails(f"garbage in {method}", "INTERNAL", call, c.method[method], b"\x0a\xff\xff\xff\xff\x0fx")
        fails("garbage in Read", "INTERNAL", c.read_raw, b"\xff\xff\xff")
        c.open()
        c.requests.put(b"\xff\xff")
        fails("garbage on a stream", "INTERNAL", c.next)
        c.open()
        c.send(packet=pb.PacketOut(payload=b"x"))
        error = c.next().error
        checks.equal("a packet before anything else", (error.canonical_code, error.WhichOneof("details")),
                     (7, "packet_out"))
        c.send()
        checks.equal("an empty message", (c.next().error.canonical_code), 12)


def programs(address):
    with Client(address, BIG + 9) as c:
        info = c.info
        checks.equal("its tables", sorted(t.preamble.name for t in info.tables),
                     ["Ingress.filter", "Ingress.forward", "Ingress.prefixes", "Ingress.profiled", "Ingress.selected"])
        checks.equal("no cookie yet", c.get_config().config.HasField("cookie"), False)
        c.set_config("VERIFY", info)
        c.set_config("RECONCILE_AND_COMMIT", info, cookie=77)
        answer = c.get_config(response_type=pb.GetForwardingPipelineConfigRequest.COOKIE_ONLY).config
        checks.equal("the cookie alone", (answer.cookie.cookie, answer.HasField("p4info")), (77, False))
        checks.equal("the program is the same", c.get_config().config.p4info, info)
        fails("no program", "INVALID_ARGUMENT", c.set_config, "VERIFY")
        fails("no action", "INVALID_ARGUMENT", c.set_config, "UNSPECIFIED", info)
        fails("nothing was saved", "INVALID_ARGUMENT", c.set_config, "COMMIT")
        fails("saving", "UNIMPLEMENTED", c.set_config, "VERIFY_AND_SAVE", info)
        other = type(info)()
        other.CopyFrom(info)
        other.tables[0].size += 1
        said = fails("another program", "UNIMPLEMENTED", c.set_config, "VERIFY_AND_COMMIT", other)
        checks.has("says what to do", said, "silken ctl program")
        checks.equal("nothing changed", c.get_config().config.cookie.cookie, 77)
        fails("not primary", "PERMISSION_DENIED", c.set_config, "VERIFY", info, election=1)
        fails("another device", "NOT_FOUND", c.set_config, "VERIFY", info, device_id=3)
        fails("a program of another device", "NOT_FOUND", c.get_config, device_id=3)
        fails("reading another device", "NOT_FOUND", c.read, c.entry(), device=3)


def binary(folder):
    """The P4Info in both forms, of programs with every kind of object, and what cannot be written."""
    text, octets = os.path.join(folder, "i.txt"), os.path.join(folder, "i.bin")
    build = lambda *words: subprocess.run([SILKEN, "build", "-o", os.path.join(folder, "o.so"), *words], text=True,  # noqa: E731
                                          capture_output=True, check=False)
    for program in ("p4/l2/l2.p4", "harness/stf/everything.p4", "harness/p4rt/packets.p4"):
        done = build("--p4info", text, "--p4info-binary", octets, program)
        with open(text, encoding="utf-8") as t, open(octets, "rb") as o:
            info = info_pb.P4Info.FromString(o.read())
            checks.equal(f"{program}: both forms", (done.returncode, info), (0, text_format.Parse(t.read(), info_pb.P4Info())))
        checks.true("with objects", len(info.tables) + len(info.controller_packet_metadata) > 0)
    os.remove(octets)
    checks.equal("alone", (build("--p4info-binary", octets, "p4/l2/l2.p4").returncode, os.path.getsize(octets) > 0), (0, True))
    for what, words, sentence in (
            ("no such folder", ["--p4info-binary", f"{folder}/no/i.bin", "p4/l2/l2.p4"], "cannot write"),
            ("the program itself", ["--p4info-binary", octets, octets], "it would be overwritten"),
            ("text to standard output", ["--p4info", "-", "--p4info-binary", octets, "p4/l2/l2.p4"], "needs a file"),
            ("no compilation", ["--parse-only", "--p4info-binary", octets, "p4/l2/l2.p4"], "whole compilation")):
        done = build(*words)
        checks.true(what, done.returncode != 0 and sentence in done.stderr and done.stdout == "")


def configurations(folder):
    """Each mistake in "p4runtime" is one sentence, before anything runs."""
    for section, wanted in (({"listen": "0.0.0.0:9559"}, '"public": true'),
                            ({"listen": "0.0.0.0:9559", "public": True}, "need certificates"),
                            ({"listen": "nowhere"}, "is neither ADDRESS:PORT"), ({"device_id": 0}, "device_id"),
                            ({"device_id": "x"}, "device_id"), ({"certificate": "c.pem"}, "TLS needs"),
                            ({"ports": 1}, "ports")):
        path = f"{folder}/wrong.json"
        with open(path, "w") as f:
            json.dump({"program": PROGRAM, "ports": [], "p4runtime": section}, f)
        done = subprocess.run([SILKEN, "run", "-c", path], capture_output=True, text=True, timeout=60, check=False)
        checks.true(f"configuration {section}", done.returncode and wanted in done.stderr and "p4runtime" in done.stderr,
                    done.stderr)


with tempfile.TemporaryDirectory(prefix="silken-p4rt-") as folder:
    configurations(folder)
    binary(folder)
    ADDRESS = f"unix:{folder}/p.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0"}],
                 "p4runtime": {"listen": ADDRESS}}) as sw:
        checks.has("says where", sw.said(), f"p4runtime {ADDRESS}")
        for part in (primaries, zero, roles, programs, garbage, many):
            part(ADDRESS)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
