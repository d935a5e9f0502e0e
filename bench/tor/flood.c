// SPDX-License-Identifier: Apache-2.0
//
// flood INTERFACE SECONDS BYTES DESTINATION SOURCE: sends Ethernet frames of BYTES (without FCS) as
// fast as the kernel takes them, past its queues, and prints how many it took. For
// bench/tor/tor.py.
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <arpa/inet.h>

#define BURST 64u

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int open_interface(const char *name) {
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(name)};
    const int on = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);
    if (fd < 0 || !to.sll_ifindex || bind(fd, (struct sockaddr *)&to, sizeof to) ||
        setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on)) {
        perror(name);
        exit(1);
    }
    return fd;
}

static void address(uint8_t out[6], const char *text) {
    unsigned b[6];
    if (sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6) {
        fprintf(stderr, "flood: no address: %s\n", text);
        exit(1);
    }
    for (int i = 0; i < 6; i++)
        out[i] = (uint8_t)b[i];
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: flood INTERFACE SECONDS BYTES DESTINATION SOURCE\n");
        return 2;
    }
    const int fd = open_interface(argv[1]);
    const double end = now() + atof(argv[2]);
    uint8_t frame[1514] = {0};
    const size_t length = (size_t)atoi(argv[3]);
    struct iovec part = {frame, length};
    struct mmsghdr messages[BURST];
    unsigned long long sent = 0;
    if (length < 60 || length > sizeof frame) {
        fprintf(stderr, "flood: frames have 60 to 1514 bytes\n");
        return 2;
    }
    address(frame, argv[4]);
    address(frame + 6, argv[5]);
    frame[12] = 0x88, frame[13] = 0xb5; // of local experiments
    memset(messages, 0, sizeof messages);
    for (unsigned i = 0; i < BURST; i++) {
        messages[i].msg_hdr.msg_iov = &part;
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    while (now() < end) {
        const int n = sendmmsg(fd, messages, BURST, 0);
        sent += n > 0 ? (unsigned)n : 0;
    }
    printf("%llu\n", sent);
    return 0;
}
