// Methods that the other suites do not reach, and edge cases of the issue.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { control, e2b, eventually, interpreter, newest, plane, sandbox, sleep } from './harness.mjs'

const { Sandbox } = e2b
const only = { skip: !newest }
let box
before(async () => {
  box = await sandbox()
})

test('several files are written at once', { skip: !newest }, async () => {
  const written = await box.files.writeFiles([{ path: 'a.txt', data: 'a' }, { path: 'deep/b.txt', data: new Blob(['b']) }])
  assert.deepEqual(written.map((one) => one.path), ['/home/user/a.txt', '/home/user/deep/b.txt'])
  assert.equal(await box.files.read('deep/b.txt'), 'b')
})

test('a terminal is connected to again', only, async () => {
  let first = '', second = ''
  const decoder = new TextDecoder()
  const handle = await box.pty.create({ cols: 80, rows: 24, onData: (bytes) => (first += decoder.decode(bytes)) })
  const again = await box.pty.connect(handle.pid, { onData: (bytes) => (second += decoder.decode(bytes)) })
  await box.pty.sendInput(handle.pid, new TextEncoder().encode('echo tw""ice\n'))
  await eventually(async () => assert.ok(/twice/.test(first) && /twice/.test(second)))
  await again.disconnect()
  await box.pty.kill(handle.pid)
  await assert.rejects(handle.wait())
  await assert.rejects(box.pty.connect(999_999, { onData() {} }))
})

test('a handle feeds, closes, leaves and ends its process', only, async () => {
  const cat = await box.commands.run('cat; echo done', { background: true, stdin: true })
  await cat.sendStdin('line\n')
  await cat.closeStdin()
  assert.equal((await cat.wait()).stdout, 'line\ndone\n')
  const sleeper = await box.commands.run('sleep 100', { background: true })
  await sleeper.disconnect()
  assert.ok((await box.commands.list()).some((one) => one.pid === sleeper.pid))
  const again = await box.commands.connect(sleeper.pid)
  assert.equal(await again.kill(), true)
  await assert.rejects(again.wait(), e2b.CommandExitError)
  const other = await box.commands.run('cat', { background: true, stdin: true })
  await box.commands.sendStdin(other.pid, 'x')
  await box.commands.closeStdin(other.pid)
  assert.equal((await other.wait()).stdout, 'x')
})

test('pause by its older name, full information and both connects', only, async () => {
  const one = await sandbox()
  assert.equal(await one.betaPause(), true)
  assert.equal(await Sandbox.betaPause(one.sandboxId), false)
  const info = await Sandbox.getFullInfo(one.sandboxId)
  assert.equal(info.state, 'paused')
  await one.connect()
  assert.equal(await one.isRunning(), true)
})

test('snapshots are listed by sandbox and by class', only, async () => {
  const one = await sandbox()
  const snapshot = await one.createSnapshot()
  const own = await one.listSnapshots().nextItems()
  assert.deepEqual(own.map((each) => each.snapshotId), [snapshot.snapshotId])
  const pages = Sandbox.listSnapshots({ limit: 1 })
  let seen = 0
  while (pages.hasNext) seen += (await pages.nextItems()).length
  assert.ok(seen >= 1)
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), true)
  assert.equal(await Sandbox.deleteSnapshot(snapshot.snapshotId), false)
})

test('gateway addresses are formed, and there is no gateway', only, async () => {
  assert.match(box.getMcpUrl(), /^https:\/\/50005-/)
  assert.equal(await box.getMcpToken().catch(() => undefined), undefined)
})

test('identity tokens are refused', only, async () => {
  const token = e2b.Secret.iamToken({ audience: 'sts.example.org', tokenType: 'JWT-SVID' })
  assert.deepEqual(token, { audience: 'sts.example.org', tokenType: 'JWT-SVID' })
  await assert.rejects(sandbox({ iam: { tokens: { aws: token } } }), /iam/)
})

test('results and executions become JSON', only, async () => {
  const one = await sandbox({}, interpreter.Sandbox)
  const execution = await one.runCode('print("out")\nclass Page:\n  def _repr_html_(self): return "<b>1</b>"\nPage()')
  assert.ok(execution.results[0].formats().includes('html'))
  assert.equal(execution.results[0].toJSON().html, '<b>1</b>')
  const all = JSON.parse(JSON.stringify(execution.toJSON()))
  assert.deepEqual(all.logs.stdout, ['out\n'])
})

test('many processes at once', async () => {
  const outputs = await Promise.all(Array.from({ length: 40 }, (_, i) => box.commands.run(`echo ${i}`)))
  assert.deepEqual(outputs.map((one) => one.stdout), Array.from({ length: 40 }, (_, i) => `${i}\n`))
})

