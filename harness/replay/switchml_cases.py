# SPDX-License-Identifier: Apache-2.0
"""Captures of SwitchML jobs: what is summed and answered, and what a network does to it."""
import itertools
import random

from suite import case
from elements import vector
from switchml_net import PROGRAM, Job, Net


def phase(net, job, slot, version, size, seed, order=None, **more):
    """All workers of a job send their part of a slot, in an order."""
    for w in order or range(len(job.ports)):
        net.send(job, w, slot, version, vector(seed + w, size), **more)


def tensor(net, job, size, slots, phases):
    """A tensor of slots * phases packets: a slot is used again in its other version."""
    workers = len(job.ports)
    for p in range(phases):
        for s in range(slots):
            order = [(w + s + p) % workers for w in range(workers)]
            phase(net, job, s, p % 2, size, 1000 * p + 50 * s, order, tsi=p * slots + s,
                  exponents=(p - s, s - 2 * p))


@case("switchml/appendix_a", PROGRAM)
def appendix_a(c):
    """The example of the paper's appendix A, t0 to t15: three workers, slot 5, a part and a result
    that get lost, and the shadow copy that answers."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    now, then = ([vector(s + w, 64) for w in range(3)] for s in (0, 90))
    net.send(job, 0, 5, 0, now[0])   # t0
    net.send(job, 1, 5, 0, now[1])   # t1; t2, t3: the third worker's part is lost
    net.send(job, 0, 5, 0, now[0])   # t4: repeated, ignored
    net.send(job, 1, 5, 0, now[1])   # t5
    net.send(job, 2, 5, 0, now[2])   # t6: complete; t7: the first worker's copy is lost
    net.send(job, 0, 5, 0, now[0])   # t8: asks again, is answered alone
    net.send(job, 1, 5, 1, then[1])  # t12
    net.send(job, 2, 5, 1, then[2])  # t13
    net.send(job, 0, 5, 1, then[0])  # t14, t15
    net.send(job, 2, 5, 1, then[2])  # the roles are swapped: version 1 is the shadow copy
    net.send(job, 0, 5, 0, now[1])


@case("switchml/every_order", PROGRAM)
def every_order(c):
    """Three workers' parts in each of the six orders, in a slot each: the last one's packet becomes
    the result."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    for slot, order in enumerate(itertools.permutations(range(3))):
        phase(net, job, slot, 0, 64, 10 * slot, order, tsi=slot)


def sizes(elements):
    def tell(c):
        c.crosses = True
        job = Job(elements % 251, [0, 1, 2], base=64)
        tensor(Net(c, [job]), job, elements, slots=3, phases=3)
    tell.__doc__ = f"""A tensor of nine packets of {elements} elements: three slots, each used three
    times, versions in turn."""
    case(f"switchml/sizes_{elements}", PROGRAM)(tell)


for n in (32, 64, 128, 256):
    sizes(n)


@case("switchml/one_worker", PROGRAM)
def one_worker(c):
    """A job of one: each packet is its own result, repeated or not, in all sizes."""
    job = Job(1, [5], slots=4)
    net = Net(c, [job])
    for slot, size in enumerate((32, 64, 128, 256)):
        for p in range(3):
            net.send(job, 0, slot, p % 2, vector(10 * slot + p, size), exponents=(p, -p))
        net.send(job, 0, slot, 0, vector(99, size), exponents=(77, 77))


@case("switchml/two_workers", PROGRAM)
def two_workers(c):
    """A job of two in all sizes: the first packet's part waits, the second's completes."""
    job = Job(2, [5, 9], slots=4)
    net = Net(c, [job])
    for slot, size in enumerate((32, 64, 128, 256)):
        for p in range(2):
            phase(net, job, slot, p % 2, size, 100 * slot + 10 * p, [p, 1 - p], exponents=(p, slot))


@case("switchml/32_workers", PROGRAM)
def workers_32(c):
    """As many workers as a bitmap has bits; the last one's part completes, and every one is answered
    alone when it asks again."""
    job = Job(1, list(range(32)), slots=4)
    net = Net(c, [job])
    phase(net, job, 0, 0, 32, 0, exponents=(-3, 4))
    for w in (31, 0, 16):
        net.send(job, w, 0, 0, vector(w, 32))


@case("switchml/jobs", PROGRAM)
def jobs(c):
    """Three jobs with pools of their own, two of them on the same hosts, in turn: slots of the same
    number are apart."""
    a, b = Job(7, [0, 1, 2], 1, 100, 0, 16), Job(8, [3, 4], 10, 101, 16, 16)
    d = Job(9, [0, 1], 20, 102, 32, 8, hosts=[1, 2])
    net = Net(c, [a, b, d])
    for p in range(2):
        for job, w in ((a, 0), (b, 0), (d, 1), (a, 1), (b, 1), (a, 2), (d, 0)):
            net.send(job, w, 5, p % 2, vector(1000 * p + 10 * job.number + w, 64), exponents=(w, p))


