# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and the groups of an action selector: their members and status, the entries that name
them, what a hash chooses, lists of updates that are taken back, and the status of each mistake."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch  # noqa: E402

PROGRAM = os.path.abspath("harness/stf/everything.p4")
OK, INVALID, NOT_FOUND, EXISTS, EXHAUSTED, UNIMPLEMENTED = 0, 3, 5, 6, 8, 12
GROUP, MEMBER, STATUS, SIZE = "$SELECTOR_GROUP_ID", "$ACTION_MEMBER_ID", "$ACTION_MEMBER_STATUS", "$MAX_GROUP_SIZE"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


def single(c, mode):
    update = pb.Update(type=pb.Update.INSERT)
    update.entity.table_attribute.table_id = c.table("Ingress.selected")["id"]
    update.entity.table_attribute.entry_scope.pipe_scope.predef = mode
    c.write(update)


def group(c, what, number, members=None, status=None, pipe=None, **more):
    data = {}
    if members is not None:
        data = {MEMBER: members, STATUS: [True] * len(members) if status is None else status}
    return c.update(what, "Ingress.selector", None if number is None else {GROUP: number}, data={**data, **more},
                    pipe=pipe)


def groups(c, **more):
    return {e[1][GROUP]: (e[3][MEMBER], e[3][STATUS], e[3][SIZE]) for e in c.read(c.entry("Ingress.selector", **more))}


def chosen(c, number, hash_value):
    return c.read(c.entry("Ingress.selector_get_member", {GROUP: number, "hash_value": hash_value}))[0][3][MEMBER]


def entry(c, what, i, **data):
    return c.update(what, "Ingress.selected", {"hdr.order.i": (i, 0xff), "$MATCH_PRIORITY": 1}, data=data)


def usage(c):
    entity = pb.Entity()
    entity.table_usage.table_id = c.table("Ingress.selector")["id"]
    return c.read_raw(entity)[0].entities[0].table_usage.usage


