# SPDX-License-Identifier: Apache-2.0
"""A controller of BF Runtime and the traffic manager: pools, queues, limits and speeds of ports, drops."""
import os
import sys
import tempfile

sys.path[:0] = ["harness/brt", "harness/control"]
import live  # noqa: E402
from controller import Controller, Expect, pb  # noqa: E402
from live import Checks, Switch, Wire, veth  # noqa: E402

PROGRAM = os.path.abspath("p4/l2/l2.p4")
TOFINO_2 = os.path.abspath("harness/stf/externs/tofino2.p4")
INVALID, NOT_FOUND, UNIMPLEMENTED, UNAVAILABLE = 3, 5, 12, 14
ROLLBACK = pb.WriteRequest.Atomicity.Value("ROLLBACK_ON_ERROR")
SERVED = ["cfg", "counter.eg_port", "counter.pool", "counter.queue", "pool.app", "pool.cfg", "port.buffer", "port.cfg",
          "port.sched_cfg", "queue.buffer", "queue.color", "queue.map", "queue.sched_cfg"]
POOL, LIMITED, UNLIMITED = "EG_APP_POOL_1", "color_drop_enable", "color_drop_disable"

checks = Checks()
fails, update_fails = Expect(checks).fails, Expect(checks).update_fails


class Chip:
    """A controller of one chip's tables."""

    def __init__(self, c, prefix):
        self.c, self.prefix = c, prefix

    def name(self, table):
        return f"{self.prefix}.tm.{table}"

    def update(self, table, key=None, action=None, what="MODIFY", pipe=None, **data):
        return self.c.update(what, self.name(table), key, action, data, pipe=pipe)

    def queue(self, table, group=0, queue=16, action=None, pipe=0, **more):
        """Of a Tofino's port 2: its queue 0."""
        return self.update(table, {"pg_id": group, "pg_queue": queue}, action, pipe=pipe, **more)

    def read(self, table, key=None, pipe=None):
        (_, _, action, data, _), = self.c.read(self.c.entry(self.name(table), key, pipe=pipe))
        return {**data, **({"action": action} if action else {})}

    def read_queue(self, table, group=0, queue=16, pipe=0):
        return self.read(table, {"pg_id": group, "pg_queue": queue}, pipe)

    def refuses(self, cases):
        """Each an update and words of its error, of which one is the field's name."""
        for what, status, part, update in cases:
            checks.has(what, update_fails(what, status, self.c, update), part)


def listed(chip, count, served):
    """Tables that are not there are listed, with their keys, and named in their calls' errors."""
    c, names = chip.c, [n for n in chip.c.tables if n.startswith(chip.prefix + ".tm.")]
    checks.equal("tables", (len(names), sorted(n for n in names if c.tables[n]["data"] or c.tables[n].get("action_specs"))),
                 (count, sorted(map(chip.name, served))))
    for name in sorted(set(names) - set(map(chip.name, served))):
        checks.has(name, fails("it is not read", "UNKNOWN", c.read, c.entry(name), codes=[UNIMPLEMENTED]), name)
        checks.has(name, update_fails("nor written", UNIMPLEMENTED, c, c.update("DELETE", name)), name)


def switch_queue(switch, port, qid):
    """What the switch says of a queue, in its own words."""
    found = next(q for q in switch.ask("queues")["queues"] if q["port"] == port)
    return next((s for s in found["schedule"] if s["qid"] == qid), None)


