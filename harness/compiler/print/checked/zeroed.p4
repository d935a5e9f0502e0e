// SPDX-License-Identifier: Apache-2.0
//
// misuse.p4 with metadata that starts as zero, but for one field.
@pa_auto_init_metadata
@pa_no_init("ingress", "md.sometimes")
@pa_no_init("egress", "md.never") // the other one's
const bit<8> ANNOTATED = 0;

#include "misuse.p4"
