// SPDX-License-Identifier: Apache-2.0
//
// reasons.h: why a received frame, or a packet for a flow, is refused. Each is counted.
#ifndef SILKEN_HOSTS_DLCP_REASONS_H
#define SILKEN_HOSTS_DLCP_REASONS_H

// Enum, name in statistics, and what it tells the user.
#define DLCP_REASONS(X)                                                                            \
    X(FOREIGN, "foreign", "not IPv4 and UDP without options and fragments")                        \
    X(NOT_FOR_US, "not_for_us", "another station's MAC or IP address or UDP port")                 \
    X(BAD_LENGTH, "bad_length", "lengths in the headers disagree with the frame")                  \
    X(BAD_CHECKSUM, "bad_checksum", "a checksum is wrong: damaged on the way")                     \
    X(UNKNOWN_KIND, "unknown_kind", "no kind of DLCP's")                                           \
    X(BAD_COUNT, "bad_count", "the count does not fit the length, or no element in data")          \
    X(UNKNOWN_FLOW, "unknown_flow", "no sender or receiver of such a tensor is in this process")   \
    X(OLD, "old", "an iteration that is over")                                                     \
    X(NOT_STARTED, "not_started", "data or STOP before START")                                     \
    X(OTHER_START, "other_start", "START under a name in use: the sender has begun again")         \
    X(OTHER_SIZE, "other_size", "START with another size or segment than what is expected")        \
    X(BAD_BOUND, "bad_bound", "START with a bound outside [0, 1)")                                 \
    X(BAD_ENTRIES, "bad_entries", "a signal whose body is not that of its kind")                   \
    X(OUTSIDE, "outside", "data beyond the end of the tensor")                                     \
    X(MISALIGNED, "misaligned", "data that are not one segment of the tensor")                     \
    X(NO_CONTRIBUTIONS, "no_contributions", "data of no worker at all")                            \
    X(DUPLICATE, "duplicate", "a segment that has come before")                                    \
    X(TOO_LATE, "too_late", "data after the flow has ended")                                       \
    X(BAD_RANGE, "bad_range", "MISSING with ranges that overlap, are outside, or of no segment")   \
    X(WRONG_WAY, "wrong_way", "a kind that the other end sends")                                   \
    X(NOT_EXPECTED, "not_expected", "a signal twice, an answer to none, or an earlier report")

enum dlcp_reason {
    DLCP_ACCEPTED,
#define DLCP_REASON_ENUM(name, key, text) DLCP_##name,
    DLCP_REASONS(DLCP_REASON_ENUM)
#undef DLCP_REASON_ENUM
        DLCP_REASON_COUNT
};

// Short name ("foreign") and explanation; "accepted" for DLCP_ACCEPTED.
const char *dlcp_reason_name(enum dlcp_reason reason);
const char *dlcp_reason_text(enum dlcp_reason reason);

#endif
