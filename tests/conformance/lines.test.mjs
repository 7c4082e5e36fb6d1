// The contract line by line, where no other suite looks: defaults, times, pages, words of errors.
import assert from 'node:assert/strict'
import http from 'node:http'
import { before, test } from 'node:test'
import { control, eventually, plane, sandbox, url } from './harness.mjs'
import * as rest from './rest.mjs'
import { all, envelope, raw, rpc, shell, unary } from './wire.mjs'

const { info, json, kill, post } = rest
const mark = Math.random().toString(36).slice(2)
const { hostname, port } = new URL(url)
const create = (body = {}, generation = '/v2') => rest.create({ timeout: undefined, ...body }, generation)
// Seconds that a sandbox has left; a slow machine has fewer.
const left = async (box) => (Date.parse((await info(box)).endAt) - Date.now()) / 1000
const isAbout = (seconds, wanted) => assert.ok(seconds <= wanted + 1 && seconds > wanted - 60, `${seconds} is not about ${wanted}`)
let box
before(async () => {
  box = await sandbox()
})

test('the generations differ in their defaults', async () => {
  const first = await create({}, ''), second = await create({ secure: false }), open = await create({ secure: false, timeout: 20 }, '')
  assert.ok(await left(first) <= 15)
  isAbout(await left(second), 300)
  // Open only where the first generation says so; the second knows no such word.
  assert.equal(open.envdAccessToken, undefined)
  for (const secured of [first, second]) assert.match(secured.envdAccessToken, /./)
  assert.match((await create({ secure: true, timeout: 20 }, '')).envdAccessToken, /./)
  for (const made of [first, second, open]) {
    for (const name of ['sandboxID', 'templateID', 'clientID', 'envdVersion']) assert.equal(typeof made[name], 'string', name)
    assert.match(made.sandboxID, /^i[a-z0-9]{20}$/)
    assert.equal(made.envdVersion, '0.6.13')
    // Clients send it with the interpreter's contexts, and nothing else.
    assert.equal(Boolean(made.trafficAccessToken), made !== open)
    await kill(made)
  }
})

test('what create refuses', async () => {
  const cases = [[{ timeout: 0 }, 'Timeout must be greater than 0'], [{ timeout: -5 }, 'Timeout must be greater than 0'], [{ timeout: 1e9 }, /Timeout cannot be greater/],
    [{ autoPauseMemory: false }, /autoPause/], [{ autoPause: true, autoPauseMemory: false, autoResume: { enabled: true } }, /autoResume/],
    [{ network: { allowOut: ['example.com'] } }, /0\.0\.0\.0\/0/], [{ network: { denyOut: ['example.com'] } }, /denyOut/], [{ templateID: 'a/b/c' }, /a\/b\/c/],
    [{ templateID: 'base:' }, /base:/], [{ envVars: { A: 1 } }, /envVars/], [{ timeout: 'soon' }, /timeout/], [{ templateID: undefined }, /templateID/]]
  for (const generation of ['', '/v2']) {
    for (const [body, told] of cases) {
      const refused = await post(`${generation}/sandboxes`, { templateID: 'base', ...body })
      assert.deepEqual([refused.status, refused.body.code], [400, 400], JSON.stringify(body))
      if (typeof told === 'string') assert.equal(refused.body.message, told)
      else assert.match(refused.body.message, told)
    }
  }
  // What nobody knows is no error, nor is what is null.
  const made = await create({ tomorrow: [1], mcp: null, metadata: null, network: null, envVars: {}, autoResume: { enabled: false } })
  assert.deepEqual((await info(made)).lifecycle, { autoResume: false, onTimeout: 'kill' })
  await kill(made)
})