def ports(chip, switch):
    checks.equal("a port", chip.read("port.cfg", {"dev_port": 130}),
                 {"pg_id": 0, "pg_port_nr": 2, "port_queues_count": 8, "ingress_qid_map": list(range(8)),
                  "egress_qid_queues": list(range(16, 24)), "copy_to_cpu": False})
    checks.equal("the CPU's", chip.read("port.cfg", {"dev_port": 64})["copy_to_cpu"], True)
    checks.equal("a queue", chip.read_queue("queue.map", 17, 31, pipe=3),
                 {"dev_port": 3 * 128 + 71, "queue_nr": 7, "ingress_qid_max": 7, "ingress_qid_count": 1,
                  "ingress_qid_list": [7]})
    checks.equal("all queues of a pipe", len(chip.c.read(chip.c.entry(chip.name("queue.map"), pipe=1))), 576)
    checks.equal("all ports", len(chip.c.read(chip.c.entry(chip.name("port.buffer")))), 288)
    checks.equal("the device", chip.read("cfg"), {"timestamp_shift_bits": 0, "cell_size_bytes": 80})
    port = lambda table, number=1, **data: chip.update(table, {"dev_port": number}, **data)  # noqa: E731
    chip.c.write(port("port.buffer", eg_limit_cells=700, eg_hysteresis_cells=0),
                 port("port.sched_cfg", scheduling_speed="BF_SPEED_25G", max_rate_enable=False))
    checks.equal("a port's limit and speed",
                 (chip.read("port.buffer", {"dev_port": 1}), chip.read("port.sched_cfg", {"dev_port": 1})),
                 ({"ct_enable": False, "eg_limit_cells": 700, "eg_hysteresis_cells": 0},
                  {"max_rate_enable": False, "scheduling_speed": "BF_SPEED_25G"}))
    found = switch.ask("queues")["queues"][0]
    checks.equal("as the switch has it", [found[k] for k in ("port", "speed", "limit")], [1, 25000, 700])
    checks.equal("a speed without a name", chip.read("port.sched_cfg", {"dev_port": 2}), {"max_rate_enable": False})
    fails("taken back", "UNKNOWN", chip.c.write, port("port.sched_cfg", 2, scheduling_speed="BF_SPEED_100G"),
          port("port.buffer", 2, eg_limit_cells=9), port("port.buffer", 2, skid_limit_cells=1), atomicity=ROLLBACK,
          codes=[0, 0, UNIMPLEMENTED])
    checks.equal("the speed that has no name, too",
                 [q.get("limit") or q["speed"] for q in switch.ask("queues")["queues"] if q["port"] == 2], [1])
    chip.refuses((
        ("no such port", INVALID, "dev_port", port("port.buffer", 72, eg_limit_cells=9)),
        ("ingress", UNIMPLEMENTED, "ig_limit_cells", port("port.buffer", ig_limit_cells=9)),
        ("cut through", UNIMPLEMENTED, "uc_ct_limit_cells", port("port.buffer", uc_ct_limit_cells=9)),
        ("skid", UNIMPLEMENTED, "skid_limit_cells", port("port.buffer", skid_limit_cells=9)),
        ("hysteresis", UNIMPLEMENTED, "eg_hysteresis_cells", port("port.buffer", eg_hysteresis_cells=8)),
        ("of ingress", UNIMPLEMENTED, "ig_hysteresis_cells", port("port.buffer", ig_hysteresis_cells=8)),
        ("what is only read", UNIMPLEMENTED, "ct_enable", port("port.buffer", ct_enable=True)),
        ("a rate", UNIMPLEMENTED, "max_rate_enable", port("port.sched_cfg", max_rate_enable=True)),
        ("a speed that it does not know", INVALID, "scheduling_speed",
         port("port.sched_cfg", scheduling_speed="BF_SPEED_400G")),
        ("a table that is only read", UNIMPLEMENTED, "tf1.tm.port.cfg", port("port.cfg", copy_to_cpu=True)),
        ("a queue's port", UNIMPLEMENTED, "tf1.tm.queue.map", chip.queue("queue.map", dev_port=1)),
        ("shifted times", UNIMPLEMENTED, "timestamp_shift_bits", chip.update("cfg", timestamp_shift_bits=4)),
        ("the size of cells", UNIMPLEMENTED, "cell_size_bytes", chip.update("cfg", cell_size_bytes=4))))
    chip.c.write(chip.update("port.buffer", what="DELETE"), port("port.sched_cfg", what="DELETE"))
    checks.equal("as at first", (chip.read("port.buffer", {"dev_port": 1})["eg_limit_cells"],
                                 chip.read("port.sched_cfg", {"dev_port": 1})["scheduling_speed"]), (0, "BF_SPEED_NONE"))


