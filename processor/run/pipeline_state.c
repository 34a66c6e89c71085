/* The state of a pipeline: opened, and opened again when it fails while in use.
 *
 * State is a cache of the table topics, so nothing is repaired: the flows let go of it, it is
 * closed, opened again (made anew when it was found damaged), and each flow starts as after a
 * crash. A disk that is full or fails is waited for. */
#include "processor/base/logger.h"
#include "processor/run/pipeline_internal.h"
#include "processor/run/retry.h"

#include "processor/base/banned.h"

Error *pipeline_open_state(Pipeline *pipeline, bool *ret_rebuilt)
{
    const Topology *topology = pipeline->context.program->topology;
    StateOptions options = {.dir = pipeline->state_dir,
                            .pipeline = arena_copy_cstr(pipeline->arena, topology->pipeline),
                            .memory_bytes = pipeline->context.memory.store,
                            .run_bytes = pipeline->context.memory.restore_run};
    TRY(state_open(&options, &pipeline->state, ret_rebuilt));
    if (*ret_rebuilt) {
        log_warn("state directory %s was damaged: it is rebuilt from the topics",
                 pipeline->state_dir);
    }
    pipeline->context.state = pipeline->state;
    metrics_set_state(pipeline->context.metrics, pipeline->state);
    return NULL;
}

void pipeline_close_state(Pipeline *pipeline)
{
    metrics_set_state(pipeline->context.metrics, NULL);
    pipeline->context.state = NULL;
    state_close(pipeline->state);
    pipeline->state = NULL;
}

void pipeline_tell_rebuilt(Pipeline *pipeline)
{
    AUTO_BUFFER Buffer message = {0};
    buffer_printf(&message,
                  "State directory %s was damaged: it is made anew from the table topics.",
                  pipeline->state_dir);
    event_warning(pipeline->events, NULL, NULL, "STATE_REBUILT", buffer_str(&message), STR_NULL);
}

static bool is_of_the_disk(const Error *error)
{
    return error_class(error) == ERROR_STATE_UNWRITABLE || error_class(error) == ERROR_STATE_IO;
}

bool pipeline_is_state_error(const Error *error)
{
    return is_of_the_disk(error) || error_class(error) == ERROR_STATE_CORRUPT;
}

bool pipeline_can_mend(const Pipeline *pipeline, const Error *error, int attempt)
{
    if (!pipeline_is_state_error(error) || pipeline_must_stop(pipeline)) {
        return false;
    }
    /* Damage that comes back is none of the disk's: it would be rebuilt for ever. */
    return is_of_the_disk(error) || attempt <= pipeline->retry->max_attempts;
}

static void tell(Pipeline *pipeline, const char *update_id, const char *code, const char *what,
                 const Error *error)
{
    AUTO_BUFFER Buffer message = {0};
    buffer_printf(&message, "State directory %s: %s ", pipeline->state_dir, what);
    error_format_line(error, &message);
    if (error_hint(error) != NULL) {
        buffer_printf(&message, " Hint: %s.", error_hint(error));
    }
    log_warn("%s", buffer_cstr(&message));
    if (pipeline->events != NULL) {
        event_warning(pipeline->events, update_id, NULL, code, buffer_str(&message), STR_NULL);
    }
}

static void let_go(Pipeline *pipeline, bool damaged)
{
    for (size_t i = 0; i < pipeline->flow_count; i++) {
        flow_runner_release(pipeline->flows[i]);
    }
    if (damaged && pipeline->state != NULL) {
        state_mark_damaged(pipeline->state);
    }
    pipeline_close_state(pipeline);
}

static void tell_failure(Pipeline *pipeline, const char *update_id, const Error *error)
{
    metrics_set_phase(pipeline->context.metrics, PIPELINE_OPENING, error_message(error));
    if (is_of_the_disk(error)) {
        tell(pipeline, update_id, "STATE_UNWRITABLE",
             "it cannot be used, and is opened again until it can.", error);
    } else {
        tell(pipeline, update_id, "STATE_REBUILT",
             "it is damaged, and made anew from the table topics.", error);
    }
}

Error *pipeline_mend_state(Pipeline *pipeline, const char *update_id, Error *error, int attempt)
{
    bool damaged = !is_of_the_disk(error);
    tell_failure(pipeline, update_id, error);
    let_go(pipeline, damaged);
    /* The first damage costs a restore and no pause. */
    bool pause = !damaged || attempt > 1;
    for (;; attempt++) {
        if (pause) {
            pipeline_wait_ms(pipeline, retry_backoff_ms(pipeline->retry, attempt));
        }
        if (pipeline_must_stop(pipeline)) {
            return error;
        }
        bool rebuilt = false;
        Error *again = pipeline_open_state(pipeline, &rebuilt);
        if (again == NULL) {
            metrics_set_phase(pipeline->context.metrics, PIPELINE_STARTING, NULL);
            if (rebuilt && !damaged) {
                pipeline_tell_rebuilt(pipeline);
            }
            error_free(error);
            return NULL;
        }
        error_free(error);
        error = again;
        if (!pipeline_is_state_error(error)) {
            return error;
        }
        tell_failure(pipeline, update_id, error);
        pause = true;
    }
}
