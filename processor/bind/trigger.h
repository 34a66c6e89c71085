/* TRIGGER ON UPDATE: the upstreams of a table, whose changes start a refresh (ST-38 … ST-41). Not
 * for other rooms. */
#ifndef BIND_TRIGGER_H
#define BIND_TRIGGER_H

#include "processor/base/map.h"
#include "processor/bind/binder.h"

typedef struct Upstreams {
    const Binder *binder;
    Map names; /* of relations, views and file or topic sources met so far */
    size_t count;
} Upstreams;

void upstreams_init(Upstreams *upstreams, const Binder *binder);
void upstreams_done(Upstreams *upstreams);
void upstreams_add_query(Upstreams *upstreams, const AstQuery *query);
void upstreams_add_relation(Upstreams *upstreams, const AstRelation *relation);
/* TOO_MANY_TRIGGER_SOURCES, UNSUPPORTED_TRIGGER_SOURCE. */
NODISCARD Error *upstreams_check(const Upstreams *upstreams, SourcePlace place);

#endif
