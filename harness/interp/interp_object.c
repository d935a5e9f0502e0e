// SPDX-License-Identifier: Apache-2.0
//
// interp_object: registers, counters, hashes, random numbers.
#include "harness/interp/interp_impl.h"

#include <stdlib.h>

static void *allocate(uint64_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

static uint64_t mix(uint64_t bit) { // splitmix64 of a number
    uint64_t z = (bit + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void interp_make_objects(struct interp_gress *st, uint64_t seed) {
    const struct ir_gress *g = st->g;
    st->registers = allocate(g->registers.n, sizeof *st->registers);
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *reg = g->registers.v[i];
        if (reg->direct)
            continue;
        st->registers[i] = allocate(reg->size * reg->words, sizeof **st->registers);
        for (uint64_t k = 0; k < reg->size * reg->words; k++)
            if (reg->initial[k % reg->words])
                st->registers[i][k] = big_to_u64(reg->initial[k % reg->words]);
    }
    st->logs = allocate(g->registers.n, sizeof *st->logs);
    st->reads = allocate(g->registers.n, sizeof *st->reads);
    st->params = allocate(g->reg_params.n, sizeof *st->params);
    for (size_t i = 0; i < g->reg_params.n; i++)
        st->params[i] = g->reg_params.v[i]->initial ? big_to_u64(g->reg_params.v[i]->initial) : 0;
    st->counters = allocate(g->counters.n, sizeof *st->counters);
    for (size_t i = 0; i < g->counters.n; i++)
        if (!g->counters.v[i]->direct)
            st->counters[i] = allocate(g->counters.v[i]->size, sizeof **st->counters);
    st->randoms = allocate(g->randoms.n, sizeof *st->randoms);
    for (size_t i = 0; i < g->randoms.n; i++) {
        st->randoms[i] = mix(seed ^ mix(2 * i + (g->kind == IR_EGRESS)));
        if (!st->randoms[i])
            st->randoms[i] = 1;
    }
}

void interp_free_objects(struct interp_gress *st) {
    for (size_t i = 0; i < st->g->registers.n; i++)
        free(st->registers[i]);
    for (size_t i = 0; i < st->g->counters.n; i++)
        free(st->counters[i]);
    free(st->registers);
    free(st->logs);
    free(st->reads);
    free(st->params);
    free(st->counters);
    free(st->randoms);
}

// --------------------------------------------------------------------------------------------
// Registers. A cell outside of the register is not accessed; what is read there is zero.

// The words of a cell, or null: of the entry that matched, or number 'index'.
static uint64_t *cell(struct run *r, const struct ir_register *reg, const struct ir_expr *index) {
    if (!reg->direct) {
        uint64_t i = interp_index(r, index);
        return i < reg->size ? r->st->registers[reg->id] + i * reg->words : NULL;
    }
    uint64_t *words = r->entry->direct;
    for (size_t i = 0; i < r->entry_table->direct_registers.n; i++) {
        if (r->entry_table->direct_registers.v[i] == reg)
            return words;
        words += r->entry_table->direct_registers.v[i]->words;
    }
    abort(); // a direct register of another table
}

// A register action sees the register, or the entry's cell, as one string of bits, the first word's
// last bit first, cut into cells of the action's own size.
struct view {
    uint64_t *words;
    unsigned width;
};

static uint64_t get_bits(const struct view *v, uint64_t at, unsigned n) {
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (v->words[(at + i) / v->width] >> (at + i) % v->width & 1) << i;
    return value;
}

static void put_bits(const struct view *v, uint64_t at, unsigned n, uint64_t value) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t *word = &v->words[(at + i) / v->width];
        uint64_t bit = UINT64_C(1) << (at + i) % v->width;
        *word = value >> i & 1 ? *word | bit : *word & ~bit;
    }
}

