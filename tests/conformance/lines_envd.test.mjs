// Section 3 of the wire, what other suites leave: streams that are cut, watchers, uploads part by part, ports, words of errors.
import assert from 'node:assert/strict'
import http from 'node:http'
import { before, test } from 'node:test'
import { e2b, eventually, plane, sandbox, url } from './harness.mjs'
import { create, info, json, kill, post } from './rest.mjs'
import { all, envelope, frames, raw, rpc, shell, unary } from './wire.mjs'

const { hostname, port } = new URL(url)
const told = async (answer) => [answer.status, await answer.json()]
const octets = { 'content-type': 'application/octet-stream' }
const upload = (box, path, body, headers = {}) => plane(box, `/files?path=${encodeURIComponent(path)}`, { method: 'POST', body, headers: { ...octets, ...headers } })
const read = async (box, path) => (await plane(box, `/files?path=${encodeURIComponent(path)}`)).text()
const output = (seen, name) => Buffer.concat(seen.map((one) => one.message.event?.data?.[name]).filter(Boolean).map((one) => Buffer.from(one, 'base64')))
const run = async (box, message, headers) => all(await rpc(box, 'process.Process/Start', envelope(message), { 'connect-timeout-ms': '60000', ...headers }))
const basic = (user) => ({ authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` })
let box
before(async () => {
  box = await sandbox()
})

// A stream that is read until it ends, whichever way.
async function follow(response) {
  let bytes = Buffer.alloc(0), cut = false
  const reader = response.body.getReader()
  const over = (async () => {
    try {
      for (let piece; !(piece = await reader.read()).done;) bytes = Buffer.concat([bytes, piece.value])
    } catch {
      cut = true
    }
  })()
  return { over, isCut: () => cut, seen: () => bytes, has: (text) => eventually(async () => assert.ok(bytes.includes(text), String(bytes))) }
}

test('streams of a sandbox that is killed are cut, not ended', async () => {
  for (const end of ['kill', 'pause', 'time']) {
    const one = await create({ timeout: end === 'time' ? 4 : 300 })
    const process = await follow(await rpc(one, 'process.Process/Start', envelope(shell('echo begun; sleep 600')), { 'connect-timeout-ms': '600000' }))
    const watch = await follow(await rpc(one, 'filesystem.Filesystem/WatchDir', envelope({ path: '/home/user' })))
    const code = await follow(await plane(one, '/execute', { method: 'POST', port: 49999, body: JSON.stringify({ code: 'import time; print(1); time.sleep(600)' }), headers: { 'content-type': 'application/json' } }))
    await process.has('"data"')
    await watch.has('"start"')
    await code.has('stdout')
    if (end === 'kill') assert.equal((await kill(one)).status, 204)
    if (end === 'pause') {
      assert.equal((await post(`/sandboxes/${one.sandboxID}/pause`)).status, 204)
      assert.equal((await plane(one, '/health')).status, 502)
      assert.equal((await kill(one)).status, 204)
    }
    for (const [name, stream] of Object.entries({ process, watch, code })) {
      await stream.over
      assert.ok(stream.isCut(), `${name} after ${end}`)
      assert.ok(!stream.seen().includes('end_of_execution'))
      if (name !== 'code') assert.ok([...frames(stream.seen())].every((one) => one.flag === 0), `${name} after ${end}`)
    }
    const health = await plane(one, '/health')
    assert.deepEqual(await told(health), [502, { sandboxId: one.sandboxID, message: 'The sandbox was not found', code: 502 }])
    assert.equal((await plane(one, '/health', { port: 49999 })).status, 502)
  }
})

test('a watch starts, tells, keeps alive and is told apart from a refusal', async () => {
  await unary(box, 'filesystem.Filesystem/MakeDir', { path: '/home/user/seen' })
  await upload(box, '/home/user/seen/old', 'first')
  const watch = await follow(await rpc(box, 'filesystem.Filesystem/WatchDir', envelope({ path: '/home/user/seen', recursive: true, includeEntry: true, allowNetworkMounts: true }), { 'keepalive-ping-interval': '1' }))
  await watch.has('"start"')
  await watch.has('keepalive')
  await upload(box, '/home/user/seen/old', 'second')
  await upload(box, '/home/user/seen/sub/new', 'x')
  await run(box, shell('cd /home/user/seen && chmod 600 old && mv old moved && rm moved'))
  const events = () => [...frames(watch.seen())].map((one) => one.message.filesystem).filter(Boolean)
  const has = (name, type) => eventually(async () => assert.ok(events().some((one) => one.name === name && one.type === `EVENT_TYPE_${type}`), `${type} ${name} in ${JSON.stringify(events())}`))
  for (const [name, type] of [['old', 'WRITE'], ['sub', 'CREATE'], ['old', 'CHMOD'], ['old', 'RENAME'], ['moved', 'CREATE'], ['moved', 'REMOVE']]) await has(name, type)
  // Directories that come later are watched too.
  await upload(box, '/home/user/seen/sub/later', 'x')
  await eventually(async () => {
    await upload(box, '/home/user/seen/sub/later', 'y')
    assert.ok(events().some((one) => one.name === 'sub/later'))
  })
  const messages = [...frames(watch.seen())].map((one) => one.message)
  assert.deepEqual(messages[0], { start: {} })
  const write = events().find((one) => one.type === 'EVENT_TYPE_WRITE' && one.name === 'old')
  assert.equal(write.entry.path, '/home/user/seen/old')
  assert.ok(events().filter((one) => ['EVENT_TYPE_REMOVE', 'EVENT_TYPE_RENAME'].includes(one.type)).every((one) => !('entry' in one)))
  for (const [path, code] of [['/no/such', 'not_found'], ['/etc/passwd', 'invalid_argument'], ['~other', 'invalid_argument']]) {
    const [only, ...rest] = await all(await rpc(box, 'filesystem.Filesystem/WatchDir', envelope({ path })))
    assert.deepEqual([only.flag, only.message.error.code, rest.length], [2, code, 0], path)
  }
})

test('output comes in pieces of a size, and whole', async () => {
  const seen = await run(box, shell('head -c 1000000 /dev/zero | tr "\\0" x; head -c 200000 /dev/zero | tr "\\0" y >&2'))
  assert.deepEqual([output(seen, 'stdout').length, output(seen, 'stderr').length], [1_000_000, 200_000])
  const sizes = (frame, name) => frame.map((one) => one.message.event?.data?.[name]).filter(Boolean).map((one) => Buffer.from(one, 'base64').length)
  assert.ok(Math.max(...sizes(seen, 'stdout')) <= 32_768, String(Math.max(...sizes(seen, 'stdout'))))
  const terminal = await run(box, { process: { cmd: '/bin/bash', args: ['-c', 'head -c 300000 /dev/zero | tr "\\0" z'] }, pty: { size: { cols: 80, rows: 24 } } })
  assert.equal(output(terminal, 'pty').toString().replace(/[^z]/g, '').length, 300_000)
  assert.ok(Math.max(...sizes(terminal, 'pty')) <= 16_384, String(Math.max(...sizes(terminal, 'pty'))))
})

test('a process has the variables it was given and few others', async () => {
  const one = await create({ envVars: { OF_SANDBOX: 'one', BOTH: 'sandbox' } })
  const seen = await run(one, { process: { cmd: '/usr/bin/env', envs: { OF_CALL: 'two', BOTH: 'call' } } })
  const variables = Object.fromEntries(output(seen, 'stdout').toString().trim().split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  assert.deepEqual([variables.OF_SANDBOX, variables.OF_CALL, variables.BOTH], ['one', 'two', 'call'])
  assert.deepEqual([variables.HOME, variables.USER, variables.LOGNAME, variables.E2B_SANDBOX], ['/home/user', 'user', 'user', 'true'])
  assert.match(variables.PATH, /\/usr\/bin/)
  for (const name of Object.keys(variables)) assert.doesNotMatch(name, /^(ATOLL|INVOCATION|SYSTEMD|SHLVL|OLDPWD)/)
  assert.equal((await (await plane(one, '/envs')).json()).OF_SANDBOX, 'one')
  const as = async (user, message = { process: { cmd: '/bin/sh', args: ['-c', 'id -un; echo $HOME; pwd'] } }) => output(await run(one, message, basic(user)), 'stdout').toString()
  assert.equal(await as('root'), 'root\n/root\n/root\n')
  assert.equal(await as('user'), 'user\n/home/user\n/home/user\n')
  const where = async (cwd) => output(await run(one, { process: { cmd: '/bin/pwd', cwd } }), 'stdout').toString().trim()
  await unary(one, 'filesystem.Filesystem/MakeDir', { path: 'below' })
  for (const [cwd, path] of [['~', '/home/user'], ['~/below', '/home/user/below'], ['below', '/home/user/below'], ['', '/home/user'], ['/tmp', '/tmp']]) assert.equal(await where(cwd), path, cwd)
  await kill(one)
})

test('input: none, a pipe, and a pipe unless it is refused', async () => {
  const first = async (message) => {
    const response = await rpc(box, 'process.Process/Start', envelope(message), { 'connect-timeout-ms': '60000' })
    const stream = await follow(response)
    await stream.has('"start"')
    return { stream, pid: [...frames(stream.seen())][0].message.event.start.pid }
  }
  const none = await run(box, { process: { cmd: '/bin/cat' }, stdin: false })
  assert.equal(none.at(-2).message.event.end.status, 'exit status 0', '/dev/null ends at once')
  const pipe = await first({ process: { cmd: '/bin/cat' } })
  const text = (word) => Buffer.from(word).toString('base64')
  assert.deepEqual(await told(await unary(box, 'process.Process/SendInput', { process: { pid: pipe.pid }, input: { stdin: text('in') } })), [200, {}])
  assert.deepEqual(await told(await unary(box, 'process.Process/CloseStdin', { process: { pid: pipe.pid } })), [200, {}])
  await pipe.stream.over
  assert.equal(output([...frames(pipe.stream.seen())], 'stdout').toString(), 'in')
  for (const selector of [{ pid: 424_242 }, { tag: 'no-such-tag' }]) {
    for (const [method, more] of [['SendInput', { input: { stdin: text('x') } }], ['CloseStdin', {}], ['SendSignal', { signal: 'SIGNAL_SIGTERM' }], ['Update', { pty: { size: { cols: 1, rows: 1 } } }]]) {
      const [status, body] = await told(await unary(box, `process.Process/${method}`, { process: selector, ...more }))
      assert.deepEqual([status, body.code, body.message], [404, 'not_found', selector.pid ? 'process with pid 424242 not found' : 'process with tag no-such-tag not found'], method)
    }
  }
})

test('several who connect see the same from then on', async () => {
  const tag = `shared-${Math.random()}`
  const start = await follow(await rpc(box, 'process.Process/Start', envelope({ ...shell('echo early; read x; echo late; exit 5'), tag, stdin: true }), { 'connect-timeout-ms': '60000' }))
  await start.has('"data"')
  const others = await Promise.all([0, 1].map(async () => follow(await rpc(box, 'process.Process/Connect', envelope({ process: { tag } })))))
  for (const one of others) await one.has('"start"')
  const { processes } = await (await unary(box, 'process.Process/List', {})).json()
  const listed = processes.find((one) => one.tag === tag)
  assert.deepEqual([listed.config.cmd, listed.config.args[0]], ['/bin/bash', '-c'])
  await unary(box, 'process.Process/SendInput', { process: { tag }, input: { stdin: Buffer.from('\n').toString('base64') } })
  for (const one of [start, ...others]) {
    await one.over
    const seen = [...frames(one.seen())]
    assert.equal(seen[0].message.event.start.pid, listed.pid)
    assert.equal(output(seen, 'stdout').toString(), one === start ? 'early\nlate\n' : 'late\n')
    assert.deepEqual([seen.at(-2).message.event.end.exitCode, seen.at(-1).flag], [5, 2])
  }
})

const part = (name, text, filename) => `--b\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n${text}\r\n`
const form = (...parts) => parts.join('') + '--b--\r\n'
const parts = (query, body) => plane(box, `/files${query}`, { method: 'POST', body, headers: { 'content-type': 'multipart/form-data; boundary=b' } })

test('forms: every part named file, by path or by its own name', async () => {
  const many = await parts('', form(part('file', 'one', '/tmp/forms/1.txt'), part('note', 'ignored', '/tmp/forms/no.txt'), part('file', 'two', 'forms/2.txt')))
  assert.deepEqual(await told(many), [200, [{ name: '1.txt', type: 'file', path: '/tmp/forms/1.txt' }, { name: '2.txt', type: 'file', path: '/home/user/forms/2.txt' }]])
  assert.deepEqual([await read(box, '/tmp/forms/1.txt'), await read(box, 'forms/2.txt')], ['one', 'two'])
  assert.equal((await plane(box, '/files?path=/tmp/forms/no.txt')).status, 404)
  const bare = await parts('?path=/tmp/forms/bare', form(part('file', 'bare')))
  assert.deepEqual(await told(bare), [200, [{ name: 'bare', type: 'file', path: '/tmp/forms/bare' }]])
  const named = await parts('?path=/tmp/forms/query', form(part('file', 'query', 'other.txt')))
  assert.equal((await named.json())[0].path, '/tmp/forms/query')
  for (const [query, body] of [['', form(part('file', '1', '/tmp/same'), part('file', '2', '/tmp/./same'))], ['?path=/tmp/same', form(part('file', '1', 'a'), part('file', '2', 'b'))],
    ['', form(part('file', 'x'))], ['', form(part('other', 'x', 'y'))], ['', form()], ['?path=/tmp', form(part('file', 'x', 'y'))]]) {
    const [status, refused] = await told(await parts(query, body))
    assert.deepEqual([status, refused.code, typeof refused.message], [400, 400, 'string'], query + body)
  }
})

test('what is uploaded belongs to its user, below directories that were not there', async () => {
  assert.equal((await upload(box, '/home/user/fresh/er/file', 'x')).status, 200)
  const entry = async (path) => (await (await unary(box, 'filesystem.Filesystem/Stat', { path })).json()).entry
  const file = await entry('/home/user/fresh/er/file'), directory = await entry('/home/user/fresh')
  assert.deepEqual([file.owner, file.group, file.mode, directory.owner, directory.mode], ['user', 'user', 0o644, 'user', 0o755])
  const moved = await unary(box, 'filesystem.Filesystem/Move', { source: '/home/user/fresh/er/file', destination: '/home/user/else/where/file' })
  assert.equal((await moved.json()).entry.path, '/home/user/else/where/file')
  const made = await unary(box, 'filesystem.Filesystem/MakeDir', { path: 'made/deep' })
  const { entry: deep } = await made.json()
  assert.deepEqual([deep.type, deep.mode, deep.owner, deep.path], ['FILE_TYPE_DIRECTORY', 0o755, 'user', '/home/user/made/deep'])
  assert.equal((await plane(box, '/files?path=/root/up&username=root', { method: 'POST', body: 'r', headers: octets })).status, 200)
  assert.equal(await (await plane(box, '/files?path=up&username=root')).text(), 'r')
  assert.deepEqual(await told(await plane(box, '/files?path=x&username=nobody-here')), [401, { code: 401, message: "error looking up user 'nobody-here': user: unknown user nobody-here" }])
})

test('metadata is replaced as a whole, and bounded', async () => {
  const stat = async () => (await (await unary(box, 'filesystem.Filesystem/Stat', { path: 'noted' })).json()).entry.metadata ?? {}
  const first = await upload(box, 'noted', 'x', { 'X-Metadata-Author': 'Ann', 'x-metadata-kind': 'a note' })
  assert.deepEqual(await told(first), [200, [{ name: 'noted', type: 'file', path: '/home/user/noted', metadata: { author: 'Ann', kind: 'a note' } }]])
  assert.deepEqual(await stat(), { author: 'Ann', kind: 'a note' })
  await upload(box, 'noted', 'y', { 'X-Metadata-Kind': 'other' })
  assert.deepEqual(await stat(), { kind: 'other' })
  const inside = output(await run(box, shell(`python3 -c "import os; os.setxattr('/home/user/noted', 'user.e2b.inside', b'yes'); print(os.listxattr('/home/user/noted'))"`)), 'stdout').toString()
  assert.match(inside, /user\.e2b\.inside/)
  assert.deepEqual(await stat(), { kind: 'other', inside: 'yes' })
  await upload(box, 'noted', 'z')
  assert.deepEqual(await stat(), {})
  for (const headers of [{ 'X-Metadata-A': 'v'.repeat(4097) }, { [`X-Metadata-${'k'.repeat(247)}`]: 'v' }, { 'X-Metadata-A': 'caf\u00e9' }]) {
    const [status, refused] = await told(await upload(box, 'noted', 'x', headers))
    assert.deepEqual([status, refused.code], [400, 400], Object.keys(headers)[0].slice(0, 20))
  }
})

test('an empty file has a length', async () => {
  await upload(box, 'nothing', '')
  const answer = await raw(`GET /files?path=nothing HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: ${box.sandboxId}\r\nE2b-Sandbox-Port: 49983\r\nX-Access-Token: ${box.envdAccessToken ?? ''}\r\nConnection: close\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /\r\nContent-Length: 0\r\n/i)
  assert.doesNotMatch(answer, /transfer-encoding/i)
})

