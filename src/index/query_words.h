#pragma once

#include <string>
#include <string_view>

namespace atl::index {

// People ask in sentences ("something that reads PDF"), and every text has words such as "that" in it, so
// that they would rank texts by chance. These are the words of a question that tell what is looked for, with
// spaces between them; the whole question if it has none of them. English only: other languages stay whole.
std::string telling_words(std::string_view question);

}  // namespace atl::index
