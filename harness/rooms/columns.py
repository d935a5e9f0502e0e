# SPDX-License-Identifier: Apache-2.0
"""C has lines of at most 100 columns.

    python3 harness/rooms/columns.py [FOLDER]      checks the tree in FOLDER (default: this one)

clang-format breaks code, but no comment; this finds what it leaves. A line may be longer when its end is a string
literal or an address (https://...) that begins within the columns and cannot be broken without harm.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import functions  # noqa: E402

MOST = 100
UNBROKEN = re.compile(r'"(?:\\.|[^"\\])*"|\S*https?://\S+')


def too_long(line):
    """Is the line longer than it may be? The backslash of a macro's line does not count."""
    line = re.sub(r"\s*\\?$", "", line)
    if len(line) <= MOST:
        return False
    if re.match(r"\s*(//|\*|/\*)", line):
        return not any("://" in m.group() and m.start() < MOST < m.end() for m in UNBROKEN.finditer(line))
    # what follows the literal is punctuation
    return not any(m.end() > MOST and re.fullmatch(r"[\s),;\]}]*", line[m.end():]) for m in UNBROKEN.finditer(line))


def check(folder):
    """A sentence for each line that is too long."""
    said = []
    for file in functions.sources(folder):
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            for number, line in enumerate(f.read().split("\n"), 1):
                if too_long(line):
                    said.append(f"{file}:{number}: the line has {len(line)} columns; at most {MOST} are allowed")
    return said


def main():
    said = check(sys.argv[1] if len(sys.argv) > 1 else functions.ROOT)
    for sentence in said:
        print(sentence)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
