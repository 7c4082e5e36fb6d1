#include "cli/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/utf8.h"

namespace atl::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;
sigset_t waiting_mask;  // the signals blocked while waiting for a key; SIGINT is not one of them

// One character from the terminal. Ours, because libedit's own goes on reading after a signal.
int read_character(EditLine*, wchar_t* out) {
  unsigned char bytes[4] = {};
  for (int have = 0, need = 1; have < need;) {
    // SIGINT is let through only here: one that came before must not leave us waiting.
    pollfd input{STDIN_FILENO, POLLIN, 0};
    int ready = interrupted ? -1 : ::ppoll(&input, 1, nullptr, &waiting_mask);
    if (interrupted) return -1;
    if (ready < 0 && errno == EINTR) continue;
    ssize_t n = ::read(STDIN_FILENO, bytes + have, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return static_cast<int>(n);
    if (have++ == 0) need = static_cast<int>(utf8::announced_length(static_cast<char>(bytes[0])));
  }
  int length = static_cast<int>(utf8::announced_length(static_cast<char>(bytes[0])));
  std::uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7FU >> length);
  for (int i = 1; i < length; ++i) code = code << 6 | (bytes[i] & 0x3FU);
  *out = static_cast<wchar_t>(code);
  return 1;
}

std::string shared_start(const std::vector<std::string>& words) {
  std::string out = words.front();
  for (const std::string& word : words)
    out.resize(static_cast<std::size_t>(
        std::mismatch(out.begin(), out.end(), word.begin(), word.end()).first - out.begin()));
  return out;
}

}  // namespace

struct LineEditor::Body {
  Complete complete;
  EditLine* line = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string prompt;

  static Body& of(EditLine* line) {
    void* data = nullptr;
    el_get(line, EL_CLIENTDATA, &data);
    return *static_cast<Body*>(data);
  }
  static char* prompt_of(EditLine* line) { return of(line).prompt.data(); }
  static unsigned char tab(EditLine* line, int) { return of(line).complete_word(); }
  unsigned char complete_word();
  void show(const std::vector<std::string>& words) const;
};

// One candidate is put in; of several what they share; if that is nothing new, they are listed.
unsigned char LineEditor::Body::complete_word() {
  const LineInfo* info = el_line(line);
  std::string_view before(info->buffer, static_cast<std::size_t>(info->cursor - info->buffer));
  Candidates found = complete(before);
  if (found.words.empty()) return CC_ERROR;
  std::size_t typed = before.size() - found.word;
  std::string text = shared_start(found.words);
  bool one = found.words.size() == 1;
  if (one && !text.ends_with('/')) text += ' ';
  if (text.size() < typed || (!one && text == before.substr(found.word))) {
    show(found.words);
    return CC_REDISPLAY;
  }
  el_deletestr(line, static_cast<int>(typed));
  return el_insertstr(line, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

void LineEditor::Body::show(const std::vector<std::string>& words) const {
  std::string text = "\r\n";
  for (const std::string& word : words) text += word + "  ";
  text += "\r\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

LineEditor::LineEditor(Complete complete) : body_(std::make_unique<Body>()) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  body_->complete = std::move(complete);
  body_->history = history_init();
  history(body_->history, &body_->event, H_SETSIZE, 1000);
  history(body_->history, &body_->event, H_SETUNIQUE, 1);
  EditLine* line = body_->line = el_init("atoll", stdin, stdout, stderr);
  el_set(line, EL_CLIENTDATA, body_.get());
  el_set(line, EL_PROMPT, &Body::prompt_of);
  el_set(line, EL_EDITOR, "emacs");
  el_set(line, EL_HIST, history, body_->history);
  el_set(line, EL_GETCFN, read_character);
  el_set(line, EL_ADDFN, "complete", "Complete a command or a path", &Body::tab);
  el_set(line, EL_BIND, "^I", "complete", nullptr);
  el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(line, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
}

LineEditor::~LineEditor() {
  el_end(body_->line);
  history_end(body_->history);
}

void LineEditor::interrupt() {
  interrupted = 1;
}

LineEditor::Got LineEditor::read(const std::string& prompt, std::string& line) {
  interrupted = 0;
  body_->prompt = prompt;
  int count = 0;
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &block, &waiting_mask);
  el_set(body_->line, EL_PREP_TERM,
         1);  // before the prompt shows: what is typed then must not be the terminal's
  const char* text = el_gets(body_->line, &count);
  ::pthread_sigmask(SIG_SETMASK, &waiting_mask, nullptr);
  if (interrupted) {
    interrupted = 0;
    el_reset(body_->line);
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return Got::interrupted;
  }
  if (!text || count <= 0) return Got::end;
  line.assign(text, static_cast<std::size_t>(count));
  if (line.ends_with('\n')) line.pop_back();
  return Got::line;
}

void LineEditor::remember(const std::string& text) {
  if (text.find_first_not_of(" \t\n") == std::string::npos) return;
  std::string entry = text;
  while (entry.ends_with('\n')) entry.pop_back();
  history(body_->history, &body_->event, H_ENTER, entry.c_str());
}

}  // namespace atl::cli
