# SPDX-License-Identifier: Apache-2.0
"""A worker's settings from its environment.

    SILKEN_DEVICE        how to reach the switch, as `silken worker --device` has it
    SILKEN_MAC, SILKEN_IP                 the worker's addresses
    SILKEN_SWITCH_MAC, SILKEN_SWITCH_IP   the switch's (02:00:00:00:00:fe, 10.0.0.254)
    SILKEN_RANK, SILKEN_WORKERS           the worker's place and the job's size
    SILKEN_JOB, SILKEN_POOL, SILKEN_PACKET  the job's number, slots, and elements of a packet (1, 128, 256)
    SILKEN_HARD_LIMIT_MS  time without progress until a job gives up (30000)
    SILKEN_WARNING_MS     the same until a warning (2000)

Launchers such as torchrun give all workers of a host the same environment but for RANK and
WORLD_SIZE, which stand for SILKEN_RANK and SILKEN_WORKERS when those are not set. So {rank} in a
device, a MAC or an IP address stands for the rank, {rank+N} for a number so much higher, and
{rank+N:02x} for it in two hexadecimal digits.
"""
import os
import re

DEFAULTS = {"SILKEN_SWITCH_MAC": "02:00:00:00:00:fe", "SILKEN_SWITCH_IP": "10.0.0.254",
            "SILKEN_JOB": "1", "SILKEN_POOL": "128", "SILKEN_PACKET": "256",
            "SILKEN_HARD_LIMIT_MS": "30000", "SILKEN_WARNING_MS": "2000"}
LIMITS = {"SILKEN_RANK": 31, "SILKEN_WORKERS": 32, "SILKEN_JOB": 255, "SILKEN_POOL": 1 << 20,
          "SILKEN_PACKET": 256, "SILKEN_HARD_LIMIT_MS": 1 << 31, "SILKEN_WARNING_MS": 1 << 31}
LAUNCHERS = {"SILKEN_RANK": "RANK", "SILKEN_WORKERS": "WORLD_SIZE"}
PLACE = re.compile(r"\{rank(?:\+(\d{1,6}))?(:02x)?\}")


def text(name, environment=None):
    """The value of a setting that must be there; ValueError says which is not."""
    environment = os.environ if environment is None else environment
    value = environment.get(name, environment.get(LAUNCHERS.get(name, ""), DEFAULTS.get(name)))
    if not value:
        raise ValueError("%s is not set: it has to say how this worker takes part in a job of the "
                         "switch (docs/training.md)" % name)
    return value


def number(name, environment=None):
    """A setting that is a number, within its limit."""
    value = text(name, environment)
    if not re.fullmatch(r"\d{1,10}", value) or int(value) > LIMITS[name]:
        raise ValueError("%s=%s: a number from 0 to %d is expected" % (name, value, LIMITS[name]))
    return int(value)


def placed(name, rank, environment=None):
    """A setting with {rank} filled in."""
    def fill(found):
        value = rank + int(found.group(1) or 0)
        return "%02x" % value if found.group(2) else str(value)

    value = PLACE.sub(fill, text(name, environment))
    if "{" in value:
        raise ValueError("%s=%s: of what is in braces only {rank}, {rank+N} and {rank+N:02x} are "
                         "known" % (name, text(name, environment)))
    return value


def settings(rank=None, workers=None, environment=None):
    """The arguments of silken.Communicator, as a dictionary."""
    rank = number("SILKEN_RANK", environment) if rank is None else rank
    workers = number("SILKEN_WORKERS", environment) if workers is None else workers
    return {
        "rank": rank, "workers": workers,
        "device": placed("SILKEN_DEVICE", rank, environment),
        "mac": placed("SILKEN_MAC", rank, environment),
        "ip": placed("SILKEN_IP", rank, environment),
        "switch_mac": text("SILKEN_SWITCH_MAC", environment),
        "switch_ip": text("SILKEN_SWITCH_IP", environment),
        "job": number("SILKEN_JOB", environment),
        "pool": number("SILKEN_POOL", environment),
        "packet": number("SILKEN_PACKET", environment),
        "hard_limit_ms": number("SILKEN_HARD_LIMIT_MS", environment),
        "warning_ms": number("SILKEN_WARNING_MS", environment),
    }
