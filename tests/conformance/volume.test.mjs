import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { control, e2b, eventually, key, newest, sandbox, sleep, url } from './harness.mjs'

const { Volume } = e2b
const only = { skip: !newest || !Volume }
const made = []
async function volume(name = `conformance-${Math.random().toString(36).slice(2)}`) {
  const one = await Volume.create(name)
  made.push(one.volumeId)
  return one
}
after(async () => {
  for (const id of made) await control(`/volumes/${id}`, { method: 'DELETE' })
})

test('volumes are made, found, listed and destroyed', only, async () => {
  const one = await volume()
  assert.match(one.volumeId, /^vol_[a-z0-9]{20}$/)
  assert.ok(one.token)
  const info = await Volume.getInfo(one.volumeId)
  assert.equal(info.name, one.name)
  assert.equal(info.token, one.token)
  const again = await Volume.connect(one.volumeId)
  assert.equal(again.name, one.name)
  assert.ok((await Volume.list()).some((each) => each.volumeId === one.volumeId && each.name === one.name))
  assert.equal(await Volume.destroy(one.volumeId), true)
  assert.equal(await Volume.destroy(one.volumeId), false)
  await assert.rejects(Volume.getInfo(one.volumeId), e2b.VolumeNotFoundError)
  await assert.rejects(Volume.connect(one.volumeId), e2b.VolumeNotFoundError)
})

test('a name is taken once and has a form', only, async () => {
  const one = await volume()
  await assert.rejects(Volume.create(one.name), (error) => error instanceof e2b.VolumeError
    && error.message.includes(`Volume with name '${one.name}' already exists`))
  for (const bad of ['', 'a b', 'a/b', '../x', 'ü']) await assert.rejects(Volume.create(bad), e2b.VolumeError)
})

test('files are written and read in every form', only, async () => {
  const one = await volume()
  const text = await one.writeFile('/hello.txt', 'hello')
  assert.equal(text.name, 'hello.txt')
  assert.equal(text.path, '/hello.txt')
  assert.equal(text.type, 'file')
  assert.equal(text.size, 5)
  assert.ok(text.mtime instanceof Date && Math.abs(text.mtime - Date.now()) < 600_000)
  assert.equal(await one.readFile('/hello.txt'), 'hello')
  await one.writeFile('/hello.txt', 'again', { force: true })
  assert.equal(await one.readFile('/hello.txt'), 'again')
  const bytes = new Uint8Array(100_000).map((_, i) => i % 251)
  await one.writeFile('/binary', bytes.buffer)
  assert.deepEqual(await one.readFile('/binary', { format: 'bytes' }), bytes)
  assert.equal((await one.readFile('/binary', { format: 'blob' })).size, bytes.length)
  await one.writeFile('/streamed', new Blob(['from ', 'a ', 'blob']).stream())
  const stream = await one.readFile('/streamed', { format: 'stream' })
  let got = ''
  for await (const piece of stream) got += new TextDecoder().decode(piece)
  assert.equal(got, 'from a blob')
  await one.writeFile('/empty', '')
  assert.equal(await one.readFile('/empty'), '')
  await one.makeDir('/ünï', { force: true })
  await one.writeFile('/ünï/çødé 😀.txt', 'unicode')
  assert.equal(await one.readFile('/ünï/çødé 😀.txt'), 'unicode')
})

// spec/openapi-volumecontent.yml: PUT /file, force: "Force overwrite of an existing file".
test('a file that is there is replaced only with force', only, async () => {
  const one = await volume()
  await one.writeFile('/kept', 'first')
  for (const options of [{}, { force: false }, { mode: 0o600, force: false }]) {
    await assert.rejects(one.writeFile('/kept', 'second', options), (error) => error instanceof e2b.VolumeError
      && /already exists/.test(error.message))
    assert.equal(await one.readFile('/kept'), 'first')
    assert.equal((await one.getInfo('/kept')).mode, 0o644)
  }
  await one.writeFile('/kept', 'second', { force: true, mode: 0o600 })
  assert.equal(await one.readFile('/kept'), 'second')
  assert.equal((await one.getInfo('/kept')).mode, 0o600)
  // Of two that begin when there is none, one wins and the other is told.
  const both = await Promise.allSettled([one.writeFile('/race', 'a'.repeat(1 << 20)), one.writeFile('/race', 'b'.repeat(1 << 20))])
  const won = both.filter((each) => each.status === 'fulfilled').length
  assert.ok(won === 1, JSON.stringify(both.map((each) => each.status)))
  // It makes no parents and never replaces a directory.
  await assert.rejects(one.writeFile('/none/file', 'x', { force: true }), e2b.VolumePathNotFoundError)
  await one.makeDir('/dir')
  await assert.rejects(one.writeFile('/dir', 'x', { force: true }), e2b.VolumeError)
  assert.equal((await one.getInfo('/dir')).type, 'directory')
})

