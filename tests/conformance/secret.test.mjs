import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { control, e2b, newest } from './harness.mjs'

const { Secret } = e2b
const only = { skip: !newest || !Secret }
const prefix = `conformance-${Math.random().toString(36).slice(2)}`
const made = []
async function secret(name, value = 'value-of-a-secret', options) {
  const one = await Secret.create(`${prefix}-${name}`, value, options)
  made.push(one.secretId)
  return one
}
after(async () => {
  for (const id of made) await control(`/secrets/${id}`, { method: 'DELETE' })
})

test('secrets are made, changed, found and destroyed', only, async () => {
  const one = await secret('life', 'first', { metadata: { team: 'a' } })
  assert.match(one.secretId, /^sec_[a-z0-9]{20}$/)
  assert.equal(one.version, 1)
  assert.deepEqual(one.metadata, { team: 'a' })
  assert.ok(one.createdAt instanceof Date)
  const changed = await Secret.update(one.name, 'second')
  assert.equal(changed.version, 2)
  assert.deepEqual(changed.metadata, { team: 'a' })
  assert.deepEqual((await Secret.update(one.secretId, 'third', { metadata: { team: 'b' } })).metadata, { team: 'b' })
  assert.equal((await Secret.getInfo(one.secretId)).version, 3)
  assert.equal((await Secret.getInfo(one.name)).secretId, one.secretId)
  assert.equal(await Secret.exists(one.name), true)
  assert.equal(await Secret.destroy(one.name), true)
  assert.equal(await Secret.destroy(one.name), false)
  assert.equal(await Secret.exists(one.name), false)
  await assert.rejects(Secret.getInfo(one.name), e2b.SecretNotFoundError)
  await assert.rejects(Secret.update(one.name, 'x'), e2b.SecretNotFoundError)
})

test('a value never comes back', only, async () => {
  const value = `sk-${prefix}-never-shown`
  const one = await secret('hidden', value)
  for (const path of ['/secrets', `/secrets/${one.secretId}`, `/secrets/${one.name}`]) {
    const answer = await (await control(path)).text()
    assert.ok(answer.includes(one.secretId))
    assert.ok(!answer.includes(value))
  }
  const changed = await control(`/secrets/${one.secretId}`, { method: 'POST', body: { value: value + '2' } })
  assert.ok(!(await changed.text()).includes(value))
})

test('secrets are listed in pages', only, async () => {
  for (const name of ['page-1', 'page-2', 'page-3']) await secret(name)
  const names = []
  const pages = Secret.list({ limit: 2 })
  while (pages.hasNext) names.push(...(await pages.nextItems()).map((one) => one.name))
  for (const name of ['page-1', 'page-2', 'page-3']) assert.equal(names.filter((one) => one === `${prefix}-${name}`).length, 1)
  assert.equal((await control('/secrets?nextToken=!')).status, 400)
  assert.equal((await control('/secrets?limit=0')).status, 400)
})

test('names are taken once, and names and values have a form', only, async () => {
  const one = await secret('taken')
  await assert.rejects(Secret.create(one.name, 'x'), (error) => error instanceof e2b.SecretError && /already exists/.test(error.message))
  const create = (body) => control('/secrets', { method: 'POST', body })
  for (const body of [{}, { name: 'x' }, { name: '', value: 'v' }, { name: 'a{b', value: 'v' }, { name: 'sec_mine', value: 'v' }, { name: 'SEC_mine', value: 'v' }, { name: 'n', value: '' },
    { name: 'n', value: 'a\r\nX-Injected: 1' }, { name: 7, value: 'v' }, { name: 'n', value: 'v', metadata: { a: 1 } }]) {
    const answer = await create(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal((await answer.json()).code, 400)
  }
})

// The original's description of NewSecret.name: "Names are lower-cased before storage and returned in that canonical form".
test('names are kept in lower case and found in any', only, async () => {
  const one = await secret('Mixed-CASE')
  assert.equal(one.name, `${prefix}-mixed-case`)
  for (const name of [one.name, one.name.toUpperCase(), `${prefix}-Mixed-CASE`]) assert.equal((await Secret.getInfo(name)).secretId, one.secretId)
  await assert.rejects(Secret.create(one.name.toUpperCase(), 'x'), /already exists/)
  assert.equal(await Secret.destroy(`${prefix}-Mixed-CASE`), true)
})

test('placeholders are formed locally', only, () => {
  assert.equal(Secret.fill('openai'), '${e2b.secrets.openai}')
  assert.throws(() => Secret.fill('a}b'), e2b.InvalidArgumentError)
})
