// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: steps of a filter as the control socket takes them, 8 bytes each, then a frame.
// A filter that is taken must end, read nothing outside of the frame, and say what libpcap's
// interpreter says; of a whole frame and of a cut one. No sanitizer sees what machine code reads:
// the frame ends where a page begins that cannot be read.
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAME 128u

#define STEPS 64u

static uint8_t *frame_page;
static size_t page_bytes;

static void fuzz_judge(const struct sk_filter *f, const struct bpf_insn *steps,
                       const uint8_t *frame, uint32_t length, uint32_t wire_length) {
    if (!sk_filter_is_compiled(f) || sk_filter_matches(f, frame, length, wire_length) !=
                                         (bpf_filter(steps, frame, wire_length, length) != 0))
        abort();
}

static void fuzz_open_page(void) {
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    frame_page =
        mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (frame_page == MAP_FAILED || mprotect(frame_page + page_bytes, page_bytes, PROT_NONE))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bpf_insn steps[BPF_MEMWORDS + STEPS];
    size_t n = 0;
    const size_t wanted = size ? data[0] % STEPS : 0;
    struct sk_error err = {""};
    struct sk_json doc = {.name = "request", .err = &err};
    if (!frame_page)
        fuzz_open_page();
    if (size && data[0] & 0x80) // the words are zero; else nobody says what they have
        for (; n < BPF_MEMWORDS; n++)
            steps[n] = (struct bpf_insn){.code = BPF_ST, .k = (uint32_t)n};
    const bool zeroed = n > 0;
    bool reads = false;
    for (size_t i = 1, last = n + wanted; n < last && i + 8 <= size; i += 8, n++) {
        struct bpf_insn *s = &steps[n];
        *s = (struct bpf_insn){.jt = data[i + 2], .jf = data[i + 3]};
        memcpy(&s->code, data + i, 2);
        memcpy(&s->k, data + i + 4, 4);
        reads |= s->code == (BPF_LD | BPF_MEM) || s->code == (BPF_LDX | BPF_MEM);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("[i,i,i,I]", steps[i].code, steps[i].jt, steps[i].jf,
                                              (json_int_t)steps[i].k));
    const struct sk_at at = {.doc = &doc, .value = list};
    struct sk_filter *f = sk_filter_of_json(&at);
    if (!f && !(doc.failed && err.text[0]))
        abort();
    if (f && (zeroed || !reads)) {
        const size_t length = size < FRAME ? size : FRAME;
        uint8_t *frame = frame_page + page_bytes - length;
        memcpy(frame, data + size - length, length);
        fuzz_judge(f, steps, frame, (uint32_t)length, (uint32_t)length);
        fuzz_judge(f, steps, frame, (uint32_t)length, (uint32_t)length + 10);
    }
    sk_filter_free(f);
    json_decref(list);
    return 0;
}
