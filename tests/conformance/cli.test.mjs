// Every command of E2B's command line. Only `auth login` and `auth configure` are left out: they talk to the browser and to
// E2B's own identity service, and to nothing of ours.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { key, newest } from './harness.mjs'

const program = join(process.env.SDK_DIR, 'node_modules', '.bin', 'e2b')
const home = mkdtempSync(join(tmpdir(), 'e2b-cli-'))
const options = { skip: newest ? false : 'the command line brings an SDK of its own' }
after(() => rmSync(home, { recursive: true, force: true }))

function start(command, args, { env = {}, input = '', cwd = home } = {}) {
  const done = spawnSync(command, args, { cwd, input, encoding: 'utf8', timeout: 120_000,
    env: { ...process.env, HOME: home, NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1', ...env } })
  return { status: done.status, text: done.stdout + done.stderr, out: done.stdout }
}
const cli = (...args) => start(process.execPath, [program, ...args])
function ok(...args) {
  const done = cli(...args)
  assert.equal(done.status, 0, `e2b ${args.join(' ')}: ${done.text}`)
  return done
}

let id
before(() => {
  if (newest) id = ok('sandbox', 'create', 'base', '--detach').out.match(/\bi[a-z0-9]{20}\b/)[0]
})

test('sandboxes are listed, shown and measured', options, () => {
  assert.ok(JSON.parse(ok('sandbox', 'list', '--format', 'json').out).some((one) => one.sandboxId === id))
  assert.match(ok('sandbox', 'info', id).out, /State: running/)
  assert.match(ok('sandbox', 'metrics', id).out, /CPU: .*Memory: .*Disk:/)
  assert.notEqual(cli('sandbox', 'info', 'inobodyknowsthisone0').status, 0)
})

test('commands run, and their end is told', options, () => {
  assert.equal(ok('sandbox', 'exec', id, '--', 'echo', 'said').out, 'said\n')
  assert.equal(cli('sandbox', 'exec', id, '--', 'sh', '-c', 'exit 3').status, 3)
})

test('logs are read as the objects that they are', options, () => {
  ok('sandbox', 'exec', id, '--', 'echo', 'for the log')
  assert.match(ok('sandbox', 'logs', id).out, /INFO.*for the log/s)
  const lines = ok('sandbox', 'logs', '--format', 'json', id).out.split('\n').filter((line) => line.startsWith('{'))
  assert.ok(lines.map((line) => JSON.parse(line)).some((one) => one.level === 'info' && one.message.includes('for the log')))
})

test('a terminal is connected to', options, () => {
  const quoted = (words) => words.map((word) => `'${word}'`).join(' ')
  const typed = 'echo typed-$((40 + 2))\nexit\n'
  const connected = start('script', ['-qec', quoted([process.execPath, program, 'sandbox', 'connect', id]), '/dev/null'], { input: typed })
  assert.match(connected.text, /typed-42/)
})

test('snapshots are made, listed and deleted', options, () => {
  const made = ok('sandbox', 'snapshot', 'create', id).out.match(/Created snapshot (\S+)/)[1]
  assert.ok(ok('sandbox', 'snapshot', 'list').out.includes(made))
  ok('sandbox', 'snapshot', 'delete', made)
  assert.ok(!ok('sandbox', 'snapshot', 'list').out.includes(made))
})

test('a template is built, listed, published and deleted', options, () => {
  writeFileSync(join(home, 'Dockerfile'), 'FROM python:3.11\nRUN echo built > /home/user/built\n')
  ok('template', 'create', 'by-cli', '-d', 'Dockerfile')
  assert.match(ok('template', 'list').out, /by-cli/)
  assert.match(ok('template', 'publish', 'by-cli', '-y').out, /Published as/)
  ok('template', 'unpublish', 'by-cli', '-y')
  ok('template', 'delete', 'by-cli', '-y')
  assert.doesNotMatch(ok('template', 'list').out, /by-cli/)
})

test('templates are begun and taken over from the older form', options, () => {
  const place = join(home, 'begun')
  mkdirSync(place)
  const here = (...args) => start(process.execPath, [program, ...args], { cwd: place })
  assert.equal(here('template', 'init', '--name', 'fresh', '--language', 'typescript').status, 0)
  assert.ok(existsSync(join(place, 'fresh')))
  writeFileSync(join(place, 'e2b.Dockerfile'), 'FROM debian:12\nRUN true\n')
  writeFileSync(join(place, 'e2b.toml'), 'template_name = "old"\ntemplate_id = "abc"\ndockerfile = "e2b.Dockerfile"\n')
  assert.equal(here('template', 'migrate', '--language', 'typescript').status, 0)
  assert.ok(readdirSync(place).includes('template.ts'))
})

// What `auth login` would have written, with a key of ours: the guide shows it.
test('a key in the configuration is known and works', options, () => {
  assert.match(ok('auth', 'info').out, /Not logged in/)
  mkdirSync(join(home, '.e2b'), { recursive: true })
  writeFileSync(join(home, '.e2b', 'config.json'), JSON.stringify({ version: 2, identity: { email: 'me@example.com' },
    oauth: { token_endpoint: 'http://127.0.0.1:9/', revoke_endpoint: 'http://127.0.0.1:9/', client_id: 'atoll' },
    tokens: { access_token: '', refresh_token: '' }, projectName: 'default', projectId: 'default', projectApiKey: key }))
  assert.match(ok('auth', 'info').out, /me@example\.com/)
  const listed = start(process.execPath, [program, 'sandbox', 'list'], { env: { E2B_API_KEY: '' } })
  assert.equal(listed.status, 0, listed.text)
  assert.ok(listed.out.includes(id))
  ok('auth', 'logout')
  assert.match(ok('auth', 'info').out, /Not logged in/)
})

test('sandboxes are paused, resumed and killed', options, () => {
  ok('sandbox', 'pause', id)
  assert.ok(ok('sandbox', 'list', '--state', 'paused').out.includes(id))
  ok('sandbox', 'resume', id)
  ok('sandbox', 'kill', id)
  assert.ok(!ok('sandbox', 'list').out.includes(id))
})
