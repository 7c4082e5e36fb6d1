// A session that remembers. ATOLL_URL and ATOLL_API_KEY say where.
#include <atoll/client.h>

#include <iostream>

int main() {
  try {
    atl::SandboxClient client;
    auto session = client.create();
    session.execute("x = 6 * 7");
    std::cout << session.execute("print(x)").stdout_text;
    std::cout << "as a value: " << session.execute("x + 1").text() << '\n';
    return 0;  // the session ends with its scope
  } catch (const atl::client::AtollError& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
