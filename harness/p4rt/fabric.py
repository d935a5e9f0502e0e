# SPDX-License-Identifier: Apache-2.0
"""fabric-tna's unary PTF tests against `silken run`: see fabric.sh. For each profile the switch runs fabric_tna.p4 with
the profile's macros; ports 1 to 4 of the tests are device ports 0, 4, 8 and 12, each an end of a veth pair whose other
end is PTF's, and the CPU's is P4Runtime's. The tests ask their switch by gNMI which device ports their ports are; a
module that is made here answers that from the same list. Their modules for test vectors, which they import and do not
use, are empty. Groups of tests that a profile does not have are those of the checkout's Makefile.profiles."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["harness/p4rt"]
from protos import prepare, write  # noqa: E402

SILKEN = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "silken"))
PORTS = {1: 0, 2: 4, 3: 8, 4: 12} # the tests' number: the device port
ADDRESS = "127.0.0.1:28000"
PROFILES = {"fabric": ([], ["upf", "int", "bng", "dth", "xconnect", "p4rt", "int-dod"]),
            "fabric-int": (["WITH_INT"], ["upf", "bng", "dth", "p4rt", "int-dod"])}

# What the tests ask by gNMI: of each interface, its number and its device port.
GNMI = '''
PORTS = %r
PROTO = 2
class Message:
    """Any field, made when it is first asked for; entries of a list by add(), of a map by their key."""
    def __init__(self):
        self.__dict__["entries"] = {}
    def __getattr__(self, name):
        self.__dict__[name] = Message()
        return self.__dict__[name]
    def __getitem__(self, key):
        return self.entries[key]
    def __setitem__(self, key, value):
        self.entries[key] = value
    def add(self):
        entry = self.entries[len(self.entries)] = Message()
        return entry
    def __iter__(self):
        return iter(self.entries.values())
GetRequest = SetRequest = Message
class gNMIStub:
    def __init__(self, channel):
        pass
    def Get(self, request):
        leaf = [element.name for element in request.path[0].elem][-1]
        answer = Message()
        for number, port in PORTS.items():
            update = answer.notification.add().update.add()
            update.val.uint_val = number if leaf == "id" else port
            update.path.elem.add()
            update.path.elem.add().key["name"] = str(number)
        return answer
'''


def modules(folder):
    """What the tests import and this machine lacks."""
    write(folder, "gnmi/gnmi_pb2.py", GNMI % PORTS)
    write(folder, "gnmi/gnmi_pb2_grpc.py", "from gnmi.gnmi_pb2 import gNMIStub\n")
    write(folder, "gnmi/__init__.py", "")
    write(folder, "testvector/__init__.py", "")
    write(folder, "testvector/tvutils.py", "")
    # imported to draw and to sum up measurements of other tests
    for name in ("matplotlib/__init__.py", "matplotlib/pyplot.py", "scipy/__init__.py", "scipy/stats.py"):
        write(folder, name, "")
    # google is a package of Debian's protobuf already: its path is made longer
    write(folder, "sitecustomize.py", f"import google\ngoogle.__path__.append({os.path.join(folder, 'google')!r})\n")


def interfaces():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for number in PORTS:
        ours, theirs = f"fabsw{number}", f"fabh{number}"
        subprocess.run(["ip", "link", "add", ours, "mtu", "9000", "type", "veth", "peer", "name", theirs, "mtu", "9000"],
                       check=True)
        for name in (ours, theirs):
            with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as f:
                f.write("1")
            subprocess.run(["ip", "link", "set", name, "up"], check=True)


class Run:
    """The switch of one profile."""

    def __init__(self, folder, fabric, macros):
        tna = os.path.join(fabric, "p4src/tna")
        config = {"program": os.path.join(tna, "fabric_tna.p4"), "include": [os.path.dirname(tna), tna], "define": macros,
                  "p4runtime": {"listen": ADDRESS, "ports": [{"id": i, "port": port} for i, port in PORTS.items()]},
                  "ports": [{"port": port, "device": f"net_af_packet{i},iface=fabsw{i},framecnt=64"}
                            for i, port in PORTS.items()] + [{"port": 64, "device": "inside"}]}
        path = os.path.join(folder, "fabric.json")
        with open(path, "w") as f:
            json.dump(config, f)
        self.log = open(os.path.join(folder, "silken.log"), "w+")
        self.process = subprocess.Popen([SILKEN, "run", "-c", path], stdout=self.log, stderr=self.log, cwd=folder)

    def said(self):
        with open(self.log.name) as f:
            return f.read()

    def ready(self, seconds=180):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if re.search(r"^ready$", self.said(), re.M):
                return True
            time.sleep(0.1)
        return False

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def run_profile(args, folder, profile):
    """[(test, "passed", "skipped" or why it failed)]"""
    macros, without = PROFILES[profile]
    python, tests = os.path.join(folder, "python"), os.path.join(args.fabric, "ptf/tests")
    p4info = os.path.join(folder, profile + ".txt")
    source = os.path.join(args.fabric, "p4src/tna/fabric_tna.p4")
    subprocess.run([SILKEN, "build", "--p4info", p4info, "-I", os.path.join(args.fabric, "p4src"),
                    *[f"-D{m}" for m in macros], source], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    switch = Run(folder, args.fabric, macros)
    parameters = {"p4info": p4info, "grpcaddr": ADDRESS, "device_id": "1", "cpu_port": str(0xfffffffd),
                  "generate_tv": "False", "loopback": "False", "profile": profile}
    words = [sys.executable, os.path.join(args.ptf, "ptf"), "--test-dir", os.path.join(tests, "unary"), "--log-file",
             os.path.join(folder, "ptf.log"), "--socket-recv-size", "10240",
             "--test-params=" + ";".join(f"{k}='{v}'" for k, v in parameters.items())]
    for number in PORTS:
        words += ["--interface", f"{number}@fabh{number}"]
    chosen = args.names or ["all", *["^" + name for name in without]]
    env = {**os.environ, "PYTHONPATH": ":".join([python, os.path.join(tests, "common"), os.path.join(args.ptf, "src")])}
    try:
        if not switch.ready():
            sys.exit("error: the switch is not ready: " + switch.said()[-500:])
        listed = subprocess.run([*words, "--list-test-names", *chosen], env=env, text=True, capture_output=True, cwd=folder,
                                timeout=180, check=False)
        names = sorted(set(re.findall(r"^\s*(\w+\.\w+)\s*$", listed.stdout, re.M)))
        if not names:
            sys.exit("error: no tests: " + (listed.stdout + listed.stderr)[-1500:])
        got = [run_test(args, words, env, folder, name) for name in names]
    finally:
        ended = switch.stop()
    return got + ([("the switch", f"ended with {ended}")] if ended else [])


def run_test(args, words, env, folder, name):
    """One test in a process of its own, since what one leaves when it fails is in the way of the next one."""
    began = time.monotonic()
    try:
        done = subprocess.run([*words, name], env=env, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=folder, timeout=args.seconds, check=False)
        text, what = done.stdout, "passed" if done.returncode == 0 else reason(done.stdout)
        if what == "passed" and re.search(r"\.\.\. skipped", text):
            what = "skipped"
    except subprocess.TimeoutExpired as e:
        text, what = (e.stdout or b"").decode(errors="replace"), f"not done after {args.seconds} s"
    if args.verbose and what not in ("passed", "skipped"):
        print(text[-4000:])
    print(f"{what:8} {name} ({time.monotonic() - began:.0f} s)", flush=True)
    return name, what


def reason(text):
    lines = [x.strip() for x in text.splitlines() if re.match(r"[\w.]*(Error|Exception)\b|\s+\* At index", x)]
    return "failed: " + " ".join(lines[-2:])[:300]


def main():
    p = argparse.ArgumentParser(prog="fabric.sh")
    p.add_argument("--fabric", required=True, type=os.path.abspath)
    p.add_argument("--ptf", required=True, type=os.path.abspath)
    p.add_argument("--p4runtime", type=os.path.abspath)
    p.add_argument("--profile", choices=sorted(PROFILES))
    p.add_argument("--seconds", type=int, default=120, help="for one test")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    interfaces()
    failed = False
    for profile in [args.profile] if args.profile else sorted(PROFILES):
        with tempfile.TemporaryDirectory(prefix="silken-fabric-") as folder:
            prepare(folder, None, args.p4runtime)
            modules(os.path.join(folder, "python"))
            got = run_profile(args, folder, profile)
        passed, skipped = (sum(what == w for _, what in got) for w in ("passed", "skipped"))
        failed = failed or passed + skipped < len(got)
        print(f"{profile}: {passed} passed, {len(got) - passed - skipped} failed, {skipped} skipped", flush=True)
    sys.exit(failed)


main()
