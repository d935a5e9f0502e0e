# SPDX-License-Identifier: Apache-2.0
"""The three tables of a hash that a controller may change: its fields, its algorithm, what it gives; and the status of
each mistake. What "compute" gives is held against zlib's CRC over the slices as they were written."""
import os
import random
import sys
import tempfile
import zlib

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/dynamic_hash.p4")
INVALID, NOT_FOUND, UNIMPLEMENTED = 3, 5, 12
WIDTHS = {"hdr.h.a": 32, "hdr.h.b": 32, "hdr.h.c": 16, "hdr.h.d": 16}
A, B, C, D = WIDTHS
FIELDS, ALGORITHM, COMPUTE = "Ig.whole.configure", "Ig.whole.algorithm", "Ig.whole.compute"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def part(order, start=None, length=None):
    """As clients write it: what is not given stands there without a value."""
    return {"order": order, "start_bit": start, "length": length}


def configure(c, fields, pipe=None):
    return c.update("MODIFY", FIELDS, data=fields, default=True, pipe=pipe)


def algorithm(c, action, data, pipe=None):
    return c.update("MODIFY", ALGORITHM, action=action, data=data, default=True, pipe=pipe)


def compute(c, values, pipe=None):
    return c.read(c.entry(COMPUTE, values, pipe=pipe))[0][3]["hash_value"]


def fields_of(c, pipe=None):
    return c.read(c.entry(FIELDS, default=True, pipe=pipe))[0][3]


def algorithm_of(c, pipe=None):
    _, _, action, data, _ = c.read(c.entry(ALGORITHM, default=True, pipe=pipe))[0]
    return action, data


