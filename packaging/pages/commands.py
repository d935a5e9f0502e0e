# SPDX-License-Identifier: Apache-2.0
"""Manual pages of commands, of what `silken help` prints."""
import re

import formats
import helptext
import roff

ENVIRONMENT = [
    ("SILKEN_SOCKET", "the control socket that silken ctl and silken record use without -s"),
    ("SILKEN_CACHE", "the folder of compiled programs; without it $XDG_CACHE_HOME/silken, else ~/.cache/silken"),
    ("SILKEN_ROOT", "the folder with Silken's programs and headers, in place of that of the installation"),
    ("NO_COLOR", "if set, nothing is printed in colour"),
]
STATUS = [("0", "good"), ("1", "what was asked for did not succeed"), ("2", "it could not be tried: bad options, unusable input")]


def options(page, block):
    for option in block.items:
        head = ", ".join(
            roff.bold(f) + (f"[={roff.italic(a)}]" if optional else " " + roff.italic(a).replace("|", "|\\:") if a else "")
            for f, a, optional in option.flags)
        page.item(head, roff.escape(option.text))


def command_page(text, summary, version):
    name = "silken-" + text.command.replace(" ", "-")
    page = roff.Page(name, 1, version, summary)
    page.section("synopsis")
    for line in text.usage:
        words = line.split()
        known = len(["silken"] + text.command.split()) if line.strip().startswith("silken") else 0
        page.lines += [roff.bold(" ".join(words[:known])) + (" " if known else "") + roff.escape(" ".join(words[known:])), ".br"]
    page.lines.pop()
    page.section("description")
    titled = False
    for block in text.blocks:
        if block.kind == "text":
            page.paragraph(roff.inline(" ".join(block.items)))
        elif block.kind == "commands":
            page.verbatim([line[2:] if line.startswith("  ") else line for line in block.items])
        else:
            if not titled:
                page.section("options")
                titled = True
            if block.title:
                page.subsection(block.title)
            options(page, block)
    used = [n for n, (_, _, commands) in formats.FORMATS.items() if text.command.split()[0] in commands]
    page.see_also("silken(1)", *[f"{n}(5)" for n in used])
    return name + ".1", page.text()


def overview_page(program, summaries, version):
    page = roff.Page("silken", 1, version, "software switch for P4 programs of a Tofino")
    lines = helptext.ask(program, "--help").split("\n")
    page.section("synopsis")
    page.lines.append(roff.bold("silken") + roff.escape(lines[0].removeprefix("usage: silken")))
    page.section("description")
    about = lines[2:lines.index("", 2)]
    page.paragraph(roff.escape(" ".join(about)))
    page.section("commands")
    for command, summary in summaries.items():
        page.item(f".BR silken\\-{roff.escape(command.replace(' ', '-'))} (1)", roff.escape(summary))
    page.item(roff.bold("silken help") + " " + roff.italic("COMMAND"), roff.escape("explain a command's arguments"))
    page.item(roff.bold("silken --version"), roff.escape("print the version"))
    page.section("exit status")
    for number, text in STATUS:
        page.item(roff.bold(number), roff.escape(text))
    page.section("environment")
    for name, text in ENVIRONMENT:
        page.item(roff.bold(name), roff.escape(text))
    page.see_also(*[f"silken-{c.replace(' ', '-')}(1)" for c in summaries], *[f"{n}(5)" for n in formats.FORMATS])
    return "silken.1", page.text()


def pages(program, version):
    """{file name: text}."""
    summaries, texts = helptext.all_help(program)
    made = dict(command_page(text, re.sub(r"`", "", summaries[c]), version) for c, text in texts.items())
    made.update([overview_page(program, summaries, version)])
    return made
