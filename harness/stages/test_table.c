// SPDX-License-Identifier: Apache-2.0
//
// Match tables against a list that is searched from end to end.
//
// Random programs of adds, changes, deletions and lookups run on a table and on the list; keys come
// from a small space, so entries collide, overlap and are re-added all the time. One run has only
// keys whose hashes are all equal: the worst case of the hash table must still be correct.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/hosts/random.h"
#include "stages/state.h"
#include "stages/table_writer.h"

#define MAX_ENTRIES 200
#define MAX_WORDS   SK_MAX_KEY_WORDS

struct ref_entry {
    bool used;
    uint64_t value[MAX_WORDS], mask[MAX_WORDS], data;
    int64_t priority;
    uint64_t sequence;
    uint32_t action;
};
struct model {
    const struct sk_table_desc *d;
    struct ref_entry e[MAX_ENTRIES];
    size_t count;
    uint64_t sequence;
    uint32_t place; // sk_lookup_again's
};

static const struct sk_field_desc port_param[] = {{.name = "port", .width = 9}};
static const struct sk_action_desc forward = {"pipe.Ig.forward", port_param, 1, 1, false, false, 0};
static const struct sk_action_desc drop = {"pipe.Ig.drop", NULL, 0, 0, false, false, 0};
static const struct sk_action_desc only_default = {"NoAction", NULL, 0, 0, false, true, 0};
static const struct sk_action_desc only_table = {"pipe.Ig.count", NULL, 0, 0, true, false, 0};
static const struct sk_action_desc *const actions[] = {&forward, &drop, &only_default, &only_table};

static uint64_t word_mask(uint32_t width, uint32_t word) {
    return word + 1 < sk_words(width) || width % 64 == 0 ? ~UINT64_C(0) : sk_mask(width % 64);
}

static bool is_scan(const struct sk_table_desc *d) {
    for (uint32_t i = 0; i < d->n_keys; i++)
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return true;
    return false;
}

static unsigned ones(const uint64_t *mask, uint32_t words) {
    unsigned n = 0;
    for (uint32_t i = 0; i < words; i++)
        n += (unsigned)__builtin_popcountll(mask[i]);
    return n;
}

// ---- the list ----

static bool wide_le(const uint64_t *a, const uint64_t *b, uint32_t words) {
    for (uint32_t i = words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return true;
}

static bool ref_matches(const struct sk_table_desc *d, const struct ref_entry *e,
                        const uint64_t *key) {
    for (uint32_t i = 0, w = 0; i < d->n_keys; w += sk_words(d->keys[i].width), i++) {
        uint32_t words = sk_words(d->keys[i].width);
        if (d->keys[i].match == SK_RANGE) {
            if (!wide_le(e->value + w, key + w, words) || !wide_le(key + w, e->mask + w, words))
                return false;
            continue;
        }
        for (uint32_t j = w; j < w + words; j++)
            if ((e->value[j] & e->mask[j]) != (key[j] & e->mask[j]))
                return false;
    }
    return true;
}

static bool ref_better(const struct sk_table_desc *d, const struct ref_entry *a,
                       const struct ref_entry *b) {
    if (!is_scan(d))
        return ones(a->mask, d->key_words) > ones(b->mask, d->key_words);
    return a->priority != b->priority ? a->priority < b->priority : a->sequence < b->sequence;
}

static const struct ref_entry *ref_lookup(const struct model *m, const uint64_t *key) {
    const struct ref_entry *best = NULL;
    for (size_t i = 0; i < MAX_ENTRIES; i++)
        if (m->e[i].used && ref_matches(m->d, &m->e[i], key) &&
            (!best || ref_better(m->d, &m->e[i], best)))
            best = &m->e[i];
    return best;
}

static struct ref_entry *ref_find(struct model *m, const uint64_t *v, const uint64_t *mask,
                                  int64_t priority) {
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        struct ref_entry *e = &m->e[i];
        bool same = e->used && (!is_scan(m->d) || e->priority == priority);
        for (uint32_t w = 0, f = 0; same && f < m->d->n_keys; f++)
            for (uint32_t j = 0; j < sk_words(m->d->keys[f].width); j++, w++) {
                uint64_t care = m->d->keys[f].match == SK_RANGE ? ~UINT64_C(0) : mask[w];
                same = same && e->mask[w] == mask[w] && !((e->value[w] ^ v[w]) & care);
            }
        if (same)
            return e;
    }
    return NULL;
}

// ---- random keys from a small space ----

static void small_value(struct sk_random *r, uint32_t width, uint64_t *v) {
    for (uint32_t i = 0; i < sk_words(width); i++)
        v[i] = 0;
    v[0] = sk_random_below(r, 6) & word_mask(width, 0);
    if (sk_random_below(r, 2) == 0)
        v[(width - 1) / 64] |=
            sk_random_below(r, 4) << (width - 1) % 64 & word_mask(width, (width - 1) / 64);
}

static void small_mask(struct sk_random *r, const struct sk_field_desc *k, uint64_t *mask) {
    uint32_t words = sk_words(k->width);
    for (uint32_t i = 0; i < words; i++)
        mask[i] = word_mask(k->width, i);
    if (k->match == SK_TERNARY)
        mask[sk_random_below(r, words)] &= sk_random_below(r, 2) ? ~UINT64_C(0) : ~UINT64_C(5);
    if (k->match == SK_LPM) {
        uint32_t cut = (uint32_t)sk_random_below(r, 2) ? (uint32_t)sk_random_below(r, 4)
                                                       : (uint32_t)sk_random_below(r, k->width + 1);
        for (uint32_t bit = 0; bit < cut; bit++)
            mask[bit / 64] &= ~(UINT64_C(1) << bit % 64);
    }
}

static void random_key(struct sk_random *r, const struct sk_table_desc *d, uint64_t *v,
                       uint64_t *mask) {
    for (uint32_t i = 0, w = 0; i < d->n_keys; w += sk_words(d->keys[i].width), i++) {
        small_value(r, d->keys[i].width, v + w);
        small_mask(r, &d->keys[i], mask + w);
        if (d->keys[i].match != SK_RANGE)
            continue;
        small_value(r, d->keys[i].width, mask + w);
        uint32_t words = sk_words(d->keys[i].width);
        for (uint32_t j = 0; j < words && !wide_le(v + w, mask + w, words); j++)
            memcpy(mask + w, v + w, words * sizeof *v);
    }
}

// ---- the two side by side ----

// As generated code does it: by the word that is the key or stands for it, or by all words, from
// wherever one was last.
static const struct sk_entry *lookup_again(const struct sk_table *t, const uint64_t *key,
                                           uint32_t *place) {
    if (!t->desc->proxy && t->key_words > 1)
        return sk_lookup_key_again(t, key, t->key_words, place);
    const uint64_t word = t->desc->proxy ? t->desc->proxy(key) : key[0];
    return sk_lookup_again(t, word, place);
}