def message(fields, values):
    """The bytes that are hashed: slices by their order, two of one order each the exclusive or of both."""
    by_order = {}
    for name, parts in fields.items():
        for p in parts:
            start, width = p["start_bit"] or 0, WIDTHS[name]
            length = min(p["length"] or width, width - start)
            if p["order"]:
                by_order.setdefault(p["order"], []).append((name, start, length))
    bits = ""
    for order in sorted(by_order):
        both = sorted(by_order[order])
        value = 0
        for name, start, length in both:
            value ^= values[name] >> start & (1 << length) - 1
        bits += "".join(f"{value:0{length}b}" for _, _, length in both)
    bits = bits.rjust((len(bits) + 7) // 8 * 8, "0")
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def some_values(rng):
    return {name: rng.getrandbits(width) for name, width in WIDTHS.items()}


def some_fields(rng):
    """Slices that do not overlap, some of them of one order."""
    fields, lengths = {}, {}
    for name, width in WIDTHS.items():
        at = rng.randrange(width)
        while at < width and rng.random() < 0.8:
            length = rng.randrange(1, width - at + 1)
            orders = [o for o, (used, n) in lengths.items() if used == length and n == 1]
            order = rng.choice(orders) if orders and rng.random() < 0.7 else 3 * len(lengths) + 1
            lengths[order] = (length, lengths.get(order, (0, 0))[1] + 1)
            fields.setdefault(name, []).append(part(order, at, length))
            at += length + rng.randrange(3)
    return fields or {A: [part(1)]}


def renumbered(fields):
    """As they are read: orders from 1 on, whole fields that are left out with order 0."""
    orders = sorted({p["order"] for parts in fields.values() for p in parts})
    place = {order: i + 1 for i, order in enumerate(orders)}
    return {name: sorted(({"start_bit": p["start_bit"], "length": p["length"], "order": place[p["order"]]}
                          for p in fields.get(name, [])), key=lambda p: p["order"]) or
            [{"start_bit": 0, "length": width, "order": 0}] for name, width in WIDTHS.items()}


def by_order(read):
    return {name: sorted(parts, key=lambda p: p["order"]) for name, parts in read.items()}


def crc32(c, fields, values):
    checks.equal(f"CRC-32 of {fields}", compute(c, values), zlib.crc32(message(fields, values)))


def configures(c):
    compiled = {name: [{"start_bit": 0, "length": width, "order": i + 1}]
                for i, (name, width) in enumerate(WIDTHS.items())}
    checks.equal("as compiled", fields_of(c), compiled)
    c.write(algorithm(c, "pre_defined", {"algorithm_name": "crc_32", "extend": False, "msb": False}))
    rng = random.Random(29)
    for _ in range(60):
        fields, values = some_fields(rng), some_values(rng)
        c.write(configure(c, fields))
        checks.equal("read back", by_order(fields_of(c)), by_order(renumbered(fields)))
        crc32(c, fields, values)
    fields = {A: [part(2)], B: [part(2)], C: [part(1, 8, 99)], D: [part(0)]}
    c.write(configure(c, fields))
    values = some_values(rng)
    crc32(c, fields, values)
    checks.equal("may change places", compute(c, {**values, A: values[B], B: values[A]}), compute(c, values))
    checks.equal("cut off at the field's end", fields_of(c)[C], [{"start_bit": 8, "length": 8, "order": 1}])
    c.write(c.update("DELETE", FIELDS, default=True))
    checks.equal("as compiled again", fields_of(c), compiled)
    checks.equal("the algorithm stays", algorithm_of(c)[1]["algorithm_name"], "CRC_32")
    c.write(configure(c, {A: [part(1)]}), configure(c, {}))
    checks.equal("an empty list: as compiled", fields_of(c), compiled)
    c.write(configure(c, {B: [part(1)]}, pipe=2))
    checks.equal("of one pipe", [fields_of(c, p)[B][0]["order"] for p in range(4)], [2, 2, 1, 2])
    c.write(c.update("DELETE", FIELDS))


def wrong_fields(c):
    now = fields_of(c)
    for what, fields in {
            "overlapping": {A: [part(1, 3, 4), part(2, 1, 9)]}, "behind the field": {A: [part(1, 32)]},
            "far behind it": {A: [part(1, 1 << 63, 1 << 63)]}, "of no bits": {A: [part(1, 0, 0)]},
            "without an order": {A: [{"start_bit": 0}]}, "three of one order": {A: [part(2, 0, 5), part(2, 5, 5),
                                                                                    part(2, 10, 5)]},
            "two lengths of one order": {A: [part(2, 0, 3), part(2, 5, 5)]}, "garbage": {A: b"\xff\xff\xff"}}.items():
        update_fails(what, INVALID, c, configure(c, fields))
    nested = pb.ContainerArray()
    nested.container.add().val.add(field_id=c.data_fields(c.table(FIELDS), None)[A]["container"][0]["singleton"]["id"],
                                   container_arr_val=b"\x0a\x00" * 1000)
    update_fails("a container in it", INVALID, c, configure(c, {A: nested.SerializeToString()}))
    unknown = pb.ContainerArray()
    unknown.container.add().val.add(field_id=77, stream=b"\0" * 8)
    update_fails("an unknown member", NOT_FOUND, c, configure(c, {A: unknown.SerializeToString()}))
    many = pb.ContainerArray()
    for _ in range(5000):
        many.container.add()
    update_fails("5,000 slices", INVALID, c, configure(c, {A: many.SerializeToString()}))
    update = configure(c, {A: [part(1)]})
    update.entity.table_entry.data.fields[0].field_id = 77
    update_fails("an unknown field", NOT_FOUND, c, update)
    update.entity.table_entry.data.fields[0].field_id = 1
    update.entity.table_entry.data.fields[0].stream = b"\0"
    update_fails("bytes in place of a list", INVALID, c, update)
    update_fails("insertion", UNIMPLEMENTED, c, c.update("INSERT", FIELDS, data={A: [part(1)]}, default=True))
    update_fails("no default entry", UNIMPLEMENTED, c, c.update("MODIFY", FIELDS, data={A: [part(1)]}))
    checks.equal("changed nothing", fields_of(c), now)


def algorithms(c):
    values = {A: 0x31323334, B: 0x35363738, C: 0x3930, D: 0x3132}
    text = b"123456789012"
    c.write(c.update("DELETE", ALGORITHM, default=True))
    compiled = algorithm_of(c)
    own = {"polynomial": 0x04c11db7, "reverse": True, "init": 0xffffffff, "final_xor": 0xffffffff, "hash_bit_width": 32}
    c.write(algorithm(c, "user_defined", {**own, "extend": False}))
    checks.equal("one's own CRC", compute(c, values), zlib.crc32(text))
    checks.equal("known by its name", algorithm_of(c)[0], "pre_defined")
    c.write(algorithm(c, "user_defined", {**own, "init": 1, "rotate": 4}))
    action, data = algorithm_of(c)
    checks.equal("read back", (action, {k: data[k] for k in own}, data["rotate"]),
                 ("user_defined", {**own, "init": 1}, 4))
    update_fails("an even polynomial", INVALID, c, algorithm(c, "user_defined", {**own, "polynomial": 2}))
    update_fails("no polynomial", INVALID, c, algorithm(c, "user_defined", {"init": 1}))
    update_fails("no such name", INVALID, c, algorithm(c, "pre_defined", {"algorithm_name": "md5"}))
    update_fails("nothing", INVALID, c, algorithm(c, "pre_defined", {}))
    update = algorithm(c, "pre_defined", {"msb": False})
    update.entity.table_entry.data.fields[0].stream = b"\0"
    update_fails("bytes in place of a bool", INVALID, c, update)
    update.entity.table_entry.data.action_id = 77
    update_fails("an unknown action", NOT_FOUND, c, update)
    c.write(algorithm(c, "pre_defined", {"algorithm_name": "crc_32"}), configure(c, {A: [part(1)], B: [part(1)]}))
    update_fails("only CRCs are symmetric", INVALID, c, algorithm(c, "pre_defined", {"algorithm_name": "identity"}))
    c.write(c.update("DELETE", FIELDS), c.update("DELETE", ALGORITHM))
    checks.equal("as compiled again", algorithm_of(c), compiled)


def computes(c):
    values = dict.fromkeys(WIDTHS, 1)
    update_fails("is only read", UNIMPLEMENTED, c, c.update("MODIFY", COMPUTE, default=True))
    fails("without a key", "UNKNOWN", c.read, c.entry(COMPUTE), codes=[UNIMPLEMENTED])
    fails("a field is missing", "UNKNOWN", c.read, c.entry(COMPUTE, {A: 1}), codes=[INVALID])
    entity = c.entry(COMPUTE, values)
    entity.table_entry.key.fields[0].exact.value = b"\1"
    fails("a short value", "UNKNOWN", c.read, entity, codes=[INVALID])
    entity = c.entry(COMPUTE, values)
    entity.table_entry.key.fields[0].field_id = 77
    fails("an unknown field", "UNKNOWN", c.read, entity, codes=[NOT_FOUND])
    fails("a key of a default entry", "UNKNOWN", c.read, key_of(c), codes=[UNIMPLEMENTED])
    for table in (FIELDS, ALGORITHM, COMPUTE):
        entity = pb.Entity()
        entity.table_usage.table_id = c.table(table)["id"]
        fails(f"no usage: {table}", "UNKNOWN", c.read_raw, entity, codes=[UNIMPLEMENTED])


def key_of(c):
    entity = c.entry(FIELDS)
    entity.table_entry.key.fields.add(field_id=1).exact.value = b"\1"
    return entity


def takes_back(c):
    c.write(configure(c, {A: [part(1)], B: [part(1)]}),
            algorithm(c, "pre_defined", {"algorithm_name": "crc_32"}, pipe=1),
            algorithm(c, "pre_defined", {"algorithm_name": "crc_32c"}, pipe=3))
    before = [(fields_of(c, p), algorithm_of(c, p)) for p in range(4)]
    fails("a list with a mistake", "UNKNOWN", c.write, configure(c, {C: [part(1)]}),
          c.update("DELETE", ALGORITHM), c.update("DELETE", FIELDS), configure(c, {A: [part(1, 99)]}),
          atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR, codes=[0, 0, 0, INVALID])
    checks.equal("is taken back", [(fields_of(c, p), algorithm_of(c, p)) for p in range(4)], before)


with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    address = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0"}], "bfrt": {"listen": address}}) as sw:
        with Controller(address) as controller:
            controller.bind()
            for test in (configures, wrong_fields, algorithms, computes, takes_back):
                test(controller)
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