test('connect extends and never shortens, timeout does both', async () => {
  const one = await create({ timeout: 600 })
  for (const generation of ['', '/v2']) assert.equal((await post(`${generation}/sandboxes/${one.sandboxID}/connect`, { timeout: 30 })).status, 200)
  isAbout(await left(one), 600)
  const longer = await post(`/v2/sandboxes/${one.sandboxID}/connect`, { timeout: 1200 })
  assert.deepEqual([longer.status, longer.body.envdAccessToken, longer.body.sandboxID], [200, one.envdAccessToken, one.sandboxID])
  isAbout(await left(one), 1200)
  assert.equal((await post(`/sandboxes/${one.sandboxID}/timeout`, { timeout: 100 })).status, 204)
  isAbout(await left(one), 100)
  assert.equal((await post(`/sandboxes/${one.sandboxID}/refreshes`, { duration: 20 })).status, 204)
  isAbout(await left(one), 100)
  assert.equal((await post(`/sandboxes/${one.sandboxID}/refreshes`, { duration: 900 })).status, 204)
  isAbout(await left(one), 900)
  // A pause does not use the time up, and who wakes it says how long.
  assert.equal((await post(`/sandboxes/${one.sandboxID}/pause`)).status, 204)
  assert.equal((await post(`/sandboxes/${one.sandboxID}/pause`)).body.code, 409)
  const woken = await post(`/v2/sandboxes/${one.sandboxID}/connect`, { timeout: 200 })
  assert.deepEqual([woken.status, woken.body.envdAccessToken], [201, one.envdAccessToken])
  isAbout(await left(one), 200)
  for (const bad of [{ timeout: -1 }, { timeout: 'x' }]) assert.equal((await post(`/v2/sandboxes/${one.sandboxID}/connect`, bad)).status, 400)
  await kill(one)
  for (const [path, body] of [['/connect', { timeout: 9 }], ['/timeout', { timeout: 9 }], ['/pause', {}], ['/fork', {}], ['/snapshots', {}], ['/resume', {}], ['/refreshes', {}]]) {
    const gone = await post(`/sandboxes/${one.sandboxID}${path}`, body)
    assert.deepEqual([gone.status, gone.body.code], [404, 404], path)
  }
  assert.equal((await kill(one)).status, 404)
})

test('a paused sandbox is not there for anybody', async () => {
  const one = await create()
  assert.equal((await post(`/sandboxes/${one.sandboxID}/pause`)).status, 204)
  const gone = { sandboxId: one.sandboxID, message: 'The sandbox was not found', code: 502 }
  const headers = { 'content-type': 'application/json' }
  for (const [path, options] of [['/health'], ['/files?path=/etc/hostname'], ['/process.Process/List', { method: 'POST', body: '{}', headers }],
    ['/execute', { method: 'POST', port: 49999, body: '{"code":"1"}', headers }], ['/', { port: 3000 }]]) {
    const answer = await plane(one, path, options)
    assert.deepEqual([answer.status, await answer.json()], [502, gone], path)
  }
  for (const [method, path, body] of [['POST', '/fork', {}], ['PUT', '/network', {}]]) {
    const refused = await json(`/sandboxes/${one.sandboxID}${path}`, { method, body })
    assert.deepEqual([refused.status, refused.body.code], [409, 409], path)
  }
  const listed = (await json(`/v2/sandboxes?state=paused`)).body.find((each) => each.sandboxID === one.sandboxID)
  assert.equal(listed.state, 'paused')
  assert.equal((await kill(one)).status, 204)
})

