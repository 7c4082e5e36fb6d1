// Templates and the environments under them: an imported image, and a base that is built while the daemon runs.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { e2b, eventually, newest } from './harness.mjs'

const { Sandbox, Template } = e2b
const only = { skip: !newest || !Template }
const apiKey = `e2b_${'1'.repeat(40)}`
let work, archive, daemon, at

const sh = (line) => execFileSync('/bin/bash', ['-c', line], { encoding: 'utf8' })
function env(...words) {
  const done = spawnSync(process.env.ATOLL, ['env', words[0], '--data', join(work, 'data'), ...words.slice(1)], { encoding: 'utf8' })
  assert.equal(done.status, 0, done.stdout + done.stderr)
}

// A daemon of its own: what it calls `base` changes here.
async function start() {
  daemon = spawn(process.env.ATOLL, ['serve', '--listen', '127.0.0.1:0', '--data', join(work, 'data'), '--set', 'e2b.pool=1', '--set', 'native.pool=0'],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ATOLL_API_KEY: apiKey } })
  let said = ''
  daemon.stdout.on('data', (piece) => (said += piece))
  const url = await eventually(async () => {
    const found = said.match(/ready on (http:\/\/\S+)/)
    assert.ok(found, said)
    return found[1]
  }, 60_000)
  at = { apiUrl: url, sandboxUrl: url, apiKey }
}

// A shell and a few programs of this machine with the libraries they need.
before(async () => {
  if (only.skip) return
  work = mkdtempSync(join(tmpdir(), 'conformance-'))
  const root = join(work, 'root')
  for (const directory of ['bin', 'etc', 'tmp', 'home/user', 'root', 'usr', 'dev', 'proc', 'sys', 'run', 'var']) mkdirSync(join(root, directory), { recursive: true })
  for (const program of ['bash', 'cat', 'ls', 'id', 'mkdir', 'chown', 'sleep', 'rm', 'touch', 'stat']) {
    const path = sh(`readlink -f "$(command -v ${program})"`).trim()
    for (const file of [path, ...(sh(`ldd ${path} || true`).match(/\/\S+/g) ?? [])]) {
      const to = file === path ? join(root, 'bin', program) : join(root, file)
      sh(`mkdir -p '${dirname(to)}' && cp -L --no-clobber '${file}' '${to}'`)
    }
  }
  symlinkSync('bash', join(root, 'bin/sh'))
  symlinkSync('../bin', join(root, 'usr/bin'))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000::/home/user:/bin/bash\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nuser:x:1000:\n')
  writeFileSync(join(root, 'etc/marker'), 'imported\n')
  archive = join(work, 'root.tar')
  sh(`chown -R 0:0 '${root}' && chown 1000:1000 '${root}/home/user' && chmod 1777 '${root}/tmp' && tar -C '${root}' --numeric-owner -cf '${archive}' .`)
  await start()
})
after(async () => {
  if (!work) return
  daemon.kill('SIGTERM')
  await once(daemon, 'exit')
  rmSync(work, { recursive: true, force: true })
})

const create = (name = 'base') => Sandbox.create(name, { ...at, timeoutMs: 300_000 })
async function build(recipe, name) {
  const logs = []
  await Template.build(recipe, name, { ...at, onBuildLogs: (entry) => logs.push(entry.message) })
  return logs.filter((line) => line.startsWith('CACHED')).length
}

test('a template is built on an imported image by its name', only, async () => {
  env('import', archive, '--name', 'demo-1.0')
  const recipe = () => Template().fromImage('demo:1.0').runCmd('cat /etc/marker > /home/user/seen')
  assert.equal(await build(recipe(), 'on-demo'), 0)
  const box = await create('on-demo')
  assert.equal(await box.files.read('/home/user/seen'), 'imported\n')
  assert.equal(await box.files.exists('/usr/lib/os-release'), false, 'nothing of this machine')
  assert.equal(await build(recipe(), 'on-demo'), 1)
  // The same name with other files is another base.
  const other = join(work, 'other.tar')
  sh(`cd '${work}' && echo again > root/etc/marker && tar -C root --numeric-owner -cf '${other}' .`)
  env('import', other, '--name', 'demo-1.0')
  assert.equal(await build(recipe(), 'on-demo'), 0)
  const next = await create('on-demo')
  assert.equal(await next.files.read('/home/user/seen'), 'again\n')
  assert.equal(await box.files.read('/etc/marker'), 'imported\n', 'who stands on the older one keeps it')
  await Promise.all([box.kill(), next.kill()])
})

