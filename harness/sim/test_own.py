# SPDX-License-Identifier: Apache-2.0
"""A protocol of one's own in the simulator: the example of docs/own-aggregation.md, whose hosts are a shared object, with
its faults (SEEDS: 1..300); programs with one line changed, which its hosts must find; libraries, entries and options that
are wrong, each with its sentence."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "harness")
import tally  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build")) + "/silken"
SEEDS = os.environ.get("SEEDS", "1..300")
CC = os.environ.get("CC", "cc")
EXAMPLE = "examples/maximum"
# what a researcher may get wrong: (what it is, the line, what stands there instead)
MUTANTS = [
    ("a late packet sets the round back", "value = max(value, hdr.maximum.round);", "value = hdr.maximum.round;"),
    ("the first of a round does not clear what was there", "action begin() {\n        md.mode = Mode.WRITE;",
     "action begin() {\n        md.mode = Mode.RAISE;"),
    ("even and odd rounds share their cells", "hdr.maximum.slot[14:0] ++ hdr.maximum.round[0:0]",
     "hdr.maximum.slot[14:0] ++ 1w0"),
    ("the others' bits stay", "value.odd = value.odd & md.not_bit;", "value.odd = value.odd;"),
    ("who asks again is not answered", "(1, _, _, _, _) : answer();", "(1, _, _, _, _) : late();"),
]


def compile_hosts(source, library, *options):
    subprocess.run([CC, "-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", "hosts/include", *options,
                    "-o", library, source, "-ljansson"], check=True)


def silken(*words, timeout=300):
    return subprocess.run([SILKEN, *words], capture_output=True, text=True, timeout=timeout)


class Own(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="silken-own-")
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("maximum.p4", "maximum.c", "maximum.json", "faults.json", "entries.json"):
            shutil.copy(f"{EXAMPLE}/{name}", self.folder)
        compile_hosts(self.folder + "/maximum.c", self.folder + "/maximum.so")

    def changed(self, name, change):
        path = f"{self.folder}/{name}.json"
        with open(self.folder + "/maximum.json") as f:
            what = json.load(f)
        change(what)
        with open(path, "w") as f:
            json.dump(what, f)
        return path

    def test_every_number_is_right(self):
        out = self.folder + "/result.json"
        run = silken("sim", self.folder + "/maximum.json", "--json", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(out) as f:
            job = json.load(f)["jobs"][0]
        self.assertEqual((job["outcome"], job["verified"]), ("sums", 4 * 2000 * 16))

    def test_the_same_seed_is_the_same_run(self):
        runs = [silken("sim", self.folder + "/faults.json", "--seed", "7", "--json", "-").stdout for _ in range(2)]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(json.loads(runs[0])["outcome"], "sums")

    def test_faults(self):
        run = silken("sim", self.folder + "/faults.json", "--seeds", SEEDS, "--jobs", "2")
        print(run.stdout.strip())
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn(" 0 violated", run.stdout)

    def test_mistakes_in_the_program_are_found(self):
        with open(self.folder + "/maximum.p4") as f:
            right = f.read()
        for what, line, instead in MUTANTS:
            with self.subTest(what):
                self.assertEqual(right.count(line), 1, line)
                with open(self.folder + "/maximum.p4", "w") as f:
                    f.write(right.replace(line, instead))
                run = silken("sim", self.folder + "/faults.json", "--seeds", "1..60", "--jobs", "2")
                self.assertEqual(run.returncode, 1, what + run.stdout + run.stderr)

    def test_a_host_that_crashes_and_comes_back(self):
        # it begins at round 1 again, which is over: it is told nothing and gives up, as do the others without it
        def crash(what):
            what["expect"] = "sums or failure"
            what["jobs"][0]["options"]["give_up_ms"] = 100
            what["faults"] = [{"kind": "host_crash", "hosts": ["h1"], "at_us": 100, "for_us": 50}]
        run = silken("sim", self.changed("crash", crash), "--json", "-")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = json.loads(run.stdout)
        self.assertEqual(result["outcome"], "failed")
        self.assertEqual([w["incarnation"] for w in result["jobs"][0]["workers"]], [0, 1, 0, 0])

    def test_wrong_libraries_entries_and_options(self):
        def write(name, text):
            path = f"{self.folder}/{name}"
            with open(path, "w") as f:
                f.write(text)
            return path
        with open(self.folder + "/maximum.c") as f:
            source = f.read()
        compile_hosts(write("none.c", "int nothing;\n"), self.folder + "/none.so")
        compile_hosts(write("old.c", source.replace(".version = SILKEN_STATION_VERSION", ".version = 999")),
                      self.folder + "/old.so")
        compile_hosts(write("part.c", source.replace("        .expire = maximum_expire,\n", "")), self.folder + "/part.so",
                      "-Wno-unused-function")
        compile_hosts(write("long.c", source.replace("        return FRAME;", "        return 9000;")), self.folder + "/long.so")
        compile_hosts(write("state.c", source.replace("    return s->state;", "    return (enum silken_station_state)7;")),
                      self.folder + "/state.so")
        write("garbage.so", "not a library")
        write("bad.json", "{")

        def job(key, value):
            return lambda what: what["jobs"][0].update({key: value})

        def config(value):
            return lambda what: what["topology"]["switch"].update(config=value)
        for name, change, status, sentence in [
                ("a", job("library", "missing.so"), 2, "cannot be loaded"),
                ("b", job("library", "garbage.so"), 2, "cannot be loaded"),
                ("c", job("library", "none.so"), 2, "has no silken_stations()"),
                ("d", job("library", "old.so"), 2, "for version 999"),
                ("e", job("library", "part.so"), 2, "leaves out a function"),
                ("f", job("library", 3), 2, "must be the shared object"),
                ("g", job("options", [1]), 2, "must be an object"),
                ("h", job("hosts", ["s0"]), 2, "s0"),
                ("i", job("hosts", []), 2, "1 to 256 hosts"),
                ("j", job("colour", "red"), 2, "colour"),
                ("k", config("missing.json"), 2, "missing.json"),
                ("l", config("bad.json"), 2, "bad.json"),
                ("m", config(3), 2, "must be an object"),
                ("n", job("options", {"slots": 5000}), 1, "\"slots\" is 1 to 1024"),
                ("o", job("library", "long.so"), 1, "sends a frame of 9000 bytes"),
                ("p", job("library", "state.so"), 1, "its state is 7"),
                ("q", job("options", {"pieces": 1 << 62}), 1, "\"pieces\" is 1 to"),
                ("r", job("options", {"peaces": 3}), 1, "there is no option")]:
            run = silken("sim", self.changed(name, change))
            self.assertEqual(run.returncode, status, (name, run.stdout, run.stderr))
            self.assertIn(sentence, run.stderr)


if __name__ == "__main__":
    os.environ.setdefault("SILKEN_CACHE", os.path.abspath(os.environ.get("BUILD", "build")) + "/test-cache")
    tally.main()
