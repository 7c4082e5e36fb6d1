"""An agent's day with the official E2B packages, unchanged, against Atoll. See docs/guides/e2b.md for the variables.

    pip install e2b e2b-code-interpreter && python agent.py
"""
from e2b_code_interpreter import Sandbox

sandbox = Sandbox.create(timeout=120, metadata={"example": "agent"})
print("sandbox", sandbox.sandbox_id)

# Variables survive between runs, as in a notebook.
sandbox.run_code("numbers = [1, 2, 3]")
execution = sandbox.run_code("sum(numbers)")
print("sum", execution.text)

# Files and commands.
sandbox.files.write("report.txt", f"the sum is {execution.text}\n")
print(sandbox.commands.run("cat report.txt").stdout, end="")

# A server inside, seen from outside by its host name.
sandbox.commands.run("python3 -m http.server 8080", background=True)
print("served at", sandbox.get_host(8080))
sandbox.kill()
