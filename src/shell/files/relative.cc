#include "shell/files/relative.h"

#include <string_view>
#include <vector>

#include "vfs/path.h"

namespace atl::shell {

std::string relative_path(const vfs::Path& path, const vfs::Path& base) {
  std::string_view a = path.str(), b = base.str();
  std::vector<std::string_view> to, from;
  while (true) {
    auto part = vfs::next_component(a);
    if (part.empty()) break;
    to.push_back(part);
  }
  while (true) {
    auto part = vfs::next_component(b);
    if (part.empty()) break;
    from.push_back(part);
  }
  std::size_t same = 0;
  while (same < to.size() && same < from.size() && to[same] == from[same]) ++same;
  std::string out;
  auto add = [&](std::string_view part) {
    if (!out.empty()) out += '/';
    out += part;
  };
  for (std::size_t i = same; i < from.size(); ++i) add("..");
  for (std::size_t i = same; i < to.size(); ++i) add(to[i]);
  return out.empty() ? "." : out;
}

}  // namespace atl::shell
