#pragma once

#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "atoll/client.h"

/// @file
/// Tools that a program has in C++: described for models, called here, published to a service, and served: by
/// a copy of the program in the sandbox that calls them, or by this very process.
///
///     struct WordCount : atl::client::ToolBase {
///       WordCount() {
///         name = "word_count";
///         description = "Counts the words of a text.";
///         input =
///         Json::parse(R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]})");
///       }
///       Json call(const Json& in) override { ... }
///     };
namespace atl::client {

/// Nobody waits for the result of a call any more; thrown by ToolBase::progress() alone.
class CallerLeftError : public AtollError {
 public:
  explicit CallerLeftError(const std::string& call_id);
};

/// One tool. A subclass says its name, description and schemas (JSON Schema, draft 7), and what call() does.
class ToolBase {
 public:
  virtual ~ToolBase() = default;

  std::string name;         ///< letters, digits, '_' and '-', a letter first, at most 64
  std::string description;  ///< a model reads it
  Json input = Json::object({{"type", "object"}});
  Json output;  ///< null: anything
  double timeout_seconds = 0;
  bool idempotent = false;
  bool pure = false;
  bool read_only = false;
  std::vector<std::string> tags;

  /// What it does. An exception is the call's failure; its words reach the caller.
  virtual Json call(const Json& input) = 0;
  /// For call() to tell its caller how far it is; nothing happens where nobody can be told. CallerLeftError
  /// ends a call whose caller has left.
  void progress(double progress, std::optional<double> total = {}, std::string message = {}) const;

  /// The tool as the registry of a service wants it; `command` is what a sandbox runs for one call, with the
  /// input as JSON on its standard input. ConfigurationError if the tool cannot be declared.
  Json declaration(const std::vector<std::string>& command) const;
  /// As declaration(), for a tool that a process of the tenant's answers (ToolRegistry::serve).
  Json served_declaration() const;

 private:
  Json declared(Json run) const;
};

/// How a process answers calls.
struct ServeOptions {
  int workers = 4;           ///< calls that run at once
  Milliseconds wait{5'000};  ///< how long the service holds a question for the next call; at most a minute
};

/// Tools of this process by name. Filled by one thread, then used by any.
class ToolRegistry {
 public:
  enum class Replace : bool { no, yes };
  /// ConfigurationError for a name that is taken, unless it is to be replaced, and for a tool that could not
  /// be declared.
  ToolBase& add(std::unique_ptr<ToolBase> tool, Replace replace = Replace::no);
  /// False if there is none of that name.
  bool remove(const std::string& name);
  /// Null if there is none of that name.
  ToolBase* find(const std::string& name) const;
  std::vector<std::string> names() const;

  /// All of them as a model's API wants them: openai, anthropic or mcp. ConfigurationError for another word.
  std::vector<Json> describe(const std::string& format = "openai") const;
  /// Runs a tool here, in this process, without a sandbox. ConfigurationError if there is none of that name.
  Json call(const std::string& name, const Json& input = Json::object()) const;

  /// Declares all of them to the service, as tools of the key's tenant; gives their names. Sessions run
  /// `program tool NAME` for a call: put this program there (Files::write_from, or an environment that has
  /// it) and let its main() end in serve().
  std::vector<std::string> publish(SandboxClient& client, const std::string& program) const;
  /// Declares all of them as tools that this process answers itself, while serve() runs; gives their names.
  std::vector<std::string> publish_served(SandboxClient& client) const;
  /// Answers calls until `stop` is requested, and gives how many; it returns when the calls under way are
  /// answered and the last question for another is, so that no call is lost. What call() throws is the call's
  /// failure. A service that cannot be reached is asked again; one that refuses is a ServiceError.
  std::size_t serve(SandboxClient& client, std::stop_token stop, ServeOptions options = {}) const;
  /// One call of a published tool: JSON from `in`, the answer as JSON to `out`, words about a failure to
  /// `err`. Gives the status to exit with.
  int serve(const std::string& name, std::istream& in, std::ostream& out, std::ostream& err) const;

 private:
  std::map<std::string, std::unique_ptr<ToolBase>> tools_;
};

}  // namespace atl::client
