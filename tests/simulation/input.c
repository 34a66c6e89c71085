/* What is fed: ties, late rows, NULL sequences, rows that are alike to the last byte, records that
 * cannot be read, transactions that are committed, aborted, or stay open for a while. */
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world_internal.h"

#include "processor/base/banned.h"

static const char *next_record(World *world)
{
    static const char *const bad[] = {"{\"k\":\"k1\",\"seq\":9999999,", "", "[]",
                                      "{\"k\":7,\"seq\":\"x\",\"v\":{}}"};
    Chance *chance = &world->chance;
    int64_t i = world->fed++;
    world->result.records++;
    if (chance_one_in(chance, 40)) {
        return bad[chance_below(chance, ARRAY_LENGTH(bad))];
    }
    uint32_t key = chance_below(chance, world->keys);
    int64_t late = chance_one_in(chance, 4) ? (int64_t)chance_below(chance, 30) : 0;
    if (chance_one_in(chance, 30)) {
        return arena_printf(world->arena, "{\"k\":\"k%u\",\"seq\":null,\"v\":\"r%lld\"}", key,
                            (long long)i);
    }
    int64_t value = chance_one_in(chance, 8) ? 0 : i;
    return arena_printf(world->arena, "{\"k\":\"k%u\",\"seq\":%lld,\"v\":\"r%lld\"}", key,
                        (long long)(i / 6 - late), (long long)value);
}

static void put(World *world, LogProducer *producer)
{
    int32_t partition = (int32_t)chance_below(&world->chance, (uint32_t)world->partitions);
    const char *value = next_record(world);
    bool none = chance_one_in(&world->chance, 60);
    LogOutput output = {
        .topic = "src", .partition = partition, .value = none ? STR_NULL : str_from(value)};
    Error *error = log_producer_produce(producer, &output, 1, NULL);
    if (error != NULL) {
        error_free(error); /* the broker, or the topic, is away: the feeder gives the record up */
        scheduler_sleep_us(10000);
    }
}

static void put_alone(World *world, uint32_t count)
{
    AUTO(log_producer) LogProducer *producer = NULL;
    world_call(world, log_producer_open(world->log, &(LogProducerOptions){0}, &producer));
    for (; count > 0; count--) {
        put(world, producer);
    }
    world_call(world, log_producer_flush(producer, WORLD_TIMEOUT_MS));
}

static void put_together(World *world, const char *id, uint32_t count, int64_t open_us)
{
    AUTO(log_producer) LogProducer *producer = NULL;
    LogProducerOptions options = {.transactional_id = id};
    world_call(world, log_producer_open(world->log, &options, &producer));
    world_call(world, log_producer_init_transactions(producer, WORLD_TIMEOUT_MS));
    world_call(world, log_producer_begin(producer));
    for (; count > 0; count--) {
        put(world, producer);
    }
    scheduler_sleep_us(open_us);
    bool give_up = chance_one_in(&world->chance, 3);
    Error *error = NULL;
    do {
        error_free(error);
        error = give_up ? log_producer_abort(producer, WORLD_TIMEOUT_MS)
                        : log_producer_commit(producer, WORLD_TIMEOUT_MS);
        if (error != NULL) {
            scheduler_sleep_us(10000);
        }
    } while (error != NULL && error_disposition(error) == ERROR_RETRY);
    error_free(error); /* its time was over: aborted */
}

void input_feed(World *world, uint32_t count)
{
    while (count > 0) {
        uint32_t part = chance_between(&world->chance, 1, count);
        if (chance_one_in(&world->chance, 4)) {
            put_together(world, "feeder", part, 0);
        } else {
            put_alone(world, part);
        }
        count -= part;
    }
}

void input_foreign_transaction(World *world)
{
    const char *id = arena_printf(world->arena, "foreign%lld", (long long)world->fed);
    uint32_t count = chance_between(&world->chance, 1, 5);
    trace_say("somebody opens a transaction in the source");
    put_together(world, id, count, chance_below(&world->chance, 8 * world->pace_us));
    trace_say("and ends it");
}
