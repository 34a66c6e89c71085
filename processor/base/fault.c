/* Named fault points. */
#include "processor/base/fault.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "processor/base/banned.h"

const char *const fault_names[] = {
    "start.after_fencing",
    "start.after_progress_read",
    "restore.mid",
    "epoch.after_decode",
    "epoch.after_apply",
    "commit.after_begin",
    "commit.mid_produce",
    "commit.after_produce",
    "commit.after_progress",
    "commit.before_commit",
    "commit.after_commit",
    "commit.after_overlay_merge",
    "checkpoint.before_write",
    "checkpoint.after_write",
    "ingest.write",
    "ingest.before",
    "ingest.after",
    "full_refresh.after_resetting",
    "full_refresh.mid_tombstones",
    "full_refresh.before_clear",
};
const size_t fault_name_count = ARRAY_LENGTH(fault_names);

atomic_bool fault_armed;

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *armed_name; /* protected by fault_lock, as are the next two */
static unsigned armed_passes;
static FaultAction armed_action;

static Error *(*fault_hook)(void *context, const char *name);
static void *fault_hook_context;

static const char *known_name(Str name)
{
    for (size_t i = 0; i < fault_name_count; i++) {
        if (str_equal(str_from(fault_names[i]), name)) {
            return fault_names[i];
        }
    }
    return NULL;
}

void fault_arm(const char *name, unsigned nth, FaultAction action)
{
    pthread_mutex_lock(&fault_lock);
    armed_name = known_name(str_from(name));
    assert(armed_name != NULL && nth > 0);
    armed_passes = nth;
    armed_action = action;
    atomic_store(&fault_armed, true);
    pthread_mutex_unlock(&fault_lock);
}

void fault_disarm(void)
{
    pthread_mutex_lock(&fault_lock);
    armed_name = NULL;
    atomic_store(&fault_armed, fault_hook != NULL);
    pthread_mutex_unlock(&fault_lock);
}

void fault_set_hook(Error *(*hook)(void *context, const char *name), void *context)
{
    pthread_mutex_lock(&fault_lock);
    fault_hook = hook;
    fault_hook_context = context;
    atomic_store(&fault_armed, hook != NULL || armed_name != NULL);
    pthread_mutex_unlock(&fault_lock);
}

static bool action_from(Str text, FaultAction *ret_action)
{
    if (text.data == NULL || str_equal(text, STR("kill"))) {
        *ret_action = FAULT_KILL;
    } else if (str_equal(text, STR("crash"))) {
        *ret_action = FAULT_CRASH;
    } else if (str_equal(text, STR("error"))) {
        *ret_action = FAULT_ERROR;
    } else {
        return false;
    }
    return true;
}

Error *fault_arm_from_environment(void)
{
    Str rest = str_from(getenv("TIDEMARK_FAULT"));
    if (rest.data == NULL) {
        return NULL;
    }
    const char *name = known_name(str_cut(&rest, ':'));
    int64_t nth = 1;
    if (rest.data != NULL && !str_to_int64(str_cut(&rest, ':'), &nth)) {
        nth = 0;
    }
    FaultAction action = FAULT_KILL;
    if (name == NULL || nth < 1 || nth > UINT32_MAX || !action_from(rest, &action)) {
        return error_new(
            ERROR_USAGE,
            "TIDEMARK_FAULT is NAME[:NTH][:kill|crash|error] with a fault point's name");
    }
    fault_arm(name, (unsigned)nth, action);
    return NULL;
}

Error *fault_check_armed(const char *name)
{
    assert(known_name(str_from(name)) != NULL);
    if (fault_hook != NULL) {
        TRY(fault_hook(fault_hook_context, name));
    }
    pthread_mutex_lock(&fault_lock);
    bool now = armed_name != NULL && strcmp(armed_name, name) == 0 && --armed_passes == 0;
    FaultAction action = armed_action;
    if (now) {
        armed_name = NULL;
        atomic_store(&fault_armed, fault_hook != NULL);
    }
    pthread_mutex_unlock(&fault_lock);
    if (!now) {
        return NULL;
    }
    if (action == FAULT_KILL) {
        (void)raise(SIGKILL);
    }
    if (action == FAULT_ERROR) {
        return error_set_disposition(
            error_new(ERROR_KAFKA_TIMED_OUT, "fault point %s: a lost answer", name), ERROR_RETRY);
    }
    return error_set_disposition(error_new(ERROR_SIMULATED_CRASH, "fault point %s", name),
                                 ERROR_FATAL);
}
