// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cli.h"

#define SECOND           UINT64_C(1000000000)
#define TICK_NS          20000000
#define EXIT_INTERRUPTED 130 // as shells have it: 128 + SIGINT

__attribute__((format(printf, 2, 3))) static int shared_fail(struct report *r, const char *format,
                                                             ...) {
    va_list args;
    va_start(args, format);
    const int status = report_fail(r, format, args);
    va_end(args);
    return status;
}

double demo_seconds_since(uint64_t ns) {
    return (double)(sk_clock_now() - ns) / (double)SECOND;
}

int demo_child_failed(struct report *r, const struct child *c) {
    char how[96];
    supervise_how(c, how, sizeof how);
    const int status = shared_fail(r, "%s %s; its last words:", c->name, how);
    supervise_tail(c, 20, "    ", stderr);
    return status;
}

int demo_wait(struct report *r, struct supervisor *s, uint64_t began, unsigned limit) {
    const struct timespec pause = {.tv_nsec = TICK_NS};
    nanosleep(&pause, NULL);
    if (supervise_interrupted()) {
        report_break(r);
        return EXIT_INTERRUPTED;
    }
    const struct child *bad = supervise_reap(s);
    if (bad)
        return demo_child_failed(r, bad);
    if (demo_seconds_since(began) > limit)
        return shared_fail(r, "not finished after %u seconds (see --limit)", limit);
    return 0;
}

int demo_write_config(json_t *root, const char *program, double loss, uint64_t seed,
                      const char *path, char *error, size_t error_size) {
    char *absolute = realpath(program, NULL);
    int rc = 0;
    if (!absolute) {
        snprintf(error, error_size, "%s: %s", program, strerror(errno));
        rc = -1;
    } else {
        json_object_set_new(root, "program", json_string(absolute));
        if (loss > 0)
            json_object_set_new(
                root, "faults",
                json_pack("{s:f, s:I}", "loss", loss, "seed", (json_int_t)(seed & INT64_MAX)));
        if (!root || json_dump_file(root, path, JSON_INDENT(2))) {
            snprintf(error, error_size, "cannot write the switch's configuration to %s", path);
            rc = -1;
        }
    }
    json_decref(root);
    free(absolute);
    return rc;
}