with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    with Switch({"program": PROGRAM, "ports": [{"port": 1, "device": "net_null0,no-rx=1"}],
                 "bfrt": {"listen": ADDRESS}}) as sw:
        with Controller(ADDRESS) as c:
            c.bind()
            c.write(*[c.update("INSERT", "Ingress.members", {MEMBER: m}, "put", {"value": 100 + m}) for m in range(1,
                                                                                                                   10)])
            checks.equal("none at first", (groups(c), usage(c)), ({}, 0))
            c.write(group(c, "INSERT", 1, [1, 2, 3], [True, False, True]), group(c, "INSERT", 2, [4], **{SIZE: 2}))
            checks.equal("two groups", groups(c), {1: ([1, 2, 3], [True, False, True], 8), 2: ([4], [True], 2)})
            checks.equal("usage", usage(c), 2)
            checks.equal("one by its key", groups(c, key={GROUP: 2}), {2: ([4], [True], 2)})
            said = update_fails("in one pipe", INVALID, c, group(c, "MODIFY", 1, [1], pipe=1))
            checks.has("which has the groups of all", said, "has the same groups in all pipes")
            checks.equal("it has them still", groups(c, pipe=1)[1], ([1, 2, 3], [True, False, True], 8))
            single(c, pb.Mode.SINGLE)
            c.write(group(c, "MODIFY", 2, [5], pipe=1))
            checks.equal("groups of single pipes", [groups(c, pipe=p)[2][0] for p in range(4)], [[4], [5], [4], [4]])
            c.write(group(c, "MODIFY", 2, [4], pipe=1))
            single(c, pb.Mode.ALL)
            c.write(group(c, "MODIFY", 1, [3, 2]))
            checks.equal("other members", groups(c)[1], ([3, 2], [True, True], 8))
            c.write(group(c, "MODIFY", 1, **{SIZE: 4}))
            checks.equal("another size, the same members", groups(c)[1], ([3, 2], [True, True], 4))
            reply = c.write(group(c, "INSERT_OR_MODIFY", 1, [5]), group(c, "INSERT_OR_MODIFY", 3, [6, 7]))
            checks.equal("INSERT_OR_MODIFY", ([(s.code, s.canonical_code) for s in reply.status], groups(c)[1][0],
                                              groups(c)[3][0]),
                         ([(EXISTS, OK)], [5], [6, 7]))
            checks.equal("what hashes choose", {chosen(c, 3, h) for h in range(50)}, {6, 7})
            c.write(group(c, "MODIFY", 3, [6, 7], [True, False]))
            checks.equal("of those that are up", {chosen(c, 3, h) for h in range(50)}, {6})
            c.write(entry(c, "INSERT", 5, **{GROUP: 3}))
            checks.equal("an entry names a group", c.read(c.entry("Ingress.selected"))[0][3], {GROUP: 3})
            update_fails("a group in use", EXISTS, c, group(c, "DELETE", 3))
            update_fails("all of them", EXISTS, c, group(c, "DELETE", None))
            update_fails("a member in use", EXISTS, c, c.update("DELETE", "Ingress.members", {MEMBER: 6}))
            update_fails("the last that is up", INVALID, c, group(c, "MODIFY", 3, [6], [False]))
            update_fails("no such group", NOT_FOUND, c, entry(c, "INSERT", 6, **{GROUP: 77}))
            update_fails("a group that exists", EXISTS, c, group(c, "INSERT", 1, [1]))
            update_fails("a group that does not", NOT_FOUND, c, group(c, "MODIFY", 9, [1]))
            update_fails("nor is deleted", NOT_FOUND, c, group(c, "DELETE", 9))
            update_fails("no such member", INVALID, c, group(c, "INSERT", 9, [77]))
            update_fails("members without status", INVALID, c, group(c, "INSERT", 9, [1, 2], [True]))
            update_fails("too many members", INVALID, c, group(c, "INSERT", 9, [1] * 9))
            update_fails("no key", INVALID, c, group(c, "INSERT", None, [1]))
            update_fails("MODIFY_INC", UNIMPLEMENTED, c, group(c, "MODIFY_INC", 1, [1]))
            wrong = group(c, "INSERT", 9, [1])
            wrong.entity.table_entry.data.fields[0].field_id = 77
            update_fails("an unknown field", NOT_FOUND, c, wrong)
            wrong.entity.table_entry.data.fields[0].field_id = 65539
            wrong.entity.table_entry.data.fields[0].stream = b"\0\0\0\1"
            update_fails("a number for a list", INVALID, c, wrong)
            wrong.entity.table_entry.is_default_entry = True
            update_fails("a default entry", UNIMPLEMENTED, c, wrong)
            said = fails("a full table", "UNKNOWN", c.write, group(c, "INSERT", 4, [1]), group(c, "INSERT", 5, [1]),
                         codes=[OK, EXHAUSTED])
            checks.has("which", said, "pipe.Ingress.selector")
            fails("a read of no such group", "UNKNOWN", c.read, c.entry("Ingress.selector", {GROUP: 9}),
                  codes=[NOT_FOUND])
            fails("a choice in none", "UNKNOWN", chosen, c, 9, 0, codes=[NOT_FOUND])
            fails("all choices", "UNKNOWN", c.read, c.entry("Ingress.selector_get_member"), codes=[UNIMPLEMENTED])
            update_fails("a choice is not written", UNIMPLEMENTED, c,
                         c.update("MODIFY", "Ingress.selector_get_member", {GROUP: 1, "hash_value": 1},
                                  data={MEMBER: 1}))
            before = groups(c)
            fails("a list that fails", "UNKNOWN", c.write, group(c, "MODIFY", 1, [8, 9]), group(c, "DELETE", 2),
                  group(c, "INSERT", 6, [2]),
                  entry(c, "DELETE", 5), group(c, "DELETE", None), group(c, "INSERT", 7, [3]), group(c, "MODIFY", 1,
                                                                                                     [1]),
                  codes=[OK] * 6 + [NOT_FOUND], atomicity=pb.WriteRequest.ROLLBACK_ON_ERROR)
            checks.equal("is taken back", groups(c), before)
            checks.equal("with the entry", c.read(c.entry("Ingress.selected"))[0][3], {GROUP: 3})
            c.write(entry(c, "DELETE", 5), group(c, "DELETE", None))
            checks.equal("all are gone", groups(c), {})
        checks.equal("the switch ends well", sw.stop(), 0)
checks.end()
