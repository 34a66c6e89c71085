/* The hooks of the broker and of the fault points. */
#include "tests/simulation/faults.h"

#include "processor/base/fault.h"
#include "tests/simulation/chance.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"

#include "processor/base/banned.h"

static Chance chance;
static bool on;
static uint32_t call_one_in[SIM_CALL_COUNT];
static uint32_t point_one_in;
static uint32_t disk_one_in;
static uint32_t pause_one_in;
static uint32_t kinds; /* bits of SimFailure */
static uint32_t crash_in[GROUPS_MAX];

static const char *const call_names[] = {
#define X(constant, name) name,
    SIM_CALLS(X)
#undef X
};

static const char *const failure_names[] = {
#define X(constant, name) name,
    SIM_FAILURES(X)
#undef X
};

/* Counts a call; true: the process is dead. */
static bool crashes(const char *where)
{
    int group = scheduler_group();
    if (crash_in[group] == 0 || --crash_in[group] > 0) {
        return false;
    }
    trace_say("crash: the process dies at %s", where);
    scheduler_mark_dead(group);
    return true;
}

static SimFailure pick_kind(void)
{
    for (int tries = 0; tries < 20; tries++) {
        uint32_t kind = chance_between(&chance, 1, SIM_FAILURE_COUNT - 1);
        /* One that ends the update until somebody raises a limit. */
        bool rare = kind == SIM_TOO_LARGE && !chance_one_in(&chance, 8);
        if ((kinds >> kind & 1) != 0 && !rare) {
            return (SimFailure)kind;
        }
    }
    return SIM_RETRIABLE;
}

static SimFailure on_call(void *context, SimCall call, const char *topic)
{
    (void)context;
    if (scheduler_group() == GROUP_WORLD) {
        return SIM_NO_FAILURE;
    }
    if (crashes(call_names[call])) {
        /* Whether the request got through is another question. */
        return chance_one_in(&chance, 2) ? SIM_NO_FAILURE : SIM_UNCLEAR_LOST;
    }
    trace_detail("%s %s", call_names[call], topic == NULL ? "" : topic);
    if (!on || !chance_one_in(&chance, call_one_in[call])) {
        return SIM_NO_FAILURE;
    }
    SimFailure failure = pick_kind();
    trace_say("fault: %s %s: %s", call_names[call], topic == NULL ? "" : topic,
              failure_names[failure]);
    return failure;
}

static Error *on_point(void *context, const char *name)
{
    (void)context;
    if (scheduler_group() == GROUP_WORLD) {
        return NULL;
    }
    trace_detail("at %s", name);
    if (crashes(name)) {
        scheduler_kill(scheduler_group());
    }
    scheduler_yield();
    if (!on || !chance_one_in(&chance, point_one_in)) {
        return NULL;
    }
    trace_say("fault: at %s: a lost answer", name);
    return error_set_disposition(
        error_new(ERROR_KAFKA_TIMED_OUT, "fault point %s: a lost answer", name), ERROR_RETRY);
}

void faults_set(bool is_on)
{
    on = is_on;
    disk_set_failures(on ? disk_one_in : 0);
    scheduler_set_pauses(on ? pause_one_in : 0);
}

void faults_crash_in(int group, uint32_t calls)
{
    crash_in[group] = calls;
}

static uint32_t draw_rate(const uint32_t *rates, uint32_t count)
{
    return rates[chance_below(&chance, count)];
}

void faults_open(uint64_t seed, SimBroker *broker)
{
    static const uint32_t rates[] = {0, 300, 100, 40, 15};
    static const uint32_t disk_rates[] = {0, 0, 400, 100, 30};
    static const uint32_t pause_rates[] = {0, 2000, 500, 100};
    chance = chance_stream(seed, 4);
    uint32_t base = draw_rate(rates, ARRAY_LENGTH(rates));
    for (int call = 0; call < SIM_CALL_COUNT; call++) {
        uint32_t other = draw_rate(rates, ARRAY_LENGTH(rates));
        call_one_in[call] = chance_one_in(&chance, 3) ? other : base;
    }
    /* Polls and records are many. */
    call_one_in[SIM_POLL] *= 2;
    call_one_in[SIM_PRODUCE] *= 2;
    point_one_in = draw_rate(rates, ARRAY_LENGTH(rates));
    disk_one_in = draw_rate(disk_rates, ARRAY_LENGTH(disk_rates));
    pause_one_in = draw_rate(pause_rates, ARRAY_LENGTH(pause_rates));
    kinds = (uint32_t)chance_next(&chance) | 1U << SIM_RETRIABLE;
    sim_broker_set_fault_hook(broker, on_call, NULL);
    fault_set_hook(on_point, NULL);
}
