#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does the suite notice when p4/switchml changes? Makes mutants of the program (mutate.py), plays the
SwitchML cases to each in the fast build until one fails, and says which mutants none noticed.

    mutants.py [--resume] [--sample N] [WORD]...    N that compile, spread evenly; those with a WORD in them

Mutants that do not compile are not counted. Of some it is proved that they are the same program (proofs.py):
their generated C is the same, or the table whose entries differ is. Others that no packet can tell from it
are listed in survivors.text with the reason; the exit status is 1 when another one survives, one of
the list is noticed or proved, or of one it could not be found out. What became of each goes to
$BUILD/replay/mutants.text as soon as it is known; --resume takes from there what is known, if program and
captures are still the same. On a slow machine a compilation may take long: who does not end in time has
another, larger one, and then is an error, and the others go on."""
import glob
import hashlib
import math
import os
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run  # noqa: E402
import proofs  # noqa: E402
from mutate import Enumerator  # noqa: E402
from test_captures import chosen  # noqa: E402

FOLDER = "p4/switchml"
COMMON = "p4/common"
INCLUDED = ("forward.p4",)  # of these, what the program includes
FIELDS = {
    "hdr.ethernet.dst_addr": "hdr.ethernet.src_addr", "hdr.ipv4.src_addr": "hdr.ipv4.dst_addr",
    "hdr.switchml.job_number": "hdr.ipv4.ttl", "hdr.ipv4.total_len": "hdr.udp.length",
    "hdr.udp.length": "hdr.ipv4.total_len", "md.bad_checksum": "md.length_ok",
    "md.length_ok": "md.admitted", "md.admitted": "md.length_ok", "md.seen": "hdr.bridge.worker_bit",
    "md.missing": "hdr.exponents.e1", "hdr.bridge.num_workers": "hdr.bridge.unicast",
    "hdr.bridge.unicast": "hdr.bridge.num_workers", "hdr.udp.dst_port": "hdr.udp.src_port",
    "hdr.ipv4.version": "hdr.ipv4.ihl", "hdr.ipv4.ihl": "hdr.ipv4.version",
    "hdr.ipv4.protocol": "hdr.ipv4.ttl", "hdr.ethernet.ether_type": "hdr.ethernet.src_addr[15:0]",
    "hdr.switchml.pool_index": "md.room", "md.room": "hdr.switchml.pool_index",
    "md.rid": "eg_intr_md.egress_rid",
}
ANYTHING = ("0", "true", "packet_size_t.ELEMENTS_64")
COMPILE_S = (120, 900)  # how long it may take, and if it is not done then, the second time
PLAY_S = (20, 300)


class Hunt:
    def __init__(self):
        self.work = os.path.abspath(f"{run.BUILD}/replay/mutants")
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.lock = threading.Lock()
        self.cases = []  # (case, words for replay, folder); the best hunter first
        for case in chosen(["switchml/"]):
            folder = f"{self.work}/cases/{case.name}"
            self.cases.append((case, run.write_files(case, folder)[1:], folder))
        self.texts = {}
        for path in glob.glob(f"{FOLDER}/*.p4"):
            with open(path, encoding="utf-8") as f:
                self.texts[os.path.basename(path)] = f.read()
        for name in INCLUDED:
            with open(f"{COMMON}/{name}", encoding="utf-8") as f:
                self.texts[f"common/{name}"] = f.read()
        self.names = proofs.Names(self.texts)
        self.code = None  # generated from the program as it is

    def digest(self):
        """Of what results depend on."""
        h = hashlib.sha256()
        for name in sorted(self.texts):
            h.update(self.texts[name].encode())
        for case, _, _ in sorted(self.cases, key=lambda entry: entry[0].name):
            h.update(case.text().encode())
        return h.hexdigest()

    @staticmethod
    def copy(folder):
        """Of the program and what it includes; returns the environment to compile it in."""
        shutil.copytree(FOLDER, f"{folder}/switchml")
        shutil.copytree(COMMON, f"{folder}/common")
        env = dict(os.environ, SILKEN_CACHE=f"{folder}/cache")
        os.makedirs(env["SILKEN_CACHE"], mode=0o700)
        return env

    def check(self):
        """The program as it is passes: otherwise all mutants would be noticed, whatever they are."""
        folder = f"{self.work}/unchanged"
        env = self.copy(folder)
        by = self.play(folder, env) if self.compiles(folder, env) else "the compiler"
        self.code = self.generated(folder)
        shutil.rmtree(folder)
        if by:
            raise run.Failure(f"{FOLDER} itself is refused by {by}: no mutant is worth trying")

    def noticed(self, mutant):
        """The name of the case that fails, "" if none does, None if the mutant does not compile, one of PROOFS."""
        folder = f"{self.work}/{os.path.basename(mutant.file)}-{mutant.at}-{mutant.kind}"
        env = self.copy(folder)
        try:
            for new in mutant.new:
                path = mutant.file if "/" in mutant.file else f"switchml/{mutant.file}"
                text = mutant.apply(self.texts[mutant.file], new)
                with open(f"{folder}/{path}", "w", encoding="utf-8") as f:
                    f.write(text)
                if not self.compiles(folder, env):
                    continue
                if self.generated(folder) == self.code:
                    return "=code"
                old = self.texts[mutant.file]
                if proofs.same_but_for_sizes(old, text) or proofs.same_entries(old, text, self.names):
                    return "=table"
                return self.play(folder, env)
            return None
        finally:
            shutil.rmtree(folder)

    @staticmethod
    def compiles(folder, env):
        try:
            run.patiently(lambda s: run.silken("build", f"{folder}/switchml/switchml.p4", "--emit-c",
                                               f"{folder}/switchml.c", env=env, seconds=s), *COMPILE_S)
        except run.Failure:
            return False
        return True

    @staticmethod
    def generated(folder):
        try:
            with open(f"{folder}/switchml.c", encoding="utf-8") as f:
                return proofs.code(f.read(), folder)
        except FileNotFoundError:
            return None

    def play(self, folder, env):
        with self.lock:
            cases = list(self.cases)
        for entry in cases:
            case, words, files = entry
            out = f"{folder}/out"
            try:
                run.patiently(lambda s: run.silken(
                    "replay", f"{folder}/switchml/switchml.p4", *words, "--expect", f"{files}/gold",
                    "--expect-state", f"{files}/state.json", "--fast", "--out", out, env=env,
                    seconds=s), *PLAY_S)
                run.same_drops(case, out, False)
                run.patiently(lambda s: run.refusals(
                    case, [f"{folder}/switchml/switchml.p4", *words], files, env=env, seconds=s), *PLAY_S)
            except (run.Failure, run.TimeoutExpired):
                with self.lock:
                    self.cases.remove(entry)
                    self.cases.insert(0, entry)
                return case.name
        return ""


def known_survivors():
    """{mutant's key: why it is the same program}"""
    out, path = {}, os.path.join(run.HERE, "survivors.text")
    with open(path, encoding="utf-8") as f:
        why = ""
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith(" "):
                out[line.strip()] = why
            else:
                why = line.strip()
    return out


def spread(mutants):
    """The same mutants in an order whose every beginning is spread evenly over the files."""
    n, step = len(mutants), max(1, round(len(mutants) * 0.618))
    while math.gcd(n, step) != 1:
        step += 1
    return [mutants[i * step % n] for i in range(n)]


def batches(mutants, wanted, known, noticed):
    """(mutant, result) of all, or until so many were counted: the name of the case that fails, "" if
    none does, None if the mutant does not compile, the Failure if that cannot be said. 'known' has
    results by the mutants' keys, the others are noticed(mutant)."""
    counted = 0
    for i in range(0, len(mutants), run.ATONCE):
        for mutant, by in run.in_parallel(lambda m: known[m.key] if m.key in known else noticed(m),
                                          mutants[i:i + run.ATONCE]):
            counted += by is not None
            yield mutant, by
        if counted >= wanted:
            return


PROOFS = {"=code": "code", "=table": "table"}  # results that need no captures, and their verdicts
VERDICTS = {  # what the list says, and what is said at once
    "refused": None, "caught": None, "same": None, "code": None, "table": None, "missed": "not noticed",
    "stale": "noticed or proved, though in survivors.text", "error": "it could not be found out"}


class Tally:
    """Counts, says at once what was missed, and lists everything in a file."""

    def __init__(self, log, digest):
        self.known, self.log, self.start = known_survivors(), log, time.monotonic()
        self.counts = {}  # (kind, verdict): mutants
        log.write(f"{digest}\n")

    def verdict(self, mutant, by):
        known = mutant.key in self.known
        if isinstance(by, run.Failure):
            return "error"
        if by is None:
            return "refused"
        if by in PROOFS and not known:
            return PROOFS[by]
        return ("stale" if known else "caught") if by else "same" if known else "missed"

    def line(self, mutant, by):
        verdict = self.verdict(mutant, by)
        name = by if by and verdict not in ("error", *PROOFS.values()) else "-"
        return f"{verdict:8}{name:32} {mutant.kind:10}{mutant.key}\n"

    def add(self, mutant, by, new=True):
        verdict = self.verdict(mutant, by)
        if verdict != "refused":
            self.counts[mutant.kind, verdict] = self.counts.get((mutant.kind, verdict), 0) + 1
        if new:
            self.log.write(self.line(mutant, by))
            self.log.flush()
        if VERDICTS[verdict]:
            print(f"{VERDICTS[verdict]}: {FOLDER}/{mutant.file}:{mutant.line}: {mutant.key}")
            if verdict == "error":
                print(f"  {by}")
            sys.stdout.flush()

    def report(self):
        print(f"{'':10}{'compile':>8}{'noticed':>9}{'code':>6}{'table':>7}{'same':>6}{'missed':>8}{'stale':>7}"
              f"{'errors':>8}{'of what can differ':>20}")
        for kind in [*sorted({k for k, _ in self.counts}), None]:
            n = {v: sum(c for (k, w), c in self.counts.items() if kind in (k, None) and w == v)
                 for v in ("caught", "code", "table", "same", "missed", "stale", "error")}
            counted = sum(n.values())
            can_differ = counted - n["code"] - n["table"] - n["same"]
            print(f"{kind or 'all':10}{counted:8}{n['caught']:9}{n['code']:6}{n['table']:7}{n['same']:6}"
                  f"{n['missed']:8}{n['stale']:7}{n['error']:8}"
                  f"{100 * n['caught'] / max(1, can_differ):12.1f} % noticed")
        bad = n["missed"] + n["stale"] + n["error"]
        print("'code': the generated C is the same; 'table': the entries do the same for every key; 'same': by "
              f"survivors.text; {time.monotonic() - self.start:.0f} s")
        print(f"{counted - bad} passed, {bad} failed")
        return 1 if bad or not counted else 0


def results(path, digest):
    """{mutant's key: result} of an earlier run of the same program and captures; errors are tried again."""
    out = {}
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return out
    for line in lines[1:] if lines[:1] == [digest] else []:
        verdict, name, _, key = line.split(None, 3)
        if verdict != "error":
            proof = next((by for by, known in PROOFS.items() if known == verdict), "")
            out[key] = None if verdict == "refused" else name if name != "-" else proof
    return out


def main(words):
    resume = words[:1] == ["--resume"]
    words = words[resume:]
    path = f"{run.BUILD}/replay/mutants.text"
    hunt = Hunt()
    hunt.check()
    mutants = Enumerator(hunt.texts, FIELDS, ANYTHING).all()
    wanted = len(mutants)
    if words[:1] == ["--sample"]:
        mutants, wanted, words = spread(mutants), int(words[1]), words[2:]
    mutants = [m for m in mutants if not words or any(w in m.key for w in words)]
    known = results(path, hunt.digest()) if resume else {}
    with open(f"{path}.new", "w", encoding="utf-8") as log:
        tally = Tally(log, hunt.digest())
        # what is known stays known, whenever this one ends
        for m in (m for m in mutants if m.key in known):
            log.write(tally.line(m, known[m.key]))
        log.flush()
        os.replace(f"{path}.new", path)
        for mutant, by in batches(mutants, wanted, known, hunt.noticed):
            tally.add(mutant, by, mutant.key not in known)
    return tally.report()


if __name__ == "__main__":
    run.program(main)