// The cell that comes next, and what runs on it, null: nothing. The counters go on.
static const struct ir_regaction *next_cell(struct run *r, const struct ir_stmt *s, uint64_t cells,
                                            uint64_t *index) {
    const struct ir_regaction *ra = s->regaction;
    const struct ir_register *reg = ra->reg;
    uint64_t *written = &r->st->logs[reg->id], *read = &r->st->reads[reg->id];
    *index = 0;
    switch (s->use) {
    case IR_REG_ENQUEUE:
        *index = *written % cells;
        if (*written - *read == cells)
            return reg->overflow;
        ++*written;
        return ra;
    case IR_REG_DEQUEUE:
        *index = *read % cells;
        if (*written == *read)
            return reg->underflow;
        ++*read;
        return ra;
    case IR_REG_POP:
        if (*written == 0)
            return reg->underflow;
        *index = --*written;
        return ra;
    default:
        if (*written == cells)
            return reg->overflow;
        *index = (*written)++;
        if (*written == cells && s->use == IR_REG_APPEND && r->ip->program->ingress_prefix == 16)
            --*written; // a Tofino stays at the last cell
        return ra;
    }
}

void interp_next_cell(struct run *r, const struct ir_stmt *s) {
    const uint64_t cells = interp_index(r, s->e);
    const uint64_t written = r->st->logs[s->reg->id], read = r->st->reads[s->reg->id];
    switch (s->use) {
    case IR_REG_ENQUEUE:
        interp_set_u64(r, s->var, written % cells);
        return;
    case IR_REG_DEQUEUE:
        interp_set_u64(r, s->var, read % cells);
        return;
    case IR_REG_POP:
        interp_set_u64(r, s->var, written ? written - 1 : 0);
        return;
    default:
        interp_set_u64(r, s->var, written < cells ? written : 0);
    }
}

void interp_reg_exec(struct run *r, const struct ir_stmt *s) {
    const struct ir_regaction *ra = s->regaction;
    const struct ir_register *reg = ra->reg;
    struct view v = {.width = reg->width};
    uint64_t index = 0, cell_bits = (uint64_t)ra->width * ra->words;
    if (reg->direct) {
        v.words = cell(r, reg, NULL);
    } else {
        uint64_t cells = reg->size * reg->width * reg->words / cell_bits;
        if (s->use)
            ra = next_cell(r, s, cells, &index);
        else
            index = interp_index(r, s->e);
        v.words = ra && index < cells ? r->st->registers[reg->id] : NULL;
    }
    if (!v.words) {
        interp_set_u64(r, s->var, 0);
        return;
    }
    for (unsigned w = 0; w < ra->words; w++)
        interp_set_u64(r, ra->value[w], get_bits(&v, index * cell_bits + w * ra->width, ra->width));
    interp_set_u64(r, ra->rv, 0);
    interp_defined(r, ra->value[0]);
    interp_defined(r, ra->value[1]);
    interp_defined(r, ra->rv);
    interp_block(r, ra->body);
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w])
            put_bits(&v, index * cell_bits + w * ra->width, ra->width, interp_u64(r, ra->value[w]));
    if (s->var && ra->rv)
        interp_set(r, s->var, interp_get(r, ra->rv));
    else
        interp_set_u64(r, s->var, 0);
}

// tna-facts 4.3: the operand is i / 8 * 2^e with i of four bits, the result is
// table[i] * 2^(e' + scale), rounded down.
big interp_math_unit(struct run *r, const struct ir_math_unit *m, big x) {
    int e = 0, i = 0;
    if (big_sign(x)) {
        e = (int)big_bits(x) - 1; // x / 2^e is in [1, 2)
        if (m->shift < 0 && e % 2)
            e++; // an even exponent: x / 2^e is in [1/2, 2)
        i = (int)big_to_u64(big_shr(r->a, big_shl(r->a, x, 3), (unsigned)e));
    }
    int exponent = m->shift < 0 ? e / 2 : m->shift > 0 ? 2 * e : e;
    exponent = (m->invert ? -exponent : exponent) + m->scale;
    big v = big_u64(r->a, m->table[i]);
    return exponent < 0 ? big_shr(r->a, v, (unsigned)-exponent)
                        : big_shl(r->a, v, (unsigned)exponent);
}

