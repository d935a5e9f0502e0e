// SPDX-License-Identifier: Apache-2.0
//
// Captures read and written through pcap/capture/capture.h. Files are made byte by byte here, from
// the formats' drafts; what our writer makes is read back and, once, compared with bytes written
// down by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "pcap/capture/capture.h"

static char path[64];

// ---- making files ----

struct bytes {
    uint8_t at[1 << 16];
    size_t n;
    bool big; // byte order
};
static struct bytes file;

static void add(const void *bytes, size_t n) {
    assert_true(file.n + n <= sizeof file.at);
    memcpy(file.at + file.n, bytes, n);
    file.n += n;
}
static void add_number(uint64_t v, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)(v >> 8 * (file.big ? n - 1 - i : i));
        add(&byte, 1);
    }
}
static void add16(uint16_t v) {
    add_number(v, 2);
}
static void add32(uint32_t v) {
    add_number(v, 4);
}
static void add_padded(const char *bytes, size_t n) {
    add(bytes, n);
    add("\0\0\0", -n & 3);
}
static void add_option(uint16_t code, const char *bytes, size_t n) {
    add16(code);
    add16((uint16_t)n);
    add_padded(bytes, n);
}
static size_t begin_block(uint32_t type) {
    size_t at = file.n;
    add32(type);
    add32(0);
    return at;
}
static void end_block(size_t at) {
    const uint32_t length = (uint32_t)(file.n + 4 - at);
    const size_t end = file.n;
    file.n = at + 4;
    add32(length);
    file.n = end;
    add32(length);
}
static void section(bool big) {
    file.big = big;
    size_t at = begin_block(0x0a0d0d0a);
    add32(0x1a2b3c4d);
    add16(1);
    add16(0);
    add_number(UINT64_MAX, 8);
    end_block(at);
}
static size_t begin_interface(uint16_t link, uint32_t snaplen) {
    size_t at = begin_block(1);
    add16(link);
    add16(0);
    add32(snaplen);
    return at;
}
static void interface(const char *name) {
    size_t at = begin_interface(1, 0);
    if (name)
        add_option(2, name, strlen(name));
    end_block(at);
}
static size_t begin_packet(uint32_t interface_id, uint64_t ticks, const char *text, uint32_t wire) {
    size_t at = begin_block(6);
    add32(interface_id);
    add32((uint32_t)(ticks >> 32));
    add32((uint32_t)ticks);
    add32((uint32_t)strlen(text));
    add32(wire ? wire : (uint32_t)strlen(text));
    add_padded(text, strlen(text));
    return at;
}
static void packet(uint32_t interface_id, uint64_t ticks, const char *text) {
    end_block(begin_packet(interface_id, ticks, text, 0));
}

static int begin(void **state) {
    (void)state;
    file.n = 0;
    file.big = false;
    snprintf(path, sizeof path, "/tmp/silken-capture-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}
static int end(void **state) {
    (void)state;
    return unlink(path);
}

static struct sk_error err;
static struct capture_frame frame;

static struct capture *open_file(void) {
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(file.at, 1, file.n, f), file.n);
    fclose(f);
    return capture_open(path, &err);
}

static void check_packet(struct capture *c, uint64_t time_ns, const char *text) {
    if (capture_next(c, &frame, &err) != 1)
        fail_msg("no packet: %s", err.text);
    assert_int_equal(frame.time_ns, time_ns);
    assert_int_equal(frame.length, strlen(text));
    assert_memory_equal(frame.bytes, text, frame.length);
}

static void check_interface(uint32_t index, uint32_t serial, const char *name) {
    assert_int_equal(frame.interface->index, index);
    assert_int_equal(frame.interface->serial, serial);
    if (name)
        assert_string_equal(frame.interface->name, name);
    else
        assert_null(frame.interface->name);
}

static void check_end(struct capture *c) {
    assert_int_equal(capture_next(c, &frame, &err), 0);
    capture_close(c);
}

static void check_bad(struct capture *c, const char *words) {
    assert_non_null(c);
    assert_true(capture_next(c, &frame, &err) < 0);
    if (!strstr(err.text, words) || strncmp(err.text, path, strlen(path)) != 0)
        fail_msg("said: %s", err.text);
    capture_close(c);
}

// ---- pcapng ----

static void interfaces_of_sections_in_both_byte_orders(void **state) {
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        section(big);
        interface("port-7");
        interface(NULL);
        packet(1, 5, "one");
        packet(0, 6, "three");
    }
    struct capture *c = open_file();
    for (uint32_t i = 0; i < 2; i++) {
        check_packet(c, 5000, "one");
        check_interface(1, 2 * i + 1, NULL);
        check_packet(c, 6000, "three");
        check_interface(0, 2 * i, "port-7");
    }
    assert_int_equal(capture_count(c), 4);
    assert_int_equal(capture_form(c), CAPTURE_PCAPNG);
    check_end(c);
}

