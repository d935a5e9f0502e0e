# SPDX-License-Identifier: Apache-2.0
"""What requests of the control socket may open of the switch's files is what the configuration says, and nothing when it
says nothing; and nothing that is printed has control characters in it, from whichever side it came."""
import json
import os
import subprocess
import sys

sys.path.insert(0, "harness/control")
from live import L2, SILKEN, Checks, Switch # noqa: E402

checks = Checks()
PLAIN = {"program": L2, "ports": [{"port": 0, "device": "net_null0,no-rx=1", "name": "a"}]}
SETTING = '"folders" of "requests"'

# ---- nothing was said ----
with Switch({**PLAIN, "requests": {}}) as sw:
    kept = sw.path("kept")
    with open(kept, "w") as f:
        f.write("mine\n")

    def no(part, device):
        checks.has(device, sw.refused("port.add", port=5, device=device), part)

    status, said = sw.ctl("port", "add", 5, f"net_pcap5,tx_pcap={kept}")
    checks.equal("ctl: a pcap that writes over a file", status, 1)
    checks.has("the setting is named", said, '"devices" of "requests"')
    no("of the kind 'pcap'", f"net_pcap5,rx_pcap={kept}")
    no("of the kind 'pcap'", f"eth_pcap5,rx_pcap={kept}")
    no("of the kind 'pci'", "0000:00:1f.6")
    no("of the kind 'failsafe'", "net_failsafe0,exec(/bin/false)")
    no(SETTING, f"net_memif0,role=server,socket={sw.path('m.sock')},socket-abstract=no")
    no("no socket is named", "net_memif0,role=server,socket-abstract=no")
    no(SETTING, f"net_vhost0,iface={sw.path('v.sock')}")
    no(SETTING, "net_virtio_user0,path=/dev/vhost-net,iface=x")
    no(SETTING, f"net_af_xdp0,iface=lo,xdp_prog={kept}")
    no(SETTING, f"net_null5,size={kept}")
    checks.has("a program", sw.refused("program", file=kept), '"programs" of "requests"')
    checks.has("a path of its own", sw.refused("program", file="x.p4"), "must start with /")
    checks.equal("that of the configuration", sw.ctl("program", L2)[0], 0)
    sw.ask("port.add", port=6, device="net_ring6")
    sw.ask("port.add", port=7, device="net_null7,no-rx=1")
    checks.equal("ports are as they were", sorted(p["port"] for p in sw.ask("ports")["ports"]), [0, 6, 7])
    checks.equal("the file, too", open(kept).read(), "mine\n")
    checks.equal("ends", sw.stop(), 0)

