#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py SILKEN VERSION FOLDER: manual pages of all commands and file formats, and completion for bash and zsh.

They are made of what the program SILKEN prints (--help, schema) and of docs/: nothing is written a second time."""
import os
import sys

import commands
import completion
import formats

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "..", "..", "docs")


def main():
    program, version, folder = sys.argv[1:]
    documents = {}
    for name in ("manual.md", "simulation.md"):
        with open(os.path.join(DOCS, name), encoding="utf-8") as f:
            documents[name] = f.read()
    made = commands.pages(program, version)
    made.update(formats.pages(program, version, documents))
    made.update(completion.scripts(program))
    for name, text in made.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
