/* Names the pipeline gives: internal topics, producer and group ids (DESIGN sections 4 and 5). */
#ifndef RUN_NAMES_H
#define RUN_NAMES_H

#include "processor/base/arena.h"

const char *name_progress_topic(Arena *arena, Str pipeline);   /* <pipeline>.progress */
const char *name_event_log_topic(Arena *arena, Str pipeline);  /* <pipeline>.event_log */
const char *name_quarantine_topic(Arena *arena, Str pipeline); /* <pipeline>.quarantine */
/* <pipeline>.<flow>.<operator>: what an operator of the flow's query remembers. */
const char *name_state_topic(Arena *arena, Str pipeline, Str flow, Str operator_name);
/* <pipeline>.<flow>: transactional id of the flow's producer and group of its committed offsets. */
const char *name_flow_id(Arena *arena, Str pipeline, Str flow);

#endif
