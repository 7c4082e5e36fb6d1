// Sections 0 to 2 of the wire, what lines.test.mjs leaves: exact keys, statuses and words of the control plane.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { control, eventually, key, plane, url } from './harness.mjs'
import { create, info, json, kill, post } from './rest.mjs'
import { raw } from './wire.mjs'

const mark = Math.random().toString(36).slice(2)
const keys = (object) => Object.keys(object).sort()
const missing = 'i00000000000000000000'

test('every path wants a key, and says so in both places', async () => {
  const paths = [['POST', '/sandboxes'], ['POST', '/v2/sandboxes'], ['GET', '/v2/sandboxes'], ['GET', '/sandboxes'], ['GET', `/sandboxes/${missing}`], ['DELETE', `/sandboxes/${missing}`],
    ['POST', `/v2/sandboxes/${missing}/connect`], ['POST', `/sandboxes/${missing}/connect`], ['POST', `/sandboxes/${missing}/timeout`], ['POST', `/sandboxes/${missing}/pause`],
    ['POST', `/sandboxes/${missing}/resume`], ['POST', `/sandboxes/${missing}/refreshes`], ['POST', `/sandboxes/${missing}/fork`], ['POST', `/sandboxes/${missing}/snapshots`],
    ['GET', '/snapshots'], ['PUT', `/sandboxes/${missing}/network`], ['GET', `/sandboxes/${missing}/metrics`], ['GET', '/sandboxes/metrics'], ['GET', `/sandboxes/${missing}/logs`],
    ['GET', `/v2/sandboxes/${missing}/logs`], ['POST', '/v3/templates'], ['GET', `/templates/x/files/${'0'.repeat(64)}`], ['POST', '/v2/templates/x/builds/y'], ['GET', '/templates/x/builds/y/status'],
    ['GET', '/templates/x/builds/y/logs'], ['GET', '/templates/aliases/x'], ['POST', '/templates/tags'], ['DELETE', '/templates/tags'], ['GET', '/templates/x/tags'], ['DELETE', '/templates/x'],
    ['GET', '/templates'], ['GET', '/v2/templates'], ['GET', '/templates/x'], ['PATCH', '/templates/x'], ['PATCH', '/v2/templates/x'], ['POST', '/volumes'], ['GET', '/volumes'], ['GET', '/volumes/x'],
    ['DELETE', '/volumes/x'], ['POST', '/secrets'], ['GET', '/secrets'], ['GET', '/secrets/x'], ['POST', '/secrets/x'], ['DELETE', '/secrets/x'], ['GET', '/teams'], ['GET', '/teams/x/metrics'], ['GET', '/teams/x/metrics/max']]
  for (const [method, path] of paths) {
    for (const apiKey of ['', 'e2b_0123456789']) {
      const refused = await json(path, { method, apiKey })
      assert.deepEqual([refused.status, refused.body.code, typeof refused.body.message], [401, 401, 'string'], `${method} ${path}`)
    }
  }
})

test('bodies that are no objects are refused', async () => {
  for (const [method, path] of [['POST', '/v2/sandboxes'], ['POST', '/v3/templates'], ['POST', '/volumes'], ['POST', '/secrets'], ['POST', '/templates/tags']]) {
    for (const body of ['{', '[]', '"x"', '7', '{"name":}']) {
      const answer = await fetch(url + path, { method, body, headers: { 'X-API-KEY': key, 'content-type': 'application/json' } })
      assert.deepEqual([answer.status, (await answer.json()).code], [400, 400], `${path} ${body}`)
    }
  }
})

test('references of templates are trimmed and lower-cased', async () => {
  const one = await create({ templateID: '  BASE ' })
  assert.equal(one.templateID, 'base')
  await kill(one)
  const none = await post('/v2/sandboxes', { templateID: `None-${mark}` })
  assert.deepEqual([none.status, none.body.code], [404, 404])
  assert.match(none.body.message, /^template '.*' not found$/)
  const tag = await post('/v2/sandboxes', { templateID: 'base:other' })
  assert.deepEqual([tag.status, tag.body], [404, { code: 404, message: "tag 'other' does not exist for template 'base'" }])
})