def pools(chip, switch):
    of = lambda table, action=None, pool=POOL, **data: chip.update(table, {"pool": pool}, action, **data)  # noqa: E731
    checks.equal("pools at first", (chip.read("pool.cfg", {"pool": POOL}), chip.read("pool.app", {"pool": POOL})),
                 ({"size_cells": 0}, {"action": UNLIMITED}))
    chip.c.write(of("pool.cfg", size_cells=1000), of("pool.app", LIMITED, green_limit_cells=900, yellow_limit_cells=600,
                                                     red_limit_cells=300))
    checks.equal("a pool", [e[1:4] for e in chip.c.read(chip.c.entry(chip.name("pool.cfg"))) if e[3]["size_cells"]],
                 [({"pool": POOL}, None, {"size_cells": 1000})])
    chip.c.write(of("pool.app", LIMITED, red_limit_cells=200))
    checks.equal("its limits", chip.read("pool.app", {"pool": POOL}),
                 {"green_limit_cells": 900, "yellow_limit_cells": 600, "red_limit_cells": 200, "action": LIMITED})
    checks.equal("as the switch has it", switch.ask("queues")["pools"],
                 [{"id": 1, "cells": 1000, "used": 0, "red": 200, "yellow": 600, "green": 900}])
    fails("taken back", "UNKNOWN", chip.c.write, of("pool.app", UNLIMITED), of("pool.cfg", size_cells=5),
          of("pool.cfg", pool="IG_APP_POOL_0", size_cells=5), atomicity=ROLLBACK, codes=[0, 0, UNIMPLEMENTED])
    checks.equal("the pool is as before", (chip.read("pool.cfg", {"pool": POOL}),
                                           chip.read("pool.app", {"pool": POOL})["yellow_limit_cells"]),
                 ({"size_cells": 1000}, 600))
    chip.refuses((
        ("a pool of ingress", UNIMPLEMENTED, "IG_APP_POOL_0", of("pool.app", LIMITED, "IG_APP_POOL_0", red_limit_cells=1)),
        ("the skid pool", UNIMPLEMENTED, "IG_SKID_POOL", of("pool.cfg", pool="IG_SKID_POOL", size_cells=1)),
        ("no pool", INVALID, "pool", of("pool.cfg", pool="EG_APP_POOL_4", size_cells=1)),
        ("less than its limits", INVALID, "size_cells", of("pool.cfg", size_cells=899)),
        ("limits that do not ascend", INVALID, "red_limit_cells", of("pool.app", LIMITED, red_limit_cells=601)),
        ("more than the pool", INVALID, "size_cells", of("pool.app", LIMITED, green_limit_cells=1001)),
        ("the highest use", UNIMPLEMENTED, "watermark_cells", of("counter.pool", watermark_cells=0)),
        ("the use", UNIMPLEMENTED, "usage_cells", of("counter.pool", usage_cells=0))))
    fails("a pool of ingress is not read", "UNKNOWN", chip.read, "counter.pool", {"pool": "IG_APP_POOL_2"},
          codes=[UNIMPLEMENTED])
    chip.c.write(of("pool.app", UNLIMITED))


