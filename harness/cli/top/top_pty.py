#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# `silken ctl top` on a terminal that the test holds the other end of: what it writes there, what it does
# with keys, and when the window changes. Run by test_top.sh with the program and a switch's socket.
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

silken, socket = sys.argv[1:]


class Terminal:
    def __init__(self, columns, rows, **env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            env = {'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm', **env}
            os.execve(silken, [silken, 'ctl', '-s', socket, 'top', '--interval', '0.3'], env)
        self.said = b''

    def until(self, pattern, seconds=20):
        """Reads until the pattern is there; what was read so far is forgotten with it."""
        end = time.time() + seconds
        while time.time() < end:
            found = re.search(pattern, self.said, re.S)
            if found:
                self.said = self.said[found.end():]
                return found
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.fd, 65536)
                except OSError:
                    break
        raise AssertionError(f'no {pattern!r} in {self.said[-2000:]!r}')

    def key(self, text):
        os.write(self.fd, text)

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def lines(self):
        """Of the next whole page, without colours."""
        page = self.until(rb'\033\[H(.*?)\033\[J').group(1)
        return [re.sub(rb'\033\[[0-9]*[mK]', b'', line).decode() for line in re.split(rb'\r+\n', page)]

    def status(self):
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


t = Terminal(100, 20)
t.until(rb'\033\[\?1049h')  # the alternate screen
t.until(rb'in [0-9.]+[kM] pkt/s')
raw = t.until(rb'\033\[H(.*?)\033\[J').group(1)
assert b'\033[1m' in raw and b'\033[32m' in raw, raw  # colours
page = t.lines()
assert len(page) == 20, page
assert page[-1].startswith('all, by port, every 0.3 s') and 'q quit' in page[-1], page
t.key(b's')
t.until(rb'all, by in')
t.key(b'p')
t.until(rb'ports, by in')
t.key(b'\t')
t.until(rb'drops, by in')
t.key(b'+')
t.until(rb'every 0.15 s')
t.key(b' ')
t.until(rb', paused')
t.key(b'a')
t.resize(60, 10)
t.until(rb'all, by in')
for _ in range(3):
    page = t.lines()
assert len(page) == 10 and max(map(len, page)) == 60, page
t.resize(250, 50)
t.until(rb'space pause')
page = t.lines()
assert len(page) == 50, page
t.key(b'q')
t.until(rb'\033\[\?1049l')  # and back
assert t.status() == 0

# without colours, without UTF-8, and ended by a signal
for env in {'TERM': 'vt100'}, {'NO_COLOR': '1'}:
    t = Terminal(80, 24, **env)
    t.until(rb'silken top  l2.p4')
    page = t.until(rb'\033\[H(.*?)\033\[J').group(1)
    assert not re.search(rb'\033\[[0-9]+m', page), page
    os.kill(t.pid, signal.SIGTERM)
    t.until(rb'\033\[\?1049l')
    assert t.status() == 0
