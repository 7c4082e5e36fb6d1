// Every method of the template builder: built for real where this machine can, refused with a reason where it cannot.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { control, e2b, newest, sandbox } from './harness.mjs'

const { Template } = e2b
const only = { skip: !Template }
const mark = Math.random().toString(36).slice(2)
const made = []
async function build(recipe, name, options = {}) {
  made.push(`${name}-${mark}`)
  const logs = []
  await Template.build(recipe, `${name}-${mark}`, { onBuildLogs: (entry) => logs.push(entry), ...options })
  return { name: `${name}-${mark}`, logs: logs.map((entry) => entry.message) }
}
after(async () => {
  for (const name of made) await control(`/templates/${name}`, { method: 'DELETE' })
})
const steps = async (recipe) => JSON.parse(await Template.toJSON(recipe, false)).steps

test('steps change files, users, directories and variables', only, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'atoll-template-'))
  writeFileSync(join(dir, 'one.txt'), 'one')
  writeFileSync(join(dir, 'two.txt'), 'two')
  const recipe = Template({ fileContextPath: dir })
    .fromPythonImage('3.11')
    .setEnvs({ FIRST: 'a', SECOND: '$FIRST-b' })
    .setWorkdir('/opt/work')
    .makeDir('/opt/work/made', { mode: 0o755, user: 'root' })
    .copyItems([{ src: 'one.txt', dest: '/opt/work/' }, { src: 'two.txt', dest: '/opt/work/renamed.txt', mode: 0o600 }])
    .rename('/opt/work/one.txt', '/opt/work/moved.txt', { user: 'root' })
    .makeSymlink('/opt/work/moved.txt', '/opt/work/link', { user: 'root' })
    .runCmd('echo gone > /tmp/gone && echo "$SECOND" > /tmp/second && pwd > /tmp/pwd')
    .remove('/tmp/gone')
    .setUser('builder')
    .runCmd('id -un > /home/builder/who')
  const { name, logs } = await build(recipe, 'steps')
  assert.ok(logs.some((line) => /setWorkdir|WORKDIR/.test(line)))
  const box = await sandbox({}, { create: (options) => e2b.Sandbox.create(name, options) })
  assert.equal(await box.files.read('/tmp/second'), 'a-b\n')
  assert.equal(await box.files.read('/tmp/pwd'), '/opt/work\n')
  assert.equal(await box.files.exists('/tmp/gone'), false)
  assert.equal(await box.files.read('/opt/work/link'), 'one')
  assert.equal(await box.files.read('/home/builder/who'), 'builder\n')
  assert.equal((await box.files.getInfo('/opt/work/renamed.txt', { user: 'root' })).mode & 0o777, 0o600)
  // What the steps set holds in the sandbox.
  const inside = await box.commands.run('echo "$SECOND $(pwd) $(id -un)"')
  assert.equal(inside.stdout, 'a-b /opt/work builder\n')
  assert.equal((await box.commands.run('id -un', { user: 'user' })).stdout, 'user\n')

  if (!newest) return
  const snapshot = await box.createSnapshot()
  const again = await e2b.Sandbox.create(snapshot.snapshotId)
  assert.equal((await again.commands.run('echo "$SECOND $(pwd) $(id -un)"')).stdout, 'a-b /opt/work builder\n')
  await again.kill()
  await e2b.Sandbox.deleteSnapshot(snapshot.snapshotId)
})

