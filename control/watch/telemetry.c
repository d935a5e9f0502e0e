// SPDX-License-Identifier: Apache-2.0
#include "control/watch/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <rte_telemetry.h>

#include "base/clock.h"

// One that waits for its answer, on the stack of its thread.
struct asker {
    const char *command, *parameter;
    json_t *answer;
    bool answered;
    struct asker *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct asker *askers; // those that are not answered
static bool open;            // somebody answers
static atomic_bool asked;

// ---- asking: DPDK's threads ----

static void telemetry_leave(const struct asker *a) {
    struct asker **at = &askers;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at)
        *at = a->next;
}

static json_t *telemetry_ask(const char *command, const char *parameter) {
    struct asker a = {.command = command, .parameter = parameter};
    const uint64_t end_ns = sk_clock_now() + TELEMETRY_WAIT_MS * UINT64_C(1000000);
    const struct timespec end = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};
    pthread_mutex_lock(&lock);
    if (open) {
        a.next = askers;
        askers = &a;
        atomic_store_explicit(&asked, true, memory_order_release);
    }
    while (open && !a.answered)
        if (pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &end) == ETIMEDOUT)
            break;
    telemetry_leave(&a);
    pthread_mutex_unlock(&lock);
    return a.answer;
}

// ---- from JSON to DPDK's data ----

static struct rte_tel_data *telemetry_list_of(const json_t *list) {
    struct rte_tel_data *d = rte_tel_data_alloc();
    size_t i;
    json_t *item;
    if (!d)
        return NULL;
    rte_tel_data_start_array(d, RTE_TEL_U64_VAL);
    json_array_foreach((json_t *)list, i, item) {
        rte_tel_data_add_array_u64(d, (uint64_t)json_integer_value(item));
    }
    return d;
}

static int fill_object(struct rte_tel_data *d, const json_t *o);

static struct rte_tel_data *telemetry_object_of(const json_t *o) {
    struct rte_tel_data *d = rte_tel_data_alloc();
    if (d && fill_object(d, o)) {
        rte_tel_data_free(d);
        return NULL;
    }
    return d;
}

static int fill_object(struct rte_tel_data *d, const json_t *o) {
    const char *name;
    json_t *value;
    int rc = rte_tel_data_start_dict(d);
    json_object_foreach((json_t *)o, name, value) {
        struct rte_tel_data *inside = NULL;
        if (json_is_string(value)) {
            rc |= rte_tel_data_add_dict_string(d, name, json_string_value(value));
        } else if (json_is_integer(value)) {
            rc |= rte_tel_data_add_dict_u64(d, name, (uint64_t)json_integer_value(value));
        } else {
            inside = json_is_array(value) ? telemetry_list_of(value) : telemetry_object_of(value);
            rc |= inside ? rte_tel_data_add_dict_container(d, name, inside, 0) : -ENOMEM;
        }
    }
    return rc ? -1 : 0;
}

static int fill_array(struct rte_tel_data *d, const json_t *list) {
    const bool texts = json_is_string(json_array_get(list, 0));
    int rc = rte_tel_data_start_array(d, texts ? RTE_TEL_STRING_VAL : RTE_TEL_U64_VAL);
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item) rc |=
        texts ? rte_tel_data_add_array_string(d, json_string_value(item))
              : rte_tel_data_add_array_u64(d, (uint64_t)json_integer_value(item));
    return rc ? -1 : 0;
}

static int handle(const char *command, const char *parameter, struct rte_tel_data *out) {
    json_t *answer = telemetry_ask(command, parameter);
    if (!answer)
        return -1; // DPDK says null
    const int rc = json_is_array(answer) ? fill_array(out, answer) : fill_object(out, answer);
    json_decref(answer);
    return rc;
}

// ---- answering: the control thread ----

bool telemetry_is_asked(void) {
    return atomic_load_explicit(&asked, memory_order_acquire);
}

void telemetry_answer(const struct sk_watch *w, const json_t *alarms) {
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&asked, false, memory_order_relaxed);
    for (struct asker *a = askers; a; a = a->next) {
        a->answer = telemetry_json(w, alarms, a->command, a->parameter);
        a->answered = true;
    }
    askers = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void set_open(bool now) {
    pthread_mutex_lock(&lock);
    open = now;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
void telemetry_begin(void) {
    set_open(true);
}
void telemetry_end(void) {
    set_open(false);
}

int telemetry_register(struct sk_error *err) {
    static const char *const commands[][2] = {
        {"/silken/info", "The switch: version, program, counts. Takes no parameters"},
        {"/silken/ports", "Numbers of the ports. Takes no parameters"},
        {"/silken/port", "Counts, drops, device and queues. Parameters: port, number or name"},
        {"/silken/drops", "Dropped packets by reason. Parameters: a port, or none"},
        {"/silken/tables", "Names of the tables. Takes no parameters"},
        {"/silken/table", "Size and entries of each pipe. Parameters: table"},
        {"/silken/jobs", "Aggregation jobs, as kind/name. Takes no parameters"},
        {"/silken/job", "A job's progress and workers. Parameters: kind/name"},
        {"/silken/alarms", "Alarms that are raised. Takes no parameters"},
    };
    static bool done;
    for (size_t i = 0; !done && i < sizeof commands / sizeof *commands; i++)
        if (rte_telemetry_register_cmd(commands[i][0], handle, commands[i][1]))
            return sk_fail(err, "DPDK's telemetry refuses the command %s", commands[i][0]);
    done = true;
    return 0;
}