static void check_lookup(struct sk_table *t, struct model *m, const uint64_t *key) {
    const struct ref_entry *want = ref_lookup(m, key);
    const struct sk_entry *got = sk_table_lookup(t, key);
    if (t->kind == SK_KIND_HASH) {
        assert_ptr_equal(lookup_again(t, key, &m->place), got);
        assert_ptr_equal(lookup_again(t, key, &m->place), got);
    }
    if (!want) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    assert_int_equal(got->action, want->action);
    if (want->action == 0)
        assert_int_equal(got->data[0], want->data);
}

static void step_add(struct sk_table *t, struct model *m, const uint64_t *v, const uint64_t *mask,
                     int64_t priority, uint32_t action, uint64_t data) {
    bool exists = ref_find(m, v, mask, priority) != NULL;
    int want = exists ? SK_E_EXISTS : m->count == MAX_ENTRIES ? SK_E_FULL : SK_OK;
    assert_int_equal(sk_table_add(t, v, mask, priority, action, &data), want);
    if (want != SK_OK)
        return;
    size_t i = 0;
    while (m->e[i].used)
        i++;
    m->e[i] = (struct ref_entry){.used = true,
                                 .priority = priority,
                                 .action = action,
                                 .data = data,
                                 .sequence = m->sequence++};
    memcpy(m->e[i].value, v, sizeof m->e[i].value);
    memcpy(m->e[i].mask, mask, sizeof m->e[i].mask);
    m->count++;
}

static void one_step(struct sk_random *r, struct sk_table *t, struct model *m) {
    uint64_t v[MAX_WORDS] = {0}, mask[MAX_WORDS] = {0};
    random_key(r, m->d, v, mask);
    int64_t priority = (int64_t)sk_random_below(r, 4);
    uint32_t action = (uint32_t)sk_random_below(r, 2);
    uint64_t data = sk_random_below(r, 512);
    struct ref_entry *e = ref_find(m, v, mask, priority);
    switch (sk_random_below(r, 16)) {
    case 0 ... 6:
        step_add(t, m, v, mask, priority, action, data);
        break;
    case 7 ... 10:
        assert_int_equal(sk_table_delete(t, v, mask, priority), e ? SK_OK : SK_E_NOT_FOUND);
        if (e) {
            e->used = false;
            m->count--;
        }
        break;
    case 11 ... 13:
        assert_int_equal(sk_table_modify(t, v, mask, priority, action, &data),
                         e ? SK_OK : SK_E_NOT_FOUND);
        if (e) {
            e->action = action;
            e->data = data;
        }
        break;
    case 14:
        sk_table_quiesce(t);
        break;
    default:
        if (sk_random_below(r, 100) == 0) {
            sk_table_clear(t);
            memset(m->e, 0, sizeof m->e);
            m->count = 0;
        }
    }
    for (int i = 0; i < 4; i++) {
        uint64_t ignored[MAX_WORDS];
        random_key(r, m->d, v, ignored);
        check_lookup(t, m, v);
    }
    assert_int_equal(sk_table_count(t), m->count);
}

static bool count_one(void *aux, const struct sk_entry *e) {
    (void)e;
    ++*(size_t *)aux;
    return true;
}

static void run_shape(const struct sk_field_desc *keys, uint32_t n_keys,
                      uint64_t (*proxy)(const uint64_t *key), uint64_t seed) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < n_keys; i++)
        words += sk_words(keys[i].width);
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = n_keys,
                              .key_words = words,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .size = MAX_ENTRIES,
                              .direct_words = 1,
                              .proxy = proxy};
    static struct model m;
    memset(&m, 0, sizeof m);
    m.d = &d;
    struct sk_random r = sk_random_seeded(seed);
    struct sk_table *t = sk_table_new(&d);
    assert_non_null(t);
    for (int i = 0; i < 20000; i++) {
        one_step(&r, t, &m);
        if (i % 1000 == 0) {
            size_t seen = 0;
            sk_table_each(t, count_one, &seen);
            assert_int_equal(seen, m.count);
        }
    }
    sk_table_free(t);
}

static void test_equals_a_searched_list(void **state) {
    (void)state;
    const struct sk_field_desc shapes[][3] = {
        {{.name = "a", .width = 9, .match = SK_EXACT}},
        {{.name = "a", .width = 48, .match = SK_EXACT}},
        {{.name = "a", .width = 32, .match = SK_EXACT},
         {.name = "b", .width = 128, .match = SK_EXACT}},
        {{.name = "a", .width = 32, .match = SK_LPM}},
        {{.name = "a", .width = 12, .match = SK_EXACT},
         {.name = "b", .width = 100, .match = SK_LPM}},
        {{.name = "a", .width = 16, .match = SK_TERNARY}},
        {{.name = "a", .width = 1, .match = SK_EXACT},
         {.name = "b", .width = 70, .match = SK_TERNARY}},
        {{.name = "a", .width = 16, .match = SK_RANGE},
         {.name = "b", .width = 8, .match = SK_TERNARY}},
        {{.name = "a", .width = 80, .match = SK_RANGE},
         {.name = "b", .width = 8, .match = SK_EXACT}},
        {{.name = "a", .width = 64, .match = SK_TERNARY},
         {.name = "b", .width = 8, .match = SK_LPM},
         {.name = "c", .width = 3, .match = SK_EXACT}},
        {{.name = "a", .width = 40, .match = SK_LPM},
         {.name = "b", .width = 64, .match = SK_EXACT}},
        {{.name = "a", .width = 7, .match = SK_LPM}},
        {{.name = "a", .width = 16, .match = SK_RANGE},
         {.name = "b", .width = 128, .match = SK_RANGE},
         {.name = "c", .width = 3, .match = SK_TERNARY}},
        {{.name = "a", .width = 4096, .match = SK_TERNARY}},
        {{.name = "a", .width = 64, .match = SK_EXACT},
         {.name = "b", .width = 3900, .match = SK_TERNARY}},
        {{.name = "a", .width = 1000, .match = SK_EXACT},
         {.name = "b", .width = 2050, .match = SK_LPM}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint32_t n = 0;
        while (n < 3 && shapes[i][n].name)
            n++;
        run_shape(shapes[i], n, NULL, i + 1);
    }
}

static uint64_t pack_21(const uint64_t *key) {
    return key[0] << 12 | key[1];
}
static uint64_t pack_64(const uint64_t *key) {
    return (key[0] << 48 | key[1]) << 4 | key[2];
}

static void test_keys_in_one_word(void **state) {
    (void)state;
    const struct sk_field_desc small[] = {{.name = "a", .width = 9, .match = SK_EXACT},
                                          {.name = "b", .width = 12, .match = SK_EXACT}},
                               large[] = {{.name = "a", .width = 12, .match = SK_EXACT},
                                          {.name = "b", .width = 48, .match = SK_EXACT},
                                          {.name = "c", .width = 4, .match = SK_EXACT}};
    run_shape(small, 2, pack_21, 101);
    run_shape(large, 3, pack_64, 102);
}

// Second words chosen so that the last multiplication of the hash is by zero for every key.
static void test_all_hashes_equal(void **state) {
    (void)state;
    const struct sk_field_desc keys[] = {{.name = "a", .width = 64, .match = SK_EXACT},
                                         {.name = "b", .width = 64, .match = SK_EXACT}};
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = 2,
                              .key_words = 2,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .size = 1000};
    struct sk_table *t = sk_table_new(&d);
    const struct sk_hash_secret known = {0, SK_HASH_FACTOR};
    uint64_t first = 0;
    for (uint64_t x = 0; x < 300; x++) {
        uint64_t h = sk_hash_mix(0, x);
        uint64_t key[2] = {x, h ^ UINT64_C(0xa0761d6478bd642f)};
        first = x ? first : sk_hash_key(known, key, 2);
        assert_int_equal(sk_hash_key(known, key, 2), first);
        assert_int_equal(sk_table_add(t, key, NULL, 0, 0, &(uint64_t){x}), SK_OK);
    }
    for (uint64_t x = 0; x < 300; x++) {
        uint64_t key[2] = {x, sk_hash_mix(0, x) ^ UINT64_C(0xa0761d6478bd642f)};
        if (x % 3 == 0)
            assert_int_equal(sk_table_delete(t, key, NULL, 0), SK_OK);
        const struct sk_entry *e = sk_table_lookup(t, key);
        assert_true(x % 3 == 0 ? e == NULL : e && e->data[0] == x);
    }
    sk_table_free(t);
}

