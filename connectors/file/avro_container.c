/* Avro container files: header and blocks. */
#include "connectors/file/avro_container.h"

#include "processor/base/banned.h"

static const char magic[] = {'O', 'b', 'j', 1};

static bool has_magic(Str bytes)
{
    return str_starts_with(bytes, (Str){magic, sizeof magic});
}

typedef struct Metadata {
    Str schema;
    Str codec;
} Metadata;

/* A map of bytes, in blocks as all maps are. */
static bool read_metadata(AvroReader *reader, Metadata *metadata)
{
    for (;;) {
        int64_t count = 0;
        int64_t size = 0;
        if (!avro_next_list_block(reader, &count, &size)) {
            return false;
        }
        if (count == 0) {
            return true;
        }
        for (int64_t i = 0; i < count; i++) {
            Str key = STR_NULL;
            Str value = STR_NULL;
            if (!avro_read_bytes(reader, &key) || !avro_read_bytes(reader, &value)) {
                return false;
            }
            if (str_equal(key, STR("avro.schema"))) {
                metadata->schema = value;
            } else if (str_equal(key, STR("avro.codec"))) {
                metadata->codec = value;
            }
        }
    }
}

static Error *find_codec(Str name, AvroCodec *ret_codec)
{
    if (name.size == 0 || str_equal(name, STR("null"))) {
        *ret_codec = AVRO_NOT_PACKED;
    } else if (str_equal(name, STR("deflate"))) {
        *ret_codec = AVRO_DEFLATE;
    } else if (str_equal(name, STR("snappy"))) {
        *ret_codec = AVRO_SNAPPY;
    } else if (str_equal(name, STR("zstandard"))) {
        *ret_codec = AVRO_ZSTD;
    } else {
        return error_new(ERROR_NOT_YET, "Avro files packed with %.*s are not supported yet.",
                         STR_ARG(name));
    }
    return NULL;
}

Error *avro_header_read(Str bytes, Arena *arena, bool *ret_whole, AvroHeader *ret_header)
{
    AvroHeader header = {0};
    Metadata metadata = {0};
    if (bytes.size >= sizeof magic && !has_magic(bytes)) {
        return error_new(ERROR_MALFORMED_RECORD, "this is no Avro container file");
    }
    AvroReader reader = {.at = bytes.data + (bytes.size < sizeof magic ? bytes.size : sizeof magic),
                         .end = bytes.data + bytes.size};
    *ret_whole = bytes.size >= sizeof magic && read_metadata(&reader, &metadata) &&
                 reader.end - reader.at >= AVRO_SYNC_BYTES;
    if (!*ret_whole) {
        return NULL;
    }
    memcpy(header.sync, reader.at, AVRO_SYNC_BYTES);
    header.size = (size_t)(reader.at - bytes.data) + AVRO_SYNC_BYTES;
    if (metadata.schema.data == NULL) {
        return error_new(ERROR_MALFORMED_RECORD, "the file's header has no schema");
    }
    TRY(find_codec(metadata.codec, &header.codec));
    TRY(avro_schema_parse(arena_copy_str(arena, metadata.schema), arena, &header.root));
    *ret_header = header;
    return NULL;
}

bool avro_next_block(AvroReader *reader, const AvroHeader *header, AvroBlock *ret_block)
{
    if (!avro_read_long(reader, &ret_block->count) || !avro_read_bytes(reader, &ret_block->data)) {
        return false;
    }
    bool whole = reader->end - reader->at >= AVRO_SYNC_BYTES &&
                 memcmp(reader->at, header->sync, AVRO_SYNC_BYTES) == 0;
    if (!whole || ret_block->count < 0) {
        reader->problem = "a block does not end as the file's blocks do";
        return false;
    }
    reader->at += AVRO_SYNC_BYTES;
    return true;
}

/* Behind the block at reader->at; false when it is not there as a whole. */
static bool pass_block(AvroReader *reader)
{
    int64_t count = 0;
    Str data = STR_NULL;
    if (!avro_read_long(reader, &count) || !avro_read_bytes(reader, &data) ||
        reader->end - reader->at < AVRO_SYNC_BYTES) {
        return false;
    }
    reader->at += AVRO_SYNC_BYTES;
    return true;
}

size_t avro_blocks_end(const void *context, Str bytes)
{
    (void)context;
    Metadata metadata = {0};
    AvroReader reader = {.at = bytes.data, .end = bytes.data + bytes.size};
    if (has_magic(bytes)) {
        reader.at += sizeof magic;
        if (!read_metadata(&reader, &metadata) || reader.end - reader.at < AVRO_SYNC_BYTES) {
            return 0;
        }
        reader.at += AVRO_SYNC_BYTES;
    }
    const char *whole = reader.at;
    while (whole < reader.end && pass_block(&reader)) {
        whole = reader.at;
    }
    return (size_t)(whole - bytes.data);
}
