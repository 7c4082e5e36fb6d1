// Output as it is produced, a process in the background, a terminal; then the same in coroutines.
#include <atoll/client.h>

#include <iostream>

using namespace atl::client;

namespace {

void print_live(std::string_view text) {
  std::cout << "live " << text << std::flush;
}

Async<int> in_coroutines(SandboxClient client) {
  Session session = co_await client.create_async();
  ExecuteOptions options;
  options.on_stdout = print_live;
  Execution done = co_await session.execute_async("print('from a coroutine')\n6 * 7", options);
  co_await session.end_async();
  co_return std::stoi(done.text());
}

}  // namespace

int main() {
  SandboxClient client;
  Session session = client.create();
  session.commands().run("for i in 1 2 3; do echo $i; sleep 0.1; done", {.on_stdout = print_live});

  Process process = session.commands().start("read name; echo hello $name", {.keep_stdin = true});
  process.write_stdin("you\n");
  std::cout << process.wait().stdout_text;

  Terminal terminal = session.terminal({.columns = 100, .rows = 30});
  terminal.send("exit 3\n");
  while (!terminal.read().empty()) {
  }
  std::cout << "terminal ended with " << terminal.exit()->exit_code << '\n';
  int answer = in_coroutines(client).get();
  std::cout << "coroutine gave " << answer << '\n';
}
