// What takes a minute or more, side by side in a file of its own, which begins first.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sandbox, sleep } from './harness.mjs'
import { create, json, kill, post } from './rest.mjs'
import { all, envelope, rpc, shell } from './wire.mjs'

const mark = Math.random().toString(36).slice(2)
const kinds = async (response) => (await all(response)).map((one) => Object.keys(one.message.event ?? { last: 1 })[0])

async function commandsStayOpen() {
  const box = await sandbox()
  const silent = await box.commands.run('sleep 65; echo end', { background: true, timeoutMs: 0 })
  const ticking = await box.commands.run('for i in $(seq 13); do echo $i; sleep 5; done', { background: true, timeoutMs: 0 })
  assert.equal((await silent.wait()).stdout, 'end\n')
  assert.equal((await ticking.wait()).stdout, Array.from({ length: 13 }, (_, i) => `${i + 1}\n`).join(''))
}

async function keepAlivesComeAsAsked() {
  const box = await sandbox()
  const asked = rpc(box, 'process.Process/Start', envelope(shell('sleep 65')), { 'keepalive-ping-interval': '20', 'connect-timeout-ms': '120000' })
  const unasked = rpc(box, 'process.Process/Start', envelope(shell('sleep 93')), { 'connect-timeout-ms': '120000' })
  // Whatever is said puts the next one off.
  const talking = rpc(box, 'process.Process/Start', envelope(shell('for i in 1 2 3 4 5 6; do sleep 10; echo $i; done')), { 'keepalive-ping-interval': '15', 'connect-timeout-ms': '120000' })
  assert.deepEqual(await kinds(await asked), ['start', 'keepalive', 'keepalive', 'keepalive', 'end', 'last'])
  assert.ok(!(await kinds(await talking)).includes('keepalive'))
  assert.deepEqual(await kinds(await unasked), ['start', 'keepalive', 'end', 'last'], 'ninety seconds unless it is said')
}

async function anEndIsKeptForAWhile() {
  const box = await sandbox()
  const [{ message }] = await all(await rpc(box, 'process.Process/Start', envelope(shell('exit 7'))))
  const { pid } = message.event.start
  const connect = async () => (await all(await rpc(box, 'process.Process/Connect', envelope({ process: { pid } })))).map((one) => one.message)
  await sleep(20_000)
  assert.equal((await connect())[1].event.end.exitCode, 7)
  await sleep(20_000)
  assert.deepEqual((await connect()).map((one) => one.error?.code), ['not_found'])
}

// Twenty seconds are given to a start command of which nobody says when it is ready.
async function startCommandsAreWaitedFor() {
  const built = async (name, commands) => {
    const { body } = await post('/v3/templates', { name: `${name}-${mark}` })
    const path = `/templates/${body.templateID}/builds/${body.buildID}`
    const begun = Date.now()
    assert.equal((await post(`/v2${path}`, { fromImage: 'e2bdev/base', steps: [], ...commands })).status, 202)
    for (;;) {
      const { status, reason } = (await json(`${path}/status`)).body
      if (status === 'ready') return Date.now() - begun
      assert.equal(status, 'building', JSON.stringify(reason))
      await sleep(200)
    }
  }
  const [alone, told] = await Promise.all([built('alone', { startCmd: 'sleep 600' }), built('told', { startCmd: 'sleep 600', readyCmd: 'test -e /tmp/tried || { touch /tmp/tried; exit 1; }' })])
  assert.ok(alone >= 20_000, `${alone} ms`)
  assert.ok(told < alone)
  const box = await create({ templateID: `told-${mark}` })
  const seen = await all(await rpc(box, 'process.Process/Start', envelope(shell('pgrep -f "sleep 600"'))))
  assert.equal(seen.at(-2).message.event.end.status, 'exit status 0', 'it runs in every sandbox of the template')
  await kill(box)
}

test('what takes its time', { concurrency: true }, async (t) => {
  await Promise.all([
    t.test('streams of a minute stay open, silent or not', commandsStayOpen),
    t.test('keep-alives come as often as they are asked for', keepAlivesComeAsAsked),
    t.test('who connects too late is told the end for half a minute', anEndIsKeptForAWhile),
    t.test('start commands are waited for', startCommandsAreWaitedFor),
  ])
})
