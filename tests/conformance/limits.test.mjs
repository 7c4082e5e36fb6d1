// What is refused because there is no room, or because a sandbox is just becoming something else: a daemon of its own
// with little room, whose spawner can be made slow.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { e2b, eventually, newest, sleep } from './harness.mjs'

const { Sandbox } = e2b
const apiKey = `e2b_${'2'.repeat(40)}`
const perTenant = 3, perMachine = 5
let work, daemon, url, otherKey, sdk

before(async () => {
  work = mkdtempSync(join(tmpdir(), 'conformance-'))
  const settings = [`session.count=${perTenant}`, `session.machine_count=${perMachine}`, 'session.to_disk=0s', 'e2b.pool=1', 'native.pool=0']
  daemon = spawn(process.env.ATOLL, ['serve', '--listen', '127.0.0.1:0', '--data', join(work, 'data'), ...settings.flatMap((one) => ['--set', one])],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ATOLL_API_KEY: apiKey } })
  let said = ''
  daemon.stdout.on('data', (piece) => (said += piece))
  url = await eventually(async () => {
    const found = said.match(/ready on (http:\/\/\S+)/)
    assert.ok(found, said)
    return found[1]
  }, 60_000)
  otherKey = execFileSync(process.env.ATOLL, ['keys', '--data', join(work, 'data'), 'create', '--tenant', 'other'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).match(/e2b_[0-9a-f]+/)[0]
  // Keys of another process are seen a little later.
  await eventually(async () => assert.equal((await call('GET', '/v2/sandboxes', undefined, { by: otherKey })).status, 200), 30_000)
  sdk = { apiUrl: url, sandboxUrl: url, apiKey }
})
after(async () => {
  if (!daemon) return
  daemon.kill('SIGTERM')
  await once(daemon, 'exit')
  rmSync(work, { recursive: true, force: true })
})

async function call(method, path, body, { by = apiKey, headers = {} } = {}) {
  const answer = await fetch(url + path, { method, headers: { 'X-API-KEY': by, 'content-type': 'application/json', ...headers }, body: body && JSON.stringify(body) })
  const text = await answer.text()
  return { status: answer.status, body: text && JSON.parse(text), retryAfter: answer.headers.get('retry-after') }
}
const post = (path, body = {}, options) => call('POST', path, body, options)
const make = (body = {}, options) => post('/v2/sandboxes', { templateID: 'base', timeout: 300, ...body }, options)
const get = (box) => call('GET', `/sandboxes/${box.sandboxID}`)
const kill = (box, by) => call('DELETE', `/sandboxes/${box.sandboxID}`, undefined, { by })
const pause = (box) => post(`/sandboxes/${box.sandboxID}/pause`)
const plane = (box, path, port = 49983) =>
  call('GET', path, undefined, { headers: { 'E2b-Sandbox-Id': box.sandboxID, 'E2b-Sandbox-Port': String(port), 'X-Access-Token': box.envdAccessToken } })

