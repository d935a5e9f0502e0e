// SPDX-License-Identifier: Apache-2.0
//
// ps/ps.h: under the name that programs for PS-lite include; see silken/ps.h.
#ifndef PS_PS_H_
#define PS_PS_H_

#include "silken/ps.h"

#endif
