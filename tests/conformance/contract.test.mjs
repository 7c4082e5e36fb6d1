// What the wire has beside what the SDKs of today use: older generations, keys, cold pauses, tags of snapshots, conditions.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { control, eventually, key, plane, sandbox, sleep } from './harness.mjs'
import { create, info, json, kill, post } from './rest.mjs'
import { unary } from './wire.mjs'

const mark = Math.random().toString(36).slice(2)
const upload = (box, path, text) => plane(box, `/files?path=${path}`, { method: 'POST', body: text, headers: { 'content-type': 'application/octet-stream' } })
const read = async (box, path) => (await plane(box, `/files?path=${path}`)).text()
const shell = async (box, line) => {
  const answer = await plane(box, '/execute', { port: 49999, method: 'POST', body: JSON.stringify({ code: line, language: 'bash' }), headers: { 'content-type': 'application/json' } })
  const lines = (await answer.text()).trimEnd().split('\n').map((one) => JSON.parse(one))
  return lines.filter((one) => one.type === 'stdout').map((one) => one.text).join('')
}

test('keys are made, named, listed and revoked', async () => {
  const made = await post('/api-keys', { name: `first-${mark}` })
  assert.equal(made.status, 201)
  for (const name of ['id', 'name', 'key', 'mask', 'createdAt']) assert.ok(name in made.body, name)
  assert.match(made.body.key, /^e2b_[0-9a-f]{40}$/)
  assert.ok(made.body.key.startsWith(made.body.mask.prefix + made.body.mask.maskedValuePrefix))
  assert.equal((await json('/v2/sandboxes', { apiKey: made.body.key })).status, 200)
  assert.equal((await json(`/api-keys/${made.body.id}`, { method: 'PATCH', body: { name: `second-${mark}` } })).status, 200)
  const listed = (await json('/api-keys')).body.find((one) => one.id === made.body.id)
  assert.equal(listed.name, `second-${mark}`)
  assert.ok(!('key' in listed))
  // The other key was made by a command; a running service hears of it in a while.
  await eventually(async () => assert.equal((await json('/teams', { apiKey: process.env.OTHER_KEY })).status, 200), 30_000)
  assert.equal((await json(`/api-keys/${made.body.id}`, { method: 'DELETE', apiKey: process.env.OTHER_KEY })).status, 404)
  assert.equal((await json(`/api-keys/${made.body.id}`, { method: 'DELETE' })).status, 204)
  assert.equal((await json(`/api-keys/${made.body.id}`, { method: 'DELETE' })).status, 404)
  assert.equal((await json('/v2/sandboxes', { apiKey: made.body.key })).status, 401)
  for (const body of [{}, { name: '' }, { name: 7 }, { name: 'x'.repeat(300) }]) assert.equal((await post('/api-keys', body)).status, 400)
  assert.equal((await post('/api-keys', { name: 'x' }, { apiKey: 'e2b_00000000' })).status, 401)
})

test('access tokens open as keys do and stand in no list', async () => {
  const made = await post('/access-tokens', { name: `token-${mark}` })
  assert.equal(made.status, 201)
  for (const name of ['id', 'name', 'token', 'mask', 'createdAt']) assert.ok(name in made.body, name)
  const bearer = { headers: { Authorization: `Bearer ${made.body.token}` }, apiKey: '' }
  const [team] = (await json('/teams', bearer)).body
  assert.equal(team.teamID, (await json('/teams')).body[0].teamID)
  assert.ok(!(await json('/api-keys')).body.some((one) => one.id === made.body.id))
  assert.equal((await json(`/api-keys/${made.body.id}`, { method: 'DELETE' })).status, 404)
  assert.equal((await json(`/access-tokens/${made.body.id}`, { method: 'DELETE' })).status, 204)
  assert.equal((await json('/teams', bearer)).status, 401)
})

test('a team is told the key it asked with, and is no administrator', async () => {
  assert.equal((await json('/teams')).body[0].apiKey, key)
  for (const [method, path] of [['GET', '/nodes'], ['GET', '/nodes/one'], ['GET', '/admin/teams'], ['POST', '/admin/teams/x/sandboxes/kill']]) {
    const refused = await json(path, { method })
    assert.deepEqual([refused.status, refused.body.code], [403, 403], path)
    assert.equal((await json(path, { method, apiKey: '' })).status, 401)
  }
})