test('signatures open what they were made for', async () => {
  const one = await create()
  await upload(one, '/home/user/s.txt', 'signed')
  const sign = async (operation, path, user, seconds) => (await e2b.getSignature({ path, operation, user, expirationInSeconds: seconds, envdAccessToken: one.envdAccessToken }))
  const ask = async (method, query) => {
    const form = new FormData()
    form.append('file', new Blob(['up']), 'any')
    const answer = await fetch(`${url}/files?${new URLSearchParams(query)}`, { method, body: method === 'POST' ? form : undefined })
    const text = await answer.text()
    return [answer.status, text.startsWith('{') ? JSON.parse(text).message : text]
  }
  const get = await sign('read', 's.txt', 'user'), put = await sign('write', 's.txt', 'user'), anybody = await sign('read', 's.txt')
  assert.deepEqual(await ask('GET', { path: 's.txt', username: 'user', signature: get.signature }), [200, 'signed'])
  assert.deepEqual(await ask('GET', { path: 's.txt', signature: anybody.signature }), [200, 'signed'])
  for (const [method, query] of [['POST', { path: 's.txt', username: 'user', signature: get.signature }], ['GET', { path: 's.txt', username: 'user', signature: put.signature }],
    ['GET', { path: '/home/user/s.txt', username: 'user', signature: get.signature }], ['GET', { path: 's.txt', username: 'root', signature: get.signature }],
    ['GET', { path: 's.txt', username: 'user', signature: get.signature, signature_expiration: '4000000000' }]]) {
    assert.deepEqual(await ask(method, query), [401, 'invalid signature'], JSON.stringify(query))
  }
  const late = await sign('read', 's.txt', 'user', -60)
  assert.deepEqual(await ask('GET', { path: 's.txt', username: 'user', signature: late.signature, signature_expiration: String(late.expiration) }), [401, 'signature is already expired'])
  assert.equal((await ask('POST', { path: 's.txt', username: 'user', signature: put.signature }))[0], 200)
  assert.equal(await read(one, '/home/user/s.txt'), 'up')
  // Without a token nothing is checked.
  const open = await create({ secure: false }, '')
  assert.equal(open.envdAccessToken, undefined)
  assert.equal((await plane(open, '/files?path=/etc/hostname', { headers: { 'X-Access-Token': 'anything' } })).status, 200)
  for (const each of [one, open]) await kill(each)
})

