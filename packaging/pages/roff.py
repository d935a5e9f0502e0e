# SPDX-License-Identifier: Apache-2.0
"""Text as roff with the macros man(7), which man and mandoc read."""
import re


def escape(text):
    """Text in which nothing is a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    return "\\&" + text if text.startswith(".") else text


def bold(text):
    return f"\\fB{escape(text)}\\fR" if text else ""


def italic(text):
    return f"\\fI{escape(text)}\\fR" if text else ""


class Page:
    """A manual page, line by line."""

    def __init__(self, name, section, version, summary):
        self.lines = [
            '.\\" Made by packaging/pages/pages.py of what silken prints and of its documents.',
            f'.TH {name.upper()} {section} "" "silken {version}" "Silken"', ".ad l", ".SH NAME", f"{name} \\- {escape(summary)}"]

    def section(self, title):
        self.lines.append(f".SH {escape(title.upper())}")

    def subsection(self, title):
        self.lines.append(f".SS {escape(title)}")

    def paragraph(self, text):
        """|text| is roff."""
        self.lines += [".PP", text]

    def item(self, head, text):
        """Both are roff; an empty text is no line, which would be one of the page."""
        self.lines += [".TP", head or "\\&"] + [text or "\\&"]

    def verbatim(self, lines):
        """|lines| are plain."""
        self.lines += [".PP", ".RS 2", ".nf"] + [escape(line) or "\\&" for line in lines] + [".fi", ".RE"]

    def see_also(self, *names):
        self.section("see also")
        pages = [re.match(r"(.+)\((\d)\)$", n).groups() for n in names]
        self.lines += [f".BR {escape(n)} ({s})" + ("," if i + 1 < len(pages) else "") for i, (n, s) in enumerate(pages)]

    def text(self):
        return "\n".join(self.lines) + "\n"


def inline(text):
    """Markdown within a line, as roff: code and ** bold, * italic, a link its text."""
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\*[^* ][^*]*\*|\[[^\]]+\]\([^)]+\))", text)
    done = ""
    for part in parts:
        if re.fullmatch(r"`[^`]+`", part):
            done += bold(part[1:-1])
        elif re.fullmatch(r"\*\*[^*]+\*\*", part):
            done += bold(part[2:-2])
        elif re.fullmatch(r"\*[^*]+\*", part):
            done += italic(part[1:-1])
        elif re.fullmatch(r"\[[^\]]+\]\([^)]+\)", part):
            done += inline(re.match(r"\[([^\]]+)\]", part)[1])
        else:
            done += escape(part.replace("\\|", "|")).removeprefix("\\&" if done else "")
    return done


def section_of(document, heading):
    """The lines of a document below |heading| up to the next heading of its level or a higher one."""
    lines = document.split("\n")
    begin = lines.index(heading)
    level = len(heading) - len(heading.lstrip("#"))
    fenced = False
    for end in range(begin + 1, len(lines)):
        fenced ^= lines[end].startswith("```")
        if not fenced and re.match(r"#{1,%d} " % level, lines[end]):
            return lines[begin + 1:end]
    return lines[begin + 1:]


def markdown(page, lines):
    """Headings, paragraphs, code, tables and lists of Markdown, as the project's documents have them."""
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if not line.strip():
            pass
        elif line.startswith("#"):
            page.subsection(re.sub("`", "", line.lstrip("# ")))
        elif line.startswith("```"):
            while not lines[end].startswith("```"):
                end += 1
            page.verbatim(lines[at + 1:end])
            end += 1
        elif line.startswith("    "):
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            page.verbatim([x[4:] for x in "\n".join(lines[at:end]).rstrip().split("\n")])
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            table(page, lines[at:end])
        elif re.match(r"(- |\d+\. )", line):
            while end < len(lines) and lines[end].startswith("  "):
                end += 1
            mark, text = re.match(r"(-|\d+\.) +(.*)", line).groups()
            page.lines += [".IP %s 3" % ("\\(bu" if mark == "-" else mark),
                           inline(" ".join([text] + [x.strip() for x in lines[at + 1:end]]))]
        elif line.startswith("<"):
            raise ValueError(f"a document has HTML, which a manual page cannot: {line!r}")
        else:
            while end < len(lines) and lines[end].strip() and not re.match(r"#|```|\||- |\d+\. ", lines[end]):
                end += 1
            page.paragraph(inline(" ".join(x.strip() for x in lines[at:end])))
        at = end


def table(page, lines):
    """A table: the first column is what an item is called, and the others what is said of it."""
    rows = [[c.strip() for c in re.split(r"(?<!\\)\|", x.strip()[1:-1])] for x in lines]
    heads, rows = rows[0], rows[2:]
    for row in rows:
        said = [(f"{inline(h)}: " if h and len(heads) > 2 else "") + inline(c) for h, c in zip(heads[1:], row[1:]) if c]
        page.item(inline(row[0]), "\n.br\n".join(said))
