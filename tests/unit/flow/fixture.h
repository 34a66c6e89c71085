/* A REPLACE USING flow over a table of its own, fed with batches made by hand; what became of the
 * table is read back twice, from the store and from the published deltas, and must agree. */
#ifndef TESTS_FLOW_FIXTURE_H
#define TESTS_FLOW_FIXTURE_H

#include "tests/unit/state/fixture.h"

#include "processor/base/map.h"
#include "processor/flow/flow.h"
#include "processor/flow/table_delta.h"

enum { FIXTURE_SHARDS = 3, FIXTURE_COLUMNS_MAX = 8 };

typedef struct FlowFixture {
    char *folder;
    State *state;
    TableStore *store;
    Overlay *overlay;
    const Epoch *epoch; /* closed, not committed yet */
    Arena *arena;       /* lives as long as the fixture */
    Arena *batch_arena; /* reset after each batch */
    const Schema *schema;
    SchemaHistory *history;
    BoundFlow bound;
    Flow *flow;
    Map topic; /* key and ordinal -> Str *, the row; data NULL: tombstone */
    uint64_t upserts;
    uint64_t tombstones;
    int64_t end;
} FlowFixture;

static uint32_t fixture_shard(Str key)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < key.size; i++) {
        sum = sum * 31 + (unsigned char)key.data[i];
    }
    return sum % FIXTURE_SHARDS;
}

/* The message key is the key itself, marked. */
static uint32_t fixture_name_key(void *context, Str key, Buffer *out)
{
    (void)context;
    buffer_append_byte(out, '#');
    buffer_append_str(out, key);
    return fixture_shard(key);
}

UNUSED static void flow_fixture_open(FlowFixture *self, const Field *fields, size_t field_count,
                                     const uint32_t *keys, size_t key_count, uint32_t sequence)
{
    *self = (FlowFixture){.folder = new_folder()};
    self->state = open_state(self->folder);
    self->store = open_table(self->state, "t", FIXTURE_SHARDS);
    OverlayOptions overlay = {.name_key = fixture_name_key, .store_is_empty = true};
    self->overlay = overlay_new(self->store, &overlay);
    self->arena = arena_new("fixture");
    self->batch_arena = arena_new("batch");
    self->schema = schema_new(self->arena, fields, field_count);
    self->history = schema_history_new(self->arena);
    (void)schema_history_add(self->history, self->schema);
    self->bound = (BoundFlow){.name = STR("f"),
                              .kind = FLOW_REPLACE_USING,
                              .keys = keys,
                              .key_count = key_count,
                              .sequence = sequence};
    FlowOptions options = {&self->bound, self->schema, self->history, self->overlay};
    ok(flow_open(&options, &self->flow));
}

UNUSED static void flow_fixture_close(FlowFixture *self)
{
    flow_close(self->flow);
    overlay_free(self->overlay);
    state_close(self->state);
    map_done(&self->topic);
    arena_free(self->batch_arena);
    arena_free(self->arena);
    remove_folder(self->folder);
}

/* The delta of the epoch in hand, which is closed by it; the commit comes next. */
UNUSED static TableDelta flow_fixture_delta(FlowFixture *self)
{
    if (self->epoch == NULL) {
        self->epoch = overlay_close_epoch(self->overlay);
    }
    return table_delta_of(self->epoch);
}

/* Publishes the epoch's delta into the topic and commits it. */
UNUSED static void flow_fixture_commit(FlowFixture *self)
{
    TableDelta delta = flow_fixture_delta(self);
    DeltaRow row;
    AUTO_BUFFER Buffer key = {0};
    while (table_delta_next(&delta, &row)) {
        assert_int_equal(row.shard, fixture_shard(row.key));
        assert_int_equal(row.message_key.data[0], '#');
        assert_true(str_equal((Str){row.message_key.data + 1, row.message_key.size - 1}, row.key));
        buffer_clear(&key);
        buffer_append_str(&key, row.key);
        buffer_append_u32_be(&key, row.ordinal);
        Str *value = arena_new_object(self->arena, Str);
        *value = arena_copy_str(self->arena, row.row);
        map_put(&self->topic, arena_copy_str(self->arena, buffer_str(&key)), value);
        self->upserts += row.row.data != NULL;
        self->tombstones += row.row.data == NULL;
        self->end++;
    }
    const int64_t ends[FIXTURE_SHARDS] = {self->end, self->end, self->end};
    overlay_commit(self->overlay, ends);
    self->epoch = NULL;
}