test('lists have pages, an order and filters that are joined', async () => {
  const made = []
  for (let i = 0; i < 5; ++i) made.push(await create({ metadata: { 'k y': mark, n: String(i) }, timeout: 300 }))
  const filter = `metadata=${encodeURIComponent(encodeURIComponent(`${encodeURIComponent('k y')}=${mark}`))}`
  // The original's description of the header: running ones that match the filters, before pages; only if running ones
  // were asked for.
  async function walk(query, running = '5') {
    const ids = []
    let token = ''
    do {
      const page = await json(`/v2/sandboxes?${filter}&${query}${token && `&nextToken=${encodeURIComponent(token)}`}`)
      assert.equal(page.status, 200)
      assert.equal(page.headers.get('x-total-running'), running, query)
      ids.push(...page.body.map((one) => one.sandboxID))
      token = page.headers.get('x-next-token') ?? ''
    } while (token !== '')
    return ids
  }
  const ids = made.map((one) => one.sandboxID)
  assert.deepEqual(await walk('limit=2&order=asc'), ids)
  assert.deepEqual(await walk('limit=2'), ids.toReversed())
  assert.deepEqual(await walk('limit=5&order=desc'), ids.toReversed(), 'a full last page has no page after it')
  assert.deepEqual(await walk('state=running,paused&limit=100'), ids.toReversed())
  assert.deepEqual(await walk('state=paused', null), [])
  const { startedAt } = await info(made[3])
  assert.deepEqual(await walk(`order=asc&startedAfter=${encodeURIComponent(startedAt)}`, '2'), ids.slice(3))
  assert.deepEqual(await walk('template=base&order=asc'), ids)
  assert.deepEqual(await walk('template=no-such-template', '0'), [])
  const both = encodeURIComponent(encodeURIComponent(`${encodeURIComponent('k y')}=${mark}&n=2`))
  assert.deepEqual((await json(`/v2/sandboxes?metadata=${both}`)).body.map((one) => one.sandboxID), [ids[2]])
  for (const name of ['sandboxID', 'templateID', 'clientID', 'startedAt', 'endAt', 'cpuCount', 'memoryMB', 'diskSizeMB', 'state', 'envdVersion']) {
    const [one] = (await json(`/v2/sandboxes?metadata=${both}`)).body
    assert.ok(name in one, name)
  }
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'startedAfter=yesterday', 'state=', 'metadata=a']) {
    const refused = await json(`/v2/sandboxes?${query}`)
    assert.ok(refused.status === 400 || (query === 'state=' && refused.status === 200), query)
  }
  assert.equal((await json('/v2/sandboxes?nextToken=nonsense')).body.message, 'Invalid next token')
  for (const one of made) await kill(one)
})

test('metrics keep to their range', async () => {
  const one = await create()
  const now = () => Math.floor(Date.now() / 1000)
  const samples = await eventually(async () => {
    const list = (await json(`/sandboxes/${one.sandboxID}/metrics`)).body
    assert.ok(list.length > 0)
    return list
  }, 40_000)
  for (const name of ['timestampUnix', 'cpuCount', 'cpuUsedPct', 'memUsed', 'memTotal', 'memCache', 'diskUsed', 'diskTotal']) assert.equal(typeof samples[0][name], 'number', name)
  assert.equal(Math.floor(Date.parse(samples[0].timestamp) / 1000), samples[0].timestampUnix)
  assert.deepEqual((await json(`/sandboxes/${one.sandboxID}/metrics?start=${now() - 7200}&end=${now() - 3600}`)).body, [])
  assert.ok((await json(`/sandboxes/${one.sandboxID}/metrics?start=${now() - 3600}&end=${now() + 10}`)).body.length > 0)
  assert.equal((await json(`/sandboxes/${one.sandboxID}/metrics?start=x`)).status, 400)
  const both = (await json(`/sandboxes/metrics?sandbox_ids=${one.sandboxID},i00000000000000000000`)).body
  assert.deepEqual(Object.keys(both.sandboxes), [one.sandboxID])
  await kill(one)
})

test('ids of an older kind, and what is none', async () => {
  const one = await create()
  assert.equal((await json(`/sandboxes/${one.sandboxID}-client`)).body.sandboxID, one.sandboxID)
  const odd = await json(`/sandboxes/${one.sandboxID}-a-b`)
  assert.deepEqual([odd.status, odd.body.message], [400, 'Invalid sandbox ID'])
  await kill(one)
})

test('snapshots without a name', async () => {
  const one = await create()
  const made = await post(`/sandboxes/${one.sandboxID}/snapshots`)
  assert.equal(made.status, 201)
  assert.match(made.body.snapshotID, /^[a-z0-9]{20}:default$/)
  assert.deepEqual(made.body.names, [])
  const second = await post(`/sandboxes/${one.sandboxID}/snapshots`, {})
  const page = await json(`/snapshots?sandboxID=${one.sandboxID}&limit=1`)
  assert.deepEqual([page.body.length, page.headers.get('x-next-token') !== null], [1, true])
  const rest = await json(`/snapshots?sandboxID=${one.sandboxID}&limit=1&nextToken=${page.headers.get('x-next-token')}`)
  assert.deepEqual([...page.body, ...rest.body].map((each) => each.snapshotID).sort(), [made.body.snapshotID, second.body.snapshotID].sort())
  assert.equal((await json('/snapshots?nextToken=odd')).status, 400)
  await kill(one)
  const copy = await create({ templateID: made.body.snapshotID })
  assert.equal((await json(`/templates/${encodeURIComponent(made.body.snapshotID)}`, { method: 'DELETE' })).status, 400, 'a sandbox stands on it')
  await kill(copy)
  for (const each of [made, second]) {
    const path = `/templates/${encodeURIComponent(each.body.snapshotID)}`
    await eventually(async () => assert.equal((await json(path, { method: 'DELETE' })).status, 204), 20_000)
    assert.equal((await json(path, { method: 'DELETE' })).body.code, 404)
  }
})

