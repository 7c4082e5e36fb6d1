#include "layer/host_view.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "os/file.h"

namespace atl::layer {
namespace {

namespace fs = std::filesystem;

// Names below /etc that are copied when the host has them. No file here may hold a secret on any machine: no
// pip.conf, npmrc, gitconfig, environment, shadow, ssh, or anything with a password field.
constexpr std::string_view kCopied[] = {
    "alternatives", "bash.bashrc", "ca-certificates.conf", "debian_version", "ethertypes", "fonts",
    "gai.conf", "host.conf", "inputrc", "java-17-openjdk", "java-11-openjdk", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "ld-musl-x86_64.d", "ld-musl-x86_64.path", "locale.alias", "login.defs", "lsb-release",
    "magic", "magic.mime", "matplotlibrc", "manpath.config", "matplotlibrc", "mime.types", "ImageMagick-6",
    "pam.conf", "pam.d", "perl", "protocols",
    // not its .site files, where people keep keys
    "R/Makeconf", "R/Renviron", "R/ldpaths", "R/repositories", "python3", "python3.9", "python3.10",
    "python3.11", "python3.12", "python3.13", "rpc", "security/limits.conf", "security/pam_env.conf",
    "services", "shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "vim", "xattr.conf"};

constexpr std::uintmax_t kCopiedFileBytesMax = 4 << 20;

// `nouser` is the owner of what the sandbox may not own.
constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
    "sys:x:3:3:sys:/dev:/usr/sbin/nologin\n"
    "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
    "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
    "user:x:1000:1000:user:/home/user:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr std::string_view kGroup =
    "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\ndisk:x:6:\nmail:x:8:\nsudo:x:27:user\n"
    "www-data:x:33:\nshadow:x:42:\nutmp:x:43:\nstaff:x:50:\nusers:x:100:\nuser:x:1000:\nnogroup:x:65534:\n";
constexpr std::string_view kShadow =
    "root:*:19000:0:99999:7:::\nuser:*:19000:0:99999:7:::\nnobody:*:19000:0:99999:7:::\n";
constexpr std::string_view kNsswitch =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\n"
    "services: files\nethers: files\nrpc: files\n";
constexpr std::string_view kHosts =
    "127.0.0.1\tlocalhost\n127.0.1.1\tsandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n";
// Every command of E2B's clients is a login shell: bash knows who it is without another process.
constexpr std::string_view kProfile =
    "if [ \"${UID-$(id -u)}\" -eq 0 ]; then\n"
    "  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    "else\n"
    "  PATH=$HOME/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games\n"
    "fi\nexport PATH\n"
    "if [ \"${BASH-}\" ] && [ -f /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi\n";
constexpr std::string_view kSudoers =
    "Defaults env_reset\nDefaults "
    "secure_path=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
    "root ALL=(ALL:ALL) ALL\nuser ALL=(ALL:ALL) NOPASSWD: ALL\n";

Error path_error(const std::error_code& error, std::string_view what, const fs::path& path) {
  return errno_error(error.value(), what).with_detail(path.string());
}

// Regular files that everybody may read, links, and directories; anything else is left out.
Result<void> copy_entry(const fs::path& from, const fs::path& to, int depth) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(from, error);
  if (error || depth > 8) return {};
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to, error);
    return {};
  }
  if (fs::is_directory(status)) {
    fs::create_directories(to, error);
    if (error) return fail(path_error(error, "make directory", to));
    for (const fs::directory_entry& entry : fs::directory_iterator(from, error))
      TRY(copy_entry(entry.path(), to / entry.path().filename(), depth + 1));
    return {};
  }
  const bool readable = (status.permissions() & fs::perms::others_read) != fs::perms::none;
  if (!fs::is_regular_file(status) || !readable || fs::file_size(from, error) > kCopiedFileBytesMax)
    return {};
  auto text = os::read_file(from.string(), kCopiedFileBytesMax);
  if (!text) return {};
  return os::write_file(to.string(), *text, 0644);
}

Result<void> copy_etc(const fs::path& etc) {
  for (const std::string_view name : kCopied) {
    const fs::path to = etc / name;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    TRY(copy_entry(fs::path("/etc") / name, to, 0));
  }
  return {};
}

Result<void> write_etc(const fs::path& etc) {
  const auto put = [&](const char* name, std::string_view text, mode_t mode) -> Result<void> {
    const std::string path = etc / name;
    ::unlink(path.c_str());
    TRY(os::write_file(path, text, 0644));
    ::chmod(path.c_str(), mode);
    return {};
  };
  TRY(put("passwd", kPasswd, 0644));
  TRY(put("group", kGroup, 0644));
  TRY(put("shadow", kShadow, 0640));
  TRY(put("nsswitch.conf", kNsswitch, 0644));
  TRY(put("hosts", kHosts, 0644));
  TRY(put("hostname", "sandbox\n", 0644));
  TRY(put("resolv.conf", "", 0644));
  TRY(put("profile", kProfile, 0644));
  TRY(put("sudoers", kSudoers, 0440));
  TRY(put("timezone", "Etc/UTC\n", 0644));
  TRY(put("environment", "", 0644));
  TRY(put("fstab", "", 0644));
  if (::symlink("/usr/share/zoneinfo/Etc/UTC", (etc / "localtime").c_str()) < 0 && errno != EEXIST)
    return fail(errno_error(errno, "link the skeleton's time zone"));
  if (::symlink("/proc/self/mounts", (etc / "mtab").c_str()) < 0 && errno != EEXIST)
    return fail(errno_error(errno, "link the skeleton's mtab"));
  if (::symlink("../usr/lib/os-release", (etc / "os-release").c_str()) < 0 && errno != EEXIST)
    return fail(errno_error(errno, "link the skeleton's os-release"));
  return {};
}

