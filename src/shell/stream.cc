#include "shell/stream.h"

namespace atl::shell {

bool Input::read_line(std::string& line, char delimiter, bool* had_delimiter) {
  line.clear();
  bool any = false;
  while (true) {
    std::string_view bytes = fill();
    if (bytes.empty()) {
      if (had_delimiter) *had_delimiter = false;
      return any;
    }
    any = true;
    std::size_t at = bytes.find(delimiter);
    if (at != std::string_view::npos) {
      line.append(bytes.substr(0, at));
      consume(at + 1);
      if (had_delimiter) *had_delimiter = true;
      return true;
    }
    line.append(bytes);
    consume(bytes.size());
    held(line.size());
  }
}

std::string Input::read_all() {
  std::string out;
  while (true) {
    std::string_view bytes = fill();
    if (bytes.empty()) return out;
    out.append(bytes);
    consume(bytes.size());
    held(out.size());
  }
}

}  // namespace atl::shell
