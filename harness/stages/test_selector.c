// SPDX-License-Identifier: Apache-2.0
//
// Groups of action selectors: random changes against a plain model, the fairness of the choice, and
// that a resilient group moves only the packets of the member that goes down.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "harness/hosts/random.h"
#include "stages/selector.h"

#define MEMBERS 12
#define GROUPS  6
#define PLACES  8

static const struct sk_field_desc id_key[] = {
    {.name = "$ACTION_MEMBER_ID", .width = 32, .match = SK_EXACT}};
static const struct sk_field_desc port[] = {{.name = "port", .width = 9}};
static const struct sk_action_desc send = {
    .name = "send", .params = port, .n_params = 1, .data_words = 1};
static const struct sk_action_desc drop = {.name = "drop"};
static const struct sk_action_desc none = {.name = "none", .default_only = true};
static const struct sk_action_desc *const member_actions[] = {&send, &drop, &none};
static const uint64_t no_data[1];
static const struct sk_table_desc profile = {.name = "profile",
                                             .keys = id_key,
                                             .n_keys = 1,
                                             .key_words = 1,
                                             .actions = member_actions,
                                             .n_actions = 3,
                                             .default_action = 2,
                                             .default_data = no_data,
                                             .const_default = true,
                                             .is_profile = true,
                                             .size = 4096};
static const struct sk_selector_desc fair = {.name = "fair",
                                             .profile = &profile,
                                             .mode = SK_SELECT_FAIR,
                                             .max_group_size = PLACES,
                                             .n_groups = GROUPS - 1,
                                             .hash_bits = 16};
static const struct sk_selector_desc steady = {.name = "steady",
                                               .profile = &profile,
                                               .mode = SK_SELECT_RESILIENT,
                                               .max_group_size = 1000,
                                               .n_groups = 4,
                                               .hash_bits = 32};
static const struct sk_field_desc number[] = {{.name = "n", .width = 16, .match = SK_EXACT}};
static const struct sk_action_desc *const table_actions[] = {&none, &sk_member_reference,
                                                             &sk_group_reference};
static const struct sk_table_desc table_desc = {.name = "table",
                                                .keys = number,
                                                .n_keys = 1,
                                                .key_words = 1,
                                                .actions = table_actions,
                                                .n_actions = 3,
                                                .default_data = no_data,
                                                .size = 100,
                                                .profile = &profile,
                                                .selector = &fair};

struct rig {
    struct sk_table *members, *table;
    struct sk_selector *groups;
};

static struct rig rig_new(const struct sk_selector_desc *d) {
    struct rig r = {.members = sk_table_new(&profile), .table = sk_table_new(&table_desc)};
    r.groups = sk_selector_new(d, r.members);
    assert_true(r.members && r.table && r.groups);
    sk_table_attach(r.table, r.members, r.groups);
    return r;
}

static void rig_free(struct rig *r) {
    sk_table_free(r->table);
    sk_selector_free(r->groups);
    sk_table_free(r->members);
}

static int set_member(struct rig *r, uint64_t id, uint32_t action) {
    const uint64_t data[1] = {id};
    int rc = sk_table_add(r->members, &id, NULL, 0, action, data);
    return rc == SK_E_EXISTS ? sk_table_modify(r->members, &id, NULL, 0, action, data) : rc;
}

// ---- random changes against a model ----

struct model {
    int action[MEMBERS]; // -1: there is no such member
    struct {
        bool used;
        uint32_t n;
        struct sk_group_member m[PLACES + 1];
    } group[GROUPS];
    int entry[20]; // what an entry names: -1 nothing, a member, or 100 + a group
};

static unsigned named(const struct model *m, int what) {
    unsigned n = 0;
    for (int i = 0; i < 20; i++)
        n += m->entry[i] == what;
    return n;
}

static unsigned in_groups(const struct model *m, uint32_t id) {
    unsigned n = 0;
    for (int g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; m->group[g].used && i < m->group[g].n; i++)
            n += m->group[g].m[i].member == id;
    return n;
}

static uint32_t up(const struct sk_group_member *m, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += m[i].up;
    return count;
}

// May the group have these members? The rules of selector.h, in their words.
static bool may_be(const struct model *m, int g, const struct sk_group_member *list, uint32_t n) {
    if (n > PLACES)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (m->action[list[i].member] < 0 || m->action[list[i].member] != m->action[list[0].member])
            return false;
    if (!m->group[g].used || named(m, 100 + g) == 0)
        return true;
    return up(list, n) > 0 && m->action[list[0].member] == m->action[m->group[g].m[0].member];
}

