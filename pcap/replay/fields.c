// SPDX-License-Identifier: Apache-2.0
//
// fields: two packets field by field, side by side, or one of them alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/replay/replay_impl.h"

#define SHOWN_BITS 512u // of a field
#define SHOWN_TEXT (SHOWN_BITS / 4 + 16)

static unsigned bit_at(const uint8_t *bytes, uint32_t bit) {
    return bytes[bit / 8] >> (7 - bit % 8) & 1u;
}

// "0x1f", "-" where the packet ends before; of a field that is longer than can be shown its bits
// from 'skip' on, with dots where some are left out.
static void replay_fields_value(char out[SHOWN_TEXT], const uint8_t *bytes, uint32_t length,
                                uint32_t from, uint32_t width, uint32_t skip) {
    if (from + width > 8 * length) {
        strcpy(out, "-");
        return;
    }
    const uint32_t end = width - skip > SHOWN_BITS ? skip + SHOWN_BITS : width;
    char *at = out + sprintf(out, "0x%s", skip ? "..." : "");
    // digits begin at the field's end: its first may have fewer bits
    unsigned digit = 0;
    bool begun = skip > 0 || width > 64;
    for (uint32_t bit = skip; bit < end; bit++) {
        digit = digit << 1 | bit_at(bytes, from + bit);
        if ((width - bit - 1) % 4)
            continue;
        begun |= digit || bit + 1 == end;
        if (begun)
            *at++ = "0123456789abcdef"[digit];
        digit = 0;
    }
    strcpy(at, end < width ? "..." : "");
}

// Where to begin to show a long field: a digit's beginning, at or before the first bit that
// differs.
static uint32_t skipped(const uint8_t *a, uint32_t na, const uint8_t *b, uint32_t nb, uint32_t from,
                        uint32_t width) {
    uint32_t bit = 0;
    if (width <= SHOWN_BITS || from + width > 8 * na || from + width > 8 * nb)
        return 0;
    while (bit < width && bit_at(a, from + bit) == bit_at(b, from + bit))
        bit++;
    const uint32_t first = width % 4 ? width % 4 : 4; // bits of the first digit
    return bit < first || bit == width ? 0 : bit - (bit - first) % 4;
}

static bool bits_differ(const uint8_t *a, uint32_t na, const uint8_t *b, uint32_t nb, uint32_t from,
                        uint32_t width) {
    for (uint32_t bit = from; bit < from + width; bit++) {
        bool in_a = bit / 8 < na, in_b = bit / 8 < nb;
        if (in_a != in_b)
            return true;
        if (in_a && ((a[bit / 8] ^ b[bit / 8]) >> (7 - bit % 8) & 1u))
            return true;
    }
    return false;
}

// Passes emit headers of the same name.
static bool is_there_twice(const struct layout *l, uint32_t h) {
    for (uint32_t i = 0; i < l->n; i++)
        if (i != h && strcmp(l->headers[i].name, l->headers[h].name) == 0)
            return true;
    return false;
}

void replay_show_fields(FILE *out, const struct layout *l, const uint8_t *sent, uint32_t n_sent,
                        const uint8_t *golden, uint32_t n_golden,
                        bool (*ignored)(void *aux, const struct layout *l, uint32_t h, uint32_t f),
                        void *aux) {
    fprintf(out, "  %-40s %-22s %s\n", "field", "sent", "golden");
    for (uint32_t h = 0; h < l->n; h++) {
        const struct sk_header_desc *d = l->headers[h].desc;
        const bool again = is_there_twice(l, h);
        for (uint32_t f = 0; f < d->n_fields; f++) {
            const uint32_t from = 8 * l->headers[h].offset + d->fields[f].bit_offset;
            const uint32_t width = d->fields[f].width;
            const uint32_t skip = skipped(sent, n_sent, golden, n_golden, from, width);
            const bool other =
                sent && golden && bits_differ(sent, n_sent, golden, n_golden, from, width);
            char a[SHOWN_TEXT], b[SHOWN_TEXT], *name = layout_field_name(l, h, f);
            replay_fields_value(a, sent, n_sent, from, width, skip);
            replay_fields_value(b, golden, n_golden, from, width, skip);
            fprintf(out, "%c %-40s %-22s %s%s", other ? '*' : ' ', name, a, b,
                    other && ignored(aux, l, h, f) ? " (ignored)" : "");
            fprintf(out, again ? " (byte %u)\n" : "\n", from / 8);
            free(name);
        }
    }
}

void replay_show_bytes(FILE *out, const char *what, const uint8_t *bytes, uint32_t length,
                       uint32_t from) {
    fprintf(out, "  %s from byte %u:", what, from);
    for (uint32_t i = from; i < length && i < from + 32; i++)
        fprintf(out, " %02x", bytes[i]);
    fprintf(out, from < length ? "%s\n" : " nothing%s\n", from + 32 < length ? " ..." : "");
}