test('every flag of the content API, raw', only, async () => {
  const one = await volume()
  const ask = (method, what, query, body) => fetch(`${url}/volumecontent/${one.volumeId}/${what}?${new URLSearchParams(query)}`,
    { method, body, headers: { Authorization: `Bearer ${one.token}`, 'Content-Type': 'application/octet-stream' } })
  const status = async (...words) => (await ask(...words)).status
  assert.equal(await status('PUT', 'file', { path: '/f' }, '1'), 201)
  for (const force of [undefined, 'false', '']) {
    const answer = await ask('PUT', 'file', force === undefined ? { path: '/f' } : { path: '/f', force }, '2')
    assert.equal(answer.status, 409, String(force))
    assert.equal((await answer.json()).code, 'already_exists')
  }
  assert.equal(await status('PUT', 'file', { path: '/f', force: 'maybe' }, '2'), 400)
  assert.equal(await (await ask('GET', 'file', { path: '/f' })).text(), '1')
  assert.equal(await status('PUT', 'file', { path: '/f', force: 'true' }, '2'), 201)
  assert.equal(await (await ask('GET', 'file', { path: '/f' })).text(), '2')
  assert.equal(await status('PUT', 'file', { path: '' }, '2'), 400)
  assert.equal(await status('PUT', 'file', { path: '/' , force: 'true' }, '2'), 409)
  for (const bad of [{ uid: '-1' }, { gid: 'x' }, { mode: '0o644' }, { mode: String(0o4755) }, { uid: '70000' }, { uid: '1e3' }])
    assert.equal(await status('PUT', 'file', { path: '/g', ...bad }, 'x'), 400, JSON.stringify(bad))
  assert.equal(await status('GET', 'path', { path: '/g' }), 404)
  // Directories: force makes parents, owned alike, and takes one that is there; never a file.
  assert.equal(await status('POST', 'dir', { path: '/a/b' }), 404)
  assert.equal(await status('POST', 'dir', { path: '/a/b', force: 'true', uid: '1001', gid: '1002', mode: String(0o750) }), 201)
  for (const path of ['/a', '/a/b']) {
    const info = await (await ask('GET', 'path', { path })).json()
    assert.deepEqual([info.uid, info.gid, info.mode & 0o777], [1001, 1002, 0o750], path)
  }
  assert.equal(await status('POST', 'dir', { path: '/a/b' }), 409)
  assert.equal(await status('POST', 'dir', { path: '/a/b', force: 'true' }), 201)
  assert.equal(await status('POST', 'dir', { path: '/f', force: 'true' }), 409)
  // Depth is as deep as is asked for.
  const deep = '/deep' + '/d'.repeat(99)
  assert.equal(await status('POST', 'dir', { path: deep, force: 'true' }), 201)
  const paths = async (depth) => (await (await ask('GET', 'dir', { path: '/deep', depth })).json()).map((each) => each.path)
  assert.equal((await paths('1')).length, 1)
  assert.equal((await paths('80')).length, 80)
  assert.equal((await paths('1000')).length, 99)
  assert.equal(await status('GET', 'dir', { path: '/deep', depth: 'all' }), 400)
  assert.equal(await status('GET', 'dir', { path: '/deep', depth: '-1' }), 400)
})

test('directories, information and changes', only, async () => {
  const one = await volume()
  const dir = await one.makeDir('/a', { mode: 0o750, uid: 1000, gid: 1000 })
  assert.equal(dir.type, 'directory')
  assert.equal(dir.mode, 0o750)
  await assert.rejects(one.makeDir('/a'), e2b.VolumeError)
  await assert.rejects(one.makeDir('/x/y/z'), e2b.VolumePathNotFoundError)
  await one.makeDir('/x/y/z', { force: true })
  await one.makeDir('/x/y/z', { force: true })
  await one.writeFile('/x/y/file', '1', { mode: 0o600, uid: 0, gid: 0 })
  const info = await one.getInfo('/x/y/file')
  assert.deepEqual([info.uid, info.gid, info.mode], [0, 0, 0o600])
  const changed = await one.updateMetadata('/x/y/file', { mode: 0o644, uid: 1000 })
  assert.deepEqual([changed.uid, changed.gid, changed.mode], [1000, 0, 0o644])
  assert.deepEqual((await one.list('/')).map((each) => each.path), ['/a', '/x'])
  assert.deepEqual((await one.list('/', { depth: 3 })).map((each) => each.path),
    ['/a', '/x', '/x/y', '/x/y/file', '/x/y/z'])
  assert.equal(await one.exists('/x/y'), true)
  assert.equal(await one.exists('/none'), false)
  await one.remove('/x')
  assert.equal(await one.exists('/x/y/file'), false)
})

