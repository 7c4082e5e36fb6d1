"""Ten sessions at once with asyncio."""
import asyncio

from atoll import AsyncSandboxClient


async def work(client: AsyncSandboxClient, number: int) -> int:
    async with await client.create() as session:
        done = await session.execute(f"print({number} ** 2)")
        return int(done.check().stdout)


async def main() -> None:
    async with AsyncSandboxClient() as client:
        print(await asyncio.gather(*(work(client, number) for number in range(10))))


asyncio.run(main())
