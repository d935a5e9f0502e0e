# SPDX-License-Identifier: Apache-2.0
"""A compiled program behind a pipe, for tests that build packets byte by byte.

`Switch(config)` starts build/tools/swpipe, which runs the same engine as `silken run` on a
configuration without devices; frames go in and come out as hexadecimal lines. Everything a frame
causes has happened when send() returns, so a test says exactly what must come out and what not.
"""
import json
import os
import subprocess
import tempfile

BUILD = os.environ.get("BUILD", "build")


class Switch:
    def __init__(self, config):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(config, self.file)
        self.file.flush()
        self.process = subprocess.Popen(
            [f"{BUILD}/tools/swpipe", self.file.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline().strip()
        if first != "ready":
            raise RuntimeError(f"swpipe did not start: {first!r}")

    def ask(self, line):
        """Sends one command; returns the lines of the answer, without the final 'ok'."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = []
        while True:
            got = self.process.stdout.readline()
            if not got:
                raise RuntimeError(f"swpipe ended at {line[:80]!r}")
            got = got.strip()
            if got == "ok":
                return answer
            if got.startswith("error"):
                raise RuntimeError(f"{line[:80]!r}: {got}")
            answer.append(got)

    def send(self, port, frame):
        """Sends bytes into a port; returns [(port, bytes)] of all that came out, sorted by port."""
        out = []
        for line in self.ask(f"rx {port} {bytes(frame).hex()}"):
            word, out_port, data = line.split()
            assert word == "tx", line
            out.append((int(out_port), bytes.fromhex(data)))
        return sorted(out)

    def register(self, name, index, field=""):
        """One value per pipe."""
        return [int(v) for v in self.ask(f"register {name} {index} {field}")[0].split()]

    def counter(self, name, index):
        """(packets, bytes), all pipes together."""
        packets, size = self.ask(f"counter {name} {index}")[0].split()
        return int(packets), int(size)

    def drops(self):
        """The engine's own drops by reason."""
        return {line.split(" ", 1)[1]: int(line.split(" ", 1)[0]) for line in self.ask("drops")}

    def digests(self):
        """[(name, {field: value})] of what came since the last time."""
        out = []
        for line in self.ask("digests"):
            name, *fields = line.split()
            out.append((name, {f.split("=")[0]: int(f.split("=")[1]) for f in fields}))
        return out

    def wait(self, ns):
        """Nothing comes in for so long."""
        self.ask(f"wait {ns}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.file.close()
