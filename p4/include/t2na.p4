// SPDX-License-Identifier: Apache-2.0
//
// t2na.p4: the Tofino 2 Native Architecture, see tna.p4.
#ifndef _TOFINO2_NATIVE_ARCHITECTURE_
#define _TOFINO2_NATIVE_ARCHITECTURE_

#ifndef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 2
#endif

#if __TARGET_TOFINO__ != 2
#error "the Tofino 2 native architecture needs __TARGET_TOFINO__ 2"
#endif

#include "tofino2_specs.p4"
#include "tofino2_arch.p4"

#endif
