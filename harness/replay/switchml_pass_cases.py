# SPDX-License-Identifier: Apache-2.0
"""Captures of single passes at a SwitchML switch: packets that come from the recirculation ports with a bridge header
of their own in front, as a packet generator in the switch can make them, so that each state is tried in
each pipe, whether or not the passes before would lead there."""
from suite import case
from elements import vector
from switchml_model import ELEMENTS, HEADERS
from switchml_net import PROGRAM, Job, Net
from switchml_pass_model import (CONSUME, DROP, READ_BRIEF, READ_HIGH, READ_LOW, READ_NONE, RELAY, UNKNOWN_STATES, Bridge,
                                 PassModel, brief, recirculation)

PIPES = range(4)


class Passes:
    """A switch with one job, whose packets come between two passes."""

    def __init__(self, case, job):
        self.job = job
        self.net = Net(case, [job], model=PassModel())
        case.derived = "computed by the model in switchml_pass_model.py"

    def inject(self, pipe, op, w, slot, elements, version=0, seed=0, exponents=None, unicast=0, of=None, taken=0,
               code=None, bits=0, length=None, at_brief=False, kind=1, group=None):
        """Worker w's packet enters a pipe as if the pass before had made it. Of its elements so many times 64 have been
        'taken' out; its size says 'code', its bridge header that the job is 'of' so many workers, and has further
        'bits' in the cell. 'kind' is the packet's type, and 'group' who gets elements."""
        job = self.job
        values = vector(seed + 7 * w + slot, elements)
        frame = bytearray(job.packet(w, slot, version, values, exponents or (w - slot, 3 * w), tsi=slot))
        frame[42] = kind << 4 | frame[42] & 15
        del frame[HEADERS:HEADERS + 256 * taken]
        if code is not None:
            frame[42] = frame[42] & 0xF8 | code
        bridge = Bridge(op, unicast, len(job.ports) if of is None else of, version << 15 | bits | job.base + slot,
                        job.group if group is None else group, job.rid(w), job.ports[w], 1 << job.bits[w], pad=0xA5,
                        brief_group=job.group)
        frame = bytes(frame[:length])
        self.net.case.receive(brief(pipe) if at_brief else recirculation(pipe), bridge.bytes() + frame)
        self.net.expect(*(self.net.model.inject_brief if at_brief else self.net.model.inject)(pipe, bridge, frame))


def contribute(passes, pipe, slot, elements, **more):
    """All workers' parts, with a repetition before the slot is complete, and one after that."""
    workers = range(len(passes.job.ports))
    for w in workers:
        passes.inject(pipe, CONSUME, w, slot, elements, **more)
        if w == 0:
            passes.inject(pipe, CONSUME, w, slot, elements, **more)
    passes.inject(pipe, CONSUME, workers[-1], slot, elements, **more)


def job_of(workers):
    return Job(7, [2, 131, 258][:workers], base=64, slots=64)


@case("switchml/pass_relay", PROGRAM)
def pass_relay(c):
    """RELAY in any pipe, whatever else the bridge header says, is CONSUME in the first."""
    c.crosses = True
    passes = Passes(c, job_of(2))
    for slot, elements in enumerate(ELEMENTS.values()):
        for i, pipe in enumerate((0, 3, 1, 2)):
            for w in range(2):
                passes.inject(pipe, RELAY, w, 4 * slot + i, elements, unicast=(0, 1, 2, 255)[pipe])


def aggregating(workers):
    def tell(c):
        passes = Passes(c, job_of(workers))
        slot = 0
        for unicast in (0, 1, 255):
            for elements in ELEMENTS.values():
                contribute(passes, 0, slot, elements, unicast=unicast)
                slot += 1
    tell.__doc__ = f"""CONSUME enters the first pipe with any value of `unicast`, which says nothing before there is a
    result: the last of {workers} completes it for all of them, and a repetition for its sender alone."""
    case(f"switchml/pass_unicast_{workers}", PROGRAM)(tell)


for n in (1, 2, 3):
    aggregating(n)


