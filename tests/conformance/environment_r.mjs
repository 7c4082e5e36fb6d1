// R where the environment `r` has it. Run by tests/env/run-long r.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpreter } from './harness.mjs'

test('R is the interpreter of its environment', async () => {
  const box = await interpreter.Sandbox.create('r', { envs: { V: 'supertest' } })
  try {
    const run = async (code) => (await box.runCode(code, { language: 'r' }))
    assert.equal((await run('Sys.getenv("V")')).text, '[1] "supertest"')
    assert.equal((await run('getwd()')).text, '[1] "/home/user"')
    assert.ok((await run('plot(1:3)')).results[0].png.startsWith('iVBORw0KGgo'))
    assert.equal((await run('library(jsonlite); cat(toJSON(1:2))')).logs.stdout.join(''), '[1,2]')
  } finally {
    await box.kill()
  }
})
