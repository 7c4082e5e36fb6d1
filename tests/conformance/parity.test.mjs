// What the original's own suites look at and the other suites here do not: each test names the line of the original's
// public description that it holds us to.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { e2b, eventually, newest, plane, sandbox } from './harness.mjs'
import { create, json, post } from './rest.mjs'
import { unary } from './wire.mjs'

let box
before(async () => {
  box = await sandbox()
})
const upload = (one, path, body) => plane(one, `/files?path=${encodeURIComponent(path)}`, { method: 'POST', body, headers: { 'content-type': 'application/octet-stream' } })

// openapi.yml, /sandboxes/{sandboxID}/timeout and ConnectSandbox: timeout has minimum 0.
test('a time-out of zero ends a sandbox at once, and a negative one is refused', async () => {
  const one = await create({ timeout: 300 })
  assert.equal((await post(`/sandboxes/${one.sandboxID}/timeout`, { timeout: -1 })).status, 400)
  assert.equal((await post(`/v2/sandboxes/${one.sandboxID}/connect`, { timeout: 0 })).status, 200)
  assert.equal((await json(`/sandboxes/${one.sandboxID}`)).status, 200)
  assert.equal((await post(`/sandboxes/${one.sandboxID}/timeout`, { timeout: 0 })).status, 204)
  await eventually(async () => assert.equal((await json(`/sandboxes/${one.sandboxID}`)).status, 404))
})

// openapi.yml, /sandboxes/{sandboxID}/timeout and /refreshes: 404, as one that does not run; /snapshots of one: 409.
test('the time of a paused sandbox is set by who wakes it, and nothing is made of it', async () => {
  const one = await create({ timeout: 300 })
  assert.equal((await post(`/sandboxes/${one.sandboxID}/pause`)).status, 204)
  for (const [path, body] of [['timeout', { timeout: 60 }], ['refreshes', { duration: 60 }]]) {
    const answer = await post(`/sandboxes/${one.sandboxID}/${path}`, body)
    assert.deepEqual([answer.status, answer.body.code], [404, 404], path)
    assert.match(answer.body.message, /paused/)
  }
  const snapshot = await post(`/sandboxes/${one.sandboxID}/snapshots`, {})
  assert.deepEqual([snapshot.status, snapshot.body.code], [409, 409])
  assert.doesNotMatch(snapshot.body.message, /ses_/)
  const woken = await post(`/v2/sandboxes/${one.sandboxID}/connect`, { timeout: 900 })
  assert.equal(woken.status, 201)
  const { endAt } = (await json(`/sandboxes/${one.sandboxID}`)).body
  assert.ok(new Date(endAt) - Date.now() > 800_000, endAt)
})

// openapi.yml, GET /templates: teamID; a team that the key is not of is not found.
test('templates of another team are not found', async () => {
  const { body: teams } = await json('/teams')
  assert.equal((await json(`/templates?teamID=${teams[0].teamID}`)).status, 200)
  for (const path of ['/templates', '/v2/templates']) assert.equal((await json(`${path}?teamID=somebody-elses`)).status, 404, path)
})

// filesystem.proto, GetWatcherEvents: what happened until the call; one write of a new file is create, chmod, write.
test('events are there when the call that caused them has returned, a hundred times', async () => {
  await box.commands.run('mkdir -p /home/user/watched')
  const { watcherId } = await (await unary(box, 'filesystem.Filesystem/CreateWatcher', { path: '/home/user/watched' })).json()
  for (let round = 0; round < 100; ++round) {
    assert.equal((await upload(box, `/home/user/watched/f${round}`, 'text')).status, 200)
    const { events } = await (await unary(box, 'filesystem.Filesystem/GetWatcherEvents', { watcherId })).json()
    assert.deepEqual(events.map((one) => [one.name, one.type]),
      ['CREATE', 'CHMOD', 'WRITE'].map((kind) => [`f${round}`, `EVENT_TYPE_${kind}`]), `round ${round}`)
  }
  await unary(box, 'filesystem.Filesystem/RemoveWatcher', { watcherId })
})

