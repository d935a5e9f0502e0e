#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A few of PyTorch's own tests of backends, with Gloo and with silken in its place; `make torch-distributed` has all."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["test_all_reduce_sum", "test_all_reduce_sum_async", "test_get_backend", "test_all_reduce_group_sum",
         "test_gather_object_subgroup"]
os.execv(sys.executable, [sys.executable, os.path.join(HERE, "distributed.py"), *NAMES])
