/* SPDX-License-Identifier: Apache-2.0
 *
 * libra.p4: sums of the hot parameters of sparse models after Libra (Pan et al., 2022), for a Tofino 1.
 *
 * Workers push pairs of a parameter's rank and its gradient whenever they like. The switch adds each gradient to the
 * parameter's cell and acknowledges the packet; a pull is answered with what the cells hold. No packet waits for
 * another one. Values are floats; with LIBRA_INTEGERS (integer.p4) they are 32-bit integers. README.md says what of the
 * paper is here.
 */
#include <core.p4>
#include <tna.p4>

#include "headers.p4"
#include "admission.p4"
#include "parsers.p4"

// Where frames that are not ours go. A program that has another answer names its file (p4/rack).
#ifndef FORWARD_FILE
#define FORWARD_FILE "../common/forward.p4"
#endif
#include FORWARD_FILE

#ifdef LIBRA_INTEGERS
#include "integers.p4"
#else
#include "floats.p4"
#endif

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
