# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and attributes of tables: in which pipes an entry is, which bits of a key count, how
entries age; operations; and the status of each mistake."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

EVERYTHING, MASKS = os.path.abspath("harness/stf/everything.p4"), os.path.abspath("harness/stf/tables/masks.p4")
INVALID, NOT_FOUND, UNIMPLEMENTED, UNAVAILABLE, MAC = 3, 5, 12, 14, "hdr.ethernet.dst_addr"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def attribute(c, table):
    update = pb.Update(type=pb.Update.INSERT)
    update.entity.table_attribute.table_id = c.table(table)["id"]
    return update, update.entity.table_attribute


def ask(c, table, name):
    entity = pb.Entity()
    entity.table_attribute.table_id = c.table(table)["id"]
    getattr(entity.table_attribute, name).SetInParent()
    return getattr(c.read_raw(entity)[0].entities[0].table_attribute, name)


def scope(c, table, predef=None, groups=None):
    update, a = attribute(c, table)
    if groups is None:
        a.entry_scope.pipe_scope.predef = predef
    else:
        a.entry_scope.pipe_scope.user_defined = groups
    return update


def forward(c, what, mac, port, pipe=None):
    return c.update(what, "Ingress.forward", {MAC: mac}, "send", {"port": port}, pipe=pipe)


def ports(c, mac):
    """Of each pipe; 0 where there is no such entry."""
    got = [[e for e in c.read(c.entry("Ingress.forward", pipe=p)) if e[1].get(MAC) == mac] for p in range(4)]
    return [e[0][3]["port"] if e else 0 for e in got]


def handle_of(c, mac, pipe):
    entity, entry = pb.Entity(), c.entry("Ingress.forward", {MAC: mac}, pipe=pipe).table_entry
    entity.handle.table_id = entry.table_id
    entity.handle.key.CopyFrom(entry.key)
    request = c.request(pb.ReadRequest)
    request.target.pipe_id = pipe
    request.entities.append(entity)
    return c.read_raw(request=request)[0].entities[0].handle.handle_id


def by_handle(c, handle, pipe=None, **flags):
    entity = c.entry("Ingress.forward", pipe=pipe, **flags)
    entity.table_entry.handle_id = handle
    e = c.read_raw(entity)[0].entities[0].table_entry
    return c.decode(e)[3]["port"], e.entry_tgt.pipe_id


def handles(c):
    """A handle says which pipe its entry is in."""
    one, three = handle_of(c, 1, 1), handle_of(c, 1, 3)
    checks.equal("handles of two entries", one != three, True)
    checks.equal("found without a pipe", [by_handle(c, one), by_handle(c, three)], [(11, 1), (13, 3)])
    checks.equal("and in its pipe", by_handle(c, three, pipe=3), (13, 3))
    fails("in another pipe, on the chip", "UNKNOWN", by_handle, c, three, 1, from_hw=True, codes=[INVALID])
    fails("in another pipe", "UNKNOWN", by_handle, c, three, 1, codes=[NOT_FOUND])
    entity = c.entry("Ingress.forward", pipe=1)
    entity.table_entry.handle_id = 1
    checks.equal("the default entry's", (c.read(entity)[0][1], c.read(entity)[0][4]), ({}, False))
    for handle in (0, 0xffffffff, one | 0x0fffffff):
        fails(f"no handle: {handle}", "UNKNOWN", by_handle, c, handle, codes=[NOT_FOUND])
    fails("a key in all pipes", "UNKNOWN", c.read, c.entry("Ingress.forward", {MAC: 1}), codes=[NOT_FOUND])
    fails("a default entry in all", "UNKNOWN", c.read, c.entry("Ingress.forward", default=True, from_hw=True),
          codes=[INVALID])