test('routing that leads nowhere is told in plain words', async () => {
  const ask = (headers) => new Promise((resolve, reject) => {
    http.get({ hostname, port, path: '/health', headers }, (response) => {
      let text = ''
      response.on('data', (piece) => (text += piece)).on('end', () => resolve([response.statusCode, text.trim()]))
    }).on('error', reject)
  })
  const id = box.sandboxId
  for (const [headers, status, words] of [[{ 'E2b-Sandbox-Id': id }, 400, 'missing header'], [{ 'E2b-Sandbox-Port': '49983' }, 400, 'missing header'], [{ 'E2b-Sandbox-Id': id, 'E2b-Sandbox-Port': 'x' }, 400, 'Invalid sandbox port'],
    [{ 'E2b-Sandbox-Id': id, 'E2b-Sandbox-Port': '70000' }, 400, 'Invalid sandbox port'], [{ 'E2b-Sandbox-Id': 'BAD', 'E2b-Sandbox-Port': '49983' }, 400, 'Invalid sandbox ID'],
    [{ Host: `0-${id}.e2b.localhost` }, 400, 'Invalid sandbox port'], [{ Host: '3000-a_b.e2b.localhost' }, 400, 'Invalid sandbox ID'], [{ Host: `49983-${id}-suffix.e2b.localhost` }, 204, ''],
    [{ Host: 'sandbox.e2b.localhost', 'E2b-Sandbox-Id': id, 'E2b-Sandbox-Port': '49983' }, 204, ''], [{ Host: `49983-${id}.e2b.localhost`, 'E2b-Sandbox-Id': 'i11111111111111111111', 'E2b-Sandbox-Port': '49983' }, 204, '']]) {
    assert.deepEqual(await ask(headers), [status, words], JSON.stringify(headers))
  }
})