test('volumes and secrets say what is wrong', async () => {
  const name = `lines-${mark}`
  const volume = await post('/volumes', { name })
  assert.equal(volume.status, 201)
  const twice = await post('/volumes', { name })
  assert.deepEqual([twice.status, twice.body], [400, { code: 400, message: `Volume with name '${name}' already exists` }])
  for (const bad of ['', 'a b', 'a/b', 'ä', undefined]) assert.equal((await post('/volumes', { name: bad })).status, 400, bad)
  assert.deepEqual((await json('/volumes')).body.find((one) => one.name === name), { volumeID: volume.body.volumeID, name })
  const content = (path, options = {}) => fetch(`${url}/volumecontent/${volume.body.volumeID}/${path}`, { ...options, headers: { Authorization: `Bearer ${volume.body.token}`, ...options.headers } })
  const none = await content('path?path=/none')
  assert.equal(none.status, 404)
  assert.equal(typeof (await none.json()).code, 'string')
  assert.equal((await content('file?path=/f.txt&mode=384', { method: 'PUT', body: 'text' })).status, 201)
  const stat = await (await content('path?path=/f.txt')).json()
  for (const field of ['name', 'type', 'path', 'size', 'mode', 'uid', 'gid', 'atime', 'mtime', 'ctime']) assert.ok(field in stat, field)
  assert.deepEqual([stat.type, stat.size, stat.mode & 0o777], ['file', 4, 0o600])
  assert.equal((await content('path?path=/f.txt', { headers: { Authorization: 'Bearer wrong' } })).status, 401)
  assert.equal((await content('path?path=/f.txt', { method: 'DELETE' })).status, 204)
  assert.equal((await json(`/volumes/${volume.body.volumeID}`, { method: 'DELETE' })).status, 204)
  assert.equal((await json(`/volumes/${volume.body.volumeID}`)).status, 404)

  const names = [0, 1, 2].map((i) => `lines-${mark}-${i}`)
  for (const each of names) {
    const secret = await post('/secrets', { name: each, value: 'v', metadata: { a: 'b' } })
    assert.equal(secret.status, 201)
    assert.match(secret.body.secretID, /^sec_/)
    assert.deepEqual([secret.body.currentVersion, secret.body.metadata, 'value' in secret.body], [1, { a: 'b' }, false])
  }
  assert.equal((await post('/secrets', { name: names[0], value: 'v' })).status, 409)
  assert.equal((await post(`/secrets/${names[0]}`, { value: 'w' })).body.currentVersion, 2)
  const seen = []
  for (let token = ''; token !== null;) {
    const page = await json(`/secrets?limit=2${token && `&nextToken=${token}`}`)
    seen.push(...page.body.map((one) => one.name))
    token = page.headers.get('x-next-token')
  }
  for (const each of names) assert.equal(seen.filter((one) => one === each).length, 1)
  assert.equal((await json('/secrets?nextToken=odd')).status, 400)
  for (const each of names) assert.equal((await json(`/secrets/${each}`, { method: 'DELETE' })).status, 204)
  assert.equal((await json(`/secrets/${names[0]}`, { method: 'DELETE' })).body.code, 404)
})