static void change_group(struct rig *r, struct model *m, struct sk_random *seed) {
    struct sk_group_member list[PLACES + 1];
    int g = (int)sk_random_below(seed, GROUPS), groups = 0;
    uint32_t n = (uint32_t)sk_random_below(seed, PLACES + 2);
    for (uint32_t i = 0; i < n; i++)
        list[i] = (struct sk_group_member){(uint32_t)sk_random_below(seed, MEMBERS),
                                           sk_random_below(seed, 3) > 0};
    for (int i = 0; i < GROUPS; i++)
        groups += m->group[i].used;
    bool ok = may_be(m, g, list, n);
    int rc;
    if (m->group[g].used) {
        rc = sk_selector_modify(r->groups, (uint32_t)g, 0, list, n);
    } else {
        rc = sk_selector_add(r->groups, (uint32_t)g, 0, list, n);
        ok = ok && groups < GROUPS - 1;
    }
    assert_int_equal(rc == SK_OK, ok);
    if (!ok)
        return;
    m->group[g].used = true;
    m->group[g].n = n;
    memcpy(m->group[g].m, list, sizeof list);
}

static void change_entry(struct rig *r, struct model *m, struct sk_random *seed) {
    uint64_t at = sk_random_below(seed, 20);
    bool group = sk_random_below(seed, 2);
    int id = (int)sk_random_below(seed, group ? GROUPS : MEMBERS);
    if (m->entry[at] >= 0 && sk_random_below(seed, 2)) {
        assert_int_equal(sk_table_delete(r->table, &at, NULL, 0), SK_OK);
        m->entry[at] = -1;
        return;
    }
    const uint64_t data[1] = {(uint64_t)id};
    bool ok =
        group ? m->group[id].used && up(m->group[id].m, m->group[id].n) > 0 : m->action[id] >= 0;
    int rc = (m->entry[at] < 0 ? sk_table_add : sk_table_modify)(r->table, &at, NULL, 0,
                                                                 group ? 2 : 1, data);
    assert_int_equal(rc == SK_OK, ok);
    if (ok)
        m->entry[at] = group ? 100 + id : id;
}

static void change_member(struct rig *r, struct model *m, struct sk_random *seed) {
    uint64_t id = sk_random_below(seed, MEMBERS);
    if (sk_random_below(seed, 2)) {
        bool ok = m->action[id] >= 0 && !named(m, (int)id) && !in_groups(m, (uint32_t)id);
        assert_int_equal(sk_table_delete(r->members, &id, NULL, 0) == SK_OK, ok);
        if (ok)
            m->action[id] = -1;
        return;
    }
    uint32_t action = sk_random_below(seed, 4) == 0;
    bool ok = !in_groups(m, (uint32_t)id) || m->action[id] == (int)action;
    assert_int_equal(set_member(r, id, action) == SK_OK, ok);
    if (ok)
        m->action[id] = (int)action;
}

static void remove_group(struct rig *r, struct model *m, struct sk_random *seed) {
    int g = (int)sk_random_below(seed, GROUPS);
    bool ok = m->group[g].used && !named(m, 100 + g);
    assert_int_equal(sk_selector_delete(r->groups, (uint32_t)g) == SK_OK, ok);
    if (ok)
        m->group[g].used = false;
}

static void compare_choice(const struct rig *r, const struct model *m, struct sk_random *seed) {
    int g = (int)sk_random_below(seed, GROUPS);
    uint64_t hash = sk_random_below(seed, 1 << 16);
    uint32_t got, n = m->group[g].used ? up(m->group[g].m, m->group[g].n) : 0;
    assert_int_equal(sk_selector_choose(r->groups, (uint32_t)g, hash, &got), n > 0);
    if (n == 0)
        return;
    uint64_t want = (hash & 0x3fff) % n;
    for (uint32_t i = 0; i < m->group[g].n; i++)
        if (m->group[g].m[i].up && want-- == 0)
            assert_int_equal(got, m->group[g].m[i].member);
}

