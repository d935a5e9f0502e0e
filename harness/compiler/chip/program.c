// SPDX-License-Identifier: Apache-2.0
#include "harness/compiler/chip/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void text_add(struct text *t, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert_true(n >= 0);
    t->v = realloc(t->v, t->n + (size_t)n + 1);
    assert_non_null(t->v);
    vsnprintf(t->v + t->n, (size_t)n + 1, fmt, again);
    va_end(again);
    t->n += (size_t)n;
}

static const char *or_empty(const char *s) {
    return s ? s : "";
}

static void write_gress(FILE *f, const struct program_parts *p, unsigned g) {
    static const char *const names[] = {"ingress", "egress"}, *const caps[] = {"Ingress", "Egress"},
                             *const shorts[] = {"ig", "eg"};
    const char *n = names[g], *c = caps[g], *s = shorts[g];
    const char *last = g == IR_INGRESS ? "tm_t ig_tm_md" : "output_port_t eg_oport_md";
    fprintf(f, "struct %s_headers { %s }\nstruct %s_metadata { %s }\n", n,
            or_empty(p->gress[g].headers), n, or_empty(p->gress[g].metadata));
    fprintf(f,
            "parser %sParser(packet_in pkt, out %s_headers hdr, out %s_metadata md,\n"
            "    out %s_intrinsic_metadata_t %s_intr_md) {\n%s\n"
            "state start { pkt.extract(%s_intr_md); %s transition first; }\n%s\n}\n",
            c, n, n, n, s, or_empty(p->gress[g].parser_locals), s,
            g == IR_INGRESS ? "pkt.advance(PORT_METADATA_SIZE);" : "",
            p->gress[g].states ? p->gress[g].states : "state first { transition accept; }");
    fprintf(f,
            "control %s(inout %s_headers hdr, inout %s_metadata md,\n"
            "    in %s_intrinsic_metadata_t %s_intr_md,\n"
            "    in %s_intrinsic_metadata_from_parser_t %s_prsr_md,\n"
            "    inout %s_intrinsic_metadata_for_deparser_t %s_dprsr_md,\n"
            "    inout %s_intrinsic_metadata_for_%s) {\n%s\napply { %s }\n}\n",
            c, n, n, n, s, n, s, n, s, n, last, or_empty(p->gress[g].control_locals),
            or_empty(p->gress[g].apply));
    fprintf(f,
            "control %sDeparser(packet_out pkt, inout %s_headers hdr, in %s_metadata md,\n"
            "    in %s_intrinsic_metadata_for_deparser_t %s_dprsr_md) {\n%s\n"
            "apply { %s pkt.emit(hdr); }\n}\n",
            c, n, n, n, s, or_empty(p->gress[g].deparser_locals), or_empty(p->gress[g].deparse));
}

struct compile_checked *program_check(const struct program_parts *p) {
    char path[] = "/tmp/silken-chip-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "#include <core.p4>\n#include <tna.p4>\n%s\n", or_empty(p->types));
    write_gress(f, p, IR_INGRESS);
    write_gress(f, p, IR_EGRESS);
    fprintf(f, "Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),\n"
               "    EgressDeparser()) pipe;\nSwitch(pipe) main;\n");
    fclose(f);
    struct compile_options opt = {.path = path};
    struct compile_checked *c = compile_check(&opt, stderr);
    unlink(path);
    assert_non_null(c);
    assert_int_not_equal(c->verdict, COMPILE_REFUSED);
    return c;
}

struct chip_pipe *program_pipe(const struct compile_checked *c) {
    assert_int_equal(c->report->pipes.n, 1);
    return c->report->pipes.v[0];
}

const struct chip_violation *program_violation(const struct compile_checked *c, const char *rule) {
    for (size_t i = 0; i < c->report->violations.n; i++)
        if (strcmp(c->report->violations.v[i].rule, rule) == 0)
            return &c->report->violations.v[i];
    return NULL;
}
