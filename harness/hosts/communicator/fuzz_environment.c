// SPDX-License-Identifier: Apache-2.0
//
// fuzz_environment: any texts as the variables of silken_open_env(): lines NAME=TEXT. What is taken
// has texts that end, a rank below the number of workers, and is refused or taken alike the second
// time; what is refused says which variable.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/communicator/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *get(void *aux, const char *name) {
    const size_t len = strlen(name);
    char *line = aux;

    while (*line) {
        if (strncmp(line, name, len) == 0 && line[len] == '=') {
            return line + len + 1;
        }
        line += strlen(line) + 1;
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char texts[2][SILKEN_ENV_TEXTS];
    struct silken_config c[2];
    char why[2][256] = {"", ""}, *lines = calloc(size + 2, 1);
    int rc[2];

    if (!lines) {
        return 0;
    }
    memcpy(lines, data, size);
    for (size_t i = 0; i < size; i++) {
        lines[i] = lines[i] == '\n' ? 0 : lines[i];
    }
    for (int i = 0; i < 2; i++) {
        rc[i] = sk_environment_read(&c[i], texts[i], get, lines, why[i], sizeof why[i]);
    }
    if (rc[0] != rc[1] || strcmp(why[0], why[1]) != 0 || (rc[0] != 0) != (why[0][0] != 0)) {
        abort();
    }
    if (rc[0] == 0 && (c[0].rank >= c[0].workers || strlen(c[0].device) == 0 ||
                       strcmp(c[0].switch_ip, c[1].switch_ip) != 0)) {
        abort();
    }
    free(lines);
    return 0;
}