@case("switchml/jobs_of_all_sizes", PROGRAM)
def jobs_of_all_sizes(c):
    """Four jobs with packets of 32, 64, 128 and 256 elements at the same time."""
    jobs = [Job(10 + i, [2 * i, 2 * i + 1], 10 * i + 1, 100 + i, 8 * i, 8) for i in range(4)]
    net = Net(c, jobs)
    for p in range(2):
        for w in (p, 1 - p):
            for i, job in enumerate(jobs):
                net.send(job, w, 7, p, vector(100 * p + 10 * i + w, 32 << i), exponents=(i - w, p))
    for i, job in enumerate(jobs):
        net.send(job, 1, 7, 1, vector(110 + 10 * i, 32 << i))


def other_pipes(elements, ports):
    def tell(c):
        c.crosses = True
        job = Job(7, ports, base=32)
        net = Net(c, [job])
        phase(net, job, 3, 0, elements, 0, exponents=(5, -5))
        phase(net, job, 3, 1, elements, 50, [2, 0, 1], exponents=(-6, 6))
        net.send(job, 0, 3, 1, vector(50, elements))
        net.send(job, 1, 4, 0, vector(51, elements))
        net.send(job, 1, 4, 0, vector(51, elements))
    tell.__doc__ = f"""Workers at ports {', '.join(map(str, ports))}: a part for the first pipe's slots
    is relayed there first, {elements} elements."""
    case(f"switchml/other_pipes_{elements}", PROGRAM)(tell)


for n, where in ((32, [3, 130, 450]), (64, [130, 257, 385]), (128, [129, 130, 131]),
                 (256, [130, 257, 3])):
    other_pipes(n, where)