test('a port is reached with every method, body and status', async () => {
  await upload(box, '/tmp/mirror.py', `
import http.server
class Mirror(http.server.BaseHTTPRequestHandler):
  protocol_version = 'HTTP/1.1'
  def answer(self):
    body = self.rfile.read(int(self.headers.get('Content-Length') or 0)) if self.headers.get('Transfer-Encoding') != 'chunked' else self.chunks()
    text = (self.command + ' ' + self.path + ' ' + str(len(body)) + ' ' + str(self.headers.get('X-Own'))).encode()
    self.send_response(418 if self.path.startswith('/tea') else 200); self.send_header('X-Back', 'yes'); self.send_header('Set-Cookie', 'a=1'); self.send_header('Set-Cookie', 'b=2')
    self.send_header('Content-Length', str(len(text))); self.end_headers(); self.command == 'HEAD' or self.wfile.write(text)
  def chunks(self):
    out = b''
    while size := int(self.rfile.readline(), 16): out += self.rfile.read(size); self.rfile.readline()
    self.rfile.readline(); return out
  do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = answer
http.server.ThreadingHTTPServer(('127.0.0.1', 8222), Mirror).serve_forever()`)
  const server = await rpc(box, 'process.Process/Start', envelope({ process: { cmd: '/usr/bin/python3', args: ['/tmp/mirror.py'] } }), { 'connect-timeout-ms': '120000' })
  const ask = (path, options) => plane(box, path, { port: 8222, ...options })
  await eventually(async () => assert.equal((await ask('/')).status, 200), 30_000)
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await ask('/a%20b?q=%26', { method, headers: { 'X-Own': 'mine' }, body: method === 'GET' ? undefined : 'four' })
    assert.deepEqual([answer.status, await answer.text()], [200, `${method} /a%20b?q=%26 ${method === 'GET' ? 0 : 4} mine`])
  }
  assert.equal((await ask('/', { method: 'HEAD' })).headers.get('x-back'), 'yes')
  const chunked = await ask('/up', { method: 'POST', body: new Blob(['x'.repeat(100_000)]).stream() })
  assert.equal(await chunked.text(), 'POST /up 100000 None')
  const tea = await ask('/tea')
  assert.deepEqual([tea.status, tea.headers.getSetCookie()], [418, ['a=1', 'b=2']])
  await server.body.cancel()
})

