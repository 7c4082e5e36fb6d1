#include <atomic>

#include "service.h"

// One client, many threads and coroutines at once.
namespace service {
namespace {

struct StressTest : ServiceTest {};

TEST_F(StressTest, ThreadsShareAClientAndASession) {
  Session shared = client.create({.limits = Json::object({{"max_processes", 64}})});
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      std::string name = "/home/user/" + std::to_string(number);
      for (int round = 0; round < 8; ++round) {
        shared.files().write(name, std::to_string(round));
        Execution done = shared.commands().run("cat " + name, {.on_stdout = [](auto) {}});
        Session own = client.create({.provider = "virtual"});
        bool same = own.commands().run("echo $((6*7))").stdout_text == "42\n";
        good += same && done.stdout_text == std::to_string(round);
        shared.refresh();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 64);
}

Async<int> one_task(SandboxClient client, int number) {
  CreateOptions options;
  options.provider = "virtual";
  Session session = co_await client.create_async(options);
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    std::string name = "/home/user/" + std::to_string(round);
    co_await session.files().write_async(name, std::to_string(number));
    std::string content = co_await session.files().read_async(name);
    sum += std::stoi(content);
  }
  co_await session.end_async();
  co_return sum;
}

TEST_F(StressTest, ManyCoroutines) {
  std::vector<Async<int>> tasks;
  for (int number = 0; number < 50; ++number) tasks.push_back(one_task(client, number));
  for (int number = 0; number < 50; ++number)
    EXPECT_EQ(tasks[static_cast<std::size_t>(number)].get(), 4 * number);
}

TEST_F(StressTest, ClientsComeAndGo) {
  std::vector<std::thread> threads;
  std::atomic<int> answers = 0;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        SandboxClient own;
        if (round % 3 == 0) {
          // Forgotten while it is under way.
          (void)own.get_json_async("/version");
          ++answers;
        } else {
          answers += !own.version().empty();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers.load(), 100);
}

TEST_F(StressTest, CancellationsAtAnyTime) {
  Session session = client.create();
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < 10; ++round) {
        std::stop_source stop;
        std::thread stopping([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds((number * 7 + round * 3) % 40));
          stop.request_stop();
        });
        try {
          session.commands().run("sleep 0.02", {.on_stdout = [](auto) {}}, {.stop = stop.get_token()});
          ++ended;
        } catch (const CallCanceledError&) {
          ++ended;
        }
        stopping.join();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended.load(), 40);
  EXPECT_TRUE(session.commands().run("true").ok());
}

}  // namespace
}  // namespace service