test('one sandbox is told with every field', async () => {
  const one = await create({ metadata: { a: 'b' }, autoPause: true, network: { allowPublicTraffic: false, maskRequestHost: 'x:${PORT}', denyOut: ['10.0.0.0/8'] } })
  assert.match(one.trafficAccessToken, /./)
  const listed = (await json('/v2/sandboxes')).body.find((each) => each.sandboxID === one.sandboxID)
  const common = ['alias', 'clientID', 'cpuCount', 'diskSizeMB', 'endAt', 'envdVersion', 'memoryMB', 'metadata', 'sandboxID', 'startedAt', 'state', 'templateID']
  assert.deepEqual(keys(listed), common)
  const whole = await info(one)
  for (const name of common) assert.deepEqual(whole[name], listed[name], name)
  assert.equal(whole.envdAccessToken, one.envdAccessToken)
  assert.equal(whole.trafficAccessToken, undefined)
  assert.deepEqual(whole.lifecycle, { autoResume: false, onTimeout: 'pause' })
  assert.deepEqual(whole.network, { allowPublicTraffic: false, maskRequestHost: 'x:${PORT}', denyOut: ['10.0.0.0/8'] })
  for (const name of ['startedAt', 'endAt']) assert.match(whole[name], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/)
  for (const name of ['cpuCount', 'memoryMB', 'diskSizeMB']) assert.ok(Number.isInteger(whole[name]), name)
  assert.ok(whole.memoryMB >= 512 && whole.diskSizeMB >= 1024)
  // Both ways to connect answer as create did.
  for (const generation of ['', '/v2']) {
    const again = await post(`${generation}/sandboxes/${one.sandboxID}/connect`, { timeout: 60 })
    assert.equal(again.status, 200)
    for (const name of ['sandboxID', 'templateID', 'clientID', 'envdVersion', 'envdAccessToken', 'trafficAccessToken']) assert.equal(again.body[name], one[name], name)
  }
  await kill(one)
  assert.equal((await json(`/sandboxes/${one.sandboxID}`)).body.code, 404)
})

test('a filter by metadata is decoded as often as it was encoded', async () => {
  const one = await create({ metadata: { 'k y': `v&1-${mark}` } }), other = await create({ metadata: { 'k y': `v&2-${mark}` } })
  const found = async (query) => (await json(`/v2/sandboxes?${query}`)).body.map((each) => each.sandboxID)
  // As the JavaScript SDK writes it, and as Python's does.
  assert.deepEqual(await found(`metadata=k%252520y%3Dv%2525261-${mark}`), [one.sandboxID])
  assert.deepEqual(await found(`metadata=k%252520y%253Dv%2525262-${mark}`), [other.sandboxID])
  assert.deepEqual(await found(`metadata=k%252520y%3Dv%2525263-${mark}`), [])
  for (const box of [one, other]) await kill(box)
})

test('lists of one moment have one order', async () => {
  const made = await Promise.all(Array.from({ length: 6 }, () => create({ metadata: { same: mark } })))
  const ids = async (order) => (await json(`/v2/sandboxes?metadata=same%3D${mark}&order=${order}`)).body
  const up = await ids('asc'), down = await ids('desc')
  assert.equal(up.length, 6)
  assert.deepEqual(up.map((one) => one.sandboxID).reverse(), down.map((one) => one.sandboxID))
  for (let i = 1; i < up.length; i++) assert.ok(up[i - 1].startedAt <= up[i].startedAt)
  await Promise.all(made.map(kill))
})