test('a build that is asked for waits, builds and keeps its words', async () => {
  const { body: made } = await post('/v3/templates', { name: `lines-${mark}`, cpuCount: 1, memoryMB: 512 })
  const path = `/templates/${made.templateID}/builds/${made.buildID}`
  assert.equal((await json(`${path}/status`)).body.status, 'waiting')
  const started = await raw(`POST /v2${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${process.env.E2B_API_KEY}\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n` +
    [JSON.stringify({ fromImage: 'e2bdev/base', force: true, steps: [{ type: 'RUN', args: ['for i in $(seq 250); do echo line $i; done'], force: false, forceUpload: null },
      { type: 'RUN', args: ['whoami', 'root123'], force: false }] })].map((text) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`)[0])
  assert.match(started, /^HTTP\/1\.1 202 /)
  assert.match(started, /\r\nContent-Length: 0\r\n/i)
  assert.ok(['building', 'error'].includes((await json(`${path}/status`)).body.status))
  assert.equal((await post(`/v2${path}`, { fromImage: 'e2bdev/base', steps: [] })).status, 409)
  const done = await eventually(async () => {
    const { body } = await json(`${path}/status`)
    assert.equal(body.status, 'error')
    return body
  }, 120_000)
  assert.deepEqual(done.reason, { message: "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'", step: '2' })
  assert.ok(done.logEntries.length <= 100)
  for (const name of ['timestamp', 'level', 'message']) assert.ok(name in done.logEntries[0], name)
  let count = 0
  for (let page; (page = (await json(`${path}/status?logsOffset=${count}&limit=2`)).body.logEntries).length > 0;) count += page.length
  assert.ok(count >= 3)
  assert.ok((await json(`${path}/status?level=error`)).body.logEntries.every((one) => one.level === 'error'))
  assert.equal((await json(`${path}/status?level=loud`)).status, 400)
  assert.equal((await json(`/templates/${made.templateID}/builds/00000000-0000-4000-8000-000000000001/status`)).status, 404)
  for (const target of [':x', `lines-${mark}:`, '']) assert.equal((await post('/templates/tags', { target, tags: ['a'] })).status, 400, target)
  assert.equal((await json('/templates/tags', { method: 'DELETE', body: { name: `lines-${mark}`, tags: ['default'] } })).status, 400)
  assert.equal((await json(`/templates/${made.templateID}`, { method: 'DELETE' })).status, 204)
})

test('references with a namespace are looked up in it', async () => {
  const [{ teamID }] = (await json('/teams')).body
  const name = `space-${mark}`
  const { body: made } = await post('/v3/templates', { name })
  const path = `/v2/templates/${made.templateID}/builds/${made.buildID}`
  assert.equal((await post(path, { fromImage: 'e2bdev/base', steps: [] })).status, 202)
  await eventually(async () => assert.equal((await json(`/templates/${made.templateID}/builds/${made.buildID}/status`)).body.status, 'ready'), 60_000)
  const tagged = await post('/templates/tags', { target: `${teamID}/${name}:default`, tags: ['v1'] })
  assert.deepEqual([tagged.status, tagged.body], [201, { buildID: made.buildID, tags: ['v1'] }])
  assert.deepEqual((await json(`/templates/${encodeURIComponent(`${teamID}/${name}`)}/tags`)).body.map((one) => one.tag).sort(), ['default', 'v1'])
  assert.equal((await json(`/templates/aliases/${encodeURIComponent(`${teamID}/${name}:v1`)}`)).body.templateID, made.templateID)
  assert.equal((await json(`/templates/aliases/${encodeURIComponent(`${name}:v2`)}`)).status, 404)
  for (const [method, body] of [['POST', { target: `somebody/${name}:default`, tags: ['v2'] }], ['DELETE', { name: `somebody/${name}`, tags: ['v1'] }]])
    assert.equal((await json('/templates/tags', { method, body })).status, 404)
  assert.equal((await json(`/templates/${encodeURIComponent(`somebody/${name}`)}/tags`)).status, 404)
  assert.equal((await json('/templates/tags', { method: 'DELETE', body: { name: `${teamID}/${name}`, tags: ['v1'] } })).status, 204)
  assert.equal((await json(`/templates/${encodeURIComponent(`${teamID}/${name}`)}`, { method: 'DELETE' })).status, 204)
})

test('templates have pages in their second generation', async () => {
  const ids = (answer) => answer.body.map((one) => one.templateID)
  // Others make and remove templates meanwhile.
  await eventually(async () => {
    const before = ids(await json('/templates'))
    const seen = []
    for (let token = ''; token !== null;) {
      const page = await json(`/v2/templates?limit=2${token && `&nextToken=${token}`}`)
      assert.ok(page.status === 200 && page.body.length <= 2)
      seen.push(...ids(page))
      token = page.headers.get('x-next-token')
    }
    assert.deepEqual(ids(await json('/templates')), before)
    assert.deepEqual(seen, before)
  }, 60_000)
  for (const query of ['limit=0', 'nextToken=odd']) assert.equal((await json(`/v2/templates?${query}`)).status, 400)
})

test('health is brief for clients of this wire', async () => {
  const ask = (agent) => control('/health', { headers: { 'user-agent': agent } })
  for (const agent of ['e2b-js-sdk/2.51.0', 'e2b-python-sdk/2.45.1']) {
    const brief = await ask(agent)
    assert.deepEqual([brief.status, await brief.text(), brief.headers.get('cache-control')], [204, '', 'no-store'])
  }
  assert.equal((await ask('curl/8')).status, 200)
})

const told = async (answer) => [answer.status, await answer.json()]
async function started(message) {
  const response = await rpc(box, 'process.Process/Start', envelope(message), { 'connect-timeout-ms': '60000' })
  const reader = response.body.getReader()
  const { value } = await reader.read()
  const { pid } = JSON.parse(Buffer.from(value).subarray(5, 5 + Buffer.from(value).readUInt32BE(1))).event.start
  return { pid, rest: async () => { for (;;) if ((await reader.read()).done) return } }
}

test('input, terminals and signals that do not fit', async () => {
  const terminal = await started({ process: { cmd: '/bin/bash', args: ['-i'] }, pty: { size: { cols: 80, rows: 24 } } })
  const pipe = await started({ process: { cmd: '/bin/cat' }, stdin: true })
  const deaf = await started({ process: { cmd: '/bin/sleep', args: ['60'] }, stdin: false })
  const code = async (method, message) => {
    const [status, body] = await told(await unary(box, `process.Process/${method}`, message))
    return [status, body.code]
  }
  const process = ({ pid }) => ({ process: { pid } })
  const input = Buffer.from('x').toString('base64')
  assert.deepEqual(await code('CloseStdin', process(terminal)), [500, 'unknown'])
  assert.deepEqual(await code('SendInput', { ...process(terminal), input: { stdin: input } }), [500, 'internal'])
  assert.deepEqual(await code('SendInput', { ...process(pipe), input: { pty: input } }), [500, 'internal'])
  assert.deepEqual(await code('SendInput', { ...process(deaf), input: { stdin: input } }), [500, 'internal'])
  assert.deepEqual(await code('Update', { ...process(pipe), pty: { size: { cols: 1, rows: 1 } } }), [500, 'internal'])
  assert.deepEqual(await code('Update', { ...process(terminal), pty: { size: { cols: 90, rows: 30 } } }), [200, undefined])
  assert.deepEqual(await code('SendSignal', { ...process(deaf), signal: 'SIGNAL_SIGHUP' }), [400, 'invalid_argument'])
  for (const selector of [{ pid: 424242 }, { tag: 'nobody' }]) assert.deepEqual(await code('SendSignal', { process: selector, signal: 'SIGNAL_SIGKILL' }), [404, 'not_found'])
  const [, gone] = await told(await unary(box, 'process.Process/SendSignal', { process: { pid: 424242 }, signal: 9 }))
  assert.equal(gone.message, 'process with pid 424242 not found')
  // A second close is none, also when the first ended the process.
  for (let i = 0; i < 2; ++i) assert.ok([200, 404].includes((await code('CloseStdin', process(pipe)))[0]))
  await pipe.rest()
  const both = await started(shell('read x <&0; sleep 60'))
  assert.deepEqual(await code('CloseStdin', process(both)), [200, undefined])
  assert.deepEqual(await code('CloseStdin', process(both)), [200, undefined])
  for (const one of [terminal, deaf, both]) assert.deepEqual(await code('SendSignal', { ...process(one), signal: 9 }), [200, undefined])
  for (const one of [terminal, deaf, both]) await one.rest()
})

test('a killed process ends though others hold its pipes', async () => {
  const response = rpc(box, 'process.Process/Start', envelope({ ...shell('sleep 300 & echo ready; wait'), tag: `held-${mark}` }), { 'connect-timeout-ms': '240000' })
  await eventually(async () => assert.equal((await unary(box, 'process.Process/SendSignal', { process: { tag: `held-${mark}` }, signal: 'SIGNAL_SIGTERM' })).status, 200))
  const end = (await all(await response)).at(-2).message.event.end
  assert.deepEqual([end.exitCode, end.status, end.error], [-1, 'signal: terminated', 'signal: terminated'])
  const { processes = [] } = await (await unary(box, 'process.Process/List', {})).json()
  assert.ok(!processes.some((one) => one.tag === `held-${mark}`))
})

test('where a process cannot start', async () => {
  const failed = async (message, headers) => (await all(await rpc(box, 'process.Process/Start', envelope(message), headers))).at(-1).message.error
  assert.deepEqual(await failed({ process: { cmd: '/bin/true', cwd: '/no/such' } }), { code: 'invalid_argument', message: "cwd '/no/such' does not exist" })
  const basic = (user) => ({ authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` })
  assert.deepEqual(await failed({ process: { cmd: '/bin/true' } }, basic('nobody-here')), { code: 'unauthenticated', message: "invalid username: 'nobody-here'" })
  assert.equal((await failed({})).code, 'invalid_argument')
  const stat = await unary(box, 'filesystem.Filesystem/Stat', { path: '/' }, { headers: basic('nobody-here') })
  assert.deepEqual(await told(stat), [401, { code: 'unauthenticated', message: "invalid username: 'nobody-here'" }])
})

