// SPDX-License-Identifier: Apache-2.0
//
// rights: "requests" of a configuration: what requests of the control socket may have of the
// switch's rights.
#ifndef SILKEN_CONTROL_CONFIG_RIGHTS_H
#define SILKEN_CONTROL_CONFIG_RIGHTS_H

#include "control/config/config.h"
#include "base/json.h"

// When nothing is said, of a compilation.
#define SK_COMPILE_SECONDS 600u
#define SK_COMPILE_MEMORY  4096u // MiB

// Kinds of devices when nothing is said: those that are interfaces or memory. What they have as a
// file or a socket in the file system is asked for all the same.
#define SK_RIGHTS_DEVICES                                                                          \
    "af_packet", "af_xdp", "tap", "null", "ring", "memif", "vhost", "virtio_user"

// Whether a request may open this device, read this file, or compile this program. A folder of the
// configuration is relative to 'beside'. Symbolic links are followed before a path is compared with
// a folder; no file is written over. What others may write in such a folder can change after the
// look: they are for who runs the switch. 0, or negative with a sentence that names the setting.
int sk_rights_device(const struct sk_config_requests *q, const char *beside, const char *device,
                     struct sk_error *err);
int sk_rights_file(const struct sk_config_requests *q, const char *beside, const char *path,
                   struct sk_error *err);
int sk_rights_program(const struct sk_config_requests *q, const char *beside, const char *path,
                      struct sk_error *err);

// config.c's: the member "requests" of the file into c->requests.
void sk_config_read_requests(const struct sk_at *root, struct sk_config *c);

#endif