test('a sandbox that paused itself is woken by any of its ports', async () => {
  for (const ask of [(one) => plane(one, '/health'), (one) => plane(one, '/', { port: 3000 }), (one) => plane(one, '/contexts', { port: 49999 })]) {
    const one = await create({ timeout: 1, autoPause: true, autoResume: { enabled: true } })
    await eventually(async () => assert.equal((await info(one)).state, 'paused'), 30_000)
    const answer = await ask(one)
    assert.ok([200, 204, 502].includes(answer.status))
    if (answer.status === 502) assert.equal((await answer.json()).message, 'The sandbox is running but port is not open')
    await kill(one)
  }
  // Without autoResume it stays as it is.
  const one = await create({ timeout: 1, autoPause: true })
  await eventually(async () => assert.equal((await info(one)).state, 'paused'), 30_000)
  assert.equal((await plane(one, '/', { port: 3000 })).status, 502)
  assert.equal((await info(one)).state, 'paused')
  await kill(one)
})

test('restricted traffic is told in the words of the original', async () => {
  const one = await create({ network: { allowPublicTraffic: false } })
  const words = 'Sandbox is secured with traffic access token. '
  for (const [headers, message] of [[{}, `${words}Token header 'e2b-traffic-access-token' is missing`], [{ 'E2B-Traffic-Access-Token': 'no' }, `${words}Provided token in header 'e2b-traffic-access-token' is invalid`]]) {
    for (const [path, options] of [['/', { port: 3000 }], ['/contexts', { port: 49999 }], ['/execute', { port: 49999, method: 'POST', body: '{"code":"1"}' }], ['/health', { port: 49999 }]]) {
      assert.deepEqual(await told(await plane(one, path, { ...options, headers })), [403, { sandboxId: one.sandboxID, message, code: 403 }], path)
    }
  }
  const good = { 'E2B-Traffic-Access-Token': one.trafficAccessToken }
  assert.equal((await plane(one, '/contexts', { port: 49999, headers: good })).status, 200)
  assert.equal((await plane(one, '/health')).status, 204)
  assert.equal((await (await plane(one, '/', { port: 3000, headers: good })).json()).message, 'The sandbox is running but port is not open')
  await kill(one)
})

test('what the plane tells about itself', async () => {
  const metrics = await (await plane(box, '/metrics')).json()
  assert.deepEqual(Object.keys(metrics).sort(), ['cpu_count', 'cpu_used_pct', 'disk_total', 'disk_used', 'mem_cache', 'mem_total', 'mem_total_mib', 'mem_used', 'mem_used_mib', 'ts'])
  for (const [name, value] of Object.entries(metrics)) assert.equal(typeof value, 'number', name)
  const health = await plane(box, '/health', { token: false })
  assert.deepEqual([health.status, health.headers.get('cache-control'), await health.text()], [204, 'no-store', ''])
  const list = await unary(box, 'process.Process/List', '')
  assert.deepEqual([list.status, list.headers.get('content-type').split(';')[0]], [200, 'application/json'])
  assert.equal((await json('/sandboxes/metrics?sandbox_ids=')).status, 200)
})