const entry = async (path) => (await (await unary(box, 'filesystem.Filesystem/Stat', { path })).json()).entry
test('entries are told as the original tells them', async () => {
  await box.commands.run('mkdir -p /tmp/e/d && cd /tmp/e && echo hi > f && chmod 640 f && ln -sf f l && ln -sf /tmp/e/none broken && ln -sf d dl && cp /bin/true s && chmod 4755 s && mkdir -p sticky && chmod 1777 sticky && mkfifo -m 600 p || true')
  const file = await entry('/tmp/e/f')
  assert.deepEqual([file.name, file.type, file.path, file.size, file.mode, file.permissions, file.owner, file.group], ['f', 'FILE_TYPE_FILE', '/tmp/e/f', '3', 0o640, '-rw-r-----', 'user', 'user'])
  assert.match(file.modifiedTime, /^\d{4}-\d\d-\d\dT.*Z$/)
  const link = await entry('/tmp/e/l')
  assert.deepEqual([link.type, link.mode, link.permissions, link.symlinkTarget], ['FILE_TYPE_FILE', 0o640, 'Lrwxrwxrwx', '/tmp/e/f'])
  const broken = await entry('/tmp/e/broken')
  assert.deepEqual([broken.type ?? 'FILE_TYPE_UNSPECIFIED', broken.symlinkTarget], ['FILE_TYPE_UNSPECIFIED', '/tmp/e/broken'])
  assert.deepEqual([(await entry('/tmp/e/s')).permissions, (await entry('/tmp/e/s')).mode], ['urwxr-xr-x', 0o755])
  assert.deepEqual([(await entry('/tmp/e/sticky')).permissions, (await entry('/tmp/e/sticky')).mode], ['dtrwxrwxrwx', 0o777])
  assert.equal((await entry('/tmp/e/d')).permissions, 'drwxr-xr-x')
  await box.commands.run('touch /tmp/e/d/in && mkdir /tmp/e/d/deep && touch /tmp/e/d/deep/er')
  const list = async (depth) => (await (await unary(box, 'filesystem.Filesystem/ListDir', { path: '/tmp/e/dl', depth })).json()).entries.map((one) => one.path)
  assert.deepEqual(await list(0), ['/tmp/e/dl/deep', '/tmp/e/dl/in'])
  assert.deepEqual(await list(2), ['/tmp/e/dl/deep', '/tmp/e/dl/deep/er', '/tmp/e/dl/in'])
})

