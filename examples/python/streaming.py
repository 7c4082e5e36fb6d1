"""Output as it is produced, a process in the background, a terminal."""
from atoll import SandboxClient

with SandboxClient() as client, client.create() as session:
    session.commands.run("for i in 1 2 3; do echo $i; sleep 0.2; done", on_stdout=lambda text: print("live", text, end=""))

    process = session.commands.start("read name; echo hello $name", stdin=True)
    process.send_stdin("you\n")
    print(process.wait().stdout, end="")

    with session.pty.open(columns=100, rows=30) as terminal:
        terminal.send("exit 3\n")
        print("terminal ended with", terminal.wait(timeout=30).exit_code)
