import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { interpreter, plane, sandbox, sleep, without } from './harness.mjs'

const { Sandbox } = interpreter
let box
before(async () => {
  box = await sandbox({}, Sandbox)
})

test('an expression has a value', async () => {
  const run = await box.runCode('1 + 1')
  assert.equal(run.text, '2')
  assert.equal(run.error, undefined)
  assert.ok(run.executionCount >= 1)
})

test('variables stay', async () => {
  await box.runCode('x = 41')
  assert.equal((await box.runCode('x + 1')).text, '42')
})

test('output streams and is collected', async () => {
  const seen = []
  const run = await box.runCode('import sys\nprint("out")\nprint("err", file=sys.stderr)', {
    onStdout: (message) => seen.push(message.line),
  })
  assert.equal(run.logs.stdout.join(''), 'out\n')
  assert.equal(run.logs.stderr.join(''), 'err\n')
  assert.equal(seen.join(''), 'out\n')
})

test('an exception is an error with its traceback', async () => {
  const run = await box.runCode('1/0')
  assert.equal(run.error.name, 'ZeroDivisionError')
  assert.equal(run.error.value, 'division by zero')
  assert.match(run.error.traceback, /ZeroDivisionError/)
  const after = await box.runCode('"alive"')
  assert.equal(after.text, 'alive')
})

test('a syntax error', async () => {
  assert.equal((await box.runCode('def :')).error.name, 'SyntaxError')
})

test('unicode both ways', async () => {
  assert.equal((await box.runCode('print("漢字 🦀")')).logs.stdout.join(''), '漢字 🦀\n')
})

test('contexts are apart', async () => {
  const context = await box.createCodeContext({ language: 'python', cwd: '/tmp' })
  await box.runCode('y = 1')
  const run = await box.runCode('y', { context })
  assert.equal(run.error.name, 'NameError')
  assert.equal((await box.runCode('import os; os.getcwd()', { context })).text, '/tmp')
  if (box.listCodeContexts) {
    assert.ok((await box.listCodeContexts()).some((one) => one.id === context.id))
    await box.restartCodeContext(context)
    await box.removeCodeContext(context)
    await assert.rejects(box.runCode('1', { context }), /not found/)
  }
})

test('javascript', { skip: without('node') }, async () => {
  const run = await box.runCode('const a = 2; a * 3', { language: 'javascript' })
  assert.equal(run.text, '6')
  const logged = await box.runCode('console.log("from js")', { language: 'js' })
  assert.equal(logged.logs.stdout.join(''), 'from js\n')
  const thrown = await box.runCode('throw new TypeError("bad")', { language: 'javascript' })
  assert.equal(thrown.error.name, 'TypeError')
})

test('typescript runs in the context of javascript', { skip: without('node') }, async () => {
  const js = (code) => box.runCode(code, { language: 'javascript' })
  const ts = (code) => box.runCode(code, { language: 'ts' })
  await js('const shared = 20')
  const typed = await ts('interface P { n: number }\nconst p: P = { n: shared }; enum E { A = 1 }\np.n + E.A')
  assert.equal(typed.text, '21', JSON.stringify(typed.error))
  const after = await js('p.n + E.A + 1')
  assert.equal(after.text, '22')
  assert.equal(after.executionCount, typed.executionCount + 1, 'one counter')
  assert.equal((await box.runCode('const t: string = "x"; t', { language: 'typescript' })).text, 'x')
  assert.equal((await js('const n: number = 1')).error.name, 'SyntaxError')
  if (!box.listCodeContexts) return
  const listed = (await box.listCodeContexts()).map((one) => one.language)
  assert.equal(listed.filter((one) => one === 'javascript').length, 1)
  assert.ok(!listed.includes('typescript'))
  // One that is made for TypeScript is apart, and needs no word at each run.
  const context = await box.createCodeContext({ language: 'typescript' })
  assert.equal(context.language, 'typescript')
  assert.equal((await box.runCode('const own: number = 5; own', { context })).text, '5')
  assert.equal((await box.runCode('typeof shared', { context })).text, 'undefined')
  await box.removeCodeContext(context)
})

test('bash', async () => {
  const run = await box.runCode('echo $((6*7))', { language: 'bash' })
  assert.equal(run.logs.stdout.join(''), '42\n')
})

test('a language without an interpreter is refused', async () => {
  await assert.rejects(box.runCode('1', { language: 'cobol' }))
})

test('env vars for one run', async () => {
  const run = await box.runCode('import os; os.environ.get("ONE")', { envs: { ONE: 'here' } })
  assert.equal(run.text, 'here')
  assert.notEqual((await box.runCode('import os; os.environ.get("ONE")')).text, 'here')
})

test('a client that gives up interrupts the kernel', async () => {
  await assert.rejects(box.runCode('import time; time.sleep(300)', { timeoutMs: 1_000 }))
  const begin = Date.now()
  assert.equal((await box.runCode('5')).text, '5')
  assert.ok(Date.now() - begin < 10_000)
})

test('native code that hears no interrupt costs no variables', { skip: without('spares') }, async () => {
  await box.runCode('kept = [1, 2, 3]')
  await sleep(1_000) // a copy is made when nothing runs
  await assert.rejects(box.runCode('kept.append(4)\nsum(range(10**15))', { timeoutMs: 1_000 }))
  assert.equal((await box.runCode('kept')).text, '[1, 2, 3]')
})

test('contexts and languages exclude each other', async () => {
  const response = await plane(box, '/execute', {
    port: 49999, method: 'POST', body: JSON.stringify({ code: '1', context_id: 'a', language: 'python' }),
    headers: { 'content-type': 'application/json' } })
  assert.equal(response.status, 400)
  assert.equal(await response.text(), 'Only one of context_id or language can be provided')
})

test('an unknown context is not found, in plain text', async () => {
  const response = await plane(box, '/execute', {
    port: 49999, method: 'POST', body: JSON.stringify({ code: '1', context_id: 'nope' }),
    headers: { 'content-type': 'application/json' } })
  assert.equal(response.status, 404)
  assert.equal(await response.text(), 'Context nope not found')
})

test('a killed sandbox ends a run', async () => {
  const other = await sandbox({}, Sandbox)
  const broken = assert.rejects(other.runCode('import time; time.sleep(60)'))
  await sleep(700)
  await other.kill()
  await broken
})

test('display data and data frames', async () => {
  const run = await box.runCode('class A:\n  def _repr_html_(self): return "<b>x</b>"\nA()')
  assert.equal(run.results[0].html, '<b>x</b>')
})
