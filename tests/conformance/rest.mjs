// Requests of the control plane, raw: status, body and headers as they came.
import assert from 'node:assert/strict'
import { control } from './harness.mjs'

export async function json(path, options) {
  const answer = await control(path, options)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers }
}
export const post = (path, body, options) => json(path, { method: 'POST', body, ...options })
export async function create(body = {}, generation = '/v2') {
  const { status, body: made } = await post(`${generation}/sandboxes`, { templateID: 'base', timeout: 300, ...body })
  assert.equal(status, 201, JSON.stringify(made))
  return { ...made, sandboxId: made.sandboxID }
}
export const info = async (box) => (await json(`/sandboxes/${box.sandboxID}`)).body
export const kill = (box) => json(`/sandboxes/${box.sandboxID}`, { method: 'DELETE' })
