// SPDX-License-Identifier: Apache-2.0
//
// place: containers for runs. The largest clusters come first; a run is cut into the largest
// containers that there are, 32, 16, then 8 bits, which is what the chip's compiler comes to, too.
// See phv.h.
#include "compiler/chip/phv/phv_impl.h"
#include "compiler/chip/report_add.h"

#include <stdlib.h>

// A part of a run that goes to one container, or to several when there is none of its size.
struct piece {
    struct phv_run *run;
    unsigned at, bytes;
};
typedef VEC(struct piece) piece_vec;

struct box { // a container
    int gress;
    piece_vec pieces;
};
struct boxes { // all of one size and kind
    unsigned n, group /* containers of one */, lot /* that one gress has together */;
    struct box *v;
    int *owner; // by lot; -1: nobody's yet
};
struct placing {
    struct phv *p;
    struct boxes normal[PHV_SIZES];
    struct boxes tagalong[PHV_SIZES];
    int *collections;      // owner of each
    uint64_t left_over[2]; // bits without a container
    bool told[2];          // why: "phv-group"
    uint64_t *by_header[2];
    struct phv_run *first_failed[2];
};

static const unsigned size_bytes[PHV_SIZES] = {1, 2, 4};

// ---- what may share a container -----------------------------------------------------------------
static bool phv_place_not_together(struct phv *p, const struct phv_run *a,
                                   const struct phv_run *b) {
    p->work[a->gress]++;
    return a->last < b->first || b->last < a->first ||
           !phv_together(p, a->gress, a->header, b->header);
}

static bool fits_in(struct phv *p, const struct box *box, const struct phv_run *run) {
    if (box->gress != (int)run->gress || p->work[run->gress] >= PHV_MAX_WORK)
        return false;
    for (size_t i = 0; i < box->pieces.n; i++)
        if (!phv_place_not_together(p, box->pieces.v[i].run, run))
            return false;
    return true;
}

static bool may_own(const struct boxes *b, unsigned i, unsigned gress) {
    int owner = b->owner[i / b->lot];
    return owner < 0 || owner == (int)gress;
}

static void phv_place_take(struct phv *p, struct boxes *b, unsigned i, struct piece piece) {
    b->v[i].gress = (int)piece.run->gress;
    b->owner[i / b->lot] = (int)piece.run->gress;
    VEC_PUSH(p->a, &b->v[i].pieces, piece);
}

// A container of the group for a run: one that others use at other times, else an empty one, first
// of lots that the gress has. b->n: none.
static unsigned find_box(struct phv *p, const struct boxes *b, unsigned group,
                         const struct phv_run *run) {
    unsigned best = b->n, rank = 3;
    for (unsigned i = group * b->group; i < (group + 1) * b->group && i < b->n; i++) {
        if (!may_own(b, i, run->gress))
            continue;
        unsigned r = 2;
        if (b->v[i].pieces.n > 0)
            r = fits_in(p, &b->v[i], run) ? 0 : 3;
        else if (b->owner[i / b->lot] >= 0)
            r = 1;
        if (r < rank) {
            rank = r;
            best = i;
        }
    }
    return best;
}

// Groups in the order in which a gress takes them: those of its own ('own' of them), then the
// common ones, the egress from the end on.
static unsigned group_order(unsigned gress, unsigned groups, unsigned own, unsigned i) {
    if (i < own)
        return gress * own + i;
    return gress == IR_INGRESS ? own + i : groups - 1 - (i - own);
}

// ---- sets of pieces that instructions link ------------------------------------------------------
static void phv_place_give_back(struct boxes *b, unsigned own, const unsigned *taken, unsigned n) {
    while (n-- > 0)
        b->v[taken[n]].pieces.n--;
    // Lots go back with their last container; those of a gress's own groups have it for good.
    for (unsigned lot = 2 * own * b->group / b->lot; lot < b->n / b->lot; lot++) {
        bool used = false;
        for (unsigned i = lot * b->lot; i < (lot + 1) * b->lot; i++)
            used = used || b->v[i].pieces.n > 0;
        if (!used)
            b->owner[lot] = -1;
    }
}

