// Edges of commands and files that applications meet one day.
import assert from 'node:assert/strict'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { control, e2b, eventually, newest, plane, sandbox, sleep } from './harness.mjs'

const { Sandbox } = e2b
let box
before(async () => {
  box = await sandbox()
})

test('output of nothing, without a last newline, and of one NUL', async () => {
  assert.equal((await box.commands.run('true')).stdout, '')
  assert.equal((await box.commands.run('printf no-newline')).stdout, 'no-newline')
  assert.equal((await box.commands.run("printf 'a\\0b'")).stdout, 'a\0b')
})

test('a command line of 100 kB and 200 variables', async () => {
  const word = 'w'.repeat(100_000)
  assert.equal((await box.commands.run(`printf %s ${word} | wc -c`)).stdout.trim(), '100000')
  const envs = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`V${i}`, `value ${i}`]))
  assert.equal((await box.commands.run('echo "$V0 $V199"', { envs })).stdout, 'value 0 value 199\n')
})

test('quotes, dollars and newlines in values stay as they are', async () => {
  const envs = { Q: `'"$HOME\`x\`\nnext\\` }
  assert.equal((await box.commands.run('printf %s "$Q"', { envs })).stdout, envs.Q)
})

test('exit codes from 1 to 255 are told', async () => {
  for (const code of [1, 2, 126, 127, 128, 255]) {
    await assert.rejects(box.commands.run(`exit ${code}`), (error) => error.exitCode === code)
  }
})

test('an unknown program is exit 127 with its words', async () => {
  await assert.rejects(box.commands.run('no-such-program'), (error) => error.exitCode === 127 && /not found/.test(error.stderr))
})

test('both streams of a command keep their order each', async () => {
  const { stdout, stderr } = await box.commands.run('for i in $(seq 500); do echo o$i; echo e$i >&2; done')
  const want = (letter) => Array.from({ length: 500 }, (_, i) => `${letter}${i + 1}\n`).join('')
  assert.equal(stdout, want('o'))
  assert.equal(stderr, want('e'))
})

test('children that outlive their shell do not hold the answer when output is elsewhere', async () => {
  const begun = Date.now()
  await box.commands.run('sleep 100 >/dev/null 2>&1 & echo left')
  assert.ok(Date.now() - begun < 60_000)
})

test('a hundred processes live side by side and are listed', async () => {
  const handles = await Promise.all(Array.from({ length: 100 }, () => box.commands.run('sleep 300', { background: true, timeoutMs: 0 })))
  const pids = new Set((await box.commands.list()).map((one) => one.pid))
  assert.ok(handles.every((one) => pids.has(one.pid)))
  assert.deepEqual(await Promise.all(handles.map((one) => one.kill())), handles.map(() => true))
})

test('killing a group ends what it started', async () => {
  const handle = await box.commands.run('sleep 4321 & sleep 4321', { background: true, timeoutMs: 0 })
  await handle.kill()
  await assert.rejects(handle.wait())
  assert.equal(await handle.kill(), false, 'it is gone')
})

test('a limit of processes holds and the sandbox lives on', async () => {
  const tried = await box.commands.run('for i in $(seq 700); do sleep 30 & done 2>/dev/null; echo tried; kill $(jobs -p) 2>/dev/null; true', { timeoutMs: 120_000 }).catch((error) => error)
  assert.ok(tried)
  await eventually(async () => assert.equal((await box.commands.run('echo alive')).stdout, 'alive\n'), 60_000)
})

test('a sandbox that eats its memory says so and lives on', async () => {
  const one = await sandbox()
  await assert.rejects(one.commands.run(`python3 -c "x = bytearray(3 << 30); print(len(x))"`, { timeoutMs: 120_000 }))
  assert.equal((await one.commands.run('echo alive')).stdout, 'alive\n')
})

test('names with spaces, quotes, newlines and dots', async () => {
  for (const name of ['a b', "it's", '"double"', 'new\nline', '...', '-dash', 'ünï/çødé 🦀', '#hash?query&x=y%20z', ' lead', 'trail ']) {
    const path = `/home/user/names/${name}`
    await box.files.write(path, name)
    assert.equal(await box.files.read(path), name, JSON.stringify(name))
    assert.equal(await box.files.exists(path), true)
  }
  const { stdout } = await box.commands.run("find names -type f -print0 | tr -dc '\\0' | wc -c")
  assert.equal(Number(stdout), 10)
})

