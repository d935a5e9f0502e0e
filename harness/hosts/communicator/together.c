// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/communicator/together.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct call {
    void (*work)(void *context, unsigned rank);
    void *context;
    unsigned rank;
    pthread_t thread;
};

static void *run_call(void *argument) {
    struct call *call = argument;

    call->work(call->context, call->rank);
    return NULL;
}

void run_together(unsigned workers, void (*work)(void *context, unsigned rank), void *context) {
    struct call *calls = calloc(workers ? workers : 1, sizeof *calls);

    for (unsigned i = 0; i < workers; i++) {
        if (calls)
            calls[i] = (struct call){.work = work, .context = context, .rank = i};
        if (!calls || pthread_create(&calls[i].thread, NULL, run_call, &calls[i]) != 0) {
            fprintf(stderr, "no memory or thread for worker %u\n", i);
            exit(1);
        }
    }
    for (unsigned i = 0; i < workers; i++)
        pthread_join(calls[i].thread, NULL);
    free(calls);
}
