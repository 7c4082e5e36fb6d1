import assert from 'node:assert/strict'
import { test } from 'node:test'
import { e2b, newest, sandbox } from './harness.mjs'

const { Sandbox } = e2b
const only = { skip: !newest }

test('a network that cannot be changed is refused, not ignored', only, async () => {
  const box = await sandbox()
  await assert.rejects(box.updateNetwork({ allowInternetAccess: false }), /not supported/)
  await assert.rejects(Sandbox.updateNetwork(box.sandboxId, { allowInternetAccess: false }), /not supported/)
  await assert.rejects(Sandbox.updateNetwork('i00000000000000000000', {}), e2b.SandboxNotFoundError)
})
