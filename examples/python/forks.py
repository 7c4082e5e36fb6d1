"""Try three ways from one state: each fork has the variables and the files of its source."""
from atoll import SandboxClient

with SandboxClient() as client, client.create() as session:
    session.execute("data = list(range(10))")
    copies, failures = session.fork_many(3)
    for number, copy in enumerate(copies):
        with copy:
            print("fork", number, copy.execute(f"sum(data[{number}:])").text)
    print("failures", len(failures))

    taken = session.snapshot("before")
    session.commands.run("touch /home/user/later").check()
    session.restore(taken)
    print("later exists", session.files.exists("/home/user/later"))
