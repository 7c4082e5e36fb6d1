// What the SDKs hide: bytes on the wire, errors, tokens, other tenants.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { before, test } from 'node:test'
import { control, e2b, eventually, key, plane, sandbox, sleep, url } from './harness.mjs'
import { all, envelope, frames, raw, rpc, shell, unary } from './wire.mjs'

const { hostname, port } = new URL(url)
let box
before(async () => {
  box = await sandbox()
})

test('a stream is start, data, end and an end envelope', async () => {
  const response = await rpc(box, 'process.Process/Start', envelope(shell('printf out; printf err >&2; exit 3')))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/connect+json')
  const seen = await all(response)
  assert.ok(seen[0].message.event.start.pid > 0)
  const text = (name) => seen.map((one) => one.message.event?.data?.[name]).filter(Boolean)
    .map((one) => Buffer.from(one, 'base64').toString()).join('')
  assert.deepEqual([text('stdout'), text('stderr')], ['out', 'err'])
  assert.deepEqual(seen.at(-2).message.event.end, { exitCode: 3, exited: true, status: 'exit status 3', error: 'exit status 3' })
  assert.deepEqual([seen.at(-1).flag, seen.at(-1).message], [2, {}])
})

test('a success leaves out what is zero; a signal is told', async () => {
  const good = (await all(await rpc(box, 'process.Process/Start', envelope(shell('true'))))).at(-2).message.event.end
  assert.deepEqual(good, { exited: true, status: 'exit status 0' })
  const killed = (await all(await rpc(box, 'process.Process/Start', envelope(shell('kill -KILL $$'))))).at(-2).message.event.end
  assert.equal(killed.exitCode, -1)
  assert.equal(killed.status, 'signal: killed')
  assert.ok(!killed.exited)
})

test('keep-alives come while nothing else does', async () => {
  const response = await rpc(box, 'process.Process/Start', envelope(shell('sleep 2.5')), { 'keepalive-ping-interval': '1' })
  const kinds = (await all(response)).map((one) => Object.keys(one.message.event ?? { last: 1 })[0])
  assert.equal(kinds[0], 'start')
  assert.ok(kinds.filter((one) => one === 'keepalive').length >= 1)
})

test('the time of a call is the time of its process', async () => {
  const begun = Date.now()
  const seen = await all(await rpc(box, 'process.Process/Start', envelope(shell('sleep 60')), { 'connect-timeout-ms': '700' }))
  assert.ok(Date.now() - begun < 30_000)
  assert.equal(seen.at(-1).flag, 2)
  await eventually(async () => {
    const list = await (await unary(box, 'process.Process/List', {})).json()
    assert.ok(!(list.processes ?? []).some((one) => one.config.args?.includes('sleep 60')))
  })
})

test('one that connects too late is told the end', async () => {
  const seen = await all(await rpc(box, 'process.Process/Start', envelope({ ...shell('exit 7'), tag: 'late' })))
  const { pid } = seen[0].message.event.start
  for (const selector of [{ pid }, { tag: 'late' }]) {
    const late = await all(await rpc(box, 'process.Process/Connect', envelope({ process: selector })))
    assert.equal(late[0].message.event.start.pid, pid)
    assert.equal(late[1].message.event.end.exitCode, 7)
    assert.equal(late[2].flag, 2)
  }
  const none = await all(await rpc(box, 'process.Process/Connect', envelope({ process: { pid: 999_999 } })))
  assert.deepEqual([none[0].flag, none[0].message.error], [2, { code: 'not_found', message: 'process with pid 999999 not found' }])
})

test('malformed frames are refused, and the connection lives', async () => {
  const bad = [Buffer.alloc(0), Buffer.from([0, 0, 0]), envelope('{"process":').subarray(0, 10), envelope('not json'), envelope('[1]'),
    envelope({}, 1), Buffer.concat([envelope(shell('true')), envelope(shell('true'))]), Buffer.from([0, 255, 255, 255, 255, 1])]
  for (const body of bad) {
    const response = await rpc(box, 'process.Process/Start', body)
    assert.equal(response.status, 200, body.toString('hex').slice(0, 40))
    const seen = await all(response)
    assert.equal(seen.length, 1)
    assert.equal(seen[0].flag, 2)
    assert.equal(seen[0].message.error.code, 'invalid_argument')
  }
  assert.equal((await all(await rpc(box, 'process.Process/Start', envelope({ process: {} }))))[0].message.error.code, 'invalid_argument')
  assert.equal((await rpc(box, 'process.Process/Start', envelope(shell('true')), { 'content-type': 'application/json' })).status, 415)
  assert.equal((await rpc(box, 'process.Process/None', envelope({}))).status, 404)
})

