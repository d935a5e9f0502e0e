// SPDX-License-Identifier: Apache-2.0
//
// judge [-w OUT | -f EXPRESSION] CAPTURE...: whether libpcap reads the same packets from these
// files as pcap/capture does: their number, times, bytes and lengths on the wire. A line for each
// file: "alike", "differs" or "refused" by which of the two, and why. Exit status 1: one differs,
// or one of them refused what the other took. -w writes what pcap/capture reads of the last file
// into a pcap, by libpcap: Ethernet frames, and an empty one for each packet that carries neither
// Ethernet nor IP. -f also filters the packets of captures of Ethernet: our machine code takes
// those that libpcap's interpreter takes, or the line says "differs, filter"; the last line has
// how many both took.
//
// Of a packet that got an Ethernet header, what follows that must be in libpcap's packet. A length
// on the wire that is less than what was captured is taken to be that. Of a packet that is longer
// than the file says that packets are libpcap has only so much, which is compared. libpcap does not
// read a pcapng whose interfaces have different link types or lengths; we do.
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "filter/filter.h"
#include "pcap/capture/capture_impl.h"

static const char *judge_packet(const struct capture_frame *ours, const struct pcap_pkthdr *head,
                                const uint8_t *bytes, bool ethernet, int snaplen) {
    const bool cut = head->caplen == (uint32_t)snaplen; // by libpcap
    const uint32_t wire = head->len < head->caplen ? head->caplen : head->len;
    const uint32_t skip = ethernet || ours->foreign || ours->length < 14 ? 0 : 14;
    if (ethernet || ours->foreign) {
        if (cut ? ours->length < head->caplen
                : ours->length != head->caplen || ours->wire_length != wire)
            return "length";
        if (memcmp(ours->bytes, bytes, head->caplen) != 0)
            return "bytes";
    } else if (!cut && ours->wire_length > wire + 14) {
        return "length";
    } else if (!cut && ours->length > skip &&
               !memmem(bytes, head->caplen, ours->bytes + skip, ours->length - skip)) {
        return "bytes";
    }
    // nanoseconds are where microseconds would be; a pcap's seconds have no sign, though libpcap
    // takes them to have one
    const uint64_t time =
        (uint32_t)head->ts.tv_sec * UINT64_C(1000000000) + (uint64_t)head->ts.tv_usec;
    return ours->timeless || ours->time_ns == time ? NULL : "time";
}

static pcap_dumper_t *judge_out;
static struct sk_filter *judge_filter; // null: none
static struct bpf_program judge_steps;
static unsigned long long judge_taken, judge_seen;

static bool judge_filters(const struct capture_frame *ours) {
    const bool want =
        bpf_filter(judge_steps.bf_insns, ours->bytes, ours->wire_length, ours->length) != 0;
    judge_seen++;
    judge_taken += want;
    return sk_filter_matches(judge_filter, ours->bytes, ours->length, ours->wire_length) == want;
}

static bool judge_begin_filter(const char *expression) {
    struct sk_error err;
    pcap_t *p = pcap_open_dead(DLT_EN10MB, CAPTURE_LONGEST);
    judge_filter = sk_filter_parse(expression, &err);
    const bool good = judge_filter && sk_filter_is_compiled(judge_filter) &&
                      pcap_compile(p, &judge_steps, expression, 1, PCAP_NETMASK_UNKNOWN) == 0;
    pcap_close(p);
    return good;
}

static void judge_write(const struct capture_frame *ours) {
    const struct pcap_pkthdr head = {.ts = {.tv_sec = (time_t)(ours->time_ns / 1000000000),
                                            .tv_usec = (long)(ours->time_ns % 1000000000)},
                                     .caplen = ours->foreign ? 0 : ours->length,
                                     .len = ours->foreign ? 0 : ours->wire_length};
    pcap_dump((u_char *)judge_out, &head, ours->bytes);
}

