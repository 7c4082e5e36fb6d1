// A bash for agents in this process: no process behind it, nothing of the host, a limit on everything.
#include <atoll/core.h>

#include <iostream>

int main() {
  atl::VirtualFileSystem files(atl::base_snapshot());
  atl::ShellOptions options;
  options.limits.commands = 10'000;
  atl::SandboxShell shell(files, options);

  std::cout << shell.execute("for w in b a c; do echo $w; done | sort > words; wc -l < words").out;
  std::cout << "status " << shell.execute("grep nothing words").status << '\n';

  atl::Executed endless = shell.execute("while :; do :; done");
  std::cout << (endless.limited ? "stopped: " + endless.reason : "not stopped") << '\n';

  auto copy = files.fork();
  auto other = shell.fork(*copy);
  other->execute("rm words");
  std::cout << shell.execute("cat words | head -n 1").out;
}
