// SPDX-License-Identifier: Apache-2.0
#include "compiler/json_out.h"

#include <inttypes.h>

static void put_text(FILE *out, const char *s) {
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static void new_line(struct json_out *j) {
    fputc('\n', j->out);
    for (unsigned i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

static void begin(struct json_out *j, const char *key) {
    if (j->started)
        fputc(',', j->out);
    if (j->depth)
        new_line(j);
    j->started = true;
    if (key) {
        put_text(j->out, key);
        fputs(": ", j->out);
    }
}

void jout_open(struct json_out *j, const char *key, char bracket) {
    begin(j, key);
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
    begin(j, key);
    put_text(j->out, s);
}

void jout_u64(struct json_out *j, const char *key, uint64_t v) {
    begin(j, key);
    fprintf(j->out, "%" PRIu64, v);
}

void jout_i64(struct json_out *j, const char *key, int64_t v) {
    begin(j, key);
    fprintf(j->out, "%" PRId64, v);
}

void jout_null(struct json_out *j, const char *key) {
    begin(j, key);
    fputs("null", j->out);
}

void jout_bool(struct json_out *j, const char *key, bool v) {
    begin(j, key);
    fputs(v ? "true" : "false", j->out);
}

void jout_empty(struct json_out *j, const char *key) {
    begin(j, key);
    fputs("[]", j->out);
}
