// SPDX-License-Identifier: Apache-2.0
//
// program: a compiled P4 program in memory. See program.h.
//
// The object is code of ours that the C compiler translated a moment ago, but it may be a stale or
// truncated file, or one of another version: the loader looks at everything the engine and the
// control plane will index with before it hands the description out.
#include "pipeline/program.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sk_program {
    void *object; // null: of several
    const struct sk_program_desc *desc;
    struct program_joined *joined;
};

struct program_joined {
    struct sk_program_desc desc;
    const struct sk_pipeline_desc *pipelines[SK_PIPES];
    struct sk_program *parts[SK_PIPES];
    char *path; // the parts' paths
    size_t n;
};

struct check {
    const char *path;
    char *error;
    size_t error_size;
};

static bool program_fail(const struct check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static bool program_fail(const struct check *c, const char *fmt, ...) {
    if (c->error_size == 0)
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->error, c->error_size, fmt, ap);
    va_end(ap);
    return false;
}

static bool broken(const struct check *c, const char *what) {
    return program_fail(c, "%s: not a program this version can run: %s", c->path, what);
}

static bool program_check_action(const struct check *c, const struct sk_action_desc *a) {
    if (!a || !a->name || (a->n_params && !a->params))
        return broken(c, "an action has no name or parameters");
    uint32_t words = 0;
    for (uint32_t i = 0; i < a->n_params; i++) {
        if (!a->params[i].name || a->params[i].width == 0)
            return broken(c, "an action parameter has no name or width");
        words += sk_words(a->params[i].width);
    }
    if (words != a->data_words || words > SK_MAX_DATA_WORDS)
        return broken(c, "an action's data has a wrong size");
    return true;
}

static bool program_check_table(const struct check *c, const struct sk_table_desc *t) {
    if (!t || !t->name || (t->n_keys && !t->keys) || (t->n_entries && !t->entries))
        return broken(c, "a table has no name, keys or entries");
    uint32_t words = 0;
    for (uint32_t i = 0; i < t->n_keys; i++) {
        if (!t->keys[i].name || t->keys[i].width == 0 || t->keys[i].match > SK_RANGE)
            return broken(c, "a table key has no name or width");
        words += sk_words(t->keys[i].width);
    }
    if (words != t->key_words || words > SK_MAX_KEY_WORDS)
        return broken(c, "a table's key has a wrong size");
    if (!t->actions || t->default_action >= t->n_actions)
        return broken(c, "a table has no default action");
    for (uint32_t i = 0; i < t->n_actions; i++)
        if (!program_check_action(c, t->actions[i]))
            return false;
    for (uint32_t i = 0; i < t->n_entries; i++)
        if (t->entries[i].action >= t->n_actions)
            return broken(c, "a table entry has no action");
    return true;
}

static bool check_pipeline(const struct check *c, const struct sk_pipeline_desc *p) {
    if (!p || !p->name || !p->ingress || !p->egress || !p->pipe_new || !p->pipe_free)
        return broken(c, "a pipeline is incomplete");
    if ((p->n_tables && (!p->tables || !p->table)) ||
        (p->n_registers && (!p->registers || !p->register_read || !p->register_write)) ||
        (p->n_counters && (!p->counters || !p->counter)) ||
        (p->n_meters && (!p->meters || !p->meter)) ||
        (p->n_value_sets && (!p->value_sets || !p->value_set)))
        return broken(c, "a pipeline's list of objects is incomplete");
    if (p->n_digests && !p->digests)
        return broken(c, "a pipeline's list of digests is incomplete");
    for (uint32_t i = 0; i < p->n_digests; i++) {
        uint32_t bits = 0;
        for (uint32_t k = 0; k < p->digests[i].n_fields; k++)
            bits += p->digests[i].fields[k].width;
        if (!p->digests[i].name || bits == 0 || bits > 8 * SK_DIGEST_BYTES)
            return broken(c, "a digest has no name or a wrong size");
    }
    uint32_t port_bits = 0;
    for (uint32_t i = 0; i < p->n_port_fields; i++) {
        if (!p->port_fields || !p->port_fields[i].name || p->port_fields[i].width == 0)
            return broken(c, "a field of the port metadata has no name or width");
        port_bits += p->port_fields[i].width;
        if (port_bits > 8 * SK_INGRESS_PREFIX_2)
            return broken(c, "port metadata is too long");
    }
    for (uint32_t i = 0; i < p->n_tables; i++)
        if (!program_check_table(c, p->tables[i]))
            return false;
    for (uint32_t i = 0; i < p->n_registers; i++)
        if (!p->registers[i].name || p->registers[i].words < 1 || p->registers[i].words > 2)
            return broken(c, "a register has no name or words");
    for (uint32_t i = 0; i < p->n_counters; i++)
        if (!p->counters[i].name)
            return broken(c, "a counter has no name");
    for (uint32_t i = 0; i < p->n_value_sets; i++)
        if (!p->value_sets[i].name || !p->value_sets[i].keys)
            return broken(c, "a value set has no name or keys");
    return true;
}

