// SPDX-License-Identifier: Apache-2.0
//
// swpipe: a switch on standard input and output, for tests in other languages.
//
//     swpipe CONFIG.json
//
// The configuration is that of `silken run`; the ports' devices are not opened. Prints "ready",
// then answers each input line with lines of data and a last line "ok", or with "error: ...":
//
//     rx PORT HEX                a frame comes in; "tx PORT HEX" for each that goes out
//     register NAME INDEX [FIELD] one line, a value for each pipe
//     counter NAME INDEX         "PACKETS BYTES", all pipes together
//     drops                      "N REASON" for each of the engine's reasons that occurred
//     digests                    "NAME FIELD=VALUE..." for each that came since the last time
//     wait NS                    the clock goes on
//
// Each line is a nanosecond-clock tick of 1000.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compile.h"
#include "control/config/config.h"
#include "control/tables/control.h"
#include "base/file.h"
#include "pipeline/switch/switch.h"

#define MAX_FRAME 16384

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    (void)aux;
    printf("tx %u ", port);
    for (uint32_t i = 0; i < length; i++)
        printf("%02x", frame[i]);
    putchar('\n');
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Bytes of 'hex' in 'out'; -1 when it is no even number of hexadecimal digits, or too long.
static long parse_hex(const char *hex, uint8_t *out) {
    size_t n = strlen(hex);

    if (n % 2 || n / 2 > MAX_FRAME)
        return -1;
    for (size_t i = 0; i < n / 2; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return -1;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return (long)(n / 2);
}

static bool do_rx(struct sk_switch *sw, char *const *word, uint64_t now) {
    static uint8_t frame[MAX_FRAME];
    long length = word[2] ? parse_hex(word[2], frame) : 0;
    char *end;
    unsigned long port = word[1] ? strtoul(word[1], &end, 10) : SK_PORTS;

    if (length < 0 || port >= SK_PORTS)
        return false;
    sk_switch_rx(sw, (uint16_t)port, frame, (uint32_t)length, now);
    sk_switch_run(sw, now);
    return true;
}

static bool do_register(struct sk_switch *sw, char *const *word, struct sk_error *err) {
    uint64_t values[SK_PIPES];

    if (!word[1] || !word[2] ||
        sk_control_register_read(sw, word[1], strtoull(word[2], NULL, 10), word[3], values, err) <
            0)
        return false;
    for (unsigned p = 0; p < SK_PIPES; p++)
        printf("%" PRIu64 "%c", values[p], p + 1 < SK_PIPES ? ' ' : '\n');
    return true;
}

static bool do_counter(struct sk_switch *sw, char *const *word, struct sk_error *err) {
    struct sk_counter_cell sum;

    if (!word[1] || !word[2] ||
        sk_control_counter_read(sw, word[1], strtoull(word[2], NULL, 10), &sum, err) < 0)
        return false;
    printf("%" PRIu64 " %" PRIu64 "\n", sum.packets, sum.bytes);
    return true;
}

static bool do_drops(struct sk_switch *sw) {
    struct sk_switch_stats stats;

    sk_switch_stats(sw, &stats);
    for (unsigned r = 0; r < SK_DROP_COUNT; r++)
        if (stats.drops[r])
            printf("%" PRIu64 " %s\n", stats.drops[r], sk_drop_text(r));
    return true;
}

// A line for each that came since the last time: "pipe.D.learned vid=10 interface=1"; of a wide
// field the low 64 bits.
static bool do_digests(struct sk_switch *sw, struct sk_digest_reader *reader) {
    struct sk_digest d;

    while (sk_digest_read(sw, reader, &d)) {
        printf("%s", d.desc->name);
        for (uint32_t i = 0; i < d.desc->n_fields; i++) {
            uint64_t words[SK_DIGEST_BYTES / 8] = {0};
            sk_digest_field(&d, i, words);
            printf(" %s=%" PRIu64, d.desc->fields[i].name, words[0]);
        }
        putchar('\n');
    }
    return true;
}

static bool do_wait(struct sk_switch *sw, char *const *word, uint64_t *now) {
    if (!word[1])
        return false;
    *now += strtoull(word[1], NULL, 10);
    sk_switch_run(sw, *now);
    return true;
}

static bool do_line(struct sk_switch *sw, char *line, uint64_t *now,
                    struct sk_digest_reader *digests, struct sk_error *err) {
    char *word[5] = {NULL}, *save = NULL;
    size_t n = 0;

    for (char *w = strtok_r(line, " \n", &save); w && n < 4; w = strtok_r(NULL, " \n", &save))
        word[n++] = w;
    snprintf(err->text, sizeof err->text, "not understood");
    if (!word[0])
        return false;
    if (strcmp(word[0], "rx") == 0)
        return do_rx(sw, word, *now);
    if (strcmp(word[0], "register") == 0)
        return do_register(sw, word, err);
    if (strcmp(word[0], "counter") == 0)
        return do_counter(sw, word, err);
    if (strcmp(word[0], "digests") == 0)
        return do_digests(sw, digests);
    if (strcmp(word[0], "wait") == 0)
        return do_wait(sw, word, now);
    return strcmp(word[0], "drops") == 0 && do_drops(sw);
}

static _Noreturn void die(const char *why) {
    fprintf(stderr, "swpipe: %s\n", why);
    exit(2);
}

// The configuration's program; its path is taken relative to the working directory.
static struct sk_program *load(const struct sk_config *c) {
    struct compile_options opt = {.path = c->program,
                                  .include_dirs = c->include,
                                  .n_include_dirs = c->n_include,
                                  .defines = c->define,
                                  .n_defines = c->n_define};
    char error[256], *object = compile_p4(&opt, stderr);
    struct sk_program *program;

    if (!object)
        die("the program does not compile");
    program = sk_program_load(object, error, sizeof error);
    free(object);
    if (!program)
        die(error);
    return program;
}

int main(int argc, char **argv) {
    struct sk_error err = {""};
    size_t length, size = 0;
    char *line = NULL, error[256];

    if (argc != 2)
        die("usage: swpipe CONFIG.json");
    char *text = sk_read_file(argv[1], &length, &err);
    struct sk_config *config = text ? sk_config_parse(argv[1], text, length, &err) : NULL;
    if (!config)
        die(err.text);
    struct sk_program *program = load(config);
    struct sk_switch_options opt = {.tx = tx, .n_packets = 512};
    struct sk_switch *sw = sk_switch_new(program, &opt, error, sizeof error);
    if (!sw)
        die(error);
    if (sk_config_apply(config, sw, &err) < 0)
        die(err.text);
    struct sk_digest_reader digests;
    sk_digest_reader_init(sw, &digests);
    puts("ready");
    fflush(stdout);
    for (uint64_t now = 1000; getline(&line, &size, stdin) > 0; now += 1000) {
        if (do_line(sw, line, &now, &digests, &err))
            puts("ok");
        else
            printf("error: %s\n", err.text);
        fflush(stdout);
    }
    free(line);
    sk_switch_free(sw);
    sk_program_free(program);
    sk_config_free(config);
    free(text);
    return 0;
}
