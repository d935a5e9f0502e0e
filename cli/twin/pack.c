// SPDX-License-Identifier: Apache-2.0
//
// pack: what one carries from `silken run` to the chip.
//
//     DIR/p4/...       the program and what it includes, but for the architecture's declarations
//     DIR/compile.sh   the command line of the chip's compiler
//     DIR/setup.py     ports, and what the configuration puts into tables, by BF Runtime
//
// The configuration is applied to a switch in this process; what BF Runtime then reads of it, and
// does not read of one that nobody configured, is what the script writes.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "brt/brt.h"
#include "cli/new_file.h"
#include "cli/sde.h"
#include "cli/twin/twin.h"
#include "compiler/base/share.h"
#include "control/config/config.h"
#include "control/state/state.h"
#include "pipeline/switch/core.h"
#include "twin/twin.h"

struct pack {
    const struct twin_words *w;
    const char *path, *dir;
    char *text; // of the configuration
    size_t length;
    struct sk_config *config;
    struct compile_options compile;
    struct cli_list include, files; // malloc'ed texts
    char *program_path, *name;      // of the program
    char *root;                     // the folder that has all that is copied, ends with '/'
    char *schema, *p4;
    struct sk_program *program;
    bool is_2; // a Tofino 2
};

static bool pack_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool pack_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("silken twin: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

// ---- the configuration ----

// Members that a pack carries, or that mean nothing to a chip.
static const char *const pack_carried[] = {
    "program",   "include", "define",    "ports",      "multicast",  "mirror",
    "queues",    "pools",   "entries",   "members",    "groups",     "defaults",
    "registers", "meters",  "counters",  "value_sets", "pktgen",     "pktgen_buffers",
    "hashes",    "pipes",   "lcores",    "cpus",       "idle_sleep", "control_socket",
    "record",    "metrics", "page",      "telemetry",  "alarms",     "daemon",
    "requests",  "bfrt",    "p4runtime", "clock"};

// Entries of single pipes are of tables whose scope a controller has said first.
static bool pack_look_at_pipes(const struct pack *k, const json_t *root) {
    static const char *const sections[] = {"entries", "members", "groups", "defaults",
                                           "value_sets"};
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        const json_t *list = json_object_get(root, sections[s]);
        for (size_t i = 0; i < json_array_size(list); i++)
            if (json_object_get(json_array_get(list, i), "pipe"))
                return pack_say("%s: %s[%zu] is of one pipe; a pack has only what is alike in all",
                                k->path, sections[s], i);
    }
    return true;
}

static void pack_tell_left(const json_t *root) {
    const char *member;
    json_t *value;
    json_object_foreach((json_t *)root, member, value) {
        bool carried = false;
        for (size_t i = 0; i < sizeof pack_carried / sizeof *pack_carried; i++)
            carried |= strcmp(pack_carried[i], member) == 0;
        if (!carried)
            printf("not in the pack: \"%s\" of the configuration\n", member);
    }
}

static bool pack_read_config(struct pack *k) {
    struct sk_error err;
    k->text = sk_read_file(k->path, &k->length, &err);
    k->config = k->text ? sk_config_parse(k->path, k->text, k->length, &err) : NULL;
    if (!k->config)
        return pack_say("%s", err.text);
    json_t *root = json_loadb(k->text, k->length, 0, NULL);
    const bool good = pack_look_at_pipes(k, root);
    json_decref(root);
    return good;
}

// A path of the configuration is relative to it.
static char *pack_beside(const struct pack *k, const char *path) {
    const char *slash = strrchr(k->path, '/');
    char *out;
    if (path[0] == '/' || !slash)
        return sk_copy_text(path);
    if (asprintf(&out, "%.*s/%s", (int)(slash - k->path), k->path, path) < 0)
        abort();
    return out;
}

// ---- the program ----

static void pack_see_file(void *aux, const char *path) {
    struct pack *k = aux;
    char *real = realpath(path, NULL); // some names are of no file
    char *own = silken_share_path("p4/include"), *vendor = realpath(own, NULL);
    const size_t n = vendor ? strlen(vendor) : 0;
    bool known = !real || (n && strncmp(real, vendor, n) == 0 && real[n] == '/');
    for (size_t i = 0; !known && i < k->files.n; i++)
        known = strcmp(k->files.items[i], real) == 0;
    if (known)
        free(real);
    else
        cli_push(&k->files, real);
    free(vendor);
    free(own);
}

