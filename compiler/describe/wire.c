// SPDX-License-Identifier: Apache-2.0
//
// wire: the header of wire formats for the hosts. See wire.h.
//
// It is self-contained C. Each accessor goes byte by byte; C compilers turn that into one load and
// a byte swap where a field allows it.
#include "compiler/describe/wire.h"

#include <ctype.h>
#include <string.h>

static unsigned storage_bits(unsigned width) {
    return width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
}

// One byte's part of a field of at most 64 bits.
struct part {
    unsigned byte, mask; // of the bits that belong to the field
    int shift;           // left, of the byte in the value; negative: right
};

static struct part wire_part_of(const struct ir_wire_field *f, unsigned byte) {
    unsigned end = f->bit_offset + f->width, first = byte * 8, last = first + 8;
    unsigned mask = 0xff;
    if (first < f->bit_offset)
        mask &= 0xffu >> (f->bit_offset - first);
    if (last > end)
        mask &= 0xffu << (last - end) & 0xff;
    return (struct part){byte, mask, (int)end - (int)last};
}

static void getter(FILE *out, const char *type, const struct ir_wire_field *f) {
    unsigned n = storage_bits(f->width), last = (f->bit_offset + f->width - 1) / 8;
    fprintf(out, "static inline uint%u_t %s_get_%s(const uint8_t *p) {\n", n, type, f->name);
    fprintf(out, "    return (uint%u_t)(", n);
    for (unsigned b = f->bit_offset / 8; b <= last; b++) {
        struct part p = wire_part_of(f, b);
        const char *sep = b < last ? " |\n        " : ");\n";
        if (p.mask == 0xff)
            fprintf(out, "(uint64_t)p[%u]", p.byte);
        else
            fprintf(out, "(uint64_t)(p[%u] & 0x%x)", p.byte, p.mask);
        if (p.shift)
            fprintf(out, " %s %d", p.shift > 0 ? "<<" : ">>", p.shift > 0 ? p.shift : -p.shift);
        fputs(sep, out);
    }
    fputs("}\n", out);
}

static void setter(FILE *out, const char *type, const struct ir_wire_field *f) {
    unsigned n = storage_bits(f->width), last = (f->bit_offset + f->width - 1) / 8;
    fprintf(out, "static inline void %s_set_%s(uint8_t *p, uint%u_t v) {\n", type, f->name, n);
    for (unsigned b = f->bit_offset / 8; b <= last; b++) {
        struct part p = wire_part_of(f, b);
        char value[48];
        if (p.shift > 0)
            snprintf(value, sizeof value, "(uint64_t)v >> %d", p.shift);
        else if (p.shift < 0)
            snprintf(value, sizeof value, "(unsigned)v << %d", -p.shift);
        else
            snprintf(value, sizeof value, "v");
        if (p.mask == 0xff)
            fprintf(out, "    p[%u] = (uint8_t)(%s);\n", p.byte, value);
        else
            fprintf(out, "    p[%u] = (uint8_t)((p[%u] & 0x%x) | ((%s) & 0x%x));\n", p.byte, p.byte,
                    ~p.mask & 0xff, value, p.mask);
    }
    fputs("}\n", out);
}

static void wide_field(FILE *out, const char *type, const struct ir_wire_field *f) {
    unsigned bytes = f->width / 8, at = f->bit_offset / 8;
    if (f->width % 8 || f->bit_offset % 8) {
        fprintf(out, "// no accessors for %s: %u bits at bit %u are not whole bytes\n", f->name,
                f->width, f->bit_offset);
        return;
    }
    fprintf(out, "static inline void %s_get_%s(const uint8_t *p, uint8_t v[%u]) {\n", type, f->name,
            bytes);
    fprintf(out, "    memcpy(v, p + %u, %u);\n}\n", at, bytes);
    fprintf(out, "static inline void %s_set_%s(uint8_t *p, const uint8_t v[%u]) {\n", type, f->name,
            bytes);
    fprintf(out, "    memcpy(p + %u, v, %u);\n}\n", at, bytes);
}

static void upper(FILE *out, const char *s) {
    for (; *s; s++)
        fputc(isalnum((unsigned char)*s) ? toupper((unsigned char)*s) : '_', out);
}

static void wire_type(FILE *out, const struct ir_wire_type *t) {
    fprintf(out, "\n// header %s\n#define ", t->name);
    upper(out, t->name);
    fprintf(out, "_BYTES %u\n", t->bits / 8);
    for (size_t i = 0; i < t->fields.n; i++) {
        const struct ir_wire_field *f = &t->fields.v[i];
        if (f->width > 64) {
            wide_field(out, t->name, f);
            continue;
        }
        getter(out, t->name, f);
        setter(out, t->name, f);
    }
}

static void wire_guard(FILE *out, const char *directive, const struct ir_program *p) {
    const char *slash = strrchr(p->path, '/');
    fprintf(out, "%s SILKEN_WIRE_", directive);
    upper(out, slash ? slash + 1 : p->path);
    fputc('\n', out);
}

void emit_wire_header(FILE *out, const struct ir_program *p) {
    const char *name = strrchr(p->path, '/');
    fprintf(out, "// Wire formats of %s, written by Silken's compiler. Not meant to be edited.\n",
            name ? name + 1 : p->path);
    wire_guard(out, "#ifndef", p);
    wire_guard(out, "#define", p);
    fputs("\n#include <stdint.h>\n#include <string.h>\n", out);
    for (size_t i = 0; i < p->wire_types.n; i++)
        wire_type(out, &p->wire_types.v[i]);
    fputs("\n#endif\n", out);
}
