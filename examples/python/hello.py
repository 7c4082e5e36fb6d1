"""A session that remembers. Set ATOLL_URL and ATOLL_API_KEY first (docs/guides/python.md)."""
from atoll import SandboxClient

with SandboxClient() as client, client.create() as session:
    session.execute("numbers = [1, 2, 3]")
    print("sum", session.execute("sum(numbers)").text)

    failed = session.execute("1 / 0")
    print(failed.status, failed.error.name if failed.error else "")
