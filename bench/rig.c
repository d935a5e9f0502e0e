// SPDX-License-Identifier: Apache-2.0
#include "bench/rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compile.h"
#include "control/config/config.h"

void rig_give_up(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static void configure(struct sk_switch *sw, const char *path, json_t *configuration) {
    char *text = json_dumps(configuration, JSON_INDENT(1));
    struct sk_error err;
    if (!text)
        abort();
    struct sk_config *c = sk_config_parse("bench", text, strlen(text), &err);
    if (!c || sk_config_apply(c, sw, &err))
        rig_give_up("%s's configuration: %s", path, err.text);
    sk_config_free(c);
    free(text);
    json_decref(configuration);
}

struct rig rig_new(const char *path, bool scalar, json_t *configuration,
                   const struct sk_switch_options *options) {
    char error[512], source[512];
    struct rig rig;
    snprintf(source, sizeof source, "%s/%s", SILKEN_PROGRAM_DIR, path);
    const struct compile_options opt = {.path = source, .scalar = scalar};
    char *compiled = compile_p4(&opt, stderr);
    rig.program = compiled ? sk_program_load(compiled, error, sizeof error) : NULL;
    if (!rig.program)
        rig_give_up("%s does not load%s%s", path, compiled ? ": " : "", compiled ? error : "");
    free(compiled);
    rig.sw = sk_switch_new(rig.program, options, error, sizeof error);
    if (!rig.sw)
        rig_give_up("no switch: %s", error);
    configure(rig.sw, path, configuration);
    return rig;
}

void rig_free(struct rig *rig) {
    sk_switch_free(rig->sw);
    sk_program_free(rig->program);
}
