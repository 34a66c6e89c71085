/* Logical plan of one query: a tree of relational nodes over numbered sources, after the optimizer.
 * Scans read only the columns used. Read-only once built; lives in the arena of plan_build. */
#ifndef PLAN_LOGICAL_H
#define PLAN_LOGICAL_H

#include "processor/base/error.h"
#include "processor/bind/bound.h"

typedef struct LogicalNode LogicalNode;

/* As the BoundNodeKinds of the same names, where nothing else is said.
 *
 * Keys of a MARK or NULL_ANTI join: those that are not `null_equal` are the operands of an IN, and
 * a NULL in them leaves the answer open; those that are, and `condition`, say which rows of the
 * right side are asked at all. */
typedef enum LogicalKind {
    LOGICAL_SCAN,
    LOGICAL_VALUES,
    LOGICAL_ONE_ROW,
    LOGICAL_RANGE,
    LOGICAL_FILTER,
    LOGICAL_PROJECT,
    LOGICAL_AGGREGATE,
    LOGICAL_EXPAND,
    LOGICAL_WINDOW,
    LOGICAL_JOIN, /* keys equal (expressions: the left ones, right_keys), and `condition` TRUE */
    LOGICAL_SET,
    LOGICAL_SORT,  /* the first `limit` rows only when that is not -1 */
    LOGICAL_LIMIT, /* with expressions: so many of each run of rows in which these are equal */
    LOGICAL_GENERATE,
    LOGICAL_WATERMARK, /* keeps the watermark of its event time */
} LogicalKind;

/* Event time on one side of a join of streams: how long its rows can still find a match (RU-31). */
typedef struct StreamJoinSide {
    uint32_t column;  /* of that side: an event time with a watermark; where it is `bounded` */
    bool bounded;     /* rows of the other side that match have times of at most that + reach_us */
    int64_t reach_us; /* may be below 0 */
} StreamJoinSide;

typedef struct StreamJoin {
    StreamJoinSide left;
    StreamJoinSide right;
    const size_t *watermarks; /* of both sides; their least is what has passed */
    size_t watermark_count;
} StreamJoin;

struct LogicalNode {
    LogicalKind kind;
    const Schema *schema; /* of the output */
    LogicalNode *child;
    LogicalNode *right;      /* JOIN, SET */
    size_t source;           /* SCAN: index in LogicalPlan.sources */
    BoundExpr **expressions; /* as BoundNode's; JOIN: left keys over the child's columns */
    size_t expression_count;
    size_t row_count;                 /* VALUES, EXPAND */
    const BoundAggregate *aggregates; /* AGGREGATE */
    size_t aggregate_count;
    const BoundWindowCall *windows; /* WINDOW */
    size_t window_count;
    const BoundSortKey *sort_keys; /* SORT, WINDOW */
    size_t sort_key_count;
    JoinKind join;
    BoundExpr **right_keys;     /* JOIN: over the right's columns, of the left keys' types */
    const bool *null_equal;     /* JOIN: one a key, `<=>` instead of `=` */
    BoundExpr *condition;       /* JOIN: over both sides' columns; NULL: none */
    bool build_left;            /* JOIN: the left side is the smaller one */
    SetOperation set_operation; /* SET */
    bool all;                   /* SET */
    int64_t limit;              /* LIMIT, SORT; -1: none */
    int64_t offset;             /* LIMIT */
    int64_t range_start;        /* RANGE */
    int64_t range_end;
    int64_t range_step;
    const Function *generator; /* GENERATE */
    bool outer;                /* GENERATE */
    uint32_t event_time;       /* WATERMARK */
    int64_t delay_us;          /* WATERMARK */
    size_t watermark;          /* WATERMARK: its number; AGGREGATE (DISTINCT) of a stream: that of
                                * `event_time`, which is one of its columns, or NO_WATERMARK */
    bool drop_late;            /* WATERMARK: rows below it go, since a state above forgets */
    bool streaming;            /* reads a stream: batch after batch, without an end. An AGGREGATE is
                                * DISTINCT then, a LIMIT counts all rows there ever were */
    size_t state;              /* streaming WATERMARK, AGGREGATE, LIMIT, JOIN of two streams: the
                                * first of its states, see streaming.h */
    const StreamJoin *stream_join; /* streaming JOIN of two streams */
    SourcePlace place;
};

#define NO_WATERMARK SIZE_MAX

/* What an operator of a streaming query keeps between batches: a table of its own, stored,
 * published and restored as the tables of flows are. */
typedef struct StateSpec {
    Str name;          /* "join_1_left"; with the flow's that of its topic and store */
    Str operator_name; /* "join_1" */
    const Str *labels; /* what people call the columns; NULL: as they are named */
    const Schema *schema;
    const uint32_t *keys;
    size_t key_count;
    uint32_t sequence; /* column: all rows of a key have one value of it */
    const char *bound; /* what keeps it from growing without end, for people; NULL: nothing does */
    SourcePlace place;
} StateSpec;

typedef struct LogicalSource {
    const Relation *relation;
    bool stream;
    const Schema *schema;    /* the columns that are read: what the scan gives */
    const uint32_t *columns; /* their indexes in relation->schema */
} LogicalSource;

typedef struct LogicalPlan {
    LogicalNode *root;
    LogicalSource *sources;
    size_t source_count;
    const StateSpec *states; /* of a streaming query */
    size_t state_count;
    size_t watermark_count;
} LogicalPlan;

/* Builds and optimizes (column pruning into the sources, filters pushed below projections where
 * that cannot change results or errors). `query` is shared. */
NODISCARD Error *plan_build(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan);
/* The same for the query of a streaming flow: nodes over streams are marked, the states they need
 * listed. NOT_YET for what no operator can do over a stream. */
NODISCARD Error *plan_build_streaming(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan);
/* Indented text, one node a line: for `explain` and tests. */
void plan_format(const LogicalPlan *plan, Buffer *out);

#endif