test('the first generation wants a time and lists what runs', async () => {
  const box = await create({ secure: true }, '')
  assert.equal((await post(`/sandboxes/${box.sandboxID}/connect`, {})).status, 400)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/connect`, { timeout: 60 })).status, 200)
  assert.equal((await post(`/v2/sandboxes/${box.sandboxID}/connect`)).status, 200)
  const ids = async (path) => (await json(path)).body.map((one) => one.sandboxID)
  assert.ok((await ids('/sandboxes')).includes(box.sandboxID))
  assert.equal((await post(`/sandboxes/${box.sandboxID}/pause`, {})).status, 204)
  assert.ok(!(await ids('/sandboxes')).includes(box.sandboxID))
  assert.ok((await ids('/v2/sandboxes')).includes(box.sandboxID))
  assert.equal((await post(`/sandboxes/${box.sandboxID}/resume`, { timeout: 60 })).status, 201)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/resume`, { timeout: 60 })).status, 409)
  await kill(box)
})

test('a pause without memory keeps the files alone', async () => {
  const box = await create({ envVars: { COLOUR: 'blue' } })
  await upload(box, '/home/user/kept', 'file')
  await shell(box, 'state=warm; sleep 600 & echo $! > /tmp/pid')
  const alive = () => shell(box, 'kill -0 "$(cat /tmp/pid)" 2>/dev/null && echo alive; echo "$state"')
  assert.equal(await alive(), 'alive\nwarm\n')
  // With memory: everything is there again.
  assert.equal((await post(`/sandboxes/${box.sandboxID}/pause`, { memory: true })).status, 204)
  assert.equal((await post(`/v2/sandboxes/${box.sandboxID}/connect`, { timeout: 120 })).status, 201)
  assert.equal(await alive(), 'alive\nwarm\n')
  // Without: as after a cold start.
  assert.equal((await post(`/sandboxes/${box.sandboxID}/pause`, { memory: false })).status, 204)
  assert.equal((await info(box)).state, 'paused')
  assert.equal((await plane(box, '/health')).status, 502)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/pause`, { memory: false })).status, 409)
  const woken = await post(`/v2/sandboxes/${box.sandboxID}/connect`, { timeout: 120 })
  assert.deepEqual([woken.status, woken.body.envdAccessToken], [201, box.envdAccessToken])
  assert.equal(await read(box, '/home/user/kept'), 'file')
  assert.equal(await alive(), '\n')
  assert.equal(await shell(box, 'echo $COLOUR'), 'blue\n')
  await kill(box)
})

test('one that was paused with its memory can be started cold', async () => {
  const box = await create()
  await upload(box, '/home/user/kept', 'file')
  await shell(box, 'state=warm')
  assert.equal((await post(`/sandboxes/${box.sandboxID}/pause`)).status, 204)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/connect`, { timeout: 120, memory: false })).status, 201)
  assert.equal(await shell(box, 'echo "[$state]"'), '[]\n')
  assert.equal(await read(box, '/home/user/kept'), 'file')
  await kill(box)
})

test('autoPauseMemory decides what is left when the time is over', async () => {
  for (const [autoPauseMemory, seen] of [[true, '[warm]\n'], [false, '[]\n']]) {
    const box = await create({ timeout: 3, autoPause: true, autoPauseMemory })
    await upload(box, '/home/user/kept', 'file')
    await shell(box, 'state=warm')
    await eventually(async () => assert.equal((await info(box)).state, 'paused'), 60_000)
    assert.equal((await post(`/v2/sandboxes/${box.sandboxID}/connect`, { timeout: 120 })).status, 201)
    assert.equal(await shell(box, 'echo "[$state]"'), seen)
    assert.equal(await read(box, '/home/user/kept'), 'file')
    await kill(box)
  }
})

test('snapshots of one name are told apart by tags', async () => {
  const box = await create()
  const [{ teamID }] = (await json('/teams')).body
  const name = `shot-${mark}`
  for (const tag of ['v1', 'v2', undefined]) {
    await upload(box, '/home/user/which', tag ?? 'newest')
    const made = await post(`/sandboxes/${box.sandboxID}/snapshots`, { name: tag ? `${name}:${tag}` : name })
    assert.deepEqual([made.status, made.body], [201, { snapshotID: `${teamID}/${name}:${tag ?? 'default'}`, names: [`${teamID}/${name}`] }])
  }
  const from = async (templateID) => {
    const one = await create({ templateID })
    const text = await read(one, '/home/user/which')
    await kill(one)
    return text
  }
  assert.equal(await from(`${name}:v1`), 'v1')
  assert.equal(await from(`${teamID}/${name}:v2`), 'v2')
  assert.equal(await from(name), 'newest')
  assert.equal((await post('/v2/sandboxes', { templateID: `${name}:v3` })).body.message, `tag 'v3' does not exist for template '${name}'`)
  // The same name and tag again: the newest is meant.
  await upload(box, '/home/user/which', 'again')
  assert.equal((await post(`/sandboxes/${box.sandboxID}/snapshots`, { name: `${name}:v1` })).status, 201)
  assert.equal(await from(`${name}:v1`), 'again')
  const listed = async (query) => (await json(`/snapshots?name=${query}`)).body.map((one) => one.snapshotID.split(':')[1]).sort()
  assert.deepEqual(await listed(name), ['default', 'v1', 'v2'])
  assert.deepEqual(await listed(`${name}%3Av2`), ['v2'])
  assert.deepEqual((await json(`/templates/${name}/tags`)).body.map((one) => one.tag).sort(), ['default', 'v1', 'v2'])
  for (const tag of ['v1', 'v2', 'default']) {
    const path = `/templates/${encodeURIComponent(`${teamID}/${name}:${tag}`)}`
    await eventually(async () => assert.equal((await json(path, { method: 'DELETE' })).status, 204), 20_000)
    assert.equal((await json(path, { method: 'DELETE' })).status, 404)
  }
  assert.equal((await post(`/sandboxes/${box.sandboxID}/snapshots`, { name: 'base' })).status, 403)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/snapshots`, { name: `somebody/${name}` })).status, 403)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/snapshots`, { name: 'a b' })).status, 400)
  await kill(box)
})

