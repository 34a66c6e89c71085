/* Blocks of Avro files unpacked: deflate without a header around it, snappy with a checksum behind
 * it, Zstandard. */
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include "connectors/file/avro_container.h"

#include "processor/base/banned.h"

enum { UNPACKED_MAX = 1 << 30, STEP = 256 << 10, RAW_DEFLATE = -15, CHECKSUM_BYTES = 4 };

static bool inflate_all(z_stream *stream, Buffer *out)
{
    for (;;) {
        stream->next_out = (Bytef *)buffer_reserve(out, STEP);
        stream->avail_out = STEP;
        int code = inflate(stream, Z_NO_FLUSH);
        out->size += STEP - stream->avail_out;
        if (code == Z_STREAM_END) {
            return true;
        }
        if (code != Z_OK || out->size > UNPACKED_MAX ||
            (stream->avail_in == 0 && stream->avail_out > 0)) {
            return false;
        }
    }
}

static bool unpack_deflate(Str data, Buffer *out)
{
    union {
        const char *given;
        Bytef *wanted; /* zlib does not write to it */
    } bytes = {.given = data.data};
    z_stream stream = {.next_in = bytes.wanted, .avail_in = (uInt)data.size};
    if (data.size > UNPACKED_MAX || inflateInit2(&stream, RAW_DEFLATE) != Z_OK) {
        return false;
    }
    bool good = inflate_all(&stream, out);
    (void)inflateEnd(&stream);
    return good;
}

static bool unpack_snappy(Str data, Buffer *out)
{
    size_t size = 0;
    if (data.size < CHECKSUM_BYTES) {
        return false;
    }
    size_t packed = data.size - CHECKSUM_BYTES;
    if (snappy_uncompressed_length(data.data, packed, &size) != SNAPPY_OK || size > UNPACKED_MAX) {
        return false;
    }
    if (snappy_uncompress(data.data, packed, buffer_reserve(out, size), &size) != SNAPPY_OK) {
        return false;
    }
    out->size += size;
    const unsigned char *sum = (const unsigned char *)data.data + packed;
    uint32_t wanted =
        (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
    return crc32(0, (const Bytef *)out->data, (uInt)out->size) == wanted;
}

static bool unpack_zstd_frame(ZSTD_DStream *stream, Str data, Buffer *out)
{
    ZSTD_inBuffer in = {.src = data.data, .size = data.size};
    for (;;) {
        ZSTD_outBuffer piece = {.dst = buffer_reserve(out, STEP), .size = STEP};
        size_t code = ZSTD_decompressStream(stream, &piece, &in);
        out->size += piece.pos;
        if (code == 0 && in.pos == in.size) {
            return true;
        }
        if (ZSTD_isError(code) != 0 || out->size > UNPACKED_MAX ||
            (in.pos == in.size && piece.pos < piece.size)) {
            return false;
        }
    }
}

static bool unpack_zstd(Str data, Buffer *out)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    bool good = stream != NULL && unpack_zstd_frame(stream, data, out);
    (void)ZSTD_freeDStream(stream);
    return good;
}

bool avro_unpack(AvroCodec codec, Str data, Buffer *out, Str *ret_bytes)
{
    buffer_clear(out);
    switch (codec) {
    case AVRO_NOT_PACKED:
        *ret_bytes = data;
        return true;
    case AVRO_DEFLATE:
        if (!unpack_deflate(data, out)) {
            return false;
        }
        break;
    case AVRO_SNAPPY:
        if (!unpack_snappy(data, out)) {
            return false;
        }
        break;
    case AVRO_ZSTD:
        if (!unpack_zstd(data, out)) {
            return false;
        }
        break;
    }
    *ret_bytes = buffer_str(out);
    return true;
}
