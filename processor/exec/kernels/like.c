/* LIKE and ILIKE: patterns of characters, `_` (one character) and `%` (any number). A pattern is
 * compiled to pieces; matching walks text and pieces together and, where it fails, goes back to the
 * last `%` only (earlier ones need no second try: they have already matched as early as they can).
 *
 * A literal pattern is compiled once, others once for each row that brings a new one. ILIKE matches
 * both sides in lower case. */
#include <unicode/ucasemap.h>

#include "processor/base/memory.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

typedef enum PieceKind { PIECE_BYTES, PIECE_ONE, PIECE_MANY } PieceKind;

typedef struct Piece {
    PieceKind kind;
    size_t at; /* BYTES: in the pattern's text */
    size_t size;
} Piece;

typedef struct LikePattern {
    Buffer text; /* without escapes */
    Piece *pieces;
    size_t count;
    size_t capacity;
    Buffer source; /* what it was compiled from */
    Buffer escape;
    bool compiled;
} LikePattern;

typedef struct LikeState {
    LikePattern pattern;
    UCaseMap *lower; /* ILIKE */
} LikeState;

static void add_piece(LikePattern *pattern, PieceKind kind)
{
    mem_reserve(pattern->pieces, &pattern->capacity, pattern->count + 1);
    pattern->pieces[pattern->count++] = (Piece){kind, pattern->text.size, 0};
}

static void add_bytes(LikePattern *pattern, Str bytes)
{
    if (pattern->count == 0 || pattern->pieces[pattern->count - 1].kind != PIECE_BYTES) {
        add_piece(pattern, PIECE_BYTES);
    }
    buffer_append_str(&pattern->text, bytes);
    pattern->pieces[pattern->count - 1].size += bytes.size;
}

static Error *bad_escape(Str source, Str next)
{
    if (next.size == 0) {
        return error_new(
            ERROR_INVALID_FORMAT_ESCAPE_END,
            "The format is invalid: '%.*s'. The escape character is not allowed to end "
            "with.",
            STR_ARG(source));
    }
    return error_new(
        ERROR_INVALID_FORMAT_ESCAPE_MIDDLE,
        "The format is invalid: '%.*s'. The escape character is not allowed to precede "
        "'%.*s'.",
        STR_ARG(source), STR_ARG(next));
}

static Str character_at(Str s, size_t at)
{
    return at < s.size ? (Str){s.data + at, utf8_next(s, at) - at} : (Str){"", 0};
}

static Error *compile_pieces(LikePattern *pattern, Str source, Str escape)
{
    for (size_t at = 0; at < source.size;) {
        Str c = character_at(source, at);
        at += c.size;
        if (escape.size > 0 && str_equal(c, escape)) {
            Str next = character_at(source, at);
            if (!str_equal(next, STR("_")) && !str_equal(next, STR("%")) &&
                !str_equal(next, escape)) {
                return bad_escape(source, next);
            }
            add_bytes(pattern, next);
            at += next.size;
        } else if (str_equal(c, STR("_"))) {
            add_piece(pattern, PIECE_ONE);
        } else if (!str_equal(c, STR("%"))) {
            add_bytes(pattern, c);
        } else if (pattern->count == 0 || pattern->pieces[pattern->count - 1].kind != PIECE_MANY) {
            add_piece(pattern, PIECE_MANY);
        }
    }
    return NULL;
}

/* Compiles the pattern unless it is the one compiled last. */
static Error *need_pattern(LikePattern *pattern, Str source, Str escape)
{
    if (pattern->compiled && str_equal(buffer_str(&pattern->source), source) &&
        str_equal(buffer_str(&pattern->escape), escape)) {
        return NULL;
    }
    buffer_clear(&pattern->text);
    buffer_clear(&pattern->source);
    buffer_clear(&pattern->escape);
    pattern->count = 0;
    pattern->compiled = false;
    buffer_append_str(&pattern->source, source);
    buffer_append_str(&pattern->escape, escape);
    TRY(compile_pieces(pattern, source, escape));
    pattern->compiled = true;
    return NULL;
}