static bool pack_compile(struct pack *k) {
    struct sde_outputs o;
    struct sk_error err;
    size_t n;
    char error[512];
    if (!k->config->program)
        return pack_say("a package is of one program; the configuration has several");
    k->program_path = pack_beside(k, k->config->program);
    for (size_t i = 0; i < k->config->n_include; i++)
        cli_push(&k->include, pack_beside(k, k->config->include[i]));
    bool good = sde_begin(&o);
    k->compile = (struct compile_options){.path = k->program_path,
                                          .include_dirs = k->include.items,
                                          .n_include_dirs = k->include.n,
                                          .defines = k->config->define,
                                          .n_defines = k->config->n_define,
                                          .bfrt = o.schema_path,
                                          .emit_p4 = o.text_path,
                                          .reads = pack_see_file,
                                          .reads_aux = k,
                                          .colour = cli_in_colour(STDERR_FILENO)};
    char *object = good ? compile_p4(&k->compile, stderr) : NULL;
    good = object != NULL;
    if (good && (!(k->schema = sk_read_file(o.schema_path, &n, &err)) ||
                 !(k->p4 = sk_read_file(o.text_path, &n, &err))))
        good = pack_say("%s", err.text);
    if (good && !(k->program = sk_program_load(object, error, sizeof error)))
        good = pack_say("%s", error);
    k->is_2 = good && sk_program_desc(k->program)->ingress_prefix == SK_INGRESS_PREFIX_2;
    sde_end(&o);
    free(object);
    return good;
}

// ---- its tables ----

static int pack_check_defaults(struct sk_switch *sw, const struct twin_tables *tables,
                               struct sk_error *err) {
    char *state = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&state, &n);
    if (!memory || !sk_state_write(sw, NULL, memory) || fclose(memory))
        abort();
    const int rc = twin_script_defaults(tables, state, n, err);
    free(state);
    return rc;
}

// What BF Runtime reads of a switch with this configuration, or with none.
static bool pack_read_tables(const struct pack *k, const struct sk_config *config,
                             struct twin_tables *out) {
    struct sk_error err;
    char error[256];
    struct sk_switch_options so = {.tx = sk_tx_nowhere, .n_packets = 2};
    if (k->config->has_cpu_port)
        so.cpu_port = k->config->cpu_port;
    struct sk_switch *sw = sk_switch_new(k->program, &so, error, sizeof error);
    if (!sw)
        return pack_say("%s", error);
    sk_core_run(sk_switch_core(sw, 0), sk_clock_now());
    struct brt *b = brt_new(&(struct brt_host){.pause = NULL});
    const struct brt_description description = {k->name, k->schema, k->p4};
    int rc = config ? sk_config_apply(config, sw, &err) : 0;
    if (rc == 0)
        rc = brt_run_programs(b, sw, &description, 1, &err);
    const struct twin_caller caller = twin_local(b);
    if (rc == 0)
        rc = twin_dump(&caller, NULL, out, &err);
    if (rc == 0)
        rc = pack_check_defaults(sw, out, &err);
    brt_free(b);
    sk_switch_free(sw);
    return rc == 0 || pack_say("%s", err.text);
}

// Of the configuration's ports those with a device.
static size_t pack_ports(const struct pack *k, uint16_t *list) {
    size_t n = 0;
    for (size_t i = 0; i < k->config->n_ports; i++)
        if (strcmp(k->config->ports[i].device, "inside") != 0)
            list[n++] = k->config->ports[i].port;
    return n;
}

static bool pack_open(const struct pack *k, const char *name, struct new_file *f) {
    char *path;
    if (asprintf(&path, "%s/%s", k->dir, name) < 0)
        abort();
    const char *why = new_file_open(f, path);
    if (why)
        pack_say("cannot write %s: %s", path, why);
    free(path);
    return !why;
}

static bool pack_close(struct new_file *f, const char *name, bool good) {
    if (good)
        good = fchmod(fileno(f->out), 0755) == 0;
    const char *why = new_file_close(f);
    return why ? pack_say("cannot write %s: %s", name, why) : good;
}

static bool pack_write_setup(const struct pack *k) {
    struct twin_tables empty = {.program = NULL}, full = {.program = NULL};
    struct sk_error err;
    struct new_file f;
    char speed[32];
    uint16_t *ports = calloc(k->config->n_ports + 1, sizeof *ports);
    if (!ports)
        abort();
    snprintf(speed, sizeof speed, "BF_SPEED_%s", k->w->speed ? k->w->speed : "100G");
    const struct twin_script_ports list = {ports, pack_ports(k, ports), speed};
    bool good = pack_read_tables(k, NULL, &empty) && pack_read_tables(k, k->config, &full);
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n); // nothing is left behind when it cannot be said
    if (!memory)
        abort();
    if (good && twin_script(&empty, &full, &list, memory, &err))
        good = pack_say("%s", err.text);
    if (fclose(memory))
        abort();
    if (good && (good = pack_open(k, "setup.py", &f))) {
        const bool written = fwrite(text, 1, n, f.out) == n;
        good = pack_close(&f, "setup.py", written);
    }
    free(text);
    free(ports);
    if (empty.program)
        twin_tables_free(&empty);
    if (full.program)
        twin_tables_free(&full);
    return good;
}

// ---- its files ----