// All pieces of the set, of one size, into one group of containers of 'size'.
static bool place_set(struct placing *pl, unsigned size, const struct piece *set, unsigned n) {
    struct boxes *b = &pl->normal[size];
    unsigned groups = b->n / b->group, *taken = ARENA_ARRAY(pl->p->a, unsigned, n);
    unsigned own = pl->p->r->limits->phv_own_groups, gress = set[0].run->gress;
    for (unsigned i = 0; i + own < groups && pl->p->work[gress] < PHV_MAX_WORK; i++) {
        unsigned group = group_order(gress, groups, own, i), found = 0;
        for (; found < n; found++) {
            taken[found] = find_box(pl->p, b, group, set[found].run);
            if (taken[found] == b->n)
                break;
            phv_place_take(pl->p, b, taken[found], set[found]);
        }
        if (found == n)
            return true;
        phv_place_give_back(b, own, taken, found);
    }
    return false;
}

// How many containers a set needs at least: as many as it has runs of which any two may be
// together.
static unsigned at_once(struct phv *p, const struct piece *set, unsigned n) {
    unsigned most = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned all = 0;
        for (unsigned k = 0; k < n; k++) {
            bool meets = true;
            for (unsigned j = 0; j < k && meets; j++)
                meets = !phv_place_not_together(p, set[j].run, set[k].run);
            all += meets && !phv_place_not_together(p, set[i].run, set[k].run);
        }
        most = all > most ? all : most;
    }
    return most;
}

#define MAX_SET 64u // of a larger set so many are looked at

static void too_linked(struct placing *pl, const struct piece *set, unsigned n) {
    struct phv *p = pl->p;
    unsigned needs = at_once(p, set, n < MAX_SET ? n : MAX_SET),
             group = p->r->limits->phv_group_size;
    if (needs <= group)
        return;
    pl->told[set[0].run->gress] = true;
    const struct ir_var *a = set[0].run->bits.v[0].var, *b = set[n - 1].run->bits.v[0].var;
    struct chip_violation *v = chip_violate(
        p->r, "phv-group", set[0].run->loc.line ? set[0].run->loc : a->at,
        arena_printf(
            p->a,
            "actions move data between %u fields, %s and %s among them: an instruction reads and "
            "writes within one group of %u containers",
            needs, a->name, b->name, group),
        "take the data from a table's action data, a hash, or copies of the field made in a stage "
        "before");
    v->limit = group;
    v->used = needs;
    v->doubtful = true; // an instruction may be split, a field be copied in an earlier stage
}

static void phv_place_leave(struct placing *pl, const struct piece *piece) {
    struct phv_run *run = piece->run;
    run->failed = true;
    pl->left_over[run->gress] += piece->bytes * 8;
    if (run->header)
        pl->by_header[run->gress][run->header->id] += piece->bytes * 8;
    if (!pl->first_failed[run->gress])
        pl->first_failed[run->gress] = run;
}

static bool may_cut(const struct piece *set, unsigned n, unsigned at) {
    for (unsigned i = 0; i < n; i++)
        if (set[i].run->whole[set[i].at + at])
            return false;
    return true;
}

// The set into containers of its size, or larger ones when nothing after it goes to the wire, or
// cut in two.
static void place_pieces(struct placing *pl, struct piece *set, unsigned n) {
    unsigned bytes = set[0].bytes, size = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
    bool exact = false;
    for (unsigned i = 0; i < n; i++)
        exact = exact || set[i].run->exact;
    if (size_bytes[size] == bytes && place_set(pl, size, set, n))
        return;
    for (unsigned cut = bytes > 2 ? 2 : 1; cut > 0 && cut < bytes; cut--) {
        if (!may_cut(set, n, cut))
            continue;
        struct piece *rest = ARENA_ARRAY(pl->p->a, struct piece, n);
        for (unsigned i = 0; i < n; i++) {
            rest[i] = (struct piece){set[i].run, set[i].at + cut, bytes - cut};
            set[i].bytes = cut;
        }
        place_pieces(pl, set, n);
        place_pieces(pl, rest, n);
        return;
    }
    for (; !exact && size < PHV_SIZES; size++)
        if (size_bytes[size] >= bytes && place_set(pl, size, set, n))
            return;
    // No group has room for all. When none ever has, the program is at fault, else it is the
    // others.
    if (n > 1)
        too_linked(pl, set, n);
    for (unsigned i = 0; i < n; i++)
        phv_place_leave(pl, &set[i]);
}

