"""The official Python SDK, over HTTP and over lines."""
import asyncio
import os

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

URL, KEY = os.environ["ATOLL_URL"] + "/mcp", os.environ["ATOLL_API_KEY"]


async def check(name, transport):
    async with Client(transport) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) >= 16, len(tools)
        first = await client.call_tool("run_code", {"code": "x = 20\nprint(x + 1)"})
        facts = first.structured_content
        assert facts["stdout"] == "21\n", facts
        again = await client.call_tool("run_code", {"code": "print(x)", "sandbox_id": facts["sandbox_id"]})
        assert again.structured_content["stdout"] == "20\n", again
        resources = (await client.list_resources()).resources
        assert (await client.read_resource(resources[0].uri)).contents[0].text
        refused = await client.call_tool("run_code", {})
        assert refused.is_error
        await client.call_tool("sandbox_end", {"sandbox_id": facts["sandbox_id"]})
    print(f"ok - Python SDK over {name}")


async def main():
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    await check("http", streamable_http_client(URL, http_client=http))
    words = StdioServerParameters(command=os.environ["ATOLL"], args=["mcp", "--url", os.environ["ATOLL_URL"]], env=dict(os.environ))
    await check("lines", stdio_client(words))


asyncio.run(main())
