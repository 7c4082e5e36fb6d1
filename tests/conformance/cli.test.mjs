// Every command of E2B's command line and every option of each, as its own --help lists them. The identity service that
// `auth` talks to beside ours is E2B's; here the test plays its part.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { cli, commands, home, ok, removeHome, start, terminal, unused } from './cli.mjs'
import { control, e2b, eventually, key, newest, sandbox } from './harness.mjs'

const options = { skip: newest ? false : 'the command line brings an SDK of its own' }
after(removeHome)
const idIn = (text) => text.match(/\bi[a-z0-9]{20}\b/)[0]
const json = async (...args) => JSON.parse((await ok(...args)).out)

let id
before(async () => {
  if (newest) id = idIn((await ok('sandbox', 'create', 'base', '--detach', '--timeout', '900', '--lifecycle.ontimeout', 'pause', '--lifecycle.autoresume')).out)
})

test('sandboxes are listed, shown and measured', options, async () => {
  const shown = await json('sandbox', 'info', id, '--format', 'json')
  assert.deepEqual(shown.lifecycle, { onTimeout: 'pause', autoResume: true })
  assert.equal(Math.round((new Date(shown.endAt) - new Date(shown.startedAt)) / 1000), 900)
  assert.match((await ok('sandbox', 'info', id)).out, /State: running/)
  assert.notEqual((await cli(['sandbox', 'info', 'inobodyknowsthisone0'])).status, 0)

  const word = `cli-${process.pid}`
  const [first, second] = [await sandbox({ metadata: { word } }), await sandbox({ metadata: { word } })]
  const list = async (...more) => (await json('sandbox', 'list', '--format', 'json', '--metadata', `word=${word}`, ...more)).map((one) => one.sandboxId)
  assert.deepEqual(await list('--order', 'asc', '--template', 'base'), [first.sandboxId, second.sandboxId])
  assert.deepEqual(await list('--limit', '1'), [second.sandboxId])
  assert.deepEqual(await list('--started-after', new Date(Date.now() + 3_600_000).toISOString()), [])

  await first.pause()
  assert.deepEqual(await list('--state', 'paused'), [first.sandboxId])
  await ok('sandbox', 'kill', '--all', '--state', 'paused', '--metadata', `word=${word}`)
  assert.deepEqual(await list('--state', 'running,paused'), [second.sandboxId])
})

test('metrics are told, once and as they come', options, async () => {
  assert.match((await ok('sandbox', 'metrics', id)).out, /CPU: .*Memory: .*Disk:/)
  const following = await start(['sandbox', 'metrics', '--follow', '--format', 'json', id])
  await following.said(/"cpuCount":2.*\n.*"cpuCount":2/)
  following.child.kill()
  await following.done
})

test('commands run, and their end is told', options, async () => {
  assert.equal((await ok('sandbox', 'exec', id, '--', 'echo', 'said')).out, 'said\n')
  assert.equal((await cli(['sandbox', 'exec', id, '--', 'sh', '-c', 'exit 3'])).status, 3)
  const told = await ok('sandbox', 'exec', '--cwd', '/tmp', '--user', 'root', '--env', 'WORD=given', id, '--', 'sh', '-c', 'pwd; id -un; echo $WORD; wc -c',
    { input: 'piped\n' })
  assert.equal(told.out, '/tmp\nroot\ngiven\n6\n')
  const background = await ok('sandbox', 'exec', '--background', id, '--', 'sleep', '600')
  const pid = Number(background.text.trim())
  const processes = await (await e2b.Sandbox.connect(id)).commands.list()
  assert.ok(processes.some((one) => one.pid === pid), `${pid} of ${JSON.stringify(processes)}`)
})

test('logs are read as the objects that they are', options, async () => {
  await ok('sandbox', 'exec', id, '--', 'echo', 'for the log')
  assert.match((await ok('sandbox', 'logs', id)).out, /INFO.*for the log/s)
  const lines = async (...more) => (await ok('sandbox', 'logs', '--format', 'json', ...more, id)).out.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  assert.ok((await lines()).some((one) => one.level === 'info' && one.message.includes('for the log')))
  await cli(['sandbox', 'exec', id, '--', 'false'])
  const errors = await lines('--level', 'ERROR')
  assert.ok(errors.length > 0 && errors.every((one) => one.level === 'error'), JSON.stringify(errors))
  assert.deepEqual(await lines('--loggers=nobody'), [])
  assert.notDeepEqual(await lines('--loggers=atoll'), [])
})

