/* Fibers, their order and their time.
 *
 * A fiber is a stack and a context (ucontext). Switching is a choice: scheduler_yield asks the seed
 * whether to go on or who is next. Each fiber has a weight, drawn at its birth and now and then
 * anew: with equal weights everybody advances alike, with unequal ones some thread sleeps through
 * what others do a hundred times, which finds other mistakes. */
#include "tests/simulation/scheduler.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#ifdef __SANITIZE_ADDRESS__
#include <dlfcn.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "tests/simulation/chance.h"
#include "tests/simulation/trace.h"

#include "processor/base/banned.h"

enum { FIBERS_MAX = 4096, STACK_BYTES = 1 << 20, NAME_SIZE = 24 };

static const int64_t WALL_START_US = INT64_C(1772323200000000); /* 2026-03-01 */

typedef enum FiberState { FIBER_READY, FIBER_WAITS, FIBER_ENDED, FIBER_GONE } FiberState;

typedef struct Fiber {
    int number;
    int group;
    FiberState state;
    ucontext_t context;
    void *stack;
    size_t stack_bytes;
    void *fake_stack; /* AddressSanitizer's */
    char name[NAME_SIZE];
    void *(*body)(void *argument);
    void *argument;
    void *result;
    const void *place;   /* what it waits for */
    int64_t deadline_us; /* < 0: none */
    bool timed_out;
    bool may_wake_early;
    int held; /* locks of the world */
    uint32_t weight;
    int saved_errno;
} Fiber;

typedef struct Group {
    bool dead;
    bool frozen;
    int64_t skew_us;
} Group;

static Fiber *fibers[FIBERS_MAX];
static int fiber_count;
static int live[FIBERS_MAX]; /* numbers of those that may still go on, in order of birth */
static int live_count;
static Fiber *current;
static Group groups[GROUPS_MAX];
static Fiber outside; /* where scheduler_run was called */
static Chance chance;
static int64_t now_us;
static Clock *driven;
static int64_t slept_us; /* of the wall clocks only */
static int64_t steps;
static uint32_t switch_one_in; /* how often a yield asks who is next */
static uint32_t slow_one_in;   /* how often a step takes long */
static uint32_t pause_one_in;
static bool weighted;
static const Fiber *alone; /* the fiber that goes on alone, NULL: none */

bool scheduler_is_running(void)
{
    return current != NULL;
}

int scheduler_fiber(void)
{
    return current == NULL ? -1 : current->number;
}

int scheduler_group(void)
{
    return current == NULL ? GROUP_WORLD : current->group;
}

const char *scheduler_name(void)
{
    return current == NULL ? "-" : current->name;
}

void scheduler_set_name(const char *name)
{
    (void)snprintf(current->name, NAME_SIZE, "%d.%s", current->group, name);
}

int64_t scheduler_now_us(void)
{
    return now_us;
}

int64_t scheduler_steps(void)
{
    return steps;
}

int64_t scheduler_wall_us(void)
{
    return WALL_START_US + slept_us + groups[scheduler_group()].skew_us + now_us;
}

static void set_time(int64_t us)
{
    now_us = us;
    if (driven != NULL) {
        driven->fixed_us = WALL_START_US + slept_us + now_us;
    }
}

void scheduler_set_skew(int group, int64_t skew_us)
{
    groups[group].skew_us = skew_us;
}

void scheduler_pass(int64_t us)
{
    slept_us += us;
    set_time(now_us);
}

void scheduler_drive_clock(Clock *clock)
{
    driven = clock;
    clock->fixed = true;
    set_time(now_us);
}

void scheduler_set_pauses(uint32_t n)
{
    pause_one_in = n;
}

/* ---------------------------------------------------------------------- from one to another ----
 */

#ifdef __SANITIZE_ADDRESS__
typedef int SwapContext(ucontext_t *from, const ucontext_t *to);

/* AddressSanitizer must know which stack is in use, and is told so; its own swapcontext only warns
 * that it would not know. */
static int swap(ucontext_t *from, const ucontext_t *to)
{
    static SwapContext *real;
    if (real == NULL) {
        void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
        real = (SwapContext *)(uintptr_t)dlsym(libc, "swapcontext");
    }
    return real(from, to);
}

static void switch_begin(Fiber *from, const Fiber *to, bool from_ends)
{
    __sanitizer_start_switch_fiber(from_ends ? NULL : &from->fake_stack, to->stack,
                                   to->stack_bytes);
}

static void switch_end(const Fiber *fiber)
{
    const void *bottom = NULL;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &bottom, &bytes);
    if (outside.stack == NULL) {
        outside.stack = (void *)(uintptr_t)bottom; /* the first switch comes from there */
        outside.stack_bytes = bytes;
    }
}
#else
#define swap swapcontext

