// The official TypeScript SDK up to 2025-11-25, over HTTP and over lines.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.env.PACKAGES + '/x.js')
const load = (name) => import(pathToFileURL(require.resolve(name)))
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js')
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js')
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js')

const { ATOLL, ATOLL_URL, ATOLL_API_KEY } = process.env
const ways = {
  http: () => new StreamableHTTPClientTransport(new URL(ATOLL_URL + '/mcp'), { requestInit: { headers: { Authorization: `Bearer ${ATOLL_API_KEY}` } } }),
  lines: () => new StdioClientTransport({ command: ATOLL, args: ['mcp', '--url', ATOLL_URL], env: { ...process.env } }),
}
for (const [name, way] of Object.entries(ways)) {
  const client = new Client({ name: 'first', version: '1' }, { capabilities: {} })
  const transport = way()
  await client.connect(transport)
  const { tools } = await client.listTools()
  assert.ok(tools.length >= 16, `${tools.length} tools`)
  const first = await client.callTool({ name: 'run_code', arguments: { code: 'x = 20\nx + 1' } })
  assert.equal(first.structuredContent.results[0]['text/plain'], '21')
  const again = await client.callTool({ name: 'run_code', arguments: { code: 'print(x)' } })
  assert.equal(again.structuredContent.stdout, '20\n')
  const told = []
  await client.callTool({ name: 'run_command', arguments: { command: 'sleep 2.2' } }, undefined, { onprogress: (one) => told.push(one) })
  assert.ok(told.length >= 1, 'no progress')
  const abort = new AbortController()
  const running = client.callTool({ name: 'run_command', arguments: { command: 'sleep 100' } }, undefined, { signal: abort.signal })
  setTimeout(() => abort.abort('enough'), 300)
  await assert.rejects(running)
  const { resources } = await client.listResources()
  assert.ok((await client.readResource({ uri: resources[0].uri })).contents[0].text)
  const { prompts } = await client.listPrompts()
  assert.ok((await client.getPrompt({ name: prompts[0].name })).messages.length)
  const refused = await client.callTool({ name: 'run_code', arguments: {} })
  assert.equal(refused.isError, true)
  if (transport.terminateSession) await transport.terminateSession()
  await client.close()
  console.log(`ok - TypeScript SDK 1 over ${name}`)
}
