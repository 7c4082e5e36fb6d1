// What takes a minute, in a file of its own: files run side by side, and this one begins first.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sandbox } from './harness.mjs'
import { all, envelope, rpc, shell } from './wire.mjs'

test('a stream of a minute stays open, silent or not', async () => {
  const box = await sandbox()
  const silent = await box.commands.run('sleep 65; echo end', { background: true, timeoutMs: 0 })
  const ticking = await box.commands.run('for i in $(seq 13); do echo $i; sleep 5; done', { background: true, timeoutMs: 0 })
  const terminal = await box.pty.create({ cols: 80, rows: 24, timeoutMs: 0, onData: () => {} })
  const kept = rpc(box, 'process.Process/Start', envelope(shell('sleep 62')), { 'keepalive-ping-interval': '20', 'connect-timeout-ms': '90000' })
  assert.equal((await silent.wait()).stdout, 'end\n')
  assert.equal((await ticking.wait()).stdout, Array.from({ length: 13 }, (_, i) => `${i + 1}\n`).join(''))
  const kinds = (await all(await kept)).map((one) => Object.keys(one.message.event ?? { last: 1 })[0])
  assert.deepEqual(kinds, ['start', 'keepalive', 'keepalive', 'keepalive', 'end', 'last'])
  await box.pty.kill(terminal.pid)
  await assert.rejects(terminal.wait())
})