// envd.yaml, POST /files: parent directories are created, and the file is the user's.
test('the default user writes and makes directories anywhere, and owns what was made', async () => {
  await box.files.write('/0/x.txt', 'here')
  assert.equal(await box.files.read('/0/x.txt'), 'here')
  assert.equal((await box.commands.run('stat -c "%U %n" /0 /0/x.txt')).stdout, 'user /0\nuser /0/x.txt\n')
  assert.equal(await box.files.makeDir('/newdir/sub'), true)
  assert.equal((await box.commands.run('stat -c %U /newdir /newdir/sub')).stdout, 'user\nuser\n')
  await box.files.write('/etc/motd-of-a-test', 'hello')
  assert.equal((await box.commands.run('stat -c %U /etc/motd-of-a-test')).stdout, 'user\n')
})

// A link that a program inside planted does not turn the hand of root elsewhere.
test('writing through a planted link needs the right to it', async () => {
  await box.commands.run('ln -s /etc/shadow /home/user/planted && ln -s /etc /home/user/way')
  assert.notEqual((await upload(box, '/home/user/planted', 'x')).status, 200)
  assert.notEqual((await upload(box, '/home/user/way/new', 'x')).status, 200)
  assert.equal((await box.commands.run('stat -c %U /etc/shadow; ls /etc/new 2>&1 || true', { user: 'root' })).stdout.split('\n')[0], 'root')
})

// openapi.yml, SandboxLog: a line; the command line of the original reads it as an object with level and message.
test('a log line is an object with a level and a message', async () => {
  await box.commands.run('echo logged')
  const { logs } = (await json(`/sandboxes/${box.sandboxId}/logs`)).body
  assert.ok(logs.length > 0)
  for (const one of logs) {
    const line = JSON.parse(one.line)
    assert.ok(['debug', 'info', 'warn', 'error'].includes(line.level))
    assert.equal(typeof line.message, 'string')
  }
  assert.ok(logs.some((one) => JSON.parse(one.line).message.includes('echo logged')))
})

// openapi.yml, /sandboxes/{sandboxID}/logs, and what the command line does while it follows them: they outlive the sandbox.
test('logs are there after the end', async () => {
  const one = await sandbox()
  await one.commands.run('echo the last words')
  await one.kill()
  for (const path of ['/sandboxes', '/v2/sandboxes']) {
    const { status, body } = await json(`${path}/${one.sandboxId}/logs`)
    assert.equal(status, 200, path)
    assert.match(JSON.stringify(body.logs), /the last words/)
    assert.equal((await json(`${path}/${one.sandboxId}/logs`, { apiKey: process.env.OTHER_KEY })).status, 404)
  }
  assert.equal((await json(`/sandboxes/${one.sandboxId}`)).status, 404)
})

// A paused guest cannot answer: whoever asked it is told so at once.
test('a request beside a pause is answered', async () => {
  const one = await sandbox()
  await one.files.write('/home/user/a', 'x'.repeat(1 << 20))
  for (let round = 0; round < 40; ++round) {
    const asked = Array.from({ length: 4 }, (_, i) => plane(one, i % 2 ? '/files?path=/home/user/a' : '/files?path=/home/user', { signal: AbortSignal.timeout(20_000) })
      .then(async (answer) => [answer.status, (await answer.arrayBuffer().catch(() => new ArrayBuffer(0))).byteLength]))
    const paused = post(`/sandboxes/${one.sandboxId}/pause`)
    for (const [status] of await Promise.all(asked)) assert.ok([200, 400, 409, 502].includes(status), `round ${round}: ${status}`)
    assert.equal((await paused).status, 204)
    const after = await plane(one, '/files?path=/home/user/a', { signal: AbortSignal.timeout(20_000) })
    assert.equal(after.status, 502)
    await after.arrayBuffer()
    await one.connect()
  }
})

// The stream is reset and not ended: that is how the SDKs tell. Older JavaScript ones have no error of their own for it.
test('a command of a sandbox that is killed says so', async () => {
  const one = await sandbox()
  const command = await one.commands.run('echo begun; sleep 600', { background: true, timeoutMs: 0 })
  await eventually(async () => assert.equal(command.stdout, 'begun\n'))
  await one.kill()
  await assert.rejects(() => command.wait(), (error) => !newest || (error instanceof e2b.TimeoutError && /killed|end of life|not found/.test(error.message)))
})
