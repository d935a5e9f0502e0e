# SPDX-License-Identifier: Apache-2.0
"""Each room has a public face: a header whose opening comment says what the room is for and lists its files.

Headers beside a C file of their name need no line, nor do X_impl.h, the inside of room or module X.

A file may also be listed in the opening comment of another header of its folder: of the files of one module, for
example, the face names the first, and the module's own header the others.
"""
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import arrows  # noqa: E402
import tally  # noqa: E402


def essay(path):
    """The opening comment of a header."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.split(r"^#(?:ifndef|include)", f.read(), maxsplit=1, flags=re.M)[0]


def names(text, path):
    return re.search(rf"(?<![\w/]){re.escape(path)}(?!\w)", text)


class Faces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "rooms.mk"), encoding="utf-8") as f:
            table = f.read()
        cls.rooms = arrows.Rooms(table)
        cls.faces = dict(re.findall(r"^face/(\S+) := (\S+)$", table, re.M))
        cls.files = [p for p in arrows.sources(ROOT) if not p.startswith(arrows.ON_TOP)]

    def test_each_room_has_one(self):
        self.assertEqual(sorted(set(self.rooms.places.values())), sorted(self.faces))
        for room, face in self.faces.items():
            with self.subTest(room):
                # what a comment says of the room, not of its licence
                words = re.sub(r"SPDX\S+ \S+|[/*]", "", essay(face)).split()
                self.assertGreater(len(words), 8, face)

    def test_each_file_is_listed(self):
        for path in self.files:
            face = self.faces[self.rooms.of(path)]
            if path.endswith(".h") and (path == face or path.endswith("_impl.h") or path[:-1] + "c" in self.files):
                continue
            folder, name = os.path.split(path)
            beside = [p for p in self.files if p.endswith(".h") and os.path.dirname(p) == folder and p != path]
            from_face = os.path.relpath(path, os.path.dirname(face))
            if from_face.startswith(".."):
                from_face = os.path.relpath(path, os.path.dirname(os.path.dirname(face)))
            with self.subTest(path):
                self.assertTrue(names(essay(face), from_face) or any(names(essay(h), name) for h in beside),
                                f"{path} is listed neither in {face} nor in another header of {folder}/")


if __name__ == "__main__":
    tally.main()
