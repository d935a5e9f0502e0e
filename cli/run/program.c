// SPDX-License-Identifier: Apache-2.0
//
// program: the program of a running switch replaced: compiled by a process of its own while packets
// flow, filled with what the old one has under the same names (control/tables/carry.h), and
// exchanged between two bursts.
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "brt/brt.h"
#include "cli/cli.h"
#include "control/tables/carry.h"
#include "control/config/change.h"
#include "control/config/ports.h"
#include "control/tor/tor.h"
#include "pipeline/switch/core.h"

#define FORGET_NS UINT64_C(10000000000) // a compilation that nobody asks for any more

// ---- what is compiled ----

struct run_source {
    struct compile_options opt; // its texts and lists are our own
    struct run_description description;
    char *folder; // in which only opt.path is, both ours; or null
    char *name;   // of the program; null: as its file
    // Of several: where the program is. Without profiles its pipelines are where it puts them.
    uint8_t pipes; // bits
    struct brt_profile profiles[SK_PIPES];
    size_t n_profiles;
    struct run_source *next; // of the switch's several programs; or null
};

static struct run_source *source_of_config(const struct run *r, const struct sk_config *config,
                                           char *path) {
    struct run_source *s = calloc(1, sizeof *s);
    char **include = calloc(config->n_include + 1, sizeof *include),
         **define = calloc(config->n_define + 1, sizeof *define);
    if (!s || !include || !define)
        abort();
    for (size_t i = 0; i < config->n_include; i++)
        include[i] = run_beside_config(r, config->include[i]);
    for (size_t i = 0; i < config->n_define; i++)
        define[i] = sk_copy_text(config->define[i]);
    s->opt = (struct compile_options){.path = path,
                                      .include_dirs = (const char *const *)include,
                                      .n_include_dirs = config->n_include,
                                      .defines = (const char *const *)define,
                                      .n_defines = config->n_define,
                                      .target = r->opt.target};
    return s;
}

// As the configuration says, or with another file.
struct run_source *run_source_new(const struct run *r, const struct sk_config *config,
                                  const char *path) {
    struct run_source *first = NULL, **last = &first;
    if (path || !config->n_programs)
        return source_of_config(r, config,
                                path ? sk_copy_text(path) : run_beside_config(r, config->program));
    for (size_t i = 0; i < config->n_programs; i++) {
        const struct sk_config_program *p = &config->programs[i];
        *last = source_of_config(r, config, run_beside_config(r, p->program));
        (*last)->name = p->name ? sk_copy_text(p->name) : NULL;
        (*last)->pipes = p->pipes;
        last = &(*last)->next;
    }
    return first;
}

static void program_remove_text(char *folder, const char *path) {
    if (folder) {
        unlink(path);
        rmdir(folder);
    }
    free(folder);
}

static bool program_write_text(const char *path, const uint8_t *text, size_t n) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t written = 0;
    for (size_t at = 0; fd >= 0 && written >= 0 && at < n; at += (size_t)written)
        written = write(fd, text + at, n - at);
    return fd >= 0 && close(fd) == 0 && written >= 0;
}

