/* EBNF read by recursive descent into nodes, and walked at random. */
#include "tests/support/grammar.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "processor/base/banned.h"

typedef enum NodeKind {
    NODE_TERMINAL, /* text */
    NODE_TOKEN,    /* text */
    NODE_NAME,     /* text, production */
    NODE_SEQUENCE, /* items */
    NODE_CHOICE,   /* items */
    NODE_OPTION,   /* items[0] */
    NODE_REPEAT,   /* items[0] */
} NodeKind;

typedef struct Production Production;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    Str text;
    Production *production;
    Node **items;
    size_t count;
    size_t capacity;
    int levels;   /* needed at least */
    size_t taken; /* by sentences; of an option or repetition: its body */
    size_t left;  /* of these: left out */
};

struct Production {
    Str name;
    Node *body;
    int levels;
    bool visited;
};

struct Grammar {
    Arena *arena;
    Production **productions;
    size_t count;
    size_t capacity;
    Str rest; /* what is still to be read */
    const char *error;
};

enum { LEVELS_UNKNOWN = INT_MAX / 2 };

/* --------------------------------------------------------------- reading --- */

static void skip_blank(Grammar *grammar)
{
    Str *rest = &grammar->rest;
    for (;;) {
        *rest = str_trim(*rest);
        if (!str_starts_with(*rest, STR("(*"))) {
            return;
        }
        const char *end = memmem(rest->data, rest->size, "*)", 2);
        if (end == NULL) {
            grammar->error = "comment without end";
            rest->size = 0;
            return;
        }
        *rest = (Str){end + 2, rest->size - (size_t)(end + 2 - rest->data)};
    }
}

static char peek(Grammar *grammar)
{
    skip_blank(grammar);
    return grammar->rest.size == 0 ? '\0' : grammar->rest.data[0];
}

static bool accept(Grammar *grammar, char c)
{
    if (peek(grammar) != c) {
        return false;
    }
    grammar->rest.data++;
    grammar->rest.size--;
    return true;
}

static void expect(Grammar *grammar, char c, const char *error)
{
    if (!accept(grammar, c) && grammar->error == NULL) {
        grammar->error = error;
    }
}

