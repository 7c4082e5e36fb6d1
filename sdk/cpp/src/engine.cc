#include "engine.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>

#include "base/ids.h"
#include "net/await.h"
#include "net/client_call.h"

namespace atl::client::detail {
namespace {

namespace asio = boost::asio;
using net::kAwait;

constexpr Milliseconds kLongestPause{5'000};
// A connection that waited longer may have been closed by the service just now: what must not be sent twice
// goes over a new one.
constexpr std::chrono::seconds kSurelyOpen{1};
constexpr std::chrono::seconds kIdleMax{30};
constexpr std::size_t kIdleConnectionsMax = 32;

constexpr std::size_t kShownMax = 200;
constexpr std::size_t kWaitingMax = 64U << 20;  // of what is to be written after what is being written

thread_local bool is_client_thread = false;

// Without what a terminal would obey.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// One thread and its loop. The thread keeps it alive, so that an engine may end on it.
struct Loop {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

// Threads of engines that ended on them. They are over in a moment; the end of the program waits for it,
// because nothing may run beside the destruction of what libraries keep.
class EndedThreads {
 public:
  ~EndedThreads() {
    for (std::thread& thread : threads_) thread.join();
  }
  void add(std::thread thread) {
    std::scoped_lock lock(mutex_);
    // Those that came before are past everything that could wait for this one.
    for (std::thread& earlier : threads_) earlier.join();
    threads_.clear();
    threads_.push_back(std::move(thread));
  }

 private:
  std::mutex mutex_;
  std::list<std::thread> threads_;
};

EndedThreads& ended_threads() {
  // OpenSSL first: what is made later is destroyed earlier.
  static const bool ready = OPENSSL_init_ssl(0, nullptr) == 1;
  static EndedThreads threads;
  (void)ready;
  return threads;
}

std::string query_text(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += text.empty() ? '?' : '&';
    text += net::percent_encode(name) + '=' + net::percent_encode(value);
  }
  return text;
}

bool is_passing(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

bool is_repeatable(const Request& request) {
  if (request.idempotent) return *request.idempotent;
  return request.method == "GET" || request.method == "HEAD" || request.method == "PUT" ||
         request.method == "DELETE";
}

// Before the next try: what the service asks for, else longer each time, never the same.
Milliseconds pause_before(int attempt, const std::string& retry_after) {
  int seconds = -1;
  std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  if (seconds >= 0) return std::min<Milliseconds>(std::chrono::seconds(seconds), kLongestPause);
  std::array<std::uint8_t, 1> dice;
  random_bytes(dice);
  Milliseconds base = std::min<Milliseconds>(Milliseconds(100) * (1 << std::min(attempt, 10)), kLongestPause);
  return base / 2 + base * dice[0] / 512;
}

// The key was given for one service. Whoever sends elsewhere is not it, or something stands before it.
void refuse_redirect(int status, const std::string& location) {
  if (status < 300 || status >= 400 || status == 304) return;
  throw ProtocolError(
      fmt::format("status {}: the service is said to be elsewhere ('{}'), where no call is sent", status,
                  printable(location.substr(0, kShownMax))));
}

// What a broken connection or a silent service comes to for the caller.
[[noreturn]] void throw_lost(const Error& error) {
  if (error.code() == Code::deadline_exceeded) throw RequestTimeoutError(error.message());
  if (error.code() == Code::too_large) throw ProtocolError(error.message());
  throw ConnectionLostError(error.message());
}

template <class T>
T value_or_throw(atl::Result<T> result) {
  if (!result) throw_lost(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// An operation under way, so that close() finds it.
struct Running {
  virtual ~Running() = default;
  virtual void stop() = 0;
};

template <class T>
struct Operation final : Running, std::enable_shared_from_this<Operation<T>> {
  explicit Operation(asio::io_context& context) : timer(context) {}
  void stop() override {
    stopped = true;
    signal.emit(asio::cancellation_type::terminal);
  }

  asio::steady_timer timer;
  asio::cancellation_signal signal;
  std::shared_ptr<Shared<T>> shared = std::make_shared<Shared<T>>();
  std::optional<std::stop_callback<std::function<void()>>> by_caller, by_async;
  std::stop_token caller;
  Milliseconds time{};
  bool timed_out = false;
  bool stopped = false;
  bool over = false;
};

class HttpEngine;

class HttpExchange final : public Exchange, public std::enable_shared_from_this<HttpExchange> {
 public:
  HttpExchange(std::shared_ptr<HttpEngine> engine, std::unique_ptr<net::HttpCall> call);
  ~HttpExchange() override;
  Async<void> write(std::string bytes, CallOptions call) override;
  Async<void> finish(CallOptions call) override;
  Async<Head> head(CallOptions call) override;
  Async<std::string> read(CallOptions call) override;
  Async<std::string> read_all(CallOptions call) override;
  Async<std::string> read_raw(CallOptions call) override;
  Async<void> write_raw(std::string bytes, CallOptions call) override;

 private:
  // Each fails once the connection was given up.
  net::HttpCall& http();
  net::ByteStream& raw();
  Task<void> write_in_turn(std::string bytes);
  // Runs one step; after a failure nothing more is read or written, except that an answer can be read whose
  // request was not taken to its end.
  enum class Way : bool { in, out };
  template <class T, class Step>
  Async<T> step(Step step, const CallOptions& call, Milliseconds usual, Way way = Way::in);

  std::shared_ptr<HttpEngine> engine_;
  std::unique_ptr<net::HttpCall> http_;   // touched on the loop only
  std::unique_ptr<net::ByteStream> raw_;  // after a 101, instead
  bool closed_ = false;
  bool writing_ = false;
  std::string waiting_;  // to be written after what is being written
};

class HttpEngine final : public Engine, public std::enable_shared_from_this<HttpEngine> {
 public:
  HttpEngine(ClientOptions options, net::Url url) : options_(std::move(options)), url_(std::move(url)) {
    net_options_.connect_time = options_.connect_timeout;
    net_options_.head_time = net_options_.stall_time = kForever;
    net_options_.ca_file = options_.ca_file;
    thread_ = std::thread([loop = loop_] {
      is_client_thread = true;
      loop->context.run();
    });
  }
  ~HttpEngine() override {
    // Nothing is under way: every operation holds the engine. What is left of connections ends on their
    // thread.
    asio::post(loop_->context, [loop = loop_, idle = std::move(idle_)]() mutable {
      idle.clear();
      loop->work.reset();
    });
    if (std::this_thread::get_id() == thread_.get_id()) {
      ended_threads().add(std::move(thread_));
    } else {
      thread_.join();
    }
  }

  const ClientOptions& options() const override { return options_; }
  Async<Answer> send(Request request, CallOptions call, std::optional<Milliseconds> usual,
                     int accepted) override;
  Async<std::shared_ptr<Exchange>> open(Request request, Body body, CallOptions call,
                                        std::optional<Milliseconds> usual) override;
  void close() override;
  void send_and_forget(Request request, std::function<void(const std::string&)> failed) override;

  asio::io_context& context() { return loop_->context; }
  const net::ClientOptions& net_options() const { return net_options_; }

  // Runs `work` on the loop under the call's time and stop tokens.
  template <class T>
  Async<T> run(std::function<asio::awaitable<T>()> work, const CallOptions& call, Milliseconds usual);

 private:
  struct IdleConnection {
    std::unique_ptr<net::ByteStream> stream;
    std::chrono::steady_clock::time_point since;
  };
  using Idle = std::list<IdleConnection>;

  net::ClientRequest wire_request(Request&& request) const;
  std::unique_ptr<net::ByteStream> take_idle(bool surely);
  asio::awaitable<std::unique_ptr<net::ByteStream>> connected();
  asio::awaitable<Answer> repeated(Request request, int accepted);
  // One try. `sent`: the service may have seen it. `stale`: it went over a connection that was closed
  // already.
  asio::awaitable<Answer> once(const net::ClientRequest& request, bool fresh, bool repeatable, bool& sent,
                               bool& stale);
  asio::awaitable<Answer> collected(net::HttpCall& call, const net::ClientRequest& request);
  template <class T>
  void begin(std::shared_ptr<Operation<T>> operation, std::function<asio::awaitable<T>()> work);

  ClientOptions options_;
  net::Url url_;
  net::ClientOptions net_options_;
  std::shared_ptr<Loop> loop_ = std::make_shared<Loop>();
  Idle idle_;                                  // newest last; the loop's
  std::list<std::weak_ptr<Running>> running_;  // the loop's
  std::thread thread_;
};

template <class T>
Async<T> HttpEngine::run(std::function<asio::awaitable<T>()> work, const CallOptions& call,
                         Milliseconds usual) {
  auto operation = std::make_shared<Operation<T>>(loop_->context);
  operation->time = call.timeout.value_or(usual);
  operation->caller = call.stop;
  operation->shared->resume = options_.resume;
  Async<T> async(operation->shared);
  asio::post(loop_->context, [self = shared_from_this(), operation, work = std::move(work)]() mutable {
    HttpEngine& engine = *self;
    engine.begin<T>(std::move(operation), std::move(work));
  });
  return async;
}

template <class T>
void HttpEngine::begin(std::shared_ptr<Operation<T>> operation, std::function<asio::awaitable<T>()> work) {
  running_.remove_if([](const auto& one) { return one.expired(); });
  running_.push_back(operation);
  std::weak_ptr<Operation<T>> weak = operation;
  if (operation->time > Milliseconds::zero()) {
    operation->timer.expires_after(operation->time);
    operation->timer.async_wait([weak](boost::system::error_code error) {
      auto alive = weak.lock();
      if (error || !alive || alive->over) return;
      alive->timed_out = true;
      alive->signal.emit(asio::cancellation_type::terminal);
    });
  }
  auto done = [self = shared_from_this(), operation](std::exception_ptr problem, auto... value) mutable {
    operation->over = true;
    operation->timer.cancel();
    operation->by_caller.reset();
    operation->by_async.reset();
    auto shared = operation->shared;
    std::string after = fmt::format("{:.1f} s", std::chrono::duration<double>(operation->time).count());
    bool timed_out = operation->timed_out, stopped = operation->stopped;
    // Whoever waits must find the engine as its own again.
    operation.reset();
    self.reset();
    if (problem && timed_out) {
      shared->fail(std::make_exception_ptr(RequestTimeoutError("no answer in " + after)));
    } else if (problem && stopped) {
      shared->fail(std::make_exception_ptr(CallCanceledError("the call was given up")));
    } else if (problem) {
      shared->fail(std::move(problem));
    } else {
      shared->succeed(Stored<T>{std::move(value)...});
    }
  };
  asio::co_spawn(loop_->context, std::move(work),
                 asio::bind_cancellation_slot(operation->signal.slot(), std::move(done)));
  auto give_up = [weak, loop = loop_] {
    asio::post(loop->context, [weak] {
      if (auto alive = weak.lock(); alive && !alive->over) alive->stop();
    });
  };
  if (operation->over) return;
  if (operation->caller.stop_possible()) operation->by_caller.emplace(operation->caller, give_up);
  operation->by_async.emplace(operation->shared->stop().get_token(), give_up);
}

void HttpEngine::close() {
  asio::post(loop_->context, [self = shared_from_this()] {
    auto running = std::exchange(self->running_, {});
    for (const auto& one : running) {
      if (auto alive = one.lock()) alive->stop();
    }
    self->idle_.clear();
  });
}

net::ClientRequest HttpEngine::wire_request(Request&& request) const {
  net::ClientRequest wire;
  wire.method = std::move(request.method);
  wire.target = url_.base + request.path + query_text(request.query);
  if (!options_.api_key.empty()) wire.headers.set("X-API-Key", options_.api_key);
  wire.headers.set("User-Agent", "atoll-cpp/" ATOLL_VERSION);
  if (!request.body.empty()) wire.headers.set("Content-Type", request.content_type);
  for (const auto& [name, value] : request.headers) wire.headers.set(name, value);
  wire.body = std::move(request.body);
  return wire;
}

std::unique_ptr<net::ByteStream> HttpEngine::take_idle(bool surely) {
  auto now = std::chrono::steady_clock::now();
  while (!idle_.empty() && now - idle_.front().since > kIdleMax) idle_.pop_front();
  if (idle_.empty() || (surely && now - idle_.back().since > kSurelyOpen)) return nullptr;
  auto stream = std::move(idle_.back().stream);
  idle_.pop_back();
  return stream;
}

asio::awaitable<std::unique_ptr<net::ByteStream>> HttpEngine::connected() {
  atl::Result<std::unique_ptr<net::ByteStream>> stream =
      co_await net::connect(loop_->context.get_executor(), url_, net_options_);
  if (!stream) throw ConnectError(stream.error().message());
  co_return std::move(*stream);
}

asio::awaitable<Answer> HttpEngine::collected(net::HttpCall& call, const net::ClientRequest& request) {
  std::string host = url_.authority();
  value_or_throw(co_await call.start(request, host, net::RequestBody::whole));
  net::ClientResponse response = value_or_throw(co_await call.head());
  refuse_redirect(response.status, std::string(response.headers.get("Location")));
  Answer answer{response.status, {response.headers.begin(), response.headers.end()}, {}};
  while (true) {
    std::string piece = value_or_throw(co_await call.read());
    if (piece.empty()) break;
    answer.body += piece;
    if (answer.body.size() > options_.answer_bytes_max)
      throw ProtocolError(fmt::format("the answer is larger than {} bytes (ClientOptions::answer_bytes_max)",
                                      options_.answer_bytes_max));
  }
  co_return answer;
}

asio::awaitable<Answer> HttpEngine::once(const net::ClientRequest& request, bool fresh, bool repeatable,
                                         bool& sent, bool& stale) {
  std::unique_ptr<net::ByteStream> stream = fresh ? nullptr : take_idle(!repeatable);
  bool reused = stream != nullptr;
  if (!reused) stream = co_await connected();
  sent = true;
  net::HttpCall call(loop_->context.get_executor(), std::move(stream), net_options_);
  try {
    Answer answer = co_await collected(call, request);
    if (call.reusable() && idle_.size() < kIdleConnectionsMax)
      idle_.push_back({call.release(), std::chrono::steady_clock::now()});
    co_return answer;
  } catch (const ConnectionLostError&) {
    stale = reused && call.silent();
    throw;
  }
}

asio::awaitable<Answer> HttpEngine::repeated(Request request, int accepted) {
  bool repeatable = is_repeatable(request);
  bool removes = request.method == "DELETE";
  net::ClientRequest wire = wire_request(std::move(request));
  bool unsure = false;
  for (int attempt = 0, tries = 0;; ++attempt) {
    bool sent = false, stale = false;
    Answer answer;
    std::exception_ptr problem;
    try {
      answer = co_await once(wire, attempt > 0, repeatable, sent, stale);
    } catch (const ConnectError&) {
      problem = std::current_exception();
    } catch (const ConnectionLostError&) {
      problem = std::current_exception();
    }
    if (problem) {
      if (stale && repeatable && attempt == 0) continue;
      if (tries++ >= options_.retries || (sent && !repeatable)) std::rethrow_exception(problem);
      unsure = unsure || sent;
    } else {
      if (answer.status < 400 || answer.status == accepted) co_return answer;
      // The answer of an earlier try was lost, and what it should remove is gone.
      if (unsure && removes && answer.status == 404) co_return Answer{204, {}, {}};
      if (tries++ >= options_.retries || !repeatable || !is_passing(answer.status))
        throw_service_error(answer.status, answer.body);
    }
    asio::steady_timer timer(loop_->context, pause_before(attempt, answer.header("Retry-After")));
    co_await timer.async_wait(kAwait);
  }
}

Async<Answer> HttpEngine::send(Request request, CallOptions call, std::optional<Milliseconds> usual,
                               int accepted) {
  return run<Answer>([this, request = std::move(request),
                      accepted]() mutable { return repeated(std::move(request), accepted); },
                     call, usual.value_or(options_.timeout));
}

Async<std::shared_ptr<Exchange>> HttpEngine::open(Request request, Body body, CallOptions call,
                                                  std::optional<Milliseconds> usual) {
  using Opened = std::shared_ptr<Exchange>;
  auto work = [this, body](Request wanted) -> asio::awaitable<Opened> {
    net::ClientRequest wire = wire_request(std::move(wanted));
    std::unique_ptr<net::ByteStream> stream;
    for (int tries = 0; !stream; ++tries) {
      bool again = false;
      try {
        stream = co_await connected();
      } catch (const ConnectError&) {
        if (tries >= options_.retries) throw;
        again = true;
      }
      if (!again) break;
      asio::steady_timer timer(loop_->context, pause_before(tries, {}));
      co_await timer.async_wait(kAwait);
    }
    auto http =
        std::make_unique<net::HttpCall>(loop_->context.get_executor(), std::move(stream), net_options_);
    std::string host = url_.authority();
    auto how = body == Body::whole   ? net::RequestBody::whole
               : body == Body::sized ? net::RequestBody::sized
                                     : net::RequestBody::streamed;
    value_or_throw(co_await http->start(wire, host, how));
    Opened exchange = std::make_shared<HttpExchange>(shared_from_this(), std::move(http));
    co_return exchange;
  };
  return run<Opened>([work, request = std::move(request)]() mutable { return work(std::move(request)); },
                     call, usual.value_or(options_.timeout));
}

void HttpEngine::send_and_forget(Request request, std::function<void(const std::string&)> failed) {
  auto work = [](std::shared_ptr<HttpEngine> self, Request wanted) -> asio::awaitable<void> {
    co_await self->repeated(std::move(wanted), 404);
  };
  asio::co_spawn(loop_->context, work(shared_from_this(), std::move(request)),
                 [failed](std::exception_ptr problem) {
                   if (!problem || !failed) return;
                   try {
                     std::rethrow_exception(problem);
                   } catch (const std::exception& error) {
                     failed(error.what());
                   }
                 });
}

HttpExchange::HttpExchange(std::shared_ptr<HttpEngine> engine, std::unique_ptr<net::HttpCall> call)
    : engine_(std::move(engine)), http_(std::move(call)) {}

HttpExchange::~HttpExchange() {
  // Sockets belong to the loop.
  asio::post(engine_->context(), [http = std::shared_ptr<net::HttpCall>(std::move(http_)),
                                  raw = std::shared_ptr<net::ByteStream>(std::move(raw_))] {});
}

net::HttpCall& HttpExchange::http() {
  if (closed_ || !http_) throw ConnectionLostError("the connection is closed");
  return *http_;
}

net::ByteStream& HttpExchange::raw() {
  if (!raw_ && http_) raw_ = std::exchange(http_, nullptr)->release();
  if (closed_ || !raw_) throw ConnectionLostError("the connection is closed");
  return *raw_;
}

template <class T, class Step>
Async<T> HttpExchange::step(Step step, const CallOptions& call, Milliseconds usual, Way way) {
  auto guarded = [](std::shared_ptr<HttpExchange> self, Step work, Way goes) -> asio::awaitable<T> {
    struct Closing {
      HttpExchange* exchange;
      ~Closing() {
        if (!exchange) return;
        exchange->closed_ = true;
        if (exchange->raw_) exchange->raw_->abort();
      }
    } closing{self.get()};
    atl::Result<T> result = co_await work(*self);
    if (result || goes == Way::out) closing.exchange = nullptr;
    if (!result) throw_lost(result.error());
    if constexpr (!std::is_void_v<T>) co_return std::move(*result);
  };
  return engine_->run<T>([guarded, self = shared_from_this(), step, way] { return guarded(self, step, way); },
                         call, usual);
}

Async<void> HttpExchange::write(std::string bytes, CallOptions call) {
  auto work = [bytes = std::move(bytes)](HttpExchange& self) { return self.http().write(bytes); };
  return step<void>(std::move(work), call, engine_->options().timeout, Way::out);
}

Async<void> HttpExchange::finish(CallOptions call) {
  return step<void>([](HttpExchange& self) { return self.http().finish_request(); }, call,
                    engine_->options().timeout, Way::out);
}

Async<Head> HttpExchange::head(CallOptions call) {
  auto work = [](HttpExchange& self) -> Task<Head> {
    atl::Result<net::ClientResponse> response = co_await self.http().head();
    if (!response) co_return fail(std::move(response).error());
    refuse_redirect(response->status, std::string(response->headers.get("Location")));
    co_return Head{response->status, {response->headers.begin(), response->headers.end()}};
  };
  return step<Head>(work, call, engine_->options().timeout);
}

Async<std::string> HttpExchange::read(CallOptions call) {
  return step<std::string>([](HttpExchange& self) { return self.http().read(); }, call,
                           engine_->options().timeout);
}

Async<std::string> HttpExchange::read_all(CallOptions call) {
  auto work = [](HttpExchange& self) -> Task<std::string> {
    std::string whole;
    while (true) {
      CO_TRY(std::string piece, co_await self.http().read());
      if (piece.empty()) co_return whole;
      whole += piece;
      if (whole.size() > self.engine_->options().answer_bytes_max)
        co_return fail(Code::too_large, "the answer is larger than ClientOptions::answer_bytes_max");
    }
  };
  return step<std::string>(work, call, engine_->options().timeout);
}

Async<std::string> HttpExchange::read_raw(CallOptions call) {
  return step<std::string>([](HttpExchange& self) { return self.raw().read(); }, call, kForever);
}

Async<void> HttpExchange::write_raw(std::string bytes, CallOptions call) {
  auto work = [bytes = std::move(bytes)](HttpExchange& self) { return self.write_in_turn(bytes); };
  return step<void>(std::move(work), call, engine_->options().timeout);
}

// Whoever comes while another writes leaves his bytes to that one: frames of two must not mix.
Task<void> HttpExchange::write_in_turn(std::string bytes) {
  net::ByteStream& to = raw();
  if (writing_ && waiting_.size() + bytes.size() > kWaitingMax)
    co_return fail(Code::unavailable, "the service does not take what it is sent");
  waiting_ += bytes;
  if (std::exchange(writing_, true)) co_return atl::Result<void>();
  while (!waiting_.empty()) {
    auto written = co_await to.write(std::exchange(waiting_, {}));
    if (!written) {
      writing_ = false;
      co_return fail(std::move(written).error());
    }
  }
  writing_ = false;
  co_return atl::Result<void>();
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool on_client_thread() {
  return is_client_thread;
}

void throw_would_deadlock() {
  throw ConfigurationError("a blocking call on the client's own thread would wait for itself",
                           "in coroutines and their callbacks use the _async form and co_await");
}

std::string Head::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (net::equal_ignoring_case(key, name)) return value;
  }
  return {};
}

std::shared_ptr<Engine> Engine::make(ClientOptions options) {
  ended_threads();
  if (options.url.empty()) options.url = from_environment("ATOLL_URL");
  if (options.url.empty()) options.url = "http://127.0.0.1:8000";
  if (options.api_key.empty()) options.api_key = from_environment("ATOLL_API_KEY");
  atl::Result<net::Url> url = net::Url::parse(options.url);
  if (!url) {
    throw ConfigurationError(
        fmt::format("'{}' is no address of a service: {}", options.url, url.error().message()),
        "write http://HOST:PORT, https://HOST:PORT or unix:/PATH");
  }
  auto wrong = [](char c) { return c <= ' ' || c > '~'; };
  if (std::ranges::any_of(options.api_key, wrong)) {
    throw ConfigurationError("the API key holds characters that no key has",
                             "set ATOLL_API_KEY to the key alone, without spaces or line ends");
  }
  if (options.retries < 0) throw ConfigurationError("retries is a number from 0 on", "set it to 0 for none");
  return std::make_shared<HttpEngine>(std::move(options), std::move(*url));
}

}  // namespace atl::client::detail

namespace atl::client {

std::string Answer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (net::equal_ignoring_case(key, name)) return value;
  }
  return {};
}

std::string escape(std::string_view name) {
  return net::percent_encode(name);
}

}  // namespace atl::client
