# SPDX-License-Identifier: Apache-2.0
"""Python's messages and stubs of P4Runtime, made by protoc for code of others (shell.py, fabric.py)."""
import importlib
import os
import shutil
import subprocess
import sys

CODES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
         "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
         "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")

# What protoc needs and Debian has only in libprotobuf-dev and nowhere: their Python is python3-protobuf's, and none.
ANY = """syntax = "proto3"; package google.protobuf; message Any { string type_url = 1; bytes value = 2; }"""
CODE = 'syntax = "proto3"; package google.rpc; enum Code { %s }' % " ".join(
    f"{name} = {number};" for number, name in enumerate(CODES))
STATUS = """syntax = "proto3"; package google.rpc; import "google/protobuf/any.proto";
message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }"""


# This tree's description has what the switch needs: neither the service nor the numbers of kinds of ids.
IDS = """message P4Ids { enum Prefix { UNSPECIFIED = 0; ACTION = 1; TABLE = 2; VALUE_SET = 3; CONTROLLER_HEADER = 4;
ACTION_PROFILE = 17; COUNTER = 18; DIRECT_COUNTER = 19; METER = 20; DIRECT_METER = 21; REGISTER = 22; DIGEST = 23; } }"""
SERVICE = "service P4Runtime { %s }" % " ".join(f"rpc {name}({ask}) returns ({answer});" for name, ask, answer in (
    ("Write", "WriteRequest", "WriteResponse"), ("Read", "ReadRequest", "stream ReadResponse"),
    ("SetForwardingPipelineConfig", "SetForwardingPipelineConfigRequest", "SetForwardingPipelineConfigResponse"),
    ("GetForwardingPipelineConfig", "GetForwardingPipelineConfigRequest", "GetForwardingPipelineConfigResponse"),
    ("StreamChannel", "stream StreamMessageRequest", "stream StreamMessageResponse"),
    ("Capabilities", "CapabilitiesRequest", "CapabilitiesResponse")))


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def our_protos(proto):
    """This tree's description under the names of the public one."""
    for name, package in (("p4info", "p4/config/v1"), ("p4runtime", "p4/v1")):
        with open(f"p4rt/{name}.proto", encoding="utf-8") as f:
            text = f.read()
        text = text.replace('"p4rt/p4info.proto"', '"p4/config/v1/p4info.proto"')
        text = text.replace('"brt/status.proto"', '"google/rpc/status.proto"')
        write(proto, f"{package}/{name}.proto", text + (SERVICE if name == "p4runtime" else IDS))


def prepare(folder, checkout, protos):
    """Packages p4 and google.rpc in the folder's folder "python", by protoc; this process finds them, and the checkout.
    'protos', a checkout of p4lang/p4runtime, may be None: then this tree's description is used."""
    proto, python = os.path.join(folder, "proto"), os.path.join(folder, "python")
    if protos:
        shutil.copytree(os.path.join(protos, "proto/p4"), os.path.join(proto, "p4"))
    else:
        our_protos(proto)
    write(proto, "google/protobuf/any.proto", ANY)
    write(proto, "google/rpc/code.proto", CODE)
    write(proto, "google/rpc/status.proto", STATUS)
    os.makedirs(python)
    files = [os.path.relpath(os.path.join(at, name), proto) for at, _, names in os.walk(proto) for name in names
             if name.endswith(".proto") and name != "any.proto"]
    subprocess.run(["protoc", f"--proto_path={proto}", f"--python_out={python}",
                    f"--plugin=protoc-gen-grpc={shutil.which('grpc_python_plugin')}", f"--grpc_out={python}", *files],
                   check=True)
    sys.path[:0] = [python] + ([checkout] if checkout else [])
    google = importlib.import_module("google") # a package of Debian's already: its path is made longer
    google.__path__.append(os.path.join(python, "google"))
