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
