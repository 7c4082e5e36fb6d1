#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "shell/command.h"
#include "shell/commands/jq/ast.h"
#include "shell/regex/regex.h"

namespace atl::shell::jq {

// A path under construction: the last step points at the one before. Lives on the stack of the evaluation.
struct Path {
  const Path* up;
  Value key;
  // The whole path as an array of keys, from the root on.
  Value collect() const;
};

// Where outputs go. False asks the producer to stop.
// Borrows the function, like a function_ref: it must outlive the call that it is passed to, not longer.
class Out {
 public:
  // JUSTIFICATION: the type is put aside here and back in the function beside it.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Out>) Out(F&& f)  // NOLINT: implicit like a function_ref
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, const Value& value, const Path* path) {
          return (*static_cast<std::remove_reference_t<F>*>(object))(value, path);
        }) {}
  bool operator()(const Value& value, const Path* path) const { return call_(object_, value, path); }

 private:
  void* object_;
  bool (*call_)(void*, const Value&, const Path*);
};

// One link of the environment: a variable, a definition, a closure given as an argument, or a label.
// Links live on the stack of the evaluation that made them; whoever keeps a pointer keeps it no longer than
// that call.
struct Env {
  const Env* up = nullptr;
  Value value;
  const Definition* definition = nullptr;
  const Node* closure = nullptr;
  const Env* closure_env = nullptr;
};

// A function of the language that is written here. Returns false like Machine::eval.
struct BuiltinRow {
  std::string_view name;
  std::size_t arity;
  bool (*run)(Machine&, const Node&, const Env*, const Value& in, const Path* path, const Out& out);
};
// Null if there is none of that name and number of arguments.
const BuiltinRow* find_builtin(std::string_view name, std::size_t arity);
// All "name/arity".
std::vector<std::string> builtin_names();

// Evaluates by calling back for each output. A false return stops everything up to who asked; error and label
// tell why.
// For the fiber of the invocation; may throw what ends the script. After a false return exactly one of
// `error`, `breaking` and `halt` says why, or it was `out` that asked to stop.
class Machine {
 public:
  explicit Machine(Invocation& call);

  // `path` is null unless paths are wanted; a root path is &kRoot.
  // Calls `out` for every output, in order. True: all were produced.
  bool eval(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  static const Path kRoot;

  // Sets the error and returns false, for `return machine.raise(...)`.
  bool raise(Value error);
  bool raise(std::string message) { return raise(Value(std::move(message))); }

  std::optional<Value> error;
  const Env* breaking = nullptr;  // the label being left
  std::optional<int> halt;        // halt and halt_error
  std::string halt_message;

  // What input and inputs read; false at the end. An error is raised.
  std::function<bool(Value&)> next_input;
  std::string input_name;
  bool has_input_name = false;
  std::uint64_t line_number = 0;
  Value environment;
  Value named_arguments;

  Invocation& call() { return call_; }
  void tick(std::uint64_t work = 1) {
    if ((ticks_ += work) >= 256) {
      call_.charge(ticks_);
      ticks_ = 0;
    }
  }
  // The compiled expression, kept for the next time. Null after raise() if it is malformed.
  const Regex* regex(const std::string& pattern, const std::string& flags);
  // What both sides of a cartesian product share: evaluates all arguments, right-most outermost, and calls
  // back.
  bool arguments(const Node& node, const Env* env, const Value& in, std::vector<Value>& values,
                 const std::function<bool()>& done);

  // These store their result in `out` and return true, or raise jq's message for values that do not fit. The
  // inputs are not changed; `out` may share parts with them.
  bool index(const Value& container, const Value& key, Value& out);
  bool slice(const Value& container, const Value& from, const Value& to, Value& out);
  bool set_path(const Value& root, const std::vector<Value>& path, std::size_t at, const Value& value,
                Value& out);
  bool get_path(const Value& root, const std::vector<Value>& path, Value& out);
  bool delete_paths(const Value& root, std::vector<Value> paths, Value& out);
  bool arithmetic(Op op, const Value& left, const Value& right, Value& out);
  bool format(const std::string& name, const Value& in, std::string& out);
  // Collects all paths of an expression.
  bool paths_of(const Node* node, const Env* env, const Value& in, std::vector<Value>& out);
  // Replaces what each path of `target` leads to by what `change` makes of it; no replacement deletes the
  // path.
  bool update(const Node* target, const Env* env, const Value& in, Value& out,
              const std::function<bool(const Value& old, std::optional<Value>& replaced)>& change);

 private:
  // One function for each kind of node that is more than a line; the contract is eval()'s.
  bool eval_index(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_slice(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_iterate(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_string(const Node* node, const Env* env, const Value& in, std::size_t at,
                   const std::string& so_far, const Out& out);
  bool eval_object(const Node* node, const Env* env, const Value& in, std::size_t at, const Value& so_far,
                   const Out& out);
  bool eval_try(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_reduce(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_foreach(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_bind(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_alternatives(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_call(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out);
  bool eval_parameters(const Node* node, const Definition& d, std::size_t at, const Env* env,
                       const Env* linked, const Value& in, const Path* path, const Out& out);
  bool eval_assignment(const Node* node, const Env* env, const Value& in, const Out& out);
  bool eval_recurse(const Value& in, const Path* path, const Out& out);
  // Binds the variables of a pattern, then calls `done` with the longer environment, once for every way in
  // which the pattern's own expressions come out.
  bool destructure(const Pattern& pattern, const Value& value, const Env* env, const Value& in,
                   const std::function<bool(const Env*)>& done);
  bool destructure_entries(const Pattern& pattern, std::size_t at, const Value& value, const Env* env,
                           const Value& in, const std::function<bool(const Env*)>& done);

  Invocation& call_;
  std::uint64_t ticks_ = 0;
  std::unordered_map<std::string, std::unique_ptr<Regex>> regexes_;
};

}  // namespace atl::shell::jq