// The most of 'n' keys that begin their search in one bucket of 'buckets' (a power of two).
static unsigned fullest(struct sk_hash_secret s, const uint64_t *keys, unsigned n,
                        unsigned buckets) {
    unsigned *count = calloc(buckets, sizeof *count), most = 0;
    for (unsigned i = 0; i < n; i++) {
        const unsigned c = ++count[sk_hash_key(s, &keys[i], 1) & (buckets - 1)];
        most = c > most ? c : most;
    }
    free(count);
    return most;
}

// Keys that meet in one bucket of a table whose hash is known are spread by any secret; so are keys
// with those differences.
static void test_flood(void **state) {
    (void)state;
    enum { KEYS = 1000, BUCKETS = 4096 };
    const struct sk_hash_secret known = {0, SK_HASH_FACTOR};
    const struct sk_field_desc key[] = {{.name = "a", .width = 48, .match = SK_EXACT}};
    const struct sk_table_desc d = {.name = "t",
                                    .keys = key,
                                    .n_keys = 1,
                                    .key_words = 1,
                                    .actions = actions,
                                    .n_actions = 4,
                                    .default_action = 2,
                                    .size = KEYS};
    uint64_t keys[KEYS];
    unsigned n = 0;
    for (uint64_t x = 1; n < KEYS; x++)
        if ((sk_hash_key(known, &x, 1) & (BUCKETS - 1)) == 0)
            keys[n++] = x;
    assert_int_equal(fullest(known, keys, KEYS, BUCKETS), KEYS);
    struct sk_hash_secret last = known;
    for (uint64_t secret = 1; secret <= 50; secret++) {
        sk_table_use_secret(secret);
        struct sk_table *t = sk_table_new(&d);
        sk_table_use_secret(0);
        const struct sk_hash_secret s = t->secret;
        assert_true(s.factor % 2 == 1 && s.factor != last.factor && s.start != last.start);
        last = s;
        assert_in_range(fullest(s, keys, KEYS, BUCKETS), 1, 12);
        for (unsigned i = 0; i < KEYS; i++)
            assert_int_equal(sk_table_add(t, &keys[i], NULL, 0, 0, &(uint64_t){i % 512}), SK_OK);
        for (unsigned i = 0; i < KEYS; i++)
            assert_int_equal(sk_table_lookup(t, &keys[i])->data[0], i % 512);
        sk_table_free(t);
    }
}

static void test_refusals(void **state) {
    (void)state;
    const struct sk_field_desc keys[] = {{.name = "a", .width = 9, .match = SK_LPM}};
    const struct sk_field_desc range[] = {{.name = "a", .width = 9, .match = SK_RANGE}};
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = 1,
                              .key_words = 1,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .size = 2};
    struct sk_table *t = sk_table_new(&d);
    uint64_t v = 5, m = 0x1ff, port = 3;
    assert_int_equal(sk_table_add(t, &(uint64_t){0x200}, NULL, 0, 0, &port), SK_E_KEY);
    assert_int_equal(sk_table_add(t, &v, &(uint64_t){0x101}, 0, 0, &port), SK_E_KEY);
    assert_int_equal(sk_table_add(t, &v, &m, 0, 4, &port), SK_E_ACTION);
    assert_int_equal(sk_table_add(t, &v, &m, 0, 2, &port), SK_E_ACTION);
    assert_int_equal(sk_table_add(t, &v, &m, 0, 0, &(uint64_t){512}), SK_E_DATA);
    assert_int_equal(sk_table_set_default(t, 3, NULL), SK_E_ACTION);
    assert_int_equal(sk_table_set_default(t, 0, &port), SK_OK);
    assert_int_equal(sk_table_default(t)->data[0], 3);
    sk_table_reset_default(t);
    assert_int_equal(sk_table_default(t)->action, 2);
    for (int e = 0; e > -10; e--)
        assert_non_null(sk_table_strerror(e));
    sk_table_free(t);

    d.keys = range;
    t = sk_table_new(&d);
    assert_int_equal(sk_table_add(t, &v, &(uint64_t){4}, 0, 1, NULL), SK_E_KEY);
    assert_int_equal(sk_table_add(t, &v, &(uint64_t){5}, 0, 1, NULL), SK_OK);
    assert_int_equal(sk_table_add(t, &v, &(uint64_t){6}, 0, 1, NULL), SK_OK);
    assert_int_equal(sk_table_add(t, &v, &(uint64_t){7}, 0, 1, NULL), SK_E_FULL);
    sk_table_free(t);
}

static void test_const_entries(void **state) {
    (void)state;
    const struct sk_field_desc keys[] = {{.name = "a", .width = 16, .match = SK_TERNARY}};
    const uint64_t w[] = {0x10, 0xfff0, 0, 7};
    const struct sk_const_entry entries[] = {{0, &w[0], &w[1], 1, NULL, true},
                                             {1, &w[2], &w[2], 0, &w[3], true}};
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = 1,
                              .key_words = 1,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .entries = entries,
                              .n_entries = 2,
                              .const_entries = true,
                              .const_default = true};
    struct sk_table *t = sk_table_new(&d);
    uint64_t key = 0x15;
    assert_ptr_equal(sk_table_lookup(t, &key), t->fixed[0]);
    assert_int_equal(sk_table_add(t, &key, NULL, 0, 1, NULL), SK_E_CONST);
    assert_int_equal(sk_table_delete(t, &w[0], &w[1], 0), SK_E_CONST);
    assert_int_equal(sk_table_set_default(t, 1, NULL), SK_E_CONST);
    sk_table_clear(t);
    key = 0x25;
    assert_int_equal(sk_table_lookup(t, &key)->data[0], 7);
    assert_int_equal(sk_table_count(t), 2);
    sk_table_free(t);
}

