// SPDX-License-Identifier: Apache-2.0
//
// map: which port a packet of a capture came in by, when the capture is one of several ports.
//
// A map is a word, KIND or KIND:KEY=PORT,... where a KEY '*' is for what no other matches:
//
//     interface              interfaces named "port-N", as recorded runs have them, are port N
//     interface:eth0=4,1=5   by name, or by number in the section (0 is the first, and that of a
//                            pcap); an interface whose name is a key has that one, whatever its
//                            number; #1 is the number only
//     vlan:10=1,none=2       by the outer VLAN tag, which stays
//     src-mac:02:00:00:00:00:01=1,02:aa:00:00:00:00/16=2
//     src-ip:10.0.0.0/24=1,2001:db8::/32=2    the longest prefix; of ARP the sender's address
//
// By interfaces, packets that the interface sent are left out.
#ifndef SILKEN_PCAP_REPLAY_MAP_H
#define SILKEN_PCAP_REPLAY_MAP_H

#include "pcap/capture/capture.h"

// Whether it is no packet but a note about a ToR's control plane, or a part of one (notes.c).
bool replay_is_control(const struct capture_frame *f);

struct replay_map;
// Null with a sentence about the word. 'text' null: "interface".
struct replay_map *replay_map_parse(const char *text, struct sk_error *err);
void replay_map_free(struct replay_map *m); // null allowed
// Whether the map can say something about captures of this form: interfaces' names are in pcapng
// only.
bool replay_map_knows(const struct replay_map *m, enum capture_form form);
// Calls 'each' for every port that the map names.
void replay_map_ports(const struct replay_map *m, void (*each)(void *aux, uint16_t port),
                      void *aux);

// A port, or:
#define REPLAY_NO_PORT 0xffffu // nothing matches
#define REPLAY_SENT    0xfffeu // the interface sent it, or it is a note about a packet
uint16_t replay_map_port(struct replay_map *m, const struct capture_frame *f);

#endif
