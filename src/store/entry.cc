#include "store/entry.h"

#include <cstring>
#include <functional>
#include <type_traits>

#include "store/schema.h"

namespace atl::store {
namespace {

// A kind is never changed once released. session_4, end_5, end_6: as schemas 4, 5 and 6 had them, read only.
enum class Kind : std::uint8_t { session_4 = 1, admission = 2, end_5 = 3, session = 4, end_6 = 5, end = 6 };

// One list of members for writing and for reading.
template <class Row, class Each>
requires std::is_same_v<std::remove_const_t<Row>, SessionRow>
void each_member(Row& s, Each each) {
  each(s.session_id, s.sandbox_id, s.incarnation, s.tenant, s.key_id, s.provider, s.environment, s.agent,
       s.policy, s.policy_mode, s.state, s.reason, s.created_at, s.last_used_at, s.expires_at, s.ended_at,
       s.ttl_ms, s.extend_on_use, s.on_expiry, s.auto_resume, s.network, s.limits, s.isolation, s.env,
       s.metadata, s.attributes, s.parent, s.snapshot, s.volumes, s.egress);
}

template <class Row, class Each>
requires std::is_same_v<std::remove_const_t<Row>, ArtifactRow>
void each_member(Row& a, Each each) {
  each(a.digest, a.session_id, a.tenant, a.record_id, a.path, a.media_type, a.size_bytes, a.created_at);
}

template <class Row, class Each>
void each_member_admitted(Row& r, Each each) {
  each(r.record_id, r.session_id, r.sandbox_id, r.tenant, r.key_id, r.kind, r.type, r.context, r.code,
       r.status, r.admitted_at, r.verdict);
}

template <class Row, class Each>
void each_member_finished(Row& r, Each each) {
  each(r.record_id, r.status, r.finished_at, r.out, r.err, r.out_truncated, r.err_truncated, r.error,
       r.error_value, r.traceback, r.exit_code, r.reason, r.usage, r.artifacts, r.execution_count);
}

class Packer {
 public:
  explicit Packer(Kind kind) { bytes_ += static_cast<char>(kind); }
  template <class... Members>
  void operator()(const Members&... members) {
    (put(members), ...);
  }
  std::string take() { return std::move(bytes_); }

  void put(std::int64_t number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes_.append(raw, sizeof raw);
  }
  void put(int number) { put(static_cast<std::int64_t>(number)); }
  void put(bool flag) { bytes_ += flag ? '\1' : '\0'; }
  void put(WallTime time) { put(unix_micros(time)); }
  void put(const std::optional<WallTime>& time) {
    put(time.has_value());
    if (time) put(*time);
  }
  void put(const std::string& text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
  }

 private:
  std::string bytes_;
};

// After the first member that is not whole, everything is left empty and good() is false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  template <class... Members>
  void operator()(Members&... members) {
    (get(members), ...);
  }
  bool good() const { return good_; }
  bool at_end() const { return good_ && bytes_.empty(); }

  void get(std::int64_t& number) {
    const std::string_view raw = take(sizeof number);
    if (good_) std::memcpy(&number, raw.data(), sizeof number);
  }
  void get(int& number) {
    std::int64_t wide = 0;
    get(wide);
    number = static_cast<int>(wide);
  }
  void get(bool& flag) {
    const std::string_view raw = take(1);
    flag = good_ && raw[0] != '\0';
  }
  void get(WallTime& time) {
    std::int64_t micros = 0;
    get(micros);
    time = from_unix_micros(micros);
  }
  void get(std::optional<WallTime>& time) {
    bool is_set = false;
    get(is_set);
    if (is_set) get(time.emplace());
  }
  void get(std::string& text) {
    std::int64_t size = 0;
    get(size);
    if (size < 0) good_ = false;
    text = take(static_cast<std::size_t>(size));
  }

 private:
  std::string_view take(std::size_t size) {
    good_ = good_ && size <= bytes_.size();
    if (!good_) return {};
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
  bool good_ = true;
};

Result<void> apply_session(Connection& db, Kind kind, Unpacker in) {
  SessionRow row;
  each_member(row, std::ref(in));
  if (kind == Kind::session) in(row.hibernation);
  if (!in.at_end()) return fail(Code::internal, "store: a session of the journal cannot be read");
  TRY(put_session(db, row));
  if (kind == Kind::session_4) TRY(move_hibernation(db));
  return {};
}

Result<void> apply_admission(Connection& db, Unpacker in) {
  RecordRow row;
  each_member_admitted(row, std::ref(in));
  if (!in.at_end()) return fail(Code::internal, "store: a record of the journal cannot be read");
  return put_admission(db, row);
}

Result<void> apply_end(Connection& db, Kind kind, Unpacker in) {
  RecordRow row;
  each_member_finished(row, std::ref(in));
  if (kind != Kind::end_5) in(row.interpreter_restarted);
  if (kind == Kind::end) in(row.tool);
  std::int64_t count = 0;
  in.get(count);
  std::vector<ArtifactRow> artifacts;
  for (std::int64_t i = 0; i < count && in.good(); ++i) each_member(artifacts.emplace_back(), std::ref(in));
  if (!in.at_end()) return fail(Code::internal, "store: the end of a record cannot be read");
  return put_end(db, row, artifacts);
}

}  // namespace

bool may_pass(const Error& error) {
  switch (error.code()) {
    case Code::no_space:
    case Code::unavailable:
    case Code::data_loss:
    case Code::permission_denied: return true;
    default: return false;
  }
}

std::string encode_session(const SessionRow& row) {
  Packer out(Kind::session);
  each_member(row, std::ref(out));
  out(row.hibernation);
  return out.take();
}

std::string encode_admission(const RecordRow& row) {
  Packer out(Kind::admission);
  each_member_admitted(row, std::ref(out));
  return out.take();
}

std::string encode_end(const RecordRow& row, const std::vector<ArtifactRow>& artifacts) {
  Packer out(Kind::end);
  each_member_finished(row, std::ref(out));
  out(row.interpreter_restarted, row.tool);
  out.put(static_cast<std::int64_t>(artifacts.size()));
  for (const ArtifactRow& artifact : artifacts) each_member(artifact, std::ref(out));
  return out.take();
}

Result<void> apply_entry(Connection& db, std::string_view payload) {
  if (payload.empty()) return fail(Code::internal, "store: an empty entry in the journal");
  const Unpacker in(payload.substr(1));
  const Kind kind = static_cast<Kind>(payload[0]);
  switch (kind) {
    case Kind::session_4:
    case Kind::session: return apply_session(db, kind, in);
    case Kind::admission: return apply_admission(db, in);
    case Kind::end_5:
    case Kind::end_6:
    case Kind::end: return apply_end(db, kind, in);
  }
  return fail(Code::internal, "store: an unknown entry in the journal");
}

}  // namespace atl::store
