#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "atoll/client.h"
#include "engine.h"
#include "events.h"
#include "reading.h"

// What a session's objects share, and how their calls are made.
namespace atl::client::detail {

struct SessionState {
  SessionState(std::shared_ptr<Engine> engine, SessionInfo info);

  // As of the last answer. Any thread.
  SessionInfo info() const;
  SessionInfo told(const Json& answer);
  std::string path(std::string_view rest) const { return base + std::string(rest); }

  const std::shared_ptr<Engine> engine;
  const std::string id;
  const std::string base;   // "/api/sessions/ID"
  const Milliseconds wait;  // as long as guest code may take, and what is around it

 private:
  mutable std::mutex mutex_;
  SessionInfo info_;
};

// Beyond the time that the service gives to guest code: to start, to queue, to store the record.
inline constexpr Milliseconds kGrace{60'000};
Milliseconds time_for(std::optional<double> timeout_seconds, Milliseconds otherwise);

// The JSON of one call. `usual` is its time unless `call` has one.
Async<Json> call_json(std::shared_ptr<Engine> engine, Request request, CallOptions call,
                      std::optional<Milliseconds> usual = {});
Async<void> call_plain(std::shared_ptr<Engine> engine, Request request, CallOptions call);
// The list `name` of an answer as it came.
Async<std::vector<Json>> list_of(std::shared_ptr<Engine> engine, Request request, const char* name,
                                 CallOptions call);
Request get_request(std::string path, Query query = {});
Request post_request(std::string path, const Json& body);

// Sets a member if there is something to set.
template <class T>
void set_if(Json& body, const char* name, const std::optional<T>& value) {
  if (value) body.set(name, Json(*value));
}
void set_if(Json& body, const char* name, const std::string& value);
void set_if(Json& body, const char* name, const std::vector<std::string>& values);
void set_if(Json& body, const char* name, const Variables& values);
Json variables_json(const Variables& values);
Query history_query(const HistoryOptions& options);

// All entries of a list that the service gives in pages, or at most `limit`.
template <class T>
Async<std::vector<T>> all_pages(std::shared_ptr<Engine> engine, std::string path, const char* name,
                                Query query, std::optional<std::size_t> limit, CallOptions call,
                                T (*read)(const Json&)) {
  std::vector<T> all;
  std::string cursor;
  while (!limit || all.size() < *limit) {
    Query page = query;
    page.emplace_back("limit", std::to_string(limit ? std::min<std::size_t>(*limit - all.size(), 100) : 100));
    if (!cursor.empty()) page.emplace_back("cursor", cursor);
    Json answer = co_await call_json(engine, get_request(path, std::move(page)), call);
    for (T& one : read_list<T>(answer, name, read)) all.push_back(std::move(one));
    const Json& next = answer["next_cursor"];
    if (!next.is_string() || next.as_string().empty()) break;
    cursor = next.as_string();
  }
  co_return all;
}

}  // namespace atl::client::detail
