/* TBLPROPERTIES: each key once; values of the keys that mean something to us. */
#include "processor/base/map.h"
#include "processor/bind/schedule.h"

#include "processor/base/banned.h"

static Error *invalid_property(const AstProperty *property, const char *allowed)
{
    return error_at(ERROR_INVALID_PROPERTY, property->value_place,
                    "The table property `%.*s` is %s, not '%.*s'.", STR_ARG(property->key), allowed,
                    STR_ARG(property->value));
}

static Error *check_property(const AstProperty *property)
{
    Str value = property->value;
    if (str_equal(property->key, STR("pipelines.channel")) && /* ST-29 */
        !str_equal_ignore_case(value, STR("PREVIEW")) &&
        !str_equal_ignore_case(value, STR("CURRENT"))) {
        return invalid_property(property, "'PREVIEW' or 'CURRENT'");
    }
    bool is_boolean = str_equal(property->key, STR("pipelines.reset.allowed")) || /* ST-30 */
                      str_equal(property->key, STR("delta.appendOnly"));          /* ST-31 */
    if (is_boolean && !str_equal_ignore_case(value, STR("true")) &&
        !str_equal_ignore_case(value, STR("false"))) {
        return invalid_property(property, "'true' or 'false'");
    }
    return NULL;
}

static bool is_append_only(const AstProperty *property)
{
    return str_equal(property->key, STR("delta.appendOnly")) &&
           str_equal_ignore_case(property->value, STR("true"));
}

void check_append_only(Binder *binder, const AstProperty *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_append_only(&properties[i])) { /* ST-31 */
            binder_report(binder,
                          error_set_hint(error_at(ERROR_APPEND_ONLY_TABLE, properties[i].key_place,
                                                  "A table with delta.appendOnly = 'true' cannot "
                                                  "have a flow that replaces rows."),
                                         "leave the property out"));
        }
    }
}

void check_properties(Binder *binder, const AstProperty *properties, size_t count)
{
    Map keys = {0};
    for (size_t i = 0; i < count; i++) {
        const AstProperty *property = &properties[i];
        if (map_get(&keys, property->key) != NULL) { /* ST-28 */
            binder_report(binder, error_at(ERROR_INVALID_PROPERTY, property->key_place,
                                           "The table property `%.*s` is given twice.",
                                           STR_ARG(property->key)));
        }
        map_put(&keys, property->key, &keys);
        binder_report(binder, check_property(property));
    }
    map_done(&keys);
}
