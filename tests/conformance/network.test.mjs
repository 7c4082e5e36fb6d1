// The way out of a sandbox. Servers listen on 127.0.0.2: loopback, so a rule must name it, and no program leaves it out
// of its proxy settings as it does 127.0.0.1.
import assert from 'node:assert/strict'
import http from 'node:http'
import { after, before, test } from 'node:test'
import { control, e2b, newest, quick, sandbox } from './harness.mjs'

const { ALL_TRAFFIC, Sandbox, Secret } = e2b
const only = { skip: !newest }
const whole = { skip: !newest || quick }
const HOST = '127.0.0.2'
const seen = []
let server, address
before(() => new Promise((resolve) => {
  server = http.createServer((request, response) => {
    seen.push(request.headers['x-key'])
    response.end(`${request.url} ${request.headers['x-key'] ?? 'none'}`)
  }).listen(0, HOST, () => {
    address = `http://${HOST}:${server.address().port}`
    resolve()
  })
}))
after(() => server.close())
const fetched = async (box, path = '/x') =>
  (await box.commands.run(`curl -s -m 30 -w '\\n%{http_code}' ${address}${path} || true`, { timeoutMs: 120_000 })).stdout.split('\n')

test('what is allowed is reached, the rest is not', whole, async () => {
  const box = await sandbox({ network: { allowOut: [HOST], denyOut: [ALL_TRAFFIC] } })
  assert.deepEqual(await fetched(box), ['/x none', '200'])
  const info = await box.getInfo()
  assert.deepEqual(info.network.allowOut, [HOST])
  assert.equal((await box.commands.run('curl -s -m 30 -o /dev/null -w "%{http_code}" http://other.test/ || true')).stdout, '403')
})

test('this machine is not the internet', whole, async () => {
  const open = await sandbox()
  assert.equal((await fetched(open)).at(-1), '403')
  const closed = await sandbox({ allowInternetAccess: false })
  assert.equal((await fetched(closed)).at(-1), '000')
  assert.equal((await closed.getInfo()).allowInternetAccess, false)
})

test('rules change while a sandbox runs', whole, async () => {
  const box = await sandbox({ allowInternetAccess: false })
  await box.updateNetwork({ allowOut: [HOST], denyOut: [ALL_TRAFFIC] })
  assert.deepEqual((await box.commands.run(`curl -s -m 30 -x http://127.0.0.1:3128 ${address}/changed`)).stdout, '/changed none')
  await Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false })
  const after = await box.commands.run(`curl -s -m 30 -x http://127.0.0.1:3128 ${address}/again || true`)
  assert.doesNotMatch(after.stdout, /\/again none/)
  assert.equal((await box.getInfo()).allowInternetAccess, false)
  await assert.rejects(Sandbox.updateNetwork('i00000000000000000000', {}), e2b.SandboxNotFoundError)
})

test('a secret reaches the server and nothing inside', whole, async () => {
  const name = `network-${Math.random().toString(36).slice(2)}`
  const value = `sk-${name}`
  await Secret.create(name, value)
  const box = await sandbox({ network: { allowOut: [HOST], denyOut: [ALL_TRAFFIC],
    rules: { [HOST]: [{ transform: { headers: { 'X-Key': `Bearer ${Secret.fill(name)}` } } }] } } })
  const [, status] = await fetched(box)
  assert.equal(status, '200')
  assert.equal(seen.at(-1), `Bearer ${value}`)
  // The server's echo of it is covered on its way back, and nothing else inside has it.
  const inside = await box.commands.run(`env; cat /proc/self/environ | tr '\\0' '\\n'; grep -rs ${value.slice(3)} /etc /home /tmp || true`)
  assert.ok(!inside.stdout.includes(value))
  assert.ok(!JSON.stringify(await (await control(`/sandboxes/${box.sandboxId}`)).json()).includes(value))
  await Secret.update(name, `${value}-2`)
  await fetched(box)
  assert.equal(seen.at(-1), `Bearer ${value}-2`)
  // One that is gone is not sent as its name.
  await Secret.destroy(name)
  const before = seen.length
  assert.notEqual((await fetched(box)).at(-1), '200')
  assert.equal(seen.length, before)
})

test('rules that cannot be held are refused', whole, async () => {
  const refused = [{ allowOut: ['example.org'] }, { denyOut: ['example.org'] }, { allowOut: ['not an address'] },
    { egressProxy: { address: 'proxy.example.org:1080' } }, { httpsPorts: [8443] }]
  for (const network of refused) {
    const response = await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', network } })
    const told = await response.json()
    assert.ok(response.status >= 400 && told.code === response.status, JSON.stringify(network))
  }
})

test('the network of a running sandbox is replaced', only, async () => {
  const box = await sandbox()
  await box.updateNetwork({ allowInternetAccess: false })
  await Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false })
  await assert.rejects(Sandbox.updateNetwork('i00000000000000000000', {}), e2b.SandboxNotFoundError)
})