def queues(chip, switch):
    checks.equal("a queue at first", (chip.read_queue("queue.buffer"), chip.read_queue("queue.color")), (
        {"guaranteed_cells": 0, "hysteresis_cells": 0, "tail_drop_enable": True, "action": "buffer_only"},
        {"drop_enable": False, "hysteresis_yellow_cells": 0, "hysteresis_red_cells": 0}))
    chip.c.write(chip.queue("queue.buffer", action="shared_pool", guaranteed_cells=20, pool_id=POOL, pool_max_cells=60,
                            dynamic_baf="DISABLE"),
                 chip.queue("queue.color", drop_enable=True, drop_limit_yellow="50%", drop_limit_red="25%"),
                 chip.queue("queue.sched_cfg", max_priority="5", dwrr_weight=100))
    held = {"qid": 0, "priority": 5, "weight": 100, "red": 20, "yellow": 40, "green": 80, "guaranteed": 20, "pool": 1}
    checks.equal("as the switch has it", switch_queue(switch, 2, 0), held)
    chip.c.write(chip.queue("queue.buffer", action="shared_pool", pool_max_cells=140))
    checks.equal("limits for colours follow", switch_queue(switch, 2, 0), {**held, "red": 40, "yellow": 80, "green": 160})
    checks.equal("a queue is read", (chip.read_queue("queue.buffer"), chip.read_queue("queue.color"),
                                     chip.read_queue("queue.sched_cfg")), (
        {"guaranteed_cells": 20, "hysteresis_cells": 0, "tail_drop_enable": True, "pool_id": POOL, "pool_max_cells": 140,
         "dynamic_baf": "DISABLE", "action": "shared_pool"},
        {"drop_enable": True, "drop_limit_yellow": "50%", "drop_limit_red": "25%", "hysteresis_yellow_cells": 0,
         "hysteresis_red_cells": 0},
        {"min_rate_enable": False, "min_priority": "5", "max_rate_enable": False, "max_priority": "5", "dwrr_weight": 100,
         "scheduling_enable": True}))
    fails("taken back", "UNKNOWN", chip.c.write, chip.queue("queue.color", what="DELETE"),
          chip.queue("queue.sched_cfg", min_priority="HIGH", max_priority="HIGH"), chip.queue("queue.buffer", what="DELETE"),
          chip.queue("queue.color", hysteresis_red_cells=8), atomicity=ROLLBACK, codes=[0, 0, 0, UNIMPLEMENTED])
    checks.equal("the queue is as before", switch_queue(switch, 2, 0), {**held, "red": 40, "yellow": 80, "green": 160})
    chip.refuses((
        ("a pool in use", UNAVAILABLE, "size_cells", chip.update("pool.cfg", {"pool": POOL}, size_cells=0)),
        ("a pool that is not there", NOT_FOUND, "pool_id",
         chip.queue("queue.buffer", action="shared_pool", pool_id="EG_APP_POOL_3")),
        ("a share of a queue with colours", UNIMPLEMENTED, "dynamic_baf",
         chip.queue("queue.buffer", action="shared_pool", dynamic_baf="50%")),
        ("none of the pool", INVALID, "pool_max_cells",
         chip.queue("queue.buffer", action="shared_pool", pool_max_cells=0)),
        ("too many cells", INVALID, "pool_max_cells",
         chip.queue("queue.buffer", action="shared_pool", pool_max_cells=2**32 - 1)),
        ("hysteresis", UNIMPLEMENTED, "hysteresis_cells", chip.queue("queue.buffer", hysteresis_cells=8)),
        ("without drops", UNIMPLEMENTED, "tail_drop_enable", chip.queue("queue.buffer", tail_drop_enable=False)),
        ("hysteresis of a colour", UNIMPLEMENTED, "hysteresis_yellow_cells",
         chip.queue("queue.color", hysteresis_yellow_cells=8)),
        ("red beyond yellow", INVALID, "drop_limit_red", chip.queue("queue.color", drop_limit_red="62.5%")),
        ("a limit that does not hold", INVALID, "drop_limit_red",
         chip.queue("queue.color", drop_enable=False, drop_limit_red="12.5%")),
        ("parts of no limit", INVALID, "drop_enable", chip.queue("queue.color", queue=17, drop_enable=True)),
        ("a rate that is guaranteed", UNIMPLEMENTED, "min_rate_enable", chip.queue("queue.sched_cfg", min_rate_enable=True)),
        ("a highest rate", UNIMPLEMENTED, "max_rate_enable", chip.queue("queue.sched_cfg", max_rate_enable=True)),
        ("two priorities", UNIMPLEMENTED, "min_priority", chip.queue("queue.sched_cfg", min_priority="1")),
        ("a queue that does not send", UNIMPLEMENTED, "scheduling_enable",
         chip.queue("queue.sched_cfg", scheduling_enable=False)),
        ("no weight", INVALID, "dwrr_weight", chip.queue("queue.sched_cfg", dwrr_weight=0)),
        ("too much weight", INVALID, "dwrr_weight", chip.queue("queue.sched_cfg", dwrr_weight=1024)),
        ("no such group", INVALID, "pg_id", chip.queue("queue.buffer", group=18, guaranteed_cells=1)),
        ("no such queue", INVALID, "pg_queue", chip.queue("queue.buffer", queue=32, guaranteed_cells=1)),
        ("of all pipes", INVALID, "one pipe", chip.queue("queue.buffer", pipe=0xffff, guaranteed_cells=1))))
    fails("nor read of all pipes", "UNKNOWN", chip.read_queue, "queue.buffer", pipe=0xffff, codes=[INVALID])
    chip.c.write(chip.queue("queue.color", drop_enable=False),
                 chip.queue("queue.buffer", action="shared_pool", pool_max_cells=6, dynamic_baf="33%"))
    checks.equal("a share of what is free", switch_queue(switch, 2, 0),
                 {"qid": 0, "priority": 5, "weight": 100, "red": 0, "yellow": 0, "green": 0, "guaranteed": 20, "pool": 1,
                  "share": 0.5, "base": 6})
    got = chip.read_queue("queue.buffer")
    checks.equal("and read", (got["pool_max_cells"], got["dynamic_baf"]), (6, "33%"))
    chip.c.write(chip.queue("queue.sched_cfg", max_priority="LOW", min_priority="LOW"), chip.queue("queue.buffer", what="DELETE"))
    checks.equal("without its own", (switch_queue(switch, 2, 0), chip.read_queue("queue.sched_cfg")["max_priority"]),
                 ({"qid": 0, "priority": 0, "weight": 100}, "0"))
    chip.c.write(chip.update("queue.sched_cfg", what="DELETE", pipe=0xffff))
    checks.equal("all as at first", switch_queue(switch, 2, 0), None)


