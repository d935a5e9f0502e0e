/* SPDX-License-Identifier: Apache-2.0
 *
 * errors_told: ingress reads the parser error.
 */
#define INGRESS_ERROR ig_prsr_md.parser_err
#include "errors.p4i"