test('long output arrives whole', async () => {
  const size = 5_000_000
  const { stdout } = await box.commands.run(`head -c ${size} /dev/zero | tr '\\0' x`, { timeoutMs: 120_000 })
  assert.equal(stdout.length, size)
  assert.ok(/^x+$/.test(stdout))
})

test('an output that nobody reads for a while is not lost', async () => {
  let seen = 0
  await box.commands.run('for i in $(seq 200); do head -c 10000 /dev/zero | tr "\\0" y; done', {
    timeoutMs: 120_000, onStdout: async (text) => {
      seen += text.length
      if (seen % 100_000 < 1000) await sleep(5)
    } })
  assert.equal(seen, 2_000_000)
})

test('a big file goes up and comes down', async () => {
  const size = 100_000_000
  const bytes = new Uint8Array(size)
  for (let i = 0; i < size; i += 4096) bytes[i] = i % 251
  await box.files.write('/home/user/big.bin', bytes.buffer, { requestTimeoutMs: 300_000 })
  const back = await box.files.read('/home/user/big.bin', { format: 'bytes', requestTimeoutMs: 300_000 })
  assert.equal(back.length, size)
  assert.ok(Buffer.from(back.buffer).equals(Buffer.from(bytes.buffer)))
  await box.files.remove('/home/user/big.bin')
})

test('a client that goes away leaves its process running', async () => {
  const controller = new AbortController()
  const body = JSON.stringify({ process: { cmd: '/bin/bash', args: ['-c', 'echo begin; sleep 3; echo end > /tmp/left'] } })
  const frame = Buffer.alloc(5 + Buffer.byteLength(body))
  frame.writeUInt32BE(Buffer.byteLength(body), 1)
  frame.write(body, 5)
  const response = await plane(box, '/process.Process/Start', { method: 'POST', body: frame,
    headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1' }, signal: controller.signal })
  await response.body.getReader().read()
  controller.abort()
  await eventually(async () => assert.equal(await box.files.read('/tmp/left'), 'end\n'), 60_000)
})

test('a sandbox killed in the middle of a stream is told as such', async () => {
  const one = await sandbox()
  const running = one.commands.run('echo begin; sleep 100', { timeoutMs: 120_000, requestTimeoutMs: 120_000 })
  const told = assert.rejects(running, newest ? e2b.TimeoutError : e2b.SandboxError)
  await eventually(async () => assert.ok((await one.commands.list()).length > 0), 30_000)
  await one.kill()
  await told
  if (newest) assert.equal(await one.isRunning(), false)
})

test('teams, health and lists of metrics', async () => {
  const teams = await (await control('/teams')).json()
  assert.equal(teams.length, 1)
  assert.ok(teams[0].isDefault)
  const metrics = await (await control(`/sandboxes/metrics?sandbox_ids=${box.sandboxId},i00000000000000000000`)).json()
  assert.deepEqual(Object.keys(metrics.sandboxes), [box.sandboxId])
  for (const name of ['timestamp', 'timestampUnix', 'cpuCount', 'cpuUsedPct', 'memUsed', 'memTotal', 'memCache', 'diskUsed', 'diskTotal'])
    assert.ok(name in metrics.sandboxes[box.sandboxId], name)
  assert.equal((await control('/health')).status, 200)
})

test('refreshes only extend; the legacy list and resume work', async () => {
  const one = await sandbox({ timeoutMs: 300_000 })
  assert.equal((await control(`/sandboxes/${one.sandboxId}/refreshes`, { method: 'POST', body: { duration: 20 } })).status, 204)
  assert.ok((await one.getInfo()).endAt - Date.now() > 200_000)
  const listed = await (await control('/sandboxes')).json()
  assert.ok(listed.some((each) => each.sandboxID === one.sandboxId))
  assert.equal((await control(`/sandboxes/${one.sandboxId}/resume`, { method: 'POST', body: { timeout: 60 } })).status, 409)
  assert.equal((await control(`/sandboxes/${one.sandboxId}/pause`, { method: 'POST' })).status, 204)
  const resumed = await control(`/sandboxes/${one.sandboxId}/resume`, { method: 'POST', body: { timeout: 60, autoPause: true } })
  assert.equal(resumed.status, 201)
  assert.equal((await resumed.json()).sandboxID, one.sandboxId)
  assert.equal((await control(`/sandboxes/${one.sandboxId}-client`)).status, 200)
  assert.equal((await control(`/sandboxes/${one.sandboxId}-a-b`)).status, 400)
})

test('logs tell what ran', async () => {
  await box.commands.run('echo for-the-log')
  const first = await (await control(`/sandboxes/${box.sandboxId}/logs`)).json()
  assert.ok(first.logs.some((one) => one.line.includes('for-the-log')))
  const second = await (await control(`/v2/sandboxes/${box.sandboxId}/logs`)).json()
  assert.ok(second.logs.some((one) => one.message.includes('for-the-log')))
})
