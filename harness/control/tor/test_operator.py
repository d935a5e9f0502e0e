#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operator.md as a new user has it: its shell blocks are run one after the other by one shell, and what they print
is compared with the page. In namespaces of its own for the network and for mounts: /etc is a copy, /run, /usr/local,
/var/cache, /var/lib and /var/log are empty. With --show it prints what each block said.

A line of the page is there when the block printed the same, spaces, numbers and addresses apart; '...' is anything.
Blocks that begin with '# by hand' are left out."""
import os
import re
import subprocess
import sys
import tempfile
import threading

PAGE = "docs/operator.md"
SECONDS = 1000  # some 75 s on a free machine, most of them for three builds of the program; ten others beside it and it is 400
SHOW = "--show" in sys.argv
# where numbers are what matters: (a block has this, it says that)
MATTERS = [
    ("ping -c 3 -i 0.2 10.0.10.2", r"3 received, 0% packet loss(?s:.*)ttl=63(?s:.*)3 received, 0% packet loss"),
    ("silken ctl links", r"c1 +up(?s:.*)c2 +up(?s:.*)server +up"),
    ("silken ctl macs", r"10 +02:00:00:00:10:02 +c1"),
    ("silken ctl alarms", r"^no alarm$"),
    ("silken ctl job add", r"SwitchML job 0, slots 0 to 127"),
    ("sleep 1\n", r"job 0: 2 of 2 workers registered"),
    ("echo both are right", r"^both are right$(?s:.*)round 7: (?s:.*)^verified: 8 rounds of 200000 elements, "
     r"each the sum of 2 workers' values, exactly$(?s:.*)no slot waits"),
    ("curl -s", r'silken_job_workers\{job="0",kind="switchml"\} 2'),
    ('"icpm"', r"switch\.json:19: tor\.acls\[0\]\.rules\[0\]\.protocol"),
    ("acl test", r"2 packets transmitted, 0 received(?s:.*)2 packets transmitted, 2 received"),
    ("silken ctl trace", r"10\.0\.20\.2|0a001402"),
    ("silken ctl program", r"2 received, 0% packet loss"),
]
SCRATCH = """
set -e
mount --make-rprivate /
mkdir "$1/etc"
cp -a /etc/. "$1/etc/"
mount --bind "$1/etc" /etc
for d in /run /usr/local /var/cache /var/lib /var/log; do mount -t tmpfs -o mode=755 scratch $d; done
mkdir /usr/local/bin
ip link set lo up
exec bash
"""
passed, failed = 0, 0


def check(name, good, more=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL: {name}\n{more}")


def end():
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


def blocks():
    """(line, commands, outputs that the page shows for them)"""
    found = []
    with open(PAGE) as f:
        text = f.read()
    for m in re.finditer(r"^```(sh|text)\n(.*?)^```$", text, re.M | re.S):
        line = text.count("\n", 0, m.start()) + 1
        if m[1] == "sh":
            found.append((line, m[2], []))
        elif found:
            found[-1][2].extend(m[2].splitlines())
    return [b for b in found if not b[1].startswith("# by hand")]


def plain(line):
    line = re.sub(r"\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b", "M", line)
    line = re.sub(r"\d+(\.\d+)?([kMG](?=bit|\b))?", "N", line)
    return re.sub(r"[\s─-╿]+", " ", line).strip()


def run(shell, commands, number):
    mark = f"@@end-{number}"
    shell.stdin.write(f"{commands}\necho; echo {mark}\n")
    shell.stdin.flush()
    said = []
    for line in shell.stdout:
        if line.strip() == mark:
            return "".join(said)
        said.append(line)
    return None


def all_blocks(shell):
    for number, (line, commands, shown) in enumerate(blocks()):
        said = run(shell, commands, number)
        place = f"{PAGE}:{line}"
        if SHOW:
            print(f"==== {place}\n{commands}----\n{said}", flush=True)
        if said is None:
            check(place, False, "the shell ended, or time is up")
            return
        lines = {plain(s) for s in said.splitlines()}
        missing = [s for s in shown if s.strip() != "..." and plain(s.replace("...", "")) not in lines]
        check(f"{place} shows what is not printed", not missing, "\n".join(missing) + "\n---- printed:\n" + said)
        for has, pattern in MATTERS:
            if has in commands:
                check(f"{place}: {pattern}", re.search(pattern, said, re.M), said)
    matters = [has for has, _ in MATTERS if not any(has in b[1] for b in blocks())]
    check("the page has all that matters", not matters, str(matters))


def main():
    if os.geteuid() != 0 or subprocess.run(["unshare", "-mn", "true"], check=False).returncode:
        print("skipped: namespaces for mounts and the network need root")
        check("nothing to try", True)
        end()
    if not os.path.exists("/dev/net/tun"):
        print("skipped: there is no /dev/net/tun for the server's own port")
        check("nothing to try", True)
        end()
    # the page's own, and a make's above us
    others = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "SILKEN_CACHE", "SILKEN_SOCKET", "PREFIX", "DESTDIR")
    environment = {k: v for k, v in os.environ.items() if k not in others}
    environment.update(LC_ALL="C", TERM="dumb", PATH="/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin")
    with tempfile.TemporaryDirectory(prefix="silken-operator-") as folder:
        with subprocess.Popen(["unshare", "-mnp", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                               "sh", "-c", SCRATCH, "sh", folder],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment) as shell:
            timer = threading.Timer(SECONDS, shell.kill)
            timer.start()
            try:
                all_blocks(shell)
                shell.stdin.close()
                shell.wait(20)
            finally:
                timer.cancel()
                shell.kill()
    end()


main()
