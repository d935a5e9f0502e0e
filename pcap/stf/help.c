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

static unsigned stf_help_line_of_packet(const struct stf_script *s, const struct stf_statement *e) {
    unsigned line = 0;
    for (size_t i = 0; i < s->n && (line == 0 || s->list[i].line < e->line); i++)
        if (s->list[i].kind == STF_PACKET)
            line = s->list[i].line;
    return line;
}

static void stf_help_print_ports(const struct stf_outputs *outputs, unsigned line, FILE *messages) {
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->list[i].line == line)
            fprintf(messages, ", left at port %u", outputs->list[i].port);
}

static void stf_help_print_drops(const struct stf_outputs *outputs, unsigned line, FILE *messages) {
    for (size_t i = 0; i < outputs->n_fates; i++) {
        const struct stf_fate *f = &outputs->fates[i];
        if (f->line != line)
            continue;
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
