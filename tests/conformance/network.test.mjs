import assert from 'node:assert/strict'
import { test } from 'node:test'
import { e2b, newest, sandbox } from './harness.mjs'

const { Sandbox } = e2b
const only = { skip: !newest }

test('the network of a running sandbox changes', only, async () => {
  const box = await sandbox()
  await box.updateNetwork({ allowInternetAccess: false })
  assert.equal((await box.getInfo()).allowInternetAccess, false)
  await Sandbox.updateNetwork(box.sandboxId, { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] })
  const tried = await box.commands.run('curl -s -m 20 http://other.test/ || true')
  assert.match(tried.stdout, /other.test:80 is not allowed/)
  await assert.rejects(box.updateNetwork({ allowOut: ['example.com'] }), /denyOut/)
  await assert.rejects(Sandbox.updateNetwork('i00000000000000000000', {}), e2b.SandboxNotFoundError)
})
