# SPDX-License-Identifier: Apache-2.0
"""Whether a mutant is the same program, as far as that can be shown without running it: its generated C is that of
the program, or the one table whose entries differ does the same for every key that there can be, or what differs
is the size of tables to whose constant entries nothing can be added."""
import itertools
import re

TABLE = re.compile(r"key = \{(?P<key>[^{}]*)\}(?:(?!key = \{).)*?const entries = \{(?P<body>.*?)\n\s*\}", re.S)
ENTRY = re.compile(r"^\s*(?:\(([^()]*)\)|([^\s():]+))\s*:\s*(.*?);\s*$", re.M)
SIZE = re.compile(r"(const entries = \{[^{}]*\}[^{}]*?\bsize = )\d+(?=;)")
LITERAL = re.compile(r"(?:\d+[ws])?(0x[0-9a-fA-F_]+|0b[01_]+|\d[\d_]*)")


def code(text, folder):
    """Generated C without where it is from and without lines that are comments."""
    return re.sub(r"(?m)^\s*//.*\n", "", text.replace(folder, ""))


class Names:
    """What a program's names are worth in entries: constants, macros, enumerators."""

    def __init__(self, texts):
        self.texts = [re.sub(r"//[^\n]*|/\*.*?\*/", "", t, flags=re.S) for t in texts.values()]
        self.values = {"false": "0", "true": "1"}
        self.types = {"bool": 1}  # bits of enums
        for text in self.texts:
            self.values.update(re.findall(r"\bconst\s+[^;=]*?(\w+)\s*=\s*([^;]+?)\s*;", text))
            self.values.update(re.findall(r"(?m)^\s*#define\s+(\w+)\s+(\w+)\s*$", text))
            for width, name, body in re.findall(r"\benum\s+bit<(\d+)>\s+(\w+)\s*\{(.*?)\}", text, re.S):
                self.types[name] = int(width)
                for member, value in re.findall(r"(\w+)\s*=\s*(\w+)", body):
                    self.values[f"{name}.{member}"] = value

    def number(self, text, depth=8):
        """None: not known."""
        if LITERAL.fullmatch(text):
            return int(LITERAL.fullmatch(text)[1].replace("_", ""), 0)
        parts = [p.strip() for p in text.split("+")]
        if len(parts) == 2 and "" not in parts:
            found = [self.number(p, depth - 1) for p in parts]
            return None if None in found else sum(found)
        return self.number(self.values[text], depth - 1) if depth and text in self.values else None

    def bits(self, key):
        """Of a key's expression; None: not known, or not the same wherever the name is."""
        piece = re.fullmatch(r".*\[(\d+):(\d+)\]", key)
        if piece:
            return int(piece[1]) - int(piece[2]) + 1
        name, found = key.split(".")[-1], set()
        for text in self.texts:
            for kind in re.findall(rf"([\w<>]+)\s+{re.escape(name)}\s*;", text):
                width = re.fullmatch(r"(?:bit|int)<(\d+)>", kind)
                found.add(int(width[1]) if width else self.types.get(kind))
        return found.pop() if len(found) == 1 else None


def entries(body, names):
    """[([value or None for any], action)] of a table's entries; None if they are not only that."""
    body = re.sub(r"//[^\n]*", "", body)
    found = []
    for several, one, act in ENTRY.findall(body):
        fields = [f.strip() for f in (several or one).split(",")]
        values = [None if f == "_" else names.number(f) for f in fields]
        if any(v is None and f != "_" for v, f in zip(values, fields)):
            return None
        found.append((values, " ".join(act.split())))
    same_length = len({len(v) for v, _ in found}) == 1
    return found if same_length and len(found) == body.count(";") else None


def action(table, key):
    """Of the first entry that the key meets; None: the default."""
    return next((act for values, act in table
                 if all(v in (None, k) for v, k in zip(values, key))), None)


def same_table(keys, one, other, names):
    """Whether two lists of entries, the first that matches wins, do the same for all keys: all values of short
    fields, of others those that entries have, and one that none has."""
    domains = []
    for key, column in zip(keys, zip(*(values for values, _ in one + other))):
        bits, seen = names.bits(key), {v for v in column if v is not None}
        if bits is not None and bits <= 4:
            seen = set(range(1 << bits))
        else:
            seen.add(max(seen, default=0) + 1)
        domains.append(sorted(seen))
    return len(domains) == len(keys) and all(action(one, key) == action(other, key)
                                             for key in itertools.product(*domains))


def same_but_for_sizes(old, new):
    """Whether two texts of a file differ in the size of tables with constant entries only: it does not say how many
    there are, and there will not be others."""
    return SIZE.sub(r"\1", old) == SIZE.sub(r"\1", new)


def same_entries(old, new, names):
    """Whether two texts of a file differ in the constant entries of one table only, which do the same."""
    a, b = list(TABLE.finditer(old)), list(TABLE.finditer(new))
    differ = [(x, y) for x, y in zip(a, b) if x[0] != y[0]]
    if len(a) != len(b) or len(differ) != 1:
        return False
    x, y = differ[0]
    if old[:x.start("body")] != new[:y.start("body")] or old[x.end("body"):] != new[y.end("body"):]:
        return False
    keys = [line.split(" : ")[0].split(": ")[0].strip() for line in x["key"].split(";") if line.strip()]
    one, other = entries(x["body"], names), entries(y["body"], names)
    return bool(one and other) and same_table(keys, one, other, names)
