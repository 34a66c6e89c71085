/* Attributes and the two control-flow macros every room uses: TRY (hand an error upward) and AUTO
 * (release on every way out of a scope). */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#define NODISCARD __attribute__((warn_unused_result))
#define COLD __attribute__((cold))
#define RETURNS_NONNULL __attribute__((returns_nonnull))
#define UNUSED __attribute__((unused))
#define PRINTF_LIKE(text, first) __attribute__((__format__(__printf__, text, first)))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the error of `call` from the calling function, which must itself return Error *. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        Error *try_error_ = (call);                                                                \
        if (UNLIKELY(try_error_ != NULL)) {                                                        \
            return try_error_;                                                                     \
        }                                                                                          \
    } while (0)

/* AUTO(arena) Arena *a = …; calls arena_auto_(&a) when the scope ends. A type takes part by
 * saying DEFINE_AUTO(name, Type, release) once in its header. */
#define AUTO(name) __attribute__((cleanup(name##_auto_)))
#define DEFINE_AUTO(name, Type, release)                                                           \
    UNUSED static inline void name##_auto_(Type **object)                                          \
    {                                                                                              \
        if (*object != NULL) {                                                                     \
            release(*object);                                                                      \
            *object = NULL;                                                                        \
        }                                                                                          \
    }

/* 128-bit integers carry DECIMAL(38); the plain spelling trips -Wpedantic. */
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

#endif