test('names and tags of builds are checked', async () => {
  const good = await post('/v3/templates', { name: `Named-${mark}:V1`, tags: ['Stable'] })
  assert.deepEqual([good.status, good.body.names, good.body.tags.sort()], [202, [`named-${mark}`], ['stable', 'v1']])
  for (const body of [{ name: `x-${mark}`, tags: ['a b'] }, { name: `x-${mark}`, tags: [''] }, { name: `x-${mark}:` }, { name: ':x' }, {},
    { name: `x-${mark}`, tags: ['123e4567-e89b-12d3-a456-426614174000'] }, { name: `x-${mark}`, cpuCount: 0 }]) {
    assert.equal((await post('/v3/templates', body)).status, 400, JSON.stringify(body))
  }
  assert.equal((await post('/v3/templates', { name: 'base' })).status, 403)
  assert.equal((await post('/v3/templates', { name: `somebody/x-${mark}` })).status, 403)
  assert.equal((await post('/templates/tags', { target: `named-${mark}:v1`, tags: [] })).status, 400)
  await json(`/templates/named-${mark}`, { method: 'DELETE' })
})

test('files of a build can be sent again', async () => {
  const { body } = await post('/v3/templates', { name: `files-${mark}` })
  const hash = createHash('sha256').update(mark).digest('hex')
  const link = () => json(`/templates/${body.templateID}/files/${hash}`)
  const first = await link()
  assert.deepEqual([first.status, first.body.present], [201, false])
  assert.equal((await fetch(first.body.url, { method: 'PUT', body: 'tar' })).status, 200)
  const second = await link()
  assert.deepEqual([second.status, second.body.present], [201, true])
  assert.equal((await fetch(second.body.url, { method: 'PUT', body: 'other' })).status, 200)
  assert.equal((await json(`/templates/no-such-template/files/${hash}`)).status, 404)
  assert.equal((await json(`/templates/${body.templateID}/files/short`)).status, 400)
  await json(`/templates/files-${mark}`, { method: 'DELETE' })
})

test('logs of a build come in pages and by level', async () => {
  const { body } = await post('/v3/templates', { name: `logs-${mark}` })
  const at = `/templates/${body.templateID}/builds/${body.buildID}`
  const steps = [1, 2, 3].map((i) => ({ type: 'RUN', args: [`echo out-${i}; echo err-${i} >&2`] }))
  assert.equal((await post(`/v2${at}`, { fromImage: 'e2bdev/base', force: true, steps, unknown: true })).status, 202)
  assert.equal((await json(`${at}/status`)).body.status, 'building')
  assert.equal((await post(`/v2${at}`, { fromImage: 'e2bdev/base', steps })).status, 409)
  await eventually(async () => assert.equal((await json(`${at}/status`)).body.status, 'ready'), 60_000)
  const messages = async (query) => (await json(`${at}/status?${query}`)).body.logEntries.map((one) => one.message.trim())
  const all = await messages('')
  for (let i = 0; i < all.length; i++) assert.deepEqual(await messages(`logsOffset=${i}&limit=1`), [all[i]])
  assert.deepEqual(await messages('level=warn'), ['err-1', 'err-2', 'err-3'])
  assert.deepEqual(await messages('level=warn&logsOffset=2'), ['err-3'])
  assert.deepEqual(await messages(`logsOffset=${all.length}`), [])
  for (const query of ['level=loud', 'limit=x', 'logsOffset=-1']) assert.equal((await json(`${at}/status?${query}`)).status, 400, query)
  const stored = async (query) => (await json(`${at}/logs?${query}`)).body.logs
  const forward = await stored('')
  assert.deepEqual((await stored('direction=backward')).map((one) => one.message), forward.map((one) => one.message).reverse())
  assert.equal((await stored('limit=2')).length, 2)
  assert.deepEqual(await stored(`cursor=${Date.now() + 60_000}`), [])
  assert.equal((await json(`${at}/logs?direction=up`)).status, 400)
  await json(`/templates/logs-${mark}`, { method: 'DELETE' })
})