// Only what our reader makes of it, when libpcap does not read the file.
static int judge_ours_alone(const char *path, struct capture *c, const char *error) {
    struct capture_frame ours;
    struct sk_error err = {""};
    unsigned long long n = 0;
    int rc;
    for (; (rc = capture_next(c, &ours, &err)) > 0; n++)
        if (judge_out)
            judge_write(&ours);
    printf("%s: refused by libpcap: %s; ours has %llu packets more%s%s\n", path, error, n,
           rc < 0 ? ": " : "", err.text);
    return 1;
}

static int judge_packets(const char *path, struct capture *c, pcap_t *p) {
    const bool ethernet = pcap_datalink(p) == DLT_EN10MB;
    unsigned long long foreign = 0;
    char more[64] = "";
    for (uint64_t n = 1;; n++) {
        struct capture_frame ours;
        struct pcap_pkthdr *head;
        const uint8_t *bytes;
        struct sk_error err = {""};
        const int rc = capture_next(c, &ours, &err), theirs = pcap_next_ex(p, &head, &bytes);
        if (foreign)
            snprintf(more, sizeof more, ", %llu of which carry neither", foreign);
        if (rc > 0 && theirs == PCAP_ERROR && judge_out) {
            judge_write(&ours);
            judge_ours_alone(path, c, pcap_geterr(p));
            return 1;
        }
        if (rc <= 0 || theirs != 1) {
            const bool alike = (rc == 0 && theirs == PCAP_ERROR_BREAK) || (rc < 0 && theirs < -2) ||
                               (rc < 0 && theirs == PCAP_ERROR);
            printf("%s: %s, %llu packets%s%s%s%s%s\n", path, alike ? "alike" : "differs",
                   (unsigned long long)n - 1, more, rc < 0 ? "; ours: " : "", err.text,
                   theirs == PCAP_ERROR ? "; libpcap: " : "",
                   theirs == PCAP_ERROR ? pcap_geterr(p) : "");
            return !alike;
        }
        const char *what = judge_packet(&ours, head, bytes, ethernet, pcap_snapshot(p));
        if (!what && ethernet && judge_filter && !judge_filters(&ours))
            what = "filter";
        if (what) {
            printf("%s: differs, %s of packet %llu\n", path, what, (unsigned long long)n);
            return 1;
        }
        foreign += ours.foreign != NULL;
        if (judge_out)
            judge_write(&ours);
    }
}

static int judge_file(const char *path) {
    char error[PCAP_ERRBUF_SIZE] = "";
    struct sk_error err = {""};
    struct capture *c = capture_open(path, &err);
    pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);
    int status = 0;
    if (c && p)
        status = judge_packets(path, c, p);
    else if (p && !capture_link_is_known((unsigned)pcap_datalink(p)))
        printf("%s: refused by ours: %s\n", path,
               err.text); // a link type that has no frames for us
    else if (!c && !p)
        printf("%s: refused by both: %s; %s\n", path, err.text, error);
    else if (c)
        status = judge_ours_alone(path, c, error);
    else
        status = printf("%s: refused by ours: %s\n", path, err.text);
    capture_close(c);
    if (p)
        pcap_close(p);
    return status != 0;
}

int main(int argc, char **argv) {
    int status = argc < 2, first = 1;
    if (argc > 3 && strcmp(argv[1], "-w") == 0) {
        pcap_t *ethernet = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, CAPTURE_LONGEST,
                                                                PCAP_TSTAMP_PRECISION_NANO);
        judge_out = pcap_dump_open(ethernet, argv[2]);
        pcap_close(ethernet);
        if (!judge_out)
            return 2;
        first = 3;
    }
    if (argc > 3 && strcmp(argv[1], "-f") == 0) {
        if (!judge_begin_filter(argv[2]))
            return 2;
        first = 3;
    }
    for (int i = first; i < argc; i++)
        status |= judge_file(argv[i]);
    if (judge_out)
        pcap_dump_close(judge_out);
    if (judge_filter) {
        printf("taken by both: %llu of %llu\n", judge_taken, judge_seen);
        pcap_freecode(&judge_steps);
        sk_filter_free(judge_filter);
    }
    return status;
}
