// The way out of a sandbox. Servers listen on 127.0.0.2: loopback, so a rule must name it, and no program leaves it out
// of its proxy settings as it does 127.0.0.1.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import http from 'node:http'
import { after, before, test } from 'node:test'
import { control, e2b, eventually, newest, plane, sandbox } from './harness.mjs'
import { socks } from './socks.mjs'

const { ALL_TRAFFIC, Sandbox, Secret } = e2b
const only = { skip: !newest }
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

test('what is allowed is reached, the rest is not', only, async () => {
  const box = await sandbox({ network: { allowOut: [HOST], denyOut: [ALL_TRAFFIC] } })
  assert.deepEqual(await fetched(box), ['/x none', '200'])
  const info = await box.getInfo()
  assert.deepEqual(info.network.allowOut, [HOST])
  assert.equal((await box.commands.run('curl -s -m 30 -o /dev/null -w "%{http_code}" http://other.test/ || true')).stdout, '403')
})

test('this machine is not the internet', only, async () => {
  const open = await sandbox()
  assert.equal((await fetched(open)).at(-1), '403')
  const closed = await sandbox({ allowInternetAccess: false })
  assert.equal((await fetched(closed)).at(-1), '000')
  assert.equal((await closed.getInfo()).allowInternetAccess, false)
})

test('rules change while a sandbox runs', only, async () => {
  const box = await sandbox({ allowInternetAccess: false })
  await box.updateNetwork({ allowOut: [HOST], denyOut: [ALL_TRAFFIC] })
  assert.deepEqual((await box.commands.run(`curl -s -m 30 -x http://127.0.0.1:3128 ${address}/changed`)).stdout, '/changed none')
  await Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false })
  const after = await box.commands.run(`curl -s -m 30 -x http://127.0.0.1:3128 ${address}/again || true`)
  assert.doesNotMatch(after.stdout, /\/again none/)
  assert.equal((await box.getInfo()).allowInternetAccess, false)
  await assert.rejects(Sandbox.updateNetwork('i00000000000000000000', {}), e2b.SandboxNotFoundError)
})

