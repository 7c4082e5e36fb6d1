#include "layer/build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "layer/build_position.h"
#include "layer/debian.h"
#include "layer/walk.h"
#include "os/file.h"

namespace atl::layer {
namespace {

// Directories whose content is of the machine that ran the step, not of the environment.
constexpr const char* kEmptied[] = {"tmp",           "var/tmp",           "run",         "var/log",
                                    "var/cache/apt", "var/lib/apt/lists", "root/.cache", "var/cache/debconf"};
constexpr const char* kRemoved[] = {"etc/machine-id", "var/lib/dbus/machine-id", "root/.bash_history",
                                    "var/cache/ldconfig/aux-cache", "var/lib/systemd/random-seed"};

// The descriptor of a path's directory, if all of it are directories.
Result<os::Fd> directory_at(int tree, const std::string& path) {
  return os::open_beneath(tree, path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY);
}

// Files go, directories stay: services expect theirs in /var/log.
Result<void> empty_of_files(int directory, int depth) {
  if (depth > kDepthMax) return fail(Code::too_large, "directories are nested too deeply");
  for (const std::string& name : TRY(names_in(directory))) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (S_ISDIR(info.st_mode)) {
      const os::Fd inner = TRY(os::open_beneath(directory, name.c_str(), O_RDONLY | O_DIRECTORY));
      TRY(empty_of_files(inner.get(), depth + 1));
    } else if (!is_whiteout(info)) {
      TRY(os::remove_tree(directory, name));
    }
  }
  return {};
}

// The same script may make something else of another network.
std::string reach_of(const Step& step) {
  if (!step.network) return "no network";
  return fmt::format("network\nallow {}\ndeny {}", fmt::join(step.allow, " "), fmt::join(step.deny, " "));
}

class Build {
 public:
  Build(Store& store, const Recipe& recipe, StepRunner& runner, Interrupt& interrupt,
        const BuildOptions& options, const Positioned& moved, Claim claim)
      : store_(store),
        recipe_(recipe),
        runner_(runner),
        interrupt_(interrupt),
        options_(options),
        moved_(moved),
        claim_(std::move(claim)) {}

  Result<BuildResult> run() {
    Stack& stack = result_.stack;
    stack.name = recipe_.name;
    position_.layers = recipe_.steps.size() + (recipe_.from.empty() ? 1 : 0);
    TRY_CONTEXT(fmt::format("build '{}'", recipe_.name), recipe_.from.empty() ? bottom() : start_from());
    for (std::size_t i = 0; i < recipe_.steps.size(); ++i) {
      TRY(interrupt_.check());
      TRY_CONTEXT(fmt::format("step {}", i + 1), step(recipe_.steps[i], i));
    }
    TRY(interrupt_.check());
    move_to(position_.layers);
    stack.source = "build";
    stack.recipe = name_of(recipe_, below_);
    stack.created_at = to_rfc3339(Clock::machine().now());
    stack.env.insert(recipe_.env.begin(), recipe_.env.end());
    stack.user = recipe_.user;
    stack.working_directory = recipe_.working_directory;
    TRY(store_.save(stack));
    return std::move(result_);
  }