// Changing an entry keeps what the packets left in it.
static void test_modify_keeps_state(void **state) {
    (void)state;
    const struct sk_field_desc keys[] = {{.name = "a", .width = 16, .match = SK_EXACT}};
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = 1,
                              .key_words = 1,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .size = 2,
                              .has_counter = true,
                              .direct_words = 1,
                              .direct_initial = &(uint64_t){9}};
    struct sk_table *t = sk_table_new(&d);
    uint64_t key = 1;
    sk_table_add(t, &key, NULL, 0, 1, NULL);
    struct sk_entry *e = sk_table_lookup(t, &key);
    assert_int_equal(e->direct[0], 9);
    e->direct[0] = 10;
    e->packets = 11;
    uint32_t id = e->id;
    assert_int_equal(sk_table_modify(t, &key, NULL, 0, 0, &key), SK_OK);
    sk_table_quiesce(t);
    e = sk_table_lookup(t, &key);
    assert_true(e->direct[0] == 10 && e->packets == 11 && e->id == id && e->action == 0);
    sk_table_free(t);
}

// ---- readers meanwhile ----

// A reader asks for keys whose entries stay all the time, while the writer adds better and worse
// ones, in groups of their own and in the same groups, and deletes them again. Each answer is the
// entry that stays or a better one that matches.
#define STAYING 64
struct meanwhile {
    struct sk_table *t;
    atomic_bool stop;
    atomic_uint turn; // 1: the writer asks the reader to pause; 2: it does
    uint64_t lookups, wrong;
    bool lpm;
};

static void staying_key(uint64_t i, uint64_t *key) {
    key[0] = i * 0x01010101 & 0xffffffff;
    key[1] = i;
}

static void *read_meanwhile(void *aux) {
    struct meanwhile *m = aux;
    while (!atomic_load(&m->stop)) {
        if (atomic_load(&m->turn) == 1) { // the writer asks for quiet
            atomic_store(&m->turn, 2);
            while (atomic_load(&m->turn) == 2)
                sched_yield();
        }
        for (uint64_t i = 0; i < STAYING; i++, m->lookups++) {
            uint64_t key[2];
            staying_key(i, key);
            const struct sk_entry *e = sk_table_lookup(m->t, key);
            bool right = e && (m->lpm || e->priority <= 1000 + (int64_t)i);
            for (unsigned w = 0; right && w < 2; w++)
                right = ((e->value[w] ^ key[w]) & e->mask[w]) == 0;
            if (right && m->lpm)
                right = ones(e->mask, 2) >= 64 + 16;
            m->wrong += !right;
        }
    }
    return NULL;
}

static void change_meanwhile(struct meanwhile *m, struct sk_random *r) {
    uint64_t key[2], value[2], mask[2] = {0xffffffff, ~UINT64_C(0)};
    staying_key(sk_random_below(r, STAYING), key);
    unsigned cut = (unsigned)sk_random_below(r, m->lpm ? 33 : 32);
    mask[0] = mask[0] << cut & 0xffffffff;
    if (!m->lpm)
        mask[1] = sk_random_below(r, 4) ? mask[1] : sk_random_below(r, 64);
    int64_t priority = (int64_t)sk_random_below(r, 2000);
    for (unsigned w = 0; w < 2; w++)
        value[w] = key[w] & mask[w];
    bool stays = m->lpm ? cut == 16 : cut == 0 && mask[1] == ~UINT64_C(0);
    if (sk_random_below(r, 2))
        sk_table_add(m->t, value, mask, priority, 1, NULL);
    else if (!stays)
        sk_table_delete(m->t, value, mask, priority);
    sk_table_modify(m->t, value, mask, priority, 0, &(uint64_t){5});
}

// While the reader waits, so nothing is looked up.
static void quiesce(struct sk_table *t, atomic_uint *turn) {
    atomic_store(turn, 1);
    while (atomic_load(turn) == 1)
        sched_yield();
    sk_table_quiesce(t);
    atomic_store(turn, 0);
}

static void run_meanwhile(bool lpm) {
    const struct sk_field_desc keys[] = {
        {.name = "a", .width = 32, .match = lpm ? SK_LPM : SK_TERNARY},
        {.name = "b", .width = 64, .match = lpm ? SK_EXACT : SK_TERNARY}};
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = 2,
                              .key_words = 2,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .size = 100000};
    struct meanwhile m = {.t = sk_table_new(&d), .lpm = lpm};
    for (uint64_t i = 0; i < STAYING; i++) {
        uint64_t key[2], mask[2] = {lpm ? 0xffff0000 : 0xffffffff, ~UINT64_C(0)};
        staying_key(i, key);
        key[0] &= mask[0];
        assert_int_equal(sk_table_add(m.t, key, mask, 1000 + (int64_t)i, 1, NULL), SK_OK);
    }
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_meanwhile, &m), 0);
    struct sk_random r = sk_random_seeded(lpm);
    for (unsigned i = 0; i < 100000; i++) {
        change_meanwhile(&m, &r);
        if (i % 512 == 0)
            quiesce(m.t, &m.turn);
    }
    atomic_store(&m.stop, true);
    pthread_join(reader, NULL);
    assert_true(m.lookups > 0);
    assert_int_equal(m.wrong, 0);
    sk_table_free(m.t);
}

static void test_ternary_readers_meanwhile(void **state) {
    (void)state;
    run_meanwhile(false);
}

static void test_lpm_readers_meanwhile(void **state) {
    (void)state;
    run_meanwhile(true);
}

// ---- exact keys, readers meanwhile ----

// Keys 0 to 63 stay, and are modified; the others come and go, which makes the hash grow, fill with
// removed places and be made anew. An entry's data is six times its key modulo 64, or one more.
struct exact_meanwhile {
    struct sk_table *t;
    atomic_bool stop;
    atomic_uint turn; // as above
    uint64_t wrong;
    unsigned words;
};

static void *read_exact(void *aux) {
    struct exact_meanwhile *m = aux;
    uint32_t place = 0;
    for (uint64_t i = 0; !atomic_load(&m->stop); i++) {
        if (atomic_load(&m->turn) == 1) {
            atomic_store(&m->turn, 2);
            while (atomic_load(&m->turn) == 2)
                sched_yield();
        }
        uint64_t key[2] = {i % 3 ? i % 64 : i % 4096, i % 7};
        if (i % 3)
            key[1] = key[0] % 7;
        const bool again = m->t->desc->proxy || i & 64;
        const struct sk_entry *e =
            again ? lookup_again(m->t, key, &place) : sk_table_lookup(m->t, key);
        m->wrong +=
            e ? memcmp(e->value, key, m->words * 8) != 0 || (e->data[0] | 1) != key[0] % 64 * 6 + 1
              : i % 3 != 0;
    }
    return NULL;
}

static uint64_t pack_57(const uint64_t *key) {
    return key[0] << 9 | key[1];
}

