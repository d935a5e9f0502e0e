#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken libra profile`: which parameters are hot, against a count of our own; what is refused, and that nothing is
written then. `silken libra tables`: what it prints."""
import collections
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "pcap")]
import tally  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")


def silken(*arguments, text=""):
    return subprocess.run([SILKEN, "libra", *arguments], input=text, text=True, capture_output=True, timeout=120)


class Profile(FolderCase):
    def keys(self, path="layout"):
        with open(self.path(path), encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "silken libra layout 1")
        self.assertEqual(lines[4], f"keys {len(lines) - 6}")
        return [int(line) for line in lines[5:-1]]

    def profile(self, text, *options):
        done = silken("profile", "--output", self.path("layout"), *options, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.keys(), done.stdout

    def test_hot_are_those_that_are_updated_most(self):
        rng = random.Random(1)
        lines = [[rng.randrange(1 + rng.randrange(1 << 40 if rng.random() < 0.1 else 500)) for _ in range(40)]
                 for _ in range(500)]
        count = collections.Counter(k for line in lines for k in line)
        ranked = sorted(count, key=lambda k: (-count[k], k))
        text = "# a comment\n" + "\n".join(" ".join(map(str, line)) for line in lines) + "\n"
        for portion in (0.01, 0.3, 0.5, 0.9, 1):
            hot, total = 0, 0
            while total < portion * 20000:
                total += count[ranked[hot]]
                hot += 1
            keys, said = self.profile(text, "--portion", str(portion), "--job", "9", "--epoch", "77")
            self.assertEqual(keys, ranked[:hot])
            self.assertIn(f"hot: {hot} parameters with {total / 200:.2f} % of the updates, {4 * hot} bytes", said)
            self.assertIn("layout: job 9, epoch 77, 16 registers, digest ", said)
        keys, _ = self.profile(text, "--portion", "1", "--memory", "0.000002")
        self.assertEqual(keys, ranked[:10])

    def test_a_sample(self):
        text = "".join(f"{i}\n" for i in range(10000))
        keys, said = self.profile(text, "--portion", "1", "--sample", "0.08")
        self.assertLess(abs(len(keys) - 800), 150)
        self.assertIn(f"in {len(keys)} of 10000 lines", said)
        self.assertEqual(self.profile(text, "--portion", "1", "--sample", "0.08")[0], keys)
        self.assertNotEqual(self.profile(text, "--portion", "1", "--sample", "0.08", "--seed", "2")[0], keys)

    def test_refusals(self):
        good, output = self.file("good", "1 2 3\n"), self.path("layout")
        for status, says, *options in (
                (2, "--output is needed", good),
                (2, "'256' is not a number from 0 to 255", "--output", output, "--job", "256", good),
                (2, "'65536' is not a number from 0 to 65535", "--output", output, "--epoch", "65536", good),
                *((2, f"'{bad}' is not a number above 0", "--output", output, option, bad, good)
                  for option in ("--portion", "--memory", "--sample")
                  for bad in ("0", "-1", "1.1", "nan", "x", "", "1x")),
                (2, "cannot open", "--output", output, self.path("none")),
                (2, "line 2: 'x1' is not a key", "--output", output, self.file("a", "1\n2 x1\n")),
                (2, "line 1: '18446744073709551616' is not", "--output", output,
                 self.file("b", "18446744073709551616\n")),
                (2, "line 1: '-1' is not", "--output", output, self.file("c", "-1\n")),
                (1, "no updates", "--output", output, self.file("d", "# only this\n\n")),
                (1, "no parameter is hot", "--output", output, "--memory", "0.0000001", good),
                (2, "cannot write", "--output", self.path("no/where"), good)):
            done = silken("profile", *options)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertFalse(os.path.exists(output))
        self.assertIn("there is no 'heat'", silken("heat").stderr)
        self.assertIn("usage: silken libra profile", silken("profile", "--help").stdout)


class Tables(FolderCase):
    def test_tables(self):
        """The tables of each addition, in a section of a configuration; those of like tables are the same."""
        done = silken("tables")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        filled = {t["table"]: t for t in json.loads(done.stdout)["filled"]}
        logarithms = {"exponent": 256, "log_m": 2048, "log_dm": 4096, "log_mln2": 2048, "term": 65536}
        sums = {"sigmas": 65536, "minus": 65536, "near": 2048, "power": 65536}
        sizes = {f"{of}{i}.{name}": n for names, ofs in ((logarithms, "xy"), (sums, ["sum"])) for of in ofs
                 for i in range(2) for name, n in names.items()}
        self.assertEqual({name: len(t["values"]) // 4 for name, t in filled.items()}, sizes)
        for name, table in filled.items():
            self.assertEqual(table["values"], filled[name.replace("y", "x", 1).replace("1", "0", 1)]["values"])
        self.assertEqual(filled["x0.exponent"]["values"][:4], "ff81")  # -127

    def test_command_line(self):
        for arguments, sentence in ((("tables", "x"), "takes no arguments"), ((), "profile, tables or control"),
                                    (("table",), "there is no 'table'")):
            done = silken(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    tally.main()