test('what an image says about its processes holds for what is built on it', only, async () => {
  const image = join(work, 'image')
  mkdirSync(image)
  sh(`cp '${archive}' '${image}/layer.tar'`)
  const digest = sh(`sha256sum < '${archive}' | cut -d' ' -f1`).trim()
  const config = { architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
    config: { Env: ['PATH=/bin', 'COLOUR=blue'], User: 'user', WorkingDir: '/var' } }
  writeFileSync(join(image, 'config.json'), JSON.stringify(config))
  writeFileSync(join(image, 'manifest.json'), JSON.stringify([{ Config: 'config.json', RepoTags: ['said:1'], Layers: ['layer.tar'] }]))
  sh(`tar -C '${image}' -cf '${work}/said.tar' manifest.json config.json layer.tar`)
  env('import', join(work, 'said.tar'), '--name', 'said-1')
  const line = 'echo "$COLOUR $PWD $(id -un)"'
  await build(Template().fromImage('said:1').runCmd(`${line} > /home/user/seen`), 'on-said')
  const box = await create('on-said')
  assert.equal(await box.files.read('/home/user/seen'), 'blue /var user\n')
  assert.equal((await box.commands.run(line)).stdout, 'blue /var user\n')
  await box.kill()
  // A step says otherwise.
  await build(Template().fromImage('said:1').setEnvs({ COLOUR: 'red' }).setWorkdir('/home/user').setUser('root').runCmd(`${line} > /tmp/seen`), 'on-said')
  const other = await create('on-said')
  assert.equal(await other.files.read('/tmp/seen'), 'red /home/user root\n')
  assert.equal((await other.commands.run(line)).stdout, 'red /home/user root\n')
  await other.kill()
})

test('base is this machine until it is built, and again when that is removed', only, async () => {
  const marked = async (name) => {
    const box = await create(name)
    const found = await box.files.exists('/etc/marker')
    assert.equal((await box.commands.run('id -u')).exitCode, 0)
    await box.kill()
    return found
  }
  const recipe = () => Template().fromBaseImage().runCmd('echo layer > /tmp/layer')
  assert.equal(await marked(), false)
  env('import', archive, '--name', 'base')
  assert.equal(await marked(), true)
  await eventually(async () => env('remove', 'base'), 60_000)  // a sandbox lets go of its layers a moment after its end
  assert.equal(await marked(), false)
  await build(recipe(), 'on-base')
  assert.equal(await build(recipe(), 'on-base'), 1)
  env('import', archive, '--name', 'base')
  assert.equal(await build(recipe(), 'on-base'), 0, 'layers of the older base are not used')
  assert.equal(await marked('on-base'), true)
})

const layers = () => readdirSync(join(work, 'data/snapshots')).filter((name) => name.startsWith('snp_'))

test('what changed in the middle is done again from there, and a template takes along what only it stands on', only, async () => {
  const recipe = (middle) => Template().fromImage('demo:1.0').runCmd('echo 1 > /home/user/one').runCmd(middle).runCmd('echo 3 > /home/user/three')
  assert.equal(await build(recipe('echo a > /home/user/two'), 'middle'), 0)
  const before = layers()
  assert.equal(await build(recipe('echo a > /home/user/two'), 'middle'), 3)
  assert.deepEqual(layers(), before, 'the same layers')
  assert.equal(await build(recipe('echo b > /home/user/two'), 'middle'), 1)
  assert.equal(layers().length, before.length + 2)
  const box = await create('middle')
  assert.equal((await box.commands.run('cd /home/user; cat one two three')).stdout, '1\nb\n3\n')
  await box.kill()
  // With a ready command the last state is the template's own; the layers below stay for others.
  const steps = layers()
  assert.equal(await build(recipe('echo b > /home/user/two').setReadyCmd('touch /home/user/ready'), 'ready'), 3)
  assert.equal(layers().length, steps.length + 1)
  const remove = () => fetch(`${at.apiUrl}/templates/ready`, { method: 'DELETE', headers: { 'X-API-KEY': apiKey } })
  const user = await create('ready')
  assert.equal((await remove()).status, 400, 'a sandbox uses it')
  await user.kill()
  await eventually(async () => assert.equal((await remove()).status, 204), 30_000)
  assert.deepEqual(layers(), steps)
})

test('steps are layers: each holds what it changed, and shares the rest', only, async () => {
  const steps = [1, 2, 3].map((i) => `touch /home/user/step-${i}; id > /home/user/last`)
  const recipe = steps.reduce((made, line) => made.runCmd(line), Template().fromImage('demo:1.0').runCmd('cat /bin/bash /bin/bash > /home/user/large'))
  const before = Number(sh(`du -sk '${join(work, 'data')}/snapshots' | cut -f1`))
  assert.equal(await build(recipe, 'layered'), 0)
  const size = Number(sh('stat -Lc %s "$(command -v bash)"')) * 2 / 1024
  const grown = Number(sh(`du -sk '${join(work, 'data')}/snapshots' | cut -f1`)) - before
  assert.ok(grown < size * 2, `four layers with a file of ${size} KiB take ${grown} KiB`)
  const box = await create('layered')
  assert.deepEqual((await box.files.list('/home/user')).map((one) => one.name).filter((name) => name.startsWith('step')), ['step-1', 'step-2', 'step-3'])
  await box.kill()
})
