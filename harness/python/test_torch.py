#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed through a switch: sums of all types, training beside Gloo, a script that asks for gloo, and the
switch killed in mid-run (trial.py), by torchrun with four ranks."""
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, os.path.join(HERE, "trial.py"), "--ranks", "4", "--steps", "16", "--suite"])
