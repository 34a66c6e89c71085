/* What happens in a run, besides failing calls: processes die, freeze, are stopped, get a
 * successor; the broker goes away; disks fill up, lose what was not synced, go bad. */
#include "tests/simulation/disk.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------------------------- processes ---- */

static Process *process_on(World *world, int host)
{
    for (int i = world->process_count - 1; i >= 0; i--) {
        Process *process = world->processes[i];
        if (process->host == host) {
            return process->ended || process->buried ? NULL : process;
        }
    }
    return NULL;
}

static Process *some_process(World *world)
{
    int host = (int)chance_below(&world->chance, DISK_HOSTS);
    Process *process = process_on(world, host);
    return process != NULL ? process : process_on(world, DISK_HOSTS - 1 - host);
}

void happening_start_process(World *world, int host)
{
    if (world->process_count == PROCESSES_MAX || process_on(world, host) != NULL) {
        return;
    }
    int group = world->process_count + 1;
    trace_say("process %d is started on host %d", group, host);
    Process *process = process_start(&world->options, group, host);
    if (world->refreshes && !world->ending && chance_one_in(&world->chance, 4)) {
        trace_say("its first update is a full refresh");
        process->full_refresh = true;
        world->went_back = true;
    }
    world->processes[world->process_count++] = process;
    world->result.lives++;
}

static void bury(World *world, Process *process)
{
    process->buried = true;
    bool power = chance_one_in(&world->chance, 3);
    trace_say("process %d is dead%s", process->group, power ? ", its host lost power" : "");
    disk_crash(process->host, power);
    world->result.crashes++;
}

static int count_alive(World *world)
{
    int alive = 0;
    for (int host = 0; host < DISK_HOSTS; host++) {
        alive += process_on(world, host) != NULL;
    }
    return alive;
}

void happening_tend(World *world)
{
    for (int i = 0; i < world->process_count; i++) {
        Process *process = world->processes[i];
        if (!process->buried && !process->ended && scheduler_is_dead(process->group)) {
            bury(world, process);
        }
    }
    if (count_alive(world) > 0 || (!world->ending && !chance_one_in(&world->chance, 3))) {
        return;
    }
    /* Where it ran last, unless the seed says otherwise. */
    int host = world->process_count == 0 ? 0 : world->processes[world->process_count - 1]->host;
    if (chance_one_in(&world->chance, 6)) {
        host = DISK_HOSTS - 1 - host;
    }
    uint32_t damage = world->ending ? 99 : chance_below(&world->chance, 12);
    if (damage == 0) {
        trace_say("host %d: the state is gone", host);
        disk_wipe(host);
    } else if (damage == 1) {
        disk_damage(host);
    }
    happening_start_process(world, host);
}

/* ------------------------------------------------------------------------------ side shows ---- */

/* Something that takes its time beside everything else. */
typedef struct Show {
    World *world;
    void (*body)(World *world, int argument, int64_t us);
    int argument;
    int64_t us;
} Show;

static void *show_main(void *argument)
{
    Show *show = argument;
    show->body(show->world, show->argument, show->us);
    show->world->shows--;
    return NULL;
}

static void begin_show(World *world, void (*body)(World *world, int argument, int64_t us),
                       int argument, int64_t us)
{
    Show *show = arena_new_object(world->arena, Show);
    *show = (Show){world, body, argument, us};
    world->shows++;
    (void)scheduler_spawn(GROUP_WORLD, "show", show_main, show);
}

static void outage(World *world, int argument, int64_t us)
{
    (void)argument;
    if (!world->available) {
        return;
    }
    world->available = false;
    world->result.outages++;
    trace_say("the broker is away for %lld ms", (long long)us / 1000);
    sim_broker_set_available(world->broker, false);
    scheduler_sleep_us(us);
    sim_broker_set_available(world->broker, true);
    world->available = true;
    trace_say("the broker is back");
}

static void freeze(World *world, int group, int64_t us)
{
    world->result.freezes++;
    trace_say("process %d is frozen for %lld ms", group, (long long)us / 1000);
    scheduler_freeze(group, true);
    scheduler_sleep_us(us);
    scheduler_freeze(group, false);
    trace_say("process %d wakes", group);
}