test('paths that are refused, and those that need not be there', async () => {
  const rpcs = [['Stat', { path: '/no/such' }, 404, 'not_found'], ['ListDir', { path: '/no/such' }, 404, 'not_found'], ['ListDir', { path: '/tmp/e/f' }, 400, 'invalid_argument'],
    ['MakeDir', { path: '/tmp/e/d' }, 409, 'already_exists'], ['MakeDir', { path: '/tmp/e/f' }, 400, 'invalid_argument'], ['Move', { source: '/no/such', destination: '/tmp/x' }, 404, 'not_found'],
    ['Stat', { path: '~other/x' }, 400, 'invalid_argument'], ['CreateWatcher', { path: '/no/such' }, 404, 'not_found'], ['CreateWatcher', { path: '/tmp/e/f' }, 400, 'invalid_argument'],
    ['GetWatcherEvents', { watcherId: 'none' }, 404, 'not_found'], ['RemoveWatcher', { watcherId: 'none' }, 404, 'not_found'], ['Remove', { path: '/no/such' }, 200, undefined]]
  for (const [method, message, status, code] of rpcs) {
    const [seen, body] = await told(await unary(box, `filesystem.Filesystem/${method}`, message))
    assert.deepEqual([seen, body.code], [status, code], method + JSON.stringify(message))
  }
  for (const [given, path] of [['', '/home/user'], ['~', '/home/user'], ['~/', '/home/user'], ['.', '/home/user'], ['/tmp/e/../e', '/tmp/e']]) assert.equal((await entry(given)).path, path, given)
  const files = async (path) => told(await plane(box, `/files?path=${encodeURIComponent(path)}`))
  assert.deepEqual(await files('none.txt'), [404, { code: 404, message: "path '/home/user/none.txt' does not exist" }])
  assert.deepEqual(await files('/tmp'), [400, { code: 400, message: "path '/tmp' is a directory" }])
})