bool show_usr_local(UsrLocal choice) {
  if (choice != UsrLocal::automatic) return choice == UsrLocal::show;
  for (const char* name : {"python3", "node"}) {
    const std::string program = name;
    if (!os::exists("/usr/bin/" + program) && os::exists("/usr/local/bin/" + program)) return true;
  }
  return false;
}

// False where the filesystem has no such attributes (user ones on tmpfs: before Linux 6.6).
Result<bool> make_opaque(const std::string& path, OverlayAttributes attributes) {
  const os::Fd directory = TRY(os::open(path.c_str(), O_RDONLY | O_DIRECTORY));
  if (auto marked = mark_opaque(directory.get(), attributes); marked || attributes != OverlayAttributes::user)
    return marked ? Result<bool>(true) : fail(std::move(marked).error());
  return false;
}

// An empty directory over the one below it; where that cannot be said, a mark that there is none.
Result<bool> cover(const std::string& path, OverlayAttributes attributes) {
  TRY(os::make_directory(path));
  if (TRY(make_opaque(path, attributes))) return true;
  if (::rmdir(path.c_str()) < 0 || ::mknod(path.c_str(), S_IFCHR, 0) < 0)
    return fail(errno_error(errno, "cover a directory"));
  return false;
}

constexpr const char* kTopLevel[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

}  // namespace

std::vector<HostPart> host_parts() {
  std::vector<HostPart> parts{{"/usr", "usr"}};
  for (const char* name : kTopLevel) {
    std::error_code error;
    const fs::path path = fs::path("/") / name;
    if (fs::is_directory(fs::symlink_status(path, error))) parts.push_back({path.string(), name});
  }
  return parts;
}

Result<void> build_skeleton(const std::string& target) {
  const fs::path root = target;
  for (const char* dir : {"dev",  "etc",  "home",      "home/user", "media",   "mnt",     "opt",
                          "proc", "root", "run",       "run/lock",  "srv",     "sys",     "tmp",
                          "usr",  "var",  "var/cache", "var/lib",   "var/log", "var/tmp", "var/mail"})
    TRY(os::make_directory((root / dir).string()));
  for (const char* name : kTopLevel) {
    std::error_code error;
    const fs::path host = fs::path("/") / name;
    const fs::file_status status = fs::symlink_status(host, error);
    if (fs::is_symlink(status))
      fs::copy_symlink(host, root / name, error);
    else if (fs::is_directory(status))
      TRY(os::make_directory((root / name).string()));
  }
  if (::symlink("/run", (root / "var/run").c_str()) < 0 && errno != EEXIST)
    return fail(errno_error(errno, "link the skeleton's run directory"));
  TRY(copy_etc(root / "etc"));
  TRY(write_etc(root / "etc"));
  ::chmod((root / "root").c_str(), 0700);
  for (const char* dir : {"tmp", "var/tmp", "run/lock"}) ::chmod((root / dir).c_str(), 01777);
  for (const char* name : {".bashrc", ".profile", ".bash_logout"})
    TRY(copy_entry(fs::path("/etc/skel") / name, root / "home/user" / name, 0));
  // As the distribution gives them to a new machine; root's own here are the operator's.
  for (const std::string name : {".bashrc", ".profile"})
    TRY(copy_entry("/usr/share/base-files/dot" + name, root / "root" / name, 0));
  for (const char* name : {"home/user", "home/user/.bashrc", "home/user/.profile", "home/user/.bash_logout"})
    if (::lchown((root / name).c_str(), 1000, 1000) < 0 && errno != ENOENT && errno != EPERM &&
        errno != EINVAL)
      return fail(errno_error(errno, "own the skeleton's home"));
  if (::lchown((root / "etc/shadow").c_str(), 0, 42) < 0 && errno != EPERM && errno != EINVAL)
    return fail(errno_error(errno, "own the skeleton's passwords"));
  return {};
}

Result<void> build_usr_cover(const std::string& target, const HostViewOptions& options,
                             OverlayAttributes attributes) {
  const fs::path root = target;
  for (const char* dir : {"src", "etc"}) TRY(cover((root / dir).string(), attributes));
  if (show_usr_local(options.usr_local)) return {};
  const fs::path local = root / "local";
  if (!TRY(cover(local.string(), attributes))) return {};
  for (const char* dir : {"bin", "etc", "games", "include", "lib", "sbin", "share", "src"})
    TRY(os::make_directory((local / dir).string()));
  return {};
}

}  // namespace atl::layer
