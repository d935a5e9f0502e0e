// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/json_out.h"

#include <inttypes.h>

#include "compiler/base/utf8.h"

static void jout_put_text(FILE *out, const char *s) {
    fputc('"', out);
    while (*s) {
        const unsigned char c = (unsigned char)*s;
        size_t n = p4_utf8_length(s);
        if (n == 0)
            fputs(UTF8_REPLACEMENT, out);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
    fputc('"', out);
}

static void new_line(struct json_out *j) {
    fputc('\n', j->out);
    for (unsigned i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

static void jout_begin(struct json_out *j, const char *key) {
    if (j->started)
        fputc(',', j->out);
    if (j->depth)
        new_line(j);
    j->started = true;
    if (key) {
        jout_put_text(j->out, key);
        fputs(": ", j->out);
    }
}

void jout_open(struct json_out *j, const char *key, char bracket) {
    jout_begin(j, key);
    fputc(bracket, j->out);
    j->depth++;
    j->started = false;
}

void jout_close(struct json_out *j, char bracket) {
    j->depth--;
    if (j->started)
        new_line(j);
    fputc(bracket, j->out);
    j->started = true;
    if (j->depth == 0)
        fputc('\n', j->out);
}

void jout_string(struct json_out *j, const char *key, const char *s) {
    jout_begin(j, key);
    jout_put_text(j->out, s);
}

void jout_u64(struct json_out *j, const char *key, uint64_t v) {
    jout_begin(j, key);
    fprintf(j->out, "%" PRIu64, v);
}

void jout_i64(struct json_out *j, const char *key, int64_t v) {
    jout_begin(j, key);
    fprintf(j->out, "%" PRId64, v);
}

void jout_null(struct json_out *j, const char *key) {
    jout_begin(j, key);
    fputs("null", j->out);
}

void jout_bool(struct json_out *j, const char *key, bool v) {
    jout_begin(j, key);
    fputs(v ? "true" : "false", j->out);
}

void jout_empty(struct json_out *j, const char *key) {
    jout_begin(j, key);
    fputs("[]", j->out);
}
