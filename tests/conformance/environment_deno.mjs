// Deno where the environment `deno`, or another that DENO_ENVIRONMENT names, has it. Run by tests/env/run-long deno.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { interpreter } from './harness.mjs'

let box
const run = (code, options) => box.runCode(code, { language: 'deno', ...options })
const text = async (code, options) => (await run(code, options)).text

before(async () => {
  box = await interpreter.Sandbox.create(process.env.DENO_ENVIRONMENT ?? 'deno', { envs: { V: 'supertest' } })
})
after(() => box?.kill())

test('Deno is an interpreter: output, values, types, waiting', async () => {
  assert.deepEqual((await run('console.log("Hello, World!")')).logs.stdout, ['Hello, World!\n'])
  assert.equal(await text('const add = (x, y) => x + y;\nadd(1, 2)'), '3')
  assert.equal(await text('function less(x: number, y: number): number {\n  return x - y;\n}\n\nless(1, 2)\n'), '-1')
  assert.equal(await text('\n    async function main() {\n        return "Hello, World!"\n    }\n\n    await main()\n    '), 'Hello, World!')
})

test('names stay, and may be declared again', async () => {
  await run('const z = 1')
  assert.equal(await text('z'), '1')
  assert.equal(await text('const z: string = "again"; z'), 'again')
  const other = await box.createCodeContext({ language: 'deno', cwd: '/home' })
  assert.equal(other.language, 'deno')
  assert.equal((await box.runCode('typeof z + process.cwd()', { context: other })).text, 'undefined/home')
})

test('it begins in the home of the user, with the variables of the sandbox and of the run', async () => {
  assert.equal(await text('Deno.cwd()'), '/home/user')
  assert.equal(await text('Deno.env.get("V")'), 'supertest')
  assert.equal(await text('Deno.env.get("V")', { envs: { V: 'overwrite' } }), 'overwrite')
  assert.equal(await text('Deno.env.get("V")'), 'supertest')
  assert.equal(await text('Deno.env.get("W")', { envs: { W: 'bar' } }), 'bar')
  assert.equal(await text('Deno.env.get("W") ?? "default"'), 'default')
})

test('errors have a name, a value and the frames of the cell', async () => {
  const { error } = await run('function f() { throw new RangeError("bad") }\nf()')
  assert.equal(error.name, 'RangeError')
  assert.equal(error.value, 'bad')
  assert.match(error.traceback, /^RangeError: bad\n {4}at f \(<cell \d+>:1:22\)\n {4}at <cell \d+>:2:1$/)
})

test('what is shown with Deno.jupyter is a result', async () => {
  const { results } = await run('await Deno.jupyter.display(Deno.jupyter.html`<b>${1 + 1}</b>`); Deno.jupyter.md`# title`')
  assert.equal(results[0].html, '<b>2</b>')
  assert.equal(results[1].markdown, '# title')
  assert.deepEqual(results.map((one) => one.isMainResult), [false, true])
})

test('modules are imported, files beside the interpreter too', async () => {
  await box.files.write('/home/user/own.ts', 'export const word: string = "own"\nexport default (n: number) => n * 2\n')
  assert.equal(await text('import twice, { word } from "./own.ts"\nimport { join } from "node:path"\njoin(word, `${twice(4)}`)'), 'own/8')
})

test('a cell that is left is interrupted, and a loop that hears nothing ends its interpreter', async () => {
  await run('const kept = 5')
  await assert.rejects(run('await new Promise(() => {})', { timeoutMs: 1000 }))
  assert.equal(await text('kept'), '5')
  await assert.rejects(run('for (;;);', { timeoutMs: 1000 }))
  const waiting = await run('typeof kept')  // it may have waited behind the loop, and then ends with it
  if (waiting.error) assert.equal(waiting.error.name, 'ExecutionAborted')
  const after = waiting.error ? await run('typeof kept') : waiting
  assert.equal(after.text, 'undefined')
  assert.match(after.logs.stderr.join(''), /interpreter is a new one/)
})
