"""The N cases of the list of hostile cases, by number. Each function is a case; what it asserts is the expectation."""
import os
import socket
import struct
import subprocess
import threading
import time

from harness import ROOT, SLOW, daemon, run

MANY = ("--processes", "200")
CASES = []


def case(number):
    def add(function):
        CASES.append((number, function))
        return function
    return add


def python(code, *arguments, options=(), **more):
    return run("python3", "-c", code, *arguments, options=options, **more)


def ended(ran, word):
    assert word in ran.err.decode(), f"expected {word}, status {ran.status}: {ran.err!r} {ran.out[-300:]!r}"


# Resources

@case("1 fork bomb, shell")
def _(programs):
    ran = run("bash", "-c", ":(){ :|:& };:; wait; sleep 10")
    ended(ran, "too_many_processes")
    assert ran.seconds < 30 * SLOW, ran.seconds


@case("1 fork bomb, C")
def _(programs):
    ran = run("/hostile/fork_bomb", options=programs.option())
    ended(ran, "too_many_processes")
    assert ran.seconds < 30 * SLOW, ran.seconds


@case("2 thread bomb")
def _(programs):
    ran = python("""
import threading, time
n = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start(); n += 1
except RuntimeError: print('stopped at', n, flush=True)
import os; os._exit(0)
""")
    assert ran.status == 0 and b"stopped at" in ran.out, (ran.status, ran.out, ran.err)
    assert int(ran.out.split()[-1]) <= 5 * 16 + 16, ran.out


@case("3 clone bomb")
def _(programs):
    ran = run("/hostile/vfork_bomb", options=programs.option())
    ended(ran, "too_many_processes")


@case("4 memory bomb")
def _(programs):
    ran = python("x = []\nwhile True: x.append(bytearray(1 << 20))", options=("--memory", "96M", "--disk", "32M"))
    ended(ran, "out_of_memory")
    assert ran.status == 137


@case("4 out of memory stays with the one that took it")
def _(programs):
    ran = run("bash", "-c", "python3 -c 'x=bytearray(400<<20)'; echo survived", options=("--memory", "96M", "--disk", "32M"))
    assert b"survived" in ran.out, (ran.out, ran.err)


@case("5 shared-memory bomb")
def _(programs):
    ran = run("bash", "-c", "head -c 300M /dev/zero > /dev/shm/x; wc -c < /dev/shm/x", options=("--disk", "50M"))
    assert b"No space left" in ran.err and int(ran.out) <= 50 << 20, (ran.out, ran.err)


@case("6 memory through memfd")
def _(programs):
    ran = python("import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))",
                 options=("--memory", "96M", "--disk", "32M"))
    ended(ran, "out_of_memory")


@case("6 memory through System V segments")
def _(programs):
    ran = python("""
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
while True:
    i = libc.shmget(0, 16 << 20, 0o1600)
    if i < 0: print('refused'); break
    p = libc.shmat(i, None, 0)
    ctypes.memset(p, 1, 16 << 20)
""", options=("--memory", "96M", "--disk", "32M"))
    assert b"refused" in ran.out or b"out_of_memory" in ran.err, (ran.status, ran.out, ran.err)


@case("6 memory through pipes and socket buffers")
def _(programs):
    ran = python("""
import os, socket, fcntl
held = []
try:
    while True:
        r, w = os.pipe(); os.set_blocking(w, False)
        try: fcntl.fcntl(w, 1031, 1 << 20)
        except OSError: pass
        try:
            while os.write(w, bytes(65536)): pass
        except BlockingIOError: pass
        a, b = socket.socketpair(); a.setblocking(False)
        try:
            while a.send(bytes(65536)): pass
        except BlockingIOError: pass
        held += [r, w, a, b]
except OSError as e: print('stopped', e.errno)
""", options=("--memory", "96M", "--disk", "32M"))
    assert b"stopped" in ran.out or b"out_of_memory" in ran.err, (ran.status, ran.out, ran.err)


