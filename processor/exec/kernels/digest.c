/* Digests of bytes: md5, sha1, sha2 (OpenSSL), crc32 (zlib). */
#include <openssl/evp.h>
#include <zlib.h>

#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

/* Hexadecimal digits, in lower case. */
static void store_hex(const KernelCall *call, uint32_t row, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *text = text_alloc(call, row, size * 2);
    if (text == NULL) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    RESULT(call, Str)[row] = (Str){text, size * 2};
}

static void digest(const KernelCall *call, uint32_t row, const EVP_MD *algorithm)
{
    Str s = STR_ARGUMENT(call, 0, row);
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(s.data == NULL ? "" : s.data, s.size, bytes, &size, algorithm, NULL) != 1) {
        kernel_fail(call, row, error_new(ERROR_INTERNAL_ERROR, "the digest could not be computed"));
        return;
    }
    store_hex(call, row, bytes, size);
}

static void md5(const KernelCall *call)
{
    const EVP_MD *algorithm = EVP_md5();
    FOR_VALID_ROWS(call, i)
    {
        digest(call, i, algorithm);
    }
}

static void sha1(const KernelCall *call)
{
    const EVP_MD *algorithm = EVP_sha1();
    FOR_VALID_ROWS(call, i)
    {
        digest(call, i, algorithm);
    }
}

/* By the number of bits, 0 is 256; NULL for others. */
static const EVP_MD *sha2_of(int32_t bits)
{
    switch (bits) {
    case 224:
        return EVP_sha224();
    case 0:
    case 256:
        return EVP_sha256();
    case 384:
        return EVP_sha384();
    case 512:
        return EVP_sha512();
    default:
        return NULL;
    }
}

static void sha2(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        const EVP_MD *algorithm = sha2_of(INT_ARGUMENT(call, 1, i));
        if (algorithm == NULL) {
            vector_set_null(call->result, call->arena, i);
        } else {
            digest(call, i, algorithm);
        }
    }
}

static void crc_32(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        unsigned long start = crc32_z(0, NULL, 0);
        RESULT(call, int64_t)
        [i] = s.size == 0 ? 0 : (int64_t)crc32_z(start, (const unsigned char *)s.data, s.size);
    }
}

const Kernel kernel_md5 = {.run = md5};
const Kernel kernel_sha1 = {.run = sha1};
const Kernel kernel_sha2 = {.run = sha2};
const Kernel kernel_crc32 = {.run = crc_32};
