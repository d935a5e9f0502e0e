# SPDX-License-Identifier: Apache-2.0
"""Runs cases with `silken replay`: compiles each program once in each build, writes a case's captures,
golden captures and entries to files, and compares what comes out."""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from subprocess import TimeoutExpired

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "pcap"))
from captures import pcap, read  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
SILKEN = os.environ.get("SILKEN", f"{BUILD}/silken")
GOLDEN = os.path.join(HERE, "golden")
THREADS = (2, 4)  # numbers of threads to replay with beside the usual one
ATONCE = int(os.environ.get("JOBS", "2"))  # programs that run at a time


class Failure(Exception):
    pass


def silken(*words, status=0, seconds=120, env=None):
    """Runs the command; fails with what it says when it ends with another status."""
    done = subprocess.run([SILKEN, *map(str, words)], text=True, capture_output=True,
                          timeout=seconds, check=False, env=env)
    if done.returncode != status:
        raise Failure(f"silken {' '.join(map(str, words))}\nexit status {done.returncode}\n"
                      f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def patiently(work, *limits):
    """work(seconds), again with the next limit when that was not enough."""
    for seconds in limits[:-1]:
        try:
            return work(seconds)
        except TimeoutExpired:
            pass
    return work(limits[-1])


def program(main):
    """Runs main() with the words of the command line and ends with the status it returns, or 1."""
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as e:
        print(e)
        sys.exit(1)


def in_parallel(work, items):
    """Generates (item, result or the Failure), in order, as soon as they are known."""
    def one(item):
        try:
            return work(item)
        except (Failure, TimeoutExpired) as e:
            return e if isinstance(e, Failure) else Failure(str(e))
    with ThreadPoolExecutor(ATONCE) as pool:
        yield from zip(items, pool.map(one, items))


# ---- files of a case

def write_files(case, folder):
    """in-PORT.pcap, entries.json, refused-N.json and gold/port-PORT.pcap; returns the words for `silken replay`."""
    os.makedirs(f"{folder}/gold", exist_ok=True)
    words = [case.program, *case.options, "--in"]
    for port in sorted({port for _, port, _ in case.received}):
        with open(f"{folder}/in-{port}.pcap", "wb") as f:
            f.write(pcap([(t, data) for t, p, data in case.received if p == port]))
        words.append(f"{port}={folder}/in-{port}.pcap")
    for port, packets in case.sent.items():
        with open(f"{folder}/gold/port-{port}.pcap", "wb") as f:
            f.write(pcap(packets))
    if case.config:
        with open(f"{folder}/entries.json", "w", encoding="utf-8") as f:
            json.dump(case.config, f, indent=1)
        words += ["--entries", f"{folder}/entries.json"]
    for i, (config, _) in enumerate(case.refused):
        with open(f"{folder}/refused-{i}.json", "w", encoding="utf-8") as f:
            json.dump(config, f, indent=1)
    if case.state:
        with open(f"{folder}/state.json", "w", encoding="utf-8") as f:
            json.dump({"silken_state": 1, **case.state}, f, indent=0)
    return words


def golden_path(case):
    return os.path.join(GOLDEN, case.name + ".text")


def same_text(case):
    """The story is the one that golden/ has."""
    try:
        with open(golden_path(case), encoding="utf-8") as f:
            golden = f.read().splitlines()
    except FileNotFoundError:
        raise Failure(f"there is no {golden_path(case)}; --update writes it") from None
    told = case.text().splitlines()
    for i in range(max(len(golden), len(told))):
        a = golden[i] if i < len(golden) else "(the end)"
        b = told[i] if i < len(told) else "(the end)"
        if a != b:
            raise Failure(f"{golden_path(case)}, line {i + 1}:\n  golden {a}\n  now    {b}\n"
                          "if that is meant, --update writes it anew")


# ---- what came out

def drops(folder):
    with open(f"{folder}/drops.jsonl", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def same_drops(case, folder, checked):
    """Drops in order, by the keys that the case gives (those of the checked build only there)."""
    got = drops(folder)
    for i, want in enumerate(case.dropped):
        if i == len(got):
            raise Failure(f"drop {i + 1} is missing: {want}")
        keys = [k for k in want if checked or k not in ("table", "action", "state", "at")]
        if any(got[i].get(k) != want[k] for k in keys):
            raise Failure(f"drop {i + 1} is\n  {got[i]}\nand should be\n  {want}")
    if len(got) > len(case.dropped):
        raise Failure(f"drop {len(case.dropped) + 1} should not be: {got[len(case.dropped)]}")


def same_times(case, folder):
    """`--expect` compares bytes; these are the times of the same packets."""
    for port, packets in case.sent.items():
        got = read(f"{folder}/port-{port}.pcap")
        for i, ((t, _), (want, _)) in enumerate(zip(got, packets)):
            if t != want:
                raise Failure(f"port {port}, packet {i + 1} was sent at {t} ns, not {want}")


def contents(folder, without_places=False):
    """{name: bytes} of a folder of results; of drops only what both builds know."""
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(f"{folder}/{name}", "rb") as f:
            out[name] = f.read()
    if without_places:
        out["drops.jsonl"] = [{k: v for k, v in d.items() if k not in
                               ("table", "action", "state", "at")} for d in drops(folder)]
    return out


def same_bytes(a, b, places=True):
    """Two folders of results have the same files with the same bytes."""
    one, other = contents(a, not places), contents(b, not places)
    for name in sorted(set(one) | set(other)):
        if one.get(name) != other.get(name):
            raise Failure(f"{a}/{name} and {b}/{name} differ")


# ---- the tests of a case

def replay(words, out, *more):
    """Plays a case; its results, and what is left in the switch, are in the folder then."""
    silken("replay", *words, *more, "--out", out, "--dump-state", f"{out}/state.json")


def refusals(case, words, folder, **how):
    """What should be refused is. 'how' is for silken()."""
    if "--entries" in words:
        words = words[:words.index("--entries")]
    for i, (_, message) in enumerate(case.refused):
        said = silken("replay", *words, "--entries", f"{folder}/refused-{i}.json", "--fast",
                      status=2, **how)
        if message not in said:
            raise Failure(f"{folder}/refused-{i}.json is refused with\n  {said.strip()}\nand should be with\n"
                          f"  {message}")


def golden(case, words, folder):
    """What is sent and dropped, and when, is what the case says, in both builds, and so is what is left
    in the switch."""
    same_text(case)
    gold = ["--expect", f"{folder}/gold"]
    if case.state:
        gold += ["--expect-state", f"{folder}/state.json"]
    replay(words, f"{folder}/checked-1", *gold)
    same_drops(case, f"{folder}/checked-1", True)
    same_times(case, f"{folder}/checked-1")
    replay(words, f"{folder}/fast-1", *gold, "--fast")
    same_drops(case, f"{folder}/fast-1", False)
    refusals(case, words, folder)


BUILDS = (("checked", ["--checked"]), ("fast", ["--fast"]))
CROSSING = ["--crossing", "700"]  # ns, so that pipes which pass packets to each other have threads of their own


def deterministic(case, words, folder):
    """The same bytes from both builds, twice each, and with any number of threads (with TWICE set, twice with
    each)."""
    times = (1, 2) if os.environ.get("TWICE") else (1,)
    for build, option in BUILDS:
        for run in (1, 2):
            if not os.path.exists(f"{folder}/{build}-{run}/state.json"):
                replay(words, f"{folder}/{build}-{run}", *option)
        same_bytes(f"{folder}/{build}-1", f"{folder}/{build}-2")
    same_bytes(f"{folder}/checked-1", f"{folder}/fast-1", places=False)
    # the fast build, and the checked one for where packets were dropped
    replay(words, f"{folder}/both")
    same_bytes(f"{folder}/checked-1", f"{folder}/both")
    for n in THREADS:
        for build, option in BUILDS:
            for run in times:
                out = f"{folder}/{build}-{n}-threads-{run}"
                replay(words, out, *option, "--threads", n)
                same_bytes(f"{folder}/{build}-1", out)
    if case.crosses:
        for n in (1, *THREADS):
            for run in times:
                out = f"{folder}/crossing-{n}-threads-{run}"
                replay(words, out, *CROSSING, "--threads", n)
                same_bytes(f"{folder}/crossing-1-threads-1", out)
        replay(words, f"{folder}/crossing-checked", *CROSSING, "--checked")
        same_bytes(f"{folder}/crossing-1-threads-1", f"{folder}/crossing-checked")


def compile_all(cases):
    """Each program once in each build. Fails with the first message."""
    builds = sorted({(c.program, *c.options, *b) for c in cases for b in ((), ("--checked",))})
    for _, result in in_parallel(lambda b: silken("build", *b), builds):
        if isinstance(result, Failure):
            raise result