test('unary errors have a code in words and its status', async () => {
  const expect = async (method, message, status, code, text) => {
    const response = await unary(box, method, message)
    const body = await response.json()
    assert.deepEqual([response.status, body.code], [status, code], method + JSON.stringify(body))
    if (text) assert.match(body.message, text)
    assert.match(response.headers.get('content-type'), /^application\/json/)
  }
  await expect('filesystem.Filesystem/Stat', { path: '/none' }, 404, 'not_found')
  await expect('filesystem.Filesystem/Stat', '{"path":', 400, 'invalid_argument')
  await expect('filesystem.Filesystem/Stat', { path: 7 }, 400, 'invalid_argument', /path/)
  await expect('filesystem.Filesystem/Stat', { path: '~other/x' }, 400, 'invalid_argument')
  await expect('filesystem.Filesystem/MakeDir', { path: '/tmp' }, 409, 'already_exists')
  await expect('filesystem.Filesystem/MakeDir', { path: '/etc/passwd' }, 400, 'invalid_argument')
  await expect('filesystem.Filesystem/ListDir', { path: '/etc/passwd' }, 400, 'invalid_argument')
  await expect('filesystem.Filesystem/ListDir', { path: '/none' }, 404, 'not_found')
  await expect('filesystem.Filesystem/Move', { source: '/none', destination: '/tmp/x' }, 404, 'not_found')
  await expect('filesystem.Filesystem/GetWatcherEvents', { watcherId: 'none' }, 404, 'not_found')
  await expect('process.Process/SendSignal', { process: { pid: 999_999 }, signal: 'SIGNAL_SIGKILL' }, 404, 'not_found',
    /^process with pid 999999 not found$/)
  await expect('process.Process/SendSignal', { process: {} }, 400, 'invalid_argument')
  await expect('process.Process/SendInput', { process: { pid: -1 }, input: { stdin: 'eA==' } }, 404, 'not_found')
  const user = await unary(box, 'filesystem.Filesystem/Stat', { path: '/' },
    { headers: { authorization: 'Basic ' + Buffer.from('nobody-here:').toString('base64') } })
  assert.deepEqual([user.status, await user.json()],
    [401, { code: 'unauthenticated', message: "invalid username: 'nobody-here'" }])
  assert.equal((await unary(box, 'filesystem.Filesystem/Remove', { path: '/tmp/never-was' })).status, 200)
})

test('input that has nowhere to go is an error', async () => {
  const response = await rpc(box, 'process.Process/Start', envelope(shell('sleep 20')))
  const reader = response.body.getReader()
  const { pid } = [...frames(Buffer.from((await reader.read()).value))][0].message.event.start
  const send = async (input) => (await unary(box, 'process.Process/SendInput', { process: { pid }, input })).status
  assert.equal(await send({ stdin: 'eA==' }), 500)
  assert.equal(await send({ pty: 'eA==' }), 500)
  assert.equal((await unary(box, 'process.Process/Update', { process: { pid }, pty: { size: { cols: 9, rows: 9 } } })).status, 500)
  assert.equal((await unary(box, 'process.Process/SendSignal', { process: { pid }, signal: 9 })).status, 200)
  await reader.cancel()
})

test('snake case, numbers as text and integers for enums are understood', async () => {
  const made = await unary(box, 'filesystem.Filesystem/CreateWatcher', { path: '/tmp', include_entry: true })
  const { watcherId } = await made.json()
  await box.files.write('/tmp/seen-by-watcher', 'x')
  await eventually(async () => {
    const { events } = await (await unary(box, 'filesystem.Filesystem/GetWatcherEvents', { watcher_id: watcherId })).json()
    assert.ok(events.some((one) => one.name === 'seen-by-watcher'))
  })
  assert.equal((await unary(box, 'filesystem.Filesystem/RemoveWatcher', { watcherId })).status, 200)
  const list = await unary(box, 'filesystem.Filesystem/ListDir', { path: '/tmp', depth: '1' })
  const { entries } = await list.json()
  assert.equal(typeof entries[0].size, 'string')
  assert.match(entries[0].type, /^FILE_TYPE_/)
})

