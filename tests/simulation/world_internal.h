/* What the files of the world share: world.c (the run), setting.c (topology, topics), input.c (what
 * is fed), happening.c (what happens), check.c (what must be true). */
#ifndef TESTS_SIMULATION_WORLD_INTERNAL_H
#define TESTS_SIMULATION_WORLD_INTERNAL_H

#include "connectors/sim/sim.h"
#include "processor/base/arena.h"
#include "tests/simulation/chance.h"
#include "tests/simulation/history.h"
#include "tests/simulation/process.h"
#include "tests/simulation/world.h"

enum { PROCESSES_MAX = 200, WORLD_TIMEOUT_MS = 30000 };

typedef struct History History;

struct World {
    uint64_t seed;
    Chance chance;
    Arena *arena;
    SimBroker *broker;
    Clock broker_clock;
    Log *log; /* the world's own */
    Program *program;
    ProcessOptions options;
    int partitions; /* of the source */
    uint32_t keys;
    int64_t fed;
    uint32_t events;
    uint32_t enabled; /* bits of what may happen in this run */
    uint32_t pace_us;
    bool went_back; /* a full refresh happened */

    Process *processes[PROCESSES_MAX];
    int process_count;
    int shows; /* side shows under way: outages, open transactions … */
    bool available;
    int waits;   /* for the broker to come back */
    bool ending; /* faults have stopped */
    bool failed;
    WorldResult result;
    History *history;
    bool flows_give_up; /* after a few attempts: then an operator is needed at the end */
    bool refreshes;     /* full refreshes may happen: then nothing is cut */
};

/* A call of the world's own: an outage is waited for, every other error is the test's mistake. */
#define world_call(world, call)                                                                    \
    do {                                                                                           \
        Error *world_error_ = NULL;                                                                \
        while ((world_error_ = (call)) != NULL) {                                                  \
            world_wait_out((world), world_error_, #call);                                          \
        }                                                                                          \
    } while (0)
void world_wait_out(World *world, Error *error, const char *call);
/* Something is wrong; the first one counts. */
void world_fail(World *world, const char *format, ...) PRINTF_LIKE(2, 3);

/* setting.c */
void setting_make(World *world);

/* input.c */
void input_feed(World *world, uint32_t count);
/* A transaction of somebody else, open for a while. */
void input_foreign_transaction(World *world);

/* happening.c */
void happening_draw(World *world);
void happening_start_process(World *world, int host);
/* Buries the dead, starts again what ended. */
void happening_tend(World *world);
void happening_compact(World *world);
/* Everything works again. */
void happening_stop(World *world);

/* check.c */
/* The topics agree with each other. `complete`: everything that was fed is in. */
void check_topics(World *world, bool complete);
/* The state of an idle, opened pipeline holds what its tables' topics tell. */
void check_state(World *world, Pipeline *pipeline);
/* Has everything been read and committed? */
bool check_is_drained(World *world);
/* Up to where the source's partition is read and committed by all flows; -1: unknown. */
int64_t check_position(World *world, int32_t partition);

#endif
