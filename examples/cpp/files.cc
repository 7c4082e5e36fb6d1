// Files in and out, large ones in pieces, and changes as they happen.
#include <atoll/client.h>

#include <iostream>
#include <sstream>

using namespace atl::client;

int main() {
  SandboxClient client;
  Session session = client.create();
  Files files = session.files();

  files.write("/home/user/data.csv", "a,b\n1,2\n");
  session.execute("import csv; rows = list(csv.DictReader(open('/home/user/data.csv')))");
  std::cout << session.execute("rows[0]['b']").text() << '\n';

  std::istringstream large(std::string(1'000'000, 'x'));
  std::cout << files.write_from("/home/user/large", large).size << " bytes sent\n";
  FileReader reader = files.open_read("/home/user/large");
  std::size_t bytes = 0;
  for (std::string piece; !(piece = reader.read()).empty();) bytes += piece.size();
  std::cout << bytes << " bytes read\n";

  Watch watch = files.watch("/home/user");
  session.commands().run("touch /home/user/new");
  FileEvent event = watch.next();
  std::cout << event.type << ' ' << event.name << '\n';

  for (const FileInfo& entry : files.list("/home/user"))
    if (entry.type == "file") std::cout << entry.name << ' ' << entry.size << '\n';
}