test('a fork is one copy for five minutes unless it is said', async () => {
  const one = await create({ timeout: 900, metadata: { of: mark } })
  const before = (await info(one)).endAt
  const made = await post(`/sandboxes/${one.sandboxID}/fork`)
  assert.equal(made.status, 201)
  assert.deepEqual(made.body.map(keys), [['sandbox']])
  const [{ sandbox }] = made.body
  for (const name of ['sandboxID', 'templateID', 'clientID', 'envdVersion', 'envdAccessToken']) assert.equal(typeof sandbox[name], 'string', name)
  assert.notEqual(sandbox.sandboxID, one.sandboxID)
  const seconds = (Date.parse((await info(sandbox)).endAt) - Date.now()) / 1000
  assert.ok(seconds > 200 && seconds <= 301, String(seconds))
  assert.deepEqual([(await info(one)).endAt, (await info(one)).state], [before, 'running'])
  for (const body of [{ count: 0 }, { count: 101 }, { count: 'x' }, { timeout: 0 }]) assert.equal((await post(`/sandboxes/${one.sandboxID}/fork`, body)).status, 400, JSON.stringify(body))
  for (const box of [one, sandbox]) await kill(box)
})

test('snapshots are filtered before they are paged', async () => {
  const one = await create(), other = await create()
  const taken = { [one.sandboxID]: [], [other.sandboxID]: [] }
  const snapshot = async (box, body = {}) => {
    const made = await post(`/sandboxes/${box.sandboxID}/snapshots`, body)
    assert.equal(made.status, 201)
    taken[box.sandboxID].unshift(made.body.snapshotID)
  }
  const name = `paged-${mark}`
  for (const tag of ['a', 'b', 'c']) {
    await snapshot(one, { name: `${name}:${tag}` })
    for (const box of [other, one, other]) await snapshot(box)
  }
  // Every page as large as asked for, and a token only if something follows.
  const walk = async (query, limit) => {
    const ids = [], sizes = []
    for (let token = ''; token !== null;) {
      const page = await json(`/snapshots?${query}&limit=${limit}${token && `&nextToken=${encodeURIComponent(token)}`}`)
      assert.equal(page.status, 200)
      ids.push(...page.body.map((each) => each.snapshotID))
      sizes.push(page.body.length)
      token = page.headers.get('x-next-token')
    }
    return { ids, sizes }
  }
  const named = taken[one.sandboxID].filter((id) => id.includes(name))
  assert.equal(named.length, 3)
  assert.deepEqual(await walk(`name=${name}`, 1), { ids: named, sizes: [1, 1, 1] })
  assert.deepEqual(await walk(`name=${name}`, 2), { ids: named, sizes: [2, 1] })
  assert.deepEqual(await walk(`name=${name}`, 3), { ids: named, sizes: [3] })
  assert.deepEqual(await walk(`name=${name}:b`, 1), { ids: [named[1]], sizes: [1] })
  assert.deepEqual(await walk(`name=none-${mark}`, 1), { ids: [], sizes: [0] })
  for (const box of [one, other]) assert.deepEqual(await walk(`sandboxID=${box.sandboxID}`, 2), { ids: taken[box.sandboxID], sizes: [2, 2, 2] })
  assert.deepEqual(await walk(`sandboxID=${one.sandboxID}&name=${name}`, 2), { ids: named, sizes: [2, 1] })
  assert.deepEqual(await walk(`sandboxID=${other.sandboxID}&name=${name}`, 2), { ids: [], sizes: [0] })
  const wrong = await json('/snapshots?nextToken=none')
  assert.deepEqual([wrong.status, wrong.body], [400, { code: 400, message: 'Invalid next token' }])
  for (const box of [one, other]) await kill(box)
  for (const id of Object.values(taken).flat()) assert.equal((await json(`/templates/${encodeURIComponent(id)}`, { method: 'DELETE' })).status, 204)
})