# ---- folders, relative to the configuration ----
with Switch({**PLAIN, "requests": {"devices": ["pcap", "memif"], "folders": ["in"], "programs": ["in"]}}) as sw:
    os.mkdir(sw.path("in"))
    os.mkdir(sw.path("inside"))
    for name in ("in/there", "outside"):
        with open(sw.path(name), "w") as f:
            f.write("mine\n")
    os.symlink(sw.path("outside"), sw.path("in/link"))
    os.symlink(sw.folder, sw.path("in/up"))
    os.symlink(sw.path("nowhere"), sw.path("in/dangling"))

    def tx(part, path):
        checks.has(path, sw.refused("port.add", port=5, device=f"net_pcap5,tx_pcap={sw.path(path)}"), part)

    tx("exists already; a request does not overwrite files", "in/there")
    tx("is in none of the folders", "outside")
    tx("is in none of the folders", "new")
    tx("is in none of the folders", "inside/new")
    tx("is in none of the folders", "in/../new")
    tx("is in none of the folders", "in/link")
    tx("is in none of the folders", "in/up/new")
    tx("a link to it is broken", "in/dangling")
    tx("no such folder", "in/none/new")
    checks.has("not from here", sw.refused("port.add", port=5, device="net_pcap5,tx_pcap=in/new"), "must start with /")
    checks.has("a second argument", sw.refused("port.add", port=5, device=f"net_pcap5,tx_pcap={sw.path('in/new')},"
                                               f"rx_pcap={sw.path('outside')}"), "is in none of the folders")
    checks.has("no socket", sw.refused("port.add", port=5, device=f"net_memif0,role=server,socket={sw.path('in/there')},"
                                       "socket-abstract=no"), "is not a socket")
    sw.ask("port.add", port=5, device=f"net_pcap5,tx_pcap={sw.path('in/new')}")
    sw.ask("port.add", port=6, device=f"net_memif0,role=server,socket={sw.path('in/m.sock')},socket-abstract=no")
    checks.has("another kind", sw.refused("port.add", port=7, device="net_ring7"), "of the kind 'ring'")
    with open(L2) as f:
        text = f.read()
    for name in ("in/l2.p4", "l2.p4"):
        with open(sw.path(name), "w") as f:
            f.write(text + "// another\n")
    checks.equal("a program", sw.ctl("program", sw.path("in/l2.p4"))[0], 0)
    checks.has("from elsewhere", sw.ctl("program", sw.path("l2.p4"))[1], "is in none of the folders")
    checks.equal("what was there is", [open(sw.path(n)).read() for n in ("in/there", "outside")], ["mine\n"] * 2)
    # what is changed in the file holds from the next reload on
    sw.write({**sw.config, "requests": {}})
    checks.equal("reload", sw.reload()["ok"], True)
    checks.has("no programs", sw.refused("program", file=sw.path("in/l2.p4")), '"programs" of "requests"')
    checks.equal("ends", sw.stop(), 0)

# ---- control characters ----
BAD = {"an escape": "x\x1b[31mred", "a line end": "x\nport 7", "a carriage return": "x\rsilken", "a bell": "\x07", "DEL": "x\x7f",
       "CSI in one": "x\u009b31m", "a line separator": "x\u2028y", "right to left": "x\u202ey"}
with Switch(PLAIN) as sw:
    for what, name in BAD.items():
        checks.has(f"{what} in a port's name", sw.refused("port.add", port=5, device="net_ring5", name=name), "control character")
        checks.has(f"{what} in a device", sw.refused("port.add", port=5, device="net_ring5" + name), "control character")
        sw.write({**PLAIN, "ports": [{"port": 0, "device": "net_null0,no-rx=1", "name": name}]})
        checks.has(f"{what} in a file", sw.reload().get("error", ""), "control character")
    for op, members in (("table.dump", {"table": BAD["an escape"]}), ("register.read", {"name": BAD["an escape"]}),
                        ("table.add", {"table": "forward", "key": {"dst_addr": BAD["an escape"]}, "action": "drop"}),
                        ("table.add", {"table": "forward", "key": {BAD["an escape"]: 1}, "action": "drop"}),
                        ("job", {"job": BAD["an escape"]}), (BAD["an escape"], {})):
        reply = sw.client.request(op, **members)
        checks.true(f"{op!r}: refused, and the sentence is clean", not reply["ok"] and "\x1b" not in reply["error"], reply)
    status, said = sw.ctl("port", "add", 5, "net_ring5", "--name", BAD["an escape"])
    checks.equal("ctl", (status, "\x1b" in said), (1, False))
    sw.client.socket.sendall(b'{"op": "port.add", "port": 5, "device": "net_ring5", "name": "\xff\xfe"}\n')
    checks.equal("bytes that are no UTF-8", json.loads(sw.client.file.readline())["ok"], False)
    sw.ask("port.add", port=5, device="net_ring5", name="Straße 東京")
    checks.has("other letters are fine", sw.ctl("port")[1], "Straße 東京")
    checks.equal("ends", sw.stop(), 0)
    sw.write({**PLAIN, "ports": [{"port": 0, "device": "net_null0,no-rx=1", "name": BAD["an escape"]}]})
    r = subprocess.run([SILKEN, "run", "-c", sw.path("c.json")], capture_output=True, text=True, timeout=60, check=False)
    checks.equal("at the start", (r.returncode, "control character" in r.stderr, "\x1b" in r.stderr + r.stdout), (2, True, False))
checks.end()
