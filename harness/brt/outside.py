# SPDX-License-Identifier: Apache-2.0
"""PTF tests of open-p4studio against `silken run`: see outside.sh. For each folder of p4_16_programs the switch runs its
program on the ports that its ports.json names (else 0 to 16 and the CPU's 64; on a Tofino 2, which programs have whose
names begin with t2na, 8 to 24 and 2), each an end of a veth pair whose other end is PTF's, and PTF runs the folder's
tests one by one. Pipes that the folder's options for the model loop back have no devices. What the client needs from
protoc is made in a folder that goes afterwards."""
import argparse
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SILKEN = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "silken"))
PORTS = 17
PARAMETERS = {"arch": "tofino", "target": "asic-model", "use_pi": "False", "traffic_gen": "ixia",
              "drivers_test_info": "None", "test_seed": "1", "num_pipes": "4", "pkt_size": "100",
              "port_mode": "default", "counter_byte_adjust": "0", "p4c": "", "thrift_server": "localhost",
              "grpc_server": "localhost", "bfrt_grpc_port": "50052", "reboot": "none"}

# The tests are of Pythons before 3.11, whose random.sample() takes sets.
SAMPLE = """
import random
sample = random.sample
random.sample = lambda population, k, **more: sample(sorted(population) if isinstance(population, (set, frozenset))
                                                     else population, k, **more)
"""

# The tests are of a library of packets that reads bytes with a method, which Scapy's do not have.
LOAD_BYTES = """
try:
    import scapy.packet
    scapy.packet.Packet.load_bytes = lambda self, octets: type(self)(octets)
except ImportError:
    pass
"""

# What tests import for Thrift, and mostly never call: the chip's port service and its base of tests.
NEVER_CALLED = {"thrift/__init__.py": "", "thrift/transport/__init__.py": "class TSocket: pass\nclass TTransport: pass\n",
                "thrift/protocol/__init__.py": "class TBinaryProtocol: pass\nclass TMultiplexedProtocol: pass\n",
                "thrift/Thrift.py": "class TException(Exception): pass\n",
                "pal_rpc/__init__.py": "", "pal_rpc/ttypes.py": "",
                "pd_base_tests.py":
                "class ThriftInterface:\n    def __init__(self, *_): pass\n    def setUp(self): pass\n"
                "    def tearDown(self): pass\nclass ThriftInterfaceDataPlane(ThriftInterface): pass\n"}

# Programs that an installed SDE has on the path, by which tests set a port's link.
PROGRAMS = {"port_ifdown": "#!/bin/sh\nexec ip link set dev \"$1\" down\n",
            "port_ifup": "#!/bin/sh\nexec ip link set dev \"$1\" up\n"}

# "This test is meant to be run only on the model as the timeout for the entry_add RPC is tuned for it": a call of 200,000
# entries has to be cut off after 1.5 s, by which time the switch has them all.
OF_THE_MODELS_SPEED = {("tna_exact_match", "test.ExactMatchTimeoutTest")}

ANY = """syntax = "proto3"; package google.protobuf; message Any { string type_url = 1; bytes value = 2; }"""

# grpc_python_plugin is not needed for one service
STUB = '''
import grpc
from bfrt_grpc import bfruntime_pb2 as bfruntime__pb2
class BfRuntimeStub:
    def __init__(self, channel):
        for name, kind, reply in (("Write", "unary_unary", "WriteResponse"), ("Read", "unary_stream", "ReadResponse"),
                                  ("SetForwardingPipelineConfig", "unary_unary", "SetForwardingPipelineConfigResponse"),
                                  ("GetForwardingPipelineConfig", "unary_unary", "GetForwardingPipelineConfigResponse"),
                                  ("StreamChannel", "stream_stream", "StreamMessageResponse")):
            setattr(self, name, getattr(channel, kind)("/bfrt_proto.BfRuntime/" + name,
                                                       lambda message: message.SerializeToString(),
                                                       getattr(bfruntime__pb2, reply).FromString))
'''


