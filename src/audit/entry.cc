#include "audit/entry.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <charconv>

#include "base/bytes.h"
#include "base/json.h"
#include "base/utf8.h"

namespace atl::audit {
namespace {

namespace bj = boost::json;

constexpr std::array<std::string_view, 3> kOutcomes = {"ok", "denied", "error"};
constexpr std::string_view kDigestMember = R"(,"digest":")";
constexpr std::size_t kWordBytesMax = 160, kObjectBytesMax = 1600, kReasonBytesMax = 800,
                      kDetailsBytesMax = 1600;

void add_text(std::string& out, std::string_view name, std::string_view text, std::size_t bytes_max) {
  if (out.back() != '{') out += ',';
  json::append_quoted(out, name);
  out += ':';
  json::append_quoted(out, clipped(text, bytes_max));
}

// `object_bytes_max` is what a place for intents has left of an object.
void add_who_and_what(std::string& out, const Entry& entry, std::size_t object_bytes_max) {
  add_text(out, "actor", entry.actor.key_id, kWordBytesMax);
  add_text(out, "role", entry.actor.role, kWordBytesMax);
  add_text(out, "tenant", entry.actor.tenant, kWordBytesMax);
  add_text(out, "address", entry.actor.address, kWordBytesMax);
  add_text(out, "request_id", entry.actor.request_id, kWordBytesMax);
  if (!entry.actor.looks_from.empty()) add_text(out, "looks_from", entry.actor.looks_from, kWordBytesMax);
  add_text(out, "action", entry.action, kWordBytesMax);
  add_text(out, "object", entry.object, object_bytes_max);
}

std::string text_of(const bj::object& object, std::string_view name) {
  const bj::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

Entry who_and_what(const bj::object& object) {
  Entry entry;
  entry.actor = {text_of(object, "actor"),   text_of(object, "role"),       text_of(object, "tenant"),
                 text_of(object, "address"), text_of(object, "request_id"), text_of(object, "looks_from")};
  entry.action = text_of(object, "action");
  entry.object = text_of(object, "object");
  return entry;
}

std::unexpected<Error> no_entry(std::string_view why) {
  return fail(Code::data_loss, fmt::format("not an entry of an audit log: {}", why));
}

Result<std::uint64_t> number_of(const bj::object& object, std::string_view name) {
  const bj::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_int64() || value->get_int64() <= 0)
    return no_entry(fmt::format("it has no {}", name));
  return static_cast<std::uint64_t>(value->get_int64());
}

// The digest covers the bytes as they stand, so that nothing depends on how JSON is written.
Result<void> check_digest(std::string_view line, const StoredEntry& stored) {
  const auto at = line.rfind(kDigestMember);
  if (at == std::string_view::npos || stored.digest.size() != kDigestDigits ||
      line.size() != at + kDigestMember.size() + kDigestDigits + 2)
    return no_entry("its digest is not where it belongs");
  if (sha256_hex(line.substr(0, at)) != stored.digest)
    return fail(Code::data_loss, "its text does not have its digest");
  return {};
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::string clipped(std::string_view text, std::size_t bytes_max) {
  // Most texts are short: the longest escape of a byte takes six.
  if (text.size() * 6 + 2 <= bytes_max) return std::string(text);
  if (text.size() <= bytes_max && json::quoted(text).size() <= bytes_max) return std::string(text);
  const std::string mark = fmt::format("...sha256:{}", sha256_hex(text).substr(0, 16));
  std::size_t keep = std::min(text.size(), bytes_max > mark.size() + 2 ? bytes_max - mark.size() - 2 : 0);
  while (keep > 0) {
    // Never in the middle of a character.
    while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xC0) == 0x80) --keep;
    if (json::quoted(text.substr(0, keep)).size() + mark.size() <= bytes_max) break;
    keep = keep * 3 / 4;
  }
  return std::string(text.substr(0, keep)) + mark;
}

Line render(std::uint64_t seq, WallTime time, const Entry& entry, std::string_view prev) {
  Line line;
  std::string& out = line.text;
  out.reserve(640);
  out = fmt::format(R"({{"seq":{},"time":"{}")", seq, to_rfc3339(time));
  add_who_and_what(out, entry, kObjectBytesMax);
  add_text(out, "outcome", to_string(entry.outcome), kWordBytesMax);
  add_text(out, "reason", entry.reason, kReasonBytesMax);
  if (!entry.details.empty() && entry.details.size() <= kDetailsBytesMax) {
    out += R"(,"details":)";
    out += entry.details;
  }
  out += R"(,"prev":")";
  out += prev;
  out += '"';
  line.digest = sha256_hex(out);
  out += kDigestMember;
  out += line.digest;
  out += "\"}\n";
  return line;
}

std::string render_run(std::uint64_t first, std::uint64_t last, std::string_view prev,
                       std::string_view digest) {
  return fmt::format(R"({{"seq":{},"to":{},"compacted":true,"prev":"{}","digest":"{}"}})"
                     "\n",
                     first, last, prev, digest);
}

Result<std::uint64_t> seq_of(std::string_view line) {
  constexpr std::string_view kFront = R"({"seq":)";
  if (!line.starts_with(kFront)) return no_entry("it does not begin with its number");
  line.remove_prefix(kFront.size());
  std::uint64_t seq = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), seq);
  if (error != std::errc() || seq == 0 || end == line.data() + line.size() || *end != ',')
    return no_entry("its number is none");
  return seq;
}

Result<StoredEntry> parse_line(std::string_view line) {
  if (line.size() >= kLineBytesMax) return no_entry("it is too long");
  const bj::value value = TRY(json::parse(line));
  if (!value.is_object()) return no_entry("it is no object");
  const bj::object& object = value.get_object();
  StoredEntry stored;
  stored.seq = TRY(number_of(object, "seq"));
  stored.last_seq = stored.seq;
  stored.time = text_of(object, "time");
  stored.entry = who_and_what(object);
  stored.entry.reason = text_of(object, "reason");
  stored.prev = text_of(object, "prev");
  stored.digest = text_of(object, "digest");
  if (object.contains("compacted")) {
    stored.compacted = true;
    stored.last_seq = TRY(number_of(object, "to"));
    const bool whole =
        line.size() + 1 == render_run(stored.seq, stored.last_seq, stored.prev, stored.digest).size();
    if (stored.last_seq < stored.seq || !whole) return no_entry("it stands for no entries");
    return stored;
  }
  const std::string outcome = text_of(object, "outcome");
  const auto* word = std::find(kOutcomes.begin(), kOutcomes.end(), outcome);
  if (word == kOutcomes.end()) return no_entry("its outcome is none");
  stored.entry.outcome = static_cast<Outcome>(word - kOutcomes.begin());
  if (const bj::value* details = object.if_contains("details"))
    stored.entry.details = bj::serialize(*details);
  TRY(check_digest(line, stored));
  return stored;
}

std::string render_intent(const Entry& entry, std::size_t bytes_max) {
  std::string out = "{";
  add_who_and_what(out, entry, kObjectBytesMax);
  out += '}';
  if (out.size() <= bytes_max) return out;
  constexpr std::size_t kShortObject = 256;
  out = "{";
  add_who_and_what(out, entry, kShortObject);
  out += '}';
  return out;
}

Result<Entry> parse_intent(std::string_view text) {
  const bj::value value = TRY(json::parse(text));
  if (!value.is_object()) return no_entry("an intent is an object");
  return who_and_what(value.get_object());
}

}  // namespace atl::audit
