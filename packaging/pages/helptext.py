# SPDX-License-Identifier: Apache-2.0
"""What `silken help` prints, as a structure: the one source of manual pages and of completion.

A text has usage lines, then blocks apart by blank lines: paragraphs, lists of options, lists of commands. In a list
of options an entry is indented by two columns and begins with '-'; its explanation begins in the column in which most of
the list's explanations do, or after two blanks. A line that is neither, and a word for an argument that ARGUMENTS does
not know, is an error: a page or a completion is never made of what was not understood."""
import collections
import re
import subprocess

# What completes an argument of this name: "files", "folders", words, or nothing.
ARGUMENTS = {
    "files": "FILE FILE.png FILE.pcapng CAPTURE... CAPTURE PORT=CAPTURE... PORT=FILE... LAYOUT CONFIG.json "
             "SCENARIO.json PROGRAM.p4 SCRIPT.stf... PACKET FILE:NUMBER SOCKET UPDATES...",
    "folders": "DIR",
    "nothing": "N N... NAME NAME[=VALUE] NS US MS MIB MB S S,L F,B R P C THETA BYTES NUMBER K EXPR DIGITS ARCH PASS FIELD,... "
               "SECONDS A..B LEVELS N[,N]... MAC IP HOST:PORT F:C:N DEVICE MAP PORT NAME=VALUE MBPS A "
               "PORT:ADDRESS,... PORT:ADDRESS PORT:ADDRESS[/MAC],... PORT:ADDRESS/MAC,... V "
               "interface:NAME=PORT,...|vlan:ID=PORT,...|src-mac:MAC[/BITS]=PORT,...|src-ip:IP[/BITS]=PORT,... MODEL",
}
WORDS = {"CHIP": ["tofino1", "tofino2"], "WHEN": ["always", "never", "auto"]}
# Names of arguments that are words of one option, which the option's text has.
OPTION_WORDS = {
    ("worker", "--protocol"): ["switchml", "atp"],
    ("demo", "--protocol"): ["switchml", "atp", "both", "libra", "dlcp"],
    ("demo", "--links"): ["memif", "veth"],
    ("demo", "--network"): ["deep", "convolutional"],
    ("dlcp", "MODEL"): [],
    ("twin", "--speed"): ["10G", "25G", "40G", "50G", "100G", "200G", "400G"],
}

Option = collections.namedtuple("Option", "flags text head")  # flags: [(flag, argument or None, optional)]
Block = collections.namedtuple("Block", "kind title items")  # text: [line]; options: [Option]; commands: [line]
Help = collections.namedtuple("Help", "command usage blocks")


class Unclear(Exception):
    """A help text has a form that is not known here."""


def parse_flags(head, where):
    """'-w SECONDS, --wait SECONDS' -> [("-w", "SECONDS", False), ("--wait", "SECONDS", False)]."""
    flags = []
    for part in re.split(r"(?:,? +)(?=-)", " ".join(head.split())):
        found = re.match(r"(--?[A-Za-z0-9][-A-Za-z0-9%]*)(?:\[=([a-zA-Z]+)\]| (.+))?$", part)
        if not found:
            raise Unclear(f"{where}: no option: {part!r}")
        argument = found[2] or (found[3].replace(" ", "") if found[3] else None)
        flags.append((found[1], argument, found[2] is not None))
    return flags


def column_of(lines):
    """Where explanations begin in a list of options."""
    places = collections.Counter()
    for line in lines:
        found = re.match(r"  -.*?\S(  +)\S", line)
        if found:
            places[found.end(1)] += 1
        elif line.startswith("       ") and not line.lstrip().startswith("|"):
            places[len(line) - len(line.lstrip())] += 1
    return places.most_common(1)[0][0] if places else None


def parse_options(lines, where):
    """[Option] of a list's lines."""
    column, entries = column_of(lines), []
    for line in lines:
        if line.startswith("  -"):
            gap = re.search(r"\S(  +)\S", line)
            if column and len(line) > column and line[column - 1] == " " and line[column] != " " and line[2:column].strip():
                head, text = line[:column], line[column:]
            elif gap:
                head, text = line[:gap.end(1)], line[gap.end(1):]
            else:
                head, text = line, ""
            entries.append([head.strip(), [text] if text else []])
        elif line.lstrip().startswith("|"):
            gap = re.search(r"\S(  +)\S", line.strip())
            whole = line.strip()
            entries[-1][0] += " " + (whole[:gap.start(1)] if gap else whole)
            entries[-1][1] += [whole[gap.end(1):]] if gap else []
        elif line.startswith("   ") and entries:
            entries[-1][1].append(line.strip())
        else:
            raise Unclear(f"{where}: neither an option nor its explanation: {line!r}")
    return [Option(parse_flags(head, where), " ".join(text), head) for head, text in entries]


