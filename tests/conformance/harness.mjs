// What the suites share: the SDK that SDK_DIR names, one daemon (ATOLL_URL), sandboxes that end with their suite.
import dns from 'node:dns'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after } from 'node:test'
import { watch, watchInstance } from './methods.mjs'

const load = createRequire(join(process.env.SDK_DIR, 'package.json'))
export const e2b = watch(load('e2b'))
export const interpreter = watch(load('@e2b/code-interpreter'))
export const url = process.env.ATOLL_URL
export const key = process.env.E2B_API_KEY
export const newest = load('e2b/package.json').version.split('.')[1] >= 51
// Older packages take a template's name among the options.
if (!newest && e2b.Template) {
  for (const method of ['build', 'buildInBackground']) {
    const original = e2b.Template[method]
    e2b.Template[method] = (recipe, name, options) => original.call(e2b.Template, recipe, { alias: name, ...options })
  }
}

// Older packages reach the interpreter by its host alone, and not every resolver knows names below localhost.
const lookup = dns.lookup
dns.lookup = (name, options, done) => lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, options, done)

const open = new Set()
export async function sandbox(options = {}, Class = e2b.Sandbox) {
  // Older packages of the interpreter call its contexts without any token.
  const bare = !newest && Class === interpreter.Sandbox ? { secure: false } : {}
  const made = await Class.create({ timeoutMs: 900_000, ...bare, ...options })
  open.add(made)
  watchInstance(made)
  return made
}
after(async () => {
  await Promise.allSettled([...open].map((one) => one.kill()))
  // An answer that a test did not read to its end, or a connection opened ahead, would keep the process until the
  // server gives up. The suites' own hooks come after this one and still ask the server.
  setTimeout(() => process.exit(), 3_000).unref()
})

// A request of the control plane as the SDK would send it.
export function control(path, { method = 'GET', body, headers = {}, apiKey = key } = {}) {
  return fetch(url + path, {
    method,
    headers: { 'X-API-KEY': apiKey, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    body: body ? JSON.stringify(body) : undefined,
  })
}

// A request of the sandbox plane.
export function plane(box, path, { method = 'GET', port = 49983, body, headers = {}, token = true, signal } = {}) {
  return fetch(url + path, {
    method,
    headers: {
      'E2b-Sandbox-Id': box.sandboxId,
      'E2b-Sandbox-Port': String(port),
      ...(token && box.envdAccessToken ? { 'X-Access-Token': box.envdAccessToken } : {}),
      ...headers,
    },
    body,
    signal,
    duplex: 'half',
  })
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export async function eventually(check, ms = 10_000) {
  const end = Date.now() + ms
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > end) throw error
      await sleep(50)
    }
  }
}

// Whether this run is on a provider that lacks it: WITHOUT names what, such as "root sudo".
export const without = (what) => (process.env.WITHOUT ?? '').split(' ').includes(what) && `the provider has no ${what}`