void interp_reg_read(struct run *r, const struct ir_stmt *s) {
    uint64_t *words = cell(r, s->reg, s->e);
    interp_set_u64(r, s->var, words ? words[0] : 0);
    interp_set_u64(r, s->var2, words && s->reg->words > 1 ? words[1] : 0);
}

void interp_reg_write(struct run *r, const struct ir_stmt *s) {
    uint64_t *words = cell(r, s->reg, s->e);
    big values[2] = {s->e2 ? interp_eval(r, s->e2) : NULL, s->e3 ? interp_eval(r, s->e3) : NULL};
    for (unsigned w = 0; words && w < s->reg->words; w++)
        if (values[w])
            words[w] = big_to_u64(values[w]);
}

// --------------------------------------------------------------------------------------------
// Counters. Bytes are those on the wire, the frame check sequence among them (tna-facts 4.4).

static uint64_t adjusted(const struct ir_counter *c, uint64_t length) {
    int64_t n = (int64_t)length - c->adjust;
    return n > 0 ? (uint64_t)n : 0;
}

void interp_count(struct run *r, const struct ir_stmt *s) {
    const struct ir_counter *c = s->counter;
    uint64_t *packets, *bytes;
    if (c->direct) {
        packets = &r->entry->packets;
        bytes = &r->entry->bytes;
    } else {
        uint64_t i = interp_index(r, s->e);
        if (i >= c->size)
            return;
        packets = &r->st->counters[c->id][i].packets;
        bytes = &r->st->counters[c->id][i].bytes;
    }
    if (c->type != IR_COUNT_BYTES)
        *packets += 1;
    if (c->type != IR_COUNT_BYTES && s->flag)
        interp_note_count(r, packets);
    if (c->type == IR_COUNT_PACKETS)
        return;
    const uint64_t counted = adjusted(c, r->packet->len + r->n_fcs);
    if (s->flag)
        interp_note_bytes(r, bytes, counted);
    if (c->true_egress) {
        struct late_count late = {c, bytes};
        VEC_PUSH(r->a, &r->late, late);
    } else {
        *bytes += counted;
    }
}

void interp_count_leaving(struct run *r, const struct ir_counter *c, uint32_t length) {
    for (size_t i = 0; i < r->late.n; i++)
        if (r->late.v[i].counter == c)
            *r->late.v[i].bytes += adjusted(c, length + r->n_fcs);
}

// A cell that nobody configured: the colour stays, a value passes, nothing is dropped. Configured
// ones are held against models of their own (harness/stages/test_meter.c).
void interp_meter(struct run *r, const struct ir_stmt *s) {
    const struct ir_meter *m = s->meter;
    uint64_t in = s->e2 ? big_to_u64(interp_eval(r, s->e2)) : 0;
    if (m->kind == IR_METER)
        in = m->value[(in & 3) == 0 ? 0 : (in & 3) == 3 ? 2 : 1];
    else if (m->kind == IR_WRED)
        in = m->value[0];
    interp_set_u64(r, s->var, in);
}

// --------------------------------------------------------------------------------------------
// Hashes (tna-facts 4.6): over whole bytes, the first one most significant, zero bits in front.

static unsigned byte_of(big data, unsigned bytes, unsigned i) {
    unsigned low = 8 * (bytes - 1 - i);
    return (unsigned)(big_word(data, low / 64) >> low % 64 & 0xff);
}

static uint64_t reversed(uint64_t v, unsigned width) {
    uint64_t out = 0;
    for (unsigned i = 0; i < width; i++)
        if (v >> i & 1)
            out |= UINT64_C(1) << (width - 1 - i);
    return out;
}