test('logs are followed until the sandbox ends', options, async () => {
  const box = await sandbox()
  const following = await start(['sandbox', 'logs', '--follow', box.sandboxId])
  await box.commands.run('echo while it is followed')
  await following.said(/while it is followed/)
  await box.kill()
  const { status, out } = await following.done
  assert.equal(status, 0)
  assert.match(out, /Stopped printing logs/)
})

test('terminals are connected to, as whom and where one likes', options, async () => {
  const there = ['--user', 'root', '--cwd', '/tmp', '--env', 'WORD=given']
  const typed = 'echo typed-$((40 + 2)) $(id -un) $PWD $WORD\nexit\n'
  const connected = await terminal(['sandbox', 'connect', ...there, id])
  connected.type(typed)
  await connected.said(/typed-42 root \/tmp given/)
  await connected.done

  const created = await terminal(['sandbox', 'create', ...there, 'base'])
  created.type(typed)
  await created.said(/typed-42 root \/tmp given/)
  const made = idIn((await created.done).text)
  await eventually(async () => assert.equal((await control(`/sandboxes/${made}`)).status, 404))
})

test('snapshots are made, listed and deleted', options, async () => {
  const make = async (...args) => (await ok('sandbox', 'snapshot', 'create', id, ...args)).out.match(/Created snapshot (\S+)/)[1]
  const [plain, named] = [await make(), await make('--name', 'by-cli-snapshot')]
  const list = async (...args) => (await json('sandbox', 'snapshot', 'list', '--format', 'json', ...args)).map((one) => one.snapshotId)
  assert.deepEqual((await list(id)).sort(), [plain, named].sort())
  assert.deepEqual(await list('--name', 'by-cli-snapshot'), [named])
  assert.equal((await list(id, '--limit', '1')).length, 1)
  await ok('sandbox', 'snapshot', 'delete', plain, named)
  assert.deepEqual(await list(id), [])
})

test('a template is built with everything that can be said about it', options, async () => {
  const place = join(home, 'whole')
  mkdirSync(place)
  writeFileSync(join(place, 'Recipe'), 'FROM python:3.11\nRUN echo built > /home/user/built\n')
  await ok('template', 'create', 'by-cli', '--path', place, '--dockerfile', 'Recipe', '--cmd', 'touch /tmp/started; sleep 600', '--ready-cmd', 'test -e /tmp/started',
    '--cpu-count', '1', '--memory-mb', '512', '--min-free-disk-mb', '16', '--no-cache')
  const listed = (await json('template', 'list', '--project', 'default', '--format', 'json')).find((one) => one.aliases.includes('by-cli'))
  assert.deepEqual([listed.cpuCount, listed.memoryMB], [1, 512])
  assert.notEqual((await cli(['template', 'list', '--project', 'somebody-elses'])).status, 0)
  const box = await e2b.Sandbox.create('by-cli')
  assert.equal((await box.commands.run('cat ~/built; ls /tmp/started')).stdout, 'built\n/tmp/started\n')
  await box.kill()
})

test('templates are published, taken back and deleted, by name and from a list', options, async () => {
  assert.match((await ok('template', 'publish', 'by-cli', '--yes', '--project', 'default')).out, /Published as/)
  await ok('template', 'unpublish', 'by-cli', '--yes', '--project', 'default')
  const choose = async (verb) => {
    const choosing = await terminal(['template', verb, '--select', '--yes'])
    await choosing.said(/[◯◉][^\n]*by-cli/)
    const rows = choosing.out.split('\n').filter((line) => /[◯◉]/.test(line))
    choosing.type('\x1b[B'.repeat(rows.findIndex((row) => row.includes('by-cli'))) + ' ')
    await choosing.said(/◉[^\n]*by-cli/)
    choosing.type('\r')
    const { status, text } = await choosing.done
    assert.equal(status, 0, text)
  }
  const found = async () => (await json('template', 'list', '--format', 'json')).find((one) => one.aliases.includes('by-cli'))
  await choose('publish')
  assert.equal((await found()).public, true)
  await choose('unpublish')
  assert.equal((await found()).public, false)
  await choose('delete')
  assert.equal(await found(), undefined)

  writeFileSync(join(home, 'Dockerfile'), 'FROM debian:12\n')
  await ok('template', 'create', 'by-cli')
  await ok('template', 'delete', 'by-cli', '--yes', '--project', 'default')
  assert.equal(await found(), undefined)
})