test('an update of the network replaces what it does not name', async () => {
  const one = await create({ network: { allowOut: ['8.8.4.4'], denyOut: ['0.0.0.0/0'], allowPublicTraffic: false, httpsPorts: [8443] } })
  const put = (body) => json(`/sandboxes/${one.sandboxID}/network`, { method: 'PUT', body })
  assert.equal((await put({ denyOut: ['198.51.100.0/24'] })).status, 204)
  assert.deepEqual((await info(one)).network, { allowPublicTraffic: false, httpsPorts: [8443], denyOut: ['198.51.100.0/24'] })
  assert.equal((await put({ allow_internet_access: false })).status, 204)
  let told = await info(one)
  assert.deepEqual([told.allowInternetAccess, told.network.denyOut], [false, undefined])
  assert.equal((await put({})).status, 204)
  told = await info(one)
  assert.deepEqual([told.allowInternetAccess ?? null, told.network], [null, { allowPublicTraffic: false, httpsPorts: [8443] }])
  for (const body of [{ denyOut: ['example.org'] }, { allowOut: ['example.org'] }, { allowOut: 'x' }, { allow_internet_access: 'no' }]) {
    const refused = await put(body)
    assert.deepEqual([refused.status, refused.body.code], [400, 400], JSON.stringify(body))
  }
  assert.deepEqual((await info(one)).network, { allowPublicTraffic: false, httpsPorts: [8443] }, 'what was refused changed nothing')
  const gone = await json(`/sandboxes/${missing}/network`, { method: 'PUT', body: {} })
  assert.deepEqual([gone.status, gone.body.code], [404, 404])
  await kill(one)
})

