# SPDX-License-Identifier: Apache-2.0
"""Does every #include of the tree keep to the arrows of rooms.mk?

    python3 harness/rooms/arrows.py [FOLDER]            checks the tree in FOLDER (default: this one)
    python3 harness/rooms/arrows.py --graph [FOLDER]    prints the rooms, lowest first, with their arrows

Each wrong include is one sentence with the file, what it includes and the rule. Also wrong: a circle among the
arrows, a file whose folder belongs to no room, an internal header (NAME_impl.h) that another room includes, and
an entry of KNOWN that is not true any more.

harness/ and bench/ stand on top of all rooms and may include anything.
"""
import os
import re
import subprocess
import sys

# Includes against the arrows that are known: each waits for the change that is named.
KNOWN = {}

# Headers that the build makes.
GENERATED = {"p4_parse.h": "compiler/syntax", "p4_lex.h": "compiler/syntax", "switchml_wire.h": "wire",
             "atp_wire.h": "wire", "libra_wire.h": "wire",
             "dlcp_wire.h": "wire",
             "brt/bfruntime.pb-c.h": "brt", "brt/status.pb-c.h": "brt",
             "p4rt/p4info.pb-c.h": "p4rt", "p4rt/p4runtime.pb-c.h": "p4rt",
             "control/published/switchml.pb-c.h": "control/published"}
# Open vSwitch's headers are included without a folder, by one room.
OPEN_VSWITCH = "control/tor"

ON_TOP = ("harness/", "bench/", "examples/", "docs/learn/")
PUBLIC = "hosts/include/"  # -I of the public headers
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


class Rooms:
    def __init__(self, table):
        self.places, self.arrows = {}, {}
        for line in table.splitlines():
            found = re.match(r"(room|arrows)/(\S+)\s*:=\s*(.*)$", line)
            if found:
                kind, name, words = found.groups()
                if kind == "room":
                    self.places.update((place, name) for place in words.split())
                else:
                    self.arrows[name] = words.split()
        self.below = {}

    def of(self, path):
        """The room of a file, or None."""
        return self.places.get(path) or self.places.get(os.path.dirname(path))

    def reach(self, name, way=()):
        """All rooms that a room may include, by its arrows and those of the rooms that it may include."""
        if name in way:
            raise SystemExit(f"rooms.mk: the arrows go in a circle: {' -> '.join([*way[way.index(name):], name])}")
        if name not in self.below:
            if name not in self.arrows:
                raise SystemExit(f"rooms.mk: {way[-1]} -> {name}, and there is no room {name}" if way
                                 else f"rooms.mk: room/{name} has no arrows/{name}")
            found = set()
            for other in self.arrows[name]:
                found |= {other} | self.reach(other, (*way, name))
            self.below[name] = found
        return self.below[name]


def sources(folder):
    """The C files of the tree, relative to its folder."""
    if os.path.exists(os.path.join(folder, ".git")):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h", "*.y", "*.l"],
                                cwd=folder, text=True, capture_output=True, check=True).stdout.split("\n")
        return sorted({p for p in listed if p and os.path.exists(os.path.join(folder, p))})
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".") and (where != folder or f != "build")]
        found += [os.path.relpath(os.path.join(where, n), folder) for n in names if n.endswith((".c", ".h", ".y", ".l"))]
    return sorted(found)


def target(included, tree):
    """The file that an include names, or its room when the build makes it, or None."""
    for path in (included, PUBLIC + included):
        if path in tree:
            return path, None
    return None, GENERATED.get(included)


def wrong_include(rooms, path, included, tree):
    """Why a file may not include this, or None."""
    room = rooms.of(path)
    header, other = target(included, tree)
    if header is None and other is None:
        if room == OPEN_VSWITCH:
            return None
        return f'{path} includes "{included}", which is no file of the tree (from its top folder)'
    other = other or rooms.of(header)
    if other is None or other == room:
        return None  # a file without a room is told once, by itself
    rule = f"{room} -> {', '.join(rooms.arrows[room]) or 'nothing'}"
    if other not in rooms.reach(room):
        return f"{path} includes {included}, but {room} may not include {other} (rooms.mk: {rule})"
    if included.endswith("_impl.h"):
        return (f"{path} includes {included}, which is internal to {other}: another room includes its public "
                "headers only")
    return None


def check(folder, known=None):
    """Sentences about what is wrong."""
    known = KNOWN if known is None else known
    with open(os.path.join(folder, "rooms.mk"), encoding="utf-8") as f:
        rooms = Rooms(f.read())
    for name in rooms.arrows:
        rooms.reach(name)
    for name in set(rooms.places.values()):
        rooms.reach(name)
    files = sources(folder)
    tree, said, seen = set(files), [], set()
    for path in files:
        if path.startswith(ON_TOP):
            continue
        if rooms.of(path) is None:
            said.append(f"{path}: {os.path.dirname(path) or 'the top folder'} belongs to no room; name it in rooms.mk")
            continue
        with open(os.path.join(folder, path), encoding="utf-8") as f:
            text = f.read()
        for included in INCLUDE.findall(text):
            sentence = wrong_include(rooms, path, included, tree)
            if sentence and included in known.get(path, []):
                seen.add((path, included))
            elif sentence:
                said.append(sentence)
    for path, headers in known.items():
        said += [f"harness/rooms/arrows.py: KNOWN says that {path} includes {h} against the arrows, and it does not"
                 for h in headers if (path, h) not in seen]
    return said


def print_graph(folder):
    with open(os.path.join(folder, "rooms.mk"), encoding="utf-8") as f:
        rooms = Rooms(f.read())
    for name in sorted(rooms.arrows, key=lambda n: (len(rooms.reach(n)), n)):
        print(f"{name} -> {', '.join(rooms.arrows[name]) or 'nothing'}")


def main():
    words = [w for w in sys.argv[1:] if w != "--graph"]
    here = os.path.dirname(os.path.abspath(__file__))
    folder = words[0] if words else os.path.normpath(os.path.join(here, "..", ".."))
    if "--graph" in sys.argv[1:]:
        print_graph(folder)
        return 0
    said = check(folder)
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
