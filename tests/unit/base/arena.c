/* Arena: alignment, reuse after reset, release functions in reverse order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/arena.h"

static void allocations_are_aligned_and_distinct(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    char *last = NULL;
    for (size_t size = 1; size < 5000; size += 37) {
        char *memory = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        memset(memory, (int)(size & 0x7F), size);
        if (last != NULL) {
            assert_ptr_not_equal(last, memory);
        }
        last = memory;
    }
    assert_true(arena_held_bytes(arena) >= arena_used_bytes(arena));
}

static int release_order[2];
static int release_count;

static void note_release(void *object)
{
    release_order[release_count++] = *(int *)object;
}

static void reset_releases_last_first_and_keeps_blocks(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    int one = 1;
    int two = 2;
    arena_on_reset(arena, note_release, &one);
    arena_on_reset(arena, note_release, &two);
    (void)arena_alloc(arena, 100000);
    size_t held = arena_held_bytes(arena);
    arena_reset(arena);
    assert_int_equal(release_count, 2);
    assert_int_equal(release_order[0], 2);
    assert_int_equal(release_order[1], 1);
    assert_int_equal(arena_used_bytes(arena), 0);
    (void)arena_alloc(arena, 100000);
    assert_int_equal(arena_held_bytes(arena), held);
}

static void copies_keep_null_apart_from_empty(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    assert_null(arena_copy_str(arena, STR_NULL).data);
    Str empty = arena_copy_str(arena, STR(""));
    assert_non_null(empty.data);
    assert_int_equal(empty.size, 0);
    assert_string_equal(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
}

static void arrays_grow_and_keep_what_they_hold(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    int64_t *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (int64_t i = 0; i < 1000; i++) {
        *arena_push(arena, items, count, capacity) = i;
    }
    assert_int_equal(count, 1000);
    assert_true(capacity >= count && capacity <= 2 * count);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(items[i], i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_distinct),
        cmocka_unit_test(reset_releases_last_first_and_keeps_blocks),
        cmocka_unit_test(copies_keep_null_apart_from_empty),
        cmocka_unit_test(arrays_grow_and_keep_what_they_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
