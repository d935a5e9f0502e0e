# SPDX-License-Identifier: Apache-2.0
"""Includes keep to the arrows of rooms.mk, and a wrong one is told (harness/rooms/arrows.py)."""
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import arrows  # noqa: E402
import tally  # noqa: E402


class Arrows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.copy = tempfile.mkdtemp()
        for path in [*arrows.sources(ROOT), "rooms.mk"]:
            os.makedirs(os.path.dirname(os.path.join(cls.copy, path)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), os.path.join(cls.copy, path))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.copy)

    def told(self, path, add, known=None):
        """What is said of the copy when a line is added to a file of it."""
        full = os.path.join(self.copy, path)
        was = None
        if os.path.exists(full):
            with open(full, encoding="utf-8") as f:
                was = f.read()
        os.makedirs(os.path.dirname(full), exist_ok=True)
        try:
            with open(full, "a", encoding="utf-8") as f:
                f.write(f"\n{add}\n")
            return arrows.check(self.copy, known)
        finally:
            if was is None:
                os.remove(full)
            else:
                with open(full, "w", encoding="utf-8") as f:
                    f.write(was)

    def test_the_tree_keeps_to_them(self):
        self.assertEqual(arrows.check(ROOT), [])

    def test_a_wrong_include_is_named_with_its_rule(self):
        said = self.told("stages/table.c", '#include "control/tables/control.h"')
        self.assertEqual(said, ["stages/table.c includes control/tables/control.h, but stages may not include "
                                "control/tables (rooms.mk: stages -> base)"])
        said = self.told("control/tor/fdb.c", '#  include "hosts/switchml/frame.h" // for a number')
        self.assertEqual(said, ["control/tor/fdb.c includes hosts/switchml/frame.h, but control/tor may not include "
                                "hosts/switchml (rooms.mk: control/tor -> control/socket, control/sessions, wire, "
                                "hosts/libra)"])

    def test_public_and_generated_headers_have_rooms(self):
        said = self.told("pipeline/tm/tm.c", '#include "silken/allreduce.h"\n#include "p4_parse.h"')
        self.assertEqual(len(said), 2)
        self.assertIn("may not include hosts/include", said[0])
        self.assertIn("may not include compiler/syntax", said[1])

    def test_internal_headers_stay_in_their_room(self):
        said = self.told("compiler/compile.c", '#include "compiler/lower/lower_impl.h"')
        self.assertEqual(said, ["compiler/compile.c includes compiler/lower/lower_impl.h, which is internal to "
                                "compiler/lower: another room includes its public headers only"])

    def test_a_header_that_is_not_there(self):
        said = self.told("base/file.c", '#include "error.h"')
        self.assertEqual(said, ['base/file.c includes "error.h", which is no file of the tree (from its top folder)'])

    def test_a_folder_without_a_room(self):
        said = self.told("attic/old.c", "int x;")
        self.assertEqual(said, ["attic/old.c: attic belongs to no room; name it in rooms.mk"])

    def test_what_is_known_must_be_true(self):
        known = {**arrows.KNOWN, "base/file.c": ["base/json.h", "stages/table.h"]}
        said = self.told("base/file.c", '#include "stages/table.h"', known)
        self.assertEqual(said, ["harness/rooms/arrows.py: KNOWN says that base/file.c includes base/json.h against "
                                "the arrows, and it does not"])

    def test_a_circle_among_the_arrows(self):
        rooms = arrows.Rooms("room/a := a\narrows/a := b\nroom/b := b\narrows/b := c\nroom/c := c\narrows/c := a\n")
        with self.assertRaisesRegex(SystemExit, "the arrows go in a circle: a -> b -> c -> a"):
            rooms.reach("a")
        with self.assertRaisesRegex(SystemExit, "there is no room d"):
            arrows.Rooms("room/a := a\narrows/a := d\n").reach("a")

    def test_harness_and_bench_are_on_top(self):
        self.assertEqual(self.told("harness/net/program.c", '#include "compiler/lower/lower_impl.h"'), [])


if __name__ == "__main__":
    tally.main()
