// SPDX-License-Identifier: Apache-2.0
#include "silken/error.h"

const char *silken_strerror(int code) {
    switch (code) {
#define ERROR_TEXT(name, number, text)                                                             \
    case number:                                                                                   \
        return text;
        SILKEN_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
    default:
        return code >= 0 ? "success" : "unknown error";
    }
}
