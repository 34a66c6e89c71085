/* Checks of a topology that take more than one value, or the shape of a text: names, topics that
 * must not meet, where a source starts.
 *
 * Topic names are compared with '.' and '_' taken as equal: a broker keeps metrics under such names
 * and refuses to create a topic that differs from another one in nothing else. */
#include "config/topology_check.h"

#include "config/listen_address.h"
#include "config/topology_sql.h"
#include "processor/base/map.h"

#include "processor/base/banned.h"

enum { PIPELINE_BYTES_MAX = 100, TOPIC_BYTES_MAX = 249, NAME_PART_BYTES_MAX = 255 };

/* ---- Characters ---- */

/* Of topic names and of `pipeline`. */
static bool is_topic_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || char_is_digit(c) || c == '.' ||
           c == '_' || c == '-';
}

static bool consists_of_topic_chars(Str text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!is_topic_char(text.data[i])) {
            return false;
        }
    }
    return text.size > 0;
}

bool topology_is_topic_name(Str text)
{
    return consists_of_topic_chars(text) && text.size <= TOPIC_BYTES_MAX &&
           !str_equal(text, STR(".")) && !str_equal(text, STR(".."));
}

static bool is_name_part(Str part)
{
    for (size_t i = 0; i < part.size; i++) {
        unsigned char c = (unsigned char)part.data[i];
        if (c <= ' ' || c == 0x7F || c == '/' || c == '`' || c == '.') {
            return false;
        }
    }
    return part.size > 0 && part.size <= NAME_PART_BYTES_MAX;
}

int topology_name_parts(Str name, Str ret_parts[3])
{
    Str parts[3] = {STR_NULL, STR_NULL, STR_NULL};
    int count = 0;
    for (Str rest = name; rest.data != NULL; count++) {
        if (count == 3) {
            return 0;
        }
        parts[count] = str_cut(&rest, '.');
        if (!is_name_part(parts[count])) {
            return 0;
        }
    }
    for (int i = 0; i < count; i++) {
        ret_parts[i] = parts[i];
    }
    return count;
}

/* ---- Names ---- */

static void check_pipeline(ConfigLoader *loader, const Topology *topology)
{
    Str name = topology->pipeline;
    if (topology->pipeline_place.line == 0 ||
        (consists_of_topic_chars(name) && name.size <= PIPELINE_BYTES_MAX)) {
        return; /* a missing one is reported already */
    }
    Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, topology->pipeline_place,
                            "`pipeline` cannot be `%.*s`.", STR_ARG(name));
    config_report(loader, error_set_hint(error, "1 to %d of the characters A-Z a-z 0-9 _ . -",
                                         PIPELINE_BYTES_MAX));
}

static void check_namespace(ConfigLoader *loader, const char *key, Str name, SourcePlace place)
{
    if (is_name_part(name)) {
        return;
    }
    Error *error =
        error_at(ERROR_CONFIG_INVALID_VALUE, place, "`%s` cannot be `%.*s`.", key, STR_ARG(name));
    config_report(loader,
                  error_set_hint(error, "one name, without dots, blanks, slashes or backticks"));
}

/* One of the relations of the topology, for finding names and topics that meet. */
typedef struct Owner {
    const char *kind; /* "source" or "table" */
    Str name;
    SourcePlace place;
    bool *broken;
} Owner;