test('chunked bodies without a length are read', async () => {
  const body = JSON.stringify({ templateID: 'base', timeout: 60 })
  const half = body.length >> 1
  const chunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`
  const answer = await raw(`POST /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nContent-Type: application/json\r\n` +
    `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 201 /)
  const id = answer.match(/"sandboxID":"(\w+)"/)[1]
  assert.equal((await control(`/sandboxes/${id}`, { method: 'DELETE' })).status, 204)
  assert.match(await raw(`POST /v2/sandboxes HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n`), /^HTTP\/1\.1 400 /)
})

test('one connection carries many requests', async () => {
  const request = `GET /sandboxes/${box.sandboxId} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\n\r\n`
  const answer = await raw(request.repeat(5), /(HTTP\/1\.1 200 [^]*){5}\}$/)
  assert.equal(answer.match(/HTTP\/1\.1 200 /g).length, 5)
})

test('empty answers say that they are empty', async () => {
  const one = await sandbox()
  const answer = await raw(`DELETE /sandboxes/${one.sandboxId} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nConnection: close\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 204 /)
  assert.doesNotMatch(answer, /Transfer-Encoding/i)
})

test('errors of the control plane have a number and a text', async () => {
  const cases = [['GET', '/sandboxes/i00000000000000000000', 404], ['DELETE', '/sandboxes/i00000000000000000000', 404],
    ['GET', '/sandboxes/BAD ID', 400], ['POST', '/sandboxes/i00000000000000000000/pause', 404],
    ['POST', '/sandboxes/i00000000000000000000/timeout', 404, { timeout: 5 }], ['POST', `/sandboxes/${box.sandboxId}/timeout`, 400, { timeout: -1 }],
    ['POST', `/sandboxes/${box.sandboxId}/timeout`, 400, {}], ['POST', '/sandboxes', 400, { templateID: 'base', timeout: -1 }],
    ['POST', '/sandboxes', 404, { templateID: 'no-such-template' }], ['POST', '/sandboxes', 404, { templateID: 'base:other' }],
    ['POST', '/sandboxes', 400, { templateID: 'a b' }], ['POST', '/v2/sandboxes', 400, { templateID: 'base', autoPauseMemory: false }],
    ['POST', '/v2/sandboxes', 400, { templateID: 'base', metadata: { a: 1 } }], ['POST', `/sandboxes/${box.sandboxId}/fork`, 400, { count: 101 }],
    ['GET', '/v2/sandboxes?limit=1000', 400], ['GET', '/v2/sandboxes?order=up', 400], ['GET', '/v2/sandboxes?state=odd', 400],
    ['GET', '/v2/sandboxes?nextToken=odd', 400], ['GET', '/v2/sandboxes?template=base%3Atag', 400],
    ['GET', '/templates/aliases/none', 404], ['DELETE', '/templates/none', 404], ['GET', '/nowhere-at-all/x', 404], ['PATCH', '/teams', 405]]
  for (const [method, path, status, body] of cases) {
    const response = await control(path.replace(' ', '%20'), { method, body })
    assert.equal(response.status, status, `${method} ${path} ${JSON.stringify(body)}`)
    if (path.startsWith('/nowhere')) continue
    const told = await response.json()
    assert.equal(told.code, status, `${method} ${path}`)
    assert.equal(typeof told.message, 'string')
  }
})

test('no key, a wrong key and another tenant', async () => {
  for (const apiKey of ['', 'e2b_00', 'nonsense']) {
    const response = await control('/v2/sandboxes', { apiKey })
    assert.deepEqual([response.status, (await response.json()).code], [401, 401])
  }
  const other = process.env.OTHER_KEY
  assert.match(other, /^e2b_/)
  const as = (path, options = {}) => control(path, { apiKey: other, ...options })
  await eventually(async () => assert.equal((await as('/v2/sandboxes')).status, 200), 30_000)
  assert.deepEqual(await (await as('/v2/sandboxes')).json(), [])
  for (const [method, path, body] of [['GET', ''], ['DELETE', ''], ['POST', '/pause'], ['POST', '/timeout', { timeout: 10 }], ['POST', '/connect', { timeout: 10 }],
    ['POST', '/fork', {}], ['POST', '/snapshots', {}], ['GET', '/metrics'], ['GET', '/logs'], ['POST', '/refreshes', {}], ['POST', '/resume', { timeout: 9 }]]) {
    const response = await as(`/sandboxes/${box.sandboxId}${path}`, { method, body })
    assert.deepEqual([response.status, (await response.json()).code], [404, 404], method + path)
  }
  assert.equal(await box.isRunning(), true)
  const made = await control('/secrets', { method: 'POST', body: { name: `tenant-${Math.random()}`, value: 'v' } })
  const secret = await made.json()
  assert.equal((await as(`/secrets/${secret.secretID}`)).status, 404)
  assert.equal((await as(`/secrets/${secret.secretID}`, { method: 'DELETE' })).status, 404)
  assert.deepEqual(await (await as('/secrets')).json(), [])
  await control(`/secrets/${secret.secretID}`, { method: 'DELETE' })
  assert.deepEqual(await (await as('/volumes')).json(), [])
})

test('a wrong token opens nothing of the sandbox', async () => {
  const secured = await sandbox({ secure: true })
  assert.ok(secured.envdAccessToken ?? true)
  for (const token of ['wrong', '']) {
    const headers = { 'X-Access-Token': token, 'content-type': 'application/json' }
    for (const path of ['/filesystem.Filesystem/Stat', '/process.Process/List', '/files/compose']) {
      const response = await plane(secured, path, { method: 'POST', body: '{}', token: false, headers })
      assert.equal(response.status, 401, path)
      const told = await response.json()
      if (path !== '/files/compose') assert.deepEqual(told, { code: 401,
        message: 'unauthorized access, please provide a valid access token or method signing if supported' })
    }
    assert.equal((await plane(secured, '/envs', { token: false, headers })).status, 401)
    assert.equal((await plane(secured, '/metrics', { token: false, headers })).status, 401)
    for (const [method, path] of [['POST', '/execute'], ['POST', '/contexts'], ['GET', '/contexts'], ['POST', '/contexts/x/restart'], ['DELETE', '/contexts/x']]) {
      const body = method === 'POST' ? '{"code":"1"}' : undefined
      assert.equal((await plane(secured, path, { method, port: 49999, body, token: false, headers })).status, 401, path)
    }
  }
  const files = async (headers, query = '') => (await plane(secured, `/files?path=/etc/hostname${query}`, { token: false, headers })).json()
  assert.equal((await files({ 'X-Access-Token': 'wrong' })).message, 'access token present in header but does not match')
  assert.equal((await files({})).message, 'missing signature query parameter')
  assert.equal((await files({}, '&signature=v1_x')).message, 'invalid signature')
  assert.equal((await plane(secured, '/health', { token: false })).status, 204)
})

test('signed addresses open one file for a while', async () => {
  const one = await sandbox({ secure: true })
  await one.files.write('/tmp/signed.txt', 'signed')
  const get = async (options) => {
    const response = await fetch(await one.downloadUrl('/tmp/signed.txt', options))
    return [response.status, await response.text()]
  }
  assert.deepEqual(await get({}), [200, 'signed'])
  assert.deepEqual(await get({ useSignatureExpiration: 60 }), [200, 'signed'])
  const [status, text] = await get({ useSignatureExpiration: -60 })
  assert.deepEqual([status, JSON.parse(text).message], [401, 'signature is already expired'])
  const signature = await e2b.getSignature({ path: 'hello.txt', operation: 'read', user: 'user', envdAccessToken: '0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0' })
  assert.equal(signature.signature, 'v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E')
  const form = new FormData()
  form.append('file', new Blob(['uploaded']), 'any')
  const up = await fetch(await one.uploadUrl('/tmp/up.txt'), { method: 'POST', body: form })
  assert.equal(up.status, 200)
  assert.equal(await one.files.read('/tmp/up.txt'), 'uploaded')
})

test('routes of the machinery are nobody\'s', async () => {
  for (const path of ['/init', '/freeze', '/unfreeze', '/collapse', '/fsfreeze', '/fsthaw', '/upgrade']) {
    assert.equal((await plane(box, path, { method: 'POST', body: '{}' })).status, 404, path)
  }
})

test('hosts and headers that lead nowhere are told so', async () => {
  const ask = (headers, path = '/health') => new Promise((resolve, reject) => {
    http.get({ hostname, port, path, headers }, (response) => {
      let text = ''
      response.on('data', (piece) => (text += piece)).on('end', () => resolve([response.statusCode, text]))
    }).on('error', reject)
  })
  assert.equal((await ask({ 'E2b-Sandbox-Id': box.sandboxId }))[0], 400)
  assert.equal((await ask({ 'E2b-Sandbox-Id': box.sandboxId, 'E2b-Sandbox-Port': '0' }))[0], 400)
  assert.equal((await ask({ 'E2b-Sandbox-Id': '../etc', 'E2b-Sandbox-Port': '49983' }))[0], 400)
  const [status, text] = await ask({ Host: '8000-i00000000000000000000.e2b.localhost' })
  assert.deepEqual([status, JSON.parse(text)], [502, { sandboxId: 'i00000000000000000000', message: 'The sandbox was not found', code: 502 }])
  assert.equal((await ask({ Host: `49983-${box.sandboxId}.e2b.localhost` }))[0], 204)
  const [closed, why] = await ask({ Host: `9-${box.sandboxId}.e2b.localhost` })
  assert.deepEqual([closed, JSON.parse(why)],
    [502, { sandboxId: box.sandboxId, message: 'The sandbox is running but port is not open', port: 9, code: 502 }])
})

test('the encrypted listener serves sandbox hosts', async () => {
  const server = new URL(process.env.ATOLL_TLS_URL)
  const answer = await new Promise((resolve, reject) => {
    https.get({ hostname: server.hostname, port: server.port, path: '/health', servername: `49983-${box.sandboxId}.e2b.localhost`,
      ca: readFileSync(process.env.ATOLL_CERTIFICATE), headers: { Host: `49983-${box.sandboxId}.e2b.localhost:${server.port}` } },
    (response) => resolve(response.statusCode)).on('error', reject)
  })
  assert.equal(answer, 204)
})

test('traffic tokens and masked hosts', async () => {
  const one = await sandbox({ network: { allowPublicTraffic: false, maskRequestHost: 'localhost:${PORT}' } })
  await one.files.write('/tmp/echo.py', `
import http.server
class Echo(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200); self.end_headers(); self.wfile.write(str(self.headers).encode())
http.server.HTTPServer(('127.0.0.1', 8131), Echo).serve_forever()`)
  const server = await one.commands.run('python3 /tmp/echo.py', { background: true, timeoutMs: 0 })
  const token = one.trafficAccessToken
  assert.ok(token)
  await eventually(async () => {
    const good = await plane(one, '/', { port: 8131, headers: { 'e2b-traffic-access-token': token } })
    assert.equal(good.status, 200)
    const seen = await good.text()
    assert.match(seen, /Host: localhost:8131/)
    assert.doesNotMatch(seen, /traffic-access-token/i)
  }, 30_000)
  for (const [headers, why] of [[{}, /is missing/], [{ 'e2b-traffic-access-token': 'wrong' }, /is invalid/]]) {
    for (const port of [8131, 49999]) {
      const refused = await plane(one, '/health', { port, headers })
      assert.equal(refused.status, 403)
      assert.match((await refused.json()).message, why)
    }
  }
  assert.equal((await plane(one, '/health')).status, 204)
  await server.kill()
})

test('files are composed of parts', async () => {
  await box.files.write('/tmp/p1', 'one,')
  await box.files.write('/tmp/p2', 'two')
  const compose = (message) => plane(box, '/files/compose', { method: 'POST', body: JSON.stringify(message), headers: { 'content-type': 'application/json' } })
  const made = await compose({ source_paths: ['/tmp/p1', '/tmp/p2'], destination: '/tmp/whole/file' })
  assert.equal(made.status, 200)
  assert.equal((await made.json()).path, '/tmp/whole/file')
  assert.equal(await box.files.read('/tmp/whole/file'), 'one,two')
  assert.equal(await box.files.exists('/tmp/p1'), false)
  for (const [message, status] of [[{}, 400], [{ source_paths: [], destination: '/x' }, 400], [{ source_paths: ['/tmp/none'], destination: '/tmp/x' }, 404],
    [{ source_paths: ['/tmp/whole/file'], destination: '/tmp/whole/file' }, 400], [{ source_paths: ['/tmp/whole/file'], destination: '/tmp/x', username: 'nobody-here' }, 401]]) {
    assert.equal((await compose(message)).status, status, JSON.stringify(message))
  }
})

test('downloads are whole or in part', async () => {
  await box.files.write('/tmp/range', '0123456789')
  const get = (range) => plane(box, '/files?path=/tmp/range', { headers: range ? { Range: range } : {} })
  const part = await get('bytes=2-4')
  assert.deepEqual([part.status, await part.text(), part.headers.get('content-range')], [206, '234', 'bytes 2-4/10'])
  assert.equal(await (await get('bytes=-3')).text(), '789')
  assert.equal((await get('bytes=20-')).status, 416)
  const whole = await get()
  assert.equal(whole.headers.get('content-length'), '10')
  assert.match(whole.headers.get('content-disposition'), /inline; filename="?range/)
  assert.equal((await plane(box, '/files?path=/tmp/range', { headers: { 'Accept-Encoding': 'identity;q=0' } })).status, 406)
})

test('uploads that are wrong are refused', async () => {
  const post = (query, headers, body) => plane(box, `/files${query}`, { method: 'POST', headers, body })
  const octets = { 'content-type': 'application/octet-stream' }
  assert.equal((await post('', octets, 'x')).status, 400)
  assert.equal((await post('?path=/tmp', octets, 'x')).status, 400)
  assert.equal((await post('?path=/tmp/x', { 'content-type': 'text/plain' }, 'x')).status, 400)
  assert.equal((await post('?path=/tmp/x', { ...octets, 'content-encoding': 'br' }, 'x')).status, 400)
  assert.equal((await post('?path=/tmp/x', { ...octets, 'content-encoding': 'gzip' }, 'not gzip')).status, 400)
  assert.equal((await post('?path=/tmp/x', { 'content-type': 'multipart/form-data' }, 'x')).status, 400)
  assert.equal((await post('?path=/tmp/x', { 'content-type': 'multipart/form-data; boundary=b' }, '--b\r\nbroken')).status, 400)
  assert.equal((await post('?path=/tmp/x&username=nobody-here', octets, 'x')).status, 401)
  assert.equal((await post('?path=/tmp/x', { ...octets, 'x-metadata-k': 'v'.repeat(5000) }, 'x')).status, 400)
})

test('the interpreter answers errors as text', async () => {
  const post = (path, message) => plane(box, path, { method: 'POST', port: 49999, body: JSON.stringify(message), headers: { 'content-type': 'application/json' } })
  const both = await post('/execute', { code: '1', context_id: 'x', language: 'python' })
  assert.deepEqual([both.status, await both.text()], [400, 'Only one of context_id or language can be provided'])
  const none = await post('/execute', { code: '1', context_id: 'none' })
  assert.deepEqual([none.status, await none.text()], [404, 'Context none not found'])
  assert.equal((await post('/contexts/none/restart', {})).status, 404)
  assert.equal((await plane(box, '/contexts/none', { method: 'DELETE', port: 49999 })).status, 404)
  assert.ok((await post('/execute', { code: '1', language: 'cobol' })).status >= 400)
  const lines = (await (await post('/execute', { code: 'print(1)\n2', context_id: null, env_vars: null })).text()).trimEnd().split('\n').map((one) => JSON.parse(one))
  assert.deepEqual([...new Set(lines.map((one) => one.type))].sort(), ['end_of_execution', 'number_of_executions', 'result', 'stdout'])
  assert.equal(lines[0].type, 'number_of_executions', 'its number is told first')
  assert.equal(lines.at(-1).type, 'end_of_execution')
  assert.ok(lines.find((one) => one.type === 'stdout').timestamp)
  assert.equal(await (await plane(box, '/health', { port: 49999 })).text(), '"OK"')
})

test('a sandbox that paused itself wakes when somebody comes', async () => {
  const response = await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', timeout: 2, autoPause: true, autoResume: { enabled: true } } })
  const { sandboxID: sandboxId, envdAccessToken } = await response.json()
  const one = { sandboxId, envdAccessToken }
  const info = async () => (await control(`/sandboxes/${sandboxId}`)).json()
  assert.deepEqual((await info()).lifecycle, { autoResume: true, onTimeout: 'pause' })
  await eventually(async () => assert.equal((await info()).state, 'paused'), 30_000)
  await sleep(100)
  assert.equal((await unary(one, 'filesystem.Filesystem/Stat', { path: '/home/user' })).status, 200)
  assert.equal((await info()).state, 'running')
  assert.equal((await control(`/sandboxes/${sandboxId}`, { method: 'DELETE' })).status, 204)
})

test('several forks at once', async () => {
  await box.files.write('/home/user/before-fork', 'kept')
  const response = await control(`/sandboxes/${box.sandboxId}/fork`, { method: 'POST', body: { count: 3, timeout: 60 } })
  assert.equal(response.status, 201)
  const made = await response.json()
  assert.equal(made.length, 3)
  for (const { sandbox: one } of made) {
    const read = await plane({ sandboxId: one.sandboxID, envdAccessToken: one.envdAccessToken }, '/files?path=/home/user/before-fork')
    assert.equal(await read.text(), 'kept')
    assert.equal((await control(`/sandboxes/${one.sandboxID}`, { method: 'DELETE' })).status, 204)
  }
})
