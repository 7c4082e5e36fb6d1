#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "guest/protocol.h"

// For fuzz targets of both ends of the stream: bytes as frames that get past the first look, so that what
// lies behind it is tried as well.
namespace atl::guest {

// The first byte chooses: even, the rest is the stream as it is; odd, it is a list of frames: type, channel,
// flags, a size, and that many bytes of payload, in which 0xFF n stands for a text of the next n bytes.
inline std::string fuzz_frames(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return {};
  const std::uint8_t* const end = data + size;
  if (*data++ % 2 == 0) return std::string(reinterpret_cast<const char*>(data), size - 1);
  const auto next = [&]() -> std::uint8_t { return data < end ? *data++ : std::uint8_t{0}; };
  std::string stream;
  while (data < end) {
    Header header{};
    header.type = static_cast<std::uint16_t>(next() % 96);
    const std::uint8_t channel = next();
    header.channel = channel < 250 ? channel % 16U : kGuestChannel | (channel - 250U);
    const std::uint8_t flags = next();
    header.flags = static_cast<std::uint16_t>((flags & 1) | ((flags >> 1) << 8));
    const std::size_t count = next();
    std::string payload;
    for (std::size_t i = 0; i < count && data < end; ++i) {
      const std::uint8_t byte = next();
      if (byte != 0xFF) {
        payload.push_back(static_cast<char>(byte));
        continue;
      }
      const std::uint32_t length = next();
      payload.append(reinterpret_cast<const char*>(&length), sizeof length);
      for (std::uint32_t k = 0; k < length; ++k) payload.push_back(static_cast<char>(next()));
    }
    header.size = static_cast<std::uint32_t>(payload.size());
    stream.append(reinterpret_cast<const char*>(&header), sizeof header);
    stream += payload;
  }
  return stream;
}

}  // namespace atl::guest