static void full_disk(World *world, int host, int64_t us)
{
    (void)world;
    trace_say("host %d: the disk is full for %lld ms", host, (long long)us / 1000);
    disk_set_full(host, true);
    scheduler_sleep_us(us);
    disk_set_full(host, false);
    trace_say("host %d: there is space again", host);
}

static void foreign_transaction(World *world, int argument, int64_t us)
{
    (void)argument;
    (void)us;
    input_foreign_transaction(world);
}

/* ---------------------------------------------------------------------------- what happens ---- */

static void crash(World *world, Process *process)
{
    uint32_t calls = chance_between(&world->chance, 1, 60);
    if (chance_one_in(&world->chance, 3)) {
        trace_say("process %d is killed", process->group);
        scheduler_kill(process->group);
    } else if (chance_one_in(&world->chance, 2)) {
        disk_crash_in(process->host, calls);
    } else {
        faults_crash_in(process->group, calls);
    }
}

static void take_over(World *world)
{
    for (int host = 0; host < DISK_HOSTS; host++) {
        if (process_on(world, host) == NULL) {
            trace_say("a second process is started beside the first");
            world->result.takeovers++;
            happening_start_process(world, host);
            return;
        }
    }
}

static void stop(Process *process)
{
    trace_say("process %d is told to stop", process->group);
    atomic_store(&process->stop, true);
}

static void jump_clock(World *world, const Process *process)
{
    int64_t seconds = chance_between(&world->chance, 1, 100000);
    bool slow = chance_one_in(&world->chance, 2);
    trace_say("the clock of process %d jumps: it is %s by %lld s", process->group,
              slow ? "slow" : "fast", (long long)seconds);
    scheduler_set_skew(process->group, (slow ? -seconds : seconds) * 1000000);
}

void happening_compact(World *world)
{
    scheduler_go_on_alone(true);
    for (int before = -1; before != world->waits;) {
        before = world->waits;
        history_take(world);
    }
    trace_say("the topics are compacted");
    sim_broker_compact(world->broker, "src");
    sim_broker_compact(world->broker, "p.progress");
    for (size_t t = 0; t < world->program->table_count; t++) {
        sim_broker_compact(world->broker, world->program->tables[t].topic);
    }
    scheduler_go_on_alone(false);
}

/* Long enough for tombstones to go (7 days), or for a state to be too old. */
static void let_days_pass(World *world)
{
    int64_t hours = chance_between(&world->chance, 1, 10 * 24);
    trace_say("%lld hours pass", (long long)hours);
    scheduler_pass(hours * 3600 * 1000000);
    if (chance_one_in(&world->chance, 2)) {
        happening_compact(world);
    }
}

/* The source loses its beginning. While a process may have read ahead only what is committed goes;
 * when none lives, more. */
static void cut_source(World *world)
{
    int32_t p = (int32_t)chance_below(&world->chance, (uint32_t)world->partitions);
    bool none = some_process(world) == NULL && world->program->table_count == 1;
    int64_t position = check_position(world, p);
    if (world->refreshes || position <= 0) {
        return;
    }
    int64_t start = 0;
    int64_t end = 0;
    world_call(world, log_watermarks(world->log, "src", p, READ_COMMITTED, WORLD_TIMEOUT_MS, &start,
                                     &end));
    int64_t cut = none ? position + chance_below(&world->chance, (uint32_t)(end - position) + 1)
                       : chance_below(&world->chance, (uint32_t)position + 1);
    if (cut <= start) {
        return;
    }
    trace_say("source partition %d is cut up to %lld, %lld is committed", p, (long long)cut,
              (long long)position);
    history_take_source(world, p, cut < position ? cut : position);
    history_skip_source(world, p, cut);
    world_call(world, log_records_delete(world->log, "src", p, cut, WORLD_TIMEOUT_MS));
}

static void add_partition(World *world)
{
    if (world->partitions >= 6) {
        return;
    }
    world->partitions++;
    trace_say("the source gets partition %d", world->partitions - 1);
    world_call(world,
               log_topic_add_partitions(world->log, "src", world->partitions, WORLD_TIMEOUT_MS));
}

