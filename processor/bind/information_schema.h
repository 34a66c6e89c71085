/* INFORMATION_SCHEMA: the relations that tell of row filters and masks (ST-69). Not for other
 * rooms. */
#ifndef BIND_INFORMATION_SCHEMA_H
#define BIND_INFORMATION_SCHEMA_H

#include "processor/bind/binder.h"

/* Is it [catalog.]information_schema.…? */
bool is_information_schema(const AstName *name);
/* The relation of that name, or NULL. */
const Relation *information_schema_find(Arena *arena, const AstName *name);

#endif