test('a layer is built once, unless it is skipped', only, async () => {
  const recipe = (last) => Template().fromBaseImage().runCmd(`echo cached-${mark} > /tmp/layer`).runCmd(last)
  const first = await build(recipe('date +%s%N > /tmp/a'), 'cache-1')
  assert.ok(!first.logs.some((line) => line.startsWith('CACHED')))
  const second = await build(recipe('date +%s%N > /tmp/b'), 'cache-2')
  assert.equal(second.logs.filter((line) => line.startsWith('CACHED')).length, 1)
  const third = await build(recipe('date +%s%N > /tmp/b'), 'cache-3')
  assert.equal(third.logs.filter((line) => line.startsWith('CACHED')).length, 2)
  const forced = Template().fromBaseImage().skipCache().runCmd(`echo cached-${mark} > /tmp/layer`)
  assert.ok(!(await build(forced, 'cache-4')).logs.some((line) => line.startsWith('CACHED')))
  const whole = await build(recipe('date +%s%N > /tmp/b'), 'cache-5', { skipCache: true })
  assert.ok(!whole.logs.some((line) => line.startsWith('CACHED')))
  const read = async (name) => {
    const box = await e2b.Sandbox.create(name)
    const text = await box.files.read('/tmp/b')
    await box.kill()
    return text
  }
  assert.equal(await read(second.name), await read(third.name))
  assert.notEqual(await read(second.name), await read(whole.name))
  // Removing one template leaves the layers of the other.
  assert.equal((await control(`/templates/${second.name}`, { method: 'DELETE' })).status, 204)
  assert.ok(await read(third.name))
})

test('a template is the base of another', only, async () => {
  const base = await build(Template().fromUbuntuImage('22.04').setEnvs({ FROM: 'below' }).runCmd('echo base > /tmp/base'), 'below')
  const { name } = await build(Template().fromTemplate(base.name).runCmd('cat /tmp/base > /tmp/top; echo $FROM >> /tmp/top'), 'above')
  const box = await e2b.Sandbox.create(name)
  assert.equal(await box.files.read('/tmp/top'), 'base\nbelow\n')
  await box.kill()
  await assert.rejects(Template.build(Template().fromTemplate('no-such-template').runCmd('true'), `none-${mark}`), /not found/)
})

test('the start command runs and is waited for', only, async () => {
  const recipe = Template().fromNodeImage('20')
    .setStartCmd('sleep 0.3; mkdir -p /tmp/www && cd /tmp/www && echo up > index.html && python3 -m http.server 8080', e2b.waitForPort(8080))
  const { name } = await build(recipe, 'start')
  const box = await sandbox({}, { create: (options) => e2b.Sandbox.create(name, options) })
  assert.equal((await box.commands.run('curl -s http://127.0.0.1:8080/index.html')).stdout, 'up\n')
  const file = Template().fromDebianImage().setReadyCmd(e2b.waitForFile('/tmp/appears'))
  await build(file.runCmd('touch /tmp/appears'), 'ready')
  assert.match(e2b.waitForURL('http://127.0.0.1:1/x', 204).getCmd(), /204/)
  assert.match(e2b.waitForProcess('nginx').getCmd(), /nginx/)
  assert.match(e2b.waitForTimeout(3000).getCmd(), /sleep 3/)
})

test('a directory or a user that cannot be fails the step that names it', { skip: !newest }, async () => {
  // The SDK's error stands where the method was called that made the step.
  const lines = readFileSync(new URL(import.meta.url), 'utf8').split('\n')
  const where = (error) => lines[Number(/template_steps\.test\.mjs:(\d+)/.exec(error.stack)?.[1]) - 1] ?? error.stack
  for (const [recipe, method] of [
    [Template().fromBaseImage().setWorkdir('/root/.bashrc'), 'setWorkdir('],
    [Template().fromBaseImage().setUser('; exit 1'), 'setUser('],
    [Template().fromBaseImage().makeDir('.bashrc'), 'makeDir('],
  ]) await assert.rejects(Template.build(recipe, `impossible-${mark}`, { skipCache: true }),
    (error) => error instanceof e2b.BuildError && where(error).includes(method))
})

test('a start command that fails before it is ready fails the build', only, async () => {
  // One ready command is still at work then, another would never succeed.
  for (const ready of [e2b.waitForTimeout(1000), e2b.waitForPort(8099)]) {
    const recipe = Template().fromBaseImage().setStartCmd('echo it has no config >&2; exit 3', ready)
    const logs = []
    await assert.rejects(Template.build(recipe, `failing-${mark}`, { onBuildLogs: (entry) => logs.push(entry.message) }),
      (error) => error instanceof e2b.BuildError && /start command.*it has no config.*exit status 3/.test(error.message))
    assert.ok(logs.includes('it has no config'), String(logs))
  }
  // One that ends well has done its work.
  await build(Template().fromBaseImage().setStartCmd('touch /tmp/prepared', e2b.waitForFile('/tmp/prepared')), 'ending')
})

