// Java where the environment `java` has it. Run by tests/env/run-long java.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpreter } from './harness.mjs'

test('Java is the interpreter of its environment', async () => {
  const box = await interpreter.Sandbox.create('java', { envs: { V: 'supertest' } })
  try {
    const run = async (code) => (await box.runCode(code, { language: 'java' }))
    assert.equal((await run('System.getProperty("V")')).text, 'supertest')
    assert.equal((await run('System.getProperty("user.dir")')).text, '/home/user')
    assert.equal((await run('System.out.println("Hello, World!")')).logs.stdout[0], 'Hello, World!')
  } finally {
    await box.kill()
  }
})
