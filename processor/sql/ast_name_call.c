/* Spark's names of calls: the function's name as Spark spells it, arguments it fills in, the window
 * frame it makes explicit. */
#include <stdio.h>

#include "processor/sql/ast_name_internal.h"
#include "processor/sql/ast_print_internal.h"

#include "processor/base/banned.h"

static void text(NamePrinter *printer, const char *words)
{
    buffer_append_cstr(printer->out, words);
}

/* The function's name when it is one bare word, else STR_NULL. */
static Str plain_name(const AstCall *call)
{
    return call->name.part_count == 1 ? call->name.parts[0].name : STR_NULL;
}

static bool is_named(const AstCall *call, const char *name)
{
    return str_equal_ignore_case(plain_name(call), str_from(name));
}

static void lower_name(NamePrinter *printer, Str name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        buffer_append_byte(printer->out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
}

bool is_cast_function(const AstCall *call)
{
    static const char *const names[] = {"boolean", "tinyint",   "smallint", "int",
                                        "bigint",  "float",     "double",   "decimal",
                                        "date",    "timestamp", "binary",   "string"};
    bool found = false;
    for (size_t i = 0; call->argument_count == 1 && i < ARRAY_LENGTH(names) && !found; i++) {
        found = is_named(call, names[i]);
    }
    return found;
}

/* How Spark spells a function when not in lower case; `arguments` -1 = any number. */
typedef struct Spelling {
    const char *name;
    int arguments;
    const char *shown;
} Spelling;

static const Spelling spellings[] = {
    {"rank", -1, "RANK"},
    {"dense_rank", -1, "DENSE_RANK"},
    {"percent_rank", -1, "PERCENT_RANK"},
    {"array_agg", 1, "collect_list"},
    {"ceil", 1, "CEIL"},
    {"floor", 1, "FLOOR"},
    {"sqrt", 1, "SQRT"},
    {"power", 2, "POWER"},
    {"signum", 1, "SIGNUM"},
    {"log", 2, "LOG"},
    {"exp", 1, "EXP"},
    {"sin", 1, "SIN"},
    {"cos", 1, "COS"},
    {"tan", 1, "TAN"},
    {"cot", 1, "COT"},
    {"atan2", 2, "ATAN2"},
    {"cbrt", 1, "CBRT"},
    {"degrees", 1, "DEGREES"},
    {"radians", 1, "RADIANS"},
    {"log10", 1, "LOG10"},
    {"log2", 1, "LOG2"},
    {"log1p", 1, "LOG1P"},
    {"expm1", 1, "EXPM1"},
    {"hypot", 2, "HYPOT"},
    {"e", 0, "E"},
    {"pi", 0, "PI"},
    {"regexp_like", 2, "REGEXP_LIKE"},
    {"regexp", 2, "REGEXP"},
    {"rlike", 2, "RLIKE"},
    {"asin", 1, "ASIN"},
    {"acos", 1, "ACOS"},
    {"atan", 1, "ATAN"},
    {"sinh", 1, "SINH"},
    {"cosh", 1, "COSH"},
    {"tanh", 1, "TANH"},
    {"asinh", 1, "ASINH"},
    {"acosh", 1, "ACOSH"},
    {"atanh", 1, "ATANH"},
    {"sec", 1, "SEC"},
    {"csc", 1, "CSC"},
    {"dateadd", 2, "date_add"},
    {"dateadd", 3, "timestampadd"},
    {"date_add", 3, "timestampadd"},
    {"datediff", 3, "timestampdiff"},
    {"date_diff", 3, "timestampdiff"},
    {"timediff", 3, "timestampdiff"},
    {"curdate", 0, "current_date"},
    {"to_varchar", 2, "to_char"},
    {"current_database", 0, "current_schema"},
};

static void function_name(NamePrinter *printer, const AstCall *call)
{
    for (size_t i = 0; i < ARRAY_LENGTH(spellings); i++) {
        if ((spellings[i].arguments < 0 || (int)call->argument_count == spellings[i].arguments) &&
            is_named(call, spellings[i].name)) {
            text(printer, spellings[i].shown);
            return;
        }
    }
    for (size_t i = 0; i < call->name.part_count; i++) {
        text(printer, i > 0 ? "." : "");
        lower_name(printer, call->name.parts[i].name);
    }
}

/* What Spark shows behind the arguments given. */
static const Spelling added_arguments[] = {
    {"substring", 2, ", 2147483647"},
    {"substr", 2, ", 2147483647"},
    {"round", 1, ", 0"},
    {"bround", 1, ", 0"},
    {"split", 2, ", -1"},
    {"locate", 2, ", 1"},
    {"position", 2, ", 1"},
    {"overlay", 3, ", -1"},
    {"lpad", 2, ",  "},
    {"rpad", 2, ",  "},
    {"regexp_replace", 3, ", 1"},
    {"regexp_extract", 2, ", 1"},
    {"from_unixtime", 1, ", yyyy-MM-dd HH:mm:ss"},
    {"unix_timestamp", 0, "current_timestamp(), yyyy-MM-dd HH:mm:ss"},
    {"unix_timestamp", 1, ", yyyy-MM-dd HH:mm:ss"},
    {"to_unix_timestamp", 1, ", yyyy-MM-dd HH:mm:ss"},
    {"months_between", 2, ", true"},
    {"make_dt_interval", 0, "0, 0, 0, 0.000000"},
    {"make_dt_interval", 1, ", 0, 0, 0.000000"},
    {"make_dt_interval", 2, ", 0, 0.000000"},
    {"make_dt_interval", 3, ", 0.000000"},
    {"make_ym_interval", 0, "0, 0"},
    {"make_ym_interval", 1, ", 0"},
    {"sort_array", 1, ", true"},
    {"percentile", 2, ", 1"},
    {"lag", 1, ", 1, NULL"},
    {"lag", 2, ", NULL"},
    {"lead", 1, ", 1, NULL"},
    {"lead", 2, ", NULL"},
    {"listagg", 1, ", NULL"},
    {"string_agg", 1, ", NULL"},
    {"aggregate", 3, ", lambdafunction(namedlambdavariable(), namedlambdavariable())"},
    {"reduce", 3, ", lambdafunction(namedlambdavariable(), namedlambdavariable())"},
    {"array_sort", 1,
     ", lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), "
     "0, (IF((namedlambdavariable() IS NULL), 1, (IF((namedlambdavariable() IS NULL), -1, "
     "(IF((namedlambdavariable() < namedlambdavariable()), -1, (IF((namedlambdavariable() > "
     "namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable())"},
    {"str_to_map", 1, ", ,, :"},
    {"str_to_map", 2, ", :"},
    {"mask", 1, ", X, x, n, NULL"},
    {"mask", 2, ", x, n, NULL"},
    {"mask", 3, ", n, NULL"},
    {"mask", 4, ", NULL"},
    {"regexp_extract_all", 2, ", 1"},
    {"regexp_instr", 2, ", 0"},
    {"percentile_approx", 2, ", 10000"},
    {"approx_percentile", 2, ", 10000"},
};

static const char *added_text(const AstCall *call)
{
    for (size_t i = 0; i < ARRAY_LENGTH(added_arguments); i++) {
        if ((int)call->argument_count == added_arguments[i].arguments &&
            is_named(call, added_arguments[i].name)) {
            return added_arguments[i].shown;
        }
    }
    return "";
}

/* first(x, true) is shown without its flag. */
static bool takes_null_flag(const AstCall *call)
{
    return is_named(call, "first") || is_named(call, "first_value") || is_named(call, "last") ||
           is_named(call, "last_value") || is_named(call, "any_value");
}

/* rank(a) OVER … is rank(). */
static bool ranks_alone(const AstCall *call)
{
    return is_named(call, "rank") || is_named(call, "dense_rank") || is_named(call, "percent_rank");
}

/* Schemas, options and seeds of these are not shown. */
static bool shows_first_only(const AstCall *call)
{
    static const char *const names[] = {"from_json",      "from_csv",      "to_json", "to_csv",
                                        "schema_of_json", "schema_of_csv", "shuffle"};
    bool found = false;
    for (size_t i = 0; call->argument_count > 1 && i < ARRAY_LENGTH(names) && !found; i++) {
        found = is_named(call, names[i]);
    }
    return found;
}

static void call_arguments(NamePrinter *printer, const AstCall *call)
{
    bool first_only = shows_first_only(call);
    first_only = first_only || (call->argument_count == 2 &&
                                (takes_null_flag(call) || is_named(call, "approx_count_distinct")));
    size_t count = ranks_alone(call) || is_named(call, "uuid") ? 0
                   : first_only                                ? 1
                                                               : call->argument_count;
    text(printer, "(");
    if (call->star) {
        text(printer, is_named(call, "count") ? "1" : "*");
    }
    text(printer, call->distinct ? "DISTINCT " : "");
    for (size_t i = 0; i < count; i++) {
        print_list_separator(printer->out, i);
        name_expr(printer, call->arguments[i].expr);
    }
    text(printer, added_text(call));
    if (count == 1 && is_named(call, "assert_true")) {
        text(printer, ", '");
        name_expr(printer, call->arguments[0].expr);
        text(printer, "' is not true!");
    }
    text(printer, ")");
}

/* ------------------------------------------------------------------ windows --- */

static void sort_items(NamePrinter *printer, const AstSortItem *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_list_separator(printer->out, i);
        name_expr(printer, items[i].expr);
        text(printer, items[i].descending ? " DESC" : " ASC");
        text(printer, items[i].nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
}

/* Percentiles show the direction alone; mode() takes the last of equal values, the first when DESC
 * is written, and Spark shows how it sorts. */
static void within_group(NamePrinter *printer, const AstCall *call)
{
    const AstSortItem *first = &call->within_group[0];
    text(printer, " WITHIN GROUP (ORDER BY ");
    if (is_named(call, "listagg") || is_named(call, "string_agg")) {
        sort_items(printer, call->within_group, call->within_group_count);
    } else {
        name_expr(printer, first->expr);
        text(printer, first->descending != is_named(call, "mode") ? " DESC" : "");
    }
    text(printer, ")");
}

static void frame_bound(NamePrinter *printer, const AstFrameBound *bound)
{
    switch (bound->kind) {
    case AST_FRAME_UNBOUNDED_PRECEDING:
        text(printer, "UNBOUNDED PRECEDING");
        return;
    case AST_FRAME_UNBOUNDED_FOLLOWING:
        text(printer, "UNBOUNDED FOLLOWING");
        return;
    case AST_FRAME_CURRENT_ROW:
        text(printer, "CURRENT ROW");
        return;
    case AST_FRAME_PRECEDING:
    case AST_FRAME_FOLLOWING:
        name_expr(printer, bound->expr);
        text(printer, bound->kind == AST_FRAME_PRECEDING ? " PRECEDING" : " FOLLOWING");
        return;
    }
}

static bool is_ranking(const AstCall *call)
{
    return is_named(call, "row_number") || is_named(call, "rank") || is_named(call, "dense_rank") ||
           is_named(call, "percent_rank") || is_named(call, "ntile");
}

/* lag(a, n) looks at the row -n, lead(a, n) at the row n. */
static bool offset_frame(NamePrinter *printer, const AstCall *call)
{
    bool lag = is_named(call, "lag");
    if ((!lag && !is_named(call, "lead")) || call->argument_count == 0) {
        return false;
    }
    int64_t offset = 1;
    if (call->argument_count > 1) {
        const AstExpr *expr = call->arguments[1].expr;
        if (expr->kind != AST_EXPR_LITERAL || !str_to_int64(expr->literal.value, &offset)) {
            return false;
        }
    }
    long long shown = lag ? -(long long)offset : (long long)offset;
    buffer_printf(printer->out, "ROWS BETWEEN %lld FOLLOWING AND %lld FOLLOWING", shown, shown);
    return true;
}

static void window_frame(NamePrinter *printer, const AstCall *call, const AstWindow *window)
{
    if (window->frame != NULL) {
        text(printer, window->frame->range ? "RANGE BETWEEN " : "ROWS BETWEEN ");
        frame_bound(printer, &window->frame->start);
        text(printer, " AND ");
        frame_bound(printer, &window->frame->end);
    } else if (offset_frame(printer, call)) {
        return;
    } else if (is_ranking(call)) {
        text(printer, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW");
    } else if (window->order_by_count > 0) {
        text(printer, "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW");
    } else {
        text(printer, "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING");
    }
}

static void over(NamePrinter *printer, const AstCall *call)
{
    const AstNames *names = printer->names;
    const AstWindow *window = call->over;
    if (window->name.name.data != NULL && names->named_window != NULL) {
        const AstWindow *meant = names->named_window(names->context, window);
        window = meant == NULL ? window : meant;
    }
    if (window->name.name.data != NULL) {
        buffer_printf(printer->out, " OVER %.*s", STR_ARG(window->name.name));
        return;
    }
    text(printer, " OVER (");
    if (window->partition_by_count > 0) {
        text(printer, "PARTITION BY ");
        name_exprs(printer, window->partition_by, window->partition_by_count);
        text(printer, " ");
    }
    if (window->order_by_count > 0) {
        text(printer, "ORDER BY ");
        sort_items(printer, window->order_by, window->order_by_count);
        text(printer, " ");
    }
    window_frame(printer, call, window);
    text(printer, ")");
}

/* like(a, b, '/') is a LIKE b ESCAPE '/'; of ilike the escape is not shown. */
static bool escaped_like(NamePrinter *printer, const AstCall *call)
{
    if (call->argument_count != 3 || !is_named(call, "like")) {
        return false;
    }
    name_expr(printer, call->arguments[0].expr);
    text(printer, " LIKE ");
    name_expr(printer, call->arguments[1].expr);
    text(printer, " ESCAPE '");
    name_expr(printer, call->arguments[2].expr);
    text(printer, "'");
    return true;
}

/* Functions shown as operators or around what they are given; `middle` goes between two. */
typedef struct Reshape {
    const char *name;
    size_t arguments;
    const char *head;
    const char *middle;
    const char *tail;
} Reshape;

static const Reshape reshapes[] = {
    {"isnull", 1, "(", "", " IS NULL)"},
    {"isnotnull", 1, "(", "", " IS NOT NULL)"},
    {"trim", 2, "TRIM(BOTH ", " FROM ", ")"},
    {"log", 1, "LOG(E(), ", "", ")"},
    {"div", 2, "(", " div ", ")"},
    {"positive", 1, "(+ ", "", ")"},
    {"datepart", 2, "datepart(", " FROM ", ")"},
    {"like", 2, "", " LIKE ", ""},
};

static const Reshape *reshape_of(const AstCall *call)
{
    for (size_t i = 0; i < ARRAY_LENGTH(reshapes); i++) {
        if (call->argument_count == reshapes[i].arguments && is_named(call, reshapes[i].name)) {
            return &reshapes[i];
        }
    }
    return NULL;
}

/* A map read from JSON is called entries, when the schema is written out. */
static bool reads_map(const AstCall *call)
{
    if (call->argument_count < 2 || !is_named(call, "from_json")) {
        return false;
    }
    const AstExpr *schema = call->arguments[1].expr;
    Str text = schema->kind == AST_EXPR_LITERAL && schema->literal.kind == AST_LITERAL_STRING
                   ? str_trim(schema->literal.value)
                   : STR("");
    Str word = {text.data, text.size < 3 ? 0 : 3};
    Str rest = str_trim((Str){text.data + word.size, text.size - word.size});
    return str_equal_ignore_case(word, STR("map")) && str_starts_with(rest, STR("<"));
}

/* Calls that Spark shows in another form; false when `call` is none. */
static bool reshaped(NamePrinter *printer, const AstCall *call)
{
    if (is_cast_function(call)) {
        name_expr(printer, call->arguments[0].expr);
        return true;
    }
    if (is_named(call, "window") && call->over == NULL) {
        text(printer, "window");
        return true;
    }
    if (reads_map(call)) {
        text(printer, "entries");
        return true;
    }
    if (call->argument_count == 3 && is_named(call, "if")) {
        text(printer, "(IF");
        call_arguments(printer, call);
        text(printer, ")");
        return true;
    }
    const Reshape *reshape = reshape_of(call);
    if (reshape == NULL) {
        return escaped_like(printer, call);
    }
    text(printer, reshape->head);
    name_expr(printer, call->arguments[0].expr);
    text(printer, reshape->middle);
    if (reshape->arguments == 2) {
        name_expr(printer, call->arguments[1].expr);
    }
    text(printer, reshape->tail);
    return true;
}

void name_call(NamePrinter *printer, const AstCall *call)
{
    if (reshaped(printer, call)) {
        return;
    }
    function_name(printer, call);
    call_arguments(printer, call);
    if (call->nulls == AST_NULLS_RESPECT &&
        (is_named(call, "collect_list") || is_named(call, "collect_set") ||
         is_named(call, "collect_union") || is_named(call, "array_agg"))) {
        text(printer, " RESPECT NULLS");
    }
    if (call->within_group_count > 0) {
        within_group(printer, call);
    }
    if (call->filter != NULL) {
        text(printer, " FILTER (WHERE ");
        name_expr(printer, call->filter);
        text(printer, ")");
    }
    if (call->over != NULL) {
        over(printer, call);
    }
}