 private:
  void say(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  // At a layer, of which nothing is there yet.
  void move_to(std::size_t layer) {
    position_ = {.layer = layer, .layers = position_.layers};
    if (moved_) moved_(position_);
  }

  Result<void> start_from() {
    const Stack below = TRY(store_.stack(recipe_.from));
    TRY(store_.extend(claim_, below.layers));
    result_.stack.layers = below.layers;
    result_.stack.env = below.env;
    below_ = below.recipe;
    say(fmt::format("from {} ({} layers)", recipe_.from, below.layers.size()));
    return {};
  }

  // True if an earlier build made this layer; it is on the stack then.
  Result<bool> reuse(const std::string& key, const std::string& what) {
    if (options_.fresh) return false;
    const auto digest = store_.cached(key);
    if (!digest) return false;
    TRY(store_.extend(claim_, {*digest}));
    // Somebody may have collected it before our claim held it.
    if (!store_.find(*digest)) return false;
    result_.stack.layers.push_back(*digest);
    ++result_.reused;
    say(fmt::format("{}: layer {} of an earlier build", what, digest->substr(0, 12)));
    return true;
  }

  Result<void> keep(Draft draft, const std::string& key) {
    TRY(tidy(draft.tree(), store_.attributes(), options_.epoch));
    const Layer layer = TRY(store_.put(std::move(draft), claim_));
    TRY(store_.cache(key, layer.digest));
    result_.stack.layers.push_back(layer.digest);
    ++result_.made;
    say(fmt::format("layer {} ({} entries, {} bytes)", layer.digest.substr(0, 12), layer.entries,
                    layer.bytes));
    return {};
  }

  Result<void> bottom() {
    const std::string suite = recipe_.suite.empty() ? TRY(machine_suite()) : recipe_.suite;
    const std::vector<std::string> sources = TRY(sources_for(options_.apt_directory, suite));
    Sha256 key;
    key.update(
        fmt::format("debian 2\n{}\n{}\n{}\n", suite, fmt::join(recipe_.packages, " "), options_.epoch));
    for (const std::string& path : sources) key.update(TRY(os::read_file(path)));
    const std::string name = key.finish();
    const std::string what = fmt::format("Debian {} and {} packages", suite, recipe_.packages.size());
    move_to(0);
    if (TRY(reuse(name, what))) return {};
    say(what);
    Draft draft = TRY(store_.draft());
    TRY(make_debian(recipe_, suite, sources, draft, store_.owners(), interrupt_, options_, moved_));
    return keep(std::move(draft), name);
  }

  Result<void> step(const Step& step, std::size_t index) {
    Sha256 key;
    key.update(fmt::format("step 1\n{}\n{}\n{}\n", fmt::join(result_.stack.layers, "\n"), options_.epoch,
                           reach_of(step)));
    key.update(step.run);
    const std::string name = key.finish();
    const std::string what = fmt::format("step {} of {}", index + 1, recipe_.steps.size());
    move_to(index + (recipe_.from.empty() ? 1 : 0));
    if (TRY(reuse(name, what))) return {};
    say(what + ": " + step.run.substr(0, step.run.find('\n')));
    Draft draft = TRY(store_.draft());
    std::vector<std::string> paths;
    for (const std::string& digest : result_.stack.layers) paths.push_back(store_.path(digest));
    TRY(runner_.run(step, paths, draft));
    return keep(std::move(draft), name);
  }

  Store& store_;
  const Recipe& recipe_;
  StepRunner& runner_;
  Interrupt& interrupt_;
  const BuildOptions& options_;
  const Positioned& moved_;
  Claim claim_;
  std::string below_;  // what made what it starts from
  BuildPosition position_;
  BuildResult result_;
};

}  // namespace

std::string name_of(const Recipe& recipe, const std::string& below) {
  if (!recipe.from.empty() && below.empty()) return {};
  Sha256 name;
  // Each piece with its size: no two recipes give the same bytes.
  const auto put = [&](const std::string& text) { name.update(fmt::format("{} {}\n", text.size(), text)); };
  name.update("recipe 1\n");
  put(recipe.from.empty() ? std::string() : below), put(recipe.suite);
  put(fmt::format("{}", fmt::join(recipe.packages, " ")));
  for (const Step& step : recipe.steps) put(reach_of(step)), put(step.run);
  return name.finish();
}

void Interrupt::raise() {
  raised_ = true;
  const std::scoped_lock lock(mutex_);
  if (action_) action_();
}

Result<void> Interrupt::check() const {
  if (raised_) return fail(Code::canceled, "interrupted");
  return {};
}

void Interrupt::on_raise(std::function<void()> action) {
  const std::scoped_lock lock(mutex_);
  action_ = std::move(action);
  if (raised_ && action_) action_();
}

Result<void> tidy(int tree, OverlayAttributes attributes, std::int64_t epoch) {
  for (const char* path : kEmptied)
    if (auto directory = directory_at(tree, path)) TRY(empty_of_files(directory->get(), 0));
  for (const std::string path : kRemoved) {
    auto parent = directory_at(tree, path.substr(0, path.rfind('/')));
    struct stat info {};
    const std::string name = path.substr(path.rfind('/') + 1);
    if (parent && ::fstatat(parent->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        !is_whiteout(info))
      TRY(os::remove_tree(parent->get(), name));
  }
  // Deepest last: setting a time does not change another's.
  return walk(tree, attributes, [&](const Entry& entry, int) -> Result<void> {
    if (entry.kind == Kind::whiteout || entry.kind == Kind::hard_link) return {};
    const time_t time = std::min<time_t>(entry.info.st_mtim.tv_sec, epoch);
    const timespec times[2] = {{time, 0}, {time, 0}};
    const char* path = entry.path.empty() ? "." : entry.path.c_str();
    if (::utimensat(tree, path, times, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(errno_error(errno, "set a time"));
    return {};
  });
}

Result<BuildResult> build(Store& store, const Recipe& recipe, StepRunner& runner, Interrupt& interrupt,
                          const BuildOptions& options) {
  return build(store, recipe, runner, interrupt, options, {});
}

Result<BuildResult> build(Store& store, const Recipe& recipe, StepRunner& runner, Interrupt& interrupt,
                          const BuildOptions& options, const Positioned& moved) {
  return Build(store, recipe, runner, interrupt, options, moved, TRY(store.claim())).run();
}

}  // namespace atl::layer
