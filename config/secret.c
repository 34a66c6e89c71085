/* Secret keys are told by the words in them. A misspelt key is not yet refused when its line is
 * about to be shown, so the last words are also compared by edit distance. */
#include "config/secret.h"

#include <stddef.h>

#include "processor/base/banned.h"

static const char *const secret_words[] = {
    "password",   "passphrase", "passwd",  "secret",      "token",
    "credential", "ssl.key",    "key.pem", "private.key", "private_key",
    "privatekey", "api.key",    "api_key", "apikey",      "access.key",
    "access_key", "accesskey",  "jaas",    "user.info",   "sasl.oauthbearer.config",
};

static bool contains_ignore_case(Str text, Str word)
{
    for (size_t i = 0; i + word.size <= text.size; i++) {
        if (str_equal_ignore_case((Str){text.data + i, word.size}, word)) {
            return true;
        }
    }
    return false;
}

static bool is_separator(char c)
{
    return c == '.' || c == '_' || c == '-';
}

static bool word_is_near_secret(Str word)
{
    return (word.size >= 6 && word.size <= 12 && str_distance(word, STR("password")) <= 2) ||
           (word.size >= 5 && word.size <= 8 && str_distance(word, STR("secret")) <= 1);
}

bool config_is_secret_key(Str key)
{
    for (size_t i = 0; i < ARRAY_LENGTH(secret_words); i++) {
        if (contains_ignore_case(key, str_from(secret_words[i]))) {
            return true;
        }
    }
    size_t begin = 0;
    for (size_t i = 0; i <= key.size; i++) {
        if (i < key.size && !is_separator(key.data[i])) {
            continue;
        }
        if (word_is_near_secret((Str){key.data + begin, i - begin})) {
            return true;
        }
        begin = i + 1;
    }
    return false;
}
