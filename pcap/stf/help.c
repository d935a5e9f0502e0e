// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/stf/stf_impl.h"

// value: the text, a space for each run of blanks, as where lines were joined; null: no hint from
// here on
bool stf_parse_hint(struct parser *p, struct stf_statement *s) {
    static const char blanks[] = " \t\r\v\f";
    const char *from = stf_rest(p);
    char *text = stf_keep(p, strlen(from) + 1), *to = text;
    for (size_t n; *from; from += strspn(from, blanks)) {
        n = strcspn(from, blanks);
        if (to > text)
            *to++ = ' ';
        memcpy(to, from, n);
        to += n;
        from += n;
    }
    s->value = to > text ? text : NULL;
    return true;
}

// 'e' is in the script's list.
static unsigned stf_help_line_of_packet(const struct stf_script *s, const struct stf_statement *e) {
    const size_t at = (size_t)(e - s->list);
    for (size_t i = at; i > 0; i--)
        if (s->list[i - 1].kind == STF_PACKET)
            return s->list[i - 1].line;
    for (size_t i = at; i < s->n; i++)
        if (s->list[i].kind == STF_PACKET)
            return s->list[i].line;
    return 0;
}

#define MOST_PORTS 8u // that are listed

static void stf_help_print_ports(const struct stf_outputs *outputs, unsigned line, FILE *messages) {
    size_t i = 0;
    for (size_t end = outputs->n; i < end;) { // the first of that line: they are in order
        const size_t middle = i + (end - i) / 2;
        if (outputs->list[middle].line < line)
            i = middle + 1;
        else
            end = middle;
    }
    for (unsigned n = 0; i < outputs->n && outputs->list[i].line == line; i++, n++)
        if (n < MOST_PORTS)
            fprintf(messages, ", left at port %u", outputs->list[i].port);
        else if (n == MOST_PORTS)
            fprintf(messages, ", and others");
}

static void stf_help_print_drops(const struct stf_outputs *outputs, unsigned line, FILE *messages) {
    size_t i = 0;
    for (size_t end = outputs->n_fates; i < end;) {
        const size_t middle = i + (end - i) / 2;
        if (outputs->fates[middle].line < line)
            i = middle + 1;
        else
            end = middle;
    }
    for (; i < outputs->n_fates && outputs->fates[i].line == line; i++) {
        const struct stf_fate *f = &outputs->fates[i];
        fprintf(messages, ", was dropped");
        if (f->packets > 1)
            fprintf(messages, " %" PRIu64 " times", f->packets);
        fprintf(messages, " (%s)", sk_drop_text(f->reason));
    }
}

void stf_print_fate(const struct stf_script *s, const struct stf_outputs *outputs,
                    const struct stf_statement *e, FILE *messages) {
    const unsigned line = stf_help_line_of_packet(s, e);
    char *text;
    size_t size;
    FILE *fate = line ? open_memstream(&text, &size) : NULL;
    if (!fate)
        return;
    stf_help_print_ports(outputs, line, fate);
    stf_help_print_drops(outputs, line, fate);
    fclose(fate);
    if (size > 0)
        fprintf(messages, "; the packet in line %u %s", line, text + strlen(", "));
    free(text);
}

void stf_print_hint(const struct stf_script *s, unsigned line, FILE *messages) {
    const char *text = NULL;
    for (size_t i = 0; i < s->n && s->list[i].line <= line; i++)
        if (s->list[i].kind == STF_HINT)
            text = s->list[i].value;
    if (text)
        fprintf(messages, "%s:%u: hint: %s\n", s->name, line, text);
}
