// SPDX-License-Identifier: Apache-2.0
//
// fuzz_resume: what workers and others say to a ToR that was restarted, about a SwitchML job that
// waits for it: messages that are right but for some bytes, from several ports, with time between.
// The job is admitted by nothing but its own workers, each of whom must have said where it is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/ip.h"
#include "control/tor/jobs_impl.h"
#include "harness/control/tor/fuzz_input.h"
#include "harness/control/tor/rig.h"

#define WORKERS 3u // 10.0.10.2 to 4 at ports 0 to 2; port 3 is somebody else's
#define K       32u
#define SLOTS   40u
#define HEAD    (8u + 14u + 20u + 8u) // the CPU port's header, Ethernet, IPv4, UDP
#define BYTES   (HEAD + 10u + 4u * K)
#define STEPS   100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINK(n) "{\"name\": \"" #n "\", \"port\": " #n ", \"access\": 10}"
#define NEAR(n)                                                                                    \
    "{\"address\": \"10.0.10." #n "\", \"mac\": \"02:00:00:00:00:0" #n "\", \"vid\": 10}"
static const char section[] =
    "{\"mac\": \"02:00:00:00:00:fe\", \"vlans\": [{\"vid\": 10, \"addresses\": "
    "[\"10.0.10.1/24\"]}], "
    "\"neighbours\": [" NEAR(2) "," NEAR(3) "," NEAR(4) "], \"links\": [" LINK(0) "," LINK(
        1) "," LINK(2) "," LINK(3) "], \"jobs\": [{\"name\": \"j\", \"protocol\": \"switchml\", "
                                   "\"number\": 7, \"slots\": 40, \"workers\": "
                                   "[\"0:10.0.10.2\", \"1:10.0.10.3\", \"2:10.0.10.4\"]}]}";

static struct jobs_job *the_job(struct rig *r) {
    struct jobs *all = tor_jobs(rig_tor(r));
    must(all->n == 1);
    return all->list[0];
}

// A worker's message; which slots, how far and how many, as the input says.
static uint32_t message(struct input *in, unsigned w, uint8_t f[BYTES]) {
    const struct in6_addr from = tor_ipv4(0x0a000a02u + w), to = tor_ipv4(0x0a000a01u);
    const unsigned type = byte(in) % 8, uses = byte(in) % 16 ? 1 : byte(in) % 4;
    uint8_t *u = f + 8 + 14 + 20, *m = f + HEAD;
    memset(f, 0, BYTES);
    f[0] = TOR_REASON_LOCAL;
    put16(f + 4, (uint16_t)w);
    put16(f + 6, 10);
    memcpy(f + 8, "\x02\0\0\0\0\xfe\x02\0\0\0\0", 11);
    f[8 + 11] = (uint8_t)(2 + w);
    put16(f + 8 + 12, ETHER_IPV4);
    ip_header(f + 8 + 14, &from, &to, PROTOCOL_UDP, 64, 0, 0, BYTES - HEAD + 8);
    put16(u, 0xbee0);
    put16(u + 2, 0xbedf);
    put16(u + 4, (uint16_t)(BYTES - HEAD + 8));
    m[0] = (uint8_t)((type < 6 ? 3 : type == 6 ? 5 : 4) << 4);
    m[1] = 7;
    put16(m + 6, (uint16_t)(byte(in) % 4 ? (byte(in) % 2) * K : byte(in)));
    put32(m + 2, type < 6 ? SLOTS : uses & 0xffffff);
    for (unsigned i = 0; i < K; i++)
        put32(m + 10 + 4 * i, uses + (i % 8 == 7 ? byte(in) % 64 == 0 : 0));
    for (unsigned changes = byte(in) % 8 == 0 ? byte(in) % 4 : 0; changes > 0; changes--)
        f[8 + byte(in) % (BYTES - 8)] = (uint8_t)byte(in);
    return byte(in) % 16 ? BYTES : byte(in) % BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct rig *r;
    struct input in = {data, size};
    bool heard[WORKERS] = {false};
    if (!r)
        r = rig_new_with("p4/rack/rack.p4", 4, section);
    struct jobs_job *job = the_job(r);
    jobs_resume_free(job->resume);
    job->resume = jobs_resume_new(job, rig_now(r));
    for (unsigned step = 0; step < STEPS && in.left > 0 && job->resume; step++) {
        uint8_t f[BYTES];
        const unsigned w = byte(&in) % WORKERS, port = byte(&in) % 8 ? w : byte(&in) % 4;
        char waits[256];
        if (byte(&in) % 4 == 0) {
            rig_wait(r, byte(&in) * 4u);
            rig_forget(r);
        }
        const uint32_t length = message(&in, w, f);
        const uint16_t interface = tor_link_by_port(rig_tor(r), (uint16_t)port)->interface;
        put16(f + 2, interface);
        put16(f + 4, (uint16_t)port);
        tor_frame(rig_tor(r), f, length, rig_now(r));
        if (port < WORKERS && length == BYTES)
            heard[port] = true; // as far as we know
        if (job->resume)
            jobs_resume_text(job, waits, sizeof waits);
    }
    must(job->resume || (heard[0] && heard[1] && heard[2]));
    return 0;
}
