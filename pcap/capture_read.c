// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "pcap/capture.h"

#define NS_PER_S    UINT64_C(1000000000)
#define GZIP_BUFFER (256u << 10)

struct capture {
    char *path;
    gzFile gz; // also reads what is not compressed
    pcap_t *pcap;
    bool empty;  // no byte was read
    bool broken; // by what zlib says:
    char gzip[128];
    uint64_t count;
};

// libpcap reads a FILE whose bytes come through zlib.
static ssize_t read_bytes(void *cookie, char *bytes, size_t size) {
    struct capture *c = cookie;
    int n = gzread(c->gz, bytes, (unsigned)(size < GZIP_BUFFER ? size : GZIP_BUFFER));
    int code = Z_OK;
    const char *text = n <= 0 ? gzerror(c->gz, &code) : "";
    if (n > 0)
        c->empty = false;
    if (code != Z_OK && code != Z_STREAM_END) { // Z_BUF_ERROR: it ends too early
        c->broken = true;
        const char *colon = strstr(text, ": "); // behind zlib's name of the file
        if (code == Z_ERRNO || code == Z_BUF_ERROR)
            snprintf(c->gzip, sizeof c->gzip, "%s",
                     code == Z_ERRNO ? strerror(errno) : "the compressed file ends too early");
        else
            snprintf(c->gzip, sizeof c->gzip, "the compressed file is corrupt: %s",
                     colon ? colon + 2 : text);
        errno = EIO;
        return -1;
    }
    return n;
}

static int close_bytes(void *cookie) {
    struct capture *c = cookie;
    gzclose_r(c->gz);
    return 0;
}

static int fail(const struct capture *c, const char *text, struct sk_error *err) {
    return sk_fail(err, "%s: %s", c->path, c->broken ? c->gzip : text);
}

static FILE *open_bytes(struct capture *c, struct sk_error *err) {
    int fd = strcmp(c->path, "-") == 0 ? dup(STDIN_FILENO) : open(c->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        sk_fail(err, "%s: %s", c->path, strerror(errno));
        return NULL;
    }
    c->gz = gzdopen(fd, "rb");
    if (!c->gz)
        abort();
    gzbuffer(c->gz, GZIP_BUFFER);
    FILE *f =
        fopencookie(c, "rb", (cookie_io_functions_t){.read = read_bytes, .close = close_bytes});
    if (!f)
        abort();
    return f;
}

static bool open_pcap(struct capture *c, struct sk_error *err) {
    char text[PCAP_ERRBUF_SIZE] = "";
    FILE *f = open_bytes(c, err);
    if (!f)
        return false;
    c->empty = true;
    c->pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
    if (!c->pcap) {
        fail(c, c->empty && !c->broken ? "it is empty, not a capture" : text, err);
        fclose(f);
        return false;
    }
    int type = pcap_datalink(c->pcap);
    if (type == DLT_EN10MB)
        return true;
    const char *name = pcap_datalink_val_to_name(type);
    sk_fail(err, "%s: its link type is %s (%d); a switch's ports need Ethernet (EN10MB)", c->path,
            name ? name : "unknown", type);
    return false;
}

struct capture *capture_open(const char *path, struct sk_error *err) {
    struct capture *c = calloc(1, sizeof *c);
    if (!c || !(c->path = strdup(path)))
        abort();
    if (open_pcap(c, err))
        return c;
    capture_close(c);
    return NULL;
}

void capture_close(struct capture *c) {
    if (!c)
        return;
    if (c->pcap)
        pcap_close(c->pcap); // and the FILE
    free(c->path);
    free(c);
}

int capture_next(struct capture *c, struct capture_frame *out, struct sk_error *err) {
    struct pcap_pkthdr *head;
    int rc = pcap_next_ex(c->pcap, &head, &out->bytes);
    if (rc == PCAP_ERROR_BREAK && !c->broken)
        return 0;
    if (rc != 1) {
        char text[PCAP_ERRBUF_SIZE + 64];
        snprintf(text, sizeof text, "after %llu packets: %s", (unsigned long long)c->count,
                 c->broken ? c->gzip : pcap_geterr(c->pcap));
        return sk_fail(err, "%s: %s", c->path, text);
    }
    c->count++;
    // libpcap gives nanoseconds where the type says microseconds
    if (head->ts.tv_sec < 0 || head->ts.tv_sec > UINT32_MAX || head->ts.tv_usec < 0 ||
        head->ts.tv_usec >= (long)NS_PER_S)
        return sk_fail(err, "%s: packet %llu: its time is no time between 1970 and 2106", c->path,
                       (unsigned long long)c->count);
    out->time_ns = (uint64_t)head->ts.tv_sec * NS_PER_S + (uint64_t)head->ts.tv_usec;
    out->length = head->caplen;
    out->wire_length = head->len > head->caplen ? head->len : head->caplen;
    return 1;
}

const char *capture_path(const struct capture *c) {
    return c->path;
}

uint64_t capture_count(const struct capture *c) {
    return c->count;
}
