// Streams of a client: StreamInput, which Python's SDK uses, and answers that come before a body was read.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventually, plane, sandbox, sleep } from './harness.mjs'
import { all, envelope, raw, rpc, shell, unary } from './wire.mjs'

let box
before(async () => {
  box = await sandbox()
})

const base64 = (text) => Buffer.from(text).toString('base64')
const fed = (process) => ({ start: { process } })
const data = (text, kind = 'stdin') => ({ data: { input: { [kind]: base64(text) } } })
const feed = async (...messages) => all(await rpc(box, 'process.Process/StreamInput', Buffer.concat(messages.map((one) => envelope(one)))))
// A process that waits for input, and what it will have said at its end.
async function reader(line) {
  const handle = await box.commands.run(line, { background: true, stdin: true, timeoutMs: 60_000 })
  return handle
}

test('a stream of input is one answer and an end', async () => {
  const cat = await reader('head -c 11')
  const seen = await feed(fed({ pid: cat.pid }), data('hello '), { keepalive: {} }, data('world'))
  assert.deepEqual(seen.map((one) => [one.flag, one.message]), [[0, {}], [2, {}]])
  assert.equal((await cat.wait()).stdout, 'hello world')
})

test('input arrives before the stream ends', async () => {
  const cat = await reader('read line; echo "got $line"')
  let release
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(envelope(fed({ pid: cat.pid })))
      const whole = envelope(data('early\n'))
      controller.enqueue(whole.subarray(0, 7))
      await sleep(50)
      controller.enqueue(whole.subarray(7))
      release = () => controller.close()
    } })
  const answer = rpc(box, 'process.Process/StreamInput', body)
  assert.equal((await cat.wait()).stdout, 'got early\n')
  release()
  assert.equal((await all(await answer)).at(-1).flag, 2)
})

test('a stream for nobody, without a start, or cut is refused in its end', async () => {
  const code = (seen) => seen.at(-1).message.error?.code
  assert.equal(code(await feed(fed({ pid: 999_999 }), data('x'))), 'not_found')
  assert.equal(code(await feed(data('x'))), 'invalid_argument')
  assert.equal(code(await feed()), 'invalid_argument')
  const cat = await reader('cat')
  const cut = envelope(fed({ pid: cat.pid })).subarray(0, 12)
  assert.equal(code(await all(await rpc(box, 'process.Process/StreamInput', cut))), 'invalid_argument')
  const compressed = envelope(fed({ pid: cat.pid }), 1)
  assert.equal(code(await all(await rpc(box, 'process.Process/StreamInput', compressed))), 'invalid_argument')
  assert.equal(code(await feed(fed({ pid: cat.pid }), data('x', 'pty'))), 'internal')
  await cat.kill()
})

test('a stream needs its content type and its token', async () => {
  const answer = await plane(box, '/process.Process/StreamInput', { method: 'POST', body: envelope(fed({ pid: 1 })), headers: { 'content-type': 'application/json' } })
  assert.equal(answer.status, 415)
  const refused = await plane(box, '/process.Process/StreamInput', { method: 'POST', body: envelope(fed({ pid: 1 })), token: false, headers: { 'content-type': 'application/connect+json' } })
  assert.equal(refused.status, 401)
})

test('a process whose time is over is told as a deadline, not as an exit', async () => {
  const seen = await all(await rpc(box, 'process.Process/Start', envelope(shell('echo begun; sleep 300')), { 'connect-timeout-ms': '800' }))
  assert.equal(seen.at(-1).message.error.code, 'deadline_exceeded')
  assert.ok(!seen.some((one) => one.message.event?.end))
})

test('an answer that leaves a body unread says that it closes', async () => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const seen = await raw(`POST /no/such/path HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`, /\r\n\r\n/)
  assert.match(seen, /^HTTP\/1.1 404/)
  assert.match(seen, /Connection: close/i)
  const short = await raw('POST /no/such/path HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi', /\r\n\r\n/)
  assert.doesNotMatch(short, /Connection: close/i)
})

test('the same process is selected by its tag', async () => {
  const start = rpc(box, 'process.Process/Start', envelope({ ...shell('read x; echo "tagged $x"'), tag: 'the-tag', stdin: true }))
  await eventually(async () => {
    const list = await (await unary(box, 'process.Process/List', {})).json()
    assert.ok(list.processes.some((one) => one.tag === 'the-tag'))
  })
  await feed(fed({ tag: 'the-tag' }), data('one\n'))
  const seen = await all(await start)
  const out = seen.map((one) => one.message.event?.data?.stdout).filter(Boolean).map((one) => Buffer.from(one, 'base64')).join('')
  assert.equal(out, 'tagged one\n')
})