test('templates are begun and taken over from the older form', options, async () => {
  const place = join(home, 'begun')
  mkdirSync(place)
  await ok('template', 'init', '--path', place, '--name', 'fresh', '--language', 'typescript')
  assert.ok(existsSync(join(place, 'fresh', 'template.ts')))
  writeFileSync(join(place, 'Old'), 'FROM debian:12\nRUN true\n')
  writeFileSync(join(place, 'old.toml'), 'template_name = "old"\ntemplate_id = "abc"\ndockerfile = "Old"\n')
  await ok('template', 'migrate', '--path', place, '--dockerfile', 'Old', '--config', 'old.toml', '--name', 'renamed', '--cmd', 'sleep 1', '--ready-cmd', 'true',
    '--cpu-count', '1', '--memory-mb', '512', '--language', 'typescript')
  assert.match(readFileSync(join(place, 'template.ts'), 'utf8'), /sleep 1/)
  assert.match(readFileSync(join(place, 'build.prod.ts'), 'utf8'), /renamed/)
})

// E2B's identity service, as far as the command line asks it: it exchanges what is old for a token, here one of ours.
async function identity(token) {
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: token, refresh_token: 'next', token_type: 'bearer', expires_in: 3600 }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

test('who logged in has a key of ours, and may choose it again', options, async () => {
  assert.match((await ok('auth', 'info')).out, /Not logged in/)
  const { token, id: tokenId } = await (await control('/access-tokens', { method: 'POST', body: { name: 'of the command line' } })).json()
  const server = await identity(token)
  try {
    const endpoint = `http://127.0.0.1:${server.address().port}/`
    const logging = await start(['auth', 'login'], { env: { E2B_API_KEY: '', PATH: '/nonexistent' } })
    const [, next] = await logging.said(/next=([^&\s]+)/)
    const back = new URL(decodeURIComponent(next).replace('localhost', '127.0.0.1'))
    for (const [name, value] of Object.entries({ email: 'me@example.com', accessToken: token, refreshToken: 'first', tokenEndpoint: endpoint, revokeEndpoint: endpoint, clientId: 'atoll' }))
      back.searchParams.set(name, value)
    await fetch(back, { redirect: 'manual' })
    const { status, text } = await logging.done
    assert.equal(status, 0, text)
    assert.match((await ok('auth', 'info')).out, /me@example\.com/)
    const config = () => JSON.parse(readFileSync(join(home, '.e2b', 'config.json'), 'utf8'))
    assert.equal(config().projectApiKey, token)
    assert.ok((await ok('sandbox', 'list', { env: { E2B_API_KEY: '' } })).out.includes(id))

    const configuring = await terminal(['auth', 'configure'], { env: { E2B_API_KEY: '' } })
    await configuring.said(/Select project[^]*default/)
    configuring.type('\r')
    assert.match((await configuring.done).text, /Project .*default.* \(default\) selected/)
    assert.equal(config().tokens.refresh_token, 'next')
    await ok('auth', 'logout')
    assert.match((await ok('auth', 'info')).out, /Not logged in/)
  } finally {
    server.close()
    await control(`/access-tokens/${tokenId}`, { method: 'DELETE' })
  }
})

// What `auth login` would have written, with a key of ours: the guide shows it.
test('a key in the configuration is known and works', options, async () => {
  mkdirSync(join(home, '.e2b'), { recursive: true })
  writeFileSync(join(home, '.e2b', 'config.json'), JSON.stringify({ version: 2, identity: { email: 'me@example.com' },
    oauth: { token_endpoint: 'http://127.0.0.1:9/', revoke_endpoint: 'http://127.0.0.1:9/', client_id: 'atoll' },
    tokens: { access_token: '', refresh_token: '' }, projectName: 'default', projectId: 'default', projectApiKey: key }))
  assert.match((await ok('auth', 'info')).out, /me@example\.com/)
  assert.ok((await ok('sandbox', 'list', { env: { E2B_API_KEY: '' } })).out.includes(id))
  await ok('auth', 'logout')
})

test('sandboxes are paused, resumed and killed', options, async () => {
  await ok('sandbox', 'pause', id)
  assert.ok((await ok('sandbox', 'list', '--state', 'paused')).out.includes(id))
  await ok('sandbox', 'resume', id)
  await ok('sandbox', 'kill', id)
  assert.ok(!(await ok('sandbox', 'list')).out.includes(id))
})

test('nothing that --help lists was left out', options, async () => {
  assert.ok((await commands()).size >= 24, [...(await commands()).keys()].join(', '))
  assert.deepEqual(await unused(), [])
})