test('a build that failed says at which step', async () => {
  const { body } = await post('/v3/templates', { name: `fails-${mark}` })
  const at = `/templates/${body.templateID}/builds/${body.buildID}`
  await post(`/v2${at}`, { fromImage: 'e2bdev/base', steps: [{ type: 'RUN', args: ['true'] }, { type: 'RUN', args: ['whoami', 'root123'] }] })
  await eventually(async () => assert.equal((await json(`${at}/status`)).body.status, 'error'), 60_000)
  const { reason } = (await json(`${at}/status`)).body
  assert.deepEqual(reason, { message: "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'", step: '2' })
  await json(`/templates/fails-${mark}`, { method: 'DELETE' })
})

test('programs know where they are', async () => {
  const box = await sandbox()
  const { templateID } = (await json(`/sandboxes/${box.sandboxId}`)).body
  const run = await box.commands.run('echo "$E2B_SANDBOX $E2B_SANDBOX_ID $E2B_TEMPLATE_ID"')
  assert.equal(run.stdout, `true ${box.sandboxId} ${templateID}\n`)
})

test('a watcher that is asked tells what is there', async () => {
  const box = await create()
  const made = await (await unary(box, 'filesystem.Filesystem/CreateWatcher', { path: '/home/user', includeEntry: true })).json()
  const plain = await (await unary(box, 'filesystem.Filesystem/CreateWatcher', { path: '/home/user' })).json()
  await upload(box, '/home/user/new.txt', 'four')
  const events = async (watcherId) => (await (await unary(box, 'filesystem.Filesystem/GetWatcherEvents', { watcherId })).json()).events ?? []
  const seen = []
  await eventually(async () => {
    seen.push(...await events(made.watcherId))
    assert.ok(seen.some((one) => one.name === 'new.txt' && one.entry?.path === '/home/user/new.txt'), JSON.stringify(seen))
  }, 20_000)
  assert.ok((await events(plain.watcherId)).every((one) => !('entry' in one)))
  await kill(box)
})

test('downloads that are as new are not sent again', async () => {
  const box = await create()
  await upload(box, '/home/user/file', '0123456789')
  const get = (headers) => plane(box, '/files?path=/home/user/file', { headers })
  const first = await get({})
  const modified = first.headers.get('last-modified')
  assert.match(modified, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  assert.equal((await get({ 'If-Modified-Since': modified })).status, 304)
  const earlier = new Date(Date.parse(modified) - 5000).toUTCString()
  assert.equal((await get({ 'If-Modified-Since': earlier })).status, 200)
  assert.equal((await get({ 'If-Unmodified-Since': earlier })).status, 412)
  assert.equal((await get({ 'If-Unmodified-Since': modified })).status, 200)
  assert.equal((await get({ 'If-Modified-Since': 'nonsense' })).status, 200)
  assert.equal((await get({ Range: 'bytes=2-3', 'If-Range': modified })).status, 206)
  assert.equal((await get({ Range: 'bytes=2-3', 'If-Range': earlier })).status, 200)
  await kill(box)
})

test('a browser may ask and see the headers that pages need', async () => {
  const answer = await control('/v2/sandboxes', { headers: { Origin: 'http://page.example' } })
  const seen = answer.headers.get('access-control-expose-headers')
  assert.equal(answer.headers.get('access-control-allow-origin'), 'http://page.example')
  for (const name of ['X-Next-Token', 'X-Total-Running', 'Retry-After', 'RateLimit-Remaining']) assert.ok(seen.includes(name), name)
})

test('a fork that cannot be is told apart', async () => {
  const box = await create()
  assert.equal((await post(`/sandboxes/${box.sandboxID}/fork`, { count: 0 })).status, 400)
  await post(`/sandboxes/${box.sandboxID}/pause`)
  assert.equal((await post(`/sandboxes/${box.sandboxID}/fork`)).status, 409)
  assert.equal((await json(`/sandboxes/${box.sandboxID}/network`, { method: 'PUT', body: {} })).status, 409)
  assert.equal((await post('/sandboxes/i00000000000000000000/fork')).status, 404)
  await sleep(10)
  await kill(box)
})