// The shift register of the RevEng catalogue: highest bit first, one bit at a time.
static uint64_t crc(const struct ir_hash *h, big data, unsigned bytes) {
    unsigned w = h->crc_width;
    uint64_t mask = interp_low_mask(w), sum = h->init & mask;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned byte = byte_of(data, bytes, i);
        for (unsigned b = 0; b < 8; b++) {
            unsigned bit = h->reversed ? byte >> b & 1 : byte >> (7 - b) & 1;
            bool feed = (sum >> (w - 1) & 1) != bit;
            sum = sum << 1 & mask;
            if (feed)
                sum ^= h->coeff & mask;
        }
    }
    if (h->reversed)
        sum = reversed(sum, w);
    return (sum ^ h->xor_out) & mask;
}

static big widened(struct run *r, const struct ir_hash *h, uint64_t sum) {
    big v = big_u64(r->a, sum);
    for (unsigned at = h->crc_width; h->extended && at < h->width; at += h->crc_width)
        v = big_or(r->a, v, big_shl(r->a, big_u64(r->a, sum), at));
    return v;
}

// Words of n bits, the data filled up with zeros at its end.
static big xor_words(struct run *r, unsigned n, big data, unsigned bits) {
    unsigned words = (bits + n - 1) / n;
    big v = big_u64(r->a, 0);
    data = big_shl(r->a, data, words * n - bits);
    for (unsigned i = 0; i < words; i++)
        v = big_xor(r->a, v, big_slice(r->a, data, i * n + n - 1, i * n));
    return v;
}

// Silken's choice of a linear function (stages/hash.h): each bit, counted from the last one, adds
// a fixed 128-bit word.
static big random_function(struct run *r, big data, unsigned bytes) {
    big v = big_u64(r->a, 0);
    for (unsigned bit = 0; bit < 8 * bytes; bit++)
        if (interp_bit(data, bit)) {
            const uint64_t words[2] = {mix(2 * (uint64_t)bit), mix(2 * (uint64_t)bit + 1)};
            v = big_xor(r->a, v, interp_from_words(r->a, words, 128));
        }
    return v;
}

static big hash_of(struct run *r, const struct ir_hash *h, big data, unsigned bits) {
    const unsigned bytes = (bits + 7) / 8;
    switch (h->algorithm) {
    case IR_HASH_IDENTITY:
        return data;
    case IR_HASH_RANDOM:
        return random_function(r, data, bytes);
    case IR_HASH_XOR8:
        return xor_words(r, 8, data, bits);
    case IR_HASH_XOR16:
        return xor_words(r, 16, data, bits);
    case IR_HASH_XOR32:
        return xor_words(r, 32, data, bits);
    case IR_HASH_CRC:
        return widened(r, h, crc(h, data, bytes));
    default:
        interp_fail("hash algorithm", (int)h->algorithm, h->at);
    }
}

big interp_hash_value(struct run *r, const struct ir_hash *h, big data, unsigned width) {
    return big_wrap_u(r->a, hash_of(r, h, data, width), h->width);
}

void interp_hash(struct run *r, const struct ir_stmt *s) {
    unsigned width;
    big data = interp_concat(r, (const struct ir_expr *const *)s->args.v, s->args.n, &width);
    interp_set(r, s->var, interp_hash_value(r, s->hash, data, width));
}

// xorshift64*, its upper bits.
static uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

void interp_random(struct run *r, const struct ir_stmt *s) {
    uint64_t *state = &r->st->randoms[s->random->id];
    unsigned words = interp_words(s->var->width);
    big v = big_u64(r->a, 0);
    for (unsigned i = 0; i < words; i++)
        v = big_or(r->a, big_shl(r->a, v, 64), big_u64(r->a, next_random(state)));
    interp_set(r, s->var, big_shr(r->a, v, 64 * words - s->var->width));
}
