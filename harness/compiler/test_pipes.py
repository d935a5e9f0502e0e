#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A compilation that waits for a pipe that nobody writes to ends with one sentence, within 10 s by the clock."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_bounds  # noqa: E402

if __name__ == "__main__":
    sys.exit(test_bounds.run_all(lambda folder: test_bounds.ended(folder, True)))
