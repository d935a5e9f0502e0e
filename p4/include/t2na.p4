// SPDX-License-Identifier: Apache-2.0
//
// t2na.p4: the Tofino 2 Native Architecture, see tna.p4.
#ifndef _TOFINO2_NATIVE_ARCHITECTURE_
#define _TOFINO2_NATIVE_ARCHITECTURE_

// A program that includes this file is for a Tofino 2, whatever chip was the default.
#undef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 2

#include "tofino2_specs.p4"
#include "tofino2_arch.p4"

#endif