def scopes(c):
    checks.equal("all pipes at first", ask(c, "Ingress.forward", "entry_scope").pipe_scope.predef, pb.Mode.ALL)
    c.write(scope(c, "Ingress.forward", pb.Mode.SINGLE))
    checks.equal("one pipe", ask(c, "Ingress.forward", "entry_scope").pipe_scope.predef, pb.Mode.SINGLE)
    c.write(forward(c, "INSERT", 1, 11, 1), forward(c, "INSERT", 1, 13, 3))
    checks.equal("an entry in each", ports(c, 1), [0, 11, 0, 13])
    update_fails("not with entries", UNAVAILABLE, c, scope(c, "Ingress.forward", pb.Mode.ALL))
    update_fails("the same key in a pipe", 6, c, forward(c, "INSERT", 1, 12, 1))
    handles(c)
    c.write(c.update("DELETE", "Ingress.forward"))
    c.write(scope(c, "Ingress.forward", groups=0x0c03))
    got = ask(c, "Ingress.forward", "entry_scope").pipe_scope
    checks.equal("sets of pipes", (got.WhichOneof("scope"), got.user_defined), ("user_defined", 0x0c03))
    c.write(forward(c, "INSERT", 2, 20, 0), forward(c, "INSERT", 2, 22, 2))
    checks.equal("an entry in each set", ports(c, 2), [20, 20, 22, 22])
    c.write(forward(c, "MODIFY", 2, 23, 3), c.update("DELETE", "Ingress.forward", {MAC: 2}, pipe=1))
    checks.equal("changed by any of its pipes", ports(c, 2), [0, 0, 23, 23])
    c.write(c.update("DELETE", "Ingress.forward"), scope(c, "Ingress.forward", groups=0x03))
    update_fails("a pipe in no set", INVALID, c, forward(c, "INSERT", 2, 20, 2))
    for groups in (0, 0x0301, 0x10, 0xff):
        update_fails(f"sets {groups:#x}", INVALID, c, scope(c, "Ingress.forward", groups=groups))
    checks.equal("is as it was", ask(c, "Ingress.forward", "entry_scope").pipe_scope.user_defined, 3)
    c.write(scope(c, "Ingress.forward", pb.Mode.ALL))
    c.write(forward(c, "INSERT", 3, 30))
    checks.equal("in all pipes again", ports(c, 3), [30] * 4)
    one = lambda **flags: c.read(c.entry("Ingress.forward", {MAC: 3}, pipe=1, **flags))  # noqa: E731
    checks.equal("one pipe's, from the chip", one(from_hw=True)[0][3]["port"], 30)
    fails("the driver's copy is one of all pipes", "UNKNOWN", one, codes=[NOT_FOUND])
    c.write(c.update("DELETE", "Ingress.forward"))
    c.write(scope(c, "Ingress.pairs", pb.Mode.SINGLE))
    checks.equal("a register's scope", ask(c, "Ingress.pairs", "entry_scope").pipe_scope.predef, pb.Mode.SINGLE)
    c.write(scope(c, "Ingress.pairs", pb.Mode.ALL))
    for table in ("Ingress.counts", "Ingress.profile"):
        update_fails(f"no scope: {table}", UNIMPLEMENTED, c, scope(c, table, pb.Mode.ALL))
    update, a = attribute(c, "Ingress.forward")
    a.entry_scope.gress_scope.predef = pb.Mode.ALL
    update_fails("half a scope", INVALID, c, update)


def idle(c, name, **fields):
    update, a = attribute(c, name)
    a.idle_table.SetInParent()
    for key, value in fields.items():
        setattr(a.idle_table, key, value)
    return update


def ageing(c, deaf):
    c.write(idle(c, "Ingress.forward", enable=True, idle_table_mode=pb.IdleTable.IDLE_TABLE_POLL_MODE))
    got = ask(c, "Ingress.forward", "idle_table")
    checks.equal("polled", (got.enable, got.idle_table_mode), (True, pb.IdleTable.IDLE_TABLE_POLL_MODE))
    notify = {"enable": True, "idle_table_mode": pb.IdleTable.IDLE_TABLE_NOTIFY_MODE, "ttl_query_interval": 10,
              "max_ttl": 900, "min_ttl": 20}
    c.write(idle(c, "Ingress.forward", **notify))
    got = ask(c, "Ingress.forward", "idle_table")
    checks.equal("notified", {k: getattr(got, k) for k in notify}, notify)
    update_fails("a table that does not age", UNIMPLEMENTED, c, idle(c, "Ingress.filter", **notify))
    fails("who has not subscribed to it", "UNKNOWN", deaf.write, idle(c, "Ingress.forward", **notify), codes=[INVALID],
          p4_name="everything")


def operation(c, table, name):
    update = pb.Update(type=pb.Update.INSERT)
    update.entity.table_operation.table_id = c.table(table)["id"]
    update.entity.table_operation.table_operations_type = name
    return update


def operations(c):
    c.write(operation(c, "Ingress.counts", "Sync"), operation(c, "Ingress.pairs", "Sync"), operation(c,
                                                                                                     "Ingress.forward",
                                                                                                     "SyncCounters"),
            operation(c, "Ingress.filter", "SyncRegisters"), operation(c, "Ingress.forward", "UpdateHitState"))
    for table, name in (("Ingress.counts", "SyncRegisters"), ("Ingress.filter", "SyncCounters"), ("Ingress.filter",
                                                                                                  "UpdateHitState"),
                        ("Ingress.forward", ""), ("Ingress.of_bytes", "Sync")):
        checks.has("by its name", update_fails(f"{name} of {table}", UNIMPLEMENTED, c, operation(c, table, name)),
                   f"no operation '{name}'")
    unknown = operation(c, "Ingress.counts", "Sync")
    unknown.entity.table_operation.table_id = 77
    update_fails("an unknown table", NOT_FOUND, c, unknown)
    fails("an operation is not read", "UNKNOWN", c.read_raw, unknown.entity, codes=[UNIMPLEMENTED])


