// SPDX-License-Identifier: Apache-2.0
//
// fuzz_snoop: any frame as one about groups. The first byte says whether its checksums are made
// right, so that what follows them is reached. What is read is a message, and a query of ours
// that asks the same reads as that.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "control/tor/snoop_impl.h"
#include "control/tor/tor_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good) {
    if (!good)
        abort();
}

static void put_sum(uint8_t *at, uint32_t start, uint8_t *from, uint32_t length) {
    memset(at, 0, 2);
    put16(at, internet_checksum(start, from, length));
}

static void mend_ipv4(uint8_t *p, uint32_t length) {
    const uint32_t header = (p[0] & 15) * 4u, total = get16(p + 2);
    if (header < 20 || header > length)
        return;
    put_sum(p + 10, 0, p, header);
    if (total >= header + 8 && total <= length)
        put_sum(p + header + 2, 0, p + header, total - header);
}

static void mend_ipv6(uint8_t *p, uint32_t length) {
    const uint32_t end = 40u + get16(p + 4), at = 48 + 8u * p[41];
    uint32_t sum = IPPROTO_ICMPV6;
    if (end > length || at + 8 > end)
        return;
    sum += end - at;
    for (int i = 8; i < 40; i += 2)
        sum += get16(p + i);
    put_sum(p + at + 2, sum, p + at, end - at);
}

static void ask_likewise(const struct snoop_message *m) {
    static const uint8_t mac[6] = {2};
    struct snoop_message again;
    uint8_t frame[SNOOP_QUERY_BYTES];
    const uint32_t most = m->mld ? 30000 : 12700;
    const struct snoop_query q = {.mac = mac,
                                  .from = m->from,
                                  .group = m->group,
                                  .response_ms = m->response_ms < most ? m->response_ms : most,
                                  .interval = m->interval,
                                  .robustness = m->robustness};
    must(snoop_read(frame, snoop_query_frame(&q, frame), &again) == SNOOP_GOOD);
    must(again.query && again.mld == m->mld && again.robustness == m->robustness &&
         again.interval == m->interval);
    must(again.response_ms == (m->mld ? q.response_ms : q.response_ms / 100 * 100));
    must(memcmp(&again.group, &m->group, sizeof m->group) == 0);
    must(memcmp(&again.from, &m->from, sizeof m->from) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct snoop_message m;
    if (size < 1 || size > 9300)
        return 0;
    const bool mend = data[0] & 1;
    const uint32_t length = (uint32_t)size - 1;
    uint8_t *frame = malloc(length ? length : 1); // of its very size: who reads on is seen
    must(frame != NULL);
    memcpy(frame, data + 1, length);
    if (mend && length >= 34 && get16(frame + 12) == 0x0800)
        mend_ipv4(frame + 14, length - 14);
    if (mend && length >= 62 && get16(frame + 12) == 0x86dd)
        mend_ipv6(frame + 14, length - 14);
    if (snoop_read(frame, length, &m) == SNOOP_GOOD) {
        must(m.n_records <= SNOOP_RECORDS && (!m.query || m.n_records == 0));
        for (uint32_t i = 0; i < m.n_records; i++)
            must(tor_is_ipv4(&m.records[i].group) ? m.records[i].group.s6_addr[12] >> 4 == 14
                                                  : IN6_IS_ADDR_MULTICAST(&m.records[i].group));
        if (m.query)
            ask_likewise(&m);
    }
    free(frame);
    return 0;
}
