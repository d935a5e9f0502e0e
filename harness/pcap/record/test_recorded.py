#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken replay --expect-recorded` of recordings that are not whole: cut packets, files that are left out or
given in another order, records that did not fit."""
import json
import os
import struct
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), up) for up in ("..", "../..")]
import tally  # noqa: E402
from case import ENTRIES, L2, T0, Case, frame  # noqa: E402
from captures import ng_block, ng_option, replay, section  # noqa: E402

IN, OUT, NOTE = 1, 2, 0


def recording(records, names=("port-1", "port-2")):
    """(number, port, direction[, {bytes, wire, comment, lost}])"""
    out = section(names, [])
    for number, port, direction, *more in records:
        m = more[0] if more else {}
        data = b"" if direction == NOTE else frame("01" if number % 2 else "02", number % 200)
        time = T0 + 1000 * (number & 0xFFFFFFFF)
        wire, data = len(data), data[:m.get("bytes", len(data))]
        body = struct.pack("<IIIII", names.index(f"port-{port}"), time >> 32, time & 0xFFFFFFFF,
                           len(data), m.get("wire", wire)) + data + bytes(-len(data) % 4)
        if direction:
            body += ng_option(2, struct.pack("<I", direction))
        if "lost" in m:
            body += ng_option(4, struct.pack("<Q", m["lost"]))
        body += ng_option(5, struct.pack("<Q", number))
        if "comment" in m:
            body += ng_option(1, m["comment"].encode())
        out += ng_block(6, body)
    return out


def run(numbers):
    """Packets from each of two ports to the other."""
    return [r for n in numbers for r in ((n, 1 + n % 2, IN), (n, 2 - n % 2, OUT))]


class Recorded(Case):
    def setUp(self):
        super().setUp()
        ports = [{"port": n, "device": f"net_null{n}"} for n in (1, 2)]
        self.whole = self.file("whole.json", json.dumps(ENTRIES | {"ports": ports, "clock": T0}))

    def expect(self, *recordings, entries=None):
        files = []
        for i, records in enumerate(recordings):
            data = records if isinstance(records, bytes) else recording(records)
            files += ["--in", self.file(f"{i}.pcapng", data)]
        return replay(L2, "--entries", entries or self.whole, *files, "--expect-recorded")

    def equal(self, *recordings, **more):
        done = self.expect(*recordings, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("differ", done.stderr)
        return done.stderr

    def unusable(self, sentence, *recordings, **more):
        done = self.expect(*recordings, **more)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(sentence, done.stderr)

    def test_whole(self):
        said = self.equal(run(range(1, 50)), run(range(50, 99)))
        self.assertNotIn("missing", said)
        self.assertNotIn("starts with", said)

    def test_twice(self):
        once = recording(run(range(1, 30)))
        done = self.expect(once + once)
        self.assertIn("0.pcapng: packet 1 of the recorded switch occurs twice: is a file given twice?", done.stderr)

    # ---- packets that are cut

    def test_cut(self):
        cut = [(n, p, d, {"bytes": 30}) for n, p, d in run(range(1, 3))]
        self.unusable("0.pcapng: packet 1 has only 30 of its 62 bytes: a cut packet cannot be replayed", cut)
        self.unusable("0.pcapng: packet 5 has only 30 of its 62 bytes: a cut packet cannot be replayed",
                      run((1, 2)) + [(3, 2, IN, {"bytes": 30})])

    def test_cut_where_it_was_sent(self):
        self.unusable("0.pcapng: packet 2 has only 30 of its 62 bytes: a cut packet cannot be compared",
                      [(1, 2, IN), (1, 1, OUT, {"bytes": 30})])

    def test_one_that_was_too_long_has_no_bytes(self):
        self.equal(run((1,)) + [(2, 1, IN, {"bytes": 0, "wire": 9999,
                                            "comment": "silken drop: packet too long, port 1"})])

    # ---- gaps

    def test_a_file_that_is_left_out(self):
        self.unusable("1.pcapng: packets 30 to 59 of the recorded switch are missing: "
                      "is a file of the ring missing", run(range(1, 30)), run(range(60, 99)))

    def test_a_packet_that_is_left_out(self):
        self.unusable("0.pcapng: packet 7 of the recorded switch is missing: is", run((5, 6, 8, 9)))
        self.unusable("0.pcapng: packets 7 to 8 of the recorded switch are missing, and 1 more: is",
                      run((5, 6, 9, 11)))

    def test_the_beginning(self):
        said = self.equal(run(range(30, 60)))
        self.assertIn("the recording starts with packet 30: earlier packets are missing\n", said)
        self.assertEqual(said.count("missing"), 1)

    def test_cores_have_numbers_of_their_own(self):
        core = 1 << 56
        self.equal([r for n in range(1, 9) for r in ((n, 1 + n % 2, IN), (n, 2 - n % 2, OUT),
                                                     (core | n, 1 + n % 2, IN), (core | n, 2 - n % 2, OUT))])
        self.unusable("packets 3 to 4 of the recorded switch are missing",
                      run((1, 2, 3, core | 1, core | 2, 4, 5, core | 5)))

    def test_records_that_did_not_fit(self):
        some = run(range(1, 9)) + [(12, 1, IN, {"lost": 6, "comment": "silken lost: 6 records before this one"}),
                                   (12, 2, OUT)]
        said = self.equal(some)
        self.assertIn("the recording is incomplete", said)
        self.assertNotIn("missing", said)
        self.unusable("packets 9 to 16 of the recorded switch are missing", run(range(1, 9)) + [
            (17, 2, IN, {"lost": 6, "comment": "silken lost: 6 records before this one"}), (17, 1, OUT)])

    def test_records_in_another_order(self):
        # 3 waited and is sent behind the others; of 5 there is a note alone
        self.equal([(1, 2, IN), (1, 1, OUT), (2, 1, IN), (2, 2, OUT), (4, 1, IN), (4, 2, OUT),
                    (3, 2, NOTE, {"comment": "silken drop: queue is full, port 1"}),
                    (6, 1, IN), (6, 2, OUT),
                    (5, 2, NOTE, {"comment": "silken drop: queue is full, port 1"})])

    def test_ports_that_are_not_recorded(self):
        ports = [{"port": n, "device": f"net_null{n}"} for n in (1, 2, 3)]
        entries = self.file("more.json", json.dumps(ENTRIES | {"ports": ports, "clock": T0}))
        self.assertNotIn("missing", self.equal(run((1, 2, 5, 6)), entries=entries))
        said = self.equal(run((1, 2, 5, 6)), entries=self.entries)  # it has no ports
        self.assertIn("packets 3 to 4 of the recorded switch are missing: is a file of the ring missing, "
                      "or a port not recorded?\n", said)

    def test_numbers_of_others(self):
        for numbers in ((2**63, 5, 2**40), (2, 4, 2**30), range(1, 9999, 2)):
            done = self.expect(run(numbers), entries=self.entries)
            self.assertNotEqual(done.returncode, -6)
            self.assertNotIn("Sanitizer", done.stderr)

    # ---- the files' order

    def test_files_in_another_order(self):
        a, b, c = run(range(1, 30)), run(range(30, 60)), run(range(60, 99))
        for files in ((c, b, a), (b, a, c), (c, a, b), (a, b, c)):
            self.assertIn("98 packets in, 98 out, 0 dropped", self.equal(*files))

    # ---- notes, and the clock

    def test_notes_are_not_sent(self):
        said = self.equal(run((1, 2)) + [(3, 1, NOTE, {"comment": "silken drop: queue is full, port 1"})])
        self.assertIn(": 2 packets were sent by the interface; not replayed\n", said)
        self.assertIn(": 1 note is about dropped packets; not replayed\n", said)

    def test_no_clock(self):
        wrong = [(1, 2, IN), (1, 2, OUT)]
        done = self.expect(wrong, entries=self.entries)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('the configuration has no "clock"', done.stderr)
        done = self.expect(wrong)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("clock", done.stderr)
        self.assertNotIn("clock", self.equal(run((1, 2)), entries=self.entries))


if __name__ == "__main__":
    tally.main()
