import assert from 'node:assert/strict'
import { test } from 'node:test'
import { control, e2b, eventually, newest, plane, sandbox, sleep } from './harness.mjs'

const { Sandbox } = e2b

test('create gives a running sandbox', async () => {
  const box = await sandbox()
  assert.match(box.sandboxId, /^i[a-z0-9]{20}$/)
  assert.equal(await box.isRunning(), true)
})

test('getInfo tells what was asked', async () => {
  const box = await sandbox({ metadata: { who: 'me' }, timeoutMs: 60_000 })
  const info = await box.getInfo()
  assert.equal(info.sandboxId, box.sandboxId)
  assert.equal(info.metadata.who, 'me')
  assert.equal(info.state, 'running')
  assert.ok(info.startedAt instanceof Date && info.endAt instanceof Date)
  const life = info.endAt - info.startedAt
  assert.ok(life > 50_000 && life < 70_000, `${life}`)
  assert.ok(info.cpuCount >= 1 && info.memoryMB >= 512)
})

test('kill ends it, a second kill is false', async () => {
  const box = await sandbox()
  const killed = await box.kill()
  // The older SDK says nothing, and asks for health without saying whose.
  if (newest) assert.equal(killed, true)
  if (newest) assert.equal(await box.isRunning(), false)
  assert.equal(await Sandbox.kill(box.sandboxId), false)
})

test('getInfo of an unknown sandbox is not found', async () => {
  await assert.rejects(Sandbox.getInfo('i00000000000000000000'), (error) => error instanceof e2b.NotFoundError)
})

test('an unknown template is refused', async () => {
  await assert.rejects(Sandbox.create('no-such-template'), /not found/)
})

test('a wrong key is an authentication error', async () => {
  const apiKey = 'e2b_' + '1'.repeat(40)
  await assert.rejects(Sandbox.create({ apiKey }), (error) => error instanceof e2b.AuthenticationError)
})

test('setTimeout shortens and lengthens', async () => {
  const box = await sandbox({ timeoutMs: 300_000 })
  await box.setTimeout(10_000)
  const short = (await box.getInfo()).endAt - Date.now()
  assert.ok(short > 5_000 && short < 12_000, `${short}`)
  await box.setTimeout(200_000)
  assert.ok((await box.getInfo()).endAt - Date.now() > 150_000)
})

test('a sandbox ends when its time is over', async () => {
  const box = await sandbox({ timeoutMs: 2_000 })
  await eventually(() => assert.rejects(Sandbox.getInfo(box.sandboxId)), 60_000)
  if (newest) assert.equal(await box.isRunning(), false)
})

test('connect gives the same sandbox and only extends', async () => {
  const box = await sandbox({ timeoutMs: 300_000 })
  await box.files.write('x.txt', 'kept')
  const again = await Sandbox.connect(box.sandboxId, { timeoutMs: 10_000 })
  assert.equal(await again.files.read('x.txt'), 'kept')
  assert.ok((await box.getInfo()).endAt - Date.now() > 200_000)
})

test('connect to an unknown sandbox is refused', async () => {
  await assert.rejects(Sandbox.connect('i00000000000000000000'))
})

test('list finds by metadata and state, in pages', async () => {
  const mark = 'm' + Math.random()
  const boxes = []
  for (let i = 0; i < 3; i++) boxes.push(await sandbox({ metadata: { mark, odd: 'k y&1=%' } }))
  const pages = Sandbox.list({ query: { metadata: { mark, odd: 'k y&1=%' } }, limit: 2 })
  const found = []
  while (pages.hasNext) found.push(...(await pages.nextItems()))
  assert.deepEqual(found.map((one) => one.sandboxId).sort(), boxes.map((one) => one.sandboxId).sort())
  const none = Sandbox.list({ query: { metadata: { mark: 'other' } } })
  assert.equal((await none.nextItems()).length, 0)
  const paused = Sandbox.list({ query: { metadata: { mark }, state: ['paused'] } })
  assert.equal((await paused.nextItems()).length, 0)
})

test('envs reach every process', async () => {
  const box = await sandbox({ envs: { COLOUR: 'blue' } })
  assert.equal((await box.commands.run('echo $COLOUR')).stdout, 'blue\n')
  assert.equal((await box.commands.run('echo $COLOUR', { envs: { COLOUR: 'red' } })).stdout, 'red\n')
})

test('pause and connect keep files; a second pause is false', async () => {
  const box = await sandbox()
  await box.files.write('kept.txt', 'still here')
  const pause = box.pause ? () => box.pause() : () => box.betaPause()
  assert.notEqual(await pause(), false)
  if (newest) assert.equal(await box.isRunning(), false)
  assert.equal(await pause(), false)
  assert.equal((await Sandbox.getInfo(box.sandboxId)).state, 'paused')
  const again = await Sandbox.connect(box.sandboxId)
  assert.equal(await again.files.read('kept.txt'), 'still here')
  assert.equal(await box.isRunning(), true)
})

