// Templates that their owner shares, and those that stay private; the template of MCP gateways.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { control, e2b, eventually, newest, plane, sandbox } from './harness.mjs'

const { Sandbox, Template } = e2b
const only = { skip: !Template }
const mark = Math.random().toString(36).slice(2)
const other = process.env.GUEST_KEY
const name = `shared-${mark}`, secret = `private-${mark}`
const answer = async (path, options = {}) => {
  const response = await control(path, options)
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
const theirs = (path, options = {}) => answer(path, { apiKey: other, ...options })
const publish = (template, isPublic, ask = answer, generation = '/v2') =>
  ask(`${generation}/templates/${encodeURIComponent(template)}`, { method: 'PATCH', body: { public: isPublic } })
const create = (ask, templateID) => ask('/v2/sandboxes', { method: 'POST', body: { templateID, timeout: 120 } })
const kill = (id, ask = answer) => ask(`/sandboxes/${id}`, { method: 'DELETE' })
const read = async (made, path) => (await plane({ sandboxId: made.sandboxID, envdAccessToken: made.envdAccessToken }, `/files?path=${path}`)).text()
let space, id, hidden

before(async () => {
  if (only.skip) return
  await eventually(async () => assert.equal((await theirs('/teams')).status, 200), 30_000)
  space = (await answer('/teams')).body[0].teamID
  await Template.build(Template().fromBaseImage().setEnvs({ SHARED: 'yes' }).runCmd('echo theirs > /home/user/shared.txt'), name)
  await Template.build(Template().fromBaseImage().runCmd('echo mine > /home/user/private.txt'), secret)
  id = (await answer(`/templates/aliases/${name}`)).body.templateID
  hidden = (await answer(`/templates/aliases/${secret}`)).body.templateID
})
after(async () => {
  for (const one of [name, secret, `gateway-${mark}`, `with-server-${mark}`]) await control(`/templates/${one}`, { method: 'DELETE' })
  await control(`/templates/derived-${mark}`, { method: 'DELETE', apiKey: other })
})

// What a stranger is told about it: the same as about one that does not exist.
async function isInvisible(reference) {
  const unknown = { code: 404, message: `template '${reference}' not found` }
  const path = `/templates/${encodeURIComponent(reference)}`
  for (const [one, options] of [[path], [`${path}/tags`], [path, { method: 'DELETE' }], [path, { method: 'PATCH', body: { public: true } }],
    [`/templates/aliases/${encodeURIComponent(reference)}`], ['/v2/sandboxes', { method: 'POST', body: { templateID: reference } }]]) {
    assert.deepEqual(await theirs(one, options), { status: 404, body: unknown }, one)
  }
  assert.equal((await theirs('/templates/tags', { method: 'POST', body: { target: reference, tags: ['x'] } })).status, 404)
  assert.equal((await theirs('/templates/tags', { method: 'DELETE', body: { name: reference, tags: ['x'] } })).status, 404)
}

test('a template is private until its owner says otherwise', only, async () => {
  for (const reference of [id, `${space}/${name}`, hidden, `${space}/${secret}`]) await isInvisible(reference)
  assert.equal((await theirs(`/templates/${name}`)).status, 404)
})

test('a public template is everybody\'s to use and its owner\'s to change', only, async () => {
  assert.deepEqual(await publish(name, true, answer, ''), { status: 200, body: { names: [`${space}/${name}`] } })
  assert.deepEqual(await publish(id, true), { status: 200, body: { names: [`${space}/${name}`] } })
  assert.deepEqual((await answer(`/templates/aliases/${name}`)).body, { templateID: id, public: true })
  const own = (await answer('/templates')).body.find((one) => one.templateID === id)
  assert.deepEqual([own.public, own.aliases, own.names], [true, [name], [`${space}/${name}`]])
  // By namespace and name or by id, not by a bare name; and it stands in nobody else's list.
  for (const reference of [id, `${space}/${name}`, `${space}/${name}:default`]) {
    const made = await create(theirs, reference)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal(made.body.templateID, id)
    assert.equal(made.body.alias, `${space}/${name}`)
    assert.equal(await read(made.body, '/home/user/shared.txt'), 'theirs\n')
    const ids = async (ask, query) => (await ask(`/v2/sandboxes?template=${encodeURIComponent(query)}`)).body.map((one) => one.sandboxID)
    assert.deepEqual(await ids(theirs, reference.replace(':default', '')), [made.body.sandboxID])
    assert.deepEqual(await ids(answer, name), [], 'the owner does not see whose sandboxes stand on it')
    assert.equal((await kill(made.body.sandboxID)).status, 404)
    assert.equal((await kill(made.body.sandboxID, theirs)).status, 204)
  }
  assert.equal((await create(theirs, name)).status, 404)
  assert.equal((await create(theirs, `${space}/${name}:none`)).body.message, `tag 'none' does not exist for template '${name}'`)
  assert.ok(!(await theirs('/templates')).body.some((one) => one.templateID === id))
  assert.deepEqual((await theirs(`/templates/aliases/${encodeURIComponent(`${space}/${name}`)}`)).body, { templateID: id, public: true })
  assert.deepEqual((await theirs(`/templates/${id}/tags`)).body.map((one) => one.tag), ['default'])
  for (const reference of [id, `${space}/${name}`]) {
    const path = `/templates/${encodeURIComponent(reference)}`
    for (const [one, options] of [[path, { method: 'DELETE' }], [path, { method: 'PATCH', body: { public: false } }],
      ['/templates/tags', { method: 'POST', body: { target: reference, tags: ['x'] } }], ['/templates/tags', { method: 'DELETE', body: { name: reference, tags: ['x'] } }]]) {
      const refused = await theirs(one, options)
      assert.deepEqual([refused.status, refused.body.code], [403, 403], `${options.method} ${one}`)
    }
  }
  assert.equal((await theirs(`/templates/${id}/builds/00000000-0000-4000-8000-000000000000/status`)).status, 404)
  assert.equal((await theirs(`/templates/${id}/files/${'0'.repeat(64)}`)).status, 404)
  for (const reference of [hidden, `${space}/${secret}`]) await isInvisible(reference)
})

test('what is built on it is its builder\'s own', only, async () => {
  for (const [recipe, alone] of [[Template().fromTemplate(`${space}/${name}`), true], [Template().fromTemplate(id).runCmd('echo more > /home/user/more.txt'), false]]) {
    await Template.build(recipe, `derived-${mark}`, { apiKey: other })
    const made = (await create(theirs, `derived-${mark}`)).body
    assert.equal(await read(made, '/home/user/shared.txt'), 'theirs\n')
    if (!alone) assert.equal(await read(made, '/home/user/more.txt'), 'more\n')
    await kill(made.sandboxID, theirs)
  }
})

test('one that is used or taken back', only, async () => {
  const made = (await create(theirs, id)).body
  assert.equal((await answer(`/templates/${name}`, { method: 'DELETE' })).status, 400)
  assert.equal((await publish(name, false)).status, 200)
  for (const reference of [id, `${space}/${name}`]) await isInvisible(reference)
  assert.equal(await read(made, '/home/user/shared.txt'), 'theirs\n', 'what runs goes on')
  assert.equal((await answer(`/templates/${name}`, { method: 'DELETE' })).status, 400)
  await kill(made.sandboxID, theirs)
  await eventually(async () => assert.equal((await answer(`/templates/${name}`, { method: 'DELETE' })).status, 204), 20_000)
  // What was built on it does not need it.
  const derived = (await create(theirs, `derived-${mark}`)).body
  assert.equal(await read(derived, '/home/user/shared.txt'), 'theirs\n')
  await kill(derived.sandboxID, theirs)
})

test('shipped templates and snapshots stay what they are', async () => {
  assert.deepEqual(await publish('base', true), { status: 200, body: { names: ['base'] } })
  assert.equal((await publish('base', false)).status, 403)
  assert.equal((await publish('no-such-template', true)).status, 404)
  assert.equal((await publish('base', 'yes')).status, 400)
  const box = await sandbox()
  const shot = await answer(`/sandboxes/${box.sandboxId}/snapshots`, { method: 'POST', body: {} })
  assert.equal((await publish(shot.body.snapshotID, true)).status, 400)
  assert.equal((await create(theirs, shot.body.snapshotID)).status, 404)
  assert.equal((await answer(`/templates/${encodeURIComponent(shot.body.snapshotID)}`, { method: 'DELETE' })).status, 204)
})

test('a sandbox answers MCP at its own address', { skip: !newest }, async () => {
  const box = await Sandbox.create({ mcp: {}, timeoutMs: 120_000 })
  assert.deepEqual(JSON.parse(await box.files.read('/etc/mcp-gateway/config.json', { user: 'root' })), {})
  const token = await box.getMcpToken()
  const again = await Sandbox.connect(box.sandboxId)
  assert.equal(await again.getMcpToken(), token)
  assert.match(box.getMcpUrl(), new RegExp(`^https://50005-${box.sandboxId}\\..*/mcp$`))
  const told = async (bearer, method, params, headers = {}) => plane(box, '/mcp', { method: 'POST', port: 50005, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${bearer}`, ...headers } })
  assert.equal((await told('wrong', 'initialize', {})).status, 401)
  const hello = await told(token, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'conformance', version: '1' } })
  assert.equal((await hello.json()).result.serverInfo.name, 'atoll')
  const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') }
  const run = await (await told(token, 'tools/call', { name: 'run_code', arguments: { code: 'open("/home/user/by-mcp", "w").write("there"); print(6 * 7)' } }, session)).json()
  assert.deepEqual([run.result.structuredContent.stdout, run.result.structuredContent.sandbox_id], ['42\n', box.sandboxId])
  assert.equal(await box.files.read('/home/user/by-mcp'), 'there')
  await box.kill()
  await assert.rejects(Template.build(Template().fromBaseImage(), 'mcp-gateway'), /is taken/)
})

test('MCP servers that cannot be had here are refused by name', { skip: !newest }, async () => {
  const mcp = { browserbase: { apiKey: 'k', projectId: 'p' }, 'github/some/server': { runCmd: 'x' } }
  const before = (await answer('/v2/sandboxes')).body.length
  await assert.rejects(Sandbox.create({ mcp }), /Failed to start MCP gateway: these servers cannot be had here: browserbase, github\/some\/server\. An empty 'mcp' gives/)
  assert.equal((await answer('/v2/sandboxes')).body.length, before, 'nothing was made')
  for (const wrong of ['x', 7, ['exa']]) assert.equal((await answer('/v2/sandboxes', { method: 'POST', body: { templateID: 'mcp-gateway', mcp: wrong } })).status, 400)
  const said = []
  await assert.rejects(Template.build(Template().fromTemplate('mcp-gateway').addMcpServer(['exa', 'notion']), `with-server-${mark}`,
    { onBuildLogs: (entry) => said.push(entry.message) }), /mcp-gateway pull exa notion/)
  assert.match(said.join('\n'), /these servers cannot be had here: exa notion/)
  const box = await Sandbox.create('mcp-gateway', { timeoutMs: 120_000 })
  const byHand = await box.commands.run(`mcp-gateway --config '{"exa": {}}'`, { user: 'root', envs: { GATEWAY_ACCESS_TOKEN: 't' } }).catch((error) => error)
  assert.match(byHand.stderr, /cannot be had here/)
  await box.kill()
})

test('a template may bring an MCP gateway of its own', { skip: !newest }, async () => {
  const mcp = { browserbase: { apiKey: 'k', projectId: 'p' } }
  const gateway = `#!/bin/bash
mkdir -p /etc/mcp-gateway; printf %s "$GATEWAY_ACCESS_TOKEN" > /etc/mcp-gateway/.token; chmod 600 /etc/mcp-gateway/.token
printf %s "$2" > /tmp/config; id -un > /tmp/who`
  await Template.build(Template().fromBaseImage()
    .runCmd(`echo ${Buffer.from(gateway).toString('base64')} | base64 -d > /usr/local/bin/mcp-gateway && chmod 755 /usr/local/bin/mcp-gateway`, { user: 'root' }), `gateway-${mark}`)
  const box = await Sandbox.create(`gateway-${mark}`, { mcp, timeoutMs: 120_000 })
  assert.deepEqual(JSON.parse(await box.files.read('/tmp/config')), mcp)
  assert.equal(await box.files.read('/tmp/who'), 'root\n')
  assert.equal(await (await Sandbox.connect(box.sandboxId)).getMcpToken(), await box.getMcpToken())
  // What it serves at its port is its own.
  await box.commands.run('mkdir -p /tmp/www && echo theirs > /tmp/www/mcp && cd /tmp/www && python3 -m http.server 50005', { background: true, timeoutMs: 0 })
  await eventually(async () => assert.equal(await (await plane(box, '/mcp', { port: 50005 })).text(), 'theirs\n'), 20_000)
  await box.kill()
})

test('identity tokens and sidecars are refused, never ignored', async () => {
  const refused = async (body) => {
    const told = await answer('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', ...body } })
    assert.deepEqual([told.status, told.body.code], [400, 400])
    return told.body.message
  }
  assert.match(await refused({ iam: { tokens: { x: { audience: 'a', tokenType: 'JWT-SVID' } } } }), /iam/)
  assert.match(await refused({ sidecars: [{ entry: 'valkey' }] }), /sidecars/)
  assert.match(await refused({ network: { rules: { 'a.example': [{ transform: { headers: { X: '${e2b.identity.tokens.x}' } } }] } } }), /identity tokens/)
})