static void switch_begin(const Fiber *from, const Fiber *to, bool from_ends)
{
    (void)from;
    (void)to;
    (void)from_ends;
}

static void switch_end(const Fiber *fiber)
{
    (void)fiber;
}
#endif

static void go_to(Fiber *to)
{
    Fiber *from = current;
    if (from == to) {
        return;
    }
    from->saved_errno = errno;
    current = to;
    trace_mix((uint64_t)to->number);
    switch_begin(from, to, from->state == FIBER_ENDED);
    (void)swap(&from->context, &to->context);
    switch_end(from);
    errno = from->saved_errno;
}

static bool can_run(const Fiber *fiber)
{
    const Group *group = &groups[fiber->group];
    return fiber->state == FIBER_READY && (!group->frozen || fiber->held > 0);
}

/* Those whose time has come. Takes the dead out of the list. */
static void look_at_all(void)
{
    int kept = 0;
    for (int i = 0; i < live_count; i++) {
        Fiber *fiber = fibers[live[i]];
        if (groups[fiber->group].dead && fiber->held == 0) {
            fiber->state = FIBER_GONE;
        }
        if (fiber->state == FIBER_ENDED || fiber->state == FIBER_GONE) {
            continue;
        }
        if (fiber->state == FIBER_WAITS && fiber->deadline_us >= 0 &&
            fiber->deadline_us <= now_us) {
            fiber->state = FIBER_READY;
            fiber->timed_out = true;
        }
        live[kept++] = live[i];
    }
    live_count = kept;
}

static void redraw_weight(Fiber *fiber)
{
    static const uint32_t weights[] = {1, 4, 20, 100};
    fiber->weight = weighted ? weights[chance_below(&chance, ARRAY_LENGTH(weights))] : 1;
}

static Fiber *choose(void)
{
    uint32_t sum = 0;
    for (int i = 0; i < live_count; i++) {
        const Fiber *fiber = fibers[live[i]];
        sum += can_run(fiber) ? fiber->weight : 0;
    }
    if (sum == 0) {
        return NULL;
    }
    uint32_t at = chance_below(&chance, sum);
    for (int i = 0; i < live_count; i++) {
        Fiber *fiber = fibers[live[i]];
        if (!can_run(fiber)) {
            continue;
        }
        if (at < fiber->weight) {
            if (chance_one_in(&chance, 16)) {
                redraw_weight(fiber);
            }
            return fiber;
        }
        at -= fiber->weight;
    }
    return NULL;
}

/* Nobody can go on: time passes until somebody can. */
static void jump_to_next_deadline(void)
{
    int64_t next_us = INT64_MAX;
    for (int i = 0; i < live_count; i++) {
        const Fiber *fiber = fibers[live[i]];
        bool frozen = groups[fiber->group].frozen && fiber->held == 0;
        if (!frozen && fiber->state == FIBER_WAITS && fiber->deadline_us >= 0 &&
            fiber->deadline_us < next_us) {
            next_us = fiber->deadline_us;
        }
    }
    if (next_us == INT64_MAX) {
        (void)fprintf(stderr, "simulation: every thread waits for another\n");
        for (int i = 0; i < live_count; i++) {
            (void)fprintf(stderr, "  %s\n", fibers[live[i]]->name);
        }
        abort();
    }
    set_time(next_us > now_us ? next_us : now_us);
}

static void wake_somebody_early(void)
{
    if (!chance_one_in(&chance, 200)) {
        return;
    }
    int at = (int)chance_below(&chance, (uint32_t)live_count);
    Fiber *fiber = fibers[live[at]];
    if (fiber->state == FIBER_WAITS && fiber->may_wake_early) {
        fiber->state = FIBER_READY;
    }
}

static void pass_time(void)
{
    uint32_t slow = chance_one_in(&chance, slow_one_in) ? 50000 : 8;
    set_time(now_us + chance_below(&chance, slow));
}

static void run_next(void)
{
    steps++;
    for (;;) {
        look_at_all();
        wake_somebody_early();
        Fiber *next = choose();
        if (next != NULL) {
            go_to(next);
            return;
        }
        jump_to_next_deadline();
    }
}

void scheduler_go_on_alone(bool is_alone)
{
    alone = is_alone ? current : NULL;
}

static void pause(void)
{
    uint32_t us = chance_one_in(&chance, 8) ? 3000000 : 5000;
    scheduler_sleep_us(chance_below(&chance, us));
}

void scheduler_yield(void)
{
    pass_time();
    if (current == alone) {
        return;
    }
    if (current->group != GROUP_WORLD && current->held == 0 &&
        chance_one_in(&chance, pause_one_in)) {
        pause();
        return;
    }
    bool must = groups[current->group].dead || groups[current->group].frozen;
    if ((must && current->held == 0) || chance_one_in(&chance, switch_one_in)) {
        run_next();
    }
}