test('which encodings a download may have', async () => {
  await box.files.write('/tmp/plain', 'plain')
  for (const [accept, status] of [['gzip', 200], ['identity;q=0.5', 200], ['*;q=0, identity', 200], ['gzip, *;q=0.1', 200], ['identity;q=0', 406], ['*;q=0', 406], ['gzip;q=1, identity; q=0.0', 406]]) {
    const answer = await plane(box, '/files?path=/tmp/plain', { headers: { 'accept-encoding': accept } })
    assert.equal(answer.status, status, accept)
  }
})

test('a person with a browser gets a page', async () => {
  const ask = (host, headers) => new Promise((resolve, reject) => {
    http.get({ hostname, port, path: '/', headers: { Host: host, ...headers } }, (response) => {
      let text = ''
      response.on('data', (piece) => (text += piece)).on('end', () => resolve([response.statusCode, response.headers['content-type'], text]))
    }).on('error', reject)
  })
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', accept: 'text/html,application/xhtml+xml' }
  const [status, type, text] = await ask(`9-${box.sandboxId}.e2b.localhost`, browser)
  assert.deepEqual([status, type], [502, 'text/html; charset=utf-8'])
  assert.match(text, /The sandbox is running but port is not open/)
  assert.match(text, new RegExp(`${box.sandboxId}, port 9`))
  assert.match(text, /<title>Closed Port Error<\/title>/)
  assert.match((await ask('9-i00000000000000000000.e2b.localhost', browser))[2], /<h1>The sandbox was not found/)
  // As the original's proxy tells them apart (its TestHandleErrorContentNegotiation): scripts of a page have the browser's name too.
  const agent = { 'user-agent': browser['user-agent'] }
  for (const [headers, kind] of [[agent, 'text/html'], [{ ...agent, accept: '*/*' }, 'text/html'], [{ ...browser, 'sec-fetch-mode': 'navigate', 'x-requested-with': 'XMLHttpRequest' }, 'text/html'],
    [{ ...agent, accept: 'application/json' }, 'application/json'], [{ ...agent, accept: '*/*', 'sec-fetch-mode': 'cors' }, 'application/json'],
    [{ ...browser, 'sec-fetch-mode': 'same-origin' }, 'application/json'], [{ ...agent, 'x-requested-with': 'XMLHttpRequest' }, 'application/json'],
    [{ ...browser, 'user-agent': 'curl/8' }, 'application/json'], [{}, 'application/json']]) {
    const [code, got] = await ask(`9-${box.sandboxId}.e2b.localhost`, headers)
    assert.equal(code, 502)
    assert.ok(got.startsWith(kind), `${JSON.stringify(headers)}: ${got}`)
  }
  assert.deepEqual((await ask('x-y.e2b.localhost', {}))[0], 404)
})
