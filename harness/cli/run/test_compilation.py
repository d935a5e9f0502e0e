# SPDX-License-Identifier: Apache-2.0
"""Compilations that a running switch is asked for have limits, end with who asked and with the switch, and delay neither
packets, nor other requests, nor the end."""
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["harness/control"]
from live import L2, SILKEN, Checks, Client, Switch  # noqa: E402

checks = Checks()
FLOOD = {"program": L2, "ports": [{"port": 1, "device": "net_null1,no-rx=1"}, {"port": 0, "device": "net_null0"}],
         "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send", "args": {"port": 1}}]}
with open(L2) as f:
    TEXT = f.read()
tools = tempfile.TemporaryDirectory(prefix="silken-compilation-")
# a C compiler that never ends, and says in a file that it began; the preprocessor is the usual one
SLOW = os.path.join(tools.name, "slow-cc")
# one that takes memory without end
GREEDY = os.path.join(tools.name, "greedy-cc")


def tool(path, what):
    with open(path, "w") as out:
        out.write('#!/bin/sh\ncase " $* " in *" --version "*|*" -E "*) exec cc "$@";; esac\n' + what)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


tool(SLOW, f'awk "{{print \\$19}}" /proc/$$/stat >"{tools.name}/nice"\n'
           f'echo $$ >>"{tools.name}/began"\nsleep 1000 & echo $! >>"{tools.name}/began"\nwait\n')
tool(GREEDY, 'exec tail /dev/zero\n')


def began():
    try:
        with open(os.path.join(tools.name, "began")) as f:
            return [int(line) for line in f]
    except FileNotFoundError:
        return []


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def of_children(pid):
    """Processor time in s of the processes that it started and waited for, and of theirs: what has the lowest priority
    may take much longer by the clock."""
    with open(f"/proc/{pid}/stat") as f:
        user, system = f.read().rpartition(")")[2].split()[13:15]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def begin(sw, name):
    """Asks for a compilation that does not end by itself, from a client of its own."""
    if began():
        os.remove(os.path.join(tools.name, "began"))
    with open(sw.path(name), "w") as out:
        out.write(TEXT + f"// {name} {time.time()}\n")
    client = Client(sw.path("s.sock"))
    checks.equal("it is compiled", client.ask("program", file=sw.path(name))["state"], "compiling")
    checks.equal("the C compiler runs", sw.becomes(lambda: len(began()), 2, 300), 2)
    return client


def left():
    """What compilations that did not end have left in the cache."""
    return [name for name in os.listdir(os.path.join(tools.name, "cache")) if name.startswith(".building")]


def all_gone(sw, processes):
    return sw.becomes(lambda: [p for p in processes if is_there(p)], [], 5)


def slow(config, **options):
    """A switch whose program is there, and whose next compilation takes for ever."""
    cache = {"SILKEN_CACHE": os.path.join(tools.name, "cache")}
    return Switch(config, environment={**cache, **options})


# the program into the cache, so that the slow compiler has nothing to do at the start
def warm(cc):
    subprocess.run([SILKEN, "build", L2], env={**os.environ, "SILKEN_CACHE": os.path.join(tools.name, "cache"), "CC": cc},
                   check=True)


os.mkdir(os.path.join(tools.name, "cache"), 0o700)
real = f'exec cc "$@"\n'
for name in (SLOW, GREEDY): # the key of the cache has the compiler's name
    with open(name) as f:
        kept = f.read()
    tool(name, real)
    warm(name)
    with open(name, "w") as f:
        f.write(kept)

# ---- ends with who asked; nobody waits ----
with slow(FLOOD, CC=SLOW) as sw:
    client = begin(sw, "a.p4")
    with open(os.path.join(tools.name, "nice")) as f:
        checks.equal("it has what processors have left", f.read().strip(), "19")
    before, start = sw.port(1)["tx_packets"], time.monotonic()
    for _ in range(20):
        sw.ask("stats")
    checks.true("other requests are answered", time.monotonic() - start < 3, time.monotonic() - start)
    checks.true("packets flow", sw.becomes(lambda: sw.port(1)["tx_packets"] > before, True))
    with open(sw.path("b.p4"), "w") as out:
        out.write(TEXT + "// b\n")
    checks.has("one at a time", sw.refused("program", file=sw.path("b.p4")), "is being compiled for this switch")
    processes = began()
    client.close()
    checks.equal("it ends with its client", all_gone(sw, processes), [])
    checks.equal("its files are removed", sw.becomes(left, [], 5), [])
    client = begin(sw, "c.p4")
    client.close()
    # two clients want the same: the first may go
    client, other = begin(sw, "d.p4"), Client(sw.path("s.sock"))
    other.ask("program", file=sw.path("d.p4"))
    client.close()
    time.sleep(0.5)
    checks.true("one of two has gone", all(is_there(p) for p in began()))
    other.close()
    checks.equal("both have", all_gone(sw, began()), [])
    # ctl is a client
    os.remove(os.path.join(tools.name, "began"))
    ctl = subprocess.Popen([SILKEN, "ctl", "-s", sw.path("s.sock"), "program", sw.path("b.p4")])
    checks.equal("the C compiler runs", sw.becomes(lambda: len(began()), 2, 300), 2)
    ctl.send_signal(signal.SIGINT)
    ctl.wait(10)
    checks.equal("Control-C cancels", all_gone(sw, began()), [])
    # and so is a trace
    os.remove(os.path.join(tools.name, "began"))
    sw.client.ask("trace.start", ports=[0], timeout=60)
    checks.equal("the checked build", sw.becomes(lambda: len(sw.ask("trace.read") and began()), 2, 300), 2)
    sw.client.close()
    sw.client = Client(sw.path("s.sock"))
    checks.equal("a trace ends with its client", all_gone(sw, began()), [])

    # ---- and with the switch, at once ----
    client = begin(sw, "e.p4")
    processes, start = began(), time.monotonic()
    checks.equal("ends, all accounted for", sw.stop(), 0)
    checks.true("within seconds", time.monotonic() - start < 6, time.monotonic() - start)
    checks.equal("nothing stays", [p for p in processes if is_there(p)], [])
    client.close()

