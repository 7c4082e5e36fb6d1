#include "shell/archives/compression.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

#include "shell/scoped.h"

namespace atl::shell {

void check_unpacked(Invocation& call, std::uint64_t out, std::uint64_t in) {
  const Limits& limits = call.limits();
  if (out > limits.archive_bytes) call.stop(Limit::archive_bytes);
  if (out > limits.archive_free_bytes && out / (in + 1) > limits.archive_ratio)
    call.stop(Limit::archive_ratio);
}

std::string deflate_gzip(Invocation& call, std::string_view text, int level) {
  z_stream z{};
  std::string out;
  if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return out;
  out.resize(deflateBound(&z, text.size()) + 64);
  // JUSTIFICATION: the library takes pointers that are not const, or to its own kind of bytes, and only
  // reads.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  call.charge(text.size() / 4 + 1);
  return out;
}

Result<std::string> inflate_gzip(Invocation& call, std::string_view data) {
  std::string out;
  if (data.size() < 2 || static_cast<unsigned char>(data[0]) != 0x1f ||
      static_cast<unsigned char>(data[1]) != 0x8b)
    return fail(Code::unsupported, "not in gzip format");
  std::string_view rest = data;
  while (!rest.empty()) {
    if (rest.size() < 2 || static_cast<unsigned char>(rest[0]) != 0x1f ||
        static_cast<unsigned char>(rest[1]) != 0x8b)
      break;  // trailing garbage
    z_stream z{};
    if (inflateInit2(&z, 15 + 16) != Z_OK) return fail(Code::internal, "inflate");
    // JUSTIFICATION: the library takes pointers that are not const, or to its own kind of bytes, and only
    // reads.
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    z.avail_in = static_cast<uInt>(rest.size());
    Finally end([&] { inflateEnd(&z); });
    int status = Z_OK;
    while (status == Z_OK) {
      char block[65536];
      // JUSTIFICATION: the library takes pointers that are not const, or to its own kind of bytes, and only
      // reads.
      z.next_out = reinterpret_cast<Bytef*>(block);
      z.avail_out = sizeof block;
      status = inflate(&z, Z_NO_FLUSH);
      out.append(block, sizeof block - z.avail_out);
      call.charge(2048);
      check_unpacked(call, out.size(), data.size());
    }
    rest.remove_prefix(z.total_in);
    if (status == Z_BUF_ERROR || (status == Z_OK))
      return fail(Code::invalid_argument, "unexpected end of file");
    if (status != Z_STREAM_END)
      return fail(Code::invalid_argument, "invalid compressed data--format violated");
  }
  return out;
}

std::string deflate_zstd(Invocation& call, std::string_view text, int level) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level);
  out.resize(ZSTD_isError(size) ? 0 : size);
  call.charge(text.size() / 4 + 1);
  return out;
}

Result<std::string> inflate_zstd(Invocation& call, std::string_view data) {
  struct Stream {
    ZSTD_DStream* stream = ZSTD_createDStream();
    ~Stream() { ZSTD_freeDStream(stream); }
  } held;
  ZSTD_DCtx_setParameter(held.stream, ZSTD_d_windowLogMax, 27);
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  std::string out;
  std::string block(65536, '\0');
  std::size_t status = 0;
  while (in.pos < in.size) {
    ZSTD_outBuffer target{block.data(), block.size(), 0};
    status = ZSTD_decompressStream(held.stream, &target, &in);
    if (ZSTD_isError(status)) return fail(Code::invalid_argument, ZSTD_getErrorName(status));
    out.append(block, 0, target.pos);
    call.charge(2048);
    check_unpacked(call, out.size(), data.size());
  }
  if (status != 0) return fail(Code::invalid_argument, "premature end");
  return out;
}

namespace {

// Feeds a codec that works from buffer to buffer: `step` returns false when it wants no more.
template <class Step>
std::string pumped(Invocation& call, Step step) {
  std::string out;
  std::array<char, 65536> block;
  for (bool more = true; more;) {
    std::size_t made = 0;
    more = step(block, made);
    out.append(block.data(), made);
    call.charge(2048);
  }
  return out;
}

}  // namespace

