/* The transaction coordinator: one SimId a transactional id. Its epoch is the fence: a producer
 * that holds an older one is a zombie. At most one transaction of an id is open; it is settled by
 * its producer, by the successor's init_transactions, or when its time is over. */
#include "connectors/sim/broker.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

SimId *sim_id(SimBroker *broker, const char *name)
{
    SimId *id = map_get(&broker->ids, str_from(name));
    if (id == NULL) {
        id = mem_new(SimId);
        id->name = arena_copy_cstr(broker->names_arena, str_from(name));
        id->producer = ++broker->last_producer;
        map_put(&broker->ids, str_from(id->name), id);
    }
    return id;
}

void sim_id_fence(SimBroker *broker, SimId *id)
{
    if (id->open) {
        sim_id_settle(broker, id, false);
    }
    id->epoch++;
}

void sim_id_open(SimBroker *broker, SimId *id, int64_t timeout_ms)
{
    if (!id->open) {
        id->open = true;
        id->started_ms = sim_now_ms(broker);
        id->timeout_ms = timeout_ms;
    }
}

void sim_id_touch(SimId *id, SimPartition *partition)
{
    assert(id->open);
    for (size_t i = 0; i < id->touched_count; i++) {
        if (id->touched[i] == partition) {
            return;
        }
    }
    mem_reserve(id->touched, &id->touched_capacity, id->touched_count + 1);
    id->touched[id->touched_count++] = partition;
}

void sim_id_put_offset(SimId *id, SimGroupOffset *place, int64_t offset)
{
    assert(id->open);
    for (size_t i = 0; i < id->pending_count; i++) {
        if (id->pending[i].place == place) {
            id->pending[i].offset = offset;
            return;
        }
    }
    mem_reserve(id->pending, &id->pending_capacity, id->pending_count + 1);
    id->pending[id->pending_count++] = (SimPendingOffset){place, offset};
    place->pending_count++;
}

void sim_id_settle(SimBroker *broker, SimId *id, bool commit)
{
    assert(id->open);
    for (size_t i = 0; i < id->touched_count; i++) {
        sim_partition_settle(id->touched[i], id->producer, commit, sim_now_ms(broker));
    }
    for (size_t i = 0; i < id->pending_count; i++) {
        SimGroupOffset *place = id->pending[i].place;
        place->pending_count--;
        if (commit && place->topic->exists) {
            place->offset = id->pending[i].offset;
        }
    }
    id->touched_count = 0;
    id->pending_count = 0;
    id->open = false;
    sim_changed(broker);
}

void sim_id_forget(SimId *id, const SimPartition *partition)
{
    size_t kept = 0;
    for (size_t i = 0; i < id->touched_count; i++) {
        if (id->touched[i] != partition) {
            id->touched[kept++] = id->touched[i];
        }
    }
    id->touched_count = kept;
}

void sim_id_free(SimId *id)
{
    mem_free(id->touched);
    mem_free(id->pending);
    mem_free(id);
}

int64_t sim_settle_timed_out(SimBroker *broker)
{
    int64_t next_ms = -1;
    int64_t now_ms = sim_now_ms(broker);
    for (MapEntry *e = map_first(&broker->ids); e != NULL; e = map_next(&broker->ids, e)) {
        SimId *id = e->value;
        if (!id->open) {
            continue;
        }
        int64_t left_ms = id->started_ms + id->timeout_ms - now_ms;
        if (left_ms < 0) {
            sim_id_fence(broker, id);
        } else if (next_ms < 0 || left_ms < next_ms) {
            next_ms = left_ms;
        }
    }
    return next_ms;
}

SimGroupOffset *sim_group_offset(SimBroker *broker, const char *group, SimTopic *topic,
                                 int32_t partition)
{
    AUTO_BUFFER Buffer key = {0};
    buffer_append(&key, group, strlen(group) + 1);
    buffer_append(&key, topic->name, strlen(topic->name) + 1);
    buffer_append_u32_be(&key, (uint32_t)partition);
    SimGroupOffset *place = map_get(&broker->group_offsets, buffer_str(&key));
    if (place == NULL) {
        place = mem_new(SimGroupOffset);
        place->key = arena_copy_str(broker->names_arena, buffer_str(&key));
        place->topic = topic;
        place->offset = -1;
        map_put(&broker->group_offsets, place->key, place);
    }
    return place;
}
