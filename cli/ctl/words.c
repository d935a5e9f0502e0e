// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/ctl_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ctl/print.h"

const char *ctl_next_word(struct ctl *c, const char *what) {
    if (*c->words)
        return *c->words++;
    if (!c->bad)
        cli_misused("ctl", "%s is missing", what);
    c->bad = true;
    return "";
}

void ctl_set_text(struct ctl *c, const char *key, const char *text) {
    if (json_object_set_new(c->request, key, json_string(text)) && !c->bad) {
        cli_misused("ctl", "a name is not UTF-8 text");
        c->bad = true;
    }
}

// Of a word that is one.
long long ctl_number_of(const char *word) {
    const char *digits = word + (*word == '-');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    return strtoll(word, NULL, hex ? 16 : 10);
}

void ctl_set_number(struct ctl *c, const char *key, const char *word) {
    if (!sk_is_number(word) || strlen(word) > 18) {
        if (!c->bad)
            cli_misused("ctl", "'%s' must be a number", word);
        c->bad = true;
        return;
    }
    json_object_set_new(c->request, key, json_integer(ctl_number_of(word)));
}

// "[pipe N]" at the end of what is left.
void ctl_take_pipe(struct ctl *c) {
    if (*c->words && strcmp(*c->words, "pipe") == 0) {
        c->words++;
        ctl_set_number(c, "pipe", ctl_next_word(c, "the number of the pipe"));
    }
}

void ctl_op(struct ctl *c, const char *name) {
    ctl_set_text(c, "op", name);
}

bool ctl_is(const char *word, const char *what) {
    return strcmp(word, what) == 0;
}

int ctl_unknown(struct ctl *c, const char *group, const char *word) {
    if (!c->bad)
        cli_misused("ctl", "there is no '%s %s'", group, word);
    return EXIT_UNUSABLE;
}

// ---- entries ----

static json_t *member_object(struct ctl *c, const char *key) {
    json_t *object = json_object_get(c->request, key);
    if (!object) {
        object = json_object();
        json_object_set_new(c->request, key, object);
    }
    return object;
}

void ctl_add_pair(struct ctl *c, const char *object, const char *text, size_t n) {
    while (n > 0 && isspace((unsigned char)*text))
        text++, n--;
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    const char *equals = memchr(text, '=', n);
    if (!equals) {
        if (!c->bad)
            cli_misused("ctl", "'%.*s' should be NAME=VALUE", (int)n, text);
        c->bad = true;
        return;
    }
    char *name = strndup(text, (size_t)(equals - text));
    if (json_object_get(member_object(c, object), name)) {
        if (!c->bad)
            cli_misused("ctl", "'%s' is given twice", name);
        c->bad = true;
        free(name);
        return;
    }
    json_t *value = json_stringn(equals + 1, n - (size_t)(equals - text) - 1);
    if (!value || json_object_set_new(member_object(c, object), name, value)) {
        c->bad = true;
        cli_misused("ctl", "'%.*s' is not UTF-8 text", (int)n, text);
    }
    free(name);
}

// "ACTION(ARG=VALUE, ...)" or "ACTION"
void ctl_add_action(struct ctl *c, const char *text) {
    size_t name = strcspn(text, "("), n = strlen(text);
    bool member = strncmp(text, "member(", 7) == 0;
    if ((member || strncmp(text, "group(", 6) == 0) && !strchr(text, '=') && text[n - 1] == ')') {
        char *id = strndup(text + name + 1, n - name - 2);
        ctl_set_number(c, member ? "member" : "group", id);
        free(id);
        return;
    }
    char *action = strndup(text, name);
    ctl_set_text(c, "action", action);
    free(action);
    if (name == n)
        return;
    if (text[n - 1] != ')') {
        if (!c->bad)
            cli_misused("ctl", "')' is missing after '%s'", text);
        c->bad = true;
        return;
    }
    const char *at = text + name + 1, *end = text + n - 1;
    while (at < end && !c->bad) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        ctl_add_pair(c, "args", at, (size_t)(stop - at));
        at = stop + 1;
    }
}

bool ctl_is_pair(const char *word) {
    size_t n = strcspn(word, "=(");
    return word[n] == '=';
}

void ctl_take_entry(struct ctl *c, unsigned parts) {
    ctl_set_text(c, "table", ctl_next_word(c, "a table"));
    if (parts & CTL_KEY && *c->words && sk_is_number(*c->words))
        ctl_set_number(c, "priority", *c->words++);
    while (parts & CTL_KEY && *c->words && ctl_is_pair(*c->words)) {
        ctl_add_pair(c, "key", *c->words, strlen(*c->words));
        c->words++;
    }
    if (parts & CTL_ACTION)
        ctl_add_action(c, ctl_next_word(c, "an action"));
    ctl_take_pipe(c);
}