/* Matches the piece at `at`; false when it does not. */
static bool match_piece(const LikePattern *pattern, const Piece *piece, Str s, size_t *at)
{
    if (piece->kind == PIECE_ONE) {
        if (*at >= s.size) {
            return false;
        }
        *at = utf8_next(s, *at);
        return true;
    }
    if (piece->size > s.size - *at ||
        memcmp(pattern->text.data + piece->at, s.data + *at, piece->size) != 0) {
        return false;
    }
    *at += piece->size;
    return true;
}

/* Behind `%`, bytes are searched for: moves to where the piece may match; false when nowhere. */
static bool skip_to_piece(const LikePattern *pattern, const Piece *piece, Str s, size_t *at)
{
    if (piece->kind != PIECE_BYTES) {
        return true;
    }
    const char *found =
        memmem(s.data + *at, s.size - *at, pattern->text.data + piece->at, piece->size);
    if (found == NULL) {
        return false;
    }
    *at = (size_t)(found - s.data);
    return true;
}

static bool like_matches(const LikePattern *pattern, Str s)
{
    size_t at = 0;
    size_t piece = 0;
    size_t retry_piece = SIZE_MAX; /* behind the last `%` */
    size_t retry_at = 0;
    for (;;) {
        if (piece < pattern->count && pattern->pieces[piece].kind == PIECE_MANY) {
            retry_piece = ++piece;
            retry_at = at;
            if (piece == pattern->count) {
                return true;
            }
        }
        if (piece == pattern->count && at == s.size) {
            return true;
        }
        if (piece < pattern->count && match_piece(pattern, &pattern->pieces[piece], s, &at)) {
            piece++;
            continue;
        }
        if (retry_piece == SIZE_MAX || retry_at >= s.size) {
            return false;
        }
        retry_at = utf8_next(s, retry_at);
        if (!skip_to_piece(pattern, &pattern->pieces[retry_piece], s, &retry_at)) {
            return false;
        }
        at = retry_at;
        piece = retry_piece;
    }
}

/* ---- Kernels ---- */

/* Lower case of a text, in the batch's arena; the text itself when it cannot be had. */
static Str in_lower_case(const KernelCall *call, const UCaseMap *map, Str s)
{
    UErrorCode status = U_ZERO_ERROR;
    size_t capacity = s.size * 3;
    if (map == NULL || capacity > TEXT_SIZE_MAX) {
        return s;
    }
    char *bytes = arena_alloc_bytes(call->arena, capacity);
    int32_t size =
        ucasemap_utf8ToLower(map, bytes, (int32_t)capacity, s.data, (int32_t)s.size, &status);
    return U_FAILURE(status) ? s : (Str){bytes, (size_t)size};
}

static void like(const KernelCall *call)
{
    /* The compiled pattern is a cache: it belongs to the expression, which one thread runs. */
    LikeState *const *holder = call->state;
    LikeState *state = *holder;
    FOR_VALID_ROWS(call, i)
    {
        Str escape = call->argument_count > 2 ? STR_ARGUMENT(call, 2, i) : STR("\\");
        Str source = in_lower_case(call, state->lower, STR_ARGUMENT(call, 1, i));
        Error *error = need_pattern(&state->pattern, source, escape);
        if (error != NULL) {
            kernel_fail(call, i, error);
            continue;
        }
        Str s = in_lower_case(call, state->lower, STR_ARGUMENT(call, 0, i));
        RESULT(call, uint8_t)[i] = like_matches(&state->pattern, s);
    }
}

static void release_state(void *object)
{
    LikeState *state = object;
    buffer_done(&state->pattern.text);
    buffer_done(&state->pattern.source);
    buffer_done(&state->pattern.escape);
    mem_free(state->pattern.pieces);
    ucasemap_close(state->lower);
}

static LikeState *prepare(KernelSetup *setup)
{
    LikeState **holder = arena_new_object(setup->arena, LikeState *);
    *holder = arena_new_object(setup->arena, LikeState);
    arena_on_reset(setup->arena, release_state, *holder);
    setup->state = holder;
    return *holder;
}

static KernelRun *choose_like(KernelSetup *setup)
{
    (void)prepare(setup);
    return like;
}

static KernelRun *choose_ilike(KernelSetup *setup)
{
    UErrorCode status = U_ZERO_ERROR;
    prepare(setup)->lower = ucasemap_open("", 0, &status);
    return like;
}

const Kernel kernel_like = {.choose = choose_like};
const Kernel kernel_ilike = {.choose = choose_ilike};