static void interface_with(uint16_t option, const char *bytes, size_t n) {
    size_t at = begin_interface(1, 0);
    add_option(option, bytes, n);
    end_block(at);
}

static void times_of_every_resolution(void **state) {
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        section(big);
        interface(NULL);
        interface_with(9, "\x09", 1);
        interface_with(9, "\x00", 1);
        interface_with(9, "\x0c", 1); // picoseconds
        interface_with(9, "\x8a", 1); // 1/1024 s
        interface_with(14, big ? "\0\0\0\0\0\0\0\x02" : "\x02\0\0\0\0\0\0\0", 8);
        interface_with(14, "\xff\xff\xff\xff\xff\xff\xff\xff", 8); // a second earlier
        packet(0, 1234567, "a");
        packet(1, 1234567, "b");
        packet(2, 12, "c");
        packet(3, 1234567, "d");
        packet(4, 1025, "e");
        packet(5, 1, "f");
        packet(6, 1000001, "g");
        packet(1, UINT64_C(4294967295999999999), "h");
    }
    struct capture *c = open_file();
    for (unsigned i = 0; i < 2; i++) {
        check_packet(c, 1234567000, "a");
        check_packet(c, 1234567, "b");
        check_packet(c, UINT64_C(12000000000), "c");
        check_packet(c, 1234, "d");
        check_packet(c, 1000976562, "e");
        check_packet(c, 2000001000, "f");
        check_packet(c, 1000, "g");
        check_packet(c, UINT64_C(4294967295999999999), "h");
    }
    check_end(c);
}

