# SPDX-License-Identifier: Apache-2.0
"""Tests that have a folder of their own for their files."""
import os
import shutil
import tempfile
import unittest


class FolderCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def file(self, name, data):
        """Writes bytes or text; returns the path."""
        with open(self.path(name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()
