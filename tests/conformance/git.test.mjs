import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { e2b, newest, sandbox } from './harness.mjs'

let box
const only = { skip: !newest }
before(async () => {
  if (newest) box = await sandbox()
})

test('a repository is made, filled and read', only, async () => {
  const path = '/home/user/repo'
  await box.git.init(path, { initialBranch: 'main' })
  await box.git.configureUser('A Person', 'a@example.org', { scope: 'local', path })
  await box.files.write(`${path}/file.txt`, 'content')
  const before = await box.git.status(path)
  assert.equal(before.isClean, false)
  assert.ok(before.fileStatus.some((one) => one.name === 'file.txt'))
  await box.git.add(path)
  await box.git.commit(path, 'first')
  const after = await box.git.status(path)
  assert.equal(after.isClean, true)
  assert.equal(after.currentBranch, 'main')
})

test('branches are made, listed and left', only, async () => {
  const path = '/home/user/repo'
  await box.git.createBranch(path, 'side')
  const branches = await box.git.branches(path)
  assert.ok(branches.branches.includes('side'))
  await box.git.checkoutBranch(path, 'main')
  await box.git.deleteBranch(path, 'side')
  assert.ok(!(await box.git.branches(path)).branches.includes('side'))
})

test('a clone of a local repository', only, async () => {
  await box.git.clone('/home/user/repo', { path: '/home/user/copy' })
  assert.equal(await box.files.read('/home/user/copy/file.txt'), 'content')
})

test('a directory that is no repository is an error', only, async () => {
  await box.files.makeDir('/tmp/plain')
  await assert.rejects(box.git.status('/tmp/plain'), e2b.SandboxError)
})

test('configuration is written and read', only, async () => {
  const path = '/home/user/repo'
  await box.git.setConfig('user.nickname', 'nick', { scope: 'local', path })
  assert.equal(await box.git.getConfig('user.nickname', { scope: 'local', path }), 'nick')
  assert.equal(await box.git.getConfig('user.none', { scope: 'local', path }), undefined)
})

test('changes are staged, reset and restored', only, async () => {
  const path = '/home/user/repo'
  await box.files.write(`${path}/file.txt`, 'changed')
  await box.git.add(path, { files: ['file.txt'] })
  assert.ok((await box.git.status(path)).fileStatus.some((one) => one.staged))
  await box.git.reset(path, { mode: 'mixed', target: 'HEAD' })
  assert.ok(!(await box.git.status(path)).fileStatus.some((one) => one.staged))
  await box.git.restore(path, { paths: ['file.txt'] })
  assert.equal(await box.files.read(`${path}/file.txt`), 'content')
  assert.equal((await box.git.status(path)).isClean, true)
})

test('a remote is added, pushed to and pulled from', only, async () => {
  const path = '/home/user/repo'
  await box.commands.run('git init -q --bare -b main /home/user/central.git')
  await box.git.remoteAdd(path, 'origin', 'file:///home/user/central.git')
  assert.equal(await box.git.remoteGet(path, 'origin'), 'file:///home/user/central.git')
  assert.equal(await box.git.remoteGet(path, 'none'), undefined)
  await box.git.push(path, { remote: 'origin', branch: 'main', setUpstream: true })
  await box.git.clone('file:///home/user/central.git', { path: '/home/user/second' })
  await box.git.configureUser('B Person', 'b@example.org', { scope: 'local', path: '/home/user/second' })
  await box.files.write('/home/user/second/more.txt', 'more')
  await box.git.add('/home/user/second')
  await box.git.commit('/home/user/second', 'second')
  await box.git.push('/home/user/second')
  await box.git.pull(path)
  assert.equal(await box.files.read(`${path}/more.txt`), 'more')
  await box.git.createBranch(path, 'lonely')
  await assert.rejects(box.git.push(path), e2b.GitUpstreamError)
})

test('credentials are stored inside the sandbox only', only, async () => {
  await box.git.dangerouslyAuthenticate({ username: 'me', password: 'token', host: 'git.example.org' })
  assert.match(await box.files.read('/home/user/.git-credentials'), /me:token@git\.example\.org/)
  await assert.rejects(box.git.dangerouslyAuthenticate({ username: '', password: '' }), e2b.InvalidArgumentError)
})
