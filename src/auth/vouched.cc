#include "auth/vouched.h"

#include <algorithm>

namespace atl::auth {
namespace {

constexpr std::size_t kSubjectMax = 256;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    std::erase(word, ' ');
    if (!word.empty()) words.push_back(std::move(word));
    at = comma + 1;
  }
  return words;
}

}  // namespace

Task<std::optional<Principal>> ProxyProvider::identify(const Presented& shown) {
  const auto peer = egress::Address::parse(shown.peer);
  const bool trusted = peer && std::ranges::any_of(options_.proxies, [&](const egress::Cidr& range) {
                         return range.contains(*peer);
                       });
  // A key that the request shows beside the header speaks for itself.
  if (!trusted || !shown.credential.empty() || !shown.header) co_return std::optional<Principal>();
  const std::string user = shown.header(options_.user_header);
  if (user.empty() || user.size() > kSubjectMax) co_return std::optional<Principal>();
  std::vector<std::string> words = split(shown.header(options_.groups_header));
  words.push_back(user);
  Principal who;
  who.key_id = "proxy:" + user;
  who.name = user;
  who.address = shown.address;
  CO_CHECK(options_.roles.apply(words, roles_, who));
  co_return std::optional<Principal>(std::move(who));
}

Task<std::optional<Principal>> CertificateProvider::identify(const Presented& shown) {
  if (shown.tls_subject.empty() || shown.tls_subject.size() > kSubjectMax || !shown.credential.empty())
    co_return std::optional<Principal>();
  Principal who;
  who.key_id = "mtls:" + shown.tls_subject;
  who.name = shown.tls_subject;
  who.address = shown.address;
  std::vector<std::string> words{shown.tls_subject};
  CO_CHECK(subjects_.apply(words, roles_, who));
  co_return std::optional<Principal>(std::move(who));
}

}  // namespace atl::auth