@case("8 disk full")
def _(programs):
    ran = run("bash", "-c", "head -c 200M /dev/zero > big; wc -c < big; echo after > small || rm big; echo after > small && cat small",
              options=("--disk", "40M"))
    assert b"No space left" in ran.err and b"after" in ran.out, (ran.out, ran.err)
    assert int(ran.out.split()[0]) <= 40 << 20


@case("8 disk full, on a disk image")
def _(programs):
    ran = run("bash", "-c", "head -c 400M /dev/zero > big; wc -c < big; df -k / | tail -1",
              options=("--disk", "200M", "--memory", "128M"))
    assert b"No space left" in ran.err and int(ran.out.split()[0]) <= 200 << 20, (ran.out, ran.err)


@case("9 fallocate and sparse files")
def _(programs):
    ran = python("""
import os
f = open('x', 'wb')
try: os.posix_fallocate(f.fileno(), 0, 500 << 20); print('ALLOCATED')
except OSError as e: print('errno', e.errno)
f.truncate(1 << 40); print('sparse', os.stat('x').st_blocks < 300000)
""", options=("--disk", "40M"))
    assert b"errno 28" in ran.out and b"sparse True" in ran.out, (ran.out, ran.err)


@case("10 inodes full")
def _(programs):
    ran = python("""
import os
n = 0
try:
    while True:
        os.close(os.open('f%d' % n, os.O_CREAT | os.O_WRONLY)); n += 1
except OSError as e: print(n, e.errno)
""", options=("--time", "60"))
    count, error = ran.out.split()
    assert error == b"28" and int(count) <= 100_000 + getattr(programs, "own_inodes", 0), ran.out


@case("11 very deep tree")
def _(programs):
    ran = python("""
import os
n = 0
try:
    for n in range(2500):
        os.mkdir('d'); os.chdir('d')
except OSError as e: pass
print(n)
""", options=("--time", "60"))
    assert ran.status == 0 and int(ran.out) > 1000, (ran.out, ran.err)


@case("13 descriptors run out")
def _(programs):
    ran = python("""
held = []
try:
    while True: held.append(open('/dev/null'))
except OSError as e: print(len(held), e.errno)
""")
    assert int(ran.out.split()[0]) < 1024 and ran.out.split()[1] == b"24", ran.out


@case("14 CPU hogs share one core")
def _(programs):
    ran = python("""
import os, time
for _ in range(3): os.fork()
t, before = time.monotonic(), sum(os.times()[:2])
while time.monotonic() - t < 1.5: pass
print('%.2f' % (sum(os.times()[:2]) - before), flush=True)
""", options=("--processes", "20", "--cpus", "0.5"))
    used = sum(float(line) for line in ran.out.split())
    assert used < 1.5 * 0.5 * 1.6, used


@case("15 CPU hog that ignores signals")
def _(programs):
    ran = python("""
import signal
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
""", options=("--time", "1"))
    assert ran.status == 124 and ran.seconds < 4, (ran.status, ran.seconds)


@case("17 output flood")
def _(programs):
    ran = run("bash", "-c", "yes | head -c 300M", options=("--time", "100"), timeout=120)
    assert len(ran.out) == 300 << 20, (len(ran.out), ran.err)


@case("18 output that nobody reads")
def _(programs):
    ran = run("yes", options=("--time", "20"), read=False)
    assert 0 < ran.peak_kib < 200_000, ran.peak_kib
    assert ran.status == 143 and ran.seconds < 8, (ran.status, ran.seconds)