// ---- lists of words ----

// "INDEX" or "INDEX-INDEX"
void ctl_take_range(struct ctl *c) {
    if (!*c->words)
        return;
    if (**c->words == '-') {
        if (!c->bad)
            cli_misused("ctl", "there is no index %s", *c->words);
        c->bad = true;
        return;
    }
    char *first = strdup(*c->words++), *dash = strchr(first, '-');
    if (dash)
        *dash = 0;
    const char *last = dash ? dash + 1 : first;
    ctl_set_number(c, "from", first);
    if (sk_is_number(last) && !c->bad)
        json_object_set_new(c->request, "count",
                            json_integer(ctl_number_of(last) - ctl_number_of(first) + 1));
    else
        ctl_set_number(c, "count", last);
    if (!c->bad && json_integer_value(json_object_get(c->request, "count")) < 1) {
        cli_misused("ctl", "the range %s-%s ends before it starts", first, last);
        c->bad = true;
    }
    free(first);
}

// "INDEX" or "all"
void ctl_take_cells(struct ctl *c) {
    if (*c->words && strcmp(*c->words, "all") == 0)
        ctl_set_text(c, "index", *c->words++);
    else
        ctl_set_number(c, "index", ctl_next_word(c, "an index"));
}

void ctl_take_pairs(struct ctl *c, const char *object) {
    for (; *c->words && ctl_is_pair(*c->words); c->words++)
        ctl_add_pair(c, object, *c->words, strlen(*c->words));
}

// Words KEY=VALUE become members: numbers, lists of numbers (1,2,-: '-' is null), text.
void ctl_take_members(struct ctl *c) {
    for (; *c->words && ctl_is_pair(*c->words); c->words++) {
        char *key = strndup(*c->words, strcspn(*c->words, "="));
        const char *text = *c->words + strlen(key) + 1;
        char *end;
        long long v = strtoll(text, &end, 0);
        if (*text && !*end) {
            json_object_set_new(c->request, key, json_integer(v));
        } else if (strspn(text, "0123456789,-") == strlen(text)) {
            json_t *list = json_array();
            for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
                json_array_append_new(list, *at == '-' ? json_null()
                                                       : json_integer(strtoll(at, NULL, 10)));
            json_object_set_new(c->request, key, list);
        } else {
            ctl_set_text(c, key, text);
        }
        free(key);
    }
}

// ---- talking ----

static json_t *ctl_words_call(struct ctl *c) {
    struct sk_error err;
    json_t *result = sk_client_call(c->client, json_deep_copy(c->request), &err);
    if (!result)
        fprintf(stderr, "silken ctl: %s\n", err.text);
    return result;
}

int ctl_finish(struct ctl *c, void (*print)(const json_t *result)) {
    if (*c->words && !c->bad) {
        cli_misused("ctl", "unexpected argument '%s'", *c->words);
        c->bad = true;
    }
    if (c->bad)
        return EXIT_UNUSABLE;
    if (c->collects)
        return EXIT_GOOD;
    json_t *result = ctl_words_call(c);
    if (!result)
        return EXIT_FAILED;
    if (c->json)
        ctl_print_json(result);
    else if (print)
        print(result);
    json_decref(result);
    return EXIT_GOOD;
}

// Page by page: 'list' of each result is printed as it comes.
int ctl_finish_pages(struct ctl *c, const char *list,
                     void (*print)(const json_t *result, bool first)) {
    if (*c->words && !c->bad)
        return cli_misused("ctl", "unexpected argument '%s'", *c->words);
    if (c->collects)
        return cli_misused("ctl", "a batch has no lists that are shown");
    if (c->bad)
        return EXIT_UNUSABLE;
    long long left = json_integer_value(json_object_get(c->request, "count"));
    bool counted = left > 0;
    for (bool first = true;; first = false) {
        json_t *result = ctl_words_call(c);
        if (!result)
            return EXIT_FAILED;
        if (c->json)
            ctl_print_json(result);
        else
            print(result, first);
        size_t i;
        json_t *pipe;
        json_array_foreach(json_object_get(result, "differ"), i, pipe) {
            c->differ |= 1u << (json_integer_value(pipe) % SK_PIPES);
        }
        left -= (long long)json_array_size(json_object_get(result, list));
        json_t *next = json_incref(json_object_get(result, "next"));
        json_decref(result);
        if (!next || (counted && left <= 0)) {
            json_decref(next);
            return EXIT_GOOD;
        }
        json_object_set_new(c->request, "from", next);
        if (counted)
            json_object_set_new(c->request, "count", json_integer(left));
    }
}

int ctl_members_request(struct ctl *c, const char *name) {
    c->words++;
    ctl_op(c, name);
    ctl_take_members(c);
    return ctl_finish(c, NULL);
}