async function made(body, options) {
  const answer = await make(body, options)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
function limited(answer, what) {
  assert.deepEqual([answer.status, answer.body.code, typeof answer.body.message], [429, 429, 'string'], what)
  assert.match(answer.retryAfter ?? '', /^\d+$/, what)
}
// Every test leaves nothing, so that the next one has all the room.
afterEach(async () => {
  for (const by of [apiKey, otherKey]) {
    for (const box of (await call('GET', '/v2/sandboxes', undefined, { by })).body) assert.equal((await kill(box, by)).status, 204)
  }
})

test('more than a tenant may run at once is 429, and says when to try again', async () => {
  const boxes = []
  for (let i = 0; i < perTenant; i++) boxes.push(await made())
  for (const generation of ['', '/v2']) limited(await post(`${generation}/sandboxes`, { templateID: 'base', timeout: 60 }), generation)
  limited(await post(`/sandboxes/${boxes[0].sandboxID}/fork`, { count: 2 }), 'a fork of which nothing can be made')
  // What is wrong is told before what is full, and others have their own room.
  assert.equal((await make({ templateID: 'none-of-this-name' })).status, 404)
  const stranger = await made({}, { by: otherKey })
  assert.equal((await kill(stranger, otherKey)).status, 204)
  // One that is paused does not run, and has to wait like the others.
  assert.equal((await pause(boxes[0])).status, 204)
  const fourth = await made()
  for (const path of [`/v2/sandboxes/${boxes[0].sandboxID}/connect`, `/sandboxes/${boxes[0].sandboxID}/connect`, `/sandboxes/${boxes[0].sandboxID}/resume`]) limited(await post(path, { timeout: 60 }), path)
  assert.equal((await get(boxes[0])).body.state, 'paused')
  assert.equal((await kill(fourth)).status, 204)
  assert.equal((await post(`/v2/sandboxes/${boxes[0].sandboxID}/connect`, { timeout: 60 })).status, 201)
  assert.equal((await plane(boxes[0], '/health')).status, 204)
})

test('as many at once as may, whoever asks at the same time', async () => {
  const answers = await Promise.all(Array.from({ length: 2 * perTenant }, () => make()))
  assert.deepEqual(answers.map((one) => one.status).sort(), [...Array(perTenant).fill(201), ...Array(perTenant).fill(429)])
  const [first, second] = answers.filter((one) => one.status === 201).map((one) => one.body)
  for (const box of [first, second]) assert.equal((await pause(box)).status, 204)
  assert.equal((await make()).status, 201)
  const woken = await Promise.all([first, second].map((box) => post(`/v2/sandboxes/${box.sandboxID}/connect`, { timeout: 60 })))
  assert.deepEqual(woken.map((one) => one.status).sort(), [201, 429])
})

test('traffic does not wake more than may run', async () => {
  const sleeper = await made({ autoPause: true, autoResume: { enabled: true } })
  assert.equal((await pause(sleeper)).status, 204)
  for (let i = 0; i < perTenant; i++) await made()
  for (const [path, port] of [['/', 8080], ['/files?path=/etc/hostname', 49983]]) {
    const refused = await plane(sleeper, path, port)
    limited(refused, path)
    if (port === 8080) assert.equal(refused.body.sandboxId, sleeper.sandboxID)
  }
  assert.equal((await get(sleeper)).body.state, 'paused')
})

test('of a fork that does not fit, what fits is made', async () => {
  const source = await made()
  const { status, body } = await post(`/sandboxes/${source.sandboxID}/fork`, { count: 4, timeout: 60 })
  assert.equal(status, 201)
  assert.equal(body.length, 4)
  for (const one of body) assert.deepEqual(Object.keys(one).length, 1, JSON.stringify(one))
  const copies = body.filter((one) => one.sandbox).map((one) => one.sandbox), errors = body.filter((one) => one.error).map((one) => one.error)
  assert.equal(copies.length, perTenant - 1)
  for (const error of errors) assert.deepEqual([error.code, typeof error.message, Object.keys(error).length], [429, 'string', 2])
  for (const copy of copies) assert.equal((await plane(copy, '/files?path=/none')).body.code, 404, 'it answers with its own token')
  const listed = (await call('GET', '/v2/sandboxes')).body.map((one) => one.sandboxID).sort()
  assert.deepEqual(listed, [source, ...copies].map((one) => one.sandboxID).sort(), 'nothing is left of those that were not made')
})

test('more than the machine holds is 503', async () => {
  for (let i = 0; i < perTenant; i++) await made()
  for (let i = perTenant; i < perMachine; i++) await made({}, { by: otherKey })
  const refused = await make({}, { by: otherKey })
  assert.deepEqual([refused.status, refused.body.code, typeof refused.body.message, refused.retryAfter], [503, 503, 'string', '1'])
  if (newest) await assert.rejects(Sandbox.create('base', { ...sdk, apiKey: otherKey }), (error) => error instanceof e2b.ServiceBusyError)
})

test('the SDK raises RateLimitError, and does not if there is room soon enough', async () => {
  const boxes = []
  for (let i = 0; i < perTenant; i++) boxes.push(await made())
  await assert.rejects(Sandbox.create('base', sdk), (error) => error instanceof e2b.RateLimitError)
  if (newest) {
    const [box] = await Promise.all([Sandbox.create('base', sdk), sleep(300).then(() => kill(boxes[0]))])
    assert.equal(await box.isRunning(), true)
  }
})

// The process that builds and ends sandboxes; what it forked for a moment has its name and its words, too.
function spawner() {
  const read = (pid, name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1')
    } catch {
      return ''
    }
  }
  const found = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && read(pid, 'comm') === 'atoll-spawner\n' && read(pid, 'cmdline').includes(work))
  const first = found.filter((pid) => !found.includes(read(pid, 'status').match(/^PPid:\s*(\d+)/m)?.[1]))
  assert.equal(first.length, 1, `spawners: ${found}`)
  return Number(first[0])
}
// While it stands still, what it was asked for goes on for as long as `meanwhile` takes.
async function slowly(change, meanwhile) {
  const pid = spawner()
  process.kill(pid, 'SIGSTOP')
  try {
    const changed = change()
    await meanwhile()
    process.kill(pid, 'SIGCONT')
    return await changed
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

test('one that is being killed cannot be connected to', async () => {
  for (const paused of [false, true]) {
    const box = await made()
    if (paused) assert.equal((await pause(box)).status, 204)
    const killed = await slowly(() => kill(box), async () => {
      await eventually(async () => assert.equal((await get(box)).status, 404))
      for (const path of [`/v2/sandboxes/${box.sandboxID}/connect`, `/sandboxes/${box.sandboxID}/connect`, `/sandboxes/${box.sandboxID}/resume`]) {
        const refused = await post(path, { timeout: 60 })
        assert.deepEqual([refused.status, refused.body.code], [409, 409], path)
      }
      assert.equal((await plane(box, '/health')).status, 502)
    })
    assert.equal(killed.status, 204)
    assert.equal((await post(`/v2/sandboxes/${box.sandboxID}/connect`, { timeout: 60 })).status, 404)
  }
})

test('one that is being paused is told as paused, takes nothing new, and wakes for who connects', async () => {
  const box = await made({ timeout: 60 })
  let connected
  const changed = await slowly(() => pause(box), async () => {
    await eventually(async () => assert.equal((await get(box)).body.state, 'paused'))
    for (const [path, port] of [['/files?path=/etc/hostname', 49983], ['/', 8080], ['/contexts', 49999]]) {
      const refused = await plane(box, path, port)
      assert.deepEqual([refused.status, refused.body], [409, { sandboxId: box.sandboxID, message: 'The sandbox is changing its state', code: 409 }], path)
    }
    assert.equal((await plane(box, '/health')).status, 502)
    assert.equal((await post(`/sandboxes/${box.sandboxID}/fork`)).status, 409)
    connected = post(`/v2/sandboxes/${box.sandboxID}/connect`, { timeout: 60 })
    await sleep(100)
  })
  assert.equal(changed.status, 204)
  assert.equal((await connected).status, 201)
  assert.equal((await get(box)).body.state, 'running')
  assert.equal((await plane(box, '/health')).status, 204)
})

test('one that wakes on traffic lets what comes while it is being paused wait', async () => {
  const box = await made({ autoPause: true, autoResume: { enabled: true } })
  let served
  await slowly(() => pause(box), async () => {
    await eventually(async () => assert.equal((await get(box)).body.state, 'paused'))
    served = plane(box, '/files?path=/none')
    await sleep(100)
  })
  assert.equal((await served).body.code, 404, 'a file that is not there, said by the sandbox')
  assert.equal((await get(box)).body.state, 'running')
})