/* Adds a value written as text: NULL, or as its type needs. Instants are microseconds. */
static void append_cell(Vector *vector, Arena *arena, Str cell)
{
    const char *text = arena_copy_cstr(arena, cell);
    if (str_equal(cell, STR("NULL"))) {
        vector_append_null(vector, arena);
    } else if (vector->type->kind == TYPE_STRING) {
        vector_append_str(vector, arena, cell);
    } else if (vector->type->kind == TYPE_DOUBLE) {
        vector_append_double(vector, arena, strtod(text, NULL));
    } else {
        vector_append_int(vector, arena, strtoll(text, NULL, 10));
    }
}

/* Applies lines of cells divided by blanks ("1 iOS click 1\n…") as one batch. */
UNUSED static void flow_fixture_apply(FlowFixture *self, const char *lines)
{
    Batch *batch = batch_new(self->batch_arena, self->schema, BATCH_ROWS);
    for (Str rest = str_from(lines); rest.size > 0;) {
        Str line = str_cut(&rest, '\n');
        for (size_t c = 0; c < self->schema->field_count; c++) {
            append_cell(batch->columns[c], self->batch_arena, str_cut(&line, ' '));
        }
        batch->row_count++;
    }
    batch->selected_count = batch->row_count;
    ok(flow_apply(self->flow, batch, self->batch_arena));
    arena_reset(self->batch_arena);
}

UNUSED static Batch *flow_fixture_decode(const FlowFixture *self, Arena *arena, Str row)
{
    Batch *batch = batch_new(arena, self->schema, 1);
    ok(row_decode(self->history, row, arena, batch));
    return batch;
}

static int64_t integer_at(const Vector *vector)
{
    switch (type_value_size(vector->type)) {
    case 1:
        return VECTOR_VALUE(vector, int8_t, 0);
    case 4:
        return VECTOR_VALUE(vector, int32_t, 0);
    default:
        assert_int_equal(type_value_size(vector->type), 8);
        return VECTOR_VALUE(vector, int64_t, 0);
    }
}

static void print_row(const FlowFixture *self, Arena *arena, Str row, Buffer *out)
{
    const Batch *batch = flow_fixture_decode(self, arena, row);
    for (size_t c = 0; c < self->schema->field_count; c++) {
        const Vector *vector = batch->columns[c];
        buffer_append_cstr(out, c == 0 ? "" : " ");
        if (!vector_is_valid(vector, 0)) {
            buffer_append_cstr(out, "NULL");
        } else if (vector->type->kind == TYPE_STRING) {
            buffer_append_str(out, VECTOR_VALUE(vector, Str, 0));
        } else if (vector->type->kind == TYPE_DOUBLE) {
            buffer_printf(out, "%g", VECTOR_VALUE(vector, double, 0));
        } else {
            buffer_printf(out, "%lld", (long long)integer_at(vector));
        }
    }
    buffer_append_byte(out, '\n');
}

static int compare_lines(const void *a, const void *b)
{
    return str_compare(*(const Str *)a, *(const Str *)b);
}

static void sort_lines(Buffer *text)
{
    AUTO(arena) Arena *arena = arena_new("sort");
    Str rest = arena_copy_str(arena, buffer_str(text));
    Str *lines = arena_new_array(arena, Str, rest.size + 1);
    size_t count = 0;
    while (rest.size > 0) {
        lines[count++] = str_cut(&rest, '\n');
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    buffer_clear(text);
    for (size_t i = 0; i < count; i++) {
        buffer_append_str(text, lines[i]);
        buffer_append_byte(text, '\n');
    }
}

/* The committed table as sorted lines; the store and the folded topic must both give them. */
UNUSED static const char *flow_fixture_table(FlowFixture *self, Buffer *out)
{
    ok(overlay_checkpoint(self->overlay, 1));
    AUTO(arena) Arena *arena = arena_new("print");
    buffer_clear(out);
    AUTO(store_scan) StoreScan *scan = table_store_scan(self->store, -1);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        ok(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        print_row(self, arena, row.row, out);
    }
    AUTO_BUFFER Buffer topic = {0};
    for (const MapEntry *entry = map_first(&self->topic); entry != NULL;
         entry = map_next(&self->topic, entry)) {
        const Str *row = entry->value;
        if (row->data != NULL) {
            print_row(self, arena, *row, &topic);
        }
    }
    sort_lines(out);
    sort_lines(&topic);
    assert_string_equal(buffer_cstr(&topic), buffer_cstr(out));
    return buffer_cstr(out);
}

#endif
