import assert from 'node:assert/strict'
import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { control, e2b, newest, sandbox } from './harness.mjs'

const { Template } = e2b
const only = { skip: !Template }

test('the shipped templates exist', async () => {
  const list = await (await control('/templates')).json()
  for (const name of ['base', 'code-interpreter-v1']) assert.ok(list.some((one) => one.aliases.includes(name)))
  assert.equal((await control('/templates/aliases/base')).status, 200)
  assert.equal((await control('/templates/base', { method: 'DELETE' })).status, 403)
})

test('a template is built from steps and used', only, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'atoll-template-'))
  mkdirSync(join(dir, 'sub'))
  writeFileSync(join(dir, 'sub', 'copied.txt'), 'from the client')
  const recipe = Template({ fileContextPath: dir })
    .fromBaseImage()
    .setEnvs({ GREETING: 'hello' })
    .copy('sub', '/home/user/sub')
    .runCmd('echo "$GREETING" > /home/user/greeting.txt')
  const logs = []
  const built = await Template.build(recipe, 'conformance-template', { onBuildLogs: (entry) => logs.push(entry.message) })
  assert.equal(built.name ?? built.alias, 'conformance-template')
  assert.ok(logs.length > 0)
  const box = await e2b.Sandbox.create('conformance-template')
  assert.equal(await box.files.read('/home/user/greeting.txt'), 'hello\n')
  assert.equal(await box.files.read('/home/user/sub/copied.txt'), 'from the client')
  await box.kill()
  if (newest) {
    assert.equal(await Template.exists('conformance-template'), true)
    assert.equal(await Template.exists('no-such-template'), false)
    await Template.assignTags('conformance-template', ['stable'])
    assert.ok((await Template.getTags('conformance-template')).some((one) => one.tag === 'stable'))
    const tagged = await e2b.Sandbox.create('conformance-template:stable')
    await tagged.kill()
    await Template.removeTags('conformance-template', ['stable'])
  }
  await assert.rejects(e2b.Sandbox.create('conformance-template:other'), /tag 'other' does not exist/)
  assert.equal((await control('/templates/conformance-template', { method: 'DELETE' })).status, 204)
  assert.equal((await control('/templates/conformance-template', { method: 'DELETE' })).status, 404)
})

test('a step that fails fails the build', only, async () => {
  const recipe = Template().fromBaseImage().runCmd('exit 7')
  await assert.rejects(Template.build(recipe, 'conformance-broken'), /exit 7|exit status 7/)
  await assert.rejects(e2b.Sandbox.create('conformance-broken'))
})

test('an image that is not here is refused', only, async () => {
  const recipe = Template().fromImage('registry.example.org/none:1').runCmd('true')
  await assert.rejects(Template.build(recipe, 'conformance-image'), /not available/)
})
