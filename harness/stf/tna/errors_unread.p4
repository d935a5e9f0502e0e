/* SPDX-License-Identifier: Apache-2.0
 *
 * errors_unread: ingress does not read the parser error.
 */
#define INGRESS_ERROR 0xaaaa
#include "errors.p4i"
