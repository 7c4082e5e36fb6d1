import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { before, test } from 'node:test'
import { e2b, eventually, key, newest, plane, sandbox, url, without } from './harness.mjs'

const { FileType, InvalidArgumentError, NotFoundError } = e2b
let box
before(async () => {
  box = await sandbox()
})

test('write and read text', async () => {
  const info = await box.files.write('a.txt', 'hello')
  assert.equal(info.path, '/home/user/a.txt')
  assert.equal(info.name, 'a.txt')
  assert.equal(await box.files.read('a.txt'), 'hello')
  assert.equal(await box.files.read('/home/user/a.txt'), 'hello')
  assert.equal(await box.files.read('~/a.txt'), 'hello')
})

test('an empty file', async () => {
  await box.files.write('empty', '')
  assert.equal(await box.files.read('empty'), '')
})

test('binary data comes back the same', async () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) & 255)
  await box.files.write('bytes.bin', bytes.buffer)
  assert.deepEqual(await box.files.read('bytes.bin', { format: 'bytes' }), bytes)
  const blob = await box.files.read('bytes.bin', { format: 'blob' })
  assert.equal(blob.size, 70_000)
  let size = 0
  for await (const piece of await box.files.read('bytes.bin', { format: 'stream' })) size += piece.length
  assert.equal(size, 70_000)
})

for (const name of ['ünï çødé 漢字.txt', 'with space.txt', 'a%20b.txt', 'quote".txt', "apostrophe'.txt", 'plus+and&.txt']) {
  test(`the name ${name}`, async () => {
    await box.files.write(`names/${name}`, name)
    assert.equal(await box.files.read(`names/${name}`), name)
    assert.ok((await box.files.list('names')).some((one) => one.name === name))
  })
}

test('several files in one call', async () => {
  const infos = await box.files.write([
    { path: 'many/1.txt', data: 'one' },
    { path: '/tmp/many/2.txt', data: 'two' },
  ])
  assert.equal(infos.length, 2)
  assert.equal(await box.files.read('/home/user/many/1.txt'), 'one')
  assert.equal(await box.files.read('/tmp/many/2.txt'), 'two')
})

test('overwriting replaces', async () => {
  await box.files.write('o.txt', 'a longer first content')
  await box.files.write('o.txt', 'short')
  assert.equal(await box.files.read('o.txt'), 'short')
})

test('a missing file is not found', async () => {
  await assert.rejects(box.files.read('none.txt'), (error) => error instanceof NotFoundError && /does not exist/.test(error.message))
  await assert.rejects(box.files.getInfo('none.txt'), NotFoundError)
  await assert.rejects(box.files.list('none'), NotFoundError)
  await assert.rejects(box.files.rename('none', 'other'), NotFoundError)
})

test('a directory cannot be read as a file', async () => {
  await box.files.makeDir('adir')
  await assert.rejects(box.files.read('adir'), /is a directory/)
})

test('exists', async () => {
  await box.files.write('there', 'x')
  assert.equal(await box.files.exists('there'), true)
  assert.equal(await box.files.exists('not-there'), false)
})

test('makeDir makes parents and tells if it was there', async () => {
  assert.equal(await box.files.makeDir('p/q/r'), true)
  assert.equal(await box.files.makeDir('p/q/r'), false)
  await box.files.write('p/file', '')
  await assert.rejects(box.files.makeDir('p/file'), InvalidArgumentError)
})

test('list in order, to a depth', async () => {
  await box.files.write('tree/b.txt', '1')
  await box.files.write('tree/a/deep/x.txt', '2')
  const one = await box.files.list('tree')
  assert.deepEqual(one.map((entry) => entry.name), ['a', 'b.txt'])
  assert.equal(one[0].type, FileType.DIR)
  assert.equal(one[1].type, FileType.FILE)
  assert.equal(one[1].path, '/home/user/tree/b.txt')
  const all = await box.files.list('tree', { depth: 3 })
  assert.deepEqual(all.map((entry) => entry.path.slice('/home/user/tree/'.length)), ['a', 'a/deep', 'a/deep/x.txt', 'b.txt'])
  await assert.rejects(box.files.list('tree/b.txt'), InvalidArgumentError)
})

test('getInfo tells size, mode and owner', async () => {
  await box.files.write('info.txt', '12345')
  const info = await box.files.getInfo('info.txt')
  assert.equal(info.size, 5)
  assert.equal(info.type, FileType.FILE)
  assert.equal(info.permissions, '-rw-r--r--')
  assert.equal(info.owner, 'user')
  assert.equal(info.group, 'user')
  assert.ok(Math.abs(info.modifiedTime - Date.now()) < 60_000)
})

test('symbolic links tell where they lead', async () => {
  await box.files.write('target.txt', 'x')
  await box.commands.run('ln -s target.txt link; ln -s nowhere dangling')
  const info = await box.files.getInfo('link')
  assert.equal(info.symlinkTarget, '/home/user/target.txt')
  assert.equal(info.type, FileType.FILE)
  assert.equal(await box.files.read('link'), 'x')
})

