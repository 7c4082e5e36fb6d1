import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { e2b, eventually, newest, plane, sandbox, sleep, without } from './harness.mjs'

const { CommandExitError, Sandbox, TimeoutError } = e2b
let box
before(async () => {
  box = await sandbox()
})

test('run gives output and exit code', async () => {
  const result = await box.commands.run('echo out; echo err >&2')
  assert.equal(result.stdout, 'out\n')
  assert.equal(result.stderr, 'err\n')
  assert.equal(result.exitCode, 0)
})

for (const code of [1, 2, 42, 127, 255]) {
  test(`exit code ${code} is an exit error`, async () => {
    await assert.rejects(box.commands.run(`exit ${code}`), (error) => {
      assert.ok(error instanceof CommandExitError)
      return error.exitCode === code
    })
  })
}

test('a process killed by a signal is no clean exit', async () => {
  await assert.rejects(box.commands.run('kill -9 $$'), (error) => error instanceof CommandExitError && error.exitCode !== 0)
})

test('a process that was killed is gone when that is answered', async () => {
  for (let round = 0; round < 20; ++round) {
    const command = await box.commands.run('sleep 60', { background: true })
    assert.equal(await box.commands.kill(command.pid), true)
    const found = await box.commands.run(`kill -0 ${command.pid}`).catch((error) => error)
    assert.ok(found instanceof CommandExitError, `round ${round}: it is still there`)
  }
})

test('runs as user in its home', async () => {
  assert.equal((await box.commands.run('whoami')).stdout, 'user\n')
  assert.equal((await box.commands.run('pwd')).stdout, '/home/user\n')
  assert.equal((await box.commands.run('echo $HOME $USER')).stdout, '/home/user user\n')
})

test('runs as root when asked', { skip: without('root') }, async () => {
  assert.equal((await box.commands.run('whoami', { user: 'root' })).stdout, 'root\n')
})

test('an unknown user is refused', async () => {
  await assert.rejects(box.commands.run('true', { user: 'nobody-here' }), /invalid username/)
})

test('cwd is used, a missing one refused', async () => {
  assert.equal((await box.commands.run('pwd', { cwd: '/tmp' })).stdout, '/tmp\n')
  await assert.rejects(box.commands.run('pwd', { cwd: '/no/such' }), /does not exist/)
})

test('output comes as it is made', async () => {
  const seen = []
  await box.commands.run('echo a; sleep 0.5; echo b', { onStdout: (text) => seen.push([Date.now(), text]) })
  assert.equal(seen.map((one) => one[1]).join(''), 'a\nb\n')
  assert.ok(seen.at(-1)[0] - seen[0][0] > 300)
})

test('unicode and binary-ish output arrive whole', async () => {
  const result = await box.commands.run("printf 'grüße 漢字 🦀\\n'")
  assert.equal(result.stdout, 'grüße 漢字 🦀\n')
})

test('long output arrives whole', async () => {
  const result = await box.commands.run('head -c 5000000 /dev/zero | tr "\\0" x')
  assert.equal(result.stdout.length, 5_000_000)
})

test('a background command can be waited for, listed and killed', async () => {
  const handle = await box.commands.run('sleep 30', { background: true })
  const list = await box.commands.list()
  assert.ok(list.some((one) => one.pid === handle.pid))
  assert.equal(await handle.kill(), true)
  await assert.rejects(handle.wait(), CommandExitError)
  await eventually(async () => assert.ok(!(await box.commands.list()).some((one) => one.pid === handle.pid)))
  assert.equal(await box.commands.kill(handle.pid), false)
})

test('stdin is written and closed', async () => {
  const handle = await box.commands.run('cat', { background: true, stdin: true })
  await box.commands.sendStdin(handle.pid, 'hello\n')
  if (box.commands.closeStdin) {
    await box.commands.closeStdin(handle.pid)
    assert.equal((await handle.wait()).stdout, 'hello\n')
  } else {
    await eventually(async () => assert.equal(handle.stdout, 'hello\n'))
    await handle.kill()
  }
})

test('connect joins a running command', async () => {
  const first = await box.commands.run('for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done', { background: true })
  const second = await box.commands.connect(first.pid)
  const [a, b] = await Promise.all([first.wait(), second.wait()])
  assert.equal(a.stdout, '1\n2\n3\n4\n5\n6\n')
  assert.ok(b.stdout.endsWith('5\n6\n'))
})

test('connect to no process is not found', async () => {
  await assert.rejects(box.commands.connect(999_999), /not found/)
})

test('disconnect leaves the process running', async () => {
  const handle = await box.commands.run('sleep 2; echo done > /tmp/after', { background: true })
  await handle.disconnect()
  await eventually(async () => assert.equal(await box.files.exists('/tmp/after'), true), 8_000)
})

test('the time limit ends the process', async () => {
  await assert.rejects(box.commands.run('sleep 77', { timeoutMs: 1_000 }), TimeoutError)
  await eventually(async () => {
    const left = await box.commands.run('ps -eo args | grep -c "[s]leep 77" || true')
    assert.equal(left.stdout.trim(), '0')
  }, 8_000)
})

test('many at once', async () => {
  const all = await Promise.all(Array.from({ length: 30 }, (_, i) => box.commands.run(`echo ${i}`)))
  assert.deepEqual(all.map((one) => one.stdout.trim()), Array.from({ length: 30 }, (_, i) => String(i)))
})

test('a killed sandbox breaks its streams as a time-out', async () => {
  const other = await sandbox()
  const broken = assert.rejects(other.commands.run('sleep 60'), (error) => !newest || error instanceof TimeoutError)
  await sleep(500)
  await Sandbox.kill(other.sandboxId)
  await broken
})

test('sudo works without a password', { skip: without('sudo') }, async () => {
  assert.equal((await box.commands.run('sudo whoami')).stdout, 'root\n')
})

test('malformed envelopes end the stream with an error', async () => {
  for (const body of [Buffer.from([0, 0, 0, 0, 9]), Buffer.from('garbage'), Buffer.from([1, 0, 0, 0, 2, 123, 125])]) {
    const response = await plane(box, '/process.Process/Start', {
      method: 'POST', body, headers: { 'content-type': 'application/connect+json' } })
    assert.equal(response.status, 200)
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.equal(bytes[0], 2)
    assert.equal(JSON.parse(bytes.subarray(5)).error.code, 'invalid_argument')
  }
})

test('a wrong content type is refused', async () => {
  const response = await plane(box, '/process.Process/List', {
    method: 'POST', body: '{}', headers: { 'content-type': 'application/proto' } })
  assert.equal(response.status, 415)
})

test('a stream is framed exactly', async () => {
  const message = Buffer.from(JSON.stringify({ process: { cmd: '/bin/sh', args: ['-c', 'exit 3'] }, stdin: false }))
  const body = Buffer.concat([Buffer.from([0, 0, 0, message.length >> 8, message.length & 255]), message])
  const response = await plane(box, '/process.Process/Start', {
    method: 'POST', body, headers: { 'content-type': 'application/connect+json' } })
  assert.equal(response.headers.get('content-type'), 'application/connect+json')
  const bytes = Buffer.from(await response.arrayBuffer())
  const frames = []
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32BE(at + 1)
    frames.push([bytes[at], JSON.parse(bytes.subarray(at + 5, at + 5 + size))])
    at += 5 + size
  }
  assert.ok(frames[0][1].event.start.pid > 0)
  assert.deepEqual(frames.at(-2)[1].event.end, { exitCode: 3, exited: true, status: 'exit status 3', error: 'exit status 3' })
  assert.deepEqual(frames.at(-1), [2, {}])
})