test('errors of content have their types', only, async () => {
  const one = await volume()
  await assert.rejects(one.readFile('/none'), e2b.VolumePathNotFoundError)
  await assert.rejects(one.readFile('/none', { format: 'stream' }), e2b.VolumePathNotFoundError)
  await assert.rejects(one.list('/none'), e2b.VolumePathNotFoundError)
  await assert.rejects(one.getInfo('/none'), e2b.VolumePathNotFoundError)
  await assert.rejects(one.remove('/none'), e2b.VolumePathNotFoundError)
  await assert.rejects(one.updateMetadata('/none', { mode: 0o600 }), e2b.VolumePathNotFoundError)
  await assert.rejects(one.writeFile('/none/file', 'x'), e2b.VolumePathNotFoundError)
  await one.writeFile('/file', 'x')
  await assert.rejects(one.updateMetadata('/file', { mode: 0o4755 }), e2b.VolumeError)
  await assert.rejects(one.updateMetadata('/file', { uid: 1e6 }), e2b.VolumeError)
  await assert.rejects(one.remove('/'), e2b.VolumeError)
  await assert.rejects(one.readFile('/'), e2b.VolumeError)
  await assert.rejects(one.list('/file'), e2b.VolumeError)
})

test('a token opens its own volume and nothing else', only, async () => {
  const one = await volume()
  const two = await volume()
  const ask = (id, token) => fetch(`${url}/volumecontent/${id}/dir?path=/`,
    token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((await ask(one.volumeId, one.token)).status, 200)
  for (const wrong of [two.token, key, 'x', '', undefined]) {
    const answer = await ask(one.volumeId, wrong)
    assert.equal(answer.status, 401, String(wrong))
    const body = await answer.json()
    assert.equal(typeof body.code, 'string')
    assert.equal(typeof body.message, 'string')
  }
  assert.equal((await fetch(`${url}/volumecontent/${one.volumeId}/dir`, { headers: { Authorization: `Bearer ${one.token}` } })).status, 400)
  await Volume.destroy(two.volumeId)
  assert.equal((await ask(two.volumeId, two.token)).status, 404)
})

test('a volume is mounted, shared and kept', only, async () => {
  const one = await volume()
  await one.writeFile('/from-outside', 'outside')
  const box = await sandbox({ volumeMounts: { '/mnt/data': one } })
  assert.equal(await box.files.read('/mnt/data/from-outside'), 'outside')
  await box.commands.run('echo inside > /mnt/data/from-inside && id -u > /mnt/data/uid')
  await box.commands.run('mkdir -p /mnt/data/deep && echo root > /mnt/data/deep/by-root', { user: 'root' })
  assert.equal(await one.readFile('/from-inside'), 'inside\n')
  assert.equal((await one.getInfo('/from-inside')).uid, 1000)
  assert.equal((await one.getInfo('/deep/by-root')).uid, 0)
  const info = await box.getInfo()
  assert.deepEqual(info.volumeMounts, [{ name: one.name, path: '/mnt/data' }])
  await assert.rejects(Volume.destroy(one.volumeId), /is mounted in sandbox/)

  const other = await sandbox({ volumeMounts: { '/home/user/shared': one.name } })
  assert.equal(await other.files.read('/home/user/shared/from-inside'), 'inside\n')
  await other.files.write('/home/user/shared/both', 'seen by both')
  assert.equal(await box.files.read('/mnt/data/both'), 'seen by both')
  await box.kill()
  await other.kill()
  assert.equal(await one.readFile('/both'), 'seen by both')
  assert.equal(await Volume.destroy(one.volumeId), true)
})

test('what a sandbox puts into a volume leads nowhere', only, async () => {
  const one = await volume()
  const box = await sandbox({ volumeMounts: { '/mnt/data': one } })
  await box.commands.run('cd /mnt/data && ln -s /etc/passwd passwd && ln -s / root && ln -s .. up && mkfifo pipe')
  assert.equal((await one.getInfo('/passwd')).type, 'symlink')
  assert.equal((await one.getInfo('/passwd')).target, '/etc/passwd')
  for (const path of ['/passwd', '/root/etc/passwd', '/up/token.key', '/up/../../atoll.db', '/pipe']) {
    await assert.rejects(one.readFile(path), e2b.VolumeError, path)
  }
  await assert.rejects(one.writeFile('/root/tmp/x', 'x', { force: true }), e2b.VolumeError)
  await assert.rejects(one.list('/root'), e2b.VolumeError)
  await one.remove('/root')
  assert.equal((await box.commands.run('test -e /etc/passwd && echo there')).stdout, 'there\n')
  // A set-uid program from a volume gives nothing.
  await box.commands.run('cp /usr/bin/id /mnt/data/id && chmod 4755 /mnt/data/id && chown root /mnt/data/id; chmod 4755 /mnt/data/id', { user: 'root' })
  assert.equal((await box.commands.run('/mnt/data/id -u')).stdout, '1000\n')
})

test('a volume is mounted where the sandbox can spare the place', only, async () => {
  const one = await volume()
  for (const path of ['/', '/etc', '/usr/', '//etc/.', '/proc/x', '/dev', '/sys/fs', 'relative', '/home/../etc']) {
    const refused = await control('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', volumeMounts: [{ name: one.name, path }] } })
    assert.equal(refused.status, 400, path)
    assert.match((await refused.json()).message, new RegExp(one.name), path)
  }
  const box = await sandbox({ volumeMounts: { '/home/user': one } })
  await box.files.write('here', 'kept')
  assert.equal(await one.readFile('/here'), 'kept')
})

