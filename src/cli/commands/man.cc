#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/manual.h"
#include "cli/output_file.h"
#include "cli/version.h"
#include "config/checked.h"
#include "os/file.h"

namespace atl::cli {
namespace {

struct ManFlags {
  std::vector<std::string> names;
  std::string directory;
};

Result<void> write_all(const std::vector<ManualPage>& pages, const std::string& directory) {
  for (const ManualPage& page : pages) {
    OutputFile out = TRY(OutputFile::open("--directory", directory + "/" + page.file));
    TRY(os::write_all(out.fd(), page.text));
    TRY(out.finish());
  }
  return {};
}

Result<std::string> one_page(const std::vector<ManualPage>& pages, const std::vector<std::string>& names) {
  std::string file = "atoll";
  for (const std::string& name : names) file += "-" + name;
  const auto found = std::ranges::find(pages, file + ".1", &ManualPage::file);
  if (found != pages.end()) return found->text;
  return fail(config::Checked("NAME", names.back()).wrong("is no command", "`atoll --help` lists them"));
}

}  // namespace

Action define_man(Command& top) {
  Command command = top.add_command("man", "Print a page of the manual, made from what --help knows");
  auto flags = std::make_unique<ManFlags>();
  command.add_option("NAME", flags->names, "The command; otherwise the page of atoll itself")
      .value("COMMAND");
  command.add_option("--directory", flags->directory, "Write every page into this directory instead")
      .existing_directory()
      .value("DIR");
  command.notes("atoll man run | man -l -\natoll man --directory /usr/local/share/man/man1");
  return [flags = std::move(flags), top] {
    const std::vector<ManualPage> pages = manual(top.facts(), std::string(version()));
    if (!flags->directory.empty()) {
      if (auto done = write_all(pages, flags->directory); !done) return report(done.error());
      return 0;
    }
    auto text = one_page(pages, flags->names);
    if (!text) return report(text.error());
    fmt::print("{}", *text);
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