test('getMetrics gives samples', async () => {
  const box = await sandbox()
  await sleep(300)
  const samples = await box.getMetrics()
  assert.ok(samples.length >= 1)
  assert.ok(samples[0].memTotal > 0 && samples[0].cpuCount >= 1 && samples[0].diskTotal > 0)
  assert.ok(samples[0].timestamp instanceof Date)
  const before = await box.getMetrics({ start: new Date(0), end: new Date(1_000_000) })
  if (newest) assert.equal(before.length, 0)
})

test('getHost names port and sandbox', async () => {
  const box = await sandbox()
  assert.ok(box.getHost(3000).startsWith(`3000-${box.sandboxId}.`))
})

test('snapshots survive their sandbox', { skip: !newest }, async () => {
  const box = await sandbox()
  await box.files.write('/home/user/s.txt', 'snapshot me')
  const snapshot = await box.createSnapshot()
  await box.kill()
  const next = await sandbox({ template: snapshot.snapshotId }).catch(() => Sandbox.create(snapshot.snapshotId))
  assert.equal(await next.files.read('/home/user/s.txt'), 'snapshot me')
  await next.kill()
  const list = Sandbox.listSnapshots()
  const items = await list.nextItems()
  assert.ok(items.some((one) => one.snapshotId === snapshot.snapshotId))
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)
})

test('fork copies the files', { skip: !newest || !Sandbox.prototype.fork }, async () => {
  const box = await sandbox()
  await box.files.write('/home/user/f.txt', 'forked')
  const results = await box.fork({ count: 2 })
  for (const result of results) {
    const copy = result.sandbox ?? result
    assert.notEqual(copy.sandboxId, box.sandboxId)
    assert.equal(await copy.files.read('/home/user/f.txt'), 'forked')
    await copy.kill()
  }
})

test('two sandboxes do not see each other', async () => {
  const [a, b] = await Promise.all([sandbox(), sandbox()])
  await a.files.write('/home/user/secret.txt', 'a')
  assert.equal(await b.files.exists('/home/user/secret.txt'), false)
})

test('errors of the control plane have code and message', async () => {
  for (const [path, options, status] of [
    ['/sandboxes/i00000000000000000000', {}, 404],
    ['/sandboxes/a-b-c', {}, 400],
    ['/v2/sandboxes', { method: 'POST', body: { templateID: 'base', timeout: 0 } }, 400],
    ['/v2/sandboxes', { method: 'POST', body: { templateID: '' } }, 400],
    ['/v2/sandboxes', { method: 'POST', body: { templateID: 7 } }, 400],
    ['/v2/sandboxes?limit=0', {}, 400],
    ['/v2/sandboxes?nextToken=%00x', {}, 400],
    ['/v2/sandboxes', { apiKey: 'wrong' }, 401],
    ['/templates/aliases/none', {}, 404],
    ['/sandboxes/i00000000000000000000/pause', { method: 'POST' }, 404],
    ['/sandboxes/i00000000000000000000', { method: 'DELETE' }, 404],
    ['/v2/nothing', {}, 404],
  ]) {
    const response = await control(path, options)
    assert.equal(response.status, status, path)
    const body = await response.json()
    assert.equal(body.code, status, path)
    assert.equal(typeof body.message, 'string')
  }
})

test('the first generation of create has its own defaults', async () => {
  const response = await control('/sandboxes', { method: 'POST', body: { templateID: 'base', unknownField: 1 } })
  assert.equal(response.status, 201)
  const made = await response.json()
  assert.match(made.envdAccessToken, /^[0-9a-f]{40}$/, 'only secure: false makes an open one')
  for (const field of ['sandboxID', 'templateID', 'clientID', 'envdVersion']) assert.equal(typeof made[field], 'string')
  const info = await (await control('/sandboxes/' + made.sandboxID)).json()
  const life = new Date(info.endAt) - new Date(info.startedAt)
  assert.ok(life > 10_000 && life < 20_000, `${life}`)
  assert.equal((await control('/sandboxes/' + made.sandboxID, { method: 'DELETE' })).status, 204)
})

test('a wrong or missing access token is refused', async () => {
  const box = await sandbox()
  const token = await plane(box, '/process.Process/List', {
    method: 'POST', body: '{}', token: false, headers: { 'content-type': 'application/json' } })
  assert.equal(token.status, 401)
  assert.match((await token.json()).message, /unauthorized access/)
  const health = await plane(box, '/health', { token: false })
  assert.equal(health.status, 204)
})

test('an unknown sandbox is 502 on its plane', async () => {
  const response = await plane({ sandboxId: 'i00000000000000000000' }, '/health')
  assert.equal(response.status, 502)
  assert.equal((await response.json()).code, 502)
})