test('a volume that is not there is refused', only, async () => {
  await assert.rejects(sandbox({ volumeMounts: { '/mnt/x': 'no-such-volume' } }), /not found/)
  const one = await volume()
  await assert.rejects(sandbox({ volumeMounts: { 'relative': one } }), e2b.SandboxError)
  await assert.rejects(sandbox({ volumeMounts: { '/': one } }), e2b.SandboxError)
  await assert.rejects(sandbox({ volumeMounts: { '/a/../b': one } }), e2b.SandboxError)
})

// What a program inside can try: depth, files without a name, nothing but names.
test('a volume holds its size, whatever is tried', only, async () => {
  const one = await volume()
  const info = await (await control(`/volumes/${one.volumeId}`)).json()
  assert.ok(['filesystem', 'measured'].includes(info.enforced), JSON.stringify(info))
  assert.equal(info.maxBytes, 64 << 20)
  const box = await sandbox({ volumeMounts: { '/mnt/data': one } })
  await one.writeFile('/small', 'fits')
  await assert.rejects(one.writeFile('/large', new Uint8Array(80 << 20).buffer), /full|space|hold/)
  if (info.enforced === 'measured') {
    await box.commands.run('head -c 90000000 /dev/zero > /mnt/data/fill; sleep 1000', { background: true, timeoutMs: 0 })
    await eventually(async () => assert.equal((await box.getInfo()).state, 'paused'), 60_000)
    await assert.rejects(sandbox({ volumeMounts: { '/mnt/data': one } }), /may hold/)
    await one.remove('/fill')
    const again = await e2b.Sandbox.connect(box.sandboxId)
    assert.equal((await again.commands.run('cat /mnt/data/small')).stdout, 'fits')
    await sleep(3000)
    assert.equal((await again.getInfo()).state, 'running')
    return
  }
  const said = async (script) => (await box.commands.run(script, { timeoutMs: 120_000 })).stdout
  assert.equal(await said('head -c 90000000 /dev/zero > /mnt/data/fill 2>/dev/null || echo full; rm /mnt/data/fill'), 'full\n')
  assert.equal(await said('cd /mnt/data; for i in $(seq 100); do mkdir d; cd d; done; ' +
    'head -c 90000000 /dev/zero > f 2>/dev/null || echo full; rm -rf /mnt/data/d'), 'full\n')
  assert.equal(await said('exec 3>/mnt/data/x; rm /mnt/data/x; head -c 90000000 /dev/zero >&3 2>/dev/null || echo full'), 'full\n')
  assert.equal((await box.getInfo()).state, 'running')
  // There is room again, and a full volume can be mounted by whoever will empty it.
  assert.equal(await said('head -c 1000000 /dev/zero > /mnt/data/again && cat /mnt/data/small'), 'fits')
})
