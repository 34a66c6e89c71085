/* CSV text cut into records and fields. Sixteen bytes are looked at a time for the end of a field,
 * as most have neither quotes nor anything else to think about. */
#include "connectors/file/csv_fields.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "connectors/file/file_table_internal.h"

#include "processor/base/banned.h"

/* The first separator or line end from `at` on, or `end`. */
static const char *find_end(char separator, const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i separators = _mm_set1_epi8(separator);
    const __m128i line_ends = _mm_set1_epi8('\n');
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)at);
        int found = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, separators), _mm_cmpeq_epi8(bytes, line_ends)));
        if (found != 0) {
            return at + __builtin_ctz((unsigned)found);
        }
    }
#endif
    while (at < end && *at != separator && *at != '\n') {
        at++;
    }
    return at;
}

/* Moves behind the separator or line end at *at. */
static CsvEnd pass_end(char separator, const char **at, const char *end)
{
    if (*at == end) {
        return CSV_RECORD;
    }
    return *(*at)++ == separator ? CSV_FIELD : CSV_RECORD;
}

static CsvEnd plain_field(char separator, const char **at, const char *end, CsvField *ret_field)
{
    const char *first = *at;
    *at = find_end(separator, first, end);
    const char *stop = *at;
    bool line_end = stop == end || *stop == '\n';
    if (line_end && stop > first && stop[-1] == '\r') {
        stop--;
    }
    *ret_field = (CsvField){.text = {first, (size_t)(stop - first)}};
    return pass_end(separator, at, end);
}

/* The quote that closes the text at `at`, or `end`. */
static const char *closing_quote(const char *at, const char *end, bool *escaped)
{
    for (; at < end; at++) {
        if (*at == '"') {
            if (at + 1 == end || at[1] != '"') {
                return at;
            }
            *escaped = true;
            at++;
        } else if (*at == '\\') {
            *escaped = true;
            at++;
        }
    }
    return end;
}

/* Does a field end there? */
static bool ends_field(char separator, const char *at, const char *end)
{
    return at == end || *at == separator || *at == '\n' ||
           (*at == '\r' && (at + 1 == end || at[1] == '\n'));
}

static CsvEnd quoted_field(char separator, const char **at, const char *end, CsvField *ret_field)
{
    CsvField field = {.quoted = true};
    const char *first = *at + 1;
    const char *stop = closing_quote(first, end, &field.escaped);
    if (stop >= end) {
        *ret_field = field;
        return CSV_OPEN;
    }
    if (!ends_field(separator, stop + 1, end)) {
        return plain_field(separator, at, end, ret_field);
    }
    field.text = (Str){first, (size_t)(stop - first)};
    *ret_field = field;
    *at = stop + 1;
    if (*at < end && **at == '\r' && separator != '\r') {
        (*at)++;
    }
    return pass_end(separator, at, end);
}

CsvEnd csv_next_field(char separator, const char **at, const char *end, CsvField *ret_field)
{
    if (*at < end && **at == '"') {
        return quoted_field(separator, at, end, ret_field);
    }
    return plain_field(separator, at, end, ret_field);
}

Str csv_field_text(const CsvField *field, Arena *arena)
{
    if (field->text.size == 0) {
        return field->quoted ? STR("") : STR_NULL;
    }
    if (!field->escaped) {
        return field->text;
    }
    char *text = arena_alloc_bytes(arena, field->text.size);
    size_t size = 0;
    for (size_t i = 0; i < field->text.size; i++) {
        char c = field->text.data[i];
        char next = i + 1 < field->text.size ? field->text.data[i + 1] : 0;
        /* Another character behind a backslash leaves it a backslash. */
        bool escapes = (c == '"' && next == '"') || (c == '\\' && (next == '"' || next == '\\'));
        i += escapes;
        text[size++] = field->text.data[i];
    }
    return (Str){text, size};
}

/* Behind the record that begins at `at`; NULL when it does not end before `end`. */
static const char *behind_record(char separator, const char *at, const char *end)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL || memchr(at, '"', (size_t)(line_end - at)) == NULL) {
        return line_end == NULL ? NULL : line_end + 1;
    }
    CsvField field;
    CsvEnd stop = CSV_FIELD;
    while (stop == CSV_FIELD) {
        stop = csv_next_field(separator, &at, end, &field);
    }
    return stop == CSV_RECORD && at[-1] == '\n' ? at : NULL;
}

size_t csv_records_end(const void *context, Str bytes)
{
    if (memchr(bytes.data, '"', bytes.size) == NULL) {
        return chunk_lines_end(context, bytes);
    }
    const char separator = ((const FileTable *)context)->separator;
    const char *at = bytes.data;
    const char *const end = bytes.data + bytes.size;
    while (at < end) {
        const char *next = behind_record(separator, at, end);
        if (next == NULL) {
            break;
        }
        at = next;
    }
    return (size_t)(at - bytes.data);
}
