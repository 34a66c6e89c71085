/* History: everything readers of the topics could ever see, kept in a second broker at the same
 * offsets, so that compaction and retention in the first one do not take it from the checker. */
#ifndef TESTS_SIMULATION_HISTORY_H
#define TESTS_SIMULATION_HISTORY_H

#include "connectors/sim/sim.h"

typedef struct World World;

void history_open(World *world);
/* A log with all that was taken. */
Log *history_log(const World *world);
/* Takes what was committed since the last time, of all topics but the source. Before a compaction.
 */
void history_take(World *world);
/* Takes the source's partition below `until`, before that is cut. */
void history_take_source(World *world, int32_t partition, int64_t until);
/* What lies before `until` and was not taken is lost: nobody has read it, nobody will. */
void history_skip_source(World *world, int32_t partition, int64_t until);
/* All of everything, at the end. */
void history_take_all(World *world);

#endif
