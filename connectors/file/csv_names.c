/* Names of CSV columns. Equal ones stand side by side once they are sorted, so a header of
 * thousands of names costs no more than its sorting. */
#include "connectors/file/csv_names.h"

#include <stdlib.h>

#include "processor/base/banned.h"

typedef struct Numbered {
    Str name;
    size_t number;
} Numbered;

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static int compare_names(const void *a, const void *b)
{
    const Str left = ((const Numbered *)a)->name;
    const Str right = ((const Numbered *)b)->name;
    size_t size = left.size < right.size ? left.size : right.size;
    for (size_t i = 0; i < size; i++) {
        int difference =
            (unsigned char)small_letter(left.data[i]) - (unsigned char)small_letter(right.data[i]);
        if (difference != 0) {
            return difference;
        }
    }
    return (left.size > right.size) - (left.size < right.size);
}

/* Which of the names are there twice. */
static bool *find_doubles(const Str *names, size_t count, Arena *arena)
{
    Numbered *sorted = arena_new_array(arena, Numbered, count);
    bool *doubles = arena_new_array(arena, bool, count);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (Numbered){names[i], i};
    }
    if (count > 0) {
        qsort(sorted, count, sizeof *sorted, compare_names);
    }
    for (size_t i = 1; i < count; i++) {
        if (compare_names(&sorted[i - 1], &sorted[i]) == 0) {
            doubles[sorted[i - 1].number] = true;
            doubles[sorted[i].number] = true;
        }
    }
    return doubles;
}

Str *csv_column_names(const CsvRecord *header, Arena *arena)
{
    Str *names = arena_new_array(arena, Str, header->count);
    for (size_t i = 0; i < header->count; i++) {
        const Str field = header->fields[i];
        names[i] = field.data == NULL ? STR("") : str_trim(field);
    }
    const bool *doubles = find_doubles(names, header->count, arena);
    for (size_t i = 0; i < header->count; i++) {
        if (names[i].size == 0) {
            names[i] = str_from(arena_printf(arena, "_c%zu", i));
        } else if (doubles[i]) {
            names[i] = str_from(arena_printf(arena, "%.*s%zu", STR_ARG(names[i]), i));
        } else {
            names[i] = arena_copy_str(arena, names[i]);
        }
    }
    return names;
}