@case("switchml/exponents", PROGRAM)
def exponents(c):
    """The largest exponent of each of the two blocks comes back, as signed numbers; a repetition's
    exponents do not count, and the next use of a slot starts anew."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    for slot, parts in enumerate((((-5, 100), (-128, -7), (-100, 127)), ((0, 0), (1, -1), (-1, 1)),
                                  ((-128, -128), (-128, -127), (-128, -128)),
                                  ((127, -128), (126, 0), (125, 127)))):
        for w, e in enumerate(parts):
            net.send(job, w, slot, 0, vector(w, 32), exponents=e)
            net.send(job, w, slot, 0, vector(w, 32), exponents=(120, 120))
        for w, e in enumerate(parts):
            net.send(job, w, slot, 1, vector(w, 32), exponents=(-e[1] // 2, -e[0] // 2))


@case("switchml/overflow", PROGRAM)
def overflow(c):
    """Sums wrap at 32 bits, signed or unsigned, and an element's carry stays in it."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    ends = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80000001, 0x00010000, 0xFFFF0000]
    triples = list(itertools.product(ends, ends, (0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
    for slot in range(4):
        part = triples[64 * slot:64 * slot + 64]
        for w in range(3):
            net.send(job, w, slot, 0, [t[w] for t in part])


def repetitions(elements):
    def tell(c):
        job = Job(7, [0, 1, 2])
        net = Net(c, [job])
        v = [vector(w, elements) for w in range(3)]
        for w in (1, 1, 0, 1, 0, 2, 2, 0, 1):
            net.send(job, w, 3, 0, v[w], exponents=(w, -w))
        # the other version fills while this one answers
        net.send(job, 0, 3, 1, v[2])
        net.send(job, 1, 3, 0, v[1])
        net.send(job, 2, 3, 1, v[1])
        net.send(job, 2, 3, 1, v[1])
        net.send(job, 1, 3, 1, v[0])
        net.send(job, 0, 3, 1, v[2])
    tell.__doc__ = f"""Parts of {elements} elements that come again: before the slot is complete they are
    dropped and not added, after it they are answered to the sender alone, also from the shadow
    copy."""
    case(f"switchml/repetitions_{elements}", PROGRAM)(tell)


for n in (32, 64, 128, 256):
    repetitions(n)


@case("switchml/reuse", PROGRAM)
def reuse(c):
    """A slot used seven times: the first part of a phase overwrites what the phase before the last
    left, and clears the sender's bit of the other version."""
    job = Job(7, [0, 1, 2])
    net = Net(c, [job])
    for p in range(7):
        phase(net, job, 2, p % 2, 64, 100 * p, [(p + 2 * i) % 3 for i in range(3)], tsi=p,
              exponents=(-p, p))


@case("switchml/pool_edges", PROGRAM)
def pool_edges(c):
    """The first and the last slot of pools, among them the last of the 8192; slots just outside are
    refused in both versions, and the neighbours' slots are not touched."""
    a, b = Job(1, [0, 1], 1, 100, 0, 8), Job(2, [2, 3], 3, 101, 8, 8)
    d, e = Job(3, [4, 5], 5, 102, 4096, 1), Job(4, [6, 135], 7, 103, 8176, 16)
    net = Net(c, [a, b, d, e])
    pools = (a, b, d, e)
    for version in (0, 1):
        for job in pools:
            for slot in sorted({0, job.slots - 1}):
                net.send(job, 0, slot, version, vector(job.number + slot, 32))
        for job in pools:
            for slot in (job.slots, job.slots + 1, 0x4000, 0x7FFF):
                net.send(job, 0, slot, version, vector(99, 32))
            net.send(job, 1, job.slots, version, vector(98, 32))
        for job in pools:
            for slot in sorted({0, job.slots - 1}):
                net.send(job, 1, slot, version, vector(50 + job.number + slot, 32))


@case("switchml/slots_apart", PROGRAM)
def slots_apart(c):
    """Slots whose numbers differ in one bit only, up to the highest, do not mix."""
    job = Job(5, [0, 1], base=0, slots=8192)
    net = Net(c, [job])
    slots = [0] + [1 << i for i in range(13)] + [8191]
    for w in range(2):
        for s in slots if w == 0 else reversed(slots):
            net.send(job, w, s, 0, vector(10 * s + w, 32))


def lossy(elements, seed):
    def tell(c):
        c.crosses = True
        rng = random.Random(seed)
        job = Job(7, [0, 1, 2], slots=2)
        net = Net(c, [job])
        simulate(net, job, elements, rng, loss=0.2, chunks=6)
    tell.__doc__ = f"""Three workers that send a tensor of six packets of {elements} elements through a
    network that loses every fifth packet in both directions, and send again what is not
    answered."""
    case(f"switchml/lossy_{elements}", PROGRAM)(tell)


def simulate(net, job, elements, rng, loss, chunks):
    """Workers after Algorithm 4 of the paper: chunk k is in slot k % slots, in versions that alternate; a
    worker goes on with a slot when it has its result, and sends again else."""
    workers = range(len(job.ports))
    at = {(w, s): s for w in workers for s in range(job.slots)}  # the chunk each waits for
    while any(k < chunks for k in at.values()):
        waiting = [ws for ws, k in at.items() if k < chunks]
        w, s = rng.choice(waiting)
        k = at[w, s]
        if rng.random() < loss:
            continue
        version = k // job.slots % 2
        sent = net.send(job, w, s, version, vector(100 * k + w, elements), tsi=k,
                        exponents=(k - w, w - k), after=rng.randrange(1, 5000))
        for port, _ in sent:
            if rng.random() >= loss:
                to = job.ports.index(port)
                if at[to, s] == k:
                    at[to, s] += job.slots


for n, start in ((64, 1), (256, 2)):
    lossy(n, start)


def collectives(elements, ports):
    def tell(c):
        c.crosses = True
        job, alone = Job(7, ports, base=32), Job(8, ports[2:], first_rid=9, group=101, base=96)
        net = Net(c, [job, alone])
        net.add_audiences(job)
        net.add_audiences(alone, 400)
        uses = {}

        def put(w, slot, values, audience, brief, **more):
            net.receive(job.ports[w], job.collective(w, slot, uses.get(slot, 0) % 2, values, audience, brief, **more))

        for to in range(3):  # sums to one
            for w in ((2, 0, 1), (0, 1, 2), (1, 2, 0))[to]:
                for again in range(2):
                    put(w, 3, vector(10 * to + w, elements), to, w != to, exponent=w - to, tsi=again)
            for w in range(3):
                put(w, 3, vector(10 * to + w, elements), to, w != to)
            uses[3] = to + 1
        for n, order in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2))):  # from one to all others
            root = n % 3
            for w in order:
                put(w, 4, vector(n, elements) if w == root else elements, 32 + root, w == root, exponent=-n)
            for w in order:
                put(w, 4, vector(n, elements) if w == root else elements, 32 + root, w == root)
            uses[4] = n + 1
        for w in (0, 1, 1, 0, 2):  # nobody has or gets any; two come again while one is missing
            put(w, 4, elements, 64, True, exponent=5 * w)
        for w in (2, 2, 1, 0):  # all, in the slot whose other version has other sums
            net.send(job, w, 4, 1, vector(70 + w, elements))
        for use, (values, audience, brief) in enumerate((  # one worker: each packet completes its slot
                (vector(80, elements), 0, False), (vector(81, elements), 0, True), (elements, 64, True), (elements, 0, False),
                (vector(82, elements), 0, False))):
            for _ in range(2):
                net.receive(ports[2], alone.collective(0, 6, use % 2, values, audience, brief, exponent=use))
        for audience in (3, 31, 35, 63, 65, 127):
            put(0, 5, vector(1, elements), audience, False)
        for kind in (1, 12, 13):  # none where some are said to be
            frame = bytearray(job.collective(0, 5, 0, elements, 0, False))
            frame[42] = kind << 4 | frame[42] & 7
            net.receive(job.ports[0], bytes(frame))
        frame = bytearray(job.collective(0, 5, 0, vector(3, elements), 0, False))
        frame[42] |= 2 << 4  # and some where none are
        net.receive(job.ports[0], bytes(frame))
    tell.__doc__ = f"""Sums of {elements} elements that one worker gets, that all but one get, and that nobody does, of three
    workers and of one: packets and results without elements, repetitions of each before and after a slot is complete, audiences that the job does not
    have, and lengths that contradict the type."""
    case(f"switchml/collectives_{elements}", PROGRAM)(tell)


for n, places in ((32, [0, 1, 2]), (64, [0, 130, 257]), (128, [1, 2, 385]), (256, [130, 3, 258])):
    collectives(n, places)