static void exact_meanwhile(unsigned words, bool packed) {
    const struct sk_field_desc keys[] = {{.name = "a", .width = 48, .match = SK_EXACT},
                                         {.name = "b", .width = 9, .match = SK_EXACT}};
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = words,
                              .key_words = words,
                              .actions = actions,
                              .n_actions = 4,
                              .default_action = 2,
                              .size = 100000,
                              .proxy = packed ? pack_57 : NULL};
    struct exact_meanwhile m = {.t = sk_table_new(&d), .words = words};
    assert_null(sk_table_lookup(m.t, (uint64_t[2]){0}));
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t key[2] = {i, i % 7};
        assert_int_equal(sk_table_add(m.t, key, NULL, 0, 0, &(uint64_t){i * 6}), SK_OK);
    }
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_exact, &m), 0);
    struct sk_random r = sk_random_seeded(words);
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t a = sk_random_below(&r, 64 + i / 64 % 1024), key[2] = {a, a % 7};
        uint64_t data = a % 64 * 6 + sk_random_below(&r, 2);
        if (a < 64)
            assert_int_equal(sk_table_modify(m.t, key, NULL, 0, 0, &data), SK_OK);
        else if (sk_table_delete(m.t, key, NULL, 0) != SK_OK)
            assert_int_equal(sk_table_add(m.t, key, NULL, 0, 0, &data), SK_OK);
        if (i % 512 == 0)
            quiesce(m.t, &m.turn);
    }
    atomic_store(&m.stop, true);
    pthread_join(reader, NULL);
    assert_int_equal(m.wrong, 0);
    sk_table_free(m.t);
}

static void test_exact_readers_meanwhile(void **state) {
    (void)state;
    exact_meanwhile(1, false);
    exact_meanwhile(2, false);
    exact_meanwhile(2, true);
}

// ---- a hash that grows ----

// A map with a place for each key from 0 on: what the table must hold.
enum { GROWING_KEYS = 20000 };
// What one change may do beside its own: entries that it moves, bytes of memory that it touches.
enum { MOVES_MOST = 16, BYTES_MOST = 32 << 10 };
struct growing {
    struct sk_table *t;
    uint32_t words;
    uint16_t data[GROWING_KEYS]; // 0: there is no entry
    size_t count;
    uint32_t place;
    uint64_t begun, spared,
        worst; // growths, those with a spare hash; most entries moved by a change
};

static void growing_key(uint64_t i, uint64_t *key) {
    key[0] = i * UINT64_C(0x9e3779b1) & sk_mask(48);
    key[1] = i % 5;
}

static void growing_compare(struct growing *g, uint64_t i) {
    uint64_t key[2];
    growing_key(i, key);
    const struct sk_entry *e = sk_table_lookup(g->t, key);
    assert_int_equal(e ? e->data[0] : 0, g->data[i]);
    assert_ptr_equal(lookup_again(g->t, key, &g->place), e);
    assert_ptr_equal(sk_table_find(g->t, key, NULL, 0), e);
}

static void growing_change(struct growing *g, struct sk_random *r, uint64_t i, unsigned add,
                           unsigned delete) {
    const struct sk_table_writer *w = g->t->writer;
    const uint64_t before = w->work, of10 = sk_random_below(r, 10), data = 1 + of10 * 7 + i % 400;
    const struct sk_buckets *spare = w->spare;
    const bool grew = w->growing.to, is = g->data[i];
    uint64_t key[2];
    growing_key(i, key);
    if (of10 < add) {
        assert_int_equal(sk_table_add(g->t, key, NULL, 0, 0, &data), is ? SK_E_EXISTS : SK_OK);
        g->count += !is;
        g->data[i] = is ? g->data[i] : (uint16_t)data;
    } else if (of10 < add + delete) {
        assert_int_equal(sk_table_delete(g->t, key, NULL, 0), is ? SK_OK : SK_E_NOT_FOUND);
        g->count -= is;
        g->data[i] = 0;
    } else {
        assert_int_equal(sk_table_modify(g->t, key, NULL, 0, 0, &data),
                         is ? SK_OK : SK_E_NOT_FOUND);
        g->data[i] = is ? (uint16_t)data : 0;
    }
    const uint64_t moved = w->work - before;
    g->worst = moved > g->worst ? moved : g->worst;
    g->begun += !grew && w->growing.to;
    g->spared += spare && w->growing.to == spare;
    assert_int_equal(sk_table_count(g->t), g->count);
    growing_compare(g, i);
    growing_compare(g, sk_random_below(r, GROWING_KEYS));
}

// Entries come, change and go in random order; the shares of each change all the time, so that the
// hash grows, loses its tombstones, empties while it grows, and is cleared whole. In each state
// each answer is the map's, and no change moves more than its few entries.
static void growing_run(uint32_t words, bool proxy, bool tended, uint64_t seed) {
    const struct sk_field_desc keys[] = {{.name = "a", .width = 48, .match = SK_EXACT},
                                         {.name = "b", .width = 9, .match = SK_EXACT}};
    const struct sk_field_desc wide[] = {{.name = "data", .width = 16}};
    const struct sk_action_desc act = {"pipe.Ig.act", wide, 1, 1, false, false, 0};
    const struct sk_action_desc *const acts[] = {&act, &only_default};
    const struct sk_table_desc d = {.name = "t",
                                    .keys = keys,
                                    .n_keys = words,
                                    .key_words = words,
                                    .actions = acts,
                                    .n_actions = 2,
                                    .default_action = 1,
                                    .size = GROWING_KEYS,
                                    .proxy = proxy ? pack_57 : NULL};
    static struct growing g;
    g = (struct growing){.t = sk_table_new(&d), .words = words};
    struct sk_random r = sk_random_seeded(seed);
    uint64_t range = 0, states[3] = {0};
    for (unsigned i = 0, add = 8, delete = 1; i < 400000; i++) {
        if (i < 200000 && i % 1999 == 0) {
            range = 1 + sk_random_below(&r, 1u << sk_random_below(&r, 15));
            add = (unsigned)sk_random_below(&r, 10);
            delete = (unsigned)sk_random_below(&r, 11 - add);
        }
        if (i == 200000) { // about a fifth of all keys from now on: one size, with a spare hash
            range = GROWING_KEYS;
            add = 2;
            delete = 8;
        }
        growing_change(&g, &r, sk_random_below(&r, i % 2 ? range : GROWING_KEYS), add, delete);
        const struct sk_growing *now = &g.t->writer->growing;
        states[!now->to ? 0 : now->moved ? 2 : 1]++;
        if (sk_random_below(&r, 50) == 0)
            sk_table_quiesce(g.t);
        if (tended && i % 3 == 0)
            sk_table_tend(g.t);
        if (i < 200000 && sk_random_below(&r, 20000) == 0) {
            assert_int_equal(sk_table_clear(g.t), SK_OK);
            memset(g.data, 0, sizeof g.data);
            g.count = 0;
        }
    }
    for (uint64_t i = 0; i < GROWING_KEYS; i++)
        growing_compare(&g, i);
    size_t seen = 0;
    sk_table_each(g.t, count_one, &seen);
    assert_int_equal(seen, g.count);
    assert_in_range(g.worst, 1, MOVES_MOST);
    assert_true(g.spared > 0);
    for (unsigned i = 0; i < 3; i++) // not growing; touching its memory or just begun; moving
        assert_true(states[i] > 100);
    sk_table_free(g.t);
}

