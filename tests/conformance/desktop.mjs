// E2B's desktop SDK on the environment `desktop`: it clicks, types, looks and streams. Run by tests/env/run-long desktop.
import assert from 'node:assert/strict'
import http from 'node:http'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

const load = createRequire(join(process.env.SDK_DIR, 'package.json'))
const { Sandbox } = load('@e2b/desktop')
let desktop
before(async () => {
  desktop = await Sandbox.create({ timeoutMs: 900_000 })
})
after(() => desktop?.kill())

async function eventually(check, ms = 60_000) {
  const end = Date.now() + ms
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
// A terminal at a place, which writes down what is typed into it.
async function terminal(name, x, y) {
  const command = `xfce4-terminal --disable-server --title=${name} --geometry=40x8+${x}+${y} --command='bash -c "cat >/tmp/${name}"'`
  await (await desktop.commands.run(command, { background: true, timeoutMs: 0 })).disconnect()
  await eventually(async () => assert.match((await desktop.commands.run(`xdotool search --onlyvisible --name '^${name}$'`)).stdout, /\d/))
  await eventually(() => desktop.files.getInfo(`/tmp/${name}`))
}
const size = (png) => [Buffer.from(png).readUInt32BE(16), Buffer.from(png).readUInt32BE(20)]

test('the screen has a size, and a screenshot shows all of it', async () => {
  assert.deepEqual(await desktop.getScreenSize(), { width: 1024, height: 768 })
  assert.deepEqual(await desktop.getCursorPosition(), { x: 512, y: 384 }, 'the pointer begins in the middle')
  const shot = await desktop.screenshot()
  assert.equal(Buffer.from(shot).subarray(1, 4).toString(), 'PNG')
  assert.deepEqual(size(shot), [1024, 768])
})

test('the mouse goes where it is sent', async () => {
  await desktop.moveMouse(123, 321)
  assert.deepEqual(await desktop.getCursorPosition(), { x: 123, y: 321 })
  await desktop.drag([100, 700], [300, 700])
  assert.deepEqual(await desktop.getCursorPosition(), { x: 300, y: 700 })
})

test('a click chooses the window that is typed into', async () => {
  const before_it = Buffer.from(await desktop.screenshot())
  await terminal('left', 20, 60)
  await terminal('right', 560, 400)
  for (const [name, x, y] of [['left', 150, 150], ['right', 700, 500], ['left', 150, 150]]) {
    await desktop.leftClick(x, y)
    await eventually(async () => assert.equal(await desktop.getWindowTitle(await desktop.getCurrentWindowId()), name))
    await desktop.write(`to the ${name} "ü"`)
    await desktop.press('enter')
  }
  await eventually(async () => assert.equal(await desktop.files.read('/tmp/right'), 'to the right "ü"\n'))
  await eventually(async () => assert.equal(await desktop.files.read('/tmp/left'), 'to the left "ü"\nto the left "ü"\n'))
  assert.notDeepEqual(Buffer.from(await desktop.screenshot()), before_it)
  assert.ok((await desktop.getApplicationWindows('xfce4-terminal')).length >= 2)
})

test('a browser starts and shows a page', async () => {
  await desktop.files.write('/home/user/page.html', '<title>A page of ours</title><body>shown')
  await (await desktop.commands.run('firefox-esr --new-instance file:///home/user/page.html', { background: true, timeoutMs: 0 })).disconnect()
  await eventually(async () => assert.match((await desktop.commands.run("xdotool search --onlyvisible --name 'A page of ours'")).stdout, /\d/), 180_000)
})

test('the screen is recorded', async () => {
  await desktop.commands.run('ffmpeg -loglevel error -y -f x11grab -video_size 1024x768 -i :0 -t 1 /tmp/screen.mp4', { timeoutMs: 120_000 })
  assert.ok((await desktop.files.getInfo('/tmp/screen.mp4')).size > 1000)
})

// What the port proxy answers for the host that the SDK's URL names.
const answer = (host, path, headers = {}) => new Promise((resolve, reject) => {
  const { hostname, port } = new URL(process.env.ATOLL_URL)
  const asked = http.request({ hostname, port, path, headers: { host, ...headers } }, (response) => {
    let body = ''
    response.on('data', (piece) => (body += piece)).on('end', () => resolve({ status: response.statusCode, body }))
  })
  asked.on('upgrade', (response, socket, head) => resolve({ status: response.statusCode, socket, head }))
  asked.on('error', reject).end()
})

test('noVNC streams through the port proxy, its WebSocket too', async () => {
  await desktop.stream.start({ requireAuth: true })
  const url = new URL(desktop.stream.getUrl({ authKey: desktop.stream.getAuthKey() }))
  assert.equal(url.host, desktop.getHost(6080))
  const page = await answer(url.host, url.pathname + url.search)
  assert.equal(page.status, 200)
  assert.match(page.body, /noVNC/)
  const { status, socket, head } = await answer(url.host, '/websockify', { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'), 'sec-websocket-protocol': 'binary' })
  assert.equal(status, 101)
  const said = await new Promise((resolve) => {
    let all = head
    const hear = (piece) => { all = Buffer.concat([all, piece]); if (all.length >= 14) resolve(all) }
    socket.on('data', hear)
    hear(Buffer.alloc(0))
  })
  socket.destroy()
  assert.equal(said[0], 0x82, 'one frame of bytes')
  assert.match(said.subarray(2, 14).toString(), /^RFB 003\.\d{3}\n$/, 'the words of a VNC server')
  await assert.rejects(desktop.stream.start(), /already running/)
  await desktop.stream.stop()
})
