// SPDX-License-Identifier: Apache-2.0
//
// parse_impl: the files of the parser of packet scripts: parse.c (memory, errors, lines, the
// list of statements), words.c (words and lists), statements.c (statements that have no room of
// their own). What the files of other statements need is in stf_impl.h.
//
// A function that reads takes its words from p->at on; false or null when they are not there, after
// an error has been printed.
#ifndef SILKEN_PCAP_STF_PARSE_IMPL_H
#define SILKEN_PCAP_STF_PARSE_IMPL_H

#include "pcap/stf/stf_impl.h"

struct parser {
    struct stf_script *script;
    const char *at; // in the current line, which ends with a zero
    unsigned line;
    size_t room;
    unsigned errors;
    FILE *messages;
};

const char *stf_keep_text(struct parser *p, const char *text, size_t length);
// The last ADD so far with that id, or null.
const struct stf_statement *stf_find_id(const struct stf_script *s, const char *id);

// ---- words.c
char stf_skip_space(struct parser *p); // the character that follows
size_t stf_name_length(const char *s);
bool stf_port(struct parser *p, uint16_t *out);
bool stf_ports(struct parser *p, struct stf_statement *s); // up to a '|' or the end
bool stf_lags(struct parser *p, struct stf_statement *s);  // "| LAG ..." or nothing
bool stf_hex(struct parser *p, struct stf_statement *s, bool expectation);
bool stf_even_hex(struct parser *p, struct stf_statement *s);
// "ARG:VALUE, ...)"; 'comma': something stands before it already.
bool stf_more_arguments(struct parser *p, struct stf_statement *s, bool comma);
bool stf_index_of(struct parser *p, struct stf_statement *s); // "(INDEX)" or "INDEX"
bool stf_index_follows(struct parser *p); // and not the priority or a key of an entry?

// ---- statements.c: each says which members of the statement it fills
bool stf_parse_add(struct parser *p, struct stf_statement *s);
bool stf_parse_setdefault(struct parser *p, struct stf_statement *s);
bool stf_parse_remove(struct parser *p, struct stf_statement *s);
bool stf_parse_packet(struct parser *p, struct stf_statement *s);
bool stf_parse_expect(struct parser *p, struct stf_statement *s);
bool stf_parse_bare(struct parser *p, struct stf_statement *s);
bool stf_parse_check_counter(struct parser *p, struct stf_statement *s);
bool stf_parse_register_write(struct parser *p, struct stf_statement *s);
bool stf_parse_register_read(struct parser *p, struct stf_statement *s);
bool stf_parse_register_reset(struct parser *p, struct stf_statement *s);
bool stf_parse_value_set(struct parser *p, struct stf_statement *s);
bool stf_parse_port_metadata(struct parser *p, struct stf_statement *s);
bool stf_parse_loopback(struct parser *p, struct stf_statement *s);
bool stf_parse_group_create(struct parser *p, struct stf_statement *s);
bool stf_parse_node_create(struct parser *p, struct stf_statement *s);
bool stf_parse_node_update(struct parser *p, struct stf_statement *s);
bool stf_parse_node_associate(struct parser *p, struct stf_statement *s);
bool stf_parse_prune(struct parser *p, struct stf_statement *s);
bool stf_parse_words(struct parser *p, struct stf_statement *s);

#endif