test('a path of 4000 characters and a name that is too long', async () => {
  const deep = '/home/user/' + Array.from({ length: 15 }, () => 'd'.repeat(200)).join('/')
  await box.files.makeDir(deep)
  await box.files.write(`${deep}/file`, 'deep')
  assert.equal(await box.files.read(`${deep}/file`), 'deep')
  await assert.rejects(box.files.write(`/home/user/${'n'.repeat(300)}`, 'x'))
  await box.files.remove('/home/user/' + 'd'.repeat(200))
})

test('a directory of 2000 files is listed', async () => {
  await box.commands.run('mkdir -p many && cd many && seq -f "f%05g" 2000 | xargs touch')
  const entries = await box.files.list('many')
  assert.equal(entries.length, 2000)
  assert.deepEqual([entries[0].name, entries.at(-1).name], ['f00001', 'f02000'])
})

test('broken and circular links, fifos and devices do no harm', async () => {
  await box.commands.run('mkdir -p odd && cd odd && ln -sf none broken && ln -sf loop loop && mkfifo -m 666 pipe; true')
  const names = (await box.files.list('odd')).map((one) => one.name)
  assert.ok(!names.includes('none'))
  await assert.rejects(box.files.read('/home/user/odd/broken'), e2b.NotFoundError)
  await assert.rejects(box.files.read('/home/user/odd/loop'))
  await assert.rejects(box.files.read('/home/user/odd/pipe'))
})

test('what the user may not do is refused', async () => {
  await box.commands.run('ln -sf /etc/passwd passwd-link')
  await assert.rejects(box.files.write('/home/user/passwd-link', 'x', { user: 'user' }))
  await assert.rejects(box.files.read('/root/secret'))
  await assert.rejects(box.files.remove('/etc/passwd', { user: 'user' }))
  assert.match(await box.files.read('/etc/passwd'), /user/)
})

test('a full disk is told as such, and room made is room again', async () => {
  const one = await sandbox()
  const failed = await one.commands.run('head -c 3000000000 /dev/zero > fill; echo $?', { timeoutMs: 300_000 }).then((done) => done.stdout + done.stderr, (error) => error.stderr)
  assert.match(failed, /space|[1-9]/)
  const body = new Uint8Array(4 << 20)
  await assert.rejects(one.files.write('/home/user/more', body.buffer), newest ? e2b.NotEnoughSpaceError : Error)
  await one.commands.run('rm fill', { timeoutMs: 120_000 })
  await one.files.write('/home/user/more', 'fits')
})

test('ten writers to ten files at once', async () => {
  const text = (i) => String(i).repeat(100_000)
  await Promise.all(Array.from({ length: 10 }, (_, i) => box.files.write(`at-once/${i}`, text(i))))
  const back = await Promise.all(Array.from({ length: 10 }, (_, i) => box.files.read(`at-once/${i}`)))
  assert.deepEqual(back, Array.from({ length: 10 }, (_, i) => text(i)))
})

test('a download that is given up does not hold the sandbox', async () => {
  await box.commands.run('head -c 50000000 /dev/zero > huge', { timeoutMs: 120_000 })
  const controller = new AbortController()
  const response = await plane(box, '/files?path=huge', { signal: controller.signal })
  await response.body.getReader().read()
  controller.abort()
  assert.equal((await box.commands.run('echo still')).stdout, 'still\n')
  await box.files.remove('huge')
})

test('an upload that is cut leaves no half file behind as whole', async () => {
  const controller = new AbortController()
  const body = new ReadableStream({ start(stream) { stream.enqueue(new Uint8Array(100_000)) } })
  const cut = plane(box, '/files?path=cut.bin', { method: 'POST', body, headers: { 'content-type': 'application/octet-stream' }, signal: controller.signal })
  await sleep(300)
  controller.abort()
  await assert.rejects(cut)
  await box.files.write('cut.bin', 'whole')
  assert.equal(await box.files.read('cut.bin'), 'whole')
})

test('a watcher is stopped with its handle, and dies with its sandbox', { skip: !newest }, async () => {
  const one = await sandbox()
  await one.files.makeDir('w')
  let ended
  const handle = await one.files.watchDir('w', () => {}, { onExit: () => (ended = true), timeoutMs: 0 })
  await handle.stop()
  await one.files.watchDir('w', () => {}, { onExit: () => (ended = 'killed'), timeoutMs: 0 })
  await one.kill()
  await eventually(async () => assert.equal(ended, 'killed'), 30_000)
})

test('renames and mode changes are told by a watcher', async () => {
  const seen = []
  await box.files.makeDir('watched')
  await box.files.write('watched/old', 'x')
  const handle = await box.files.watchDir('watched', (event) => seen.push(`${event.type} ${event.name}`))
  await box.commands.run('cd watched && mv old new && chmod 600 new && rm new')
  await eventually(async () => {
    for (const want of ['rename old', 'create new', 'chmod new', 'remove new']) assert.ok(seen.includes(want), `${want} in ${seen}`)
  }, 30_000)
  await handle.stop()
})