static void times_that_are_none(void **state) {
    (void)state;
    section(false);
    interface_with(9, "\x09", 1);
    packet(0, UINT64_C(4294967296000000000), "late");
    check_bad(open_file(), "not between 1970 and 2106");
    file.n = 0;
    section(false);
    interface_with(14, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    packet(0, 1, "before 1970");
    check_bad(open_file(), "not between 1970 and 2106");
    file.n = 0;
    section(false);
    interface_with(9, "\x14", 1);
    check_bad(open_file(), "interface 0 has times in units of 10^-20 s");
}

static void directions_and_comments(void **state) {
    (void)state;
    section(false);
    interface("port-1");
    for (uint32_t flags = 0; flags < 4; flags++) {
        size_t at = begin_packet(0, flags, "p", 0);
        add_option(1, "said of it", 10);
        add_option(2, (const char[]){(char)flags, 0, 0, 0}, 4);
        add_option(1, "more", 4);
        if (flags & 1)
            add_option(0, "", 0);
        end_block(at);
    }
    packet(0, 9, "plain");
    struct capture *c = open_file();
    static const enum capture_direction as[] = {CAPTURE_UNKNOWN, CAPTURE_INBOUND, CAPTURE_OUTBOUND,
                                                CAPTURE_UNKNOWN};
    for (unsigned i = 0; i < 4; i++) {
        check_packet(c, 1000 * i, "p");
        assert_int_equal(frame.direction, as[i]);
        assert_int_equal(frame.comment_length, 10);
        assert_memory_equal(frame.comment, "said of it", 10);
    }
    check_packet(c, 9000, "plain");
    assert_int_equal(frame.direction, CAPTURE_UNKNOWN);
    assert_null(frame.comment);
    check_end(c);
}

static void blocks_of_other_kinds(void **state) {
    (void)state;
    static char large[40000];
    section(false);
    size_t at = begin_block(0x12345678); // nobody's
    add_padded(large, sizeof large);
    end_block(at);
    at = begin_interface(1, 4); // a snaplen that cuts simple packets
    end_block(at);
    packet(0, 7, "timed");
    at = begin_block(3);
    add32(9);
    add_padded("abcd", 4);
    end_block(at);
    at = begin_block(2); // the packet block that enhanced ones replaced
    add16(0);
    add16(77); // drops
    add32(0);
    add32(8);
    add32(3);
    add32(5);
    add_padded("old", 3);
    add_option(2, "\x02\0\0\0", 4);
    end_block(at);
    at = begin_block(5); // statistics
    add32(0);
    end_block(at);
    struct capture *c = open_file();
    check_packet(c, 7000, "timed");
    assert_false(frame.timeless);
    check_packet(c, 7000, "abcd");
    assert_true(frame.timeless);
    assert_int_equal(frame.wire_length, 9);
    check_packet(c, 8000, "old");
    assert_int_equal(frame.direction, CAPTURE_OUTBOUND);
    assert_int_equal(frame.wire_length, 5);
    check_end(c);
}

static void frame_check_sequences_are_taken_off(void **state) {
    (void)state;
    section(false);
    interface_with(13, "\x04", 1);
    interface(NULL);
    packet(0, 1, "bytesFCS!");
    end_block(begin_packet(0, 2, "bytesFC", 9)); // cut in the middle of it
    end_block(begin_packet(0, 3, "byt", 9));
    size_t at = begin_packet(1, 4, "bytesFCS!", 0);
    add_option(2, "\x80\0\0\0", 4);
    end_block(at);
    struct capture *c = open_file();
    check_packet(c, 1000, "bytes");
    assert_int_equal(frame.wire_length, 5);
    check_packet(c, 2000, "bytes");
    check_packet(c, 3000, "byt");
    assert_int_equal(frame.wire_length, 5);
    check_packet(c, 4000, "bytes");
    check_end(c);
}

static void link_types_are_of_interfaces(void **state) {
    (void)state;
    section(false);
    end_block(begin_interface(101, 0)); // no packet is of it
    interface("eth0");
    size_t at = begin_interface(220, 0);
    add_option(2, "any", 3);
    end_block(at);
    packet(1, 1, "good");
    packet(2, 2, "bad");
    struct capture *c = open_file();
    check_packet(c, 1000, "good");
    check_bad(c, "its interface 2 (any)'s link type is USB_LINUX_MMAPPED (220)");
}

// Several at a time come as one by one. What is behind them has happened to nobody before its turn.
static void few_at_a_time(void **state) {
    (void)state;
    struct capture_frame few[8];
    section(false);
    interface("port-1");
    packet(0, 1, "one");
    packet(0, 2, "two");
    packet(0, 3, "three");
    interface("port-2");
    packet(1, 4, "four");
    packet(0, 5, "five");
    const size_t at = file.n;
    packet(2, 6, "of no interface");
    struct capture *c = open_file();
    assert_int_equal(capture_next_few(c, few, 2, &err), 2);
    assert_memory_equal(few[0].bytes, "one", 3);
    assert_memory_equal(few[1].bytes, "two", 3);
    memset(few[0].bytes - CAPTURE_FRONT, 0, CAPTURE_FRONT);
    memset(few[1].bytes - CAPTURE_FRONT, 0, CAPTURE_FRONT + few[1].length);
    assert_int_equal(capture_count(c), 2);
    // interfaces may move when there is a new one
    assert_int_equal(capture_next_few(c, few, 8, &err), 1);
    assert_memory_equal(few[0].bytes, "three", 5);
    assert_int_equal(few[0].time_ns, 3000);
    assert_int_equal(capture_next_few(c, few, 8, &err), 2);
    assert_memory_equal(few[0].bytes, "four", 4);
    assert_string_equal(few[0].interface->name, "port-2");
    assert_memory_equal(few[1].bytes, "five", 4);
    assert_string_equal(few[1].interface->name, "port-1");
    assert_int_equal(capture_count(c), 5);
    char words[64];
    snprintf(words, sizeof words, "after 5 packets, at byte %zu: a packet of interface 2", at);
    check_bad(c, words);
}

static void few_of_a_pcap(void **state) {
    (void)state;
    struct capture_frame few[8];
    add32(0xa1b23c4d);
    add16(2);
    add16(4);
    add32(0);
    add32(0);
    add32(65535);
    add32(1);
    for (uint32_t i = 0; i < 5; i++) {
        add32(i);
        add32(7);
        add32(i + 1);
        add32(i + 1);
        add("abcdef", i + 1);
    }
    add32(5);
    add32(8);
    add32(20);
    add32(20);
    struct capture *c = open_file();
    assert_int_equal(capture_next_few(c, few, 1, &err), 1);
    assert_int_equal(capture_next_few(c, few, 8, &err), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(few[i].time_ns, (i + 1) * UINT64_C(1000000000) + 7);
        assert_int_equal(few[i].length, i + 2);
        assert_memory_equal(few[i].bytes, "abcdef", i + 2);
    }
    check_bad(c, "after 5 packets");
}

// Cuts the file at every byte: packets in front come, and what is cut is said to be.
static void every_cut(void **state) {
    (void)state;
    section(true);
    interface("port-1");
    packet(0, 1, "one");
    const size_t first = file.n;
    size_t at = begin_packet(0, 2, "two", 0);
    add_option(1, "comment", 7);
    end_block(at);
    const size_t whole = file.n;
    for (file.n = 1; file.n < whole; file.n++) {
        struct capture *c = open_file();
        int rc = c ? capture_next(c, &frame, &err) : -1;
        assert_true(rc != 1 || file.n >= first);
        if (rc == 1)
            rc = capture_next(c, &frame, &err);
        // 28 bytes of section header and 32 of interface: there, a file may end
        assert_int_equal(rc < 0, !(file.n == first || file.n == 28 || file.n == 60));
        if (rc < 0 && !strstr(err.text, "the file ends in the middle of") &&
            !strstr(err.text, "it is not a capture"))
            fail_msg("%zu: %s", file.n, err.text);
        capture_close(c);
    }
}

static void lengths_that_lie(void **state) {
    (void)state;
    static const struct {
        size_t at; // byte of the packet's block that gets the value
        uint8_t value;
        const char *words;
    } lies[] = {{4, 7, "a block gives its length as 7 bytes"},
                {4, 38, "a block gives its length as 38 bytes"},
                {4, 8, "a block gives its length as 8 bytes"},
                {4, 28, "a block gives its length as 28 bytes at its start, but"},
                {6, 1, "the file ends in the middle of a block"},
                {7, 1, "a block of 16777260 bytes"},
                {20, 13, "a packet of 13 bytes in a block of 44"},
                {23, 0x80, "a packet of 2147483652 bytes in a block of 44"},
                {8, 1, "a packet of interface 1, but its section has 1 interfaces"},
                {34, 5, "an option of 5 bytes does not fit in its block"},
                {40, 48, "a block gives its length as 44 bytes at its start, but 48 at its end"}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        file.n = 0;
        section(false);
        interface(NULL);
        const size_t from = file.n;
        size_t at = begin_packet(0, 1, "four", 0);
        add_option(1, "ab", 2);
        file.n -= 4; // its bytes
        add("abcd", 4);
        end_block(at);
        assert_int_equal(file.n - from, 44);
        file.at[from + lies[i].at] = lies[i].value;
        check_bad(open_file(), lies[i].words);
    }
}

static void sections_that_are_none(void **state) {
    (void)state;
    section(false);
    file.at[8] = 1;
    check_bad(open_file(), "without its byte-order magic");
    file.n = 0;
    section(false);
    file.at[12] = 2;
    check_bad(open_file(), "pcapng version 2.0");
}

static void a_packet_of_many_bytes(void **state) {
    (void)state;
    const uint32_t n = CAPTURE_LONGEST;
    char *bytes = calloc(1, n + 2);
    struct capture_writer *w = capture_create(path, CAPTURE_PCAPNG, &err);
    memset(bytes, 'x', n + 1);
    for (uint32_t i = 0; i < 2; i++)
        capture_write(w, &(struct capture_record){.bytes = (uint8_t *)bytes, .length = n + i},
                      &err);
    assert_int_equal(capture_finish(w, &err), 0);
    struct capture *c = capture_open(path, &err);
    bytes[n] = 0;
    check_packet(c, 0, bytes);
    check_bad(c, "a packet of 262145 bytes; a packet has at most 262144");
    free(bytes);
}

// ---- pcap ----

static void pcap_head(uint32_t magic, uint32_t link) {
    add32(magic);
    add16(2);
    add16(4);
    add32(0);
    add32(0);
    add32(65535);
    add32(link);
}

// ---- packets without an Ethernet header ----

#define SLL  "\0\0\0\1\0\6\2\0\0\0\0\x09\0\0"
#define PPI  "\0\0\x08\0\xc0\0\0\0"
#define SLL2 "\0\0\0\0\0\2\0\1\0\6\2\0\0\0\0\x09\0\0"

static const struct linked {
    uint16_t link;
    const char *bytes;
    size_t n;
    const char *head; // of the frame, in front of what 'skipped' bytes are in front of; or
    size_t skipped;
    const char *why; // it carries neither Ethernet nor IP
} linked[] = {
    {101,
     "\x45"
     "data",
     5, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 0, NULL},
    {12,
     "\x45"
     "data",
     5, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 0, NULL},
    {228,
     "\x46"
     "data",
     5, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 0, NULL},
    {229,
     "\x60"
     "data",
     5, "\0\0\0\0\0\0\0\0\0\0\0\0\x86\xdd", 0, NULL},
    {0,
     "\2\0\0\0\x45"
     "data",
     9, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 4, NULL},
    {108,
     "\0\0\0\x1c\x60"
     "data",
     9, "\0\0\0\0\0\0\0\0\0\0\0\0\x86\xdd", 4, NULL},
    {113, SLL "\x08\6data", 20, "\0\0\0\0\0\0\2\0\0\0\0\x09\x08\6", 16, NULL},
    {113, "\0\0\3\4\0\0\2\0\0\0\0\x09\0\0\x08\0data", 20, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 16,
     NULL}, // hardware without addresses
    {113, SLL "\0\4llc", 19, "\0\0\0\0\0\0\2\0\0\0\0\x09\0\3", 16, NULL},
    {276, "\x86\xdd" SLL2 "data", 24, "\0\0\0\0\0\0\2\0\0\0\0\x09\x86\xdd", 20, NULL},
    {9, "\xff\3\0!data", 8, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 4, NULL},
    {9, "\0Wdata", 6, "\0\0\0\0\0\0\0\0\0\0\0\0\x86\xdd", 2, NULL},
    {9, "!data", 5, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 1, NULL},
    {9, "\xff\3\xc0\x21", 4, NULL, 0, "PPP's protocol 0xc021"},
    {9, "\xff\3", 2, NULL, 0, "PPP's protocol 0x0000"},
    {192, "\0\0\x0a\0\1\0\0\0..a frame of Ethernet", 29, "a frame of Eth", 24, NULL},
    {192,
     "\0\0\x08\0\x65\0\0\0\x45"
     "data",
     13, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0", 8, NULL},
    {192, "\0\0\x08\0\1\0\0", 7, NULL, 0, "it ends within its header"},
    {192, "\0\0\7\0\1\0\0\0", 8, NULL, 0, "its PPI header has 7 bytes of 8"},
    {192, "\0\0\x09\0\1\0\0\0", 8, NULL, 0, "its PPI header has 9 bytes of 8"},
    {192, "\0\0\x08\0\x69\0\0\0..", 10, NULL, 0, "it ends within its header"},
    {192, "\0\0\x08\0\xdc\0\0\0..", 10, NULL, 0, "it is of link type 220"},
    {192, PPI PPI PPI PPI PPI PPI PPI, 56, NULL, 0, "more than 6 headers are before it"},
    {101,
     "\x55"
     "data",
     5, NULL, 0, "it is neither IPv4 nor IPv6"},
    {101, "", 0, NULL, 0, "it is neither IPv4 nor IPv6"},
    {0, "\2\0\0", 3, NULL, 0, "it ends within its header"},
    {113, SLL "\x08", 15, NULL, 0, "it ends within its header"},
    {113, "\0\0\3\x38\0\0\0\0\0\0\0\0\0\0\0\0data", 20, NULL, 0, "its hardware type is 824"},
};

static void linked_pcap(const struct linked *l) {
    pcap_head(0xa1b2c3d4, l->link);
    for (unsigned i = 0; i < 3; i++) {
        add32(1);
        add32(i);
        add32((uint32_t)l->n);
        add32((uint32_t)l->n);
        add(l->bytes, l->n);
    }
}

// The first packet in a simple block, which has fewer bytes in front than an Ethernet header.
static void linked_pcapng(const struct linked *l) {
    section(file.big);
    end_block(begin_interface(l->link, 0));
    size_t at = begin_block(3);
    add32((uint32_t)l->n);
    add_padded(l->bytes, l->n);
    end_block(at);
    for (unsigned i = 0; i < 2; i++) {
        at = begin_block(6);
        add32(0);
        add_number(i, 8);
        add32((uint32_t)l->n);
        add32((uint32_t)l->n);
        add_padded(l->bytes, l->n);
        end_block(at);
    }
}

static void check_linked(const struct linked *l, int few) {
    struct capture *c = open_file();
    struct capture_frame frames[3];
    assert_non_null(c);
    for (int got = 0; got < 3; got++) {
        const int rc = capture_next_few(c, frames, few, &err);
        assert_true(rc > 0);
        if (l->why) {
            assert_int_equal(rc, 1);
            if (!frames[0].foreign || !strstr(frames[0].foreign, l->why))
                fail_msg("link type %u: %s", l->link, frames[0].foreign);
            assert_int_equal(frames[0].length, l->n);
            assert_memory_equal(frames[0].bytes, l->bytes, l->n);
            continue;
        }
        for (int i = 0; i < rc; i++, got += i < rc) {
            assert_null(frames[i].foreign);
            assert_int_equal(frames[i].length, 14 + l->n - l->skipped);
            assert_int_equal(frames[i].wire_length, frames[i].length);
            assert_memory_equal(frames[i].bytes, l->head, 14);
            assert_memory_equal(frames[i].bytes + 14, l->bytes + l->skipped, l->n - l->skipped);
        }
    }
    capture_close(c);
}

static void packets_without_ethernet(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
        for (unsigned how = 0; how < 8; how++) {
            file.n = 0;
            file.big = how & 1;
            (how & 2 ? linked_pcapng : linked_pcap)(&linked[i]);
            check_linked(&linked[i], how & 4 ? 3 : 1);
        }
}

static void every_pcap(void **state) {
    (void)state;
    static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34};
    for (unsigned i = 0; i < 6; i++) {
        file.n = 0;
        file.big = i & 1;
        pcap_head(magics[i / 2], i == 1 ? 0x24000001 : 1); // 4 bytes of FCS
        add32(3);
        add32(17);
        add32(6);
        add32(10);
        if (i / 2 == 2)
            add_number(0, 8);
        add("abcdef", 6);
        struct capture *c = open_file();
        check_packet(c, UINT64_C(3000000000) + (i / 2 == 1 ? 17 : 17000), "abcdef");
        assert_int_equal(frame.wire_length, i == 1 ? 6 : 10);
        check_interface(0, 0, NULL);
        check_end(c);
    }
}

static void pcap_of_another_version(void **state) {
    (void)state;
    pcap_head(0xa1b2c3d4, 1);
    file.at[6] = 5;
    assert_null(open_file());
    assert_non_null(strstr(err.text, "version 2.5; 2.0 to 2.4 can be read"));
}

// ---- gzip ----

static size_t deflated(uint8_t *out, size_t room, size_t from, size_t to) {
    z_stream z = {.next_in = file.at + from,
                  .avail_in = (unsigned)(to - from),
                  .next_out = out,
                  .avail_out = (unsigned)room};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void gzip_of_several_members(void **state) {
    (void)state;
    uint8_t out[1024];
    section(false);
    interface(NULL);
    size_t middle = file.n + 10;
    packet(0, 1, "one");
    packet(0, 2, "two");
    size_t n = deflated(out, sizeof out, 0, middle);
    n += deflated(out + n, sizeof out - n, middle, file.n);
    memset(out + n, 0, 100); // tapes end so
    for (unsigned padding = 0; padding <= 100; padding += 50) {
        file.n = 0;
        add(out, n + padding);
        struct capture *c = open_file();
        check_packet(c, 1000, "one");
        check_packet(c, 2000, "two");
        check_end(c);
    }
    file.at[n + 3] = 1; // but not with anything else
    struct capture *c = open_file();
    check_packet(c, 1000, "one");
    check_packet(c, 2000, "two");
    check_bad(c, "the compressed file is corrupt: ");
}

// ---- writing ----

static uint64_t on_disk(void) {
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    fclose(f);
    return (uint64_t)n;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    for (unsigned form = CAPTURE_PCAP; form <= CAPTURE_PCAPNG; form++) {
        const bool ng = form == CAPTURE_PCAPNG;
        struct capture_writer *w = capture_create(path, (enum capture_form)form, &err);
        char text[8] = "abcdefg";
        uint64_t size = 0;
        for (uint64_t i = 0; i < 5000; i++) {
            const struct capture_record r = {.time_ns = UINT64_C(1700000000000000000) + i,
                                             .bytes = (const uint8_t *)text,
                                             .length = (uint32_t)(i % 8),
                                             .port = i % 3 ? 511 : 0,
                                             .direction = (enum capture_direction)(i % 3),
                                             .comment = i % 5 ? NULL : "silken drop: why"};
            assert_int_equal(capture_write(w, &r, &err), 0);
            size = capture_size(w);
        }
        assert_int_equal(capture_flush(w, &err), 0);
        assert_int_equal(on_disk(), size);
        assert_int_equal(capture_finish(w, &err), 0);
        struct capture *c = capture_open(path, &err);
        for (uint64_t i = 0; i < 5000; i++) {
            char expected[8] = "abcdefg";
            expected[i % 8] = 0;
            check_packet(c, UINT64_C(1700000000000000000) + i, expected);
            assert_int_equal(frame.direction, ng ? i % 3 : 0);
            if (ng)
                check_interface(i % 3 > 0, i % 3 > 0, i % 3 ? "port-511" : "port-0");
            assert_int_equal(frame.comment_length, ng && i % 5 == 0 ? 16 : 0);
        }
        check_end(c);
    }
}

// What is not asked for goes to the file in blocks of 64 KB that begin at multiples of 64 KB,
// whatever was flushed before.
static void written_in_whole_blocks(void **state) {
    (void)state;
    static uint8_t bytes[100001];
    struct capture_writer *w = capture_create(path, CAPTURE_PCAP, &err);
    static const uint32_t lengths[] = {0, 60, 1076, 9000, 65520, 65536, 100001};
    uint64_t flushed = 0;
    for (unsigned i = 0; i < 700; i++) {
        const struct capture_record r = {.bytes = bytes, .length = lengths[i % 7]};
        memset(bytes, (int)i, r.length);
        assert_int_equal(capture_write(w, &r, &err), 0);
        const uint64_t size = capture_size(w), whole = size - size % 65536;
        assert_int_equal(on_disk(), whole > flushed ? whole : flushed);
        if (i % 10 == 9) {
            assert_int_equal(capture_flush(w, &err), 0);
            assert_int_equal(on_disk(), flushed = size);
        }
    }
    assert_int_equal(capture_finish(w, &err), 0);
    struct capture *c = capture_open(path, &err);
    for (unsigned i = 0; i < 700; i++) {
        assert_int_equal(capture_next(c, &frame, &err), 1);
        assert_int_equal(frame.length, lengths[i % 7]);
        for (uint32_t at = 0; at < frame.length; at++)
            assert_int_equal(frame.bytes[at], (uint8_t)i);
    }
    check_end(c);
}

static void bytes_of_a_pcapng(void **state) {
    (void)state;
    static const uint8_t expected[] =
        "\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0"
        "\0\0"
        "\x01\0\0\0\x2c\0\0\0\x01\0\0\0\xff\xff\0\0\x02\0\x06\0port-"
        "9\0\0\x09\0\x01\0\x09\0\0\0\0\0\0\0"
        "\x2c\0\0\0"
        "\x06\0\0\0\x3c\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\x05\0\0\0\x05\0\0\0hello\0\0\0"
        "\x02\0\x04\0\x01\0\0\0\x01\0\x02\0no\0\0\0\0\0\0\x3c\0\0\0";
    uint8_t got[sizeof expected];
    struct capture_writer *w = capture_create(path, CAPTURE_PCAPNG, &err);
    const struct capture_record r = {.time_ns = 0x100000002,
                                     .bytes = (const uint8_t *)"hello",
                                     .length = 5,
                                     .port = 9,
                                     .direction = CAPTURE_INBOUND,
                                     .comment = "no"};
    assert_int_equal(capture_write(w, &r, &err), 0);
    assert_int_equal(capture_size(w), sizeof expected - 1);
    assert_int_equal(capture_finish(w, &err), 0);
    FILE *f = fopen(path, "rb");
    assert_int_equal(fread(got, 1, sizeof got, f), sizeof expected - 1);
    fclose(f);
    assert_memory_equal(got, expected, sizeof expected - 1);
}

static void a_full_disk(void **state) {
    (void)state;
    static uint8_t bytes[9000];
    struct capture_writer *w = capture_create("/dev/full", CAPTURE_PCAPNG, &err);
    const struct capture_record r = {.bytes = bytes, .length = sizeof bytes};
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < 100; i++)
        rc = capture_write(w, &r, &err);
    assert_true(rc < 0);
    assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
    assert_true(capture_write(w, &r, &err) < 0);
    assert_true(capture_finish(w, &err) < 0);
    w = capture_create("/dev/full", CAPTURE_PCAP, &err); // known at the end only
    assert_int_equal(capture_write(w, &(struct capture_record){.bytes = bytes}, &err), 0);
    assert_true(capture_finish(w, &err) < 0);
}

static void forms_by_name(void **state) {
    (void)state;
    assert_int_equal(capture_form_of("a/b.pcapng"), CAPTURE_PCAPNG);
    assert_int_equal(capture_form_of("a.pcapng/b.pcap"), CAPTURE_PCAP);
    assert_int_equal(capture_form_of("pcapng"), CAPTURE_PCAP);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(interfaces_of_sections_in_both_byte_orders),
        TEST(times_of_every_resolution),
        TEST(times_that_are_none),
        TEST(directions_and_comments),
        TEST(blocks_of_other_kinds),
        TEST(frame_check_sequences_are_taken_off),
        TEST(link_types_are_of_interfaces),
        TEST(packets_without_ethernet),
        TEST(few_at_a_time),
        TEST(few_of_a_pcap),
        TEST(every_cut),
        TEST(lengths_that_lie),
        TEST(sections_that_are_none),
        TEST(a_packet_of_many_bytes),
        TEST(every_pcap),
        TEST(pcap_of_another_version),
        TEST(gzip_of_several_members),
        TEST(what_is_written_is_read),
        TEST(written_in_whole_blocks),
        TEST(bytes_of_a_pcapng),
        TEST(a_full_disk),
        TEST(forms_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
