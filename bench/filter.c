// SPDX-License-Identifier: Apache-2.0
//
// filter: what a filter in tcpdump's language takes for a frame in memory: as machine code, and by
// libpcap's interpreter, by turns.
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "filter/filter.h"

#define EXPRESSION "tcp port 80 and host 10.0.0.1"
#define FRAMES     1024u
#define BYTES      64u

struct filtered {
    const struct sk_filter *filter;     // or null:
    const struct bpf_insn *interpreted; // these steps
    uint8_t (*frames)[BYTES];
    uint64_t matched; // so that the compiler keeps the work
};

static uint64_t filter_work(void *aux, uint64_t times) {
    struct filtered *f = aux;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned i = 0; i < FRAMES; i++)
            f->matched += f->filter ? sk_filter_matches(f->filter, f->frames[i], BYTES, BYTES)
                                    : bpf_filter(f->interpreted, f->frames[i], BYTES, BYTES) != 0;
    return times * FRAMES;
}

// TCP over IPv4; every second one to port 80, every fourth one from the host.
static void filter_frame(unsigned i, uint8_t *b) {
    static const uint8_t head[] = {2,  0,    0, 0, 0,  1, 2, 0, 0, 0,   0, 2, 8,
                                   0,  0x45, 0, 0, 50, 0, 0, 0, 0, 64,  6, 0, 0,
                                   10, 0,    0, 9, 10, 0, 0, 2, 3, 232, 0, 80};
    memset(b, 0, BYTES);
    memcpy(b, head, sizeof head);
    b[29] = i % 4 ? 9 : 1;
    b[37] = i % 2 ? 81 : 80;
}

void measure_filter(const struct bench_options *opt, json_t *result) {
    struct sk_error err;
    struct bpf_program program;
    struct sk_filter *f = sk_filter_parse(EXPRESSION, &err);
    pcap_t *p = pcap_open_dead(DLT_EN10MB, 262144);
    uint8_t(*frames)[BYTES] = malloc(FRAMES * sizeof *frames);
    if (!f || !sk_filter_is_compiled(f) || !p || !frames ||
        pcap_compile(p, &program, EXPRESSION, 1, PCAP_NETMASK_UNKNOWN))
        abort();
    for (unsigned i = 0; i < FRAMES; i++)
        filter_frame(i, frames[i]);
    bench_pin();
    struct filtered compiled = {.filter = f, .frames = frames},
                    interpreted = {.interpreted = program.bf_insns, .frames = frames};
    struct bench_side sides[] = {
        {.name = "machine code", .work = filter_work, .aux = &compiled},
        {.name = "libpcap", .work = filter_work, .aux = &interpreted},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    if (compiled.matched == 0 || interpreted.matched == 0)
        abort();
    bench_put(result, "ns_per_frame", bench_stat(sides[0].ns, n));
    bench_put(result, "interpreted_ns_per_frame", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_interpreted", bench_ratio(sides[1].ns, sides[0].ns, n));
    bench_sides_free(sides, 2);
    bench_unpin();
    pcap_freecode(&program);
    pcap_close(p);
    sk_filter_free(f);
    free(frames);
    bench_note(result,
               "'%s' on frames of %u bytes in memory, every fourth of which matches; "
               "libpcap's interpreter over machine code, by turns",
               EXPRESSION, BYTES);
}
