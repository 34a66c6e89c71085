/* Any bytes as a topology: no crash, no leak, every mistake has its place in the file, places of
 * SQL stay inside it, and nothing takes long. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "config/topology.h"
#include "config/yaml_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_lines(Str text)
{
    int lines = 1;
    for (size_t i = 0; i < text.size; i++) {
        lines += text.data[i] == '\n' ? 1 : 0;
    }
    return lines;
}

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Every place of the text leads into the file. */
static void check_places(const TopologySql *sql)
{
    int lines = count_lines(sql->source);
    int text_lines = count_lines(sql->text);
    for (int line = 0; line <= text_lines + 1; line++) {
        for (int column = 1; column < 40; column += 7) {
            Error *error = error_at(ERROR_PARSE_SYNTAX_ERROR, (SourcePlace){line, column, 3}, "x");
            topology_place_sql_error(sql, error);
            int found = error_place(error).line;
            require(sql->text.size == 0 || (found >= 1 && found <= lines));
            error_free(error);
        }
        line += text_lines / 64;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) Arena *arena = arena_new("fuzz");
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    Str text = {(const char *)data, size};
    topology_load_text(text, "f.yaml", "no-such-folder", arena, &diagnostics, &topology);
    require(topology != NULL || diagnostics.count > 0);
    AUTO_BUFFER Buffer printed = {0};
    for (size_t i = 0; i < diagnostics.count; i++) {
        SourcePlace place = error_place(diagnostics.errors[i]);
        require(place.line >= 1 && place.line <= count_lines(text) && place.column >= 1);
        error_format(diagnostics.errors[i], &printed);
    }
    for (size_t i = 0; topology != NULL && i < topology->sql_count; i++) {
        check_places(&topology->sql[i]);
    }
    for (size_t i = 0; topology != NULL && i < topology->source_count; i++) {
        check_places(&topology->sources[i].columns);
    }
    diagnostics_done(&diagnostics);
    return 0;
}
