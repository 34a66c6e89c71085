/* Views of a program (SQ-49): names for queries. A view keeps no rows; who reads it gets its
 * query's tree, bound once and shared. A view over a STREAM is read with STREAM. Not for other
 * rooms. */
#ifndef BIND_VIEW_H
#define BIND_VIEW_H

#include "processor/bind/bind_query_internal.h"

typedef enum ViewState { VIEW_NEW, VIEW_BINDING, VIEW_BOUND, VIEW_FAILED } ViewState;

typedef struct View {
    const AstCreateView *create;
    Diagnostics *diagnostics; /* of its statement */
    ViewState state;
    /* VIEW_BOUND */
    BoundNode *node;
    const Schema *schema; /* its columns as they are named */
    size_t weight;        /* of binder_grow */
    bool streams;         /* reads a STREAM */
    bool has_watermark;
    /* What its query must not do in a REPLACE USING flow [0], in an append flow [1]: found once. */
    bool rules_checked[2];
    Error *rule_broken[2];
} View;

/* The view of that name in the binder's program, or NULL. */
View *binder_find_view(const Binder *binder, const AstName *name);
/* Binds the view on first use; what is wrong in it is told at its statement. An error at `place`
 * when it reads itself; a consequence (not shown) when it has a mistake. */
NODISCARD Error *view_bind(const Binder *binder, View *view, SourcePlace place);
void view_done(View *view);
/* FROM view */
NODISCARD Error *bind_view_read(Binder *binder, View *view, const AstRelation *ast,
                                FromResult *result);

/* The CREATE VIEW itself; true when it needs nothing that is not built. */
bool bind_create_view(Binder *binder, const AstCreateView *create);
void bind_drop_view(Binder *binder, const AstDrop *drop);

/* The columns of a relation or view by name; *ret_schema is NULL when they are not known because
 * of a mistake told elsewhere. */
NODISCARD Error *binder_find_columns(Binder *binder, const AstName *name,
                                     const Schema **ret_schema);

#endif