def in_later_pipes(workers):
    def tell(c):
        c.crosses = True
        passes = Passes(c, job_of(workers))
        slot = 0
        for elements in ELEMENTS.values():
            for pipe in (1, 2, 3):
                contribute(passes, pipe, slot, elements, unicast=slot % 2, taken=min(pipe, max(elements // 64, 1) - 1))
                slot += 1
    tell.__doc__ = f"""CONSUME of {workers} workers in each pipe but the first, in all sizes: a pipe that
    has another one behind it for this size passes on, every other is the last, and decides."""
    case(f"switchml/pass_later_pipes_{workers}", PROGRAM)(tell)


for n in (1, 2):
    in_later_pipes(n)


@case("switchml/pass_collective", PROGRAM)
def pass_collective(c):
    """CONSUME of collective operations whose elements nobody gets, in each pipe and size: the last pipe of the size begins
    a result without elements, with the exponents of its own; a repetition gets them if it asks for them."""
    c.crosses = True
    passes, slot = Passes(c, job_of(3)), 0
    for elements in ELEMENTS.values():
        for pipe in PIPES:
            taken = min(pipe, max(elements // 64, 1) - 1)
            for workers in range(1, 4):
                # what a later packet says about how many there are does not matter
                for n, w in enumerate((*range(workers), workers - 1, 0)):
                    passes.inject(pipe, CONSUME, w, slot, elements, of=workers if n == 0 else 1, taken=taken,
                                  kind=12 + w % 2, group=0, exponents=(slot - w, 0))
                slot += 1


@case("switchml/pass_unknown_size", PROGRAM)
def pass_unknown_size(c):
    """A size that is none of the four (admission lets none pass): its 64 elements are added in each pipe, but no
    result begins, and a repetition has no answer."""
    passes, slot = Passes(c, job_of(2)), 0
    for pipe in PIPES:
        for code in (4, 5, 6, 7):
            contribute(passes, pipe, slot, 64, code=code)
            for unicast in (0, 1):
                passes.inject(pipe, CONSUME, 0, slot + 1, 64, of=1, code=code, unicast=unicast)
            slot += 2


@case("switchml/pass_number_of_workers", PROGRAM)
def pass_number_of_workers(c):
    """What the first packet of a slot says about how many workers there are holds: a packet behind it that says one
    is not alone."""
    passes = Passes(c, job_of(3))
    for slot, elements in enumerate(ELEMENTS.values()):
        passes.inject(0, CONSUME, 0, slot, elements, of=3)
        passes.inject(0, CONSUME, 1, slot, elements, of=1)
        passes.inject(0, CONSUME, 2, slot, elements, of=1)


@case("switchml/pass_results", PROGRAM)
def pass_results(c):
    """Results in every pipe: READ_LOW goes down to the first pipe and READ_NONE is delivered where it is, to the job
    with `unicast` 0, to the worker with 1; with any other value it is a bad state, as READ_HIGH is in the fourth
    pipe."""
    c.crosses = True
    passes = Passes(c, job_of(3))
    for version in (0, 1):
        for w in range(3):
            passes.inject(0, CONSUME, w, 5, 256, version, seed=50 * version)
            for pipe in (1, 2, 3):  # other exponents in each pipe
                passes.inject(pipe, CONSUME, w, 6, 64, version, seed=50 * version, exponents=(9 * pipe + w, -pipe))
            passes.inject(0, CONSUME, w, 6, 64, version, seed=80)
        for op in (READ_LOW, READ_HIGH, READ_NONE):
            for pipe in PIPES:
                for unicast in (0, 1, 2, 129, 255):
                    passes.inject(pipe, op, unicast % 3, 5 + pipe % 2, 32, version, unicast=unicast, taken=1)


@case("switchml/pass_brief", PROGRAM)
def pass_brief(c):
    """Results without elements in every pipe: from the port for them, whatever the bridge header says is next, the second half
    of 64 elements is taken away, and from the usual one nothing; to the job with `unicast` 0, to the worker with 1."""
    c.crosses = True
    passes = Passes(c, job_of(3))
    for version in (0, 1):
        for w in range(3):
            for pipe in PIPES:
                passes.inject(pipe, CONSUME, w, 6, 64, version, seed=50 * version, exponents=(9 * pipe + w, -pipe))
        for pipe in PIPES:
            for unicast in (0, 1, 2, 255):
                passes.inject(pipe, READ_BRIEF, unicast % 3, 6, 32, version, unicast=unicast)
                for op in (READ_BRIEF, READ_LOW, CONSUME, 0) if pipe != 2 else ():
                    passes.inject(pipe, op, unicast % 3, 6, 32, version, unicast=unicast, at_brief=True)


@case("switchml/pass_bad_state", PROGRAM)
def pass_bad_state(c):
    """States that there are not, in every pipe: counted as such; DROP has been counted where it was set, and has
    nowhere to go."""
    passes = Passes(c, job_of(2))
    for pipe in PIPES:
        for i, op in enumerate((*UNKNOWN_STATES, DROP)):
            for unicast in (0, 1, 2):
                for w in range(2):
                    passes.inject(pipe, op, w, 8, (32, 64, 128, 256)[(i + w) % 4], version=w, unicast=unicast)
    contribute(passes, 0, 8, 64)


@case("switchml/pass_cell", PROGRAM)
def pass_cell(c):
    """Of a cell's number the top bit is the version and the last 13 are the slot; those between say nothing."""
    passes = Passes(c, job_of(2))
    slot = 0
    for version in (0, 1):
        for elements in (32, 64, 256):
            for bits in (0x2000, 0x4000, 0x6000):
                passes.inject(0, CONSUME, 0, slot, elements, version, bits=bits)
                passes.inject(0, CONSUME, 0, slot, elements, version)
                passes.inject(0, CONSUME, 1, slot, elements, version, bits=bits ^ 0x4000)
                passes.inject(0, CONSUME, 0, slot, elements, version, bits=0x4000)
                slot += 1


@case("switchml/pass_truncated", PROGRAM)
def pass_truncated(c):
    """A packet between two passes that ends in its headers is refused in any state, one that ends in a pipe's elements
    when it is to be aggregated; neither leaves a trace."""
    passes = Passes(c, job_of(2))
    for pipe in PIPES:
        for i, op in enumerate((RELAY, CONSUME, READ_LOW, READ_HIGH, READ_NONE, DROP, READ_BRIEF)):
            passes.inject(pipe, op, 0, 3, 64, length=(5, 20, 40, 46)[(pipe + i) % 4])
        for elements, length in ((32, 100), (64, 300), (128, 220), (256, 60)):
            passes.inject(pipe, CONSUME, 0, 3, elements, length=length)
    contribute(passes, 0, 3, 64)
