/* How alike texts are: levenshtein, soundex. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

/* ---- levenshtein ---- */

static uint32_t *code_points(const KernelCall *call, Str s, uint32_t *ret_count)
{
    uint32_t *points = arena_new_array(call->arena, uint32_t, s.size);
    uint32_t count = 0;
    for (size_t at = 0; at < s.size; at = utf8_next(s, at)) {
        points[count++] = utf8_decode(s, at);
    }
    *ret_count = count;
    return points;
}

static uint32_t least_of(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* The distance; a row of the table at a time. UINT32_MAX when it is above `limit`. */
static uint32_t distance(const KernelCall *call, Str a, Str b, uint32_t limit)
{
    uint32_t a_count = 0;
    uint32_t b_count = 0;
    const uint32_t *a_points = code_points(call, a, &a_count);
    const uint32_t *b_points = code_points(call, b, &b_count);
    uint32_t difference = a_count > b_count ? a_count - b_count : b_count - a_count;
    if (difference > limit) {
        return UINT32_MAX;
    }
    uint32_t *costs = arena_new_array(call->arena, uint32_t, (size_t)b_count + 1);
    for (uint32_t k = 0; k <= b_count; k++) {
        costs[k] = k;
    }
    for (uint32_t i = 0; i < a_count; i++) {
        uint32_t corner = costs[0];
        uint32_t least = costs[0] = i + 1;
        for (uint32_t k = 0; k < b_count; k++) {
            uint32_t replaced = corner + (a_points[i] != b_points[k]);
            corner = costs[k + 1];
            costs[k + 1] = least_of(replaced, corner + 1, costs[k] + 1);
            least = costs[k + 1] < least ? costs[k + 1] : least;
        }
        if (least > limit) {
            return UINT32_MAX;
        }
    }
    return costs[b_count] > limit ? UINT32_MAX : costs[b_count];
}

/* The table of two long texts takes time: more than so many steps fail the row. */
enum { LEVENSHTEIN_STEPS_MAX = 1 << 28 };

static void levenshtein(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str a = STR_ARGUMENT(call, 0, i);
        Str b = STR_ARGUMENT(call, 1, i);
        int32_t limit = call->argument_count > 2 ? INT_ARGUMENT(call, 2, i) : INT32_MAX;
        if ((uint64_t)a.size * b.size > LEVENSHTEIN_STEPS_MAX) {
            kernel_fail(call, i,
                        error_new(ERROR_ROW_TOO_LARGE, "The texts given to levenshtein are too "
                                                       "long to be compared."));
            continue;
        }
        uint32_t found = limit < 0 ? UINT32_MAX : distance(call, a, b, (uint32_t)limit);
        RESULT(call, int32_t)[i] = found == UINT32_MAX ? -1 : (int32_t)found;
    }
}

/* ---- soundex ---- */

/* Digits of A … Z; '7': the letter is passed over without parting equal digits, '0': it parts them.
 */
static const char soundex_codes[] = "01230127022455012623017202";

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void store_soundex(const KernelCall *call, uint32_t row, Str s)
{
    char code[4] = {upper(s.data[0]), '0', '0', '0'};
    char last = soundex_codes[code[0] - 'A'];
    size_t count = 1;
    for (size_t i = 1; i < s.size && count < sizeof code; i++) {
        char c = upper(s.data[i]);
        char digit = '0';
        if (c >= 'A' && c <= 'Z') {
            digit = soundex_codes[c - 'A'];
            if (digit == '7') {
                continue;
            }
            if (digit != '0' && digit != last) {
                code[count++] = digit;
            }
        }
        last = digit;
    }
    text_store(call, row, (Str){code, sizeof code});
}

static void soundex(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        char first = s.size == 0 ? '\0' : upper(s.data[0]);
        if (first >= 'A' && first <= 'Z') {
            store_soundex(call, i, s);
        } else {
            RESULT(call, Str)[i] = s;
        }
    }
}

const Kernel kernel_levenshtein = {.run = levenshtein};
const Kernel kernel_soundex = {.run = soundex};
