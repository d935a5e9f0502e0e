// SPDX-License-Identifier: Apache-2.0
//
// sde: `silken build --sde DIR`: a program laid out as controllers of a Tofino look for it.
//
//     DIR/share/p4/targets/tofino/NAME.conf      which files a device has
//     DIR/share/tofinopd/NAME/bf-rt.json         the schema
//     DIR/share/tofinopd/NAME/PIPELINE/context.json, tofino.bin
//
// For a Tofino 2 the names begin with tofino2. tofino.bin has the P4 text (brt/package.h);
// context.json, which the chip's driver reads and Silken does not, names the program alone.
#include "cli/sde.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "brt/package.h"
#include "cli/cli.h"
#include "cli/new_file.h"
#include "pipeline/program.h"

#define MOST_SCHEMA ((size_t)256 << 20)

struct sde {
    const struct sde_outputs *from;
    const char *dir, *name, *chip; // "tofino" or "tofino2"
    const struct sk_program_desc *program;
    char *folder; // of the program
};

// ---- texts that the compiler leaves ----

bool sde_begin(struct sde_outputs *o) {
    o->text = new_file_in_memory(o->text_path);
    o->schema = o->text < 0 ? -1 : new_file_in_memory(o->schema_path);
    if (o->schema < 0)
        fprintf(stderr, "silken build: cannot make a file in memory: %s\n", strerror(errno));
    return o->schema >= 0;
}

void sde_end(struct sde_outputs *o) {
    if (o->text >= 0)
        close(o->text);
    if (o->schema >= 0)
        close(o->schema);
}

// malloc'ed; null after a message.
static char *sde_read(int fd, size_t most, size_t *n) {
    struct stat st;
    if (fstat(fd, &st) || (size_t)st.st_size > most) {
        fprintf(stderr, "silken build: the program is too long\n");
        return NULL;
    }
    char *text = malloc((size_t)st.st_size + 1);
    if (!text)
        abort();
    for (*n = 0; *n < (size_t)st.st_size;) {
        const ssize_t got = pread(fd, text + *n, (size_t)st.st_size - *n, (off_t)*n);
        if (got <= 0)
            break;
        *n += (size_t)got;
    }
    text[*n] = 0;
    return text;
}

// ---- files ----

static bool sde_write(const char *folder, const char *file, const void *bytes, size_t n) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, file) < 0)
        abort();
    bool ok = cli_make_folders("build", folder);
    if (ok) {
        const char *const why = new_file_put(path, bytes, n);
        if (why)
            fprintf(stderr, "silken build: cannot write %s: %s\n", path, why);
        ok = !why;
    }
    free(path);
    return ok;
}

static bool sde_write_json(const char *folder, const char *file, json_t *root) {
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(root);
    if (!text)
        abort();
    const bool ok = sde_write(folder, file, text, strlen(text));
    free(text);
    return ok;
}

// ---- what is in them ----

static json_t *sde_context(const struct sde *s, const char *pipeline) {
    return json_pack("{s:s, s:s, s:s, s:s}", "program_name", s->name, "pipeline", pipeline,
                     "target", s->chip, "compiler", "silken");
}

static json_t *sde_pipeline(const struct sde *s, uint32_t i) {
    const char *name = s->program->pipelines[i]->name;
    json_t *pipes = json_array();
    for (uint32_t pipe = 0; pipe < SK_PIPES; pipe++)
        if (s->program->pipe_of[pipe] == i)
            json_array_append_new(pipes, json_integer((json_int_t)pipe));
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "p4_pipeline_name", name, "context",
                     json_sprintf("share/%spd/%s/%s/context.json", s->chip, s->name, name),
                     "config",
                     json_sprintf("share/%spd/%s/%s/%s.bin", s->chip, s->name, name, s->chip),
                     "pipe_scope", pipes, "path", json_sprintf("share/%spd/%s", s->chip, s->name));
}

static json_t *sde_conf(const struct sde *s) {
    json_t *pipelines = json_array();
    for (uint32_t i = 0; i < s->program->n_pipelines; i++)
        json_array_append_new(pipelines, sde_pipeline(s, i));
    return json_pack("{s:[{s:s, s:s, s:i}], s:[{s:i, s:[{s:s, s:o, s:o}]}]}", "chip_list", "id",
                     "asic-0", "chip_family", s->chip, "instance", 0, "p4_devices", "device-id", 0,
                     "p4_programs", "program-name", s->name, "bfrt-config",
                     json_sprintf("share/%spd/%s/bf-rt.json", s->chip, s->name), "p4_pipelines",
                     pipelines);
}

static bool sde_write_pipeline(const struct sde *s, uint32_t i, const uint8_t *binary, size_t n) {
    const char *name = s->program->pipelines[i]->name;
    char *folder, file[16];
    if (asprintf(&folder, "%s/%s", s->folder, name) < 0)
        abort();
    snprintf(file, sizeof file, "%s.bin", s->chip);
    const bool ok = sde_write(folder, file, binary, n) &&
                    sde_write_json(folder, "context.json", sde_context(s, name));
    free(folder);
    return ok;
}

static bool sde_write_all(struct sde *s) {
    size_t n_text = 0, n_schema = 0, n = 0;
    char *text = sde_read(s->from->text, BRT_PACKAGE_MOST, &n_text),
         *schema = sde_read(s->from->schema, MOST_SCHEMA, &n_schema), *conf;
    bool ok = text && schema;
    if (asprintf(&s->folder, "%s/share/%spd/%s", s->dir, s->chip, s->name) < 0 ||
        asprintf(&conf, "%s.conf", s->name) < 0)
        abort();
    char *targets;
    if (asprintf(&targets, "%s/share/p4/targets/%s", s->dir, s->chip) < 0)
        abort();
    uint8_t *binary = ok ? brt_package_write(text, n_text, &n) : NULL;
    ok = ok && sde_write(s->folder, "bf-rt.json", schema, n_schema);
    for (uint32_t i = 0; ok && i < s->program->n_pipelines; i++)
        ok = sde_write_pipeline(s, i, binary, n);
    ok = ok && sde_write_json(targets, conf, sde_conf(s));
    free(binary);
    free(text);
    free(schema);
    free(targets);
    free(conf);
    free(s->folder);
    return ok;
}

bool sde_write_files(const struct sde_outputs *o, const char *dir, const char *path,
                     const char *object) {
    char error[512];
    struct sk_program *program = sk_program_load(object, error, sizeof error);
    if (!program) {
        fprintf(stderr, "silken build: %s\n", error);
        return false;
    }
    char *name = cli_program_name(path);
    const struct sk_program_desc *d = sk_program_desc(program);
    struct sde s = {.from = o,
                    .dir = dir,
                    .name = name,
                    .chip = d->ingress_prefix == SK_INGRESS_PREFIX_2 ? "tofino2" : "tofino",
                    .program = d};
    const bool ok = sde_write_all(&s);
    free(name);
    sk_program_free(program);
    return ok;
}
