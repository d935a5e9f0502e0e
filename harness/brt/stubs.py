# SPDX-License-Identifier: Apache-2.0
"""stubs: what gRPC clients of tests share: messages generated from .proto files of the tree, and calls whose failures
have the errors of their updates.

    pb, status_pb = generated("brt/bfruntime.proto", "brt/status.proto")
    Failed, call = failures(status_pb, "type.googleapis.com/bfrt_proto.Error", pb.Error)
"""
import atexit
import importlib
import shutil
import subprocess
import sys
import tempfile

import grpc


def generated(*protos):
    """The Python modules of these files."""
    folder = tempfile.mkdtemp(prefix="silken-stubs-")
    atexit.register(shutil.rmtree, folder, True)
    subprocess.run(["protoc", f"--python_out={folder}", *protos], check=True)
    sys.path.insert(0, folder)
    return [importlib.import_module(proto.removesuffix(".proto").replace("/", ".") + "_pb2") for proto in protos]


def failures(status_pb, type_url, of_update):
    """The exception of a call that ended with another status than OK, and a function that makes calls."""

    class Failed(Exception):
        """'errors': of its updates, as far as they are told."""

        def __init__(self, error):
            super().__init__(f"{error.code().name}: {error.details()}")
            self.code, self.sentence, self.errors = error.code().name, error.details(), []
            for name, value in error.trailing_metadata() or ():
                if name == "grpc-status-details-bin":
                    for item in status_pb.Status.FromString(value).details:
                        assert item.type_url == type_url, item.type_url
                        self.errors.append(of_update.FromString(item.value))

        def codes(self):
            return [e.canonical_code for e in self.errors]

    def call(function, *args, **kwargs):
        try:
            return function(*args, timeout=300, **kwargs)
        except grpc.RpcError as e:
            raise Failed(e) from None

    return Failed, call