def drops(chip, switch, wire):
    """Port 2 sends a megabit a second: of ten packets of 19 cells the first is sent, and two more wait."""
    chip.c.write(chip.update("pool.cfg", {"pool": POOL}, size_cells=100),
                 chip.queue("queue.buffer", action="shared_pool", guaranteed_cells=19, pool_id=POOL, pool_max_cells=1))
    counters = lambda: (chip.read_queue("counter.queue")["drop_count_packets"],  # noqa: E731
                        chip.read("counter.eg_port", {"dev_port": 2})["drop_count_packets"])
    checks.equal("no drops at first", counters(), (0, 0))
    for number in range(10):
        wire.send("00:00:00:00:00:02", number, length=1496)
    checks.true("packets are refused", switch.becomes(lambda: sum(counters()) >= 14, True), "")
    dropped = counters()
    refused = next(q for q in switch.ask("queues")["queues"] if q["port"] == 2)
    checks.equal("a queue's are its port's", dropped[0], dropped[1])
    checks.true("and the switch's own", dropped[0] in (7, 8), str((dropped, refused)))
    used = (chip.read_queue("counter.queue")["usage_cells"], chip.read("counter.eg_port", {"dev_port": 2})["usage_cells"])
    checks.true("cells in use", used[0] in (19, 38) or used == (0, 0), str(used))
    checks.true("those of a pool", chip.read("counter.pool", {"pool": POOL})["usage_cells"] in (0, 19), "")
    chip.c.write(chip.queue("counter.queue", drop_count_packets=0))
    checks.equal("one counter is cleared", counters(), (0, dropped[1]))
    fails("taken back", "UNKNOWN", chip.c.write, chip.update("counter.eg_port", what="DELETE"),
          chip.queue("counter.queue", drop_count_packets=1 << 40), chip.queue("counter.queue", watermark_cells=0),
          atomicity=ROLLBACK, codes=[0, 0, UNIMPLEMENTED])
    checks.equal("the counters are as before", counters(), (0, dropped[1]))
    chip.c.write(chip.update("counter.eg_port", what="DELETE"), chip.queue("counter.queue", drop_count_packets=5))
    checks.equal("written", counters(), (5, 0))
    chip.c.write(chip.update("counter.queue", what="DELETE", pipe=0xffff))
    checks.equal("all are cleared", counters(), (0, 0))