/* Some topic has no leader for a while. */
static void lose_leader(World *world, int argument, int64_t us)
{
    static const char *const names[] = {"src", "t", "p.progress", "p.event_log", "p.quarantine"};
    const char *name = names[argument % (int)ARRAY_LENGTH(names)];
    trace_say("topic %s has no leader for %lld ms", name, (long long)us / 1000);
    sim_broker_set_topic_available(world->broker, name, false);
    scheduler_sleep_us(us);
    sim_broker_set_topic_available(world->broker, name, true);
    trace_say("topic %s has a leader again", name);
}

static void corrupt_batch(World *world, int partition, int64_t us)
{
    int64_t start = 0;
    int64_t end = 0;
    world_call(world, log_watermarks(world->log, "src", partition, READ_COMMITTED, WORLD_TIMEOUT_MS,
                                     &start, &end));
    trace_say("source partition %d: a batch is corrupt for %lld ms", partition,
              (long long)us / 1000);
    sim_broker_corrupt(world->broker, "src", partition, end);
    scheduler_sleep_us(us);
    sim_broker_repair(world->broker, "src", partition);
    trace_say("source partition %d is mended", partition);
}

typedef enum Happening {
    CRASH,
    FREEZE,
    TAKE_OVER,
    STOP,
    OUTAGE,
    FULL_DISK,
    FOREIGN,
    CLOCK_JUMP,
    DAYS,
    COMPACT,
    CUT,
    ADD_PARTITION,
    LEADER,
    CORRUPT,
    HAPPENINGS
} Happening;

static void happen(World *world, Happening what, Process *process)
{
    int64_t us = (int64_t)chance_below(&world->chance, 10 * world->pace_us);
    switch (what) {
    case CRASH:
        crash(world, process);
        break;
    case FREEZE:
        /* Now and then its transactions time out meanwhile. */
        us = chance_one_in(&world->chance, 3) ? 100 * 1000000 : us;
        begin_show(world, freeze, process->group, us);
        break;
    case TAKE_OVER:
        take_over(world);
        break;
    case STOP:
        stop(process);
        break;
    case OUTAGE:
        begin_show(world, outage, 0, us);
        break;
    case FULL_DISK:
        begin_show(world, full_disk, process->host, us);
        break;
    case FOREIGN:
        begin_show(world, foreign_transaction, 0, 0);
        break;
    case CLOCK_JUMP:
        jump_clock(world, process);
        break;
    case DAYS:
        let_days_pass(world);
        break;
    case COMPACT:
        happening_compact(world);
        break;
    case CUT:
        cut_source(world);
        break;
    case ADD_PARTITION:
        add_partition(world);
        break;
    case LEADER:
        begin_show(world, lose_leader, (int)chance_below(&world->chance, 5), us);
        break;
    case CORRUPT:
        begin_show(world, corrupt_batch,
                   (int)chance_below(&world->chance, (uint32_t)world->partitions), us);
        break;
    case HAPPENINGS:
        break;
    }
}

/* Those before it happen to a process. */
static bool needs_process(Happening what)
{
    return what <= CLOCK_JUMP && what != OUTAGE && what != FOREIGN;
}

void happening_draw(World *world)
{
    Process *process = some_process(world);
    /* Half of what happens is what happens most: a process dies, stops, or gets a successor. */
    static const Happening often[] = {CRASH, CRASH, CRASH, CRASH, TAKE_OVER, STOP};
    Happening what = (Happening)chance_below(&world->chance, HAPPENINGS + HAPPENINGS / 3);
    if (chance_one_in(&world->chance, 2)) {
        what = often[chance_below(&world->chance, ARRAY_LENGTH(often))];
    }
    if (what < HAPPENINGS && (world->enabled >> what & 1) != 0 &&
        (process != NULL || !needs_process(what))) {
        happen(world, what, process);
    }
}

/* A second process that still lives is told to stop, so that one is left. */
static void leave_one(World *world)
{
    bool one = false;
    for (int i = world->process_count - 1; i >= 0; i--) {
        Process *process = world->processes[i];
        faults_crash_in(process->group, 0);
        disk_crash_in(process->host, 0);
        one = one || (!process->ended && !process->buried);
    }
}

void happening_stop(World *world)
{
    world->ending = true;
    faults_set(false);
    leave_one(world);
    while (world->shows > 0) {
        scheduler_sleep_us(10000);
    }
    happening_tend(world);
    trace_say("nothing goes wrong any more");
}
