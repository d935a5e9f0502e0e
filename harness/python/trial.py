# SPDX-License-Identifier: Apache-2.0
"""What test_torch.py and cuda.sh run: launches of sums.py and train.py beside a switch, and what must hold between them.

Prints one line of JSON: "passed" and "failed", lists of claims; and what was measured.
"""
import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from switch import Switch  # noqa: E402

LOSS_BOUND = 1e-3  # of a training's mean loss at its end, between gloo and silken


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Trial:
    def __init__(self, args):
        self.args, self.began = args, time.monotonic()
        self.passed, self.failed, self.seen = [], [], {}
        self.bundle, self.logs = args.bundle, tempfile.mkdtemp(prefix="silken-trial-")
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        # the switch finds its libraries in the bundle; Python must not
        self.silken = ["env", "LD_LIBRARY_PATH=" + os.environ.get("LD_LIBRARY_PATH_SWITCH", ""),
                       os.path.join(self.bundle, "silken")] if self.bundle else None

    def claim(self, what, holds, detail=None):
        (self.passed if holds else self.failed).append(what)
        sys.stderr.write("%6.1f s  %s  %s\n" % (time.monotonic() - self.began, "ok" if holds else "FAILED", what))
        if not holds:
            sys.stderr.write("%s\n" % str(detail)[-3000:])
        sys.stderr.flush()

    def left(self):
        return self.args.budget - (time.monotonic() - self.began)

    def launch(self, ranks, script, *words, env=None, module=False, limit=90):
        """torchrun; (status, what rank 0 has printed as JSON or None, all output, seconds)."""
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(ranks),
                   "--master_addr", "127.0.0.1", "--master_port", str(free_port())]
        if self.args.old:  # Debian's fails without these on Python 3.11
            command += ["-r", "1", "-t", "1", "--log_dir", self.logs]
        command += (["-m", "silken.run"] if module else []) + [os.path.join(HERE, script), *words]
        began = time.monotonic()
        process = subprocess.Popen(command, env={**os.environ, **(env or {})}, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            text = process.communicate(timeout=max(1, min(limit, self.left())))[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the launcher and its ranks
            text = process.communicate()[0] + "\nended after its time"
        status = process.returncode
        said = [line[line.index("{"):] for line in text.splitlines() if "{\"" in line]
        try:
            result = json.loads(said[-1]) if said else None
        except ValueError:
            result = None
        return status, result, text, time.monotonic() - began

    # ---- the parts ----

    def sums(self, ranks, device):
        words = ["%s" % device, "silken"] + ([] if self.args.old else ["noimport"])
        with Switch(ranks, self.silken) as switch:
            status, said, text, seconds = self.launch(ranks, "sums.py", *words, env=switch.environment())
        name = "%d ranks, %s: sums of f32, f16, bf16, i32 are exact" % (ranks, device)
        self.claim(name + ("" if self.args.old else ", without an import"),
                   status == 0 and said and said["sums"] == "right", text)
        if said:
            self.claim("%d ranks, %s: sums are under way when the call returns" % (ranks, device),
                       said["under_way"] > 0, said)
            self.seen["sums %s %d" % (device, ranks)] = {**said["counters"], "seconds": round(seconds, 1)}

    def training(self, ranks, device):
        steps = ["--device", device, "--steps", str(self.args.steps)]
        _, gloo, text, _ = self.launch(ranks, "train.py", "--backend", "gloo", *steps)
        with Switch(ranks, self.silken) as switch:
            env = switch.environment()
            _, silken, text2, _ = self.launch(ranks, "train.py", "--backend", "silken", *steps, env=env,
                                              module=self.args.old)
            if ranks >= 4:
                _, replaced, text3, _ = self.launch(
                    ranks, "train.py", "--backend", "gloo", *steps, module=True,
                    env={**env, "SILKEN_REPLACE": "gloo"})
        name = "%d ranks, %s: " % (ranks, device)
        trained = [("gloo", gloo, text), ("silken", silken, text2)]
        if ranks >= 4:
            trained.append(("gloo replaced by silken", replaced, text3))
        for what, said, why in trained:
            self.claim(name + what + " trains, all ranks' parameters are the same bits",
                       said and said["same_bits"], why)
            if said and gloo:
                self.claim(name + "the loss of " + what + " is gloo's within %g" % LOSS_BOUND,
                           abs(said["loss"] - gloo["loss"]) <= LOSS_BOUND * max(1, gloo["loss"]), said)
                self.seen["%s %s %d" % (what, device, ranks)] = {
                    k: said.get(k) for k in ("loss", "step_ms", "counters")}
        for what, said, _ in trained[1:]:
            self.claim(name + what + " sent its gradients through the switch",
                       said and said.get("counters", {}).get("switch", {}).get("calls", 0) >= self.args.steps, said)
        return gloo

    def lost(self, ranks, device, gloo):
        """The switch is killed in mid-run: the training ends with the loss that it would have had."""
        with Switch(ranks, self.silken) as switch:
            env = {**switch.environment(), "SILKEN_HARD_LIMIT_MS": "3000"}
            status, said, text, seconds = self.launch(
                ranks, "train.py", "--backend", "silken", "--device", device, "--steps", str(self.args.steps),
                "--kill", str(self.args.steps // 2), env=env, module=self.args.old)
        name = "%d ranks, %s, the switch killed: " % (ranks, device)
        self.claim(name + "all ranks end with the same bits", status == 0 and said and said["same_bits"], text)
        if said and gloo:
            self.claim(name + "the loss is gloo's within %g" % LOSS_BOUND,
                       abs(said["loss"] - gloo["loss"]) <= LOSS_BOUND * max(1, gloo["loss"]), said)
            c = said["counters"]
            self.claim(name + "sums went through the switch before and by Gloo after",
                       c["switch"]["calls"] > 0 and c["fallback"]["calls"] > 0, c)
            self.seen["lost %s %d" % (device, ranks)] = {**c, "seconds": round(seconds, 1)}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bundle")
    p.add_argument("--device", default="cpu")
    p.add_argument("--ranks", default="2,4")
    p.add_argument("--steps", type=int, default=30)
    p.add_argument("--budget", type=float, default=900, help="seconds for all; what is left over fails")
    p.add_argument("--suite", action="store_true", help="print claims as a test suite does")
    args = p.parse_args()
    import torch
    args.old = int(torch.__version__.split(".")[0]) < 2
    trial = Trial(args)
    for ranks in map(int, args.ranks.split(",")):
        trial.sums(ranks, args.device)
        gloo = trial.training(ranks, args.device)
        trial.lost(ranks, args.device, gloo)
    shutil.rmtree(trial.logs, ignore_errors=True)
    summary = {"torch": torch.__version__, "cuda": torch.version.cuda, "device":
               torch.cuda.get_device_name(0) if args.device == "cuda" else args.device,
               "seconds": round(time.monotonic() - trial.began, 1), "failed": trial.failed,
               "passed": trial.passed, "seen": trial.seen}
    print(json.dumps(summary))
    if args.suite:
        print("%d passed, %d failed" % (len(trial.passed), len(trial.failed)))
    sys.exit(bool(trial.failed))


if __name__ == "__main__":
    main()
