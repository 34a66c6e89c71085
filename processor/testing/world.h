/* World: everything one scenario runs in: its log (a model of its own, or topics under a prefix of
 * its own on a real cluster), its clock, its state directory, the program its statements have come
 * to, and the pipeline that runs it. Steps act on a World (step.h). Open struct: the steps are the
 * other half of it. Thread: one. */
#ifndef TESTING_WORLD_H
#define TESTING_WORLD_H

#include "connectors/sim/sim.h"
#include "processor/base/map.h"
#include "processor/run/pipeline.h"
#include "processor/testing/feeder.h"
#include "processor/testing/implicit_program.h"
#include "processor/testing/options.h"
#include "processor/testing/scenario.h"

enum { WORLD_TIMEOUT_MS = 30000 };

/* Counters of one table in the latest update. */
typedef struct UpdateCounts {
    ExpectationCount *expectations;
    const BoundTable *table;
} UpdateCounts;

typedef struct World {
    const TestOptions *options;
    const Scenario *scenario;
    const ScenarioRelation *relations; /* the scenario's, or the topology file's sources */
    size_t relation_count;
    ImplicitPipeline implicit;
    Arena *arena; /* of the whole run of the scenario */
    TimeZone *zone;
    Clock clock;
    SimBroker *broker; /* NULL: a real cluster */
    Log *log;
    Feeder *feeder;
    const char *prefix; /* of every topic; "" on the model */
    const char *dir;    /* temporary, removed at the end */
    const char *state_dir;
    Map topics;      /* every topic this scenario may have made -> itself */
    Map topic_marks; /* topic -> int64_t * offsets: what expect_topic has seen */
    Map turns;       /* relation's name -> int * next partition in turn */

    ImplicitProgram *program; /* what the statements so far say; NULL before the first */
    Pipeline *pipeline;       /* NULL: not running (before the first statement, after a crash) */
    bool redefined;       /* it ran last over tables whose columns are not the program's alone */
    UpdateCounts *counts; /* one a table of the program */
    bool crashed;         /* the latest update died at a fault point: its counters are lost */

    bool may_fail;  /* the next step is `fails` */
    Error *failure; /* of the step before, for its `fails` */
    bool failing;   /* the latest update failed as its `fails` says: a start may fail so too */
    bool skipped;   /* this way of running cannot do a step */
    Buffer detail;  /* rows that differ, for the report */
} World;

NODISCARD Error *world_open(const TestOptions *options, const Scenario *scenario, World **ret);
/* Deletes topics on a real cluster and the temporary directory. */
void world_close(World *world);

/* The product failed where it may be expected to. Takes `error` over; NULL is ignored. */
void world_fail(World *world, Error *error);
/* A step that this way of running cannot do: the scenario counts as skipped. */
NODISCARD Error *world_skip(World *world, const ScenarioStep *step, const char *why);
void world_set_clock(World *world, int64_t now_us);

/* ---- names: every name in a file may be qualified, case does not count */

const ScenarioRelation *world_relation(const World *world, Str name);
/* Index of a table of the program; -1: none. */
int world_table(const World *world, Str name);
/* The topic of a relation, a table or, failing both, of that very name; remembered for the end. */
const char *world_topic(World *world, Str name);
NODISCARD Error *world_unknown_table(const World *world, SourcePlace place, Str name);

/* ---- the pipeline (world_pipeline.c) */

/* Runs if it does not yet; needs a program. */
NODISCARD Error *world_need_pipeline(World *world);
/* The same where the program alone does not tell what the tables are. */
NODISCARD Error *world_need_redefined(World *world);
/* The program as it runs, or as it would run on tables that are new. Valid until the next step. */
const Program *world_program(const World *world);
/* As a crash: nothing is flushed. */
void world_stop_pipeline(World *world);
/* Stops; whoever needs the pipeline next starts it. */
void world_crash(World *world, bool wipe_state);
NODISCARD Error *world_restart(World *world, bool wipe_state);
/* One update as the options say: in pieces, with a crash in it. */
NODISCARD Error *world_update(World *world, const UpdateRequest *request);
/* Runs another program from now on; `program` becomes the world's. The one before is given back:
 * it must be freed, or put back when the new one does not start. */
ImplicitProgram *world_swap_program(World *world, ImplicitProgram *program);

DEFINE_AUTO(world, World, world_close)

#endif
