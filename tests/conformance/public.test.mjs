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
  for (const one of [name, secret, 'mcp-gateway']) await control(`/templates/${one}`, { method: 'DELETE' })
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

test('a gateway of MCP servers is ours', { skip: !newest }, async () => {
  const mcp = { browserbase: { apiKey: 'k', projectId: 'p' } }
  const box = await Sandbox.create({ mcp, timeoutMs: 120_000 })
  assert.deepEqual(JSON.parse(await box.files.read('/etc/mcp-gateway/config.json', { user: 'root' })), mcp)
  assert.ok(await box.getMcpToken())
  const again = await Sandbox.connect(box.sandboxId)
  assert.equal(await again.getMcpToken(), await box.getMcpToken())
  assert.match(box.getMcpUrl(), new RegExp(`^https://50005-${box.sandboxId}\\.`))
  await box.kill()
  await assert.rejects(Template.build(Template().fromBaseImage(), 'mcp-gateway'), /is taken/)
})

test('identity tokens are refused, never ignored', async () => {
  const refused = async (body) => {
    const told = await answer('/v2/sandboxes', { method: 'POST', body: { templateID: 'base', ...body } })
    assert.deepEqual([told.status, told.body.code], [400, 400])
    return told.body.message
  }
  assert.match(await refused({ iam: { tokens: { x: { audience: 'a', tokenType: 'JWT-SVID' } } } }), /iam/)
  assert.match(await refused({ network: { rules: { 'a.example': [{ transform: { headers: { X: '${e2b.identity.tokens.x}' } } }] } } }), /identity tokens/)
})