static bool program_check_program(const struct check *c, const struct sk_program_desc *d) {
    if (!d)
        return broken(c, "it has no description");
    if (d->abi_version != SK_ABI_VERSION)
        return program_fail(
            c,
            "%s: compiled for another version of Silken (interface %u, not %u); compile "
            "the P4 program again",
            c->path, d->abi_version, SK_ABI_VERSION);
    if ((d->ingress_prefix != SK_INGRESS_PREFIX && d->ingress_prefix != SK_INGRESS_PREFIX_2) ||
        (d->egress_prefix != SK_EGRESS_PREFIX && d->egress_prefix != SK_EGRESS_PREFIX_2))
        return broken(c, "no chip emits that many bytes before a packet");
    if (!d->path || !d->pipelines || d->n_pipelines < 1 || d->n_pipelines > SK_PIPES)
        return broken(c, "it has no pipelines");
    for (uint32_t i = 0; i < d->n_pipelines; i++)
        if (!check_pipeline(c, d->pipelines[i]))
            return false;
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (d->pipe_of[i] >= d->n_pipelines)
            return broken(c, "a pipe has no pipeline");
    return true;
}

struct sk_program *sk_program_load(const char *path, char *error, size_t error_size) {
    struct check c = {path ? path : "the running program", error, error_size};
    // A name without a slash would be looked for among the system's libraries.
    char local[4096];
    bool bare = path && !strchr(path, '/');
    if (bare && snprintf(local, sizeof local, "./%s", path) >= (int)sizeof local) {
        program_fail(&c, "%s: the path is too long", path);
        return NULL;
    }
    void *object = dlopen(bare ? local : path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        program_fail(&c, "cannot load the compiled program: %s", dlerror());
        return NULL;
    }
    // The cast that POSIX asks for (dlsym's rationale): ISO C has none from object to function.
    const struct sk_program_desc *(*describe)(void);
    *(void **)&describe = dlsym(object, SK_PROGRAM_SYMBOL);
    if (!describe) {
        program_fail(&c, "%s: not a compiled P4 program (no %s in it)", c.path, SK_PROGRAM_SYMBOL);
        dlclose(object);
        return NULL;
    }
    const struct sk_program_desc *desc = describe();
    struct sk_program *p = program_check_program(&c, desc) ? malloc(sizeof *p) : NULL;
    if (!p) {
        dlclose(object);
        return NULL;
    }
    *p = (struct sk_program){.object = object, .desc = desc};
    return p;
}

// ---- several programs ----

bool sk_program_name_is_good(const char *name) {
    const size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    return n > 0 && n <= SK_PROGRAM_NAME;
}

// What the chip, or the ports of all pipes, can be in one way only.
static bool program_fits(const struct check *c, const struct sk_program_desc *a, const char *a_name,
                         const struct sk_program_desc *b, const char *b_name) {
    if (a->ingress_prefix != b->ingress_prefix || a->egress_prefix != b->egress_prefix)
        return program_fail(c, "programs '%s' and '%s' are for different chips", a_name, b_name);
    if (a->invariant_crc != b->invariant_crc)
        return program_fail(c,
                            "programs '%s' and '%s' cannot run on one switch: ports make the "
                            "invariant CRC of RoCEv2 for one of them only",
                            a_name, b_name);
    return true;
}

// Names of tables begin with a pipeline's, and are to mean one thing.
static bool program_pipelines_differ(const struct check *c, const struct sk_program_desc *a,
                                     const char *a_name, const struct sk_program_desc *b,
                                     const char *b_name) {
    for (uint32_t i = 0; i < a->n_pipelines; i++)
        for (uint32_t k = 0; k < b->n_pipelines; k++)
            if (strcmp(a->pipelines[i]->name, b->pipelines[k]->name) == 0)
                return program_fail(c,
                                    "programs '%s' and '%s' both have a pipeline '%s'; on one "
                                    "switch names of pipelines differ",
                                    a_name, b_name, a->pipelines[i]->name);
    return true;
}

