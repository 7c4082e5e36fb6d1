// Templates and the environments under them: an imported image, and a base that is built while the daemon runs.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { e2b, newest, sandbox } from './harness.mjs'

const { Template } = e2b
const only = { skip: !newest || !Template }
const image = `demo-${process.pid}`
let work, archive

const sh = (line) => execFileSync('/bin/bash', ['-c', line], { encoding: 'utf8' })
const atoll = (...words) => spawnSync(process.env.ATOLL, ['env', words[0], '--data', process.env.ATOLL_DATA, ...words.slice(1)], { encoding: 'utf8' })
function env(...words) {
  const done = atoll(...words)
  assert.equal(done.status, 0, done.stdout + done.stderr)
}

// A shell and a few programs of this machine with the libraries they need.
before(() => {
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
})
after(() => {
  if (!work) return
  atoll('remove', 'base')
  rmSync(work, { recursive: true, force: true })
})

async function build(recipe, name) {
  const logs = []
  await Template.build(recipe, name, { onBuildLogs: (entry) => logs.push(entry.message) })
  return logs
}
const cached = (logs) => logs.filter((line) => line.startsWith('CACHED')).length

test('a template is built on an imported image by its name', only, async () => {
  env('import', archive, '--name', `${image}-1.0`)
  const recipe = () => Template().fromImage(`${image}:1.0`).runCmd('cat /etc/marker > /home/user/seen')
  const name = `on-${image}`
  assert.equal(cached(await build(recipe(), name)), 0)
  const box = await sandbox({}, { create: (options) => e2b.Sandbox.create(name, options) })
  assert.equal(await box.files.read('seen'), 'imported\n')
  assert.equal(await box.files.exists('/usr/lib/os-release'), false, 'nothing of this machine')
  assert.equal(cached(await build(recipe(), name)), 1)
  // The same name with other files is another base.
  const other = join(work, 'other.tar')
  sh(`cd '${work}' && echo again > root/etc/marker && tar -C root --numeric-owner -cf '${other}' .`)
  env('import', other, '--name', `${image}-1.0`)
  assert.equal(cached(await build(recipe(), name)), 0)
  const next = await e2b.Sandbox.create(name)
  assert.equal(await next.files.read('seen'), 'again\n')
  assert.equal(await box.files.read('/etc/marker'), 'imported\n', 'who stands on the older one keeps it')
  await next.kill()
})

test('base is this machine until it is built, and again when that is removed', only, async () => {
  const marked = async () => {
    const box = await e2b.Sandbox.create()
    const found = await box.files.exists('/etc/marker')
    assert.equal((await box.commands.run('id -un')).stdout, 'user\n')
    await box.kill()
    return found
  }
  const recipe = () => Template().fromBaseImage().runCmd(`echo ${image} > /tmp/layer`)
  await build(recipe(), `base-${image}`)
  assert.equal(cached(await build(recipe(), `base-${image}`)), 1)
  assert.equal(await marked(), false)
  env('import', archive, '--name', 'base')
  assert.equal(await marked(), true)
  assert.equal(cached(await build(recipe(), `base-${image}`)), 0, 'layers of the older base are not used')
  const made = await e2b.Sandbox.create(`base-${image}`)
  assert.equal(await made.files.exists('/etc/marker'), true)
  await made.kill()
  env('remove', 'base')
  assert.equal(await marked(), false)
})
