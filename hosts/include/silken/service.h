// SPDX-License-Identifier: Apache-2.0
//
// service.h: a worker's place in its job, from the job service of a switch ("job_service" of
// `silken run`).
//
// A worker that knows the service's address, the job's name, its rank and the number of workers
// gets the rest: the job's number and slots, and the addresses of the switch and of itself.
//
//      struct silken_service service = {.rank = 0, .workers = 2};
//      struct silken_config config;
//
//      silken_config_init(&config);
//      silken_service_from_env(&service);      SILKEN_CONTROLLER, SILKEN_JOB_NAME...
//      config.device = "udp:";
//      if (silken_config_from_service(&config, &service, why, sizeof why) != 0 ||
//          silken_open(&comm, &config, why, sizeof why) != 0)
//          say why;
//
// The connection to the service is the worker's lease on its place: it stays open as long as the
// communicator. When another worker of the job fails, or is not there any more, or the switch
// restarts, all requests of the communicator end with SILKEN_ERR_OVER, and 'log' is told why.
// silken_close() gives the place back; a process that ends without it, or closes after an error,
// ends its job.
//
// Results are 0 or an error code (silken/error.h).
#ifndef SILKEN_SERVICE_H
#define SILKEN_SERVICE_H

#include "silken/allreduce.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) // what libsilken exports

struct silken_service {
    const char *controller; // the service's address and port, "10.0.0.254:9466"; names are resolved
    const char *token;      // or NULL: the first line of:
    const char *token_file;
    const char *job;        // its name: 1 to 63 characters without blanks
    uint32_t rank, workers; // as in struct silken_config
    const char *ip, *mac;   // this worker's; NULL: as the service sees and the switch finds them
    uint16_t port;          // its UDP port; 0: 0xbee0
    uint32_t slots;         // of the job; 0: as the service gives them
    uint32_t wait_ms;       // for the other workers; 0: as long as the service does
};

// Fills what the environment has: SILKEN_CONTROLLER, SILKEN_TOKEN, SILKEN_TOKEN_FILE,
// SILKEN_JOB_NAME. What it does not have stays. Returns whether there is a SILKEN_CONTROLLER. The
// strings are the environment's.
bool silken_service_from_env(struct silken_service *service);

// A worker whose device in '*config' is roce: asks for a job by RoCEv2; it tells the service
// config->rdma, and is told the switch's part of that. Such a job has no sessions.
//
// Asks the service for a place and waits until all workers of the job have theirs. Fills rank,
// workers, job, pool_size, k, addresses, ports and lease of '*config'; what else it has is left
// alone, and its 'log' is told whom the job waits for, if that takes longer than
// 'stall_warning_ms'. The strings are the lease's. Returns 0, SILKEN_ERR_INVALID, SILKEN_ERR_NOMEM,
// SILKEN_ERR_TRANSPORT (the service cannot be reached), SILKEN_ERR_STALLED (wait_ms are over) or
// SILKEN_ERR_REFUSED; then a sentence is in 'why' (of 'why_cap' bytes).
int silken_config_from_service(struct silken_config *config, const struct silken_service *service,
                               char *why, size_t why_cap);

// Between silken_config_env() and silken_open(), as silken_open_env() does it: if there is a
// SILKEN_CONTROLLER, asks it for the place of the worker that the environment and '*config'
// describe. Without one it changes nothing. Errors as above.
int silken_config_admit(struct silken_config *config, char *why, size_t why_cap);

// Gives back a place that silken_open() has not taken over. NULL is accepted.
void silken_lease_close(struct silken_lease *lease);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
