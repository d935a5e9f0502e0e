// SPDX-License-Identifier: Apache-2.0
//
// error.h: the error codes of the host stacks.
//
// Every function of hosts/ that can fail returns 0 (or a count) or one of these negative codes. A
// packet from outside is never an error: it is counted by reason and ignored. The list below makes
// the enum and the texts.
#ifndef SILKEN_ERROR_H
#define SILKEN_ERROR_H

#define SILKEN_ERRORS(X)                                                                           \
    X(INVALID, -1, "invalid argument or configuration")                                            \
    X(NOMEM, -2, "out of memory")                                                                  \
    X(TRANSPORT, -3, "the transport could not be opened or failed")                                \
    X(STALLED, -4, "no progress within the hard limit; the job is over")                           \
    X(CLOSED, -5, "the communicator is closed or has failed")                                      \
    X(AGAIN, -6, "not finished yet")                                                               \
    X(UNSUPPORTED, -7, "not supported by this transport or build")                                 \
    X(OVER, -8, "the job's session is over: a member or the switch has restarted")                 \
    X(REFUSED, -9, "this worker cannot join its job")                                              \
    X(RANGE, -10, "a sum does not fit its type")

enum silken_error {
    SILKEN_OK = 0,
#define SILKEN_ERROR_ENUM(name, code, text) SILKEN_ERR_##name = code,
    SILKEN_ERRORS(SILKEN_ERROR_ENUM)
#undef SILKEN_ERROR_ENUM
};

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) // what libsilken exports

// A sentence about `code`: "success" for 0 and above, never NULL. Any thread.
const char *silken_strerror(int code);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