// The length of the next piece at 'at' of all runs of a set: the largest that may be cut off.
static unsigned next_piece(phv_run_vec *runs, unsigned at, unsigned bytes) {
    static const unsigned lengths[] = {4, 2, 1, 3};
    for (unsigned i = 0; i < 4; i++) {
        unsigned to = at + lengths[i];
        bool may = to <= bytes;
        for (size_t k = 0; may && k < runs->n; k++)
            may = to == bytes || !runs->v[k]->whole[to];
        if (may)
            return lengths[i];
    }
    return bytes - at < 4 ? bytes - at : 4;
}

static void place_runs(struct placing *pl, phv_run_vec *runs) {
    unsigned bytes = runs->v[0]->bytes;
    for (unsigned at = 0; at < bytes;) {
        unsigned n = next_piece(runs, at, bytes);
        struct piece *set = ARENA_ARRAY(pl->p->a, struct piece, runs->n);
        for (size_t i = 0; i < runs->n; i++)
            set[i] = (struct piece){runs->v[i], at, n};
        place_pieces(pl, set, (unsigned)runs->n);
        at += n;
    }
}

// ---- tagalong -----------------------------------------------------------------------------------
static bool place_tagalong(struct placing *pl, struct piece piece, unsigned turn) {
    const struct chip_limits *l = pl->p->r->limits;
    unsigned size = piece.bytes == 1 ? 0 : piece.bytes == 2 ? 1 : 2;
    if (size_bytes[size] != piece.bytes)
        return false;
    unsigned g = piece.run->gress, others = 0;
    for (unsigned c = 0; c < l->tagalong_collections; c++)
        others += pl->collections[c] == 1 - (int)g;
    struct boxes *b = &pl->tagalong[size];
    for (unsigned i = 0; i < l->tagalong_collections; i++) {
        unsigned c = g == IR_INGRESS ? i : l->tagalong_collections - 1 - i;
        if (turn == 0 ? pl->collections[c] != (int)g : pl->collections[c] != -1)
            continue;
        // The last one is for the other gress.
        unsigned free = 0;
        for (unsigned k = 0; k < l->tagalong_collections; k++)
            free += pl->collections[k] == -1;
        if (turn == 1 && free == 1 && others == 0)
            return false;
        unsigned box = find_box(pl->p, b, c, piece.run);
        if (box == b->n)
            continue;
        phv_place_take(pl->p, b, box, piece);
        pl->collections[c] = (int)g;
        return true;
    }
    return false;
}

// A run that only parser and deparser touch.
static void place_aside(struct placing *pl, struct phv_run *run) {
    for (unsigned at = 0; at < run->bytes;) {
        unsigned n = run->bytes - at, done = 0;
        for (unsigned turn = 0; turn < 2; turn++) // first of collections that the gress has
            for (int size = PHV_SIZES - 1; size >= 0 && !done; size--)
                if (size_bytes[size] <= n &&
                    place_tagalong(pl, (struct piece){run, at, size_bytes[size]}, turn))
                    done = size_bytes[size];
        if (!done) {
            done = n >= 4 ? 4 : n >= 2 ? 2 : 1;
            struct piece piece = {run, at, done};
            place_pieces(pl, &piece, 1);
        }
        at += done;
    }
}

// ---- order --------------------------------------------------------------------------------------
struct cluster {
    phv_run_vec runs;
    unsigned bytes, id;
};

