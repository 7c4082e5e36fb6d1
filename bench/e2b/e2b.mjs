// Times in milliseconds, the SDK's own included. The first three rows follow the ComputeSDK method: create a sandbox,
// run one command, one after the other, staggered by 100 ms, and all at once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const baseline = spawn(process.execPath, [join(import.meta.dirname, 'baseline.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
const baselineUrl = String((await once(baseline.stdout, 'data'))[0]).trim()
const load = createRequire(join(process.env.SDK_DIR, 'package.json'))
const { Sandbox } = load('e2b')
const { Sandbox: Interpreter } = load('@e2b/code-interpreter')
const rounds = Number(process.env.ROUNDS ?? 100)
const megabytes = 100
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const ended = []

async function timed(work) {
  const begun = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - begun) / 1e6
}
async function createAndRun(where = {}) {
  const box = await Sandbox.create({ timeoutMs: 600_000, ...where })
  ended.push(box)
  const { stdout } = await box.commands.run('echo ready')
  if (stdout !== 'ready\n') throw new Error('wrong answer')
}
async function endAll() {
  await Promise.all(ended.splice(0).map((box) => box.kill()))
  await sleep(1500)  // pools fill again
}
async function sequential(count, where) {
  const times = []
  for (let i = 0; i < count; i++) {
    times.push(await timed(() => createAndRun(where)))
    await ended.pop().kill()
    await sleep(20)
  }
  return { times, wanted: count }
}
async function together(count, gap, where) {
  const runs = Array.from({ length: count }, async (_, i) => {
    await sleep(i * gap)
    return timed(() => createAndRun(where))
  })
  const times = (await Promise.allSettled(runs)).filter((one) => one.status === 'fulfilled').map((one) => one.value)
  await endAll()
  return { times, wanted: count }
}
async function repeated(count, work) {
  const times = []
  for (let i = 0; i < count; i++) times.push(await timed(work))
  return { times, wanted: count }
}
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
const shown = (value) => (value === undefined ? '-' : value < 10 ? value.toFixed(2) : value < 1000 ? value.toFixed(1) : value.toFixed(0))
function row(name, { times, wanted }, goal = '') {
  const sorted = [...times].sort((a, b) => a - b)
  const cells = [0.5, 0.95, 0.99, 1].map((share) => shown(at(sorted, share)))
  console.log(`| ${name} | ${cells.join(' | ')} | ${times.length} of ${wanted} | ${goal} |`)
}

const alone = { apiUrl: baselineUrl, sandboxUrl: baselineUrl }
await sequential(5)  // the SDK's own warm-up
await sequential(5, alone)
await endAll()
console.log(`## e2b\n\nThe official npm \`e2b\` ${load('e2b/package.json').version} on loopback, its own time included, in ms.\n`)
console.log('| | p50 | p95 | p99 | max | succeeded | goal (p50) |\n|---|---|---|---|---|---|---|')
row('create and first command, one after the other', await sequential(rounds), '10')
row('the same, of a server that answers at once: the SDK alone', await sequential(rounds, alone))
await endAll()
row('create and first command, one every 100 ms', await together(Math.min(rounds, 100), 100))
row('create and first command, 100 at once', await together(100, 0), '150, all succeed')
row('the same, of a server that answers at once: the SDK alone', await together(100, 0, alone))
const box = await Sandbox.create({ timeoutMs: 600_000 })
row('`commands.run("true")`', await repeated(rounds, () => box.commands.run('true')))
const code = await Interpreter.create({ timeoutMs: 600_000 })
await code.runCode('1+1')
row('`runCode("1+1")`', await repeated(rounds, () => code.runCode('1+1')), '3')
const bytes = new Uint8Array(megabytes << 20)
row(`${megabytes} MB up`, await repeated(3, () => box.files.write('/home/user/big', bytes.buffer, { requestTimeoutMs: 0 })))
row(`${megabytes} MB down`, await repeated(3, () => box.files.read('/home/user/big', { format: 'bytes', requestTimeoutMs: 0 })))
await Promise.all([box.kill(), code.kill()])
baseline.kill()
process.exit(0)