static void test_random(void **state) {
    (void)state;
    for (uint64_t run = 1; run <= 20; run++) {
        struct sk_random seed = sk_random_seeded(run);
        struct rig r = rig_new(&fair);
        struct model m;
        memset(&m, 0, sizeof m);
        memset(m.action, 0xff, sizeof m.action);
        memset(m.entry, 0xff, sizeof m.entry);
        for (int step = 0; step < 2000; step++) {
            void (*const changes[])(struct rig *, struct model *, struct sk_random *) = {
                change_group, change_entry, change_member, remove_group, change_member};
            changes[sk_random_below(&seed, 5)](&r, &m, &seed);
            compare_choice(&r, &m, &seed);
            if (step % 64 == 0) {
                sk_selector_quiesce(r.groups);
                sk_table_quiesce(r.table);
                sk_table_quiesce(r.members);
            }
        }
        rig_free(&r);
    }
}

// ---- fairness and resilience ----

static void fill(struct rig *r, struct sk_group_member *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(set_member(r, i, 0), SK_OK);
        list[i] = (struct sk_group_member){i, true};
    }
    assert_int_equal(sk_selector_add(r->groups, 1, 0, list, n), SK_OK);
}

// All hashes of 16 bits: each of n members gets 1/n of them, up to one share of the rest.
static void test_fair(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= PLACES; n++) {
        struct rig r = rig_new(&fair);
        struct sk_group_member list[PLACES];
        uint32_t counts[PLACES] = {0}, got;
        fill(&r, list, n);
        for (uint64_t hash = 0; hash < 1 << 16; hash++) {
            assert_true(sk_selector_choose(r.groups, 1, hash, &got));
            counts[got]++;
        }
        for (uint32_t i = 0; i < n; i++)
            assert_in_range(counts[i], 4 * (16384 / n), 4 * (16384 / n + 1));
        rig_free(&r);
    }
}

static void resilience(uint32_t n, uint32_t hashes, uint32_t slack) {
    struct rig r = rig_new(&steady);
    struct sk_group_member list[1000];
    static uint32_t before[60000], counts[1000];
    uint32_t got;
    memset(counts, 0, sizeof counts);
    fill(&r, list, n);
    for (uint32_t h = 0; h < hashes; h++) {
        assert_true(sk_selector_choose(r.groups, 1, h, &before[h]));
        counts[before[h]]++;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_in_range(counts[i], hashes / n - slack, hashes / n + slack);
    // half of the members go down one after the other: only packets of the one that goes move
    for (uint32_t down = 0; down < n / 2; down++) {
        list[2 * down].up = false;
        assert_int_equal(sk_selector_modify(r.groups, 1, 0, list, n), SK_OK);
        sk_selector_quiesce(r.groups);
        for (uint32_t h = 0; h<hashes; h += n> 200 ? 7 : 1) {
            assert_true(sk_selector_choose(r.groups, 1, h, &got));
            assert_true(list[got].up);
            if (list[before[h]].up)
                assert_int_equal(got, before[h]);
        }
    }
    // and come back with it
    for (uint32_t i = 0; i < n; i++)
        list[i].up = true;
    assert_int_equal(sk_selector_modify(r.groups, 1, 0, list, n), SK_OK);
    for (uint32_t h = 0; h < hashes; h++) {
        assert_true(sk_selector_choose(r.groups, 1, h, &got));
        assert_int_equal(got, before[h]);
    }
    rig_free(&r);
}

static void test_resilient(void **state) {
    (void)state;
    resilience(8, 16384, 1);     // the low 14 bits: exact shares
    resilience(100, 16384, 2);   //
    resilience(300, 60000, 100); // mixed: 200 each, within seven standard deviations
}

// ---- memory -------------------------------------------------------------------------------------

#define LINES 1024u

static uint8_t cells[2 * LINES * 128]; // every other one is somebody else's

static struct rig rig_with_memory(const struct sk_selector_desc *d) {
    struct rig r = rig_new(d);
    memset(cells, 0, sizeof cells);
    assert_true(sk_selector_set_memory(r.groups, cells, 2));
    for (uint64_t id = 1; id <= 5; id++)
        assert_int_equal(set_member(&r, id, 0), SK_OK);
    return r;
}

static uint32_t index_in(const struct rig *r, uint32_t group, uint32_t i) {
    const struct sk_group *g = sk_selector_find(r->groups, group);
    assert_non_null(g);
    assert_true(i < g->n);
    return g->index[i];
}

// Each group's first line, by the rule of selector_bits.h with pen and paper.
static void test_lines(void **state) {
    (void)state;
    static const struct sk_selector_desc d = {.name = "lines",
                                              .profile = &profile,
                                              .max_group_size = 119040,
                                              .n_groups = 50,
                                              .hash_bits = 14,
                                              .lines = LINES};
    static const struct {
        uint32_t id, size, line; // size 0: the group goes
        int result;
    } steps[] = {
        {1, 360, 1020, SK_OK}, // 3 lines, aligned to 4
        {2, 120, 1023, SK_OK}, // the smallest block is the line behind
        {3, 121, 1018, SK_OK}, // 0 to 1019 are free: the last two
        {4, 360, 1012, SK_OK}, // 0 to 1017: 1016 has no three lines left
        {5, 1, 1015, SK_OK},   // 1015, 1016 and 1017 are free: a block of one, a block of two
        {1, 0, 0, SK_OK},
        {6, 1, 1017, SK_OK}, // 1016 and 1017, and 1020 to 1022: two lines are the smallest block
        {7, 1, 1016, SK_OK},
        {8, 1, 1022, SK_OK},   // of the block of three at 1020
        {9, 119040, 0, SK_OK}, // 992 lines of 0 to 1011
        {10, 61440, 0, SK_E_LINES},
        {11, 2400, 992, SK_OK}, // 20 lines, all of 992 to 1011
        {12, 240, 1020, SK_OK},
        {13, 1, 0, SK_E_LINES},
    };
    struct rig r = rig_with_memory(&d);
    const struct sk_group_member one = {1, true};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].size == 0) {
            assert_int_equal(sk_selector_delete(r.groups, steps[i].id), SK_OK);
            continue;
        }
        assert_int_equal(sk_selector_add(r.groups, steps[i].id, steps[i].size, &one, 1),
                         steps[i].result);
        if (steps[i].result)
            continue;
        assert_int_equal(index_in(&r, steps[i].id, 0), steps[i].line * 128);
        assert_true(sk_selector_bit(r.groups, steps[i].line * 128));
    }
    for (size_t i = 0; i < sizeof cells; i++)
        assert_true(cells[i] == 0 || (i % 2 == 0 && i / 2 % 128 == 0));
    rig_free(&r);
}

