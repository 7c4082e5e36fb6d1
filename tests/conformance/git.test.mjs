import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { e2b, eventually, newest, sandbox } from './harness.mjs'

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

// A repository of its own for each of what follows.
let number = 0
const out = async (line) => (await box.commands.run(line)).stdout.trim()
async function repository() {
  const path = `/tmp/repository-${++number}`
  await box.git.init(path, { initialBranch: 'main' })
  await box.files.write(`${path}/file.txt`, 'content\n')
  await box.git.add(path)
  await box.git.commit(path, 'first', { authorName: 'A Person', authorEmail: 'a@example.org' })
  return path
}
// git's own server, on a port inside.
async function served(path) {
  const port = 9500 + number
  await box.commands.run(`git init -q --bare -b main ${path}-served/remote.git`)
  const server = await box.commands.run(
    `git daemon --reuseaddr --base-path=${path}-served --export-all --enable=receive-pack --listen=127.0.0.1 --port=${port}`, { background: true, timeoutMs: 0 })
  const url = `git://127.0.0.1:${port}/remote.git`
  await eventually(() => box.commands.run(`git ls-remote ${url}`), 30_000)
  return { url, server }
}

test('a server of git inside is pushed to, cloned and pulled from', only, async () => {
  const path = await repository()
  const { url, server } = await served(path)
  await box.git.remoteAdd(path, 'origin', url)
  await assert.rejects(box.git.push(path, { setUpstream: false }), /no upstream branch is configured/i)
  await assert.rejects(box.git.pull(path), e2b.GitUpstreamError)
  await box.git.push(path, { remote: 'origin', branch: 'main', setUpstream: true })
  assert.equal(await out(`git --git-dir=${path}-served/remote.git log -1 --pretty='%s %an'`), 'first A Person')
  await box.git.clone(url, { path: `${path}-copy` })
  await box.files.write(`${path}/file.txt`, 'more\n')
  await box.git.add(path, { all: true })
  await box.git.commit(path, 'second', { authorName: 'A Person', authorEmail: 'a@example.org' })
  await box.git.push(path)
  await box.git.pull(`${path}-copy`)
  assert.equal(await box.files.read(`${path}-copy/file.txt`), 'more\n')
  assert.equal(await server.kill(), true)
  await assert.rejects(box.git.clone(url, { path: `${path}-late` }))
})

test('a server that asks for a password is told as that', only, async () => {
  await box.files.write('/tmp/asks.py', `
import http.server
class Asks(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(401); self.send_header('WWW-Authenticate', 'Basic realm=x'); self.send_header('Content-Length', '0'); self.end_headers()
http.server.HTTPServer(('127.0.0.1', 9499), Asks).serve_forever()`)
  const server = await box.commands.run('python3 /tmp/asks.py', { background: true, timeoutMs: 0 })
  await eventually(() => box.commands.run('curl -s -o /dev/null http://127.0.0.1:9499/'), 30_000)
  await assert.rejects(box.git.clone('http://127.0.0.1:9499/any.git', { path: '/tmp/asked' }), e2b.GitAuthError)
  await server.kill()
})

test('authors, configuration and remotes are where git itself looks', only, async () => {
  const path = await repository()
  await box.commands.run(`git -C ${path} config --local user.email own@example.org`)
  await box.files.write(`${path}/file.txt`, 'changed\n')
  await box.git.add(path)
  await box.git.commit(path, 'half an author', { authorName: 'B Person' })
  assert.equal(await out(`git -C ${path} log -1 --pretty='%an %ae'`), 'B Person own@example.org')
  await box.git.configureUser('C Person', 'c@example.org')
  assert.equal(await out('git config --global --get user.name'), 'C Person')
  assert.equal(await box.git.getConfig('user.email', { scope: 'global' }), 'c@example.org')
  await box.git.remoteAdd(path, 'origin', 'https://git.example.org/a.git')
  await assert.rejects(box.git.remoteAdd(path, 'origin', 'https://git.example.org/b.git'))
  await box.git.remoteAdd(path, 'origin', 'https://git.example.org/b.git', { overwrite: true })
  assert.equal(await out(`git -C ${path} remote get-url origin`), 'https://git.example.org/b.git')
  assert.equal(await box.git.getConfig('credential.helper', { scope: 'global' }), 'store')
})

test('what was staged, renamed, thrown away and checked out is told', only, async () => {
  const path = await repository()
  await box.files.write(`${path}/file.txt`, 'changed\n')
  await box.git.add(path, { files: ['file.txt'] })
  assert.equal((await box.git.status(path)).hasStaged, true)
  await box.git.restore(path, { paths: ['file.txt'], staged: true, worktree: false })
  const unstaged = await box.git.status(path)
  assert.deepEqual([unstaged.hasStaged, unstaged.hasChanges], [false, true])
  await box.git.reset(path, { mode: 'hard', target: 'HEAD' })
  assert.equal(await box.files.read(`${path}/file.txt`), 'content\n')
  await box.commands.run(`git -C ${path} mv file.txt other.txt`)
  assert.equal((await box.git.status(path)).fileStatus[0].status, 'renamed')
  await box.commands.run(`git -C ${path} reset -q --hard && git -C ${path} checkout -q --detach`)
  assert.equal((await box.git.status(path)).detached, true)
  await box.git.init(`${path}-bare`, { bare: true })
  assert.equal(await out(`git -C ${path}-bare rev-parse --is-bare-repository`), 'true')
})
