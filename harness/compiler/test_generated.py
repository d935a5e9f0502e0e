# SPDX-License-Identifier: Apache-2.0
"""What the compiler writes for the tree's programs is what harness/compiler/generated.text says, and a
difference is noticed (harness/compiler/generated.py)."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generated  # noqa: E402
import tally  # noqa: E402


class Generated(unittest.TestCase):
    def test_all_texts_are_as_listed(self):
        count, said = generated.differences()
        self.assertEqual(said, [], "when the change is meant: python3 harness/compiler/generated.py --update")
        self.assertGreater(count, 1000)

    def test_changed_lost_and_new_texts_are_told(self):
        program = "p4/l2/l2.p4"
        whole = generated.read_list()
        one = {key: digest for key, digest in whole.items() if key[0] == program}
        one[(program, "fast")] = "0" * 64
        del one[(program, "checked")]
        one[("p4/gone.p4", "fast")] = "0" * 64
        listed, listing = generated.LIST, generated.programs
        with tempfile.TemporaryDirectory() as folder:
            generated.LIST = os.path.join(folder, "list")
            generated.programs = lambda: [program]
            try:
                with open(generated.LIST, "w", encoding="utf-8") as f:
                    f.writelines(f"{digest} {kind} {name}\n" for (name, kind), digest in one.items())
                _, said = generated.differences()
            finally:
                generated.LIST, generated.programs = listed, listing
        self.assertEqual(said, [
            "p4/gone.p4: the fast text is in the list, but is not written any more",
            f"{program}: the checked text is not in the list",
            f"{program}: the fast text has changed",
        ])

    def test_moved_files_have_their_old_names(self):
        pairs = [("a/new/deep.p4", "a/deep.p4"), ("a/new/", "a/old/")]
        self.assertEqual(generated.moved_back(b"a/new/x.p4 a/new/deep.p4:3:1", pairs), b"a/old/x.p4 a/deep.p4:3:1")


if __name__ == "__main__":
    tally.main()