@case("signals have their ordinary meaning")
def _(programs):
    ran = run("bash", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status")
    assert ran.out.count(b"0000000000000000") == 2, ran.out


@case("19 one long line of arbitrary bytes")
def _(programs):
    ran = python("import sys, random\nsys.stdout.buffer.write(bytes(range(256)).replace(b'\\n', b'') * 100000)")
    assert len(ran.out) == 255 * 100000 and ran.out[:4] == b"\x00\x01\x02\x03", len(ran.out)


@case("20 orphans are reaped")
def _(programs):
    ran = python("""
import os, time, glob
for _ in range(400):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.wait()
time.sleep(0.5)
print(sum(1 for p in glob.glob('/proc/[0-9]*/stat') if ') Z ' in open(p).read()))
""", options=MANY)
    assert ran.out.strip() == b"0", (ran.out, ran.err)


@case("21 daemon that outlives its command")
def _(programs):
    ran = run("bash", "-c", "(setsid sleep 1000 </dev/null >/dev/null 2>&1 &) ; echo started")
    assert ran.status == 0 and b"started" in ran.out


@case("22 crashes leave no core")
def _(programs):
    ran = run("bash", "-c", "ulimit -c; python3 -c 'import ctypes; ctypes.string_at(0)'; ls -A | grep -c core; exit 0")
    lines = ran.out.split()
    assert lines[0] == b"0" and lines[-1] == b"0", ran.out


# The kernel's surface

# Nothing but a refusal will do for these: an error from deeper in the kernel would mean that it was reached.
STRICT = {"EPERM", "ENOSYS", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT"}


@case("6 objects of the kernel")
def _(programs):
    ran = python("""
import select, socket, mmap
kept = []
try:
    while True: kept.append(select.epoll())
except OSError as error: print('epoll', error.errno, len(kept) <= 1024)
kept.clear()
try: mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000).write(b'x' * (64 << 20)); print('huge DONE')
except OSError as error: print('huge', error.errno)
""", options=("--memory", "64M"))
    assert b"epoll 24 True" in ran.out and b"huge DONE" not in ran.out, (ran.out, ran.err)


@case("7 no swap to thrash")
def _(programs):
    ran = python("""
blocks = []
while True:
    blocks.append(bytearray(b'x') * (8 << 20))
    for block in blocks: block[::4096] = b'y' * len(block[::4096])
""", options=("--memory", "96M"))
    ended(ran, "out_of_memory")


@case("16 I/O storm")
def _(programs):
    # On a disk image, so that it really is a disk that is stormed; the neighbour is asked meanwhile and afterwards.
    ran = python("""
import os, time
until = time.monotonic() + 3
written = 0
while time.monotonic() < until:
    fd = os.open('storm', os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    for _ in range(8): written += os.write(fd, b'x' * (1 << 20)); os.fsync(fd)
    os.close(fd)
print('written', written)
""", options=("--memory", "64M", "--disk", "128M"))
    assert ran.status == 0 and b"written" in ran.out, (ran.status, ran.err)


@case("22 crashes do not flood the host's log")
def _(programs):
    def lines():
        return subprocess.run(["dmesg"], capture_output=True).stdout.count(b"segfault")
    before = lines()
    ran = run("bash", "-c", "for i in $(seq 100); do python3 -c 'import ctypes; ctypes.string_at(0)' & wait $!; done 2>/dev/null; echo end",
              options=("--time", "60"))
    assert b"end" in ran.out or ran.status == 124, (ran.status, ran.err)
    assert lines() - before < 90, "each crash is a line of the host's log"


@case("23 timers and watches")
def _(programs):
    ran = python("""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
timer, count = ctypes.c_void_p(), 0
while count < 100000 and libc.timer_create(1, None, ctypes.byref(timer)) == 0: count += 1
print('timers', count < 100000)
with open('/dev/random', 'rb') as random: print('random', len(random.read(1 << 20)))
fd = libc.inotify_init1(0)
watches = 0
for i in range(200000):
    os.makedirs('d', exist_ok=True)
    if libc.inotify_add_watch(fd, b'/proc/self/fd', 2) < 0: break
    watches += 1
print('end', flush=True)
""")
    assert b"timers True" in ran.out and b"random 1048576" in ran.out and b"end" in ran.out, (ran.out, ran.err)


@case("39 affinity and idle classes take nothing from others")
def _(programs):
    ran = python("""
import os
print('cpus', len(os.sched_getaffinity(0)))
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    try: os.sched_setscheduler(0, policy, os.sched_param(1)); print('DONE', policy)
    except OSError as error: print('refused')
try: os.nice(-5); print('DONE nice')
except OSError: print('refused')
""")
    assert b"DONE" not in ran.out and ran.out.count(b"refused") == 3, ran.out


def refused_all(ran):
    lines = [line.split() for line in ran.lines() if line]
    assert len(lines) > 50, (ran.status, ran.out[-200:], ran.err[-500:])
    bad = [line for line in lines if line[1] not in STRICT]
    assert not bad, bad


@case("24-39 system calls, as user")
def _(programs):
    refused_all(run("python3", "/hostile/inside.py", options=programs.option()))


@case("24-39 system calls, as root inside")
def _(programs):
    refused_all(run("python3", "/hostile/inside.py", options=(*programs.option(), "--user", "root")))


@case("24-39 system calls, with sudo")
def _(programs):
    refused_all(run("sudo", "-n", "python3", "/hostile/inside.py", options=(*programs.option(), "--sudo", *MANY)))


@case("28 set-uid programs give nothing")
def _(programs):
    ran = run("bash", "-c", "cp /bin/bash /tmp/b; chmod 4755 /tmp/b; /tmp/b -p -c 'id -u'; sudo -n true; echo $?; grep NoNewPrivs /proc/self/status")
    assert b"0\n" != ran.out[:2] and b"NoNewPrivs:\t1" in ran.out, (ran.out, ran.err)


@case("28 sudo inside where it is allowed")
def _(programs):
    ran = run("sudo", "-n", "bash", "-c", "id -u; grep CapEff /proc/self/status; touch /usr/bin/new && echo written",
              options=("--sudo", *MANY))
    assert ran.out.startswith(b"0\n") and b"written" in ran.out, (ran.out, ran.err)


@case("33 other system-call ABIs")
def _(programs):
    ran = run("/hostile/abi", options=programs.option())
    assert ran.status == 0 and ran.out == b"int80 refused\nx32 refused\n", (ran.status, ran.out)


@case("34 typing into the terminal")
def _(programs):
    ran = run("/hostile/tiocsti", options=(*programs.option(), "--pty"))
    assert ran.out.count(b"refused") == 4 and b"RAN" not in ran.out, ran.out


@case("24 signals end at the wall")
def _(programs):
    host = subprocess.Popen(["sleep", "1000"])
    try:
        ran = python("""
import os, signal, sys
for number in (int(sys.argv[1]), int(sys.argv[2])):
    for target in (number, -number):
        try: os.kill(target, signal.SIGKILL); print('SENT', target)
        except OSError as error: print('no', error.errno)
sent = 0
for number in range(2, 70000):
    try: os.kill(number, 0); sent += number != os.getpid()
    except OSError: pass
print('others', sent, flush=True)
try: os.kill(-1, signal.SIGKILL)
except ProcessLookupError: pass
print('end')
""", str(host.pid), str(os.getpid()), options=("--user", "root"))
        assert b"SENT" not in ran.out and ran.out.count(b"no 3") == 4, ran.out
        assert b"others 0" in ran.out and b"end" in ran.out, ran.out
        assert host.poll() is None, "a process of the host was ended"
    finally:
        host.kill()
        host.wait()


@case("37 programs that exist in memory only have the same walls")
def _(programs):
    ran = python("""
import os
fd = os.memfd_create('x', 0)
os.write(fd, open('/usr/bin/grep', 'rb').read())
os.execve(fd, ['grep', '-E', 'NoNewPrivs|Seccomp:|CapEff', '/proc/self/status'], {})
""")
    assert b"NoNewPrivs:\t1" in ran.out and b"Seccomp:\t2" in ran.out and b"CapEff:\t0000000000000000" in ran.out, (ran.out, ran.err)


@case("38 one that hides, hears nothing and takes the guest's name")
def _(programs):
    ran = python("""
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0); libc.prctl(15, b'atoll-guest'); libc.prctl(36, 1)
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0: os.setsid()
print('hidden', flush=True)
while True: time.sleep(1000)
""", options=("--time", "1"), timeout=30)
    ended(ran, "timed_out")
    assert b"hidden" in ran.out and ran.seconds < 20 * SLOW, (ran.out, ran.seconds)


@case("39 priority")
def _(programs):
    ran = python("import os\ntry: os.nice(-5); print('DONE')\nexcept OSError as e: print(e.errno)")
    assert ran.out.strip() in (b"1", b"13"), ran.out


# What can be learned

@case("40 processes of others")
def _(programs):
    ran = run("bash", "-c", "ls -d /proc/[0-9]* | wc -l; tr '\\0' '\\n' < /proc/1/environ; cat /proc/*/cmdline | tr '\\0' ' '")
    assert int(ran.out.split()[0]) < 10 and b"host-secret" not in ran.out and b"build" not in ran.out, ran.out


@case("41 /proc entries that act or tell")
def _(programs):
    names = "kcore kallsyms keys timer_list kmsg slabinfo iomem modules cmdline config.gz sysrq-trigger sched_debug"
    ran = run("bash", "-c", f"for n in {names}; do [ -e /proc/$n ] && timeout 2 head -c 100 /proc/$n | wc -c; done;"
              "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/drop_caches /proc/sysrq-trigger"
              " /proc/sys/net/ipv4/ip_forward; do (echo 1 > $f) 2>/dev/null && echo WROTE $f; done; echo end",
              options=("--user", "root"))
    words = ran.out.split()
    assert b"WROTE" not in ran.out and all(word == b"0" for word in words[:-1]), (ran.out, ran.err)


@case("42 /sys")
def _(programs):
    ran = run("bash", "-c", "ls -A /sys | wc -l; ls -A /boot /lost+found 2>/dev/null | wc -l")
    assert ran.out.split()[0] == b"0", ran.out


@case("43 environment of the host")
def _(programs):
    ran = run("env")
    assert b"host-secret" not in ran.out and b"ATOLL" not in ran.out, ran.out


@case("44 inherited descriptors")
def _(programs):
    secret = os.open("/etc/passwd", os.O_RDONLY)
    ran = python("import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))",
                 pass_fds=(secret,))
    os.close(secret)
    assert ran.out.strip() == b"[0, 1, 2]", ran.out


@case("45 working directory")
def _(programs):
    ran = run("bash", "-c", "readlink /proc/self/cwd; cd /proc/self/cwd/../../../..; pwd -P; ls / | tr '\\n' ' '; readlink /proc/1/root")
    assert ran.out.startswith(b"/home/user\n/\n") and b"work" not in ran.out.split(b"\n")[2], ran.out


@case("45 out of a chroot and further up")
def _(programs):
    ran = python("""
import os
os.mkdir('/tmp/c'); top = os.open('/', os.O_RDONLY)
os.chroot('/tmp/c'); os.fchdir(top)
for _ in range(64): os.chdir('..')
os.chroot('.')
print(sorted(os.listdir('/')))
""", options=("--user", "root"))
    assert b"'home'" in ran.out and b"skel" not in ran.out and b"lower" not in ran.out and b"upper" not in ran.out, (ran.out, ran.err)


@case("46 the guest's own program")
def _(programs):
    ran = run("bash", "-c", "echo x > /proc/1/exe; echo x > /proc/self/exe; cat /proc/1/mem 2>/dev/null | wc -c; echo end",
              options=("--user", "root"))
    assert b"end" in ran.out and (b"Permission denied" in ran.err or b"Text file busy" in ran.err or b"Operation not" in ran.err), ran.err


@case("47 nothing of an earlier sandbox")
def _(programs):
    run("bash", "-c", "echo left > /tmp/left; echo left > /dev/shm/left; ipcmk -M 4096 >/dev/null; echo left > ~/left; echo x >> ~/.bashrc")
    ran = run("bash", "-c", "ls -A /tmp /dev/shm ~ ; ipcs -m | grep -c 0x; grep -c '^x$' ~/.bashrc")
    assert b"left" not in ran.out and ran.out.split()[-2:] == [b"0", b"0"], ran.out


@case("49 names and ids of its own")
def _(programs):
    command = ("bash", "-c", "hostname; cat /proc/sys/kernel/random/boot_id /etc/machine-id; date +%Z")
    one, other = run(*command).out.split(), run(*command).out.split()
    host_boot = open("/proc/sys/kernel/random/boot_id", "rb").read().strip()
    assert one[0] == b"sandbox" and one[3] == b"UTC" and host_boot not in (one[1], other[1])
    assert one[1] != other[1] and one[2] != other[2] and len(one[2]) == 32


@case("50 randomness")
def _(programs):
    command = "import random, os, uuid\nprint(random.random(), os.urandom(8).hex(), uuid.uuid4(), hash('x'), id(object()))"
    one, other = python(command).out.split(), python(command).out.split()
    assert all(a != b for a, b in zip(one[:4], other[:4])), (one, other)


def settled(served):
    """Open descriptors once the pools are filled: each ready sandbox has some."""
    deadline, seen = time.time() + 60, []
    while time.time() < deadline and len(set(seen[-4:])) != 1 or len(seen) < 4:
        seen.append(served.standing()[0])
        time.sleep(0.4)
    return seen[-1]


@case("47 nothing of an earlier one in what a pool hands out")
def _(programs):
    with daemon() as served:
        before = settled(served)
        for _round in range(4):
            first = served.session(environment="host")
            served.shell(first, "echo left > /tmp/left; echo left > /dev/shm/left; echo left > ~/left; ipcmk -M 4096; "
                                "echo 'echo left' >> ~/.bashrc; setsid sleep 1000 >/dev/null 2>&1 & echo done")
            served.end(first)
            second = served.session(environment="host")
            seen = served.shell(second, "ls -A /tmp /dev/shm ~; cat ~/.bashrc | grep -c 'echo left'; ps -e | grep -c sleep; "
                                        "ipcs -m | grep -c 0x")
            assert "left" not in seen and seen.split()[-3:] == ["0", "0", "0"], seen
            served.end(second)
        assert settled(served) <= before + 16, (before, served.standing())


@case("50 randomness of two that came from the same place")
def _(programs):
    code = "import random, os, uuid\nprint(random.random(), os.urandom(8).hex(), uuid.uuid4(), hash('x'))"
    with daemon() as served:
        said = []
        for _round in range(2):
            session = served.session()
            answer = served.ok("POST", f"/api/sessions/{session}/execute", {"code": code, "language": "python"})
            said.append(str(answer["stdout"]).split())
            served.end(session)
    assert len(said[0]) >= 3 and all(a != b for a, b in zip(said[0][:3], said[1][:3])), said


@case("52 links and pipes where the host reads and writes")
def _(programs):
    with daemon() as served:
        session = served.session()
        served.shell(session, "ln -s /etc/hostname link; ln -s /etc out; mkfifo pipe; ln -s /dev/zero zero; ln -s loop loop")
        files = f"/api/sessions/{session}/files?path="
        status, seen = served.ask("GET", files + "/home/user/link")
        assert status == 200 and seen.strip() == b"sandbox", (status, seen)
        host = open("/etc/passwd", "rb").read()
        status, _answer = served.ask("PUT", files + "/home/user/out/passwd", raw=b"owned")
        assert open("/etc/passwd", "rb").read() == host, "the host's file was written"
        for name in ("pipe", "zero", "loop", "out/../../../../../../etc/shadow"):
            status, seen = served.ask("GET", files + "/home/user/" + name)
            assert status >= 400 or b"root:" not in seen[:200], (name, status)
        assert served.shell(session, "echo alive").strip() == "alive"
        served.end(session)


@case("host files are not there")
def _(programs):
    here = str(ROOT)
    ran = run("bash", "-c", f"ls {here} /root /var/lib/dpkg /usr/local/bin /etc/ssh 2>&1; cat /etc/shadow; cat /etc/passwd | wc -l",
              options=("--user", "root"))
    host = open("/etc/shadow").read().split("\n")[0].split(":")[1]
    assert host in ("*", "!", "") or host.encode() not in ran.out
    assert b"CMakeLists" not in ran.out and b"docker" not in ran.out, ran.out


# Files

@case("54 hard link to a protected file")
def _(programs):
    ran = run("bash", "-c", "ln /etc/shadow ~/s; cat ~/s; ln /usr/bin/sudo ~/sudo && ~/sudo -n id -u; echo end")
    assert b"root:" not in ran.out and ran.out.endswith(b"end\n") and b"0\nend" not in ran.out, ran.out


@case("58 overlay markers cannot be forged")
def _(programs):
    ran = run("bash", "-c", "mknod /tmp/w c 0 0; python3 -c \"import os; os.setxattr('/tmp', 'trusted.overlay.opaque', b'y')\"; rm -rf /usr/bin/env; ls /usr/bin/env; echo end",
              options=("--user", "root", *MANY))
    assert b"end" in ran.out and ran.err.count(b"not permitted") + ran.err.count(b"Function not implemented") >= 1, ran.err
    assert os.path.exists("/usr/bin/env")


@case("60 absurd sizes and times")
def _(programs):
    ran = python("""
import os
f = open('x', 'wb')
try: f.truncate((1 << 63) - 1); print('truncated')
except OSError as e: print('errno', e.errno)
os.utime('x', (-1e10, 1e15)); print('ok')
""")
    assert ran.out.endswith(b"ok\n"), (ran.out, ran.err)


# Network

@case("64-67 no way out")
def _(programs):
    server = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0atoll-hostile-test")
    abstract.listen()
    ran = python("""
import socket, sys
def attempt(name, family, address):
    s = socket.socket(family); s.settimeout(2)
    try: s.connect(address); print(name, 'CONNECTED')
    except OSError as e: print(name, 'no', e.errno)
attempt('host-loopback', socket.AF_INET, ('127.0.0.1', int(sys.argv[1])))
attempt('metadata', socket.AF_INET, ('169.254.169.254', 80))
attempt('internet', socket.AF_INET, ('1.1.1.1', 53))
attempt('ipv6', socket.AF_INET6, ('2606:4700:4700::1111', 53))
attempt('abstract', socket.AF_UNIX, '\\0atoll-hostile-test')
attempt('docker', socket.AF_UNIX, '/var/run/docker.sock')
try: print('dns', socket.getaddrinfo('example.com', 80))
except OSError as e: print('dns no')
s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); print('own-loopback works')
""", str(server.getsockname()[1]), timeout=40)
    server.close()
    abstract.close()
    assert b"CONNECTED" not in ran.out and ran.out.count(b"no") >= 7 and b"own-loopback works" in ran.out, (ran.out, ran.err)


@case("66 abstract sockets of a neighbour")
def _(programs):
    from harness import ATOLL
    other = subprocess.Popen([ATOLL, "run", "--policy", "off", "--", "python3", "-c",
                              "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('\\0atoll-neighbour'); s.listen()\n"
                              "print('bound', flush=True)\ninput()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"bound\n"
        ran = python("""
import socket
s = socket.socket(socket.AF_UNIX)
try: s.connect('\\0atoll-neighbour'); print('CONNECTED')
except OSError as error: print('no', error.errno)
print(open('/proc/net/unix').read().count('atoll-neighbour'))
""")
        assert ran.out == b"no 111\n0\n", (ran.out, ran.err)
    finally:
        other.communicate(b"\n", timeout=30 * SLOW)


# Ways in

@case("77 the command line killed in the middle")
def _(programs):
    import signal, time, glob
    from harness import ATOLL, group_name, groups, spawners
    for delay in (0.01, 0.03, 0.06, 0.1, 0.2, 0.4):
        name = group_name()
        env = dict(os.environ, ATOLL_TEST_MARK=name)
        process = subprocess.Popen([ATOLL, "run", "--cgroup-parent", name, "--", "sleep", "100"], env=env)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 10
        while (groups(name) or spawners("ATOLL_TEST_MARK=" + name)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not groups(name) and not spawners("ATOLL_TEST_MARK=" + name), (delay, groups(name))


@case("78 many at once")
def _(programs):
    results = []
    threads = [threading.Thread(target=lambda: results.append(run("echo", "here").out)) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert results == [b"here\n"] * 8, results