static Str lower_copy(Str text, Arena *arena)
{
    char *copy = arena_alloc_bytes(arena, text.size + 1);
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        copy[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (Str){copy, text.size};
}

/* catalog.schema.name in small letters: what SQL resolves the name to. */
static Str resolved_name(const Topology *topology, const Str *parts, int count, Arena *arena)
{
    Str catalog = count == 3 ? parts[0] : topology->catalog;
    Str schema = count >= 2 ? parts[count - 2] : topology->schema;
    const char *text = arena_printf(arena, "%.*s.%.*s.%.*s", STR_ARG(catalog), STR_ARG(schema),
                                    STR_ARG(parts[count - 1]));
    return lower_copy(str_from(text), arena);
}

static void check_name(ConfigLoader *loader, const Topology *topology, Map *names, Owner *owner)
{
    Str parts[3];
    int count = topology_name_parts(owner->name, parts);
    if (count == 0) {
        *owner->broken = true;
        Error *error =
            error_at(ERROR_INVALID_IDENTIFIER, owner->place, "`%.*s` cannot be the name of a %s.",
                     STR_ARG(owner->name), owner->kind);
        config_report(loader, error_set_hint(error, "one to three parts with dots between, without "
                                                    "blanks, slashes or backticks"));
        return;
    }
    Str resolved = resolved_name(topology, parts, count, loader->arena);
    const Owner *other = map_get(names, resolved);
    if (other == NULL) {
        map_put(names, resolved, owner);
        return;
    }
    *owner->broken = true;
    config_report(loader,
                  error_at(ERROR_TABLE_OR_VIEW_ALREADY_EXISTS, owner->place,
                           "The %s `%.*s` has the same name in SQL (`%.*s`) as the %s in line %d.",
                           owner->kind, STR_ARG(owner->name), STR_ARG(resolved), other->kind,
                           other->place.line));
}

/* ---- Topics ---- */

/* A text that is the same for topics that are the same to a broker. */
static Str metric_name(Str topic, Arena *arena)
{
    char *copy = arena_alloc_bytes(arena, topic.size + 1);
    for (size_t i = 0; i < topic.size; i++) {
        copy[i] = topic.data[i] == '.' ? '_' : topic.data[i];
    }
    return (Str){copy, topic.size};
}

bool topology_same_topic(Str a, Str b)
{
    if (a.size != b.size) {
        return false;
    }
    for (size_t i = 0; i < a.size; i++) {
        char left = a.data[i] == '.' ? '_' : a.data[i];
        char right = b.data[i] == '.' ? '_' : b.data[i];
        if (left != right) {
            return false;
        }
    }
    return true;
}

/* <flow>.<operator>: something, a dot, something. */
static bool names_operator_of_flow(Str rest)
{
    for (size_t i = 1; i + 1 < rest.size; i++) {
        if (rest.data[i] == '.') {
            return true;
        }
    }
    return false;
}

bool topology_topic_is_reserved(const Topology *topology, Str topic)
{
    static const Str internal[] = {
        {".progress", 9}, {".event_log", 10}, {".quarantine", 11}, {".control", 8}};
    size_t prefix = topology->pipeline.size;
    if (prefix == 0 || topic.size <= prefix + 1 ||
        !topology_same_topic(topology->pipeline, (Str){topic.data, prefix})) {
        return false;
    }
    Str rest = {topic.data + prefix, topic.size - prefix};
    for (size_t i = 0; i < ARRAY_LENGTH(internal); i++) {
        if (topology_same_topic(rest, internal[i])) {
            return true;
        }
    }
    return str_starts_with(topic, topology->pipeline) && rest.data[0] == '.' &&
           names_operator_of_flow((Str){rest.data + 1, rest.size - 1});
}

/* Shape and reserved names. False when mistaken (reported). */
static bool check_topic(ConfigLoader *loader, const Topology *topology, const Owner *owner,
                        Str topic, SourcePlace place)
{
    if (!topology_is_topic_name(topic)) {
        Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, place,
                                "`%.*s` cannot be the name of a topic.", STR_ARG(topic));
        bool by_default = place.line == owner->place.line && place.column == owner->place.column;
        config_report(loader,
                      error_set_hint(error, "%sat most %d of the characters A-Z a-z 0-9 _ . -",
                                     by_default ? "say `topic:`; " : "", TOPIC_BYTES_MAX));
        return false;
    }
    if (topology_topic_is_reserved(topology, topic)) {
        Error *error =
            error_at(ERROR_CONFIG_INVALID_VALUE, place,
                     "The topic `%.*s` of the %s `%.*s` is reserved for the pipeline itself.",
                     STR_ARG(topic), owner->kind, STR_ARG(owner->name));
        config_report(loader, error_set_hint(error,
                                             "%.*s.progress, .event_log, .quarantine, .control and "
                                             "names of two more parts are its own; choose another "
                                             "topic or another `pipeline`",
                                             STR_ARG(topology->pipeline)));
        return false;
    }
    return true;
}