def hit_states(c):
    def state():
        return c.read(c.entry("Ingress.forward", {MAC: 5}))[0][3]["$ENTRY_HIT_STATE"]
    c.write(forward(c, "INSERT", 5, 50))
    checks.equal("never matched", state(), "ENTRY_IDLE")
    c.write(c.update("MODIFY", "Ingress.forward", {MAC: 5}, data={"$ENTRY_HIT_STATE": "ENTRY_ACTIVE"}))
    checks.equal("set", (state(), ports(c, 5)), ("ENTRY_ACTIVE", [50] * 4))
    update_fails("no such state", INVALID, c, c.update("MODIFY", "Ingress.forward", {MAC: 5},
                                                       data={"$ENTRY_HIT_STATE": "ENTRY_BUSY"}))
    c.write(operation(c, "Ingress.forward", "UpdateHitState"))
    checks.equal("no packet since", state(), "ENTRY_IDLE")
    c.write(c.update("DELETE", "Ingress.forward"))


def others(c):
    for field in ("dyn_key_mask", "dyn_hashing", "byte_count_adj", "port_status_notify", "intvl_ms",
                  "pre_device_config",
                  "selector_update_notify"):
        update, a = attribute(c, "Ingress.forward")
        getattr(a, field).SetInParent()
        update_fails(f"no attribute {field}", UNIMPLEMENTED, c, update)
        fails(f"nor to read: {field}", "UNKNOWN", c.read_raw, update.entity, codes=[UNIMPLEMENTED])
    update, a = attribute(c, "Ingress.forward")
    update_fails("an empty attribute", INVALID, c, update)
    fails("nothing to read", "UNKNOWN", c.read_raw, update.entity, codes=[INVALID])
    a.table_id = 77
    update_fails("of an unknown table", NOT_FOUND, c, update)


def masks(c, **by_name):
    update, a = attribute(c, "Ingress.wide")
    keys = {k["name"]: k for k in c.table("Ingress.wide")["key"]}
    for name, mask in by_name.items():
        field = next(k for n, k in keys.items() if n.startswith(f"hdr.t.{name}"))
        a.dyn_key_mask.fields.add(field_id=field["id"], mask=mask)
    a.dyn_key_mask.SetInParent()
    return update


def key_masks(c):
    def now():
        return [f.mask for f in ask(c, "Ingress.wide", "dyn_key_mask").fields]
    whole = [b"\xff", b"\xff" * 16, b"\xff"]
    checks.equal("whole keys at first", now(), whole)
    c.write(masks(c, a=b"\xf0"))
    checks.equal("a mask", now(), [b"\xf0"] + whole[1:])
    names = [k["name"] for k in c.table("Ingress.wide")["key"]]
    c.write(c.update("INSERT", "Ingress.wide", dict(zip(names, (0x10, 1, 2))), "set", {"n": 1}))
    update_fails("a bit that does not count", INVALID, c, c.update("INSERT", "Ingress.wide", dict(zip(names, (0x11, 1,
                                                                                                              2))),
                                                                   "set", {"n": 1}))
    update_fails("not with entries", UNAVAILABLE, c, masks(c))
    c.write(c.update("DELETE", "Ingress.wide"), masks(c))
    checks.equal("taken back", now(), whole)
    update_fails("a short mask", INVALID, c, masks(c, b=b"\xff"))
    wrong = masks(c, a=b"\x0f")
    wrong.entity.table_attribute.dyn_key_mask.fields[0].field_id = 77
    update_fails("an unknown field", NOT_FOUND, c, wrong)
    checks.equal("changed nothing", now(), whole)


def run(program, *parts):
    with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
        address = f"unix:{folder}/b.sock"
        with Switch({"program": program, "ports": [{"port": 1, "device": "net_null0"}],
                     "bfrt": {"listen": address}}) as sw:
            with Controller(address, idletimeout=True) as controller, Controller(address, client=2) as deaf:
                controller.bind()
                for part in parts:
                    part(controller, deaf) if part is ageing else part(controller)
            checks.equal("the switch ends well", sw.stop(), 0)


run(EVERYTHING, scopes, ageing, operations, hit_states, others)
run(MASKS, key_masks)
checks.end()
