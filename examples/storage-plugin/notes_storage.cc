// A storage as a plugin: all values of a space in one file, which is written anew for each change.
#include <atoll/storage_base.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace {

void put(std::string& out, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(size >> shift);
  out += bytes;
}

std::string take(std::string_view& from) {
  std::uint64_t size = 0;
  if (from.size() < 8) throw std::runtime_error("the file is cut off");
  for (int i = 7; i >= 0; --i)
    size = size << 8 | static_cast<unsigned char>(from[static_cast<std::size_t>(i)]);
  from.remove_prefix(8);
  if (from.size() < size) throw std::runtime_error("the file is cut off");
  std::string bytes(from.substr(0, size));
  from.remove_prefix(size);
  return bytes;
}

class Notes final : public atl::StorageBase {
 public:
  // A space is "acme/ses_1": one file for it, whose name has no slash.
  Notes(const std::string& directory, std::string space) {
    for (char& c : space)
      if (c == '/') c = '+';
    file_ = directory + "/" + space + ".notes";
    std::ifstream in(file_, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    for (std::string_view rest = bytes; !rest.empty();) {
      std::string key = take(rest);
      values_[std::move(key)] = take(rest);
    }
  }

  void load(const Visit& visit) override {
    for (const auto& [key, value] : values_) visit(key, value);
  }

  void apply(const std::vector<Change>& changes) override {
    auto next = values_;
    for (const Change& change : changes) {
      if (change.remove)
        next.erase(std::string(change.key));
      else
        next[std::string(change.key)] = std::string(change.value);
    }
    write(next);
    values_ = std::move(next);
  }

 private:
  // Beside the old file and then in its place: there is never half of it.
  void write(const std::map<std::string, std::string>& values) const {
    std::string bytes;
    for (const auto& [key, value] : values) {
      put(bytes, key);
      put(bytes, value);
    }
    const std::string fresh = file_ + ".new";
    std::FILE* out = std::fopen(fresh.c_str(), "wb");
    if (out == nullptr) throw std::runtime_error("cannot write " + fresh);
    const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size() &&
                       std::fflush(out) == 0 && ::fsync(::fileno(out)) == 0;
    std::fclose(out);
    if (!whole || std::rename(fresh.c_str(), file_.c_str()) != 0)
      throw std::runtime_error("cannot write " + file_);
  }

  std::string file_;
  std::map<std::string, std::string> values_;
};

}  // namespace

ATOLL_STORAGE("notes", Notes)
ATOLL_STORAGE_PLUGIN
