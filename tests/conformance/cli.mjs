// E2B's command line as its tests drive it: run, typed into, and asked what it can do. What was used is counted, so that
// a command or an option that a newer release brings is noticed.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const program = join(process.env.SDK_DIR, 'node_modules', '.bin', 'e2b')
export const home = mkdtempSync(join(tmpdir(), 'e2b-cli-'))
export const removeHome = () => rmSync(home, { recursive: true, force: true })
const children = new Set()
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

export class Running {
  constructor(command, args, { env = {}, cwd = home } = {}) {
    this.out = this.err = ''
    this.child = spawn(command, args, { cwd, env: { ...process.env, HOME: home, NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1', ...env } })
    children.add(this.child)
    this.child.stdin.on('error', () => {})
    this.child.stdout.setEncoding('utf8').on('data', (text) => { this.out += text })
    this.child.stderr.setEncoding('utf8').on('data', (text) => { this.err += text })
    this.done = new Promise((resolve) => this.child.on('close', (status) => {
      children.delete(this.child)
      resolve({ status, out: this.out, text: this.out + this.err })
    }))
  }

  type(text) { this.child.stdin.write(text) }

  // What it has said, as soon as it fits.
  async said(pattern, ms = 60_000) {
    let over = false
    this.done.then(() => { over = true })
    for (const end = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
      const found = (this.out + this.err).match(pattern)
      if (found) return found
      assert.ok(!over && Date.now() < end, `waited for ${pattern}, and it said: ${this.out}${this.err}`)
    }
  }
}

const used = new Set()
let surface
// The commands and options as --help lists them: `sandbox exec` to a map of every spelling of an option to its long one.
export async function commands() {
  return (surface ??= new Map(await below([])))
}
async function below(words) {
  const { out } = await new Running(process.execPath, [program, ...words, '--help']).done
  const parts = out.split(/^(?=\w.*:)/m)
  const lines = (title) => (parts.find((part) => part.startsWith(title)) ?? '').split('\n').filter((line) => /^ {2}\S/.test(line))
  const names = lines('Commands:').map((line) => line.trim().split(/[ |]/)[0]).filter((name) => name !== 'help')
  if (names.length) return (await Promise.all(names.map((name) => below([...words, name])))).flat()
  const flags = lines('Options:').map((line) => line.match(/^ {2}(?:(-\w), )?(--[\w.-]+)/)).filter((found) => found && found[2] !== '--help')
  return [[words.join(' '), new Map(flags.flatMap(([, short, long]) => [[short ?? long, long], [long, long]]))]]
}
async function note(args) {
  const all = await commands()
  for (let words = 3; words > 0; --words) {
    const name = args.slice(0, words).join(' ')
    if (!all.has(name)) continue
    used.add(name)
    const end = args.indexOf('--')
    for (const word of args.slice(words, end < 0 ? undefined : end)) {
      const flag = all.get(name).get(word.split('=')[0])
      if (flag) used.add(`${name} ${flag}`)
    }
    return
  }
}

export async function start(args, options = {}) {
  await note(args)
  return new Running(process.execPath, [program, ...args], options)
}
// The same on a terminal.
export async function terminal(args, options = {}) {
  await note(args)
  const line = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ')
  return new Running('script', ['-qec', line, '/dev/null'], options)
}
export async function cli(args, { input = '', ...options } = {}) {
  const running = await start(args, options)
  running.child.stdin.end(input)
  return running.done
}
export async function ok(...args) {
  const options = typeof args.at(-1) === 'object' ? args.pop() : {}
  const done = await cli(args, options)
  assert.equal(done.status, 0, `e2b ${args.join(' ')}: ${done.text}`)
  return done
}

// Everything that --help lists and that nothing above has used.
export async function unused() {
  const all = [...await commands()].flatMap(([name, flags]) => [name, ...[...new Set(flags.values())].map((flag) => `${name} ${flag}`)])
  return all.filter((one) => !used.has(one))
}
