// SPDX-License-Identifier: Apache-2.0
#include "control/tables/port_metadata.h"

#include <string.h>

#include "control/tables/names.h"
#include "control/tables/values.h"
#include "pipeline/switch/switch.h"

static const struct sk_pipeline_desc *pipeline_of(const struct sk_switch *sw, uint16_t port) {
    const struct sk_program_desc *d = sk_switch_program(sw);
    return d->pipelines[d->pipe_of[sk_port_pipe(port)]];
}

static uint32_t metadata_bits(const struct sk_switch *sw) {
    bool tofino = sk_switch_program(sw)->ingress_prefix == SK_INGRESS_PREFIX;
    return 8 * (tofino ? SK_INGRESS_PREFIX - 8 : SK_RESUBMIT_BYTES);
}

void sk_port_metadata_put(uint8_t *bytes, uint32_t at, uint32_t width, const uint64_t *words) {
    for (uint32_t i = 0; i < width; i++) {
        const uint32_t to = at + width - 1 - i;
        const uint8_t bit = (uint8_t)(0x80 >> to % 8);
        bytes[to / 8] &= (uint8_t)~bit;
        if (words[i / 64] >> i % 64 & 1)
            bytes[to / 8] |= bit;
    }
}

void sk_port_metadata_take(const uint8_t *bytes, uint32_t at, uint32_t width, uint64_t *words) {
    memset(words, 0, sk_words(width) * sizeof *words);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t from = at + width - 1 - i;
        if (bytes[from / 8] >> (7 - from % 8) & 1)
            words[i / 64] |= (uint64_t)1 << i % 64;
    }
}

static uint32_t control_port_metadata_place_of(const struct sk_pipeline_desc *d, uint32_t field) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < field; i++)
        at += d->port_fields[i].width;
    return at;
}

static int control_port_metadata_put_field(const struct sk_switch *sw, uint16_t port,
                                           const struct sk_named_value *v, uint8_t *bytes,
                                           bool *given, struct sk_error *err) {
    const struct sk_pipeline_desc *d = pipeline_of(sw, port);
    uint64_t words[SK_RESUBMIT_BYTES / 8];
    int i =
        sk_find_field("field of the port metadata", d->port_fields, d->n_port_fields, v->name, err);
    if (i < 0)
        return -1;
    const struct sk_field_desc *f = &d->port_fields[i];
    uint32_t at = control_port_metadata_place_of(d, (uint32_t)i);
    if (given[i])
        return sk_fail(err, "port metadata '%s' is given twice", f->name);
    given[i] = true;
    if (at + f->width > metadata_bits(sw))
        return sk_fail(err, "port metadata '%s' is beyond the %u bits that a port has", f->name,
                       metadata_bits(sw));
    if (sk_value_parse(v->value, f, words, err)) {
        sk_error_prefix(err, "port metadata '%s'", f->name);
        return -1;
    }
    sk_port_metadata_put(bytes, at, f->width, words);
    return 0;
}

int sk_control_port_metadata(struct sk_switch *sw, uint16_t port,
                             const struct sk_named_value *fields, size_t n, struct sk_error *err) {
    uint8_t bytes[SK_RESUBMIT_BYTES] = {0};
    bool given[8 * SK_INGRESS_PREFIX_2] = {false}; // a field has at least one bit
    const struct sk_pipeline_desc *d = pipeline_of(sw, port);
    if (d->n_port_fields == 0)
        return sk_fail(err,
                       "the program does not unpack port metadata into fields; write all %u bits "
                       "as one number",
                       metadata_bits(sw));
    for (size_t i = 0; i < n; i++)
        if (control_port_metadata_put_field(sw, port, &fields[i], bytes, given, err))
            return -1;
    sk_switch_port_metadata(sw, port, bytes, sizeof bytes);
    return 0;
}

int sk_control_port_metadata_raw(struct sk_switch *sw, uint16_t port, const char *value,
                                 struct sk_error *err) {
    const struct sk_field_desc all = {.width = metadata_bits(sw)};
    uint64_t words[SK_RESUBMIT_BYTES / 8];
    uint8_t bytes[SK_RESUBMIT_BYTES] = {0};
    if (sk_value_parse(value, &all, words, err)) {
        sk_error_prefix(err, "port metadata");
        return -1;
    }
    sk_port_metadata_put(bytes, 0, all.width, words);
    sk_switch_port_metadata(sw, port, bytes, sizeof bytes);
    return 0;
}

json_t *sk_port_metadata_json(const struct sk_switch *sw, uint16_t port) {
    static const uint8_t nothing[SK_RESUBMIT_BYTES];
    const uint8_t *bytes = sk_switch_port_metadata_of(sw, port);
    const struct sk_pipeline_desc *d = pipeline_of(sw, port);
    uint64_t words[SK_RESUBMIT_BYTES / 8];
    char text[160];
    if (memcmp(bytes, nothing, sizeof nothing) == 0)
        return NULL;
    json_t *fields = json_object();
    for (uint32_t i = 0, at = 0; i < d->n_port_fields; at += d->port_fields[i++].width) {
        if (at + d->port_fields[i].width > metadata_bits(sw))
            break;
        sk_port_metadata_take(bytes, at, d->port_fields[i].width, words);
        sk_value_format(text, sizeof text, &d->port_fields[i], words);
        json_object_set_new(fields, d->port_fields[i].name, json_string(text));
    }
    if (d->n_port_fields > 0)
        return fields;
    json_decref(fields);
    size_t n = (size_t)snprintf(text, sizeof text, "0x");
    for (uint32_t i = 0; i < metadata_bits(sw) / 8; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%02x", bytes[i]);
    return json_string(text);
}
