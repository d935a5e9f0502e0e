// SPDX-License-Identifier: Apache-2.0
#include "cli/captures.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/file.h"
#include "stages/state.h"

bool cli_begins_with_port(const char *word) {
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && word[digits] == '=';
}

void cli_push_file(struct replay_files *list, uint16_t port, const char *path) {
    list->items = sk_resize(list->items, list->n + 1, sizeof *list->items);
    list->items[list->n++] = (struct replay_file){port, path};
}

int cli_add_port_file(const char *command, struct replay_files *list, const char *form,
                      const char *word) {
    size_t digits = strspn(word, "0123456789");
    if (!cli_begins_with_port(word) || !word[digits + 1])
        return cli_misused(command, "'%s' is not %s", word, form);
    unsigned long port = digits > 4 ? SK_PORTS : strtoul(word, NULL, 10);
    if (!sk_port_exists((unsigned)port))
        return cli_misused(command, "'%s' does not start with a device port", word);
    cli_push_file(list, (uint16_t)port, word + digits + 1);
    return 0;
}

static bool cli_captures_load_config(const char *command, const char *path,
                                     struct sk_config **config) {
    struct sk_error err;
    size_t length;
    if (!path)
        return true;
    char *text = sk_read_file(path, &length, &err);
    if (text)
        *config = sk_config_parse_part(path, text, length, &err);
    free(text);
    if (!*config) {
        fprintf(stderr, "silken %s: %s\n", command, err.text);
        return false;
    }
    return true;
}

static void cli_captures_add_file(void *aux, const char *path) {
    char *copy = strdup(path);
    if (!copy)
        abort();
    cli_push(aux, copy);
}

bool cli_load(const char *command, struct replay_options *replay,
              const struct compile_options *compile) {
    for (size_t i = 0; i < 2; i++)
        if (!cli_captures_load_config(command, replay->config_paths[i], &replay->configs[i]))
            return false;
    // One switch, whose buffers and registers are used here and there, and whose start is waited
    // for.
    if (!CLI_SANITIZED)
        sk_state_lazily(SK_STATE_HUGE_PAGES);
    struct compile_options opt = *compile;
    struct cli_list files = {0};
    opt.reads = cli_captures_add_file;
    opt.reads_aux = &files;
    replay->program = cli_load_program(&opt);
    replay->included = files.items;
    replay->n_included = files.n;
    return replay->program;
}

void cli_unload(struct replay_options *replay) {
    sk_program_free((struct sk_program *)replay->program);
    for (size_t i = 0; i < 2; i++)
        sk_config_free(replay->configs[i]);
    for (size_t i = 0; i < replay->n_included; i++)
        free((char *)replay->included[i]);
    free((void *)replay->included);
}