def prepare(folder, sde, ptf):
    """Packages bfrt_grpc, google.rpc and p4testutils in the folder; the paths that PTF needs."""
    drivers = os.path.join(sde, "pkgsrc/bf-drivers")
    client, utils = os.path.join(folder, "bfrt_grpc"), os.path.join(sde, "pkgsrc/ptf-modules/ptf-utils")
    shutil.copytree(os.path.join(drivers, "src/bf_rt/bfruntime_grpc_client/python"), client)
    proto = os.path.join(folder, "proto")
    os.makedirs(os.path.join(proto, "bfrt_grpc"))
    os.makedirs(os.path.join(proto, "google/rpc"))
    shutil.copy(os.path.join(drivers, "src/bf_rt/proto/bfruntime.proto"), os.path.join(proto, "bfrt_grpc"))
    for name in ("code.proto", "status.proto"):
        shutil.copy(os.path.join(drivers, "third-party/google/rpc", name), os.path.join(proto, "google/rpc"))
    os.makedirs(os.path.join(proto, "google/protobuf"))
    with open(os.path.join(proto, "google/protobuf/any.proto"), "w") as f:
        f.write(ANY) # what libprotobuf-dev has; its Python is python3-protobuf's
    files = ["bfrt_grpc/bfruntime.proto", "google/rpc/code.proto", "google/rpc/status.proto"]
    subprocess.run(["protoc", f"--proto_path={proto}", f"--python_out={folder}", *files], check=True)
    with open(os.path.join(client, "bfruntime_pb2_grpc.py"), "w") as f:
        f.write(STUB)
    open(os.path.join(client, "__init__.py"), "w").close()
    # google is a package of Debian's protobuf already: its path is made longer
    with open(os.path.join(folder, "sitecustomize.py"), "w") as f:
        f.write("import google\ngoogle.__path__.append(%r)\n%s" % (os.path.join(folder, "google"), SAMPLE + LOAD_BYTES))
    for name, text in NEVER_CALLED.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    os.makedirs(os.path.join(folder, "bin"))
    for name, text in PROGRAMS.items():
        with open(os.path.join(folder, "bin", name), "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as f:
            f.write(text)
    os.symlink(utils, os.path.join(folder, "p4testutils"))
    return [folder, utils, os.path.join(ptf, "src")]


def interfaces():
    names = [(f"veth{2 * n}", f"veth{2 * n + 1}") for n in range(PORTS + 1)] + [("veth250", "veth251")]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for ours, theirs in names:
        subprocess.run(["ip", "link", "add", ours, "mtu", "10240", "type", "veth", "peer", "name", theirs, "mtu",
                        "10240"], check=True)
        for name in (ours, theirs):
            with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as f:
                f.write("1")
            subprocess.run(["ip", "link", "set", name, "up"], check=True)


def lay_out(folder, tests, programs):
    """What the tests send to a switch, for each program that they name, as they look for it: below install/share."""
    with open(os.path.join(tests, "test.py"), encoding="utf-8") as f:
        text = f.read()
    if "warm_init" not in text and "WARM_INIT" not in text:
        return
    for name in sorted(set(re.findall(r"\b(?:tna|bri|selector)_\w+", text))):
        for program in glob.glob(os.path.join(programs, name, name + ".p4")) + \
                       glob.glob(os.path.join(programs, "*", "program_*", name + ".p4")):
            subprocess.run([SILKEN, "build", "--sde", os.path.join(folder, "install"), program], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_tofino2(tests):
    return os.path.basename(tests).startswith("t2na")


def cpu_port(tests):
    return 2 if is_tofino2(tests) else 64


def looped_pipes(tests):
    """Those that the options for the model loop back: the folder's own, or those of tests that its tests are made of."""
    with open(os.path.join(tests, "test.py"), encoding="utf-8") as f:
        made_of = re.findall(r"^from (\w+)\.test import", f.read(), re.M)
    paths = [os.path.join(folder, "custom_model_options")
             for folder in (tests, *(os.path.join(tests, "../..", name) for name in made_of))]
    for path in filter(os.path.exists, paths):
        with open(path) as f:
            found = re.search(r"--int-port-loop\s+(0x[0-9a-f]+)", f.read())
        return [pipe for pipe in range(4) if found and int(found[1], 16) >> pipe & 1]
    return []


def programs_of(tests, name):
    """The part of a configuration that says which program runs. Of two, program_a is in the pipes with ports, and
    program_b in those that are looped back."""
    parts = sorted(glob.glob(os.path.join(tests, "program_*", "*.p4")))
    parts = [p for p in parts if os.path.basename(p).startswith(name)]
    loops = looped_pipes(tests)
    if len(parts) == 2:
        return {"programs": [{"program": parts[0], "pipes": [p for p in range(4) if p not in loops]},
                             {"program": parts[1], "pipes": loops}]}
    if "/" in name: # they send the program; the switch runs another one until then
        return {"program": os.path.join(tests, "../..", "tna_exact_match", "tna_exact_match.p4")}
    program = os.path.join(tests, name + ".p4")
    return {"program": program} if os.path.exists(program) else None


def ports_of(tests):
    """{device port: (number of its veth pair, what PTF is told of it)}"""
    path = os.path.join(tests, "ports_tof2.json" if is_tofino2(tests) else "ports.json")
    if os.path.exists(path):
        with open(path) as f:
            ports = {p["device_port"]: (p["veth1"] // 2, "".join(f";{k}={v}" for k, v in p.items()))
                     for p in json.load(f).get("PortToVeth", [])}
        if ports:
            return ports
    first = 8 if is_tofino2(tests) else 0
    return {**{first + n: (n, "") for n in range(PORTS)}, cpu_port(tests): (125, "")}


class Run:
    """The switch for the tests of one folder."""

    def __init__(self, folder, programs, ports, tests):
        loops = looped_pipes(tests)
        config = {**programs, "bfrt": {}, "cpu_port": cpu_port(tests),
                  "loopback": [port for port in sorted(ports) if port >> 7 in loops],
                  "ports": [{"port": port, "device": f"net_af_packet{i},iface=veth{2 * pair},framecnt=64"}
                            for i, (port, (pair, _)) in enumerate(sorted(ports.items())) if port >> 7 not in loops]}
        self.config = os.path.join(folder, "outside.json")
        with open(self.config, "w") as f:
            json.dump(config, f)
        self.log = open(os.path.join(folder, "silken.log"), "w+")
        self.process = subprocess.Popen([SILKEN, "run", "-c", self.config], stdout=self.log, stderr=self.log,
                                        cwd=folder)

    def ready(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if re.search(r"^ready$", self.said(), re.M):
                return True
            time.sleep(0.1)
        return False

    def said(self):
        self.log.flush()
        with open(self.log.name) as f:
            return f.read()

    @contextlib.contextmanager
    def slowed(self):
        """It runs for 5 of each 100 ms."""
        done = threading.Event()

        def turns():
            while not done.wait(0.005):
                self.process.send_signal(signal.SIGSTOP)
                done.wait(0.095)
                self.process.send_signal(signal.SIGCONT)

        thread = threading.Thread(target=turns)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode


def ptf_words(folder, tests, paths, ports, program):
    words = [sys.executable, os.path.join(paths[2], "..", "ptf"), "--test-dir", tests, "--log-file",
             os.path.join(folder, "ptf.log"), "--socket-recv-size", "10240"]
    for path in paths[:2]:
        words += ["--pypath", path]
    for port, (pair, more) in sorted(ports.items()):
        words += ["--interface", f"0-{port}@veth{2 * pair + 1}{more}"]
    parameters = {**PARAMETERS, "p4_name": program, **({"arch": "tofino2"} if is_tofino2(tests) else {})}
    return words + ["--test-params=" + ";".join(f"{k}='{v}'" for k, v in parameters.items()) +
                    ";setup=False;cleanup=False"]


def reason(text):
    """The last line of a traceback, or what is last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Assertion\w*|Error\w*)\b", line)]
    return (errors or lines or ["it said nothing"])[-1][:160]


def run_folder(args, folder, paths, tests):
    programs = os.path.join(args.sde, "pkgsrc/p4-examples/p4_16_programs")
    name = os.path.relpath(tests, programs)
    running = programs_of(tests, name)
    if not running:
        return [(name, "", "skipped", "there is no program of this name")]
    ports = ports_of(tests)
    lay_out(folder, tests, programs)
    switch = Run(folder, running, ports, tests)
    results = []
    env = {**os.environ, "PYTHONPATH": ":".join(paths), "SDE": args.sde, "SDE_INSTALL": os.path.join(folder, "install"),
           "PATH": os.path.join(folder, "bin") + ":" + os.environ["PATH"]}
    try:
        if not switch.ready():
            return [(name, "", "failed", reason(switch.said()))]
        words = ptf_words(folder, tests, paths, ports, name)
        listed = subprocess.run([*words, "--list-test-names"], env=env, text=True, capture_output=True, timeout=120, cwd=folder,
                                check=False)
        found = sorted(set(re.findall(r"^\s*(test\.\w+)\s*$", listed.stdout, re.M)))
        if not found:
            return [(name, "", "failed", reason(listed.stdout + listed.stderr))]
        for test in found:
            began = time.monotonic()
            try:
                with switch.slowed() if (name, test) in OF_THE_MODELS_SPEED else contextlib.nullcontext():
                    done = subprocess.run([*words, test], env=env, text=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, timeout=args.seconds, cwd=folder, check=False)
                good, text = done.returncode == 0, done.stdout
            except subprocess.TimeoutExpired as e:
                good, text = False, f"not done after {args.seconds} s"
                del e
            if args.verbose and not good:
                print(text[-3000:])
            results.append((name, test, "passed" if good else "failed", "" if good else reason(text)))
            print("%-28s %-40s %-7s %4d s  %s" % (name, test, results[-1][2], time.monotonic() - began,
                                                   results[-1][3]), flush=True)
            if switch.process.poll() is not None:
                results.append((name, "", "failed", "the switch ended: " + reason(switch.said())))
                break
    finally:
        switch.stop()
    return results


def main():
    p = argparse.ArgumentParser(prog="outside.sh")
    p.add_argument("--sde", required=True, type=os.path.abspath)
    p.add_argument("--ptf", required=True, type=os.path.abspath)
    p.add_argument("--results", help="a table of all tests, as Markdown")
    p.add_argument("--seconds", type=float, default=300, help="for one test")
    p.add_argument("--verbose", action="store_true", help="what failed tests say")
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    programs = os.path.join(args.sde, "pkgsrc/p4-examples/p4_16_programs")
    folders = sorted(os.path.dirname(t) for t in glob.glob(os.path.join(programs, "*/test.py")) +
                     glob.glob(os.path.join(programs, "bri_set_forwarding_pipeline/*/test.py")))
    if not folders:
        sys.exit("error: no tests in " + programs)
    unknown = set(args.names) - {os.path.relpath(f, programs) for f in folders}
    if unknown:
        sys.exit("error: no tests in " + programs + " of " + ", ".join(sorted(unknown)))
    if args.names:
        folders = [f for f in folders if os.path.relpath(f, programs) in args.names]
    results = []
    interfaces()
    for tests in folders:
        with tempfile.TemporaryDirectory(prefix="silken-outside-") as folder:
            results += run_folder(args, folder, prepare(folder, args.sde, args.ptf), tests)
            if not results[-1][1]:
                print("%-28s %s: %s" % (results[-1][0], *results[-1][2:]), flush=True)
    whole = [f for f in folders if {r[2] for r in results if r[0] == os.path.relpath(f, programs)} == {"passed"}]
    passed = sum(r[2] == "passed" for r in results)
    print("%d of %d tests pass; %d of %d folders whole" % (passed, len(results), len(whole), len(folders)))
    if args.results:
        with open(args.results, "w") as f:
            f.write("| program | test | result | reason |\n| --- | --- | --- | --- |\n")
            f.writelines("| %s | %s | %s | %s |\n" % r for r in results)
    sys.exit(passed != len(results))


if __name__ == "__main__":
    main()
