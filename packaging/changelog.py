#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""changelog.py VERSION SECONDS MAINTAINER <CHANGELOG.md: the same as debian/changelog.

A version without a date yet is packed as a state before it: VERSION~DATE, of the commit's time SECONDS (since 1970).
changelog.py --check VERSION: whether the newest heading is that version's, with a date."""
import re
import sys
import textwrap
import time

HEADING = re.compile(r"## (\d+\.\d+\.\d+)(?:, unreleased| \((\d{4}-\d\d-\d\d)\))$")


def versions(text):
    """[(version, date or None, [change])], as the text has them."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        heading = HEADING.match(line)
        if heading:
            found.append((heading[1], heading[2], []))
        elif line.startswith("#") and number > 1:
            raise ValueError(f"CHANGELOG.md:{number}: a heading is '## 1.2.3, unreleased' or '## 1.2.3 (2026-01-31)'")
        elif line.startswith("- ") and found:
            found[-1][2].append(line[2:])
        elif line.startswith("  ") and found and found[-1][2]:
            found[-1][2][-1] += " " + line.strip()
    for version, _, changes in found:
        if not changes:
            raise ValueError(f"CHANGELOG.md: version {version} has no changes, lines that begin with '- '")
    if not found:
        raise ValueError("CHANGELOG.md: no version")
    return found


def debian(found, seconds, maintainer):
    """The text of debian/changelog."""
    text = ""
    for version, date, changes in found:
        moment = time.gmtime(seconds) if date is None else time.strptime(date, "%Y-%m-%d")
        packed = version if date else version + time.strftime("~%Y%m%d%H%M%S", moment)
        lines = [textwrap.fill(c.replace("`", ""), 76, initial_indent="  * ", subsequent_indent="    ") for c in changes]
        text += (f"silken ({packed}-1) unstable; urgency=medium\n\n" + "\n".join(lines) +
                 f"\n\n -- {maintainer}  {time.strftime('%a, %d %b %Y %H:%M:%S +0000', moment)}\n\n")
    return text


def main():
    found = versions(sys.stdin.read())
    wanted = sys.argv[2] if sys.argv[1] == "--check" else sys.argv[1]
    if found[0][0] != wanted:
        raise ValueError(f"VERSION is {wanted}, and the newest version in CHANGELOG.md {found[0][0]}")
    if sys.argv[1] == "--check":
        if found[0][1] is None:
            raise ValueError(f"CHANGELOG.md: version {wanted} is unreleased: give it a date, '## {wanted} (2026-01-31)'")
    else:
        sys.stdout.write(debian(found, int(sys.argv[2]), sys.argv[3]))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"error: {error}")
