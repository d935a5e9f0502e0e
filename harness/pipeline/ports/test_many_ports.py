# SPDX-License-Identifier: Apache-2.0
"""One switch with 256 ports on interfaces of the kernel's, which are not DPDK's devices (af_packet/af_packet.h): frames
through each port in and out, all accounted for; every view of the ports lists them; a port is removed and added while
the others go on. Start, stop and memory are bounded, and printed. What is beyond is refused with a sentence."""
import re
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, "harness/control")
from live import INTERFACES, L2, Checks, Switch, Wire, inside # noqa: E402

inside(__file__)
checks = Checks()
if not INTERFACES:
    print("no network namespaces here")
    sys.exit(77)

PIPES, FRONT = 4, 64
PORTS = [128 * pipe + lane for pipe in range(PIPES) for lane in range(FRONT)]
COUNT = len(PORTS)
EACH = 20 # frames through a port
START_SECONDS, STOP_SECONDS, MEMORY_MIB = 60, 60, 1024


def mac(i):
    return f"02:00:00:00:{i // 256:02x}:{i % 256:02x}"


def device(i):
    return f"net_af_packet{i},iface=s{i}"


def memory(pid):
    """MiB of the process's own that are in use, at most so far."""
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1)) // 1024


def batch(lines):
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def through(i):
    """Frames of the host on port i to that on the next, and how many of them come out there in order."""
    for number in range(EACH):
        hosts[i].send(mac((i + 1) % COUNT), EACH * i + number)
    return [hosts[(i + 1) % COUNT].receive() for _ in range(EACH)] == list(range(EACH * i, EACH * (i + 1)))


for name in ("all", "default"):
    with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as f:
        f.write("1")
batch([f"link add s{i} type veth peer name h{i}" for i in range(COUNT)])
batch(["link set lo up"] + [f"link set {side}{i} up" for i in range(COUNT) for side in "sh"])
hosts = [Wire(f"h{i}") for i in range(COUNT)]
config = {"program": L2, "pipes": PIPES, "metrics": {"listen": "127.0.0.1:9464"},
          "ports": [{"port": p, "device": device(i), "name": f"n{i}"} for i, p in enumerate(PORTS)],
          "entries": [{"table": "forward", "key": {"hdr.ethernet.dst_addr": mac(i)}, "action": "send",
                       "args": {"port": p}}
                      for i, p in enumerate(PORTS)]}
began = time.monotonic()
with Switch(config) as sw:
    start = time.monotonic() - began
    checks.equal("links", sw.becomes(lambda: sum(p["link"] for p in sw.ask("ports")["ports"]), COUNT), COUNT)
    wrong = [i for i in range(COUNT) if not through(i)]
    checks.equal("ports that lost frames", wrong, [])
    checks.equal("each port's counts", {(p["rx_packets"], p["tx_packets"]) for p in sw.ask("ports")["ports"]},
                 {(EACH, EACH)})

    # ---- views ----
    listed = sw.ctl("port")[1]
    checks.equal("ctl port", len(re.findall(r"^ *\d+ .*\bn\d+\b", listed, re.M)), COUNT)
    with urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=60) as reply:
        said = reply.read().decode()
    checks.equal("metrics", len(re.findall(r"^silken_port_receive_packets_total\{", said, re.M)), COUNT)

    # ---- one comes and goes ----
    sw.ask("port.remove", port=PORTS[7])
    checks.true("others go on", through(200) and through(8))
    sw.ask("port.add", port=PORTS[7], device=device(7), name="n7")
    checks.true("it is back", sw.becomes(lambda: sw.port(PORTS[7])["link"], True) and through(7) and through(6))

    # ---- beyond ----
    checks.has("a number that is not a port", sw.refused("port.add", port=511, device=device(256)), "511")
    checks.has("an interface that is a port",
               sw.refused("port.add", port=PORTS[-1] + 1, device="net_af_packet999,iface=s0"),
               "interface 's0' is port 0's already")
    used = memory(sw.process.pid)
    ended = time.monotonic()
    checks.equal("ends", sw.stop(), 0)
    stop = time.monotonic() - ended
    counts, drops = sw.accounts()
    checks.equal("all accounted for", [counts[0], counts[3], counts[4]], [EACH * (COUNT + 4), EACH * (COUNT + 4), 0])
    checks.equal("nothing dropped", drops, {})
print(f"{COUNT} ports: start {start:.1f} s (compilation included), stop {stop:.1f} s, {used} MiB at most")
checks.true("start", start < START_SECONDS, f"{start:.1f} s")
checks.true("stop", stop < STOP_SECONDS, f"{stop:.1f} s")
checks.true("memory", used < MEMORY_MIB, f"{used} MiB")
checks.end()