// Pipeline 'pipeline' of a part in the joined program, which it is put into where it is not yet.
static uint32_t program_place(struct program_joined *j, struct sk_program_place place,
                              const struct sk_pipeline_desc *pipeline) {
    struct sk_program_desc *d = &j->desc;
    for (uint32_t i = 0; i < d->n_pipelines; i++)
        if (d->program_of[i] == place.part && j->pipelines[i] == pipeline)
            return i;
    j->pipelines[d->n_pipelines] = pipeline;
    d->program_of[d->n_pipelines] = place.part;
    return d->n_pipelines++;
}

static bool program_place_all(const struct check *c, struct program_joined *j,
                              struct sk_program *const *parts, const char *const *names, size_t n,
                              const struct sk_program_place *places) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct sk_program_place at = places[pipe];
        if (at.part >= n || at.pipeline >= parts[at.part]->desc->n_pipelines)
            return program_fail(c, "pipe %u is given no program", pipe);
        j->desc.pipe_of[pipe] =
            (uint8_t)program_place(j, at, parts[at.part]->desc->pipelines[at.pipeline]);
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < parts[i]->desc->n_pipelines; k++) {
            unsigned pipe = 0;
            while (pipe < SK_PIPES && (places[pipe].part != i || places[pipe].pipeline != k))
                pipe++;
            if (pipe == SK_PIPES)
                return program_fail(c, "pipeline '%s' of program '%s' is given no pipe",
                                    parts[i]->desc->pipelines[k]->name, names[i]);
        }
    return true;
}

static bool program_is_joinable(const struct check *c, struct sk_program *const *parts,
                                const char *const *names, size_t n) {
    if (n < 2 || n > SK_PIPES)
        return program_fail(c, "a switch runs one to %u programs, not %zu", SK_PIPES, n);
    for (size_t i = 1; i < n; i++)
        if (!program_fits(c, parts[0]->desc, names[0], parts[i]->desc, names[i]))
            return false;
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return program_fail(c, "two programs are called '%s'", names[i]);
            else if (!program_pipelines_differ(c, parts[k]->desc, names[k], parts[i]->desc,
                                               names[i]))
                return false;
    return true;
}

// 'j->n' of the parts are its own; null allowed.
static void program_joined_free(struct program_joined *j) {
    for (size_t i = 0; j && i < j->n; i++)
        sk_program_free(j->parts[i]);
    if (j)
        free(j->path);
    free(j);
}

static bool program_join_paths(struct program_joined *j, size_t n) {
    size_t length = 1;
    for (size_t i = 0; i < n; i++)
        length += strlen(j->parts[i]->desc->path) + 2;
    if (!(j->path = calloc(1, length)))
        return false;
    for (size_t i = 0; i < n; i++)
        strcat(strcat(j->path, i ? ", " : ""), j->parts[i]->desc->path);
    return true;
}

static void program_join_describe(struct program_joined *j, size_t n) {
    const struct sk_program_desc *first = j->parts[0]->desc;
    j->desc.abi_version = SK_ABI_VERSION;
    j->desc.path = j->path;
    j->desc.ingress_prefix = first->ingress_prefix;
    j->desc.egress_prefix = first->egress_prefix;
    j->desc.invariant_crc = first->invariant_crc;
    for (size_t i = 0; i < n; i++)
        j->desc.single_packets |= j->parts[i]->desc->single_packets;
    j->desc.pipelines = j->pipelines;
    j->desc.n_programs = (uint32_t)n;
}

struct sk_program *sk_program_join(struct sk_program *const *parts, const char *const *names,
                                   size_t n, const struct sk_program_place places[SK_PIPES],
                                   char *error, size_t error_size) {
    const struct check c = {"", error, error_size};
    if (!program_is_joinable(&c, parts, names, n))
        return NULL;
    struct sk_program *p = calloc(1, sizeof *p);
    struct program_joined *j = calloc(1, sizeof *j);
    const bool room = p && j;
    bool good = room && program_place_all(&c, j, parts, names, n, places);
    if (good) {
        memcpy(j->parts, parts, n * sizeof *parts);
        good = program_join_paths(j, n);
    }
    if (good) {
        program_join_describe(j, n);
        j->n = n;
        *p = (struct sk_program){.desc = &j->desc, .joined = j};
        return p;
    }
    if (!room || j->parts[0])
        program_fail(&c, "not enough memory for %zu programs", n);
    program_joined_free(j);
    free(p);
    return NULL;
}

void sk_program_free(struct sk_program *p) {
    if (!p)
        return;
    if (p->joined)
        program_joined_free(p->joined);
    else
        dlclose(p->object);
    free(p);
}

const struct sk_program_desc *sk_program_desc(const struct sk_program *p) {
    return p->desc;
}