test('a secret reaches the server and nothing inside', only, async () => {
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

// The original's description: `transform` and `headers` may be missing, names may be wildcards, "exact rules take precedence
// ... and matching rule sets are not merged".
test('a rule may set nothing, and keeps a wildcard away with it', only, async () => {
  const name = `NETWORK-${Math.random().toString(36).slice(2)}`
  await Secret.create(name, 'found in any case')
  const headers = { 'X-Key': Secret.fill(name) }
  const nothing = { [HOST]: [{}], 'a.test': [{ transform: {} }], 'b.test': [], '*.c.test': [{ transform: { headers } }] }
  const box = await sandbox({ network: { allowOut: [HOST], denyOut: [ALL_TRAFFIC], rules: nothing } })
  assert.deepEqual(await fetched(box), ['/x none', '200'])
  await box.updateNetwork({ allowOut: [HOST], denyOut: [ALL_TRAFFIC], rules: { ...nothing, [HOST]: [{}, { transform: { headers } }] } })
  await fetched(box)
  assert.equal(seen.at(-1), 'found in any case')
  await Secret.destroy(name)
})

test('rules that cannot be held are refused', only, async () => {
  const refused = [{ allowOut: ['10.0.0.1'] }, { allowOut: ['127.0.0.1'] }, { allowOut: ['169.254.169.254'] }, { allowOut: ['168.63.129.16'] },
    { allowOut: ['10.0.0.0/8'], denyOut: [ALL_TRAFFIC] }, { allowOut: ['127.0.0.0/8'] }, { allowOut: ['0.0.0.0/1'] }, { allowOut: ['::1'] },
    { allowOut: ['fd00:ec2::254'] }, { allowOut: ['64:ff9b:1::a00:1'] }, { allowOut: ['::ffff:10.0.0.1'] }, { allowOut: ['example.org'] }, { denyOut: ['example.org'] }, { allowOut: ['not an address'] },
    { egressProxy: {} }, { egressProxy: { address: 'proxy.example.org' } }, { egressProxy: { address: 'socks5://127.0.0.3:1080' } },
    { egressProxy: { address: '127.0.0.1:1080' } }, { egressProxy: { address: '10.1.2.3:1080' } }, { egressProxy: { address: 'localhost:1080' } },
    { egressProxy: { address: 'no-such-host.invalid:1080' } }, { egressProxy: { address: '127.0.0.3:1080', password: 'x' } },
    { egressProxy: { address: '127.0.0.3:1080', username: 'u'.repeat(256) } }, { egressProxy: { address: '127.0.0.3:1080', username: 'u', password: 'p'.repeat(256) } },
    { egressProxy: { address: '127.0.0.3:1080', tls: { enabled: true } } }, { egressProxy: { address: '127.0.0.3:1080', protocol: 'socks5' } },
    { rules: { '*': [{ transform: { headers: { A: 'b' } } }] } }, { rules: { 'a.test': {} } }, { rules: { 'a.test': ['x'] } },
    { rules: { 'a.test': [{ reject: true }] } }, { rules: { 'a.test': [{ transform: { query: {} } }] } }, { rules: { 'a.test': [{ transform: { headers: { A: 1 } } }] } }, { httpsPorts: [0] }, { httpsPorts: [65536] }, { httpsPorts: ['x'] }, { httpsPorts: [49983] }, { httpsPorts: 3000 }]
  for (const network of refused) {
    const response = await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', network } })
    const told = await response.json()
    assert.deepEqual([response.status, told.code], [400, 400], JSON.stringify(network))
  }
})

test('internal addresses are named in the refusal, and everything is everything public', only, async () => {
  for (const rule of ['10.0.0.1', '10.0.0.0/8', '127.0.0.1']) {
    const response = await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', network: { allowOut: [rule] } } })
    assert.match((await response.json()).message, /^network\.allowOut: .*internal/)
  }
  const box = await sandbox({ network: { allowOut: ['0.0.0.0/0'], denyOut: ['10.0.0.0/8'] } })
  await assert.rejects(box.updateNetwork({ allowOut: ['10.0.0.1'] }), /network\.allowOut/)
  assert.equal((await box.commands.run(`curl -s -m 30 -o /dev/null -w "%{http_code}" http://127.0.0.4/ || true`)).stdout, '403')
})

test('the network of a running sandbox is replaced', only, async () => {
  const box = await sandbox()
  await box.updateNetwork({ allowInternetAccess: false })
  await Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false })
  await assert.rejects(Sandbox.updateNetwork('i00000000000000000000', {}), e2b.SandboxNotFoundError)
})

// The proxy listens on 127.0.0.3, which this daemon's operator allows for that (network.proxies).
const through = (proxy, more = {}) => ({ allowOut: [HOST], denyOut: [ALL_TRAFFIC], egressProxy: { address: proxy.address, ...more } })
const shown = async (box) => (await (await control(`/sandboxes/${box.sandboxId}`)).json()).network

test('what gets out goes through the proxy that its owner names', only, async () => {
  const proxy = await socks()
  const box = await sandbox({ network: through(proxy) })
  assert.deepEqual(await fetched(box, '/first'), ['/first none', '200'])
  // By the address that the rules allowed, never by a name that the proxy could resolve otherwise.
  assert.deepEqual(proxy.asked, [{ type: 1, to: address.slice(7) }])
  assert.deepEqual((await shown(box)).egressProxy, { address: proxy.address })
  // The rules hold before it is asked.
  assert.equal((await box.commands.run('curl -s -m 30 -o /dev/null -w "%{http_code}" http://127.0.0.4/ || true')).stdout, '403')
  assert.equal(proxy.asked.length, 1)
  // It stays through a pause, and an update without it goes straight.
  await box.pause()
  await Sandbox.connect(box.sandboxId)
  assert.deepEqual(await fetched(box, '/second'), ['/second none', '200'])
  assert.equal(proxy.asked.length, 2)
  await box.updateNetwork({ allowOut: [HOST], denyOut: [ALL_TRAFFIC] })
  assert.deepEqual(await fetched(box, '/third'), ['/third none', '200'])
  assert.equal(proxy.asked.length, 2)
  assert.equal((await shown(box)).egressProxy, undefined)
  await box.updateNetwork(through(proxy))
  assert.deepEqual(await fetched(box, '/fourth'), ['/fourth none', '200'])
  assert.equal(proxy.asked.length, 3)
  // One that is gone is told to whoever asked, and nothing goes around it.
  proxy.close()
  const before = seen.length
  const fifth = await fetched(box, '/fifth')
  assert.equal(fifth.at(-1), '502')
  assert.match(fifth[0], /the egress proxy cannot be reached/)
  assert.equal(seen.length, before)
  await assert.rejects(box.updateNetwork({ egressProxy: { address: '10.0.0.1:1080' } }), /internal address/)
})