static void test_growing_equals_a_map(void **state) {
    (void)state;
    growing_run(1, false, false, 1);
    growing_run(1, false, true, 1);
    growing_run(2, false, false, 2);
    growing_run(2, true, true, 3);
}

// However many entries there are: no change moves more than some, and the memory of a hash is
// neither touched nor given back at once; by a change of a table that is tended, it is not given
// back at all, and little of it is touched.
static void growing_bounded(bool tended) {
    enum { ENTRIES = 300000 };
    const struct sk_field_desc key[] = {{.name = "a", .width = 48, .match = SK_EXACT}};
    const struct sk_table_desc d = {.name = "t",
                                    .keys = key,
                                    .n_keys = 1,
                                    .key_words = 1,
                                    .actions = actions,
                                    .n_actions = 4,
                                    .default_action = 2,
                                    .size = ENTRIES};
    struct sk_table *t = sk_table_new(&d);
    const struct sk_table_writer *w = t->writer;
    uint64_t work = 0, touched = 0, left = 0, grown = 0, given = 0, by_changes = 0, by_tend = 0;
    for (uint64_t i = 0; i < 2 * ENTRIES; i++) {
        const struct sk_buckets *hash = sk_load_buckets(t);
        const uint64_t x = i % ENTRIES;
        if (i < ENTRIES)
            assert_int_equal(sk_table_add(t, &x, NULL, 0, 0, &(uint64_t){x % 512}), SK_OK);
        else
            assert_int_equal(sk_table_delete(t, &x, NULL, 0), SK_OK);
        assert_true(w->work - work <= MOVES_MOST);
        if (w->growing.to && w->growing.touched > touched) {
            assert_true(w->growing.touched - touched <= BYTES_MOST);
            by_changes += w->growing.touched - touched;
        }
        if (left > w->old_left && w->old_left)
            assert_true(left - w->old_left <= 16 * BYTES_MOST);
        given += left > w->old_left;
        assert_true(!tended || left == w->old_left);
        grown += hash != sk_load_buckets(t);
        // half full when it began to grow, and a seventh more when it is complete
        assert_true(w->used * 100 <= (sk_load_buckets(t)->mask + 1) * SK_BUCKET * 60);
        work = w->work;
        touched = w->growing.touched;
        if (i % 64 == 0)
            sk_table_quiesce(t);
        left = w->old_left;
        if (!tended)
            continue;
        sk_table_tend(t);
        by_tend += w->growing.touched - touched;
        touched = w->growing.touched;
        given += left > w->old_left;
        left = w->old_left;
    }
    assert_true(grown >= 10 && given >= 4);
    assert_true(by_changes > 0 && (tended ? by_tend > 2 * by_changes : by_tend == 0));
    assert_null(w->retired_hashes);
    sk_table_free(t);
}

static void test_growing_is_bounded(void **state) {
    (void)state;
    growing_bounded(false);
    growing_bounded(true);
}

// A pipe's state that the machine has no room for is refused before any of it is touched.
static void test_state_too_large(void **state) {
    (void)state;
    size_t all = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    assert_null(sk_state_alloc(all)); // some of it is always in use
    assert_null(sk_state_alloc(SIZE_MAX));
    void *small = sk_state_alloc(100);
    assert_non_null(small);
    sk_state_free(small);
}

// How many pages of what begins with a page are in memory.
static size_t resident(const uint8_t *at, size_t bytes) {
    static unsigned char pages[1024];
    const size_t n = bytes / (size_t)sysconf(_SC_PAGESIZE);
    size_t sum = 0;
    if (n > sizeof pages || mincore((void *)at, bytes, pages))
        return SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        sum += pages[i] & 1;
    return sum;
}

// 0, or which of these is not so. That is for good, so a process of its own does it.
static int lazy_state(enum sk_state_pages pages) {
    const size_t bytes = 3 << 20;
    sk_state_lazily(pages);
    uint8_t *large = sk_state_alloc(bytes), *small = sk_state_alloc(100);
    if (!large || !small || (uintptr_t)small % 64)
        return 1;
    if (pages == SK_STATE_HUGE_PAGES) {
        if ((uintptr_t)large % (2 << 20) || resident(large, bytes) != 0)
            return 2;
        if (sk_state_alloc((size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE)))
            return 3;
    }
    for (size_t i = 0; i < bytes; i += 1000)
        if (large[i])
            return 4;
    memset(large, 1, bytes);
    memset(small, 1, 100);
    sk_state_free(large);
    sk_state_free(small);
    sk_state_free(NULL);
    return sk_state_alloc(SIZE_MAX) ? 5 : sk_state_alloc(SIZE_MAX - 4096) ? 6 : 0;
}