/* ------------------------------------------------------------------------------ life of one ----
 */

static void fiber_main(int number)
{
    Fiber *fiber = fibers[number];
    switch_end(fiber);
    scheduler_exit(fiber->body(fiber->argument));
}

int scheduler_spawn(int group, const char *name, void *(*body)(void *), void *argument)
{
    assert(fiber_count < FIBERS_MAX);
    Fiber *fiber = calloc(1, sizeof *fiber);
    assert(fiber != NULL);
    fiber->number = fiber_count;
    fiber->group = group < 0 ? current->group : group;
    fiber->state = FIBER_READY;
    fiber->deadline_us = -1;
    fiber->body = body;
    fiber->argument = argument;
    (void)snprintf(fiber->name, NAME_SIZE, "%d.%s", fiber->group, name);
    redraw_weight(fiber);
    fiber->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert(fiber->stack != MAP_FAILED);
    fiber->stack_bytes = STACK_BYTES;
    (void)getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber->context, (void (*)(void))(uintptr_t)fiber_main, 1, fiber->number);
    fibers[fiber_count++] = fiber;
    live[live_count++] = fiber->number;
    return fiber->number;
}

void scheduler_exit(void *result)
{
    current->result = result;
    current->state = FIBER_ENDED;
    if (current->number == 0) {
        Fiber *fiber = current;
        current = NULL;
        switch_begin(fiber, &outside, true);
        (void)swap(&fiber->context, &outside.context);
    }
    scheduler_wake_all(current);
    run_next();
    abort(); /* nobody comes back to a fiber that has ended */
}

void *scheduler_join(int number)
{
    assert(number > 0 && number < fiber_count);
    Fiber *fiber = fibers[number];
    scheduler_yield();
    while (fiber->state != FIBER_ENDED) {
        (void)scheduler_wait(fiber, -1, false);
    }
    return fiber->result;
}

void scheduler_run(uint64_t seed, void (*body)(void *context), void *context)
{
    static const uint32_t paces[] = {1, 2, 4, 12};
    static const uint32_t slownesses[] = {0, 20, 100, 1000};
    chance = chance_stream(seed, 1);
    switch_one_in = paces[chance_below(&chance, ARRAY_LENGTH(paces))];
    slow_one_in = slownesses[chance_below(&chance, ARRAY_LENGTH(slownesses))] * switch_one_in;
    weighted = chance_one_in(&chance, 2);
    union {
        void (*plain)(void *);
        void *(*fiber)(void *);
    } start = {.plain = body};
    int first = scheduler_spawn(GROUP_WORLD, "world", start.fiber, context);
    current = fibers[first];
    switch_begin(&outside, current, false);
    (void)swap(&outside.context, &current->context);
    switch_end(&outside);
}

/* --------------------------------------------------------------------------- waiting, groups ----
 */

bool scheduler_wait(const void *place, int64_t deadline_us, bool may_wake_early)
{
    current->place = place;
    current->deadline_us = deadline_us;
    current->may_wake_early = may_wake_early;
    current->timed_out = false;
    current->state = FIBER_WAITS;
    run_next();
    current->deadline_us = -1;
    return !current->timed_out;
}

static bool waits_for(const Fiber *fiber, const void *place)
{
    return fiber->state == FIBER_WAITS && fiber->place == place;
}

void scheduler_wake_all(const void *place)
{
    for (int i = 0; i < live_count; i++) {
        if (waits_for(fibers[live[i]], place)) {
            fibers[live[i]]->state = FIBER_READY;
        }
    }
}

void scheduler_wake_one(const void *place)
{
    uint32_t count = 0;
    for (int i = 0; i < live_count; i++) {
        count += waits_for(fibers[live[i]], place);
    }
    uint32_t at = count == 0 ? 0 : chance_below(&chance, count);
    for (int i = 0; i < live_count && count > 0; i++) {
        if (waits_for(fibers[live[i]], place) && at-- == 0) {
            fibers[live[i]]->state = FIBER_READY;
            return;
        }
    }
}

void scheduler_sleep_us(int64_t us)
{
    static const char nothing;
    int64_t until = now_us + (us > 0 ? us : 0);
    while (now_us < until && scheduler_wait(&nothing, until, false)) {
    }
}

void scheduler_hold(int by)
{
    current->held += by;
    assert(current->held >= 0);
}

void scheduler_kill(int group)
{
    assert(group != GROUP_WORLD && group < GROUPS_MAX);
    groups[group].dead = true;
    if (current->group == group && current->held == 0) {
        run_next();
    }
}

void scheduler_mark_dead(int group)
{
    groups[group].dead = true;
}

bool scheduler_is_dead(int group)
{
    return groups[group].dead;
}

void scheduler_freeze(int group, bool frozen)
{
    assert(group != GROUP_WORLD);
    groups[group].frozen = frozen;
}