def tofino_2(c, switch):
    chip = Chip(c, "tf2")
    listed(chip, 35, SERVED + ["pipe.sched_cfg"])
    checks.equal("a port", chip.read("port.cfg", {"dev_port": 8})["egress_qid_queues"], list(range(16)))
    checks.equal("the device", chip.read("cfg"),
                 {"timestamp_shift_bits": 0, "cell_size_bytes": 176, "ig_buffer_limit_enable": False})
    c.write(chip.queue("queue.sched_cfg", 1, 19, advanced_flow_control="XOFF"),
            chip.update("pipe.sched_cfg", pipe=0, advanced_flow_control_enable=True),
            chip.update("port.sched_cfg", {"dev_port": 9}, scheduling_speed="BF_SPEED_400G"),
            chip.update("port.buffer", {"dev_port": 9}, eg_limit_cells=5))
    found = switch_queue(switch, 9, 3)
    checks.equal("flow control", (found["flow_control"], found["pg_queue"],
                                  chip.read_queue("queue.sched_cfg", 1, 19)["advanced_flow_control"]), ("xoff", 19, "XOFF"))
    checks.equal("a speed", chip.read("port.sched_cfg", {"dev_port": 9})["scheduling_speed"], "BF_SPEED_400G")
    checks.equal("a limit", chip.read("port.buffer", {"dev_port": 9})["eg_limit_cells"], 5)
    chip.refuses((
        ("a node", UNIMPLEMENTED, "pg_l1_node", chip.queue("queue.sched_cfg", 1, 19, pg_l1_node=1)),
        ("a queue's speed", UNIMPLEMENTED, "scheduling_speed",
         chip.queue("queue.sched_cfg", 1, 19, scheduling_speed="BF_SPEED_50G")),
        ("no flow control", UNIMPLEMENTED, "advanced_flow_control_enable",
         chip.update("pipe.sched_cfg", pipe=0, advanced_flow_control_enable=False)),
        ("gaps", UNIMPLEMENTED, "packet_ifg_compensation",
         chip.update("pipe.sched_cfg", pipe=0, packet_ifg_compensation=20)),
        ("a limit of ingress", UNIMPLEMENTED, "ig_buffer_limit_cells", chip.update("cfg", ig_buffer_limit_cells=20)),
        ("in force", UNIMPLEMENTED, "ig_buffer_limit_enable", chip.update("cfg", ig_buffer_limit_enable=True)),
        ("nodes", UNIMPLEMENTED, "l1_nodes_count", chip.update("port.sched_cfg", {"dev_port": 9}, l1_nodes_count=1))))
    c.write(chip.queue("queue.sched_cfg", 1, 19, advanced_flow_control="CREDIT"))
    checks.true("no flow control", not (switch_queue(switch, 9, 3) or {}).get("flow_control"), "")


live.inside(__file__)
if not live.INTERFACES:
    print("no interfaces can be made here")
    checks.end()
veth("tmsw1", "tmh1")
veth("tmsw2", "tmh2")
with tempfile.TemporaryDirectory(prefix="silken-brt-") as folder:
    ADDRESS = f"unix:{folder}/b.sock"
    PORT_LIST = [{"port": n, "device": f"net_af_packet{n},iface=tmsw{n}"} for n in (1, 2)]
    with Switch({"program": PROGRAM, "ports": PORT_LIST, "bfrt": {"listen": ADDRESS},
                 "queues": [{"port": 2, "speed": 1}]}) as sw:
        first = Wire("tmh1")
        with Controller(ADDRESS) as controller:
            controller.bind()
            controller.write(controller.update("INSERT", "forward", {"hdr.ethernet.dst_addr": 2}, "send", {"port": 2}))
            here = Chip(controller, "tf1")
            listed(here, 33, SERVED)
            ports(here, sw)
            pools(here, sw)
            queues(here, sw)
            drops(here, sw, first)
        checks.equal("the switch ends well", sw.stop(), 0)
    with Switch({"program": TOFINO_2, "ports": [{"port": 8, "device": "net_null0"}], "bfrt": {"listen": ADDRESS}}) as sw:
        with Controller(ADDRESS) as controller:
            controller.bind()
            tofino_2(controller, sw)
        checks.equal("and a Tofino 2", sw.stop(), 0)
checks.end()