/* The topic of a table belongs to it alone. */
static void check_table_topic(ConfigLoader *loader, const Topology *topology, Map *topics,
                              Owner *owner, const TopologyTable *table)
{
    if (table->topic.data == NULL) {
        return;
    }
    if (!check_topic(loader, topology, owner, table->topic, table->topic_place)) {
        *owner->broken = true;
        return;
    }
    Str key = metric_name(table->topic, loader->arena);
    const Owner *other = map_get(topics, key);
    if (other == NULL) {
        map_put(topics, key, owner);
        return;
    }
    *owner->broken = true;
    Error *error =
        error_at(ERROR_CONFIG_INVALID_VALUE, table->topic_place,
                 "The topic `%.*s` of the table `%.*s` is that of the %s `%.*s`.",
                 STR_ARG(table->topic), STR_ARG(table->name), other->kind, STR_ARG(other->name));
    config_report(loader,
                  error_set_hint(error, "names that differ only in `.` and `_` are the same "
                                        "to a broker; give each table its own topic"));
}

/* ---- Where a source starts ---- */

/* Moves over `count` digits; -1 when they are not there. */
static int take_number(Str *rest, size_t count)
{
    int number = 0;
    if (rest->size < count) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!char_is_digit(rest->data[i])) {
            return -1;
        }
        number = number * 10 + (rest->data[i] - '0');
    }
    *rest = (Str){rest->data + count, rest->size - count};
    return number;
}

static bool take_byte(Str *rest, char byte)
{
    if (rest->size == 0 || rest->data[0] != byte) {
        return false;
    }
    *rest = (Str){rest->data + 1, rest->size - 1};
    return true;
}

static bool in_range(int number, int low, int high)
{
    return number >= low && number <= high;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

static bool take_date(Str *rest)
{
    int year = take_number(rest, 4);
    if (year < 1 || !take_byte(rest, '-')) {
        return false;
    }
    int month = take_number(rest, 2);
    if (!in_range(month, 1, 12) || !take_byte(rest, '-')) {
        return false;
    }
    return in_range(take_number(rest, 2), 1, days_of_month(year, month));
}

/* hh:mm, seconds and their fraction optional. */
static bool take_time(Str *rest)
{
    if (!in_range(take_number(rest, 2), 0, 23) || !take_byte(rest, ':') ||
        !in_range(take_number(rest, 2), 0, 59)) {
        return false;
    }
    if (!take_byte(rest, ':')) {
        return true;
    }
    if (!in_range(take_number(rest, 2), 0, 59)) {
        return false;
    }
    if (!take_byte(rest, '.')) {
        return true;
    }
    size_t digits = 0;
    while (take_number(rest, 1) >= 0) {
        digits++;
    }
    return digits >= 1 && digits <= 9;
}

/* Nothing, Z, +hh:mm. */
static bool is_offset_or_nothing(Str rest)
{
    if (rest.size == 0 || str_equal(rest, STR("Z"))) {
        return true;
    }
    return (take_byte(&rest, '+') || take_byte(&rest, '-')) &&
           in_range(take_number(&rest, 2), 0, 18) && take_byte(&rest, ':') &&
           in_range(take_number(&rest, 2), 0, 59) && rest.size == 0;
}

/* ISO 8601 with `T` or a blank, or a date alone. */
static bool is_timestamp(Str text)
{
    Str rest = text;
    if (!take_date(&rest)) {
        return false;
    }
    if (rest.size == 0) {
        return true;
    }
    return (take_byte(&rest, 'T') || take_byte(&rest, ' ')) && take_time(&rest) &&
           is_offset_or_nothing(rest);
}

static void check_start(ConfigLoader *loader, TopologySource *source)
{
    if (str_equal(source->start_text, STR("earliest"))) {
        source->start = TOPOLOGY_START_EARLIEST;
    } else if (str_equal(source->start_text, STR("latest"))) {
        source->start = TOPOLOGY_START_LATEST;
    } else if (is_timestamp(source->start_text)) {
        source->start = TOPOLOGY_START_TIMESTAMP;
    } else {
        source->broken = true;
        Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, source->start_place,
                                "`sources.%.*s.start` must be earliest, latest or a timestamp, not "
                                "`%.*s`.",
                                STR_ARG(source->name), STR_ARG(source->start_text));
        config_report(loader, error_set_hint(error, "a timestamp is written 2026-03-01T00:00:00Z"));
    }
}

/* ---- Kafka ---- */

