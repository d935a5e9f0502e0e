// SPDX-License-Identifier: Apache-2.0
//
// environment.h: a configuration from named texts, such as a process's environment; internal to
// hosts/.
//
// The names and their meanings are those of silken/allreduce.h, ENVIRONMENT. Where the texts come
// from is the caller's: 'get' returns that of a name, or NULL, and what it returns stays until the
// next call. Another source of settings (a service that gives out addresses and slots) fills a
// struct silken_config likewise, before or after.
//
// Concurrency: no state; any thread may call this.
#ifndef SILKEN_HOSTS_COMMUNICATOR_ENVIRONMENT_H
#define SILKEN_HOSTS_COMMUNICATOR_ENVIRONMENT_H

#include "silken/allreduce.h"

typedef const char *sk_setting_get(void *aux, const char *name);

// Fills '*config', defaults included. Texts lie in 'texts', of SILKEN_ENV_TEXTS bytes, which has to
// stay until the communicator is open. Returns 0 or SILKEN_ERR_INVALID with a sentence in 'why'
// that names the variable.
int sk_environment_read(struct silken_config *config, char *texts, sk_setting_get *get, void *aux,
                        char *why, size_t why_cap);

#endif