test('rename moves, also over a file', async () => {
  await box.files.write('from.txt', 'moved')
  await box.files.write('sub/to.txt', 'old')
  const info = await box.files.rename('from.txt', 'sub/to.txt')
  assert.equal(info.path, '/home/user/sub/to.txt')
  assert.equal(await box.files.read('sub/to.txt'), 'moved')
  assert.equal(await box.files.exists('from.txt'), false)
})

test('remove takes trees and does not mind what is missing', async () => {
  await box.files.write('gone/a/b', '')
  await box.files.remove('gone')
  assert.equal(await box.files.exists('gone'), false)
  await box.files.remove('gone')
})

test('files of root', { skip: without('root') }, async () => {
  await box.files.write('/root/r.txt', 'secret', { user: 'root' })
  assert.equal(await box.files.read('/root/r.txt', { user: 'root' }), 'secret')
  await assert.rejects(box.files.read('/root/r.txt'))
})

test('watchDir sees what happens', async () => {
  await box.files.makeDir('watched')
  const events = []
  const handle = await box.files.watchDir('watched', (event) => events.push(event))
  await box.files.write('watched/new.txt', 'x')
  await eventually(async () => assert.ok(events.some((one) => one.name === 'new.txt')))
  await handle.stop()
  await assert.rejects(box.files.watchDir('no-dir', () => {}), NotFoundError)
})

test('watchDir sees below when recursive', async () => {
  await box.files.makeDir('deepwatch')
  const events = []
  const handle = await box.files.watchDir('deepwatch', (event) => events.push(event), { recursive: true })
  await box.files.makeDir('deepwatch/sub')
  await eventually(async () => {
    await box.files.write(`deepwatch/sub/f${Date.now()}.txt`, 'x')
    assert.ok(events.some((one) => one.name.startsWith('sub/f')))
  })
  await handle.stop()
})

test('signed URLs work without headers', async () => {
  await box.files.write('signed.txt', 'by url')
  const down = await box.downloadUrl('signed.txt', { useSignatureExpiration: 60 })
  assert.equal(await (await fetch(down)).text(), 'by url')
  const up = await box.uploadUrl('uploaded.txt')
  const form = new FormData()
  form.append('file', new Blob(['from a form']), 'ignored.txt')
  assert.equal((await fetch(up, { method: 'POST', body: form })).status, 200)
  assert.equal(await box.files.read('uploaded.txt'), 'from a form')
  const expired = await box.downloadUrl('signed.txt', { useSignatureExpiration: -10 }).catch(() => null)
  if (expired) assert.equal((await fetch(expired)).status, 401)
  const bad = await fetch(`${url}/files?path=signed.txt&signature=v1_wrong`)
  assert.equal(bad.status, 401)
})

test('ranges of a file', async () => {
  await box.files.write('range.txt', '0123456789')
  const part = await plane(box, '/files?path=range.txt', { headers: { Range: 'bytes=2-4' } })
  assert.equal(part.status, 206)
  assert.equal(await part.text(), '234')
  assert.equal(part.headers.get('content-range'), 'bytes 2-4/10')
  assert.equal(await (await plane(box, '/files?path=range.txt', { headers: { Range: 'bytes=-3' } })).text(), '789')
  assert.equal((await plane(box, '/files?path=range.txt', { headers: { Range: 'bytes=50-' } })).status, 416)
})

test('octet streams, gzip and their errors', async () => {
  const post = (query, body, headers) => plane(box, `/files?${query}`, { method: 'POST', body, headers })
  const plain = await post('path=oct.txt', 'octets', { 'content-type': 'application/octet-stream' })
  assert.deepEqual(await plain.json(), [{ name: 'oct.txt', type: 'file', path: '/home/user/oct.txt' }])
  await post('path=zip.txt', gzipSync('zipped'), { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' })
  assert.equal(await box.files.read('zip.txt'), 'zipped')
  for (const [query, body, headers] of [
    ['', 'x', { 'content-type': 'application/octet-stream' }],
    ['path=x', 'x', { 'content-type': 'text/plain' }],
    ['path=x', 'no gzip', { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' }],
    ['path=x', 'x', { 'content-type': 'application/octet-stream', 'content-encoding': 'br' }],
    ['path=/tmp', 'x', { 'content-type': 'application/octet-stream' }],
    ['path=x', 'x', { 'content-type': 'multipart/form-data' }],
  ]) {
    const response = await post(query, body, headers)
    assert.equal(response.status, 400, JSON.stringify([query, headers]))
    assert.equal((await response.json()).code, 400)
  }
})

test('procfs files have content', async () => {
  assert.match(await box.files.read('/proc/version'), /Linux/)
})

test('file metadata', { skip: !newest }, async () => {
  let info
  try {
    await box.files.write('meta.txt', 'x', { metadata: { colour: 'blue' } })
    info = await box.files.getInfo('meta.txt')
  } catch (error) {
    if (/unsupported|not supported/i.test(error.message)) return
    throw error
  }
  assert.deepEqual(info.metadata, { colour: 'blue' })
  await box.files.write('meta.txt', 'y')
  assert.deepEqual((await box.files.getInfo('meta.txt')).metadata ?? {}, {})
})
