# SPDX-License-Identifier: Apache-2.0
"""Python imports this at its start, in the processes of a script that silken.run runs: torch.distributed
gets silken as soon as it is imported. A sitecustomize that lies behind this one on the path is run too."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "torch.distributed"


class Loader(importlib.abc.Loader):
    """The loader of torch.distributed, and silken's backend after it."""

    def __init__(self, real):
        self.real = real

    def create_module(self, spec):
        return self.real.create_module(spec)

    def exec_module(self, module):
        self.real.exec_module(module)
        from silken import autoload
        autoload.register()


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != NAME:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            spec.loader = Loader(spec.loader)
        return spec


def next_sitecustomize():
    path = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, Finder())
next_sitecustomize()