def blocks_of(lines, where):
    """The blocks after the usage."""
    blocks, at = [], 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end]:
            end += 1
        block = lines[at:end]
        at = end + 1
        if not block:
            continue
        begin = next((i for i, line in enumerate(block) if line.startswith("  ")), len(block))
        if begin == len(block):
            blocks.append(Block("text", None, block))
        elif block[begin].startswith("  -"):
            title = " ".join(block[:begin]).rstrip(":") if begin else None
            blocks.append(Block("options", title, parse_options(block[begin:], where)))
        elif begin == 0:
            blocks.append(Block("commands", None, block))
        else:
            raise Unclear(f"{where}: {block[begin]!r} is neither an option nor a command")
    return blocks


def parse(command, text):
    """Help of a text."""
    lines = text.rstrip("\n").split("\n")
    if not lines[0].startswith("usage: "):
        raise Unclear(f"silken {command}: the text does not begin with its usage")
    end = next((i for i, line in enumerate(lines) if not line or (i and not line.startswith("       "))), len(lines))
    usage = [line[7:] for line in lines[:end]]
    return Help(command, usage, blocks_of(lines[end:], "silken " + command))


def ask(program, *words):
    """What the program prints."""
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def all_help(program):
    """({command: its line in `silken --help`}, {command: Help}), in the order in which `silken --help` has them."""
    overview = ask(program, "--help")
    summaries = dict(re.findall(r"^  ([a-z]+) +([a-z].*)$", overview, re.M))
    summaries.pop("silken", None)
    texts = {c: parse(c, ask(program, "help", c)) for c in summaries}
    texts["libra control"] = parse("libra control", ask(program, "libra", "control", "--help"))
    first = re.split(r"[.:;,](?: |$)| and ", " ".join(texts["libra control"].blocks[0].items))[0]
    summaries["libra control"] = first[0].lower() + first[1:]
    return summaries, texts


def options(text):
    """All options of a Help."""
    return [o for b in text.blocks if b.kind == "options" for o in b.items]


def completes(command, flag, argument):
    """"files", "folders", "nothing" or a list of words."""
    if (command, flag) in OPTION_WORDS:
        return OPTION_WORDS[command, flag]
    if argument in WORDS:
        return WORDS[argument]
    for kind, names in ARGUMENTS.items():
        if argument in names.split():
            return kind
    if re.fullmatch(r"[a-z0-9]+(\|[a-zN0-9]+)+|[a-z0-9]+", argument):
        return [w for w in argument.split("|") if w.islower() or w.isdigit()]
    raise Unclear(f"silken {command} {flag}: no entry in ARGUMENTS for {argument!r}")


def top_split(text, at):
    """Parts of |text| apart by |at|, but not in brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[(") - (c in ")]")
        if depth == 0 and text.startswith(at, i):
            parts.append(text[begin:i])
            begin = i + len(at)
    return parts + [text[begin:]]


def command_words(text):
    """[(words, [(flag, argument or None)])] of lists of commands: ("port", "add"), [("--name", "NAME"), ...]."""
    entries = []
    for block in text.blocks:
        for line in block.items if block.kind == "commands" else []:
            if re.match(r"  [a-z]", line):
                entries.append(line)
            elif entries and re.match(r"      [\[-]", line):
                entries[-1] += " " + line.strip()
    found = []
    for entry in entries:
        synopsis = re.sub(r"(?<=\S)  +[^\[\s].*", "", entry.strip()) # without the explanation
        for part in top_split(" ".join(synopsis.split()), " | "):
            words = []
            for word in part.split():
                if not re.fullmatch(r"[a-z_]+(\|[a-z_]+)*", word):
                    break
                words.append(word.split("|"))
            flags = [(f, a or None) for f, a in re.findall(r"(--[a-z-]+)(?: ((?:\[/MAC\]|[A-Za-z|/:,.=])+))?", part)]
            ways = [()]
            for choice in words:
                ways = [w + (c,) for w in ways for c in choice]
            found += [(w, flags) for w in ways if w]
    return found
