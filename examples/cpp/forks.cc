// Try several ways from one state, keep the files of the best, and look at what happened.
#include <atoll/client.h>

#include <iostream>

using namespace atl::client;

int main() {
  SandboxClient client;
  Session session = client.create();
  session.execute("data = list(range(10))");

  Forks forks = session.fork_many({.count = 2});
  for (const std::string& error : forks.errors) std::cerr << error << '\n';
  const char* ways[] = {"sum(data)", "max(data)"};
  for (std::size_t i = 0; i < forks.sessions.size(); ++i)
    std::cout << ways[i] << " = " << forks.sessions[i].execute(ways[i]).text() << '\n';

  session.files().write("/home/user/best", "max");
  Snapshot snapshot = session.snapshot("best");
  Session again = client.create({.snapshot = snapshot.snapshot_id});
  std::cout << "from the snapshot: " << again.files().read("/home/user/best") << '\n';

  for (const Record& record : session.history()) std::cout << record.status << ": " << record.code << '\n';
}