// The longest folder that has all files.
static void pack_find_root(struct pack *k) {
    k->root = sk_copy_text(k->files.items[0]);
    char *slash = strrchr(k->root, '/');
    slash[1] = 0;
    for (size_t i = 1; i < k->files.n; i++)
        while (strncmp(k->files.items[i], k->root, strlen(k->root)) != 0) {
            k->root[strlen(k->root) - 1] = 0;
            slash = strrchr(k->root, '/');
            slash[1] = 0;
        }
}

static bool pack_copy_file(const struct pack *k, const char *file) {
    struct sk_error err;
    size_t n;
    char *to, *text = sk_read_file(file, &n, &err);
    if (!text)
        return pack_say("%s", err.text);
    if (asprintf(&to, "%s/p4/%s", k->dir, file + strlen(k->root)) < 0)
        abort();
    char *folder = sk_copy_text(to);
    *strrchr(folder, '/') = 0;
    bool good = cli_make_folders("twin", folder);
    const char *why = good ? new_file_put(to, text, n) : NULL;
    if (why)
        good = pack_say("cannot write %s: %s", to, why);
    free(folder);
    free(to);
    free(text);
    return good;
}

static void pack_quote(const char *text, FILE *out) {
    fputc('\'', out);
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, out);
    fputc('\'', out);
}

// Prints the option with the path that a folder or file has in the pack. False if it is not in it.
static bool pack_print_path(const struct pack *k, const char *option, const char *path, FILE *out) {
    char *real = realpath(path, NULL), *with = NULL;
    if (real && asprintf(&with, "%s/", real) < 0)
        abort();
    const size_t n = strlen(k->root);
    const bool within = real && strncmp(with, k->root, n) == 0;
    if (within) {
        char *to;
        if (asprintf(&to, "p4/%s", strlen(real) < n ? "" : real + n) < 0)
            abort();
        fprintf(out, " %s", option);
        pack_quote(to, out);
        free(to);
    }
    free(with);
    free(real);
    return within;
}

static bool pack_write_compile(const struct pack *k) {
    struct new_file f;
    if (!pack_open(k, "compile.sh", &f))
        return false;
    fprintf(f.out,
            "#!/bin/sh\n"
            "# The chip's compiler on this program; P4C is its command.\n"
            "cd \"$(dirname \"$0\")\" || exit 2\n"
            "exec \"${P4C:-bf-p4c}\" --std p4-16 --target %s --arch %s",
            k->is_2 ? "tofino2" : "tofino", k->is_2 ? "t2na" : "tna");
    for (size_t i = 0; i < k->include.n; i++)
        pack_print_path(k, "-I ", k->include.items[i], f.out);
    for (size_t i = 0; i < k->config->n_define; i++) {
        fputs(" -D ", f.out);
        pack_quote(k->config->define[i], f.out);
    }
    fputs(" --bf-rt-schema build/bf-rt.json -o build", f.out);
    pack_print_path(k, "", k->program_path, f.out);
    fputc('\n', f.out);
    return pack_close(&f, "compile.sh", true);
}

static bool pack_write_files(struct pack *k) {
    bool good = true;
    pack_find_root(k);
    for (size_t i = 0; good && i < k->files.n; i++)
        good = pack_copy_file(k, k->files.items[i]);
    return good && pack_write_compile(k);
}

// ---- all of it ----

// "p4/l2/l2.p4" is the program l2.
static char *pack_name(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = sk_copy_text(slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    return name;
}

static void pack_free(struct pack *k) {
    for (size_t i = 0; i < k->include.n; i++)
        free((char *)k->include.items[i]);
    for (size_t i = 0; i < k->files.n; i++)
        free((char *)k->files.items[i]);
    free((void *)k->include.items);
    free((void *)k->files.items);
    if (k->program)
        sk_program_free(k->program);
    sk_config_free(k->config);
    free(k->program_path);
    free(k->name);
    free(k->root);
    free(k->schema);
    free(k->p4);
    free(k->text);
}

int twin_run_pack(const struct twin_words *w) {
    static const char *const speeds[] = {"1G", "10G", "25G", "40G", "50G", "100G", "200G", "400G"};
    struct pack k = {.w = w, .path = w->words[0], .dir = w->words[1]};
    bool known = !w->speed;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        known |= w->speed && strcmp(w->speed, speeds[i]) == 0;
    if (!known)
        return cli_misused(
            "twin", "'%s' is not the speed of a port; use 10G, 25G, 40G, 50G, 100G...", w->speed);
    bool good = pack_read_config(&k) && twin_new_folder(k.dir) && pack_compile(&k);
    if (good && k.files.n == 0)
        good = pack_say("%s is a file of the architecture", k.program_path);
    if (good) {
        k.name = pack_name(k.program_path);
        good = pack_write_files(&k) && pack_write_setup(&k);
    }
    if (good) {
        json_t *root = json_loadb(k.text, k.length, 0, NULL);
        printf("%s: %zu files of the program, compile.sh and setup.py\n", k.dir, k.files.n);
        pack_tell_left(root);
        json_decref(root);
    }
    pack_free(&k);
    return good ? EXIT_GOOD : EXIT_UNUSABLE;
}
