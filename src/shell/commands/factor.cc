#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <random>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::factor_program {

namespace {

__extension__ typedef unsigned __int128 U;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return static_cast<std::uint64_t>(static_cast<U>(a) * b % m);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t m) {
  std::uint64_t result = 1;
  for (base %= m; exponent; exponent >>= 1, base = multiply(base, base, m))
    if (exponent & 1) result = multiply(result, base, m);
  return result;
}

bool prime(std::uint64_t n) {
  if (n < 2) return false;
  for (std::uint64_t p : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    if (n % p == 0) return n == p;
  }
  std::uint64_t d = n - 1;
  int s = 0;
  while (d % 2 == 0) d /= 2, ++s;
  for (std::uint64_t a : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    std::uint64_t x = power(a, d, n);
    if (x == 1 || x == n - 1) continue;
    bool composite = true;
    for (int i = 1; i < s && composite; ++i)
      if ((x = multiply(x, x, n)) == n - 1) composite = false;
    if (composite) return false;
  }
  return true;
}

// Pollard's rho; n is odd and composite.
std::uint64_t divisor(Invocation& call, std::uint64_t n) {
  for (std::uint64_t c = 1;; ++c) {
    std::uint64_t x = 2, y = 2, d = 1;
    while (d == 1) {
      call.charge(4);
      x = (multiply(x, x, n) + c) % n;
      y = (multiply(y, y, n) + c) % n;
      y = (multiply(y, y, n) + c) % n;
      d = std::gcd(x > y ? x - y : y - x, n);
    }
    if (d != n) return d;
  }
}

void factorize(Invocation& call, std::uint64_t n, std::vector<std::uint64_t>& out) {
  for (std::uint64_t p = 2; p < 1000 && p * p <= n; ++p)
    while (n % p == 0) out.push_back(p), n /= p;
  std::vector<std::uint64_t> pending;
  if (n > 1) pending.push_back(n);
  while (!pending.empty()) {
    std::uint64_t m = pending.back();
    pending.pop_back();
    if (prime(m)) {
      out.push_back(m);
      continue;
    }
    std::uint64_t d = divisor(call, m);
    pending.push_back(d);
    pending.push_back(m / d);
  }
  std::sort(out.begin(), out.end());
}

}  // namespace

int run_factor(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  bool good = true;
  auto one = [&](const std::string& word) {
    std::string digits = word.substr(std::min(word.find_first_not_of(" \t"), word.size()));
    if (digits.starts_with('+')) digits.erase(0, 1);
    std::uint64_t n = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
      call.complain(fmt::format("{} is not a valid positive integer", quote_operand(word)));
      good = false;
      return;
    }
    std::vector<std::uint64_t> factors;
    if (n > 1) factorize(call, n, factors);
    std::string line = std::to_string(n) + ":";
    for (std::uint64_t each : factors) line += fmt::format(" {}", each);
    call.out().write(line + "\n");
  };
  for (const std::string& operand : options.operands()) one(operand);
  if (options.operands().empty()) {
    std::string text = call.in().read_all(), word;
    for (char c : text + "\n") {
      if (!isspace(static_cast<unsigned char>(c)))
        word += c;
      else if (!word.empty()) {
        one(word);
        word.clear();
      }
    }
  }
  return good ? 0 : 1;
}

int run_tsort(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  if (options.operands().size() > 1)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[1])));
  std::string name = options.operands().empty() ? "-" : options.operands()[0];
  std::unique_ptr<Input> owned;
  if (name != "-" && !(owned = open_or_complain(call, name))) return 1;
  std::string text = (owned ? *owned : call.in()).read_all();
  std::vector<std::string> words;
  std::string word;
  for (char c : text + "\n") {
    if (!isspace(static_cast<unsigned char>(c)))
      word += c;
    else if (!word.empty())
      words.push_back(std::move(word)), word.clear();
  }
  if (words.size() % 2) return call.fail(fmt::format("{}: input contains an odd number of tokens", name));
  struct Node {
    std::size_t before = 0;
    std::vector<std::string> after;
  };
  std::map<std::string, Node> graph;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    graph[words[i]];
    graph[words[i + 1]];
    if (words[i] == words[i + 1]) continue;
    graph[words[i]].after.push_back(words[i + 1]);
    ++graph[words[i + 1]].before;
  }
  call.charge(words.size() * 4 + 1);
  std::vector<std::string> ready;
  for (auto& [key, node] : graph)
    if (node.before == 0) ready.push_back(key);
  std::size_t done = 0;
  int status = 0;
  Sink out(call.out());
  std::map<std::string, bool> printed;
  for (std::size_t at = 0; done < graph.size(); ++at) {
    if (at >= ready.size()) {
      call.complain(fmt::format("{}: input contains a loop:", name));
      for (auto& [key, node] : graph)
        if (!printed[key]) {
          call.complain(key);
          if (std::find(ready.begin(), ready.end(), key) == ready.end()) {
            ready.push_back(key);
            break;
          }
        }
      status = 1;
      if (at >= ready.size()) break;
    }
    const std::string key = ready[at];
    if (printed[key]) continue;
    printed[key] = true;
    out.line(key);
    ++done;
    auto& after = graph[key].after;
    // The order of GNU tsort: the successors noted last come first.
    for (std::size_t i = after.size(); i-- > 0;)
      if (--graph[after[i]].before == 0 && !printed[after[i]]) ready.push_back(after[i]);
  }
  return out.finish(call, status);
}

}  // namespace atl::shell::factor_program
