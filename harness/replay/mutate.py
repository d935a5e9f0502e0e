# SPDX-License-Identifier: Apache-2.0
"""All mutants of a P4 program that differ from it in one token: enumerated from its text, in order.

operator  == and != change places, so do + and -, & and |, && and ||, max and min; ~ and ! go
constant  the lowest bit of a number is flipped, true and false change places, an enumerator becomes
          the next one of its enum, a numbered name (RECIRCULATE_PIPE_0) the next one
key       the field of a table's or parser's key becomes another of the same type, with the name that
          the control plane knows
entry     a constant in a table's entry becomes "any", "any" a constant

Comments, strings, #include lines and include guards are left alone."""
import re
from dataclasses import dataclass

TOKENS = re.compile(r"""(?P<skip>/\*.*?\*/|//[^\n]*|"[^"\n]*"|\#\s*(?:include|ifndef|ifdef|endif)[^\n]*|
                            \#\s*define\s+\w+\s*\n)
                      | (?P<number>\b(?:\d+[ws])?(?:0x[0-9a-fA-F_]+|0b[01_]+|\d[\d_]*)\b)
                      | (?P<word>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
                      | (?P<operator>&&&|\+\+|<<|>>|\|\+\||\|-\||==|!=|<=|>=|&&|\|\||[-+&|~!^])""",
                    re.X | re.S)
OPERATORS = {"==": "!=", "!=": "==", "+": "-", "-": "+", "&": "|", "|": "&", "&&": "||", "||": "&&",
             "~": "", "!": ""}
WORDS = {"true": "false", "false": "true", "max": "min", "min": "max"}


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    kind: str
    at: int       # offset in the file
    old: str
    new: tuple    # what to try in its place: the first that compiles
    named: bool   # a key of a table, whose name stays
    key: str      # the same as long as the line is, wherever it moves

    def apply(self, text, new):
        rest = text[self.at + len(self.old):]
        if self.named:
            rest = rest.replace(";", f' @name("{self.old}");', 1)
        return text[:self.at] + new + rest


def enumerators(texts):
    """{"op_t.CONSUME": "op_t.DUPLICATE", ...}"""
    out = {}
    for text in texts:
        for name, body in re.findall(r"\benum\s+(?:bit<\d+>\s+)?(\w+)\s*\{(.*?)\}", text, re.S):
            body = re.sub(r"//[^\n]*", "", body)
            members = [m.split("=")[0].strip() for m in body.split(",") if m.strip()]
            for a, b in zip(members, members[1:] + members[:1]):
                out[f"{name}.{a}"] = f"{name}.{b}"
    return out


def numbered(texts):
    """The same for constants that are numbered from 0."""
    names = [n for text in texts for n in re.findall(r"\bconst\s+\S+\s+(\w+_\d+)\s*=", text)]
    return {n: names[(i + 1) % len(names)] for i, n in enumerate(names)}


def flipped(number):
    """A number with its lowest bit flipped, as it was written."""
    prefix, digits = re.fullmatch(r"(\d+[ws])?(.*)", number).groups()
    value = int(digits.replace("_", ""), 0) ^ 1
    form = {"0x": "#x", "0b": "#b"}.get(digits[:2], "d")
    return (prefix or "") + format(value, form)


def spans(text, opening):
    """(begin, end) of what is in the brackets behind each place where the pattern is."""
    out = []
    for m in re.finditer(opening, text):
        depth, i = 1, m.end()
        while depth and i < len(text):
            depth += (text[i] in "{(") - (text[i] in "})")
            i += 1
        out.append((m.end(), i))
    return out


def within(places, at):
    return any(begin <= at < end for begin, end in places)


class Enumerator:
    def __init__(self, texts, fields, anything):
        self.texts = texts
        self.names = {**enumerators(texts.values()), **numbered(texts.values())}
        self.fields = fields      # {field: another of its type}
        self.anything = anything  # what "_" may become

    def changes(self, text, m, entries, keys):
        """(kind, new, named) of a token."""
        token, kind = m.group(), m.lastgroup
        in_entry = within(entries, m.start())
        if kind == "operator" and token in OPERATORS:
            yield "operator", (OPERATORS[token],), False
        elif kind == "number":
            yield "constant", (flipped(token),), False
        elif kind == "word" and token in WORDS:
            yield "operator" if token in ("max", "min") else "constant", (WORDS[token],), False
        elif kind == "word" and token in self.names and not re.match(r"\s*=[^=]", text[m.end():]):
            yield "constant", (self.names[token],), False
        elif kind == "word" and token == "_" and in_entry:
            yield "entry", self.anything, False
        elif kind == "word" and token in self.fields and within(keys, m.start()):
            line = text[text.rindex("\n", 0, m.start()):text.index("\n", m.end())]
            yield "key", (self.fields[token],), line.rstrip().endswith(";") and "@name" not in line
        if in_entry and (kind == "number" or token in self.names or token in ("true", "false")):
            yield "entry", ("_",), False

    def of_file(self, name):
        text = self.texts[name]
        entries = [(b, e) for begin, end in spans(text, r"const entries = \{")
                   for b, e in ((begin + x, begin + y) for x, y in
                                spans(text[begin:end], r"(?m)^\s*\("))]
        keys = spans(text, r"\bkey = \{") + spans(text, r"\bselect\s*\(")
        seen = {}
        for m in TOKENS.finditer(text):
            if m.lastgroup == "skip":
                continue
            for kind, new, named in self.changes(text, m, entries, keys):
                start = text.rfind("\n", 0, m.start()) + 1
                end = text.find("\n", m.start())
                place = f"{text[start:m.start()].lstrip()}[{m.group()} -> " \
                        f"{new[0] or 'nothing'}]{text[m.end():end]}".split(" //")[0].rstrip()
                nth = seen[place] = seen.get(place, 0) + 1
                key = f"{name}: {place}" + (f" (number {nth})" if nth > 1 else "")
                yield Mutant(name, text.count("\n", 0, m.start()) + 1, kind, m.start(), m.group(),
                             new, named, key)

    def all(self):
        return [m for name in sorted(self.texts) for m in self.of_file(name)]