static int larger_first(const void *a, const void *b) {
    const struct cluster *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static int longer_first(const void *a, const void *b) {
    const struct phv_run *x = *(struct phv_run *const *)a, *y = *(struct phv_run *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static bool same_bytes(const struct cluster *c) {
    for (size_t i = 1; i < c->runs.n; i++)
        if (c->runs.v[i]->bytes != c->runs.v[0]->bytes)
            return false;
    return true;
}

static void place_cluster(struct placing *pl, struct cluster *c) {
    if (same_bytes(c)) {
        place_runs(pl, &c->runs);
        return;
    }
    for (size_t i = 0; i < c->runs.n; i++) {
        phv_run_vec one = {0};
        VEC_PUSH(pl->p->a, &one, c->runs.v[i]);
        place_runs(pl, &one);
    }
}

static void place_all(struct placing *pl) {
    struct phv *p = pl->p;
    struct cluster *c = ARENA_ARRAY(p->a, struct cluster, p->runs.n + 1);
    for (size_t i = 0; i < p->runs.n; i++) {
        struct phv_run *run = p->runs.v[i];
        if (!run->normal)
            continue;
        c[run->cluster].id = run->cluster;
        c[run->cluster].bytes += run->bytes;
        VEC_PUSH(p->a, &c[run->cluster].runs, run);
    }
    qsort(c, p->runs.n, sizeof *c, larger_first);
    // Both gresses in turn, so that neither takes all of the common groups.
    size_t next[2] = {0, 0};
    uint64_t placed[2] = {0, 0};
    for (;;) {
        for (unsigned g = 0; g < 2; g++)
            while (next[g] < p->runs.n && c[next[g]].runs.n > 0 && c[next[g]].runs.v[0]->gress != g)
                next[g]++;
        bool more[2];
        for (unsigned g = 0; g < 2; g++)
            more[g] = next[g] < p->runs.n && c[next[g]].runs.n > 0;
        if (!more[0] && !more[1])
            break;
        unsigned g = !more[0] || (more[1] && placed[1] < placed[0]);
        placed[g] += c[next[g]].bytes;
        place_cluster(pl, &c[next[g]++]);
    }
    struct phv_run **aside = ARENA_ARRAY(p->a, struct phv_run *, p->runs.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->runs.n; i++)
        if (!p->runs.v[i]->normal && p->r->target == CHIP_TOFINO1)
            aside[n++] = p->runs.v[i];
    qsort(aside, n, sizeof *aside, longer_first);
    for (size_t i = 0; i < n; i++)
        place_aside(pl, aside[i]);
}

// ---- result -------------------------------------------------------------------------------------
static void add_slices(struct phv *p, struct chip_container *c, const struct piece *piece) {
    unsigned from = piece->at * 8, to = from + c->size;
    if (piece->bytes * 8 < c->size) // a larger container than asked for: at its low end
        to = from + piece->bytes * 8;
    for (size_t i = 0; i < piece->run->bits.n; i++) {
        const struct phv_bits *b = &piece->run->bits.v[i];
        unsigned x = b->at > from ? b->at : from;
        unsigned y = b->at + b->width < to ? b->at + b->width : to;
        if (x >= y)
            continue;
        struct chip_slice s = {
            .bits = {b->var, b->lo + b->at + b->width - y, y - x},
            .container_lo = to - y,
            .first_stage = piece->run->first,
            .last_stage = piece->run->last,
        };
        VEC_PUSH(p->a, &c->slices, s);
    }
}

static void report_boxes(struct placing *pl, const struct boxes *b, unsigned size, bool tagalong) {
    struct chip_phv *out = &pl->p->pipe->phv;
    for (unsigned i = 0; i < b->n; i++) {
        const struct box *box = &b->v[i];
        if (box->pieces.n == 0)
            continue;
        struct chip_container c = {
            .size = size_bytes[size] * 8, .number = i, .tagalong = tagalong, .gress = box->gress};
        for (size_t k = 0; k < box->pieces.n; k++)
            add_slices(pl->p, &c, &box->pieces.v[k]);
        VEC_PUSH(pl->p->a, &out->containers, c);
        if (tagalong)
            out->tagalong_used[box->gress][size]++;
        else
            out->used[box->gress][size]++;
        out->bits_used[box->gress] += c.size;
    }
}

static void not_fitting(struct placing *pl, unsigned g) {
    struct phv *p = pl->p;
    struct arena *a = p->a;
    const struct ir_gress *ir = p->gress[g].g->ir;
    const struct chip_limits *l = p->r->limits;
    uint64_t *bits = ARENA_ARRAY(a, uint64_t, ir->headers.n + 1), metadata = 0, wanted = 0,
             aside = 0;
    for (size_t i = 0; i < p->runs.n; i++) {
        const struct phv_run *run = p->runs.v[i];
        if (run->gress != g)
            continue;
        wanted += run->bytes * 8;
        aside += run->normal ? 0 : run->bytes * 8;
        if (run->header)
            bits[run->header->id] += run->bytes * 8;
        else
            metadata += run->bytes * 8;
    }
    const char *names = "";
    struct loc at = pl->first_failed[g]->loc;
    for (unsigned k = 0; k < 3; k++) {
        size_t best = ir->headers.n;
        for (size_t i = 0; i < ir->headers.n; i++)
            if (bits[i] > 0 && (best == ir->headers.n || bits[i] > bits[best]))
                best = i;
        if (best == ir->headers.n)
            break;
        names = arena_printf(a, "%s%s%s (%llu bits)", names, k ? ", " : "",
                             ir->headers.v[best]->name, (unsigned long long)bits[best]);
        if (k == 0)
            at = ir->headers.v[best]->at;
        bits[best] = 0;
    }
    if (metadata > 0)
        names = arena_printf(a, "%s%smetadata (%llu bits)", names, *names ? ", " : "",
                             (unsigned long long)metadata);
    unsigned shared[PHV_SIZES], most = 0;
    for (unsigned i = 0; i < PHV_SIZES; i++) {
        shared[i] = l->containers[i] - l->phv_own_groups * l->phv_group_size;
        most += shared[i] * size_bytes[i] * 8 + l->tagalong[i] * size_bytes[i] * 8;
    }
    const char *what = g == IR_INGRESS ? "ingress" : "egress";
    struct chip_violation *v = chip_violate(
        p->r, "phv", at,
        arena_printf(
            a,
            "the %s's fields need more containers than the chip has: %llu bits are left over "
            "when its %u of 8, %u of 16 and %u of 32 bits are full; the largest: %s",
            what, (unsigned long long)pl->left_over[g], shared[0], shared[1], shared[2], names),
        aside * 2 > wanted
            ? "do not parse headers that are neither read nor changed: they stay in the packet "
              "after the other headers"
            : "let fields live shorter, make them narrower, or work on fewer of them in one pass");
    v->limit = most;
    v->used = wanted;
    v->doubtful = wanted <= most; // another packing may have room
}

// ---- start --------------------------------------------------------------------------------------
static void phv_place_set_up(struct placing *pl, struct boxes *b, unsigned n, unsigned group,
                             unsigned lot) {
    struct arena *a = pl->p->a;
    b->n = n;
    b->group = group;
    b->lot = lot;
    b->v = ARENA_ARRAY(a, struct box, n + 1);
    b->owner = ARENA_ARRAY(a, int, n / lot + 1);
    for (unsigned i = 0; i < n; i++)
        b->v[i].gress = -1;
    for (unsigned i = 0; i <= n / lot; i++)
        b->owner[i] = -1;
}

void phv_place(struct phv *p) {
    const struct chip_limits *l = p->r->limits;
    struct placing pl = {.p = p};
    pl.collections = ARENA_ARRAY(p->a, int, l->tagalong_collections + 1);
    for (unsigned i = 0; i < l->tagalong_collections; i++)
        pl.collections[i] = -1;
    for (unsigned i = 0; i < PHV_SIZES; i++) {
        struct boxes *b = &pl.normal[i];
        phv_place_set_up(&pl, b, l->containers[i], l->phv_group_size, l->phv_lot[i]);
        // Of a Tofino 1 the first group of a size is the ingress's, the second the egress's.
        unsigned own = l->phv_own_groups * l->phv_group_size / l->phv_lot[i];
        for (unsigned k = 0; k < 2 * own; k++)
            b->owner[k] = k < own ? IR_INGRESS : IR_EGRESS;
        unsigned each = l->tagalong_collections ? l->tagalong[i] / l->tagalong_collections : 1;
        phv_place_set_up(&pl, &pl.tagalong[i], l->tagalong[i], each, each);
    }
    for (unsigned g = 0; g < 2; g++)
        pl.by_header[g] = ARENA_ARRAY(p->a, uint64_t, p->gress[g].g->ir->headers.n + 1);
    place_all(&pl);
    for (unsigned i = 0; i < PHV_SIZES; i++) {
        report_boxes(&pl, &pl.normal[i], i, false);
        report_boxes(&pl, &pl.tagalong[i], i, true);
    }
    p->pipe->phv.fits = pl.left_over[0] == 0 && pl.left_over[1] == 0;
    for (unsigned g = 0; g < 2; g++)
        if (pl.left_over[g] > 0 && !pl.told[g])
            not_fitting(&pl, g);
}