static void test_lazy_state(void **state) {
    (void)state;
    for (int pages = SK_STATE_SMALL_PAGES; pages <= SK_STATE_HUGE_PAGES; pages++) {
        const pid_t child = fork();
        int status = -1;
        if (child == 0)
            _exit(lazy_state((enum sk_state_pages)pages));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

// ---- value sets of single parsers ----

static void test_value_set_apart(void **state) {
    (void)state;
    static const struct sk_field_desc key[] = {{.name = "f1", .width = 16, .match = SK_TERNARY}};
    static const struct sk_action_desc member = {.name = "member"};
    static const struct sk_action_desc *const only[] = {&member};
    static const struct sk_table_desc desc = {.name = "values",
                                              .keys = key,
                                              .n_keys = 1,
                                              .key_words = 1,
                                              .actions = only,
                                              .n_actions = 1,
                                              .const_default = true,
                                              .size = 2};
    const uint64_t five = 5, six = 6, seven = 7, all = 0xffff;
    struct sk_table *t = sk_table_new(&desc);
    assert_non_null(t);
    assert_int_equal(sk_table_add(t, &five, &all, 0, 0, NULL), SK_OK);
    assert_true(sk_value_set_has(t, 0, &five) && sk_value_set_has(t, 17, &five));
    assert_int_equal(sk_table_set_parsers(t, 18), SK_E_PARSERS); // it has a value
    assert_int_equal(sk_table_delete(t, &five, &all, 0), SK_OK);
    const uint64_t generation = sk_tables_generation();
    assert_int_equal(sk_table_set_parsers(t, 18), SK_OK);
    assert_int_not_equal(sk_tables_generation(), generation);
    assert_int_equal(sk_table_n_parsers(t), 18);
    assert_int_equal(sk_table_add(t, &five, &all, 0, 0, NULL), SK_E_PARSERS);
    struct sk_table *third = sk_table_of_parser(t, 3);
    assert_int_equal(sk_table_add(third, &five, &all, 0, 0, NULL), SK_OK);
    assert_int_equal(sk_table_add(third, &six, &all, 0, 0, NULL), SK_OK);
    assert_int_equal(sk_table_add(third, &seven, &all, 0, 0, NULL), SK_E_FULL); // each its own
    assert_int_equal(sk_table_add(sk_table_of_parser(t, 4), &seven, &all, 0, 0, NULL), SK_OK);
    for (unsigned parser = 0; parser < 20; parser++) {
        assert_int_equal(sk_value_set_has(t, parser, &five), parser == 3);
        assert_int_equal(sk_value_set_has(t, parser, &seven), parser == 4);
    }
    assert_int_equal(sk_table_set_parsers(t, 0), SK_E_PARSERS);
    assert_int_equal(sk_table_clear(third), SK_OK);
    assert_int_equal(sk_table_clear(sk_table_of_parser(t, 4)), SK_OK);
    assert_int_equal(sk_table_set_parsers(t, 0), SK_OK);
    assert_int_equal(sk_table_add(t, &six, &all, 0, 0, NULL), SK_OK);
    assert_true(sk_value_set_has(t, 11, &six) && !sk_value_set_has(t, 3, &five));
    sk_table_free(t);
}

// ---- tables that are filled as a whole ----

static const struct sk_field_desc number_param[] = {{.name = "value", .width = 16}};
static const struct sk_field_desc large_param[] = {{.name = "value", .width = 32}};
static const struct sk_action_desc set_number = {"pipe.Ig.set", number_param, 1, 1,
                                                 false,         false,        0};
static const struct sk_action_desc set_large = {"pipe.Ig.large", large_param, 1, 1,
                                                false,           false,       0};
static const struct sk_action_desc *const number_actions[] = {&set_number, &drop, &set_large};
static const struct sk_field_desc number_key[] = {{.name = "k", .width = 12, .match = SK_EXACT}};
static const uint64_t zero_data[1];
static const struct sk_table_desc numbers_desc = {.name = "numbers",
                                                  .keys = number_key,
                                                  .n_keys = 1,
                                                  .key_words = 1,
                                                  .actions = number_actions,
                                                  .n_actions = 3,
                                                  .default_data = zero_data,
                                                  .size = 4096};

static bool count_filled(void *aux, const struct sk_entry *e) {
    uint64_t *next = aux;
    assert_int_equal(*next, e->value[0]);
    assert_int_equal(e->value[0] * 3 + 1, e->data[0]);
    assert_int_equal(0, e->action);
    ++*next;
    return true;
}

static void test_filled(void **state) {
    static uint32_t values[4096];
    struct sk_table *t = sk_table_new(&numbers_desc), *same = sk_table_new(&numbers_desc);
    uint64_t next = 0;

    (void)state;
    for (uint32_t i = 0; i < 4096; i++)
        values[i] = i * 3 + 1;
    assert_int_equal(SK_OK, sk_table_fill(t, 0, values, 4000));
    assert_int_equal(SK_OK, sk_table_fill(same, 0, values, 4000));
    assert_ptr_equal(sk_filled_of(t)->values, sk_filled_of(same)->values); // two have one block
    sk_table_free(same);
    assert_int_equal(4000, sk_table_count(t));
    assert_true(sk_table_is_filled(t));
    assert_null(sk_lookup_flat(t)); // it has not all keys
    for (uint64_t key = 0; key < 4096; key++) {
        const struct sk_entry *e = sk_lookup_index(t, key), *w = sk_table_lookup(t, &key);
        assert_int_equal(key < 4000, e != NULL);
        assert_int_equal(key < 4000, w != NULL);
        if (e)
            assert_int_equal(key * 3 + 1, sk_entry_data(e, 1)[0]);
        if (w)
            assert_int_equal(key * 3 + 1, w->data[0]);
    }
    sk_table_each(t, count_filled, &next);
    assert_int_equal(4000, next);
    // again, while a reader may still see the old values; 32 bits
    values[5] = 0xfedcba98;
    assert_int_equal(SK_OK, sk_table_fill(t, 2, values, 6));
    sk_table_quiesce(t);
    assert_int_equal(6, sk_table_count(t));
    assert_int_equal(0xfedcba98, sk_entry_data(sk_lookup_index(t, 5), 1)[0]);
    assert_int_equal(2, sk_lookup_index(t, 5)->action);
    assert_null(sk_lookup_index(t, 6));
    // all keys: values are read where they stand
    assert_int_equal(SK_OK, sk_table_fill(t, 0, values + 6, 4090));
    assert_null(sk_lookup_flat(t));
    values[5] = 16;
    assert_int_equal(SK_OK, sk_table_fill(t, 0, values, 4096));
    const uint16_t *const narrow = sk_lookup_flat(t);
    assert_non_null(narrow);
    assert_int_equal(4095 * 3 + 1, narrow[4095]);
    values[5] = 0xfedcba98;
    assert_int_equal(SK_OK, sk_table_fill(t, 2, values, 4096));
    const uint32_t *const wide = sk_lookup_flat(t);
    assert_non_null(wide);
    assert_int_equal(0xfedcba98, wide[5]);
    // single changes only after it was cleared
    const uint64_t key = 3, data = 9;
    assert_int_equal(SK_E_FILLED, sk_table_add(t, &key, NULL, 0, 0, &data));
    assert_int_equal(SK_E_FILLED, sk_table_modify(t, &key, NULL, 0, 0, &data));
    assert_int_equal(SK_E_FILLED, sk_table_delete(t, &key, NULL, 0));
    assert_int_equal(SK_OK, sk_table_clear(t));
    assert_int_equal(0, sk_table_count(t));
    assert_false(sk_table_is_filled(t));
    assert_null(sk_lookup_flat(t));
    assert_null(sk_lookup_index(t, 3));
    assert_int_equal(SK_OK, sk_table_add(t, &key, NULL, 0, 0, &data));
    assert_int_equal(9, sk_entry_data(sk_lookup_index(t, 3), 1)[0]);
    assert_int_equal(SK_E_HAS_ENTRIES, sk_table_fill(t, 0, values, 4));
    sk_table_free(t);
}

// Of a group of two: how many are not filled with all keys, and where the numbers of each stand.
static void test_filled_told(void **state) {
    static uint32_t values[4096];
    struct sk_table *a = sk_table_new(&numbers_desc), *b = sk_table_new(&numbers_desc);
    const void *of_a = NULL, *of_b = NULL;
    unsigned unfilled = 0;

    (void)state;
    for (uint32_t i = 0; i < 4096; i++)
        values[i] = i;
    sk_table_tell_filled(a, &of_a, &unfilled);
    sk_table_tell_filled(b, &of_b, &unfilled);
    assert_int_equal(2, unfilled);
    assert_false(sk_all_filled(&unfilled));
    assert_int_equal(SK_OK, sk_table_fill(a, 0, values, 4095)); // not all keys
    assert_int_equal(2, unfilled);
    assert_int_equal(SK_OK, sk_table_fill(a, 0, values, 4096));
    assert_int_equal(1, unfilled);
    assert_ptr_equal(sk_lookup_flat(a), sk_filled_told(&of_a));
    assert_int_equal(SK_OK, sk_table_fill(b, 0, values, 4096));
    assert_true(sk_all_filled(&unfilled));
    // again, with other numbers: what was told before is there until readers have come to rest
    const uint16_t *const before = sk_filled_told(&of_b);
    values[7] = 9;
    assert_int_equal(SK_OK, sk_table_fill(b, 0, values, 4096));
    assert_true(sk_all_filled(&unfilled));
    assert_int_equal(7, before[7]);
    assert_int_equal(9, ((const uint16_t *)sk_filled_told(&of_b))[7]);
    sk_table_quiesce(b);
    assert_int_equal(SK_OK, sk_table_fill(b, 0, values, 10));
    assert_int_equal(1, unfilled);
    assert_int_equal(9, ((const uint16_t *)sk_filled_told(&of_b))[7]); // not null, and still there
    sk_table_quiesce(b);
    assert_int_equal(SK_OK, sk_table_clear(a));
    assert_int_equal(2, unfilled);
    sk_table_free(a);
    sk_table_free(b);
}

static void is_looked_up(const struct sk_numbers *n, const uint32_t *values, bool lines) {
    uint32_t keys[4096];
    assert_non_null(n);
    assert_int_equal(lines, n->lines != NULL);
    for (unsigned lanes = 1; lanes < 40; lanes++) {
        for (unsigned i = 0; i < lanes; i++)
            keys[i] = i * 1021 % 4096;
        keys[lanes] = 12345;
        sk_numbers_of(n, keys, lanes);
        for (unsigned i = 0; i < lanes; i++)
            assert_int_equal(values[i * 1021 % 4096], keys[i]);
        assert_int_equal(12345, keys[lanes]);
    }
    for (uint32_t i = 0; i < 4096; i++)
        keys[i] = i;
    sk_numbers_of(n, keys, 4096);
    assert_memory_equal(values, keys, sizeof keys);
}

// Two lanes have their numbers in common while both are filled with all keys, and alike; numbers on
// lines, by the upper bits of a key or by the lower ones, of 16 and of 32 bits, are what they were.
static void test_filled_lanes(void **state) {
    static uint32_t values[4096];
    struct sk_table *a = sk_table_new(&numbers_desc), *b = sk_table_new(&numbers_desc);
    const struct sk_numbers *common = NULL, *of[2] = {NULL};
    const struct sk_lane_numbers lanes = {&common, of, 2};

    (void)state;
    sk_table_tell_lanes(a, &lanes, 0);
    sk_table_tell_lanes(b, &lanes, 1);
    for (unsigned kind = 0; kind < 6; kind++) {
        const uint32_t action = kind % 2 ? 2 : 0; // of 32 bits, of 16
        for (uint32_t i = 0; i < 4096; i++)
            values[i] = kind < 2   ? (i >> 6) * 7 + (i & 63) * (i >> 10)
                        : kind < 4 ? 40000 - (i >> 6) * (i & 63) * 9
                                   : (i * 0x9e3779b1u) >> 20;
        assert_int_equal(SK_OK, sk_table_fill(a, action, values, 4096));
        assert_null(sk_numbers_told(&common));
        assert_int_equal(SK_OK, sk_table_fill(b, action, values, 4096));
        is_looked_up(sk_numbers_told(&common), values, kind < 4);
        values[4095] ^= 1;
        assert_int_equal(SK_OK, sk_table_fill(a, action, values, 4096));
        assert_null(sk_numbers_told(&common));
        assert_int_equal(SK_OK, sk_table_fill(b, action, values, 4096));
        is_looked_up(sk_numbers_told(&common), values, false);
        assert_int_equal(SK_OK, sk_table_fill(b, action, values, 4095));
        assert_null(sk_numbers_told(&common));
        sk_table_quiesce(a);
        sk_table_quiesce(b);
    }
    assert_int_equal(SK_OK, sk_table_fill(b, 0, values, 4096));
    assert_int_equal(SK_OK, sk_table_fill(a, 0, values, 4096));
    assert_non_null(sk_numbers_told(&common));
    assert_int_equal(SK_OK, sk_table_clear(b));
    assert_null(sk_numbers_told(&common));
    sk_table_free(a);
    sk_table_free(b);
}

static void test_filled_refusals(void **state) {
    static const uint32_t values[4097] = {1, 65536};
    struct sk_table_desc d = numbers_desc;

    (void)state;
    assert_true(sk_table_may_be_filled(&d, 0));
    assert_false(sk_table_may_be_filled(&d, 1)); // no parameter
    assert_false(sk_table_may_be_filled(&d, 3)); // no such action
#define NOT_WITH(member, value)                                                                    \
    do {                                                                                           \
        struct sk_table_desc other = numbers_desc;                                                 \
        other.member = value;                                                                      \
        assert_false(sk_table_may_be_filled(&other, 0));                                           \
    } while (0)
    NOT_WITH(has_counter, true);
    NOT_WITH(meter_kind, 1);
    NOT_WITH(idle_timeout, true);
    NOT_WITH(direct_words, 1);
    NOT_WITH(const_entries, true);
    NOT_WITH(key_masks, true);
    NOT_WITH(is_profile, true);
    struct sk_table *t = sk_table_new(&d);
    assert_int_equal(SK_E_ACTION, sk_table_fill(t, 1, values, 1));
    assert_int_equal(SK_E_KEY, sk_table_fill(t, 0, values, 0));
    assert_int_equal(SK_E_KEY, sk_table_fill(t, 2, values, 4097));
    assert_int_equal(SK_E_DATA, sk_table_fill(t, 0, values, 2)); // 65,536 in 16 bits
    assert_int_equal(0, sk_table_count(t));
    sk_table_free(t);
    d.size = 10;
    t = sk_table_new(&d);
    assert_int_equal(SK_E_FULL, sk_table_fill(t, 2, values, 11));
    sk_table_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filled),
        cmocka_unit_test(test_filled_told),
        cmocka_unit_test(test_filled_lanes),
        cmocka_unit_test(test_filled_refusals),
        cmocka_unit_test(test_state_too_large),
        cmocka_unit_test(test_lazy_state),
        cmocka_unit_test(test_equals_a_searched_list),
        cmocka_unit_test(test_keys_in_one_word),
        cmocka_unit_test(test_all_hashes_equal),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_const_entries),
        cmocka_unit_test(test_modify_keeps_state),
        cmocka_unit_test(test_ternary_readers_meanwhile),
        cmocka_unit_test(test_lpm_readers_meanwhile),
        cmocka_unit_test(test_exact_readers_meanwhile),
        cmocka_unit_test(test_growing_equals_a_map),
        cmocka_unit_test(test_growing_is_bounded),
        cmocka_unit_test(test_value_set_apart),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