test('a name that is known gets another build of the same template', async () => {
  const name = `twice-${mark}`
  const first = await post('/v3/templates', { name, cpuCount: 2, memoryMB: 1024 })
  assert.deepEqual([first.status, keys(first.body)], [202, ['aliases', 'buildID', 'names', 'public', 'tags', 'templateID']])
  assert.deepEqual([first.body.public, first.body.names, first.body.aliases, first.body.tags], [false, [name], [name], ['default']])
  assert.match(first.body.templateID, /^[a-z0-9]{20}$/)
  assert.match(first.body.buildID, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  // The older clients say alias.
  const second = await post('/v3/templates', { alias: name })
  assert.equal(second.body.templateID, first.body.templateID)
  assert.notEqual(second.body.buildID, first.body.buildID)
  const early = await post('/v2/sandboxes', { templateID: name })
  assert.ok([400, 404].includes(early.status), 'nothing is built yet')
  const whole = await json(`/templates/${name}`)
  assert.deepEqual([whole.status, whole.body.templateID, whole.body.public], [200, first.body.templateID, false])
  assert.equal((await json(`/templates/${name}`, { method: 'DELETE' })).status, 204)
})

test('the domain of a sandbox leads to its ports, encrypted', async () => {
  const one = await create()
  assert.match(one.domain, new RegExp(`:${new URL(process.env.ATOLL_TLS_URL).port}$`))
  assert.equal((await info(one)).domain, one.domain)
  const [name, at] = `49983-${one.sandboxID}.${one.domain}`.split(':')
  const status = await new Promise((resolve, reject) => {
    https.get({ host: '127.0.0.1', port: at, servername: name, path: '/health', ca: readFileSync(process.env.ATOLL_CERTIFICATE), headers: { Host: `${name}:${at}` } },
      (response) => resolve(response.statusCode)).on('error', reject)
  })
  assert.equal(status, 204)
  await kill(one)
})

// A tar of plain files, as clients write it.
function tar(files) {
  const blocks = []
  for (const [name, text] of Object.entries(files)) {
    const head = Buffer.alloc(512)
    head.write(name)
    head.write('0000644\0', 100)
    head.write('0001750\0', 108)
    head.write('0001750\0', 116)
    head.write(text.length.toString(8).padStart(11, '0') + '\0', 124)
    head.write('00000000000\0', 136)
    head.write('        0', 148)
    head.write('ustar\0' + '00', 257)
    head.write(head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\0 ', 148)
    blocks.push(head, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512))
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

test('COPY takes archives of both kinds, patterns, owners and modes', async () => {
  const { body } = await post('/v3/templates', { name: `copy-${mark}` })
  const at = `/templates/${body.templateID}`
  const upload = async (bytes) => {
    const hash = createHash('sha256').update(bytes).update(mark).digest('hex')
    const link = await json(`${at}/files/${hash}`)
    assert.deepEqual([link.status, link.body.present], [201, false])
    assert.equal((await fetch(link.body.url, { method: 'PUT', body: bytes, headers: link.body.headers ?? {} })).status, 200)
    return hash
  }
  const files = { 'a.txt': 'A', 'b.txt': 'BB', 'with space.txt': 'S', 'sub/c.txt': 'C', 'sub/deep/d.txt': 'D' }
  const plain = await upload(tar(files)), zipped = await upload(gzipSync(tar(files)))
  const copy = (filesHash, ...args) => ({ type: 'COPY', args, filesHash, force: false, forceUpload: true, gzip: false, resolveSymlinks: false })
  const steps = [copy(plain, 'a.txt', '/opt/one/named', 'root', '0640'), copy(zipped, '*.txt', '/opt/many', '', ''), copy(plain, 'sub', '/opt/tree', '', ''),
    { type: 'WORKDIR', args: ['/srv/work'] }, copy(zipped, 'sub/*', 'rel', '', ''), copy(plain, 'with space.txt', '/opt/dir/', '', ''), copy(plain, '.', '/opt/whole', '', ''),
    copy(zipped, '{a,b}.txt', '/opt/either', '', ''), copy(plain, '**/*.txt', '/opt/flat/', '', '')]
  assert.equal((await post(`/v2${at}/builds/${body.buildID}`, { fromImage: 'e2bdev/base', force: false, steps })).status, 202)
  const done = await eventually(async () => {
    const status = (await json(`${at}/builds/${body.buildID}/status`)).body
    assert.ok(['ready', 'error'].includes(status.status))
    return status
  }, 120_000)
  assert.equal(done.status, 'ready', JSON.stringify(done.reason))
  assert.deepEqual(keys(done), ['buildID', 'logEntries', 'logs', 'status', 'templateID'])
  const box = await create({ templateID: `copy-${mark}` })
  const read = async (path) => (await plane(box, `/files?path=${encodeURIComponent(path)}`)).text()
  for (const [path, text] of [['/opt/many/a.txt', 'A'], ['/opt/many/b.txt', 'BB'], ['/opt/many/with space.txt', 'S'], ['/opt/tree/c.txt', 'C'], ['/opt/tree/deep/d.txt', 'D'],
    ['/srv/work/rel/c.txt', 'C'], ['/srv/work/rel/d.txt', 'D'], ['/opt/dir/with space.txt', 'S'], ['/opt/whole/sub/c.txt', 'C'], ['/opt/whole/a.txt', 'A'],
    ['/opt/either/a.txt', 'A'], ['/opt/either/b.txt', 'BB'], ['/opt/flat/a.txt', 'A'], ['/opt/flat/d.txt', 'D']]) assert.equal(await read(path), text, path)
  const stat = await plane(box, '/filesystem.Filesystem/Stat', { method: 'POST', body: JSON.stringify({ path: '/opt/one/named' }), headers: { 'content-type': 'application/json' } })
  const { entry } = await stat.json()
  assert.deepEqual([entry.owner, entry.mode, entry.size], ['root', 0o640, '1'])
  await kill(box)
  await eventually(async () => assert.equal((await json(at, { method: 'DELETE' })).status, 204), 20_000)
})

test('lines of a step are told while it runs', async () => {
  const { body } = await post('/v3/templates', { name: `live-${mark}` })
  const path = `/templates/${body.templateID}/builds/${body.buildID}`
  const line = "echo early; echo wrong >&2; printf '\\377 odd\\n\\nno end'; while [ ! -e /tmp/on ]; do sleep 0.1; [ $((i += 1)) -lt 30 ] || touch /tmp/on; done"
  assert.equal((await post(`/v2${path}`, { fromImage: 'e2bdev/base', force: true, steps: [{ type: 'RUN', args: [line] }] })).status, 202)
  const entries = async () => (await json(`${path}/status`)).body
  await eventually(async () => {
    const { status, logEntries } = await entries()
    assert.equal(status, 'building')
    assert.deepEqual(logEntries.filter((one) => ['early', 'wrong'].includes(one.message)).map((one) => [one.level, one.step]).sort(), [['info', '1'], ['warn', '1']])
  }, 20_000)
  await eventually(async () => assert.equal((await entries()).status, 'ready'), 30_000)
  const messages = (await entries()).logEntries.map((one) => one.message)
  assert.ok(messages.includes('no end') && messages.some((one) => one.endsWith(' odd')) && !messages.includes(''), JSON.stringify(messages))
  await json(`/templates/live-${mark}`, { method: 'DELETE' })
})

test('steps that cannot be are told with their number', async () => {
  for (const [step, told] of [[{ type: 'COPY', args: ['x', '/x'], filesHash: '0'.repeat(64) }, /not uploaded/], [{ type: 'RUN', args: ['exit 9'] }, /exit status 9/], [{ type: 'DANCE', args: [] }, /DANCE/]]) {
    const { body } = await post('/v3/templates', { name: `bad-${mark}` })
    const path = `/templates/${body.templateID}/builds/${body.buildID}`
    const started = await post(`/v2${path}`, { fromImage: 'e2bdev/base', steps: [{ type: 'ENV', args: ['A', 'b'] }, step] })
    if (started.status === 400) {
      assert.match(started.body.message, told)
      continue
    }
    assert.equal(started.status, 202)
    const { reason } = await eventually(async () => {
      const status = (await json(`${path}/status`)).body
      assert.equal(status.status, 'error')
      return status
    }, 60_000)
    assert.match(reason.message, told)
    assert.equal(reason.step, '2')
  }
  const { body } = await post('/v3/templates', { name: `bad-${mark}` })
  const path = `/templates/${body.templateID}/builds/${body.buildID}`
  assert.equal((await post(`/v2${path}`, { fromImage: 'registry.example.org/none:1', steps: [] })).status, 202)
  const failed = await eventually(async () => {
    const status = (await json(`${path}/status`)).body
    assert.equal(status.status, 'error')
    return status
  }, 60_000)
  assert.equal(failed.reason.step, 'base')
  assert.equal((await json(`/templates/bad-${mark}`, { method: 'DELETE' })).status, 204)
})

test('content of a volume, each call with its status', async () => {
  const { body: volume } = await post('/volumes', { name: `calls-${mark}` })
  assert.ok(keys(volume).includes('token') && keys(volume).includes('volumeID'))
  assert.deepEqual((await json(`/volumes/${volume.volumeID}`)).body, volume)
  const call = async (method, path, body, headers = {}) => {
    const answer = await fetch(`${url}/volumecontent/${volume.volumeID}/${path}`, { method, body, headers: { Authorization: `Bearer ${volume.token}`, ...headers }, duplex: 'half' })
    const text = await answer.text()
    return [answer.status, answer.headers.get('content-type')?.startsWith('application/json') && text ? JSON.parse(text) : text]
  }
  const status = async (...given) => (await call(...given))[0]
  const [made, entry] = await call('POST', 'dir?path=/d&uid=1000&gid=1000&mode=448')
  assert.deepEqual([made, entry.type, entry.path, entry.mode & 0o777, entry.uid, entry.gid], [201, 'directory', '/d', 0o700, 1000, 1000])
  assert.equal(await status('POST', 'dir?path=/x/y'), 404)
  assert.equal(await status('POST', 'dir?path=/x/y&force=true'), 201)
  assert.equal(await status('POST', 'dir?path=/x/y&force=true'), 201)
  assert.ok([400, 409].includes(await status('POST', 'dir?path=/x/y')))
  // In chunks, as clients send it.
  const [put, stat] = await call('PUT', 'file?path=/d/f&mode=416&uid=0&gid=0', new Blob(['12', '345']).stream(), { 'content-type': 'application/octet-stream' })
  assert.deepEqual([put, stat.name, stat.type, stat.size, stat.mode & 0o777, stat.uid], [201, 'f', 'file', 5, 0o640, 0])
  for (const name of ['atime', 'mtime', 'ctime']) assert.match(stat[name], /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.deepEqual(await call('GET', 'file?path=/d/f'), [200, '12345'])
  assert.equal(await status('PUT', 'file?path=/no/such/f', 'x'), 404)
  // "Force overwrite of an existing file": parents are a directory's.
  assert.equal(await status('PUT', 'file?path=/no/such/f&force=true', 'x'), 404)
  assert.equal(await status('PUT', 'file?path=/d/f', 'x'), 409)
  assert.deepEqual(await call('GET', 'file?path=/d/f'), [200, '12345'])
  const listed = await call('GET', 'dir?path=/')
  assert.deepEqual([listed[0], listed[1].map((one) => one.path)], [200, ['/d', '/x']])
  assert.deepEqual((await call('GET', 'dir?path=/&depth=2'))[1].map((one) => one.path), ['/d', '/d/f', '/x', '/x/y'])
  const changed = await call('PATCH', 'path?path=/d/f', JSON.stringify({ mode: 0o600, uid: 1000, gid: 1000 }), { 'content-type': 'application/json' })
  assert.deepEqual([changed[0], changed[1].mode & 0o777, changed[1].uid, changed[1].gid], [200, 0o600, 1000, 1000])
  for (const [method, path] of [['GET', 'file?path=/none'], ['GET', 'path?path=/none'], ['DELETE', 'path?path=/none'], ['GET', 'dir?path=/none'], ['PATCH', 'path?path=/none']]) {
    const [code, told] = await call(method, path, method === 'PATCH' ? '{"mode":384}' : undefined)
    assert.deepEqual([code, typeof told.code, typeof told.message], [404, 'string', 'string'], `${method} ${path}`)
  }
  assert.equal(await status('DELETE', 'path?path=/d'), 204)
  assert.equal(await status('GET', 'path?path=/d/f'), 404)
  assert.equal((await json(`/volumes/${volume.volumeID}`, { method: 'DELETE' })).status, 204)
  for (const method of ['GET', 'DELETE']) {
    const gone = await json(`/volumes/${volume.volumeID}`, { method })
    assert.deepEqual([gone.status, gone.body.code], [404, 404])
  }
})

test('secrets by id and by name, with every field', async () => {
  const name = `fields-${mark}`
  const made = await post('/secrets', { name, value: 'v' })
  assert.deepEqual([made.status, keys(made.body)], [201, ['createdAt', 'currentVersion', 'metadata', 'name', 'secretID', 'updatedAt']])
  for (const word of [name, made.body.secretID]) assert.deepEqual((await json(`/secrets/${word}`)).body, made.body)
  const changed = await post(`/secrets/${made.body.secretID}`, { value: 'w', metadata: { k: 'v' } })
  assert.deepEqual([changed.status, changed.body.currentVersion, changed.body.metadata, changed.body.createdAt], [200, 2, { k: 'v' }, made.body.createdAt])
  assert.equal((await post(`/secrets/${name}`, {})).status, 400)
  assert.equal((await json(`/secrets/${made.body.secretID}`, { method: 'DELETE' })).status, 204)
  for (const [method, body] of [['GET'], ['DELETE'], ['POST', { value: 'x' }]]) {
    const gone = await json(`/secrets/${name}`, { method, body })
    assert.deepEqual([gone.status, gone.body.code], [404, 404], method)
  }
})

test('empty answers have no body and no chunks', async () => {
  const one = await create()
  const head = `Host: localhost\r\nX-API-Key: ${key}\r\nConnection: close\r\n`
  for (const [method, path, body, status] of [['POST', '/timeout', '{"timeout":60}', 204], ['POST', '/refreshes', '{}', 204], ['PUT', '/network', '{}', 204], ['POST', '/pause', '', 204], ['DELETE', '', '', 204]]) {
    const answer = await raw(`${method} /sandboxes/${one.sandboxID}${path} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), path)
    assert.doesNotMatch(answer, /transfer-encoding/i)
    assert.ok(answer.endsWith('\r\n\r\n'), answer)
  }
})

test('a browser may ask before it asks', async () => {
  const answer = await fetch(url + '/v2/sandboxes', { method: 'OPTIONS', headers: { Origin: 'http://page.example', 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'x-api-key,content-type' } })
  assert.ok([200, 204].includes(answer.status))
  assert.equal(answer.headers.get('access-control-allow-origin'), 'http://page.example')
  assert.match(answer.headers.get('access-control-allow-headers'), /x-api-key/i)
  const stranger = await control('/v2/sandboxes', { headers: { Origin: 'http://elsewhere.example' } })
  assert.equal(stranger.headers.get('access-control-allow-origin'), null)
})