/* [PROTOCOL://]host[:port], host perhaps [v6]. */
static bool is_broker_address(Str address)
{
    const char *slashes = memmem(address.data, address.size, "://", 3);
    if (slashes != NULL) {
        size_t skip = (size_t)(slashes - address.data) + 3;
        address = (Str){address.data + skip, address.size - skip};
    }
    size_t bracket = address.size > 0 && address.data[0] == '[' ? str_find_byte(address, ']') : 0;
    if (bracket == address.size) {
        return false;
    }
    size_t host = bracket;
    while (host < address.size && address.data[host] != ':') {
        if ((unsigned char)address.data[host] <= ' ') {
            return false;
        }
        host++;
    }
    if (host == 0 || host == address.size) {
        return host > 0;
    }
    int64_t port = 0;
    return str_to_int64((Str){address.data + host + 1, address.size - host - 1}, &port) &&
           port >= 1 && port <= 65535;
}

static void check_bootstrap(ConfigLoader *loader, const TopologyKafka *kafka)
{
    if (kafka->bootstrap.size == 0) {
        return; /* reported already */
    }
    for (Str rest = kafka->bootstrap; rest.data != NULL;) {
        if (!is_broker_address(str_trim(str_cut(&rest, ',')))) {
            Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, kafka->bootstrap_place,
                                    "`kafka.bootstrap` must be addresses of brokers.");
            config_report(loader, error_set_hint(error, "host:port, a comma between several"));
            return;
        }
    }
}

static void check_listen(ConfigLoader *loader, const TopologyApi *api)
{
    Str host;
    Str port;
    if (api->listen_place.line == 0 || listen_address_is_none(api->listen) ||
        listen_address_parse(api->listen, &host, &port)) {
        return;
    }
    Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, api->listen_place,
                            "`api.listen` must be HOST:PORT, or none.");
    config_report(loader, error_set_hint(error, "127.0.0.1:8088; `:8088` is every address of the "
                                                "machine, port 0 any free one"));
}

static void check_numbers(ConfigLoader *loader, const Topology *topology)
{
    if (topology->kafka.replication_factor == 0) {
        config_report(loader,
                      error_at(ERROR_CONFIG_INVALID_VALUE, topology->kafka.replication_factor_place,
                               "`kafka.replication_factor` must be -1 (the broker's "
                               "default) or at least 1, not `0`."));
    }
    const TopologyRetry *retry = &topology->retry;
    if (retry->backoff_max_place.line > 0 && retry->backoff_max_ms < retry->backoff_ms) {
        config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, retry->backoff_max_place,
                                       "`retry.backoff_max` must not be less than "
                                       "`retry.backoff`."));
    }
}

/* ---- All of it ---- */

static Owner *new_owner(Arena *arena, const char *kind, Str name, SourcePlace place, bool *broken)
{
    Owner *owner = arena_new_object(arena, Owner);
    *owner = (Owner){kind, name, place, broken};
    return owner;
}

static void check_sources(ConfigLoader *loader, Topology *topology, Map *names, Map *topics)
{
    for (size_t i = 0; i < topology->source_count; i++) {
        TopologySource *source = &topology->sources[i];
        Owner *owner =
            new_owner(loader->arena, "source", source->name, source->name_place, &source->broken);
        check_name(loader, topology, names, owner);
        if (source->columns.file == NULL) { /* missing, and reported */
            source->columns = topology_empty_sql(loader);
        }
        if (source->topic.data == NULL) {
            source->topic = source->name;
            source->topic_place = source->name_place;
        }
        if (check_topic(loader, topology, owner, source->topic, source->topic_place)) {
            map_put(topics, metric_name(source->topic, loader->arena), owner);
        } else {
            source->broken = true;
        }
        check_start(loader, source);
    }
}

void topology_check(ConfigLoader *loader, Topology *topology)
{
    Map names = {0};
    Map topics = {0};
    check_pipeline(loader, topology);
    check_namespace(loader, "catalog", topology->catalog, topology->catalog_place);
    check_namespace(loader, "schema", topology->schema, topology->schema_place);
    check_bootstrap(loader, &topology->kafka);
    check_listen(loader, &topology->api);
    check_numbers(loader, topology);
    check_sources(loader, topology, &names, &topics);
    for (size_t i = 0; i < topology->table_count; i++) {
        TopologyTable *table = &topology->tables[i];
        Owner *owner =
            new_owner(loader->arena, "table", table->name, table->name_place, &table->broken);
        check_name(loader, topology, &names, owner);
        check_table_topic(loader, topology, &topics, owner, table);
    }
    map_done(&names);
    map_done(&topics);
}