// A place and a bit for each share while a group changes, and what the data plane wrote.
static void test_places(void **state) {
    (void)state;
    static const struct sk_selector_desc d = {.name = "places",
                                              .profile = &profile,
                                              .max_group_size = 8,
                                              .n_groups = 4,
                                              .hash_bits = 14,
                                              .lines = LINES};
    struct rig r = rig_with_memory(&d);
    const struct sk_group_member first[] = {{5, true}, {2, false}, {5, true}, {3, true}};
    const uint32_t line = 1023 * 128;
    assert_int_equal(sk_selector_add(r.groups, 1, 0, first, 4), SK_OK);
    const uint32_t places[] = {0, 2, 1, 3}; // 5 5 2 3
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(index_in(&r, 1, i), line + places[i]);
    assert_true(sk_selector_bit(r.groups, line) && sk_selector_bit(r.groups, line + 1));
    assert_false(sk_selector_bit(r.groups, line + 2));
    cells[2 * (line + 3)] = 0; // the data plane takes 3 down, one share of 5, and 2 up
    cells[2 * (line + 1)] = 0;
    cells[2 * (line + 2)] = 1;
    // 5 loses its first share to the last one, 3, whose bit is written anew; 4 comes behind
    const struct sk_group_member next[] = {{4, true}, {3, true}, {2, false}, {5, true}};
    assert_int_equal(sk_selector_may_modify(r.groups, 1, 0, next, 4), SK_OK);
    assert_int_equal(index_in(&r, 1, 3), line + 3);
    assert_int_equal(sk_selector_modify(r.groups, 1, 0, next, 4), SK_OK);
    const uint32_t now[] = {3, 0, 2, 1}; // 3 5 2 4
    const bool bits[] = {true, false, true, true};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(index_in(&r, 1, i), line + now[i]);
        assert_int_equal(sk_selector_bit(r.groups, line + i), bits[i]);
    }
    sk_selector_quiesce(r.groups);
    assert_int_equal(sk_selector_clear(r.groups), SK_OK);
    for (size_t i = 0; i < sizeof cells; i++)
        assert_int_equal(cells[i], 0);
    rig_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),    cmocka_unit_test(test_fair),
        cmocka_unit_test(test_resilient), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
