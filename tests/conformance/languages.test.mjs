// R and Java, and what interpreters of every language know about their sandbox.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { interpreter, plane, sandbox } from './harness.mjs'

const { Sandbox } = interpreter
let box
before(async () => {
  box = await sandbox({}, Sandbox)
})
const r = (code, options) => box.runCode(code, { language: 'r', ...options })
const java = (code, options) => box.runCode(code, { language: 'java', ...options })
const execute = (target, body) =>
  plane(target, '/execute', { port: 49999, method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

test('r keeps its variables and shows the last value', async () => {
  const first = await r('x <- c(1, 2, 3)')
  assert.equal(first.error, undefined, JSON.stringify(first.error))
  assert.equal(first.results.length, 0)
  const run = await r('cat("out\\n"); message("err"); mean(x)')
  assert.equal(run.text, '[1] 2')
  assert.equal(run.logs.stdout.join(''), 'out\n')
  assert.equal(run.logs.stderr.join(''), 'err\n')
  assert.equal(run.executionCount, first.executionCount + 1)
})

test('errors of r have a name, a value and the calls', async () => {
  const run = await r('f <- function() stop("bad")\nf()')
  assert.equal(run.error.name, 'simpleError')
  assert.equal(run.error.value, 'bad')
  assert.match(run.error.traceback, /Error in f\(\) : bad/)
  assert.equal((await r('1 +')).error.name, 'parseError')
})

test('drawings and tables of r are rich results', async () => {
  const drawn = await r('plot(1:3)')
  assert.ok(drawn.results[0].png.startsWith('iVBORw0KGgo'), JSON.stringify(drawn.error))
  const table = await r('data.frame(a = 1:2, b = c("x", NA))')
  assert.deepEqual(table.results[0].data, { a: [1, 2], b: ['x', null] })
  assert.match(table.results[0].html, /<th>a<\/th>/)
})

test('java keeps its variables and shows the last value', async () => {
  const first = await java('int x = 20;')
  assert.equal(first.error, undefined, JSON.stringify(first.error))
  const run = await java('System.out.println("out"); System.err.println("err"); x + 1')
  assert.equal(run.text, '21')
  assert.equal(run.logs.stdout.join(''), 'out\n')
  assert.equal(run.logs.stderr.join(''), 'err\n')
  assert.equal((await java('List.of(1, 2).stream().mapToInt(i -> i).sum()')).text, '3')
})

test('errors of java have a name, a value and the frames', async () => {
  const run = await java('int f() { throw new IllegalStateException("bad"); }\nf()')
  assert.equal(run.error.name, 'java.lang.IllegalStateException')
  assert.equal(run.error.value, 'bad')
  assert.match(run.error.traceback, /at f \(#\d+:1\)/)
  assert.equal((await java('String s = 5;')).error.name, 'CompilationError')
})

test('variables of one run end with it', async () => {
  assert.equal((await r('Sys.getenv("A")', { envs: { A: 'one' } })).text, '[1] "one"')
  assert.equal((await r('Sys.getenv("A")')).text, '[1] ""')
  assert.equal((await java('System.getenv("A")', { envs: { A: 'one' } })).text, 'one')
  assert.equal((await java('System.getenv("A")')).text, 'null')
})

test('a run that the client gives up is interrupted', async () => {
  await assert.rejects(r('Sys.sleep(300)', { timeoutMs: 1000 }))
  assert.equal((await r('x[3]')).text, '[1] 3', 'and its context stays')
  await assert.rejects(java('Thread.sleep(300000);', { timeoutMs: 1000 }))
  assert.equal((await java('x')).text, '20')
})

test('an interpreter that ended is started again', async () => {
  await r('quit(status = 3)')
  assert.equal((await r('exists("x")')).text, '[1] FALSE')
  await java('System.exit(3);')
  assert.equal((await java('6 * 7')).text, '42')
})

test('their contexts are listed and apart', async (t) => {
  for (const [language, code, text] of [['r', 'getwd()', '[1] "/tmp"'], ['java', 'System.getProperty("user.dir")', '/tmp']]) {
    const context = await box.createCodeContext({ language, cwd: '/tmp' })
    assert.equal(context.language, language)
    assert.equal((await box.runCode(code, { context })).text, text)
    if (!box.listCodeContexts) continue
    const listed = (await box.listCodeContexts()).filter((one) => one.language === language)
    assert.equal(listed.length, 2, 'the default one and this')
    await box.removeCodeContext(context)
  }
})

test('interpreters know which sandbox they are in', async () => {
  const id = box.sandboxId
  assert.equal((await box.runCode("import os; os.environ['E2B_SANDBOX_ID'] + os.environ['E2B_SANDBOX']")).text, `${id}true`)
  assert.equal((await box.runCode('process.env.E2B_SANDBOX_ID', { language: 'javascript' })).text, id)
  assert.equal((await box.runCode('echo $E2B_SANDBOX_ID', { language: 'bash' })).logs.stdout.join(''), `${id}\n`)
  assert.equal((await r('cat(Sys.getenv("E2B_SANDBOX_ID"))')).logs.stdout.join(''), id)
  assert.equal((await java('System.getenv("E2B_SANDBOX_ID")')).text, id)
  const context = await box.createCodeContext({})
  assert.equal((await box.runCode("import subprocess; subprocess.getoutput('echo $E2B_SANDBOX_ID')", { context })).text, id)
})

test('a sandbox without an interpreter says what to install', async () => {
  const bare = await sandbox({ envs: { PATH: '/nonexistent' } }, Sandbox)
  for (const [language, names] of [['r', /no interpreter for r in this environment.*r-base-core/], ['java', /no interpreter for java in this environment.*openjdk/],
    ['deno', /no interpreter for deno in this environment.*npm's deno.*`deno` is shipped/]]) {
    const response = await execute(bare, { code: '1', language })
    assert.equal(response.status, 400)
    assert.match(await response.text(), names)
  }
})

// The original's supervision: there a server inside is started again, here there is none to kill but the interpreter.
test('an interpreter that is killed from inside is there again at the next run', async () => {
  const own = await sandbox({}, Sandbox)
  // A run of the same moment is given to the dead interpreter, and is told so.
  const recovered = async (code, language) => {
    const run = await own.runCode(code, { language })
    return run.error ? own.runCode(code, { language }) : run
  }
  for (let round = 0; round < 3; round += 1) {
    const { text: pid } = await own.runCode('import os; os.getpid()')
    await own.commands.run(`kill -9 ${pid}`, { user: 'root' })
    assert.equal((await recovered('x = 1; x', 'python')).text, '1')
    const { text: other } = await own.runCode('process.pid', { language: 'js' })
    await own.commands.run(`kill -9 ${other}`, { user: 'root' })
    const run = await recovered('6 * 7', 'js')
    assert.equal(run.text, '42')
    assert.match(run.logs.stderr.join(''), /interpreter is a new one/)
  }
  const inside = await own.commands.run('curl --noproxy "*" -s -o /dev/null http://0.0.0.0:49999/health; echo $?')
  assert.equal(inside.stdout, '7\n', 'nothing listens on the port of the code interpreter inside')
})

test('other languages are refused with their name', async () => {
  const response = await execute(box, { code: '1', language: 'cobol' })
  assert.equal(response.status, 400)
  assert.match(await response.text(), /No interpreter for language 'cobol'/)
})