static Str take(Grammar *grammar, size_t size)
{
    Str taken = {grammar->rest.data, size};
    grammar->rest.data += size;
    grammar->rest.size -= size;
    return taken;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static Str take_name(Grammar *grammar)
{
    (void)peek(grammar);
    size_t size = 0;
    while (size < grammar->rest.size && is_name_byte(grammar->rest.data[size])) {
        size++;
    }
    if (size == 0 && grammar->error == NULL) {
        grammar->error = "name expected";
    }
    return take(grammar, size);
}

static Node *new_node(Grammar *grammar, NodeKind kind)
{
    Node *node = arena_new_object(grammar->arena, Node);
    node->kind = kind;
    return node;
}

static Node *read_choice(Grammar *grammar);

static Node *read_enclosed(Grammar *grammar, NodeKind kind, char close)
{
    Node *node = new_node(grammar, kind);
    grammar->rest.data++;
    grammar->rest.size--;
    *arena_push(grammar->arena, node->items, node->count, node->capacity) = read_choice(grammar);
    expect(grammar, close, "bracket without end");
    return kind == NODE_SEQUENCE ? node->items[0] : node;
}

static Node *read_terminal(Grammar *grammar)
{
    Node *node = new_node(grammar, NODE_TERMINAL);
    (void)take(grammar, 1);
    node->text = take(grammar, str_find_byte(grammar->rest, '"'));
    expect(grammar, '"', "terminal without end");
    return node;
}

static Node *read_item(Grammar *grammar)
{
    switch (peek(grammar)) {
    case '(':
        return read_enclosed(grammar, NODE_SEQUENCE, ')');
    case '[':
        return read_enclosed(grammar, NODE_OPTION, ']');
    case '{':
        return read_enclosed(grammar, NODE_REPEAT, '}');
    case '"':
        return read_terminal(grammar);
    default:
        break;
    }
    Str name = take_name(grammar);
    bool token = name.size > 0 && name.data[0] >= 'A' && name.data[0] <= 'Z';
    Node *node = new_node(grammar, token ? NODE_TOKEN : NODE_NAME);
    node->text = name;
    return node;
}

static Node *read_sequence(Grammar *grammar)
{
    Node *node = new_node(grammar, NODE_SEQUENCE);
    while (grammar->error == NULL && peek(grammar) != '\0' &&
           strchr(";|)]}", peek(grammar)) == NULL) {
        *arena_push(grammar->arena, node->items, node->count, node->capacity) = read_item(grammar);
    }
    return node->count == 1 ? node->items[0] : node;
}

static Node *read_choice(Grammar *grammar)
{
    Node *node = new_node(grammar, NODE_CHOICE);
    do {
        *arena_push(grammar->arena, node->items, node->count, node->capacity) =
            read_sequence(grammar);
    } while (grammar->error == NULL && accept(grammar, '|'));
    return node->count == 1 ? node->items[0] : node;
}

static Production *find(const Grammar *grammar, Str name)
{
    for (size_t i = 0; i < grammar->count; i++) {
        if (str_equal(grammar->productions[i]->name, name)) {
            return grammar->productions[i];
        }
    }
    return NULL;
}

Grammar *grammar_new(Arena *arena)
{
    Grammar *grammar = arena_new_object(arena, Grammar);
    grammar->arena = arena;
    return grammar;
}

const char *grammar_read(Grammar *grammar, Str text)
{
    grammar->rest = text;
    while (grammar->error == NULL && peek(grammar) != '\0') {
        Str name = take_name(grammar);
        expect(grammar, '=', "'=' expected");
        Node *body = read_choice(grammar);
        expect(grammar, ';', "';' expected");
        Production *production = find(grammar, name);
        if (production == NULL) {
            production = arena_new_object(grammar->arena, Production);
            *arena_push(grammar->arena, grammar->productions, grammar->count, grammar->capacity) =
                production;
        }
        *production = (Production){.name = name, .body = body};
    }
    return grammar->error;
}

/* --------------------------------------------------------------- linking --- */

static void link_node(Grammar *grammar, Node *node)
{
    if (node->kind == NODE_NAME) {
        node->production = find(grammar, node->text);
        if (node->production == NULL) {
            grammar->error = arena_copy_cstr(grammar->arena, node->text);
        }
    }
    for (size_t i = 0; i < node->count; i++) {
        link_node(grammar, node->items[i]);
    }
}

/* Levels the node needs at least, as far as known. */
static int levels_of(Node *node)
{
    int least = node->kind == NODE_CHOICE ? LEVELS_UNKNOWN : 0;
    for (size_t i = 0; i < node->count; i++) {
        int levels = levels_of(node->items[i]);
        bool take = node->kind == NODE_CHOICE ? levels < least : levels > least;
        least = take ? levels : least;
    }
    if (node->kind == NODE_NAME) {
        least = node->production->levels + 1;
    }
    bool may_be_absent = node->kind == NODE_OPTION || node->kind == NODE_REPEAT;
    node->levels = least;
    return may_be_absent ? 0 : least;
}

const char *grammar_link(Grammar *grammar)
{
    for (size_t i = 0; i < grammar->count; i++) {
        grammar->productions[i]->levels = LEVELS_UNKNOWN;
        link_node(grammar, grammar->productions[i]->body);
    }
    for (bool changed = grammar->error == NULL; changed;) {
        changed = false;
        for (size_t i = 0; i < grammar->count; i++) {
            Production *production = grammar->productions[i];
            int levels = levels_of(production->body);
            changed = changed || levels < production->levels;
            production->levels = levels;
        }
    }
    return grammar->error;
}

/* -------------------------------------------------------------- deriving --- */

static void derive(Node *node, GrammarWriter *writer, int levels);

/* The alternative taken least so far, half of the times; always when it never was. */
static void derive_choice(Node *node, GrammarWriter *writer, int levels)
{
    Node *picked = NULL;
    uint32_t fitting = 0;
    bool rare = random_below(&writer->random, 2) == 0;
    for (size_t i = 0; i < node->count; i++) {
        Node *item = node->items[i];
        if (item->levels > levels && item->levels > node->levels) {
            continue;
        }
        bool take = rare ? picked == NULL || item->taken < picked->taken
                         : random_below(&writer->random, ++fitting) == 0;
        picked = take || (item->taken == 0 && picked->taken > 0) ? item : picked;
    }
    assert(picked != NULL);
    picked->taken++;
    derive(picked, writer, levels);
}

static bool go_on(const Node *node, GrammarWriter *writer, int levels)
{
    bool fits = node->items[0]->levels <= levels && writer->tokens < writer->tokens_max;
    if (fits && node->taken == 0) {
        return true;
    }
    return fits && random_below(&writer->random, node->taken < node->left / 8 ? 2 : 5) == 0;
}

static void derive_optional(Node *node, GrammarWriter *writer, int levels)
{
    enum { REPEATED_MAX = 4 };
    int most = node->kind == NODE_REPEAT ? REPEATED_MAX : 1;
    int times = 0;
    while (times < most && go_on(node, writer, levels)) {
        times++;
        derive(node->items[0], writer, levels);
    }
    *(times > 0 ? &node->taken : &node->left) += 1;
}

/* Now and then a part is kept short, so that what comes behind it gets its turn. */
static int levels_inside(GrammarWriter *writer, int levels)
{
    enum { SHORTENED_EVERY = 12 };
    bool shorten = random_below(&writer->random, SHORTENED_EVERY) == 0;
    return shorten ? levels / 2 : levels - 1;
}

static void derive(Node *node, GrammarWriter *writer, int levels)
{
    int left = writer->tokens < writer->tokens_max ? levels : 0;
    switch (node->kind) {
    case NODE_TERMINAL:
    case NODE_TOKEN:
        writer->tokens++;
        writer->write(writer->context, node->text, node->kind == NODE_TOKEN);
        return;
    case NODE_NAME:
        derive(node->production->body, writer, levels_inside(writer, left));
        return;
    case NODE_SEQUENCE:
        for (size_t i = 0; i < node->count; i++) {
            derive(node->items[i], writer, left);
        }
        return;
    case NODE_CHOICE:
        derive_choice(node, writer, left);
        return;
    case NODE_OPTION:
    case NODE_REPEAT:
        derive_optional(node, writer, left);
        return;
    }
}

void grammar_derive(Grammar *grammar, const char *production, GrammarWriter *writer)
{
    Production *found = find(grammar, str_from(production));
    assert(found != NULL);
    writer->tokens = 0;
    derive(found->body, writer, writer->levels);
}

/* -------------------------------------------------------------- coverage --- */

static void describe(const Node *node, Buffer *out)
{
    if (node->kind == NODE_TERMINAL || node->kind == NODE_TOKEN || node->kind == NODE_NAME) {
        buffer_append_str(out, node->text);
        buffer_append_byte(out, ' ');
    }
    for (size_t i = 0; i < node->count; i++) {
        describe(node->items[i], out);
    }
}

static void report(const Production *production, const Node *node, const char *what, Buffer *out)
{
    buffer_printf(out, "%.*s: %s: ", STR_ARG(production->name), what);
    describe(node, out);
    buffer_append_byte(out, '\n');
}

static void list_untaken(Production *production, Node *node, Buffer *out)
{
    bool optional = node->kind == NODE_OPTION || node->kind == NODE_REPEAT;
    if (optional && node->taken == 0) {
        report(production, node->items[0], "never taken", out);
    }
    if (optional && node->left == 0) {
        report(production, node->items[0], "never left out", out);
    }
    for (size_t i = 0; i < node->count; i++) {
        if (node->kind == NODE_CHOICE && node->items[i]->taken == 0) {
            report(production, node->items[i], "never taken", out);
        }
        list_untaken(production, node->items[i], out);
    }
    if (node->kind == NODE_NAME && !node->production->visited) {
        node->production->visited = true;
        list_untaken(node->production, node->production->body, out);
    }
}

void grammar_untaken(Grammar *grammar, const char *production, Buffer *out)
{
    for (size_t i = 0; i < grammar->count; i++) {
        grammar->productions[i]->visited = false;
    }
    Production *found = find(grammar, str_from(production));
    assert(found != NULL);
    list_untaken(found, found->body, out);
}
