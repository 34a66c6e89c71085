/* What the pipeline last knew of a table (a record of the progress topic) against what its SQL says
 * now. The rules are the binder's (bind/check_redefinition.c), which has the definition before in
 * its catalog; here it is checked once more against what a start has read behind its fence. */
#ifndef RUN_TABLE_DEFINITION_H
#define RUN_TABLE_DEFINITION_H

#include "processor/run/program.h"
#include "processor/run/progress.h"

/* The schemas of a definition by version, oldest first. */
NODISCARD Error *definition_schemas(const ProgressDefinition *definition, Arena *arena,
                                    const Schema ***ret_schemas);

/* The definition of the table as its SQL says, alone: one version. `begins`: where its rows begin;
 * the texts are the program's. */
ProgressDefinition definition_fresh(const ProgramTable *table, const int64_t *begins,
                                    size_t begin_count, Arena *arena);

/* `old` (whose schemas are given) brought up to what the program says: a version more when its
 * columns are others. FULL_REFRESH_REQUIRED, SCHEMA_MISMATCH. `zone`: the session's. */
NODISCARD Error *definition_next(const ProgramTable *table, const ProgressDefinition *old,
                                 const Schema *const *schemas, const TimeZone *zone, Arena *arena,
                                 ProgressDefinition *ret_definition);
/* Must the record be written anew? */
bool definition_equal(const ProgressDefinition *a, const ProgressDefinition *b);

/* Clauses of `old` that `now` does not repeat (ST-5): "COMMENT, CONSTRAINT `c`"; nothing appended
 * when there are none. */
void definition_format_removed(const ProgressDefinition *old, const ProgressDefinition *now,
                               Buffer *out);

/* The table as the catalog knows it for who redefines it; texts are shared with the definition. */
NODISCARD Error *definition_relation(Str table, const ProgressDefinition *definition, Arena *arena,
                                     Relation *ret_relation);

#endif
