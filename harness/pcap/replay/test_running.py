#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How `silken replay` runs: in real time, with progress on a terminal, stopped by a signal; and what
it leaves when something goes wrong."""
import fcntl
import gzip
import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from case import L2, T0, Case, frame  # noqa: E402
from captures import BUILD, NS, pcap, pcapng, read, replay, section  # noqa: E402


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = f.read()
    return found


class Running(Case):
    def command(self, *arguments):
        return [f"{BUILD}/silken", "replay", L2, "--entries", self.entries, *map(str, arguments)]

    def on_a_terminal(self, *arguments):
        """What appears on a terminal of 80 columns."""
        main, terminal = pty.openpty()
        said = b""
        with subprocess.Popen(self.command(*arguments), stderr=terminal,
                              stdout=subprocess.DEVNULL) as p:
            os.close(terminal)
            while True:
                try:
                    more = os.read(main, 4096)
                except OSError:  # nobody has it open any more
                    break
                if not more:
                    break
                said += more
            self.assertEqual(p.wait(), 0, said)
        os.close(main)
        return said.decode()

    # ---- speed

    def test_real_time(self):
        packets = [(T0 + i * NS // 20, frame(("01", "02")[i % 2], i)) for i in range(11)]  # 0.5 s
        a = self.file("a.pcap", pcap(packets))
        self.good("--in", f"4={a}", "--out", self.path("out"))
        expected = contents(self.path("out"))
        for speed, least, most in (("real", 0.5, 60), ("x5", 0.1, 60), ("x0.5", 1, 60),
                                   ("asap", 0, 60)):
            begun = time.monotonic()
            self.good("--in", f"4={a}", "--out", self.path("out"), "--speed", speed)
            took = time.monotonic() - begun
            self.assertTrue(least <= took < most, (speed, took))
            self.assertEqual(contents(self.path("out")), expected, speed)
        for speed in ("x", "x0", "2", "x1.2.3", "x-1", "xnan", "fast"):
            self.refused("--speed takes asap, real or xN", "--in", f"4={a}", "--speed", speed)

    # ---- progress

    def test_progress_on_a_terminal(self):
        packets = [(T0 + i * NS // 1000, frame("01", i % 250)) for i in range(2400)]
        plain = pcap(packets)
        for name, data in {"plain": plain, "gzip": gzip.compress(plain)}.items():
            with self.subTest(name):
                said = self.on_a_terminal("--in", f"4={self.file('a', data)}", "--speed", "real")
                lines = re.findall(r"\[(#+ *)\] +(\d+) %  (\S+(?: k)?) packets/s  0:0\d left", said)
                self.assertGreater(len(lines), 3, said)
                self.assertEqual({len(bar) for bar, _, _ in lines}, {30})
                parts = [int(part) for _, part, _ in lines]
                self.assertEqual(parts, sorted(parts))
                self.assertTrue(5 < parts[0] < 75 < parts[-1] <= 100, parts)
                # the line is gone when the last words come
                self.assertTrue(said.endswith("\r\033[K2400 packets in, 2400 out, 0 dropped\r\n"), said)
        # nobody knows how long a FIFO is
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        feeder = threading.Thread(target=lambda: self.file("fifo", plain))
        feeder.start()
        said = self.on_a_terminal("--in", f"4={fifo}", "--speed", "real")
        feeder.join()
        self.assertRegex(said, r"\r?\d\S*(?: k)? packets  \S+(?: k)? packets/s\r\033\[K")
        # but with a limit
        a = self.file("a", plain)
        said = self.on_a_terminal("--in", f"4={a}", "--speed", "real", "--limit", "1200")
        self.assertRegex(said, r"[89]\d %  .* packets/s  0:0\d left")

    def test_quiet_when_short_or_in_a_pipe(self):
        a = self.file("a", pcap([(T0, frame("01")), (T0 + 2 * NS, frame("01"))]))
        self.assertEqual(self.on_a_terminal("--in", f"4={a}"),
                         "2 packets in, 2 out, 0 dropped\r\n")
        done = self.good("--in", f"4={a}", "--speed", "x1.4")
        self.assertEqual(done.stderr, "2 packets in, 2 out, 0 dropped\n")

    # ---- stopping

    @staticmethod
    def settle(pid):
        """Until the process has slept for a while, or has been busy for long."""
        asleep = 0
        for _ in range(100):
            time.sleep(0.03)
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                asleep = asleep + 1 if f.read().rpartition(")")[2].split()[0] == "S" else 0
            if asleep == 6:
                return

    def endless(self, data, *arguments, number=signal.SIGINT):
        """Replays a FIFO that never ends, interrupted when it has been read; (status, stderr)."""
        fifo = self.path("fifo")
        if os.path.exists(fifo):
            os.remove(fifo)
        os.mkfifo(fifo)
        with subprocess.Popen(self.command("--in", f"4={fifo}", *arguments), text=True,
                              stderr=subprocess.PIPE) as p:
            taken, done = threading.Event(), threading.Event()

            def feed():
                try:
                    with open(fifo, "wb", buffering=0) as f:
                        f.write(data)
                        waiting = b"1   "
                        while struct.unpack("i", waiting)[0]:
                            time.sleep(0.01)
                            waiting = fcntl.ioctl(f, termios.FIONREAD, b"    ")
                        taken.set()
                        done.wait()
                except BrokenPipeError:
                    pass

            feeder = threading.Thread(target=feed, daemon=True)
            if data is not None:
                feeder.start()
            taken.wait(timeout=20 if data is not None else 1.5)
            self.settle(p.pid)
            p.send_signal(number)
            said = p.communicate(timeout=60)[1]
            done.set()
            if data is not None:
                feeder.join()
            return p.returncode, said

    def test_a_signal_closes_the_outputs(self):
        # compiled before, so that the signal does not come then
        self.good("--in", f"4={self.file('a', pcap([]))}")
        data = pcap([(T0 + i, frame("01", i)) for i in range(5)])
        for number in (signal.SIGINT, signal.SIGTERM):
            status, said = self.endless(data, "--out", self.path("out"), number=number)
            self.assertEqual((status, said),
                             (0, "silken replay: stopped\n5 packets in, 5 out, 0 dropped\n"))
            self.assertEqual(read(self.path("out/port-1.pcap")),
                             [(T0 + i, frame("01", i)) for i in range(5)])
        # in the middle of a packet, of the header, and before there is a writer
        for cut, n in ((len(data) - 3, 4), (10, 0), (0, 0)):
            status, said = self.endless(data[:cut] if cut else None)
            self.assertEqual((status, said), (0, "silken replay: stopped\n"
                                                 f"{n} packets in, {n} out, 0 dropped\n"))

    def test_a_signal_while_it_waits(self):
        self.good("--in", f"4={self.file('a', pcap([]))}")
        a = pcap([(T0, frame("01")), (T0 + 3600 * NS, frame("01"))])
        begun = time.monotonic()
        status, said = self.endless(a, "--speed", "real")
        self.assertLess(time.monotonic() - begun, 120)
        self.assertEqual((status, said), (0, "silken replay: stopped\n"
                                             "1 packet in, 1 out, 0 dropped\n"))

    def test_a_signal_while_packets_are_generated(self):
        with open(self.entries, "w", encoding="utf-8") as f:
            json.dump({**json.loads(json.dumps({"entries": []})), "pktgen": [
                {"pipe": 0, "app": 0, "trigger": "periodic", "length": 60, "timer": 1000}]}, f)
        self.good("--in", f"4={self.file('a', pcap([(T0, frame('01'))]))}")
        # a packet of years later
        a = pcap([(T0, frame("01")), (T0 + 10**8 * NS, frame("01"))])
        status, said = self.endless(a)
        self.assertEqual(status, 0)
        self.assertIn("silken replay: stopped\n1 packet in", said)

    def test_stopped_comparisons_say_nothing(self):
        gold = self.path("gold")
        data = pcap([(T0 + i, frame("01", i)) for i in range(5)])
        self.good("--in", f"4={self.file('a', data)}", "--expect", gold, "--update")
        self.good("--in", f"4={self.path('a')}", "--expect", gold)
        before = contents(gold)
        for how, sentence in (([], "stopped before everything was compared"),
                              (["--update"], "stopped; the golden captures are unchanged")):
            status, said = self.endless(data, "--expect", gold, *how)
            self.assertEqual((status, said), (2, f"silken replay: {sentence}\n"))
            self.assertEqual(contents(gold), before)
        # what differed until then is said
        status, said = self.endless(data[:-1] + b"\x99", "--expect", gold)
        self.assertEqual(status, 2)
        self.assertIn("port 1, packet 5: differs from", said)
        self.assertTrue(said.endswith("1 packet differs\nsilken replay: stopped before everything was "
                                      "compared\n"), said)
        status, said = self.endless(data[:-82], "--expect", gold)
        self.assertEqual((status, said), (2, "silken replay: stopped before everything was compared\n"))

    def test_an_output_that_nobody_reads_any_more(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        reader = threading.Thread(target=lambda: os.close(os.open(fifo, os.O_RDONLY)))
        reader.start()
        packets = [(T0 + i, frame(("01", "02")[i % 2], i % 200)) for i in range(9000)]
        a = self.file("a.pcap", pcap(packets))
        self.refused(f"silken replay: cannot write {fifo}: Broken pipe", "--in", f"4={a}", "--out",
                     f"1={fifo}", f"2={self.path('2.pcap')}")
        reader.join()
        got = read(self.path("2.pcap"))
        self.assertEqual(got, packets[1:2 * len(got):2])

    # ---- golden captures are replaced whole

    def limited(self, most, *arguments):
        """A replay that may write no file larger than 'most' bytes, as if the disk were full then."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return subprocess.run(self.command(*arguments), text=True, capture_output=True, timeout=300,
                              check=False, preexec_fn=limit, restore_signals=False)

    def test_update_replaces_all_or_nothing(self):
        gold = self.path("gold")
        old = self.file("old.pcap", pcap([(T0, frame("01", 1)), (T0, frame("02", 1))]))
        packets = [(T0 + i, frame("01", i % 200)) for i in range(9000)]
        new = self.file("new.pcap", pcap(packets))
        self.good("--in", f"4={old}", "--expect", gold, "--update")
        before = contents(gold)
        self.assertEqual(sorted(before), ["port-1.pcap", "port-2.pcap"])
        self.assertEqual(len(read(f"{gold}/port-2.pcap")), 1)
        # a full disk, a capture that ends too early, a program that is none
        done = self.limited(100000, "--in", f"4={new}", "--expect", gold, "--update")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^silken replay: cannot write \S*port-1.pcap.new: .*\n$")
        self.assertEqual(contents(gold), before)
        cut = self.file("cut.pcap", pcap(packets)[:-1])
        self.refused("the file ends in the middle of a packet", "--in", f"4={cut}", "--expect", gold,
                     "--update")
        self.assertEqual(contents(gold), before)
        self.refused("No such file", "--in", f"4={self.path('none')}", "--expect", gold, "--update")
        self.assertEqual(contents(gold), before)
        # one file, and one behind a link
        os.symlink("gold/port-2.pcap", self.path("link.pcap"))
        self.refused("ends in the middle", "--in", f"4={cut}", "--expect",
                     f"1={self.path('link.pcap')}", "--update")
        self.assertEqual(contents(gold), before)
        self.good("--in", f"4={new}", "--expect", f"1={self.path('link.pcap')}", "--update")
        self.assertTrue(os.path.islink(self.path("link.pcap")))
        self.assertEqual(read(f"{gold}/port-2.pcap"), packets)
        # and when all is well: a port that sends no more has no file
        self.good("--in", f"4={new}", "--expect", gold, "--update")
        self.assertEqual(sorted(contents(gold)), ["port-1.pcap"])
        self.assertEqual(read(f"{gold}/port-1.pcap"), packets)
        self.good("--in", f"4={new}", "--expect", gold, "--update", "--format", "pcapng")
        self.assertEqual(sorted(contents(gold)), ["port-1.pcapng"])
        self.good("--in", f"4={new}", "--expect", gold)

    def test_golden_captures_that_nobody_would_look_at(self):
        a = self.file("a.pcap", pcap([(T0, frame("01"))]))
        gold = self.path("gold")
        self.good("--in", f"4={a}", "--expect", gold, "--update")
        for name in ("notes", "port-1", "port-notes.txt", "drops.jsonl", "import-007.pcap"):
            self.file(f"gold/{name}", b"")
        self.good("--in", f"4={a}", "--expect", gold)
        for name in ("port-007.pcap", "port-600.pcap", "port-600.pcapng", "port-72.pcap", "port-.pcap",
                     "port-1.pcap.gz", "port-1.PCAP", "port-1.cap", "port-01.pcapng", "port-1a.pcap", "port-00.pcap",
                     "port-10000000000000000000001.pcap"):
            odd = self.file(f"gold/{name}", pcap([]))
            self.refused(f"{odd} is not the golden capture of a port: such a file is called port-N.pcap or", "--in",
                         f"4={a}", "--expect", gold)
            os.remove(odd)
        left = self.file("gold/port-1.pcap.new2", pcap([]))
        self.refused(f"{left} was left by an interrupted --update: remove it", "--in", f"4={a}", "--expect", gold)
        os.remove(left)
        self.file("gold/port-7.pcap", pcap([]))
        self.file("gold/port-450.pcapng", section([], []))
        self.good("--in", f"4={a}", "--expect", gold)

    def test_golden_captures_that_lead_nowhere(self):
        a = self.file("a.pcap", pcap([(T0, frame("ff"))]))  # dropped: nothing is sent that could differ
        os.mkdir(self.path("gold"))
        for to in ("none", "port-1.pcap"):
            os.symlink(to, self.path("gold/port-1.pcap"))
            for build in ([], ["--fast"]):
                self.refused("gold/port-1.pcap: ", "--in", f"4={a}", "--expect", self.path("gold"), *build)
            os.remove(self.path("gold/port-1.pcap"))

    def test_what_cannot_be_compared_writes_over_nothing(self):
        a, out, drops = self.file("a.pcap", pcap([(T0, frame("01"))])), self.path("out"), self.path("drops.jsonl")
        self.good("--in", f"4={a}", "--out", out, "--drops", drops)
        self.file("drops.jsonl", b"a line\n")
        before = contents(out)
        self.assertTrue(before)
        outputs = ["--out", out, "--drops", drops]
        for said, arguments in (("No such file", ["--in", f"4={a}", "--expect", f"1={self.path('none.pcap')}"]),
                                ("cannot read the folder", ["--in", f"4={a}", "--expect", self.path("none")]),
                                ("none", ["--in", f"4={a}", "--expect-state", self.path("none.json")]),
                                ("no part of --map matches", ["--in", a, "--map", "vlan:7=4"])):
            done = self.play(*arguments, *outputs)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(contents(out), before, said)
            with open(drops, "rb") as f:
                self.assertEqual(f.read(), b"a line\n", said)

    def test_names_of_outputs(self):
        a = self.file("a.pcap", pcap([(T0, frame("01"))]))
        for name in ("x.pcap", "x.pcapng", "x.pcap.gz", "x.cap"):
            self.refused(f"'{self.path(name)}' would be a second folder", "--in", f"4={a}", "--out", self.path(name))
            self.assertFalse(os.path.exists(self.path(name)))
        for arguments in ([f"1={self.path('x.pcap.gz')}"], [f"2={self.path('x.pcap')}", f"1={self.path('x.pcap.gz')}"]):
            self.refused("not compressed", "--in", f"4={a}", "--out", *arguments)
        os.mkdir(self.path("dir.pcap"))
        self.good("--in", f"4={a}", "--out", self.path("dir.pcap"))
        self.assertEqual(sorted(os.listdir(self.path("dir.pcap"))), ["drops.jsonl", "port-1.pcap"])

    def test_update_takes_no_name_that_is_taken(self):
        packets = [(T0 + i, frame("01", i)) for i in range(5)]
        new = self.file("1.pcap.new", pcap(packets))
        state = self.file("state.json.new", b"somebody's")
        self.good("--in", f"4={new}", "--expect", f"1={self.path('1.pcap')}", "--expect-state",
                  self.path("state.json"), "--update")
        self.assertEqual(read(new), packets)
        self.assertEqual(read(self.path("1.pcap")), packets)
        with open(state, "rb") as f:
            self.assertEqual(f.read(), b"somebody's")
        self.assertEqual(sorted(os.listdir(self.dir)), ["1.pcap", "1.pcap.new", "entries.json",
                                                        "state.json", "state.json.new"])

    def test_update_of_the_state(self):
        state = self.path("state.json")
        packets = [(T0 + i, frame("01", i)) for i in range(5)]
        self.good("--in", f"4={self.file('a', pcap(packets))}", "--expect-state", state, "--update")
        before = contents(self.dir)
        self.refused("ends in the middle", "--in", f"4={self.file('b', pcap(packets)[:-1])}",
                     "--expect-state", state, "--update")
        self.entries = self.file("none.json", b"{}")
        self.refused("cannot write /dev/full", "--in", f"4={self.path('a')}", "--expect-state", state,
                     "--update", "--drops", "/dev/full", "--limit", "1")
        os.remove(self.entries)
        os.remove(self.path("b"))
        self.assertEqual(contents(self.dir), before)

    def test_update_leaves_no_folder_behind(self):
        cut = self.file("cut.pcap", pcap([(T0, frame("01")), (T0, frame("01"))])[:-1])
        self.refused("ends in the middle", "--in", f"4={cut}", "--expect", self.path("gold"),
                     "--update")
        self.assertFalse(os.path.exists(self.path("gold")))

    def test_golden_captures_are_not_overwritten(self):
        gold = self.path("gold")
        a = self.file("a.pcap", pcap([(T0, frame("01")), (T0, frame("02"))]))
        self.good("--in", f"4={a}", "--expect", gold, "--update")
        before = contents(gold)
        os.symlink("gold", self.path("other"))
        for arguments in (["--expect", gold, "--out", f"1={gold}/port-1.pcap"],
                          ["--expect", f"1={gold}/port-1.pcap", "--out", gold]):
            self.refused("it would be overwritten", "--in", f"4={a}", *arguments)
            self.assertEqual(contents(gold), before)
        for arguments in (["--out", gold], ["--out", self.path("other")],
                          ["--out", f"9={self.path('other')}/port-9.pcap"],
                          ["--drops", f"{gold}/drops.jsonl"]):
            self.refused("among the golden captures", "--in", f"4={a}", "--expect", gold, *arguments)
            self.assertEqual(contents(gold), before)
        empty = self.path("empty")
        os.mkdir(empty)
        self.refused("would be among the golden captures", "--in", f"4={a}", "--expect", empty,
                     "--out", empty)
        self.refused(f"{empty} is the folder of the golden captures", "--in", f"4={a}", "--expect",
                     empty, "--out", empty, "--drops", self.path("drops"))
        # drops are written there when they are asked for
        self.good("--in", f"4={a}", "--expect", gold, "--update", "--drops", f"{gold}/drops")
        self.assertEqual(sorted(contents(gold)), ["drops", "port-1.pcap", "port-2.pcap"])
        # nothing of an --out folder goes before all is known to be no input
        os.mkdir(self.path("out"))
        self.file("out/port-1.pcap", b"old")
        b = self.file("out/port-9.pcap", pcap([]))
        self.refused("it would be overwritten", "--in", f"4={b}", "--out", self.path("out"))
        self.assertEqual(sorted(contents(self.path("out"))), ["port-1.pcap", "port-9.pcap"])

    def test_nothing_that_is_read_is_overwritten(self):
        with open(L2, "rb") as f:
            mine = self.file("my.p4", f.read())
        a = self.file("a.pcap", pcap([(T0, frame("01")), (T0, frame("ff"))]))
        state, config = self.path("st.json"), self.file("config.json", b"{}")
        words = ["--in", f"4={a}", "--config", config]
        self.good(*words, "--dump-state", state)
        os.link(self.entries, self.path("hard"))
        os.symlink("entries.json", self.path("soft"))
        before = contents(self.dir)
        for path in (self.entries, config, self.path("hard"), self.path("soft"), mine, a):
            for arguments in (["--drops", path], ["--dump-state", path], ["--out", f"1={path}"],
                              ["--expect-state", path, "--update"],
                              ["--expect", f"1={path}", "--update"]):
                done = replay(mine, "--entries", self.entries, *words, *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
                self.assertRegex(done.stderr, f"^silken replay: {path} is .*; it would be "
                                 "overwritten\n$")
                self.assertEqual(contents(self.dir), before, arguments)
        # what the program includes: through another file, and of macros alone
        self.file("deeper.h", b"#define NOTHING\n")
        self.file("parts.p4", b'#include "deeper.h"\n' + before["my.p4"])
        other = self.file("other.p4", b'#include "parts.p4"\n')
        included = contents(self.dir)
        for name in ("parts.p4", "deeper.h"):
            done = replay(other, "--entries", self.entries, *words, "--dump-state", self.path(name))
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertEqual(done.stderr, f"silken replay: {self.path(name)} is a file of the program; it "
                             "would be overwritten\n")
            self.assertEqual(contents(self.dir), included)
        for name in ("parts.p4", "deeper.h", "other.p4"):
            os.remove(self.path(name))
        # the expected state, whether it differs or not
        for text in (before["st.json"], b'{"silken_state": 1, "drops": []}'):
            self.file("st.json", text)
            self.refused(f"{state} is the expected state", *words, "--dump-state", state,
                         "--expect-state", state)
            self.assertEqual(contents(self.dir), dict(before, **{"st.json": text}))
        # an input that is standard input; what is no regular file loses nothing
        with open(a, "rb") as f:
            done = subprocess.run(self.command("--in", "4=-", "--out", f"1={a}"), text=True, stdin=f,
                                  capture_output=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("it would be overwritten", done.stderr)
        self.good(*words, "--out", "1=/dev/zero", "2=/dev/zero", "--drops", "/dev/zero")

    def test_two_outputs_are_two_files(self):
        a = self.file("a.pcap", pcap([(T0, frame("01")), (T0, frame("ff"))]))
        x, d = self.path("x"), self.path("d")
        before = contents(self.dir)
        there = f"{self.dir}/./x"
        for arguments in (["--out", f"1={x}", f"2={x}"], ["--out", f"1={x}", f"2={there}"],
                          ["--out", f"1={x}", "--drops", there],
                          ["--out", f"1={x}", "--dump-state", there],
                          ["--drops", x, "--dump-state", x],
                          ["--dump-state", x, "--expect-state", x, "--update"],
                          ["--expect", f"1={x}", "--expect-state", x, "--update"],
                          ["--out", d, "--drops", f"{d}/port-1.pcap"],
                          ["--out", f"{d}/", "--drops", f"{d}/./port-1.pcapng"],
                          ["--out", d, "--dump-state", f"{self.dir}//d/drops.jsonl"]):
            self.refused("two outputs would go to one file: ", "--in", f"4={a}", *arguments)
            self.assertEqual(contents(self.dir), before, arguments)
        # names that are links
        self.file("x", b"")
        os.symlink("x", self.path("y"))
        self.refused("two outputs would go to one file: ", "--in", f"4={a}", "--out", f"1={x}",
                     f"2={self.path('y')}")
        self.good("--in", f"4={a}", "--out", d, "--drops", f"{d}/drops.jsonl")
        self.good("--in", f"4={a}", "--out", d, "--drops", f"{d}/drops", "--dump-state", f"{d}/st")
        self.refused("two outputs would go to one file: ", "--in", f"4={a}", "--out", d, "--drops",
                     f"{d}/port-1.pcap")

    # ---- bad captures: what came before the bad place is not lost

    def test_outputs_up_to_the_bad_place(self):
        packets = [(T0 + i, frame("01", i)) for i in range(200)]
        good, ng = pcap(packets), pcapng(packets)
        lying = bytearray(good)
        at = 24 + 150 * (16 + len(packets[0][1]))
        lying[at + 8:at + 12] = b"\xff\xff\xff\x7f"
        ng_size = (len(ng) - len(pcapng([]))) // 200
        ng_at = len(pcapng([])) + 150 * ng_size
        ng_lies = bytearray(ng)
        ng_lies[ng_at + 4] += 4
        ng_huge = bytearray(ng)
        ng_huge[ng_at + 7] = 0x7f
        ng_packet = bytearray(ng)
        ng_packet[ng_at + 20:ng_at + 24] = b"\xf0\xff\xff\xff"
        compressed = gzip.compress(good, 0)
        wrong = ng + section(["lo"], [(T0, bytes(20), 0)], link=195)
        for name, data, sentence, n in (
                ("cut", good[:at + 20], f"after 150 packets, at byte {at}: the file ends in the "
                 "middle of a packet", 150),
                ("cut in a header", good[:at + 5], "ends in the middle of a packet's header", 150),
                ("huge packet", bytes(lying), "a packet of 2147483647 bytes; a packet has at most", 150),
                ("pcapng, cut", ng[:ng_at + 20], "ends in the middle of a block", 150),
                ("pcapng, a length that lies", bytes(ng_lies),
                 f"a block gives its length as {ng_size + 4} bytes at its start, but", 150),
                ("pcapng, a huge block", bytes(ng_huge), "bytes; blocks of its type have at most", 150),
                ("pcapng, a huge packet", bytes(ng_packet),
                 f"a packet of 4294967280 bytes in a block of {ng_size}", 150),
                ("pcapng, a section of another link type", wrong,
                 "its interface 0 (lo)'s link type is IEEE802_15_4 (195)", 200),
                ("gzip that ends", compressed[:len(compressed) // 2],
                 "the compressed file ends too early", None),
        ):
            with self.subTest(name):
                done = self.play("--in", f"4={self.file('bad', data)}", "--out", self.path("out"))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertTrue(done.stderr.startswith(f"silken replay: {self.path('bad')}: "))
                self.assertIn(sentence, done.stderr)
                got = read(self.path("out/port-1.pcap"))
                n = len(got) if n is None else n
                self.assertEqual(got, packets[:n])
                self.assertGreater(n, 90)

    def test_a_limit_in_front_of_the_bad_place(self):
        packets = [(T0, frame("01", i)) for i in range(3)]
        for data in (pcap(packets)[:-1], pcapng(packets)[:-1]):
            a = self.file("a", data)
            for threads in (1, 2):
                done = self.good("--in", f"4={a}", "--limit", 2, "--threads", threads)
                self.assertEqual(done.stderr, "2 packets in, 2 out, 0 dropped\n")
            self.refused("ends in the middle", "--in", f"4={a}", "--limit", 3)

    def test_a_trace_that_cannot_be_written(self):
        for n in (1, 500):
            a = self.file("a.pcap", pcap([(T0 + i, frame("01")) for i in range(n)]))
            for option in ("--trace", "--trace=json"):
                with open("/dev/full", "wb") as full:
                    done = subprocess.run(self.command("--in", f"4={a}", option), text=True,
                                          stdout=full, stderr=subprocess.PIPE, timeout=600,
                                          check=False)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, "^silken replay: cannot write standard output: "
                                 "No space left on device\n$")

    def test_an_output_that_fills_the_disk(self):
        packets = [(T0 + i, frame("01", i % 200)) for i in range(9000)]
        a = self.file("a.pcap", pcap(packets))
        done = self.limited(300000, "--in", f"4={a}", "--out", self.path("out"))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"silken replay: cannot write {self.path('out')}/port-1.pcap: "
                                      "File too large\n")
        self.assertEqual(os.path.getsize(self.path("out/port-1.pcap")), 300000)


if __name__ == "__main__":
    tally.main()
