# SPDX-License-Identifier: Apache-2.0
"""More devices than DPDK supports are refused with a true sentence, and a program whose setsockopt() DPDK's drivers
would not find does not start."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "harness/control")
from live import L2, SILKEN, Checks, Switch # noqa: E402

checks = Checks()
MOST = 32 # Debian's RTE_MAX_ETHPORTS
FULL = "this DPDK supports 32 devices, and all are in use"


def null(n):
    return [{"port": i, "device": f"net_null{i},no-rx=1"} for i in range(n)]


def start(binary, config):
    with tempfile.TemporaryDirectory() as folder:
        sw = Switch(config, folder=folder)
        sw.write(config)
        r = subprocess.run([binary, "run", "-c", sw.path("c.json"), "--memory", "1500"], capture_output=True, text=True,
                           timeout=300, check=False)
        return r.returncode, r.stderr


with Switch({"program": L2, "ports": null(MOST)}, "--memory", "1500") as sw:
    checks.has("one more", sw.refused("port.add", port=40, device="net_null40,no-rx=1"), FULL)
    sw.ask("port.remove", port=3)
    sw.ask("port.add", port=40, device="net_null40,no-rx=1")
    checks.equal("ends", sw.stop(), 0)
status, said = start(SILKEN, {"program": L2, "ports": null(MOST + 1)})
checks.equal("at the start", status, 2)
checks.has("says so", said, FULL)

# ---- the same program, but it does not export its setsockopt() ----
headers = subprocess.run(["readelf", "-SW", SILKEN], capture_output=True, text=True, check=True).stdout
offset, size = (int(x, 16) for x in re.search(r"\.dynstr\s+STRTAB\s+\S+\s+(\S+)\s+(\S+)", headers).groups())
with tempfile.TemporaryDirectory() as folder:
    other = os.path.join(folder, "silken")
    shutil.copy(SILKEN, other)
    with open(other, "r+b") as f:
        f.seek(offset)
        names = f.read(size)
        checks.equal("setsockopt is exported", names.count(b"\0setsockopt\0"), 1)
        f.seek(offset)
        f.write(names.replace(b"\0setsockopt\0", b"\0setsockop_\0"))
    status, said = start(other, {"program": L2, "ports": null(1)})
    checks.equal("without setsockopt", status, 2)
    checks.has("it is named", said, "do not find this program's setsockopt()")
checks.end()
