// The official TypeScript SDK of 2026-07-28.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.env.PACKAGES + '/x.js')
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client').replace(/\.cjs$/, '.mjs')))

const { ATOLL_URL, ATOLL_API_KEY } = process.env
for (const versionNegotiation of [{ mode: 'auto' }, { mode: 'legacy' }]) {
  const client = new Client({ name: 'second', version: '1' }, { versionNegotiation })
  await client.connect(new StreamableHTTPClientTransport(new URL(ATOLL_URL + '/mcp'), { requestInit: { headers: { Authorization: `Bearer ${ATOLL_API_KEY}` } } }))
  const revision = client.getNegotiatedProtocolVersion()
  assert.equal(revision, versionNegotiation.mode === 'auto' ? '2026-07-28' : '2025-11-25')
  const { tools } = await client.listTools()
  assert.ok(tools.length >= 16)
  const first = await client.callTool({ name: 'run_code', arguments: { code: 'x = 20\nx + 1' } })
  const id = first.structuredContent.sandbox_id
  const again = await client.callTool({ name: 'run_code', arguments: { code: 'print(x)', sandbox_id: id } })
  assert.equal(again.structuredContent.stdout, '20\n')
  const { resources } = await client.listResources()
  assert.ok((await client.readResource({ uri: resources[0].uri })).contents[0].text)
  await client.callTool({ name: 'sandbox_end', arguments: { sandbox_id: id } })
  await client.close()
  console.log(`ok - TypeScript SDK 2 with ${revision}`)
}