with slow(FLOOD, CC=SLOW) as sw: # killed
    begin(sw, "f.p4")
    sw.process.kill()
    sw.process.wait()
    checks.equal("nothing stays", all_gone(sw, began()), [])
    checks.equal("no file either", sw.becomes(left, [], 5), [])

# ---- limits ----
with slow({**FLOOD, "requests": {"programs": ["."], "compile_seconds": 2}}, CC=SLOW) as sw:
    client = begin(sw, "g.p4")
    processes, start = began(), time.monotonic()
    reply = {"result": {"state": "compiling"}}
    while reply.get("result", {}).get("state") == "compiling" and time.monotonic() < start + 20:
        reply = client.request("program", file=sw.path("g.p4"))
        time.sleep(0.05)
    checks.has("of time", reply.get("error", ""), 'the compilation was ended after 2 seconds ("compile_seconds"')
    checks.equal("with all that it started", all_gone(sw, processes), [])
    checks.equal("and all that it wrote", sw.becomes(left, [], 5), [])
    checks.equal("the program stays", sw.ask("hello")["program"], L2)
    client.close()
    checks.equal("ends, all accounted for", sw.stop(), 0)

with slow({**FLOOD, "requests": {"programs": ["."], "compile_seconds": 600, "compile_memory": 512}}, CC=GREEDY) as sw:
    with open(sw.path("h.p4"), "w") as out:
        out.write(TEXT + "// h\n")
    status, said = sw.ctl("program", sw.path("h.p4"))
    checks.equal("of memory", status, 1)
    checks.has("says so", said, "the C compiler has not enough memory for the code generated from h")
    # macros that grow tenfold, ten times
    with open(sw.path("bomb.p4"), "w") as out:
        out.write("#define M0 xxxxxxxxxxxxxxxxxxxx\n" + "".join(
            f"#define M{i} " + f"M{i - 1} " * 10 + "\n" for i in range(1, 11)) + "M10\n")
    before = of_children(sw.process.pid)
    status, said = sw.ctl("program", sw.path("bomb.p4"))
    checks.equal("a bomb of macros", status, 1)
    checks.has("is refused", said, "preprocessing")
    took = of_children(sw.process.pid) - before
    checks.true("soon", 0 < took < 15, took)
    checks.equal("the program stays", sw.ask("hello")["program"], L2)
    checks.equal("ends, all accounted for", sw.stop(), 0)

# ---- a switch that is ended while it compiles its own ----
with open(os.path.join(tools.name, "own.p4"), "w") as f:
    f.write(TEXT + "// own\n")
if began():
    os.remove(os.path.join(tools.name, "began"))
sw = slow({**FLOOD, "program": os.path.join(tools.name, "own.p4")}, CC=SLOW)
sw.write(sw.config)
process = subprocess.Popen([SILKEN, "run", "-c", sw.path("c.json")], env={**os.environ, **sw.environment},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
checks.equal("it compiles", sw.becomes(lambda: len(began()), 2, 300), 2)
process.send_signal(signal.SIGTERM)
start = time.monotonic()
checks.true("ends", process.wait(60) != 0)
checks.true("at once", time.monotonic() - start < 6, time.monotonic() - start)
checks.equal("nothing stays", all_gone(sw, began()), [])
sw.temporary.cleanup()

# ---- ctl does not wait for a switch that says nothing ----
with tempfile.TemporaryDirectory() as folder:
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(os.path.join(folder, "s.sock"))
    silent.listen(1)
    for words in (["stats"], ["program", L2], ["top", "--once"]):
        start = time.monotonic()
        r = subprocess.run([SILKEN, "ctl", "-s", silent.getsockname(), "-w", "1", *words], capture_output=True, text=True,
                           timeout=60, check=False)
        checks.equal(f"{words[0]}: a switch that is silent", r.returncode != 0, True)
        checks.has("says so", r.stderr, "the switch did not answer within 1 second;")
        checks.true("in time", time.monotonic() - start < 5, time.monotonic() - start)
    r = subprocess.run([SILKEN, "ctl", "-s", silent.getsockname(), "-w", "0", "stats"], capture_output=True, text=True,
                       check=False)
    checks.has("a second at least", r.stderr, "1 to 86400")
    silent.close()
tools.cleanup()
checks.end()