test('a build goes on in the background and tells how it stands', only, async () => {
  const recipe = Template().fromBaseImage().runCmd('sleep 0.5; echo built')
  const name = `background-${mark}`
  made.push(name)
  const info = await Template.buildInBackground(recipe, name)
  const lines = []
  let status
  for (let i = 0; i < 300; i++) {
    status = await Template.getBuildStatus(info, { logsOffset: lines.length })
    lines.push(...status.logEntries)
    if (status.status === 'ready' || status.status === 'error') break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.equal(status.status, 'ready')
  assert.ok(lines.some((entry) => entry.message.includes('built')))
  assert.ok(lines[0].toString().length > 0)
  if (newest) assert.equal(await Template.aliasExists(name), true)
  const logger = e2b.defaultBuildLogger({ minLevel: 'error' })
  assert.equal(typeof logger, 'function')
  const stored = await (await control(`/templates/${info.templateId}/builds/${info.buildId}/logs`)).json()
  assert.ok(stored.logs.length > 0)
})

test('limits of a template hold in its sandboxes', only, async () => {
  const { name } = await build(Template().fromBaseImage().runCmd('true'), 'limits', { cpuCount: 1, memoryMB: 512 })
  const box = await sandbox({}, { create: (options) => e2b.Sandbox.create(name, options) })
  const info = await box.getInfo()
  assert.deepEqual([info.cpuCount, info.memoryMB], [1, 512])
  const listed = (await (await control('/templates')).json()).find((one) => one.aliases.includes(name))
  assert.deepEqual([listed.cpuCount, listed.memoryMB, listed.buildStatus], [1, 512, 'ready'])
})

// openapi.yml, MinFreeDiskMb: free space after the build steps; 0 asks for nothing; the filesystem never shrinks.
test('room that a template asks for is there, beside what its steps wrote', { skip: !newest }, async () => {
  const info = (name) => control('/templates').then((answer) => answer.json()).then((all) => all.find((one) => one.aliases.includes(name)))
  const recipe = Template().fromBaseImage().runCmd('head -c 100M /dev/zero > ~/large')
  const { name } = await build(recipe, 'room', { minFreeDiskMb: 2000 })
  const box = await sandbox({}, { create: (options) => e2b.Sandbox.create(name, options) })
  const { stdout } = await box.commands.run('df --block-size=1M --output=avail / | tail -1')
  assert.ok(Number(stdout) > 1800, stdout)
  const large = (await info(name)).diskSizeMB
  assert.ok(large >= 2100, String(large))
  const unchanged = await build(recipe, 'no-room', { minFreeDiskMb: 0 })
  const plain = (await info(unchanged.name)).diskSizeMB
  assert.ok(plain < large, String(plain))
  const upon = await build(Template().fromTemplate(name).runCmd('true'), 'upon-room', { minFreeDiskMb: 1 })
  assert.equal((await info(upon.name)).diskSizeMB, large)
  for (const minFreeDiskMb of [-1, 1e15]) {
    const refused = await control('/v3/templates', { method: 'POST', body: { name: 'steps-refused', minFreeDiskMb } })
    assert.deepEqual([refused.status, /minFreeDiskMb/.test((await refused.json()).message)], [400, true])
  }
})

test('a template names its environment and provider', only, async () => {
  const { name } = await build(Template().fromImage('atoll/host@virtual'), 'provider')
  const box = await sandbox({}, { create: (options) => e2b.Sandbox.create(name, options) })
  await box.files.write('/home/user/x', 'virtual')
  assert.equal(await box.files.read('/home/user/x'), 'virtual')
  await assert.rejects(Template.build(Template().fromImage('atoll/nothing'), `nothing-${mark}`), /not available/)
})

test('images that are not here are refused with what to do', only, async () => {
  const newer = newest ? { fedora: Template().fromFedoraImage(), alpine: Template().fromAlpineImage(), arch: Template().fromArchImage() } : {}
  const refused = { ...newer, bun: Template().fromBunImage(), image: Template().fromImage('example.org/team/python:1', { username: 'u', password: 'p' }),
    aws: Template().fromAWSRegistry('1.dkr.ecr.eu-west-1.amazonaws.com/x:1', { accessKeyId: 'a', secretAccessKey: 'b', region: 'eu-west-1' }),
    gcp: Template().fromGCPRegistry('gcr.io/x/y:1', { serviceAccountJSON: { project_id: 'x' } }) }
  for (const [name, recipe] of Object.entries(refused)) {
    await assert.rejects(Template.build(recipe, `${name}-${mark}`), (error) => error instanceof e2b.BuildError
      && /is not available on this machine: import it/.test(error.message), name)
    made.push(`${name}-${mark}`)
  }
})

test('a dockerfile becomes steps', only, async () => {
  const recipe = Template().fromDockerfile('FROM python:3.11\nENV A=1\nWORKDIR /srv\nRUN echo "$A" > /srv/a\n')
  const { name } = await build(recipe, 'dockerfile')
  const box = await e2b.Sandbox.create(name)
  assert.equal(await box.files.read('/srv/a'), '1\n')
  await box.kill()
  assert.match(Template.toDockerfile(Template().fromImage('debian:12').runCmd('true')), /FROM debian:12[^]*RUN true/)
})

// These need a package registry, so a build is tried only where the operator allows one; here what they ask for is checked.
test('package shorthands are steps', only, async () => {
  const recipe = Template().fromBaseImage().pipInstall(['numpy']).npmInstall('left-pad', { g: true }).bunInstall('x')
    .aptInstall(['tree']).gitClone('https://example.org/r.git', '/srv/r', { branch: 'main', depth: 1 })
  const lines = (await steps(recipe)).map((step) => step.args[0])
  for (const part of [/pip install.* '?numpy/, /npm install.*left-pad/, /bun install.*x|bun add.*x/, /apt-get install.* '?tree/,
    /git clone .*example\.org\/r\.git.*--branch/]) assert.ok(lines.some((line) => part.test(line)), String(part) + lines)
})

test('gateways and devcontainers need templates that are not here', only, () => {
  assert.throws(() => Template().fromBaseImage().addMcpServer('exa'), e2b.BuildError)
  assert.throws(() => Template().fromBaseImage().betaDevContainerPrebuild('/x'), e2b.BuildError)
  assert.throws(() => Template().fromBaseImage().betaSetDevContainerStart('/x'), e2b.BuildError)
})

test('errors of builds have their words', only, async () => {
  const whoami = Template().fromBaseImage().runCmd('whoami', { user: 'root123' })
  await assert.rejects(build(whoami, 'nobody'),
    /failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'/)
  const dir = mkdtempSync(join(tmpdir(), 'atoll-template-'))
  await assert.rejects(Template.build(Template({ fileContextPath: dir }).fromBaseImage().copy('none.txt', '/x'), `copy-${mark}`))
  if (newest) {
    await assert.rejects(Template.assignTags(`nothing-at-all-${mark}`, ['x']), /not found/)
    await assert.rejects(Template.removeTags(`nothing-at-all-${mark}`, ['x']), /not found/)
  }
  assert.equal((await control('/templates/tags', { method: 'POST', body: { target: ':x', tags: ['y'] } })).status, 400)
  assert.equal((await control('/templates/tags', { method: 'POST', body: { target: 'base:', tags: ['y'] } })).status, 400)
  assert.equal((await control('/templates/x/files/nothash')).status, 400)
  assert.equal((await control('/upload/unknown', { method: 'PUT', body: {} })).status, 404)
  assert.equal((await control('/v3/templates', { method: 'POST', body: { name: 'Bad Name!' } })).status, 400)
  assert.equal((await control('/v3/templates', { method: 'POST', body: { name: 'ok', cpuCount: 0 } })).status, 400)
  const patch = await control('/v2/templates/base', { method: 'PATCH', body: { public: true } })
  assert.deepEqual(await patch.json(), { names: ['base'] })
})