test('a proxy gets its password and nobody else does', only, async () => {
  const password = `hush-${Math.random().toString(36).slice(2)}`
  const proxy = await socks({ username: 'ann', password })
  const box = await sandbox({ network: through(proxy, { username: 'ann', password }) })
  assert.deepEqual(await fetched(box), ['/x none', '200'])
  assert.deepEqual((await shown(box)).egressProxy, { address: proxy.address, username: 'ann' })
  assert.deepEqual((await box.getInfo()).network.egressProxy, { address: proxy.address, username: 'ann' })
  const [copy] = await box.fork()
  assert.deepEqual(await fetched(copy), ['/x none', '200'])
  await copy.kill()
  assert.ok(!(await box.commands.run('env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n" || true')).stdout.includes(password))
  for (const path of [`/api/sessions/${box.sandboxId}`, `/api/sessions/${box.sandboxId}/network`])
    assert.ok(!(await (await control(path)).text()).includes(password), path)
  // At rest it is sealed, in the database and wherever else.
  const found = spawnSync('grep', ['-rlaF', '--exclude-dir=sandboxes', '--exclude-dir=layers', password, process.env.ATOLL_DATA], { encoding: 'utf8' })
  assert.equal(found.stdout, '')
  for (const wrong of [{ username: 'ann', password: 'other' }, { username: 'bob', password }]) {
    await box.updateNetwork(through(proxy, wrong))
    const refused = await fetched(box)
    assert.equal(refused.at(-1), '502')
    assert.match(refused[0], /the egress proxy refuses the user name or password/)
  }
  await box.updateNetwork(through(proxy))
  assert.match((await fetched(box))[0], /the egress proxy wants a user name/)
  proxy.close()
})

test('servers that speak TLS are reached on the ports that are listed', only, async () => {
  const box = await sandbox({ network: { httpsPorts: [8443, 8444] } })
  assert.deepEqual((await shown(box)).httpsPorts, [8443, 8444])
  await box.files.write('/tmp/server.py', `
import http.server, ssl, sys
class Echo(http.server.BaseHTTPRequestHandler):
  protocol_version = 'HTTP/1.1'
  def answer(self):
    body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
    text = f'{self.command} {self.path} {self.headers["X-Forwarded-Proto"]} {len(body)}'.encode()
    self.send_response(200); self.send_header('Content-Length', str(len(text))); self.end_headers(); self.wfile.write(text)
  do_GET = do_POST = answer
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Echo)
if sys.argv[2:]:
  context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain('/tmp/c.pem', '/tmp/k.pem')
  server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()`)
  await box.commands.run('openssl req -x509 -newkey rsa:2048 -nodes -keyout /tmp/k.pem -out /tmp/c.pem -days 2 -subj /CN=anything', { timeoutMs: 120_000 })
  for (const words of ['8443 tls', '8444', '8445']) await box.commands.run(`python3 /tmp/server.py ${words}`, { background: true, timeoutMs: 0 })
  const ask = async (port, options = {}) => {
    const answer = await plane(box, '/some?q=1', { port, ...options })
    return [answer.status, await answer.text()]
  }
  await eventually(async () => assert.deepEqual(await ask(8443), [200, 'GET /some?q=1 http 0']), 60_000)
  assert.deepEqual(await ask(8443, { method: 'POST', body: 'x'.repeat(1 << 20) }), [200, `POST /some?q=1 http ${1 << 20}`])
  // What is not listed is spoken to in the clear, and what is listed but speaks in the clear is told so.
  await eventually(async () => assert.deepEqual(await ask(8445), [200, 'GET /some?q=1 http 0']), 60_000)
  const [status, text] = await ask(8444)
  assert.equal(status, 502)
  assert.deepEqual(JSON.parse(text), { sandboxId: box.sandboxId, message: 'The port is among httpsPorts, but its server does not speak TLS', port: 8444, code: 502 })
})
