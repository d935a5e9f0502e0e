# SPDX-License-Identifier: Apache-2.0
"""SwitchML's published controller (p4lang/p4app-switchML, dev_root/controller), unmodified, beside a `silken run` that has
the published program. What it imports besides the SDE's client (p4lang/open-p4studio) and is not on this machine is made
in a folder that goes afterwards: the stubs of its services, and colours of its command line, which has none then."""
import os
import re
import shutil
import socket
import subprocess
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
import outside  # noqa: E402

PROGRAM = "SwitchML"  # the controller's name of it
BFRT = "127.0.0.1:50052"
SERVICES = "127.0.0.1:50099"

# grpc_python_plugin's, for two services
STUBS = '''
import grpc
import switchml_pb2
METHODS = {"Session": ("RdmaSession", "UdpSession"), "Sync": ("Barrier", "Broadcast")}
def stub(service):
    def init(self, channel):
        for name in METHODS[service]:
            setattr(self, name, channel.unary_unary(
                f"/switchml_proto.{service}/{name}", lambda message: message.SerializeToString(),
                getattr(switchml_pb2, name + "Response").FromString))
    return type(service + "Stub", (), {"__init__": init})
def add(service):
    def function(servicer, server):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("switchml_proto." + service, {
            name: grpc.unary_unary_rpc_method_handler(
                getattr(servicer, name), request_deserializer=getattr(switchml_pb2, name + "Request").FromString,
                response_serializer=lambda message: message.SerializeToString())
            for name in METHODS[service]}),))
    return function
SessionStub, SyncStub = stub("Session"), stub("Sync")
class SessionServicer: pass
class SyncServicer: pass
add_SessionServicer_to_server, add_SyncServicer_to_server = add("Session"), add("Sync")
'''

def switch_configuration(app, folder, folded=False):
    """The members of the switch's configuration but for its ports: the program, by the controller's name. For a folded
    pipeline two ports recirculate from the start: the controller can switch that on, but takes its own success for a
    failure."""
    program = os.path.join(folder, PROGRAM + ".p4")
    os.symlink(os.path.join(app, "dev_root/p4/switchml.p4"), program)
    return {"program": program, "include": [os.path.join(app, "dev_root/p4")], "bfrt": {"listen": BFRT},
            **({"loopback": [192, 448]} if folded else {})}


def ends(process, what, pattern, log, seconds):
    """Returns when the log has the pattern; ends this program when the process ends before, or takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open(log, encoding="utf-8", errors="replace") as f:
            if re.search(pattern, f.read(), re.M):
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    with open(log, encoding="utf-8", errors="replace") as f:
        sys.exit(f"error: {what}: {f.read()[-2000:]}")


class Controller:
    """'macs' are the workers', worker w at the front panel's port w + 1, which is device port 4 * w. 'paths' are what
    Python needs on its path for the stubs. 'folded': packets of 256 integers, which go through all pipes."""

    def __init__(self, app, sde, folder, macs, switch_mac, switch_ip, folded=False):
        self.folder, self.log = folder, os.path.join(folder, "controller.log")
        self.paths = outside.prepare(folder, sde, sde)
        packages = os.path.join(folder, "install/lib/python3/site-packages/tofino")
        os.makedirs(packages)
        shutil.copytree(os.path.join(folder, "bfrt_grpc"), os.path.join(packages, "bfrt_grpc"))
        subprocess.run(["protoc", f"--proto_path={app}/dev_root/protos", f"--python_out={folder}", "switchml.proto"],
                       check=True)
        for name, text in (("switchml_pb2_grpc.py", STUBS),
                           ("colors.py", "def color(text, *_, **__):\n    return text\n")):
            self._write(name, text)
        self._write("ports.yaml", "ports:\n" + "".join(
            f'  {w + 1}/0 : {{speed: "100G", fec: "none", mac: "{mac}"}}\n' for w, mac in enumerate(macs)))
        self.command = [sys.executable, os.path.join(app, "dev_root/controller/switchml.py"), "--ports",
                        os.path.join(folder, "ports.yaml"), "--switch-mac", switch_mac, "--switch-ip", switch_ip,
                        *(["--enable-folded-pipe"] if folded else [])]
        self.process = None

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def start(self):
        """Returns when its command line is there and it listens. The switch has to be ready."""
        env = {**os.environ, "SDE_INSTALL": os.path.join(self.folder, "install"), "PYTHONPATH": self.folder,
               "PYTHONUNBUFFERED": "1", "TERM": "dumb"}
        with open(self.log, "w", encoding="utf-8") as f:
            self.process = subprocess.Popen(self.command, stdout=f, stderr=f, stdin=subprocess.PIPE, text=True, env=env,
                                            cwd=self.folder)
        ends(self.process, "the controller", r"SwitchML>", self.log, 300)
        self._listens()

    def _listens(self):
        host, port = SERVICES.split(":")
        for _ in range(200):
            with socket.socket() as s:
                if s.connect_ex((host, int(port))) == 0:
                    return
            time.sleep(0.1)
        sys.exit("error: the controller does not answer at " + SERVICES)

    def tell(self, line):
        """What the command line answers."""
        with open(self.log, encoding="utf-8", errors="replace") as f:
            before = len(f.read())
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        end = time.monotonic() + 120
        while time.monotonic() < end:
            time.sleep(0.3)
            text = self._since(before)
            if text.count("SwitchML>") or re.search(r"\n.*\n\s*\S*$", text) and len(text) > 20:
                time.sleep(1)
                return self._since(before)
        return ""

    def _since(self, before):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()[before:]

    def statistics(self, slots):
        """The rows of show_statistics, of numbers: slot, broadcast and retransmitted results of both sets, ..."""
        shown = self.tell(f"show_statistics {slots}")
        rows = [list(map(int, line.split())) for line in shown.splitlines()
                if re.match(r"^[\s\d]+$", line) and line.strip()]
        return shown, [r for r in rows if len(r) == 9]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