static struct run_source *source_of_text(const struct run *r, const char *name, const uint8_t *text,
                                         size_t n, struct sk_error *err) {
    const char *tmp = getenv("TMPDIR");
    char *folder, *path;
    if (asprintf(&folder, "%s/silken-program-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
        abort();
    if (!mkdtemp(folder)) {
        sk_fail(err, "cannot make the folder %s: %s", folder, strerror(errno));
        free(folder);
        return NULL;
    }
    if (asprintf(&path, "%s/%s.p4", folder, name) < 0)
        abort();
    if (!program_write_text(path, text, n)) {
        sk_fail(err, "cannot write %s: %s", path, strerror(errno));
        program_remove_text(folder, path);
        free(path);
        return NULL;
    }
    struct run_source *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->folder = folder;
    s->opt = (struct compile_options){.path = path, .preprocessed = true, .target = r->opt.target};
    return s;
}

struct run_source *run_source_sent(const struct run *r, const struct brt_sent *sent, size_t n,
                                   struct sk_error *err) {
    struct run_source *first = NULL, **last = &first;
    for (size_t i = 0; i < n; i++) {
        struct run_source *s = source_of_text(r, sent[i].name, sent[i].text, sent[i].n, err);
        if (!s) {
            run_source_free(first);
            return NULL;
        }
        for (; n > 1 && s->n_profiles < sent[i].n_profiles; s->n_profiles++) {
            s->profiles[s->n_profiles] = sent[i].profiles[s->n_profiles];
            s->pipes |= (uint8_t)s->profiles[s->n_profiles].pipes;
        }
        *last = s;
        last = &s->next;
    }
    return first;
}

static void free_texts(const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        free((char *)list[i]);
    free((void *)list);
}

void run_source_free(struct run_source *s) {
    if (!s)
        return;
    run_source_free(s->next);
    free(s->name);
    free_texts(s->opt.include_dirs, s->opt.n_include_dirs);
    free_texts(s->opt.defines, s->opt.n_defines);
    program_remove_text(s->folder, s->opt.path);
    free((char *)s->opt.path);
    run_source_describe(s, (struct run_description){0});
    free(s);
}

void run_source_describe(struct run_source *s, struct run_description description) {
    free(s->description.bfrt);
    free(s->description.text);
    free(s->description.p4info);
    s->description = description;
}

const struct run_description *run_source_description(const struct run_source *s) {
    return &s->description;
}

static char **copy_texts(const char *const *list, size_t n) {
    char **own = calloc(n + 1, sizeof *own);
    if (!own)
        abort();
    for (size_t i = 0; i < n; i++)
        own[i] = sk_copy_text(list[i]);
    return own;
}

struct run_source *run_source_copy(const struct run_source *s) {
    struct run_source *own = calloc(1, sizeof *own);
    if (!own)
        abort();
    own->opt = s->opt;
    own->opt.path = sk_copy_text(s->opt.path);
    own->opt.include_dirs =
        (const char *const *)copy_texts(s->opt.include_dirs, s->opt.n_include_dirs);
    own->opt.defines = (const char *const *)copy_texts(s->opt.defines, s->opt.n_defines);
    own->name = s->name ? sk_copy_text(s->name) : NULL;
    own->pipes = s->pipes;
    memcpy(own->profiles, s->profiles, sizeof own->profiles);
    own->n_profiles = s->n_profiles;
    own->next = s->next ? run_source_copy(s->next) : NULL;
    return own;
}

const struct compile_options *run_source_options(const struct run_source *s) {
    return &s->opt;
}

struct run_source *run_source_next(const struct run_source *s) {
    return s->next;
}

char *run_source_name(const struct run_source *s) {
    return s->name ? sk_copy_text(s->name) : cli_program_name(s->opt.path);
}

// ---- several on one switch ----

static bool source_has_pipe(const struct run_source *s, unsigned pipe) {
    return s->pipes >> pipe & 1;
}

// Which of the program's pipelines is in this pipe; SK_PIPES after a sentence.
static uint8_t source_pipeline(const struct run_source *s, const struct sk_program_desc *d,
                               unsigned pipe, struct sk_error *err) {
    uint8_t i = 0;
    const struct brt_profile *p = s->profiles;
    if (!s->n_profiles)
        return d->pipe_of[pipe];
    while (p < s->profiles + s->n_profiles - 1 && !(p->pipes >> pipe & 1))
        p++;
    while (i < d->n_pipelines && strcmp(d->pipelines[i]->name, p->name) != 0)
        i++;
    if (i < d->n_pipelines)
        return i;
    char *name = run_source_name(s);
    sk_fail(err, "program '%s' has no pipeline '%s'", name, p->name);
    free(name);
    return SK_PIPES;
}

struct sk_program *run_source_join(const struct run_source *s, struct sk_program *const *parts,
                                   struct sk_error *err) {
    struct sk_program_place places[SK_PIPES];
    char *names[SK_PIPES] = {NULL}, error[sizeof err->text];
    struct sk_program *joined = NULL;
    size_t n = 0;
    bool good = true;
    if (!s->next)
        return parts[0];
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        places[pipe] = (struct sk_program_place){SK_PIPES, 0};
    for (; s && n < SK_PIPES; s = s->next, n++) {
        names[n] = run_source_name(s);
        for (unsigned pipe = 0; good && pipe < SK_PIPES; pipe++)
            if (source_has_pipe(s, pipe)) {
                const uint8_t i = source_pipeline(s, sk_program_desc(parts[n]), pipe, err);
                places[pipe] = (struct sk_program_place){(uint8_t)n, i};
                good = i < SK_PIPES;
            }
    }
    if (good && !(joined = sk_program_join(parts, (const char *const *)names, n, places, error,
                                           sizeof error)))
        sk_fail(err, "%s", error);
    for (size_t i = 0; i < SK_PIPES; i++)
        free(names[i]);
    return joined;
}

// ---- comparing ----

static bool same_texts(const char *const *a, size_t n, const char *const *b, size_t m) {
    for (size_t i = 0; i < n && i < m; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return n == m;
}

// One file has many paths.
static bool program_same_file(const char *a, const char *b) {
    struct stat x, y;
    return strcmp(a, b) == 0 ||
           (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static bool source_same_one(const struct run_source *a, const struct run_source *b) {
    return a->pipes == b->pipes && program_same_file(a->opt.path, b->opt.path) &&
           same_texts(a->opt.include_dirs, a->opt.n_include_dirs, b->opt.include_dirs,
                      b->opt.n_include_dirs) &&
           same_texts(a->opt.defines, a->opt.n_defines, b->opt.defines, b->opt.n_defines);
}

bool run_source_same(const struct run_source *a, const struct run_source *b) {
    while (a && b && source_same_one(a, b)) {
        a = a->next;
        b = b->next;
    }
    return !a && !b;
}

// ---- compiling ----

struct run_compiling {
    struct run_builder *builder;
    uint64_t asked; // when somebody last wanted it
    struct run_source *source;
    uint64_t clients[SK_SOCKET_CLIENTS]; // n_clients that asked for it; 0: the switch itself
    size_t n_clients;
};

static int program_begin(struct run *r, struct run_source *source, struct sk_error *err) {
    struct run_compiling *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->source = source;
    c->builder = run_builder_start(r, source, false, err);
    if (!c->builder) {
        free(c);
        return -1;
    }
    r->compiling = c;
    return 0;
}

// What was compiled, or null with the compiler's first line.
static struct sk_program *program_end(struct run *r, struct run_source *source,
                                      struct sk_error *err) {
    struct run_compiling *c = r->compiling;
    struct sk_program *program = run_builder_program(c->builder, err);
    if (program)
        run_builder_describe(c->builder, source);
    run_compile_end(r);
    return program;
}

void run_compile_end(struct run *r) {
    struct run_compiling *c = r->compiling;
    r->compiling = NULL;
    if (!c)
        return;
    run_builder_free(c->builder);
    run_source_free(c->source);
    free(c);
}

void run_compile_turn(struct run *r, uint64_t now) {
    if (r->compiling && now > r->compiling->asked + FORGET_NS)
        run_compile_end(r);
}

static void program_add_client(struct run_compiling *c, uint64_t client) {
    for (size_t i = 0; i < c->n_clients; i++)
        if (c->clients[i] == client)
            return;
    if (c->n_clients < SK_SOCKET_CLIENTS)
        c->clients[c->n_clients++] = client;
}

void run_compile_left(struct run *r, uint64_t client) {
    struct run_compiling *c = r->compiling;
    size_t kept = 0;
    for (size_t i = 0; c && i < c->n_clients; i++)
        if (c->clients[i] != client)
            c->clients[kept++] = c->clients[i];
    if (c && (c->n_clients = kept) == 0)
        run_compile_end(r);
}

// The compiler would wait for who writes a FIFO, and the switch's end for the compiler. What is not
// there it says itself.
static int check_regular(const char *path, struct sk_error *err) {
    struct stat st;
    return stat(path, &st) || S_ISREG(st.st_mode)
               ? 0
               : sk_fail(err, "cannot read %s: it is not a regular file", path);
}

int run_compile(struct run *r, struct run_source *source, struct sk_program **program,
                struct sk_error *err) {
    const bool others = r->compiling && !run_source_same(r->compiling->source, source);
    if (r->opt.checked)
        return sk_fail(err, "the checked build cannot replace its program");
    if (others && !run_builder_ended(r->compiling->builder))
        return sk_fail(err, "%s is being compiled for this switch", r->compiling->source->opt.path);
    if (others)
        run_compile_end(r); // nobody has fetched it
    if (!r->compiling) {
        for (const struct run_source *s = source; s; s = s->next)
            if (check_regular(s->opt.path, err))
                return -1;
        struct run_source *own = run_source_copy(source);
        if (program_begin(r, own, err)) {
            run_source_free(own);
            return -1;
        }
    }
    r->compiling->asked = run_now();
    program_add_client(r->compiling, r->control.client);
    if (!run_builder_ended(r->compiling->builder))
        return 1;
    *program = program_end(r, source, err);
    return *program ? 0 : -1;
}

// ---- the exchange ----

struct run_exchange {
    struct sk_switch *with; // with the new program, and from the exchange on with the old one
    struct sk_carry carry;
    bool tor;
    bool fresh; // nothing of the old program is kept
};

struct run_exchange *run_exchange_new(struct run *r, const struct sk_program *program,
                                      struct sk_error *err) {
    struct sk_switch_options opt = {.tx = sk_tx_nowhere,
                                    .packet_bytes = SK_PORTS_FRAME,
                                    .n_packets = 1,
                                    .hash_secret = r->hash_secret,
                                    .n_cores = sk_switch_cores(r->sw)};
    struct run_exchange *x = calloc(1, sizeof *x);
    char error[256];
    if (!x)
        abort();
    for (unsigned i = 0; i < SK_PIPES; i++)
        opt.core_of[i] = (uint8_t)sk_switch_core_of(r->sw, i);
    x->with = sk_switch_new(program, &opt, error, sizeof error);
    if (!x->with) {
        free(x);
        sk_fail(err, "%s", error);
        return NULL;
    }
    if (r->tor && tor_program_check(x->with, err)) {
        run_exchange_free(x);
        return NULL;
    }
    x->carry = (struct sk_carry){.from = r->sw, .to = x->with, .lost = json_array()};
    return x;
}

void run_exchange_free(struct run_exchange *x) {
    if (!x)
        return;
    sk_switch_free(x->with);
    json_decref(x->carry.lost);
    free(x);
}

static int swap(struct run *r, struct run_exchange *x, struct sk_error *err) {
    char error[256];
    if (!sk_switch_replace(r->sw, x->with, run_now(), error, sizeof error))
        return sk_fail(err, "%s", error);
    sk_digest_reader_init(r->sw, &r->control.digests);
    const bool kept = !x->fresh && json_array_size(x->carry.lost) == 0;
    run_tor_program_changed(r, kept);
    run_sessions_program_changed(r, kept);
    run_published_program_changed(r, kept);
    run_jobs_program_changed(r);
    return 0;
}

// A ToR's control plane writes its tables again itself, and what packets left in them comes then.
static void run_program_keep(void *aux) {
    struct run_exchange *x = aux;
    sk_carry_cells(&x->carry);
    if (x->tor)
        return;
    sk_carry_tables(&x->carry);
    sk_carry_activity(&x->carry);
}

int run_exchange(struct run *r, struct run_exchange *x, const struct sk_config *to,
                 struct sk_error *err) {
    run_trace_disarm(r); // it holds packets
    sk_core_run(sk_switch_core(x->with, 0), run_now());
    x->tor = r->tor;
    run_pause(r);
    int rc = 0;
    if (to)
        rc = sk_config_bring(r->config, to, x->with, run_program_keep, x, err);
    else
        run_program_keep(x);
    if (rc == 0)
        rc = swap(r, x, err);
    if (rc == 0 && r->tor) {
        x->carry.from = x->with; // they have changed places
        x->carry.to = r->sw;
        sk_carry_activity(&x->carry);
    }
    run_resume(r);
    return rc;
}

struct sk_switch *run_exchange_switch(const struct run_exchange *x) {
    return x->with;
}

int run_exchange_fresh(struct run *r, struct run_exchange *x, struct sk_error *err) {
    run_trace_disarm(r); // it holds packets
    x->fresh = true;
    run_pause(r);
    sk_core_run(sk_switch_core(x->with, 0), run_now());
    const int rc = swap(r, x, err);
    if (rc == 0)
        sk_switch_exchange_settings(r->sw, x->with);
    run_resume(r);
    return rc;
}

void run_exchange_back(struct run *r, struct run_exchange *x) {
    struct sk_error err;
    run_pause(r);
    if (swap(r, x, &err))
        run_say(err.text);
    run_resume(r);
}

void run_exchange_tell(const struct run *r, const struct run_exchange *x, json_t *done) {
    json_object_set_new(done, "program", json_string(sk_switch_program(r->sw)->path));
    json_object_set_new(done, "kept", json_integer((json_int_t)x->carry.entries));
    json_object_set_new(done, "cells", json_integer((json_int_t)x->carry.cells));
    json_object_set(done, "lost", x->carry.lost);
}

void run_runs_of_client(struct run *r, struct sk_program *program, struct run_source *source) {
    sk_program_free(r->program);
    run_source_free(r->source);
    r->program = program;
    r->source = source;
    run_page_program_changed(r);
}

void run_runs(struct run *r, struct sk_program *program, struct run_source *source) {
    run_runs_of_client(r, program, source);
    run_brt_program_changed(r);
    run_p4rt_program_changed(r);
}

// ---- the request ----

// A port's metadata is laid out as the program has it.
void run_describe_ports(struct run *r, struct sk_switch *sw, json_t *lost) {
    struct sk_error err;
    for (size_t i = 0; i < r->config->n_ports; i++) {
        const struct sk_config_port *p = &r->config->ports[i];
        if (!p->has_metadata || !run_port_of(r, p->port))
            continue;
        run_pause(r);
        if (sk_config_set_metadata(sw, p, &err) && lost)
            json_array_append_new(lost, json_sprintf("metadata of port %u: %s", p->port, err.text));
        run_resume(r);
    }
}

static int run_program_replace(struct run *r, struct sk_program *program, json_t **done,
                               struct sk_error *err) {
    struct run_exchange *x = run_exchange_new(r, program, err);
    const int rc = x ? run_exchange(r, x, NULL, err) : -1;
    if (rc == 0) {
        run_describe_ports(r, r->sw, x->carry.lost);
        *done = json_pack("{s:s}", "state", "replaced");
        run_exchange_tell(r, x, *done);
    }
    run_exchange_free(x);
    return rc;
}

int run_program(struct run *r, const char *path, json_t **done, struct sk_error *err) {
    struct run_source *source = run_source_new(r, r->config, path);
    struct sk_program *program = NULL;
    int rc = run_compile(r, source, &program, err);
    if (rc == 1)
        *done = json_pack("{s:s}", "state", "compiling");
    if (rc == 0 && (rc = run_program_replace(r, program, done, err)) == 0) {
        run_runs(r, program, source);
        return 0;
    }
    if (rc < 0)
        sk_program_free(program);
    run_source_free(source);
    return rc < 0 ? -1 : 0;
}
