/* murmur2 against the vectors Kafka publishes for its own (UtilsTest.testMurmur2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connectors/partitioner.h"

#include "processor/base/banned.h"

static const struct {
    const char *key;
    int32_t hash;
} vectors[] = {
    {"21", -973932308},
    {"foobar", -790332482},
    {"a-little-bit-long-string", -985981536},
    {"a-little-bit-longer-string", -1486304829},
    {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
    {"abc", 479470107},
};

static void murmur2_is_kafkas(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        assert_int_equal((int32_t)murmur2(str_from(vectors[i].key)), vectors[i].hash);
    }
}

/* Java: toPositive(hash) % partitions, where toPositive clears the sign bit. */
static void partition_clears_the_sign_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        int64_t positive =
            (int64_t)vectors[i].hash + (vectors[i].hash < 0 ? INT64_C(2147483648) : INT64_C(0));
        for (int32_t partitions = 1; partitions <= 64; partitions++) {
            int32_t partition = partition_of_key(str_from(vectors[i].key), partitions);
            assert_int_equal(partition, positive % partitions);
        }
    }
}

static void an_empty_key_has_a_partition(void **state)
{
    (void)state;
    int32_t partition = partition_of_key(STR(""), 7);
    assert_in_range(partition, 0, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(murmur2_is_kafkas),
        cmocka_unit_test(partition_clears_the_sign_bit),
        cmocka_unit_test(an_empty_key_has_a_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
