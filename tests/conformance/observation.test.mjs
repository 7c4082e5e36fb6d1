// Logs with their filters, and what a team is told about itself.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { control, key, sandbox, sleep } from './harness.mjs'

let box, from
before(async () => {
  box = await sandbox()
  from = Date.now()
  for (const line of ['echo first-one', 'echo second-one', 'exit 3']) {
    await box.commands.run(line).catch(() => {})
    await sleep(20)
  }
})

const logs = async (query = '') => {
  const answer = await control(`/v2/sandboxes/${box.sandboxId}/logs${query}`)
  assert.equal(answer.status, 200, await answer.clone().text())
  return (await answer.json()).logs
}
const words = (entries) => entries.map((one) => one.message.match(/first-one|second-one|exit 3/)?.[0])

test('logs are told in both directions', async () => {
  assert.deepEqual(words(await logs()), ['first-one', 'second-one', 'exit 3'])
  assert.deepEqual(words(await logs('?direction=backward')), ['exit 3', 'second-one', 'first-one'])
})

test('logs go on from a cursor', async () => {
  const [first, second] = await logs('?limit=2')
  assert.ok(second)
  const at = Date.parse(second.timestamp)
  assert.deepEqual(words(await logs(`?cursor=${at}`)), ['second-one', 'exit 3'])
  assert.deepEqual(words(await logs(`?cursor=${at}&direction=backward`)), ['second-one', 'first-one'])
  assert.deepEqual(await logs(`?cursor=${Date.now() + 60_000}`), [])
  assert.ok(Date.parse(first.timestamp) >= from - 1)
})

test('logs are searched and filtered by level', async () => {
  assert.deepEqual(words(await logs('?search=second')), ['second-one'])
  assert.deepEqual(words(await logs('?level=warn')), ['exit 3'])
  assert.deepEqual(words(await logs('?level=info&limit=1')), ['first-one'])
  assert.deepEqual(await logs('?search=never-said'), [])
  for (const entry of await logs()) for (const name of ['timestamp', 'level', 'message', 'fields']) assert.ok(name in entry, name)
})

test('bad questions about logs are refused with their field', async () => {
  for (const [query, field] of [['?limit=1001', 'limit'], ['?limit=x', 'limit'], ['?cursor=-1', 'cursor'], ['?direction=up', 'direction'], ['?level=loud', 'level']]) {
    const answer = await control(`/v2/sandboxes/${box.sandboxId}/logs${query}`)
    assert.equal(answer.status, 400, query)
    const body = await answer.json()
    assert.equal(body.code, 400)
    assert.match(body.message, new RegExp(field))
  }
  assert.equal((await control('/v2/sandboxes/i00000000000000000000/logs')).status, 404)
})

test('the older logs have lines and entries, from a time on', async () => {
  const all = await (await control(`/sandboxes/${box.sandboxId}/logs`)).json()
  assert.equal(all.logs.length, all.logEntries.length)
  const two = await (await control(`/sandboxes/${box.sandboxId}/logs?limit=2&start=${from}`)).json()
  assert.equal(two.logs.length, 2)
  const none = await (await control(`/sandboxes/${box.sandboxId}/logs?start=${Date.now() + 60_000}`)).json()
  assert.deepEqual(none.logs, [])
})

test('a team sees how many sandboxes it had', async () => {
  const [{ teamID }] = await (await control('/teams')).json()
  await sleep(1100)
  const now = Math.floor(Date.now() / 1000)
  const samples = await (await control(`/teams/${teamID}/metrics?start=${now - 60}&end=${now}`)).json()
  assert.ok(samples.length >= 2)
  for (const name of ['timestamp', 'timestampUnix', 'concurrentSandboxes', 'sandboxStartRate']) assert.ok(name in samples[0], name)
  const most = await (await control(`/teams/${teamID}/metrics/max?metric=concurrent_sandboxes&start=${now - 60}&end=${now}`)).json()
  assert.equal(most.value, Math.max(...samples.map((one) => one.concurrentSandboxes)))
  const rate = await (await control(`/teams/${teamID}/metrics/max?metric=sandbox_start_rate&start=${now - 60}&end=${now}`)).json()
  assert.ok(rate.value >= 0)
})

test('bad questions about teams are refused', async () => {
  const [{ teamID }] = await (await control('/teams')).json()
  assert.equal((await control('/teams/somebody-else/metrics')).status, 404)
  assert.equal((await control(`/teams/${teamID}/metrics/max?metric=love`)).status, 400)
  assert.equal((await control(`/teams/${teamID}/metrics?start=9&end=8`)).status, 400)
  assert.equal((await control(`/teams/${teamID}/metrics`, { apiKey: process.env.OTHER_KEY })).status, 404)
})

test('keys are listed without their secret, and only one\'s own', async () => {
  const mine = await (await control('/api-keys')).json()
  assert.ok(mine.length >= 1)
  assert.ok(!JSON.stringify(mine).includes(key))
  for (const name of ['id', 'name', 'mask', 'createdAt']) assert.ok(name in mine[0], name)
  const theirs = await (await control('/api-keys', { apiKey: process.env.OTHER_KEY })).json()
  assert.ok(theirs.every((one) => !mine.some((each) => each.id === one.id)))
})
