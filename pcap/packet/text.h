// SPDX-License-Identifier: Apache-2.0
//
// text: one packet's bytes from what people have at hand.
//
// Hexadecimal digits, with spaces, colons, commas, "0x" and "\x" between as one likes; or a dump:
// lines of an offset and bytes, with or without the characters beside them, as hexdump -C, xxd,
// tcpdump -xx and Wireshark write. Offsets must go on where the line before ended.
#ifndef SILKEN_PCAP_PACKET_TEXT_H
#define SILKEN_PCAP_PACKET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PACKET_LONGEST 9216u // that a switch takes

// The bytes (malloc'ed), or null with a sentence: not hexadecimal, an odd number of digits, no byte
// at all, too many, a second packet. 'name' is for messages.
uint8_t *packet_text_read(const char *name, const char *text, size_t length, uint32_t *n,
                          struct sk_error *err);
// Whether it is text that could be meant for the above: printable, and beginning with a digit.
bool packet_text_is(const char *text, size_t length);

#endif
