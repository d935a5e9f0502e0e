// SPDX-License-Identifier: Apache-2.0
//
// echo ADDRESS TIMES MICROSECONDS: asks an IPv4 host for an ICMP echo so many times, with a pause
// between, and prints the median of the round trips in microseconds. ping rounds each to one. For
// bench/tor/tor.py.
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MOST 100000u

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint16_t checksum(const void *bytes, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i + 1 < length; i += 2) {
        uint16_t word;
        memcpy(&word, (const char *)bytes + i, sizeof word);
        sum += word;
    }
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

// Takes what comes until it is the answer; false when none comes in a second.
static bool answered(int fd, const struct icmphdr *asked) {
    char got[1500];
    for (ssize_t n; (n = recv(fd, got, sizeof got, 0)) >= 0;) {
        const size_t head = n > 0 ? (size_t)(got[0] & 15) * 4 : 0;
        struct icmphdr h;
        if ((size_t)n < head + sizeof h)
            continue;
        memcpy(&h, got + head, sizeof h);
        if (h.type == ICMP_ECHOREPLY && h.un.echo.id == asked->un.echo.id &&
            h.un.echo.sequence == asked->un.echo.sequence)
            return true;
    }
    return false;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    struct sockaddr_in to = {.sin_family = AF_INET};
    const struct timeval second = {.tv_sec = 1};
    if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
        fprintf(stderr, "usage: echo ADDRESS TIMES MICROSECONDS\n");
        return 2;
    }
    const unsigned long times = strtoul(argv[2], NULL, 10);
    const useconds_t pause = (useconds_t)strtoul(argv[3], NULL, 10);
    const int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (times == 0 || times > MOST || fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second)) {
        perror("echo");
        return 1;
    }
    double *took = calloc(times, sizeof *took);
    size_t n = 0;
    for (unsigned long i = 0; took && i < times; i++, usleep(pause)) {
        struct {
            struct icmphdr head;
            char data[56];
        } ask = {.head = {.type = ICMP_ECHO}};
        ask.head.un.echo.id = (uint16_t)getpid();
        ask.head.un.echo.sequence = htons((uint16_t)i);
        ask.head.checksum = checksum(&ask, sizeof ask);
        const double start = now_us();
        if (send(fd, &ask, sizeof ask, 0) == (ssize_t)sizeof ask && answered(fd, &ask.head))
            took[n++] = now_us() - start;
    }
    if (n < (times + 1) / 2) {
        fprintf(stderr, "echo: %zu answers of %lu\n", n, times);
        return 1;
    }
    qsort(took, n, sizeof *took, compare);
    printf("%.2f\n", took[n / 2]);
    free(took);
    return 0;
}
