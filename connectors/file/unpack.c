/* gzip and Zstandard. A packed file may consist of several members, one behind the other, as `cat
 * a.gz b.gz` makes it: each begins anew where the one before it ended. */
#include "connectors/file/unpack.h"

#include <assert.h>
#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { GZIP_ONLY = 15 + 16 };

struct Unpacker {
    Packing packing;
    bool member_ended;
    z_stream gzip;
    ZSTD_DStream *zstd;
};

Packing packing_of(Str first)
{
    if (str_starts_with(first, STR("\x1F\x8B"))) {
        return PACKED_GZIP;
    }
    return str_starts_with(first, STR("\x28\xB5\x2F\xFD")) ? PACKED_ZSTD : PACKED_NOT;
}

Unpacker *unpacker_new(Packing packing)
{
    Unpacker *unpacker = mem_new(Unpacker);
    unpacker->packing = packing;
    bool good = true;
    if (packing == PACKED_ZSTD) {
        unpacker->zstd = ZSTD_createDStream();
        good = unpacker->zstd != NULL;
    } else {
        good = inflateInit2(&unpacker->gzip, GZIP_ONLY) == Z_OK;
    }
    if (!good) {
        mem_free(unpacker);
        return NULL;
    }
    return unpacker;
}

void unpacker_free(Unpacker *unpacker)
{
    if (unpacker == NULL) {
        return;
    }
    if (unpacker->packing == PACKED_ZSTD) {
        (void)ZSTD_freeDStream(unpacker->zstd);
    } else {
        (void)inflateEnd(&unpacker->gzip);
    }
    mem_free(unpacker);
}

static UnpackEnd run_gzip(Unpacker *unpacker, Str *input, char *to, size_t room, size_t *ret_size)
{
    z_stream *stream = &unpacker->gzip;
    union {
        const char *given;
        Bytef *wanted; /* zlib does not write to it */
    } bytes = {.given = input->data};
    uInt given = input->size > UINT_MAX ? UINT_MAX : (uInt)input->size;
    uInt wanted = room > UINT_MAX ? UINT_MAX : (uInt)room;
    stream->next_in = bytes.wanted;
    stream->avail_in = given;
    stream->next_out = (Bytef *)to;
    stream->avail_out = wanted;
    if (unpacker->member_ended) {
        (void)inflateReset(stream);
    }
    int code = inflate(stream, Z_NO_FLUSH);
    size_t used = given - stream->avail_in;
    *input = (Str){input->data + used, input->size - used};
    *ret_size = wanted - stream->avail_out;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return UNPACK_DAMAGED;
    }
    return code == Z_STREAM_END ? UNPACK_MEMBER : UNPACK_MORE;
}

static UnpackEnd run_zstd(Unpacker *unpacker, Str *input, char *to, size_t room, size_t *ret_size)
{
    ZSTD_inBuffer in = {.src = input->data, .size = input->size};
    ZSTD_outBuffer out = {.dst = to, .size = room};
    size_t code = ZSTD_decompressStream(unpacker->zstd, &out, &in);
    *input = (Str){input->data + in.pos, input->size - in.pos};
    *ret_size = out.pos;
    if (ZSTD_isError(code) != 0) {
        return UNPACK_DAMAGED;
    }
    return code == 0 ? UNPACK_MEMBER : UNPACK_MORE;
}

UnpackEnd unpacker_run(Unpacker *unpacker, Str *input, char *to, size_t room, size_t *ret_size)
{
    assert(room > 0);
    UnpackEnd end = unpacker->packing == PACKED_ZSTD
                        ? run_zstd(unpacker, input, to, room, ret_size)
                        : run_gzip(unpacker, input, to, room, ret_size);
    unpacker->member_ended = end == UNPACK_MEMBER;
    return end;
}
