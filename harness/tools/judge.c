// SPDX-License-Identifier: Apache-2.0
//
// judge CAPTURE...: whether libpcap reads the same packets from these files as pcap/capture does:
// their number, times, bytes and lengths on the wire. A line for each file: "alike", "differs" or
// "refused" by which of the two, and why. Exit status 1: one differs, or one of them refused what
// the other took.
//
// Files whose packets are not Ethernet are compared from the IP packet on. libpcap does not read a
// pcapng of several link types.
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "pcap/capture/capture.h"

// Bytes in front of what both have: of libpcap's packet, and 14 of ours. -1: it is Ethernet; -2:
// what we do not read; -3: as many as there are bytes more.
static int judge_head(int link) {
    switch (link) {
    case DLT_EN10MB:
        return -1;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
        return 0;
    case DLT_PPP:
    case DLT_PPI:
        return -3;
    case DLT_NULL:
    case DLT_LOOP:
        return 4;
    case DLT_LINUX_SLL:
        return 16;
    case DLT_LINUX_SLL2:
        return 20;
    default:
        return -2;
    }
}

static const char *judge_packet(const struct capture_frame *ours, const struct pcap_pkthdr *head,
                                const uint8_t *bytes, int in_front) {
    uint32_t skip = 0, length = head->caplen, wire = head->len;
    if (in_front == -3) { // PPI around Ethernet, or IP behind PPP: the end is the same
        skip = length >= ours->length ? 0 : 14;
        in_front = -1;
        if (length + skip < ours->length)
            return "length";
        bytes += length + skip - ours->length;
        wire -= length + skip - ours->length;
        length = ours->length - skip;
    }
    if (in_front >= 0) {
        if (length < (uint32_t)in_front)
            return "length";
        bytes += in_front;
        length -= (uint32_t)in_front;
        wire -= (uint32_t)in_front;
        skip = 14;
    }
    if (ours->length - skip != length || ours->wire_length - skip != wire)
        return "length";
    if (memcmp(ours->bytes + skip, bytes, length) != 0)
        return "bytes";
    // nanoseconds are where microseconds would be; a pcap's seconds have no sign, though libpcap
    // takes them to have one
    const uint64_t time =
        (uint32_t)head->ts.tv_sec * UINT64_C(1000000000) + (uint64_t)head->ts.tv_usec;
    return ours->timeless || ours->time_ns == time ? NULL : "time";
}

static int judge_packets(const char *path, struct capture *c, pcap_t *p) {
    const int in_front = judge_head(pcap_datalink(p));
    for (uint64_t n = 1;; n++) {
        struct capture_frame ours;
        struct pcap_pkthdr *head;
        const uint8_t *bytes;
        struct sk_error err = {""};
        const int rc = capture_next(c, &ours, &err), theirs = pcap_next_ex(p, &head, &bytes);
        if (rc <= 0 || theirs != 1) {
            const bool alike = (rc == 0 && theirs == PCAP_ERROR_BREAK) || (rc < 0 && theirs < -2) ||
                               (rc < 0 && theirs == PCAP_ERROR);
            printf("%s: %s, %llu packets%s%s%s%s\n", path, alike ? "alike" : "differs",
                   (unsigned long long)n - 1, rc < 0 ? "; ours: " : "", err.text,
                   theirs == PCAP_ERROR ? "; libpcap: " : "",
                   theirs == PCAP_ERROR ? pcap_geterr(p) : "");
            return !alike;
        }
        const char *what = judge_packet(&ours, head, bytes, in_front);
        if (what) {
            printf("%s: differs, %s of packet %llu\n", path, what, (unsigned long long)n);
            return 1;
        }
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
    else if (p && judge_head(pcap_datalink(p)) == -2)
        printf("%s: refused by ours: %s\n", path, err.text); // a link type of neither kind
    else if (!c && !p)
        printf("%s: refused by both: %s; %s\n", path, err.text, error);
    else
        status =
            printf("%s: refused by %s: %s\n", path, c ? "libpcap" : "ours", c ? error : err.text);
    capture_close(c);
    if (p)
        pcap_close(p);
    return status != 0;
}

int main(int argc, char **argv) {
    int status = argc < 2;
    for (int i = 1; i < argc; i++)
        status |= judge_file(argv[i]);
    return status;
}
