/* Marks that files of other kinds begin with. Text may begin with the letters of some of them
 * ("ORC,…"): there a byte behind the mark that no text holds decides. */
#include "connectors/file/foreign_file.h"

#include "processor/base/banned.h"

typedef struct ForeignKind {
    const char *mark;
    size_t size;
    bool then_control; /* the next byte is none of a text */
    const char *kind;
    const char *hint;
} ForeignKind;

#define MARK(text) text, sizeof(text) - 1

static const char unpack_it[] = "unpack it first; .gz and .zst are unpacked while they are read";
static const char convert_it[] = "convert it to CSV, JSON lines or Avro";
static const char recode_it[] = "make it UTF-8: iconv -f UTF-16 -t UTF-8";

static const ForeignKind kinds[] = {
    {MARK("BZh91AY&SY"), false, "packed by bzip2", unpack_it},
    {MARK("\xFD\x37zXZ"), false, "packed by xz", unpack_it},
    {MARK("\x04\x22\x4D\x18"), false, "packed by lz4", unpack_it},
    {MARK("PK\x03\x04"), false, "a ZIP archive (or a spreadsheet)", unpack_it},
    {MARK("7z\xBC\xAF\x27\x1C"), false, "a 7-Zip archive", unpack_it},
    {MARK("PAR1"), true, "a Parquet file", convert_it},
    {MARK("ORC"), true, "an ORC file", convert_it},
    {MARK("ARROW1"), true, "an Arrow file", convert_it},
    {MARK("SQLite format 3"), true, "an SQLite database", convert_it},
    {MARK("\xFF\xFE"), false, "UTF-16 text", recode_it},
    {MARK("\xFE\xFF"), false, "UTF-16 text", recode_it},
};

static bool is_control(char c)
{
    return (unsigned char)c < ' ' && c != '\t' && c != '\n' && c != '\r';
}

static bool is_of_kind(Str first, const ForeignKind *kind)
{
    if (!str_starts_with(first, (Str){kind->mark, kind->size})) {
        return false;
    }
    return !kind->then_control || (first.size > kind->size && is_control(first.data[kind->size]));
}

Error *foreign_file_check(Str first, const char *path)
{
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        if (is_of_kind(first, &kinds[i])) {
            Error *error = error_new(ERROR_FILE_NOT_READABLE,
                                     "The file %s cannot be read: it is %s.", path, kinds[i].kind);
            return error_set_hint(error, "%s", kinds[i].hint);
        }
    }
    return NULL;
}
