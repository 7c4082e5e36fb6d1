// What only the older packages have, or have in another form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { e2b, interpreter, newest, sandbox } from './harness.mjs'

const only = { skip: newest }

test('a sandbox that pauses itself is made and connected to', only, async () => {
  const box = await e2b.Sandbox.betaCreate({ autoPause: true, timeoutMs: 60_000 })
  await box.files.write('/home/user/kept', 'file')
  assert.equal(await box.betaPause(), true)
  const same = await box.connect({ timeoutMs: 60_000 })
  assert.equal(same.sandboxId, box.sandboxId)
  assert.equal(await same.files.read('/home/user/kept'), 'file')
  await box.kill()
})

test('a gateway has an address, and a token if it was asked for', only, async () => {
  const box = await sandbox()
  assert.match(box.getMcpUrl(), new RegExp(`^https://50005-${box.sandboxId}\\..*/mcp$`))
  const token = await box.getMcpToken().catch((error) => error)
  assert.ok(token === undefined || token instanceof Error, String(token))
  await assert.rejects(e2b.Sandbox.create({ mcp: { exa: { apiKey: 'x' } } }), /these servers cannot be had here: exa/)
  const gate = await e2b.Sandbox.create({ mcp: {} })
  assert.ok(await gate.getMcpToken())
  await gate.kill()
})

test('results of code know their forms', only, async () => {
  const box = await sandbox({}, interpreter.Sandbox)
  const run = await box.runCode('class A:\n  def _repr_html_(self): return "<b>x</b>"\nA()')
  assert.ok([...run.results[0].formats()].includes('html'))
  assert.equal(run.results[0].toJSON().html, '<b>x</b>')
  assert.equal(run.toJSON().results.length, 1)
})

test('entries of a build log are text', only, async () => {
  const lines = []
  const name = `older-${Math.random().toString(36).slice(2)}`
  await e2b.Template.build(e2b.Template().fromBaseImage().runCmd('echo said'), name, { onBuildLogs: (entry) => lines.push(entry.toString()) })
  assert.ok(lines.some((line) => line.includes('said')))
})