test('ten sandboxes at once do not mix', async () => {
  const made = await Promise.all(Array.from({ length: 10 }, (_, i) => sandbox({ envs: { WHO: `n${i}` } })))
  const said = await Promise.all(made.map((one) => one.commands.run('echo $WHO > me; cat me')))
  assert.deepEqual(said.map((one) => one.stdout), made.map((_, i) => `n${i}\n`))
  assert.equal(new Set(made.map((one) => one.sandboxId)).size, 10)
  await Promise.all(made.map((one) => one.kill()))
})

test('killing twice at once is true once', { skip: !newest }, async () => {
  const one = await sandbox()
  const answers = await Promise.all([one.kill(), one.kill(), one.kill()])
  assert.ok(answers.filter(Boolean).length >= 1)
  assert.equal(await one.kill(), false)
})

test('processes go on after a pause', async () => {
  const one = await sandbox()
  await one.commands.run('for i in $(seq 1000); do echo $i >> ticks; sleep 0.05; done', { background: true, timeoutMs: 0 })
  await eventually(async () => assert.ok(await one.files.exists('ticks')))
  await (one.pause ? one.pause() : one.betaPause())
  const again = await Sandbox.connect(one.sandboxId)
  const before = Number((await again.commands.run('wc -l < ticks')).stdout)
  await eventually(async () => assert.ok(Number((await again.commands.run('wc -l < ticks')).stdout) > before), 30_000)
})

test('a time to live can be shortened, and a zero is refused', async () => {
  const one = await sandbox()
  await one.setTimeout(2_000)
  await eventually(async () => assert.equal((await control(`/sandboxes/${one.sandboxId}`)).status, 404), 30_000)
  assert.equal((await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', timeout: 0 } })).status, 400)
  assert.equal((await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', timeout: 10_000_000 } })).status, 400)
})

test('what create cannot keep is refused with its field', async () => {
  for (const [body, words] of [
    [{ templateID: 'base', autoPauseMemory: false }, /autoPause/],
    [{ templateID: 'base', metadata: { a: 1 } }, /metadata/],
    [{ templateID: 'base', envVars: 'x' }, /envVars/],
    [{ templateID: 'base', network: { allowOut: ['example.org'] } }, /denyOut|0\.0\.0\.0/],
    [{ templateID: 'base', volumeMounts: [{ name: 'v' }] }, /volume/],
    [{ templateID: 'Base:bad tag' }, /template|tag/i],
    [{}, /templateID/]]) {
    const answer = await control('/v2/sandboxes', { method: 'POST', body })
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match((await answer.json()).message, words)
  }
})

test('a hundred megabytes pass through a command', async () => {
  const { stdout } = await box.commands.run('head -c 100000000 /dev/zero | sha1sum | cut -c1-8', { timeoutMs: 300_000 })
  assert.equal(stdout.length, 9)
})

// A create that met a file which was gone for a moment answered 404 "create session: open: No such file or directory": as if the
// caller had named something that does not exist, and without a word about what was being done.
test('a file of ours that is gone is our failure, told with its step', { skip: Boolean(process.env.SETTINGS) }, async () => {
  const folder = join(process.env.ATOLL_DATA, 'snapshots')
  const before = new Set(readdirSync(folder))
  const { snapshotID } = await (await control(`/sandboxes/${box.sandboxId}/snapshots`, { method: 'POST', body: {} })).json()
  const taken = readdirSync(folder).filter((name) => !before.has(name))
  assert.equal(taken.length, 1, taken.join())
  const create = () => control('/v2/sandboxes', { method: 'POST', body: { templateID: snapshotID, timeout: 60 } })
  renameSync(join(folder, taken[0]), join(folder, 'elsewhere'))
  const refused = await create()
  renameSync(join(folder, 'elsewhere'), join(folder, taken[0]))
  const told = await refused.json()
  assert.ok(refused.status >= 500, `${refused.status} ${told.message}`)
  assert.match(told.message, /^create session: make the sandbox: (?:[^:]+: )*[^:]*snapshot[^:]*: .*No such file or directory$/)
  assert.ok(!told.message.includes(process.env.ATOLL_DATA), 'where our files are is nobody\'s business')
  const made = await create()
  assert.equal(made.status, 201)
  await control(`/sandboxes/${(await made.json()).sandboxID}`, { method: 'DELETE' })
  await control(`/templates/${encodeURIComponent(snapshotID)}`, { method: 'DELETE' })
})