std::string deflate_bzip2(Invocation& call, std::string_view text, int level) {
  bz_stream z{};
  if (BZ2_bzCompressInit(&z, level, 0, 0) != BZ_OK) return {};
  struct Held {
    bz_stream& z;
    ~Held() { BZ2_bzCompressEnd(&z); }
  } held{z};
  // JUSTIFICATION: the library takes pointers that are not const, or to its own kind of bytes, and only
  // reads.
  z.next_in = const_cast<char*>(text.data());
  z.avail_in = static_cast<unsigned>(text.size());
  return pumped(call, [&](auto& block, std::size_t& made) {
    z.next_out = block.data();
    z.avail_out = block.size();
    int status = BZ2_bzCompress(&z, BZ_FINISH);
    made = block.size() - z.avail_out;
    return status == BZ_FINISH_OK;
  });
}

Result<std::string> inflate_bzip2(Invocation& call, std::string_view data) {
  std::string out;
  std::string_view rest = data;
  for (bool first = true; !rest.empty(); first = false) {
    if (!rest.starts_with("BZh")) {
      if (first) return fail(Code::unsupported, "not in bzip2 format");
      break;  // trailing garbage
    }
    bz_stream z{};
    if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK) return fail(Code::internal, "bzip2");
    struct Held {
      bz_stream& z;
      ~Held() { BZ2_bzDecompressEnd(&z); }
    } held{z};
    // JUSTIFICATION: the library takes pointers that are not const, or to its own kind of bytes, and only
    // reads.
    z.next_in = const_cast<char*>(rest.data());
    z.avail_in = static_cast<unsigned>(rest.size());
    int status = BZ_OK;
    std::array<char, 65536> block;
    while (status == BZ_OK) {
      z.next_out = block.data();
      z.avail_out = block.size();
      status = BZ2_bzDecompress(&z);
      out.append(block.data(), block.size() - z.avail_out);
      call.charge(4096);
      check_unpacked(call, out.size(), data.size());
      if (status == BZ_OK && z.avail_in == 0 && z.avail_out == block.size())
        return fail(Code::invalid_argument, "unexpected end of file");
    }
    if (status != BZ_STREAM_END)
      return fail(Code::invalid_argument, "data integrity error when decompressing");
    rest = rest.substr(rest.size() - z.avail_in);
  }
  return out;
}

std::string deflate_xz(Invocation& call, std::string_view text, int level) {
  lzma_stream z = LZMA_STREAM_INIT;
  if (lzma_easy_encoder(&z, static_cast<std::uint32_t>(level), LZMA_CHECK_CRC64) != LZMA_OK) return {};
  struct Held {
    lzma_stream& z;
    ~Held() { lzma_end(&z); }
  } held{z};
  z.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
  z.avail_in = text.size();
  return pumped(call, [&](auto& block, std::size_t& made) {
    z.next_out = reinterpret_cast<std::uint8_t*>(block.data());
    z.avail_out = block.size();
    lzma_ret status = lzma_code(&z, LZMA_FINISH);
    made = block.size() - z.avail_out;
    return status == LZMA_OK;
  });
}

Result<std::string> inflate_xz(Invocation& call, std::string_view data) {
  constexpr std::uint64_t kMemoryMax = 192U << 20;  // what xz -9 needs, twice
  lzma_stream z = LZMA_STREAM_INIT;
  if (lzma_auto_decoder(&z, kMemoryMax, LZMA_CONCATENATED) != LZMA_OK) return fail(Code::internal, "xz");
  struct Held {
    lzma_stream& z;
    ~Held() { lzma_end(&z); }
  } held{z};
  z.next_in = reinterpret_cast<const std::uint8_t*>(data.data());
  z.avail_in = data.size();
  std::string out;
  std::array<char, 65536> block;
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    z.next_out = reinterpret_cast<std::uint8_t*>(block.data());
    z.avail_out = block.size();
    status = lzma_code(&z, LZMA_FINISH);
    out.append(block.data(), block.size() - z.avail_out);
    call.charge(4096);
    check_unpacked(call, out.size(), data.size());
  }
  switch (status) {
    case LZMA_STREAM_END: return out;
    case LZMA_FORMAT_ERROR: return fail(Code::invalid_argument, "File format not recognized");
    case LZMA_BUF_ERROR: return fail(Code::invalid_argument, "Unexpected end of input");
    case LZMA_MEMLIMIT_ERROR: return fail(Code::too_large, "Memory usage limit reached");
    default: return fail(Code::invalid_argument, "Compressed data is corrupt");
  }
}

}  // namespace atl::shell
