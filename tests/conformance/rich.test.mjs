// Rich results of the interpreter. Libraries must be there: `scripts/setup test` installs them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { interpreter, plane, sandbox } from './harness.mjs'

const { Sandbox } = interpreter
let box
before(async () => {
  box = await sandbox({}, Sandbox)
})
async function run(code, options) {
  const done = await box.runCode(code, options)
  assert.equal(done.error, undefined, done.error?.traceback)
  return done
}
const plot = async (lines) => {
  const { results } = await run(`import matplotlib.pyplot as plt\n${lines}\nplt.show()`)
  const found = results.find((one) => one.chart)
  assert.ok(found?.png, 'a picture comes with the chart')
  return found.chart
}
const post = (body) => plane(box, '/execute', { port: 49999, method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

test('a line chart tells its points, labels and units', async () => {
  const chart = await plot("plt.plot([1, 2], [3, 4], label='l')\nplt.title('t')\nplt.xlabel('time (s)')\nplt.ylabel('y')")
  assert.equal(chart.type, 'line')
  assert.deepEqual([chart.title, chart.x_label, chart.x_unit, chart.y_label, chart.y_unit], ['t', 'time (s)', 's', 'y', null])
  assert.deepEqual(chart.elements, [{ label: 'l', points: [[1, 3], [2, 4]] }])
  assert.equal(chart.x_scale, 'linear')
})

test('scatter, bar, pie and box charts', async () => {
  const scatter = await plot("plt.scatter([1, 2], [3, 4], label='s')")
  assert.equal(scatter.type, 'scatter')
  assert.deepEqual(scatter.elements[0].points, [[1, 3], [2, 4]])
  const bar = await plot("plt.bar(['a', 'b'], [1, 2])")
  assert.equal(bar.type, 'bar')
  assert.deepEqual(bar.elements.map((one) => [one.label, Number(one.value)]), [['a', 1], ['b', 2]])
  const pie = await plot("plt.pie([1, 3], labels=['q', 'r'])")
  assert.equal(pie.type, 'pie')
  assert.deepEqual(pie.elements.map((one) => [one.label, Math.round(one.angle)]), [['q', 90], ['r', 270]])
  const boxes = await plot("plt.boxplot([[1, 2, 3, 4, 100]], labels=['z'])")
  assert.equal(boxes.type, 'box_and_whisker')
  assert.equal(boxes.elements[0].median, 3)
  assert.deepEqual(boxes.elements[0].outliers, [100])
})

test('two charts in one figure are a superchart', async () => {
  const chart = await plot('figure, (a, b) = plt.subplots(1, 2)\na.plot([1], [2])\nb.bar(["x"], [3])')
  assert.equal(chart.type, 'superchart')
  assert.deepEqual(chart.elements.map((one) => one.type), ['line', 'bar'])
})

test('a data frame has a table, its columns and its text', async () => {
  const { results: [frame] } = await run("import pandas\npandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']})")
  assert.deepEqual(frame.data, { a: [1, 2], b: ['x', 'y'] })
  assert.match(frame.html, /<table/)
  assert.ok(frame.text.includes('a'))
  const dated = await run("pandas.DataFrame({'when': [pandas.Timestamp('2026-01-02T03:04:05')]})")
  assert.match(String(dated.results[0].data.when[0]), /^2026-01-02T03:04:05/)
})

test('every representation reaches its member', async () => {
  const code = `class All:
  def _repr_html_(self): return '<i>h</i>'
  def _repr_markdown_(self): return '# m'
  def _repr_svg_(self): return '<svg/>'
  def _repr_latex_(self): return '$l$'
  def _repr_json_(self): return {'j': [1, None]}
  def _repr_javascript_(self): return 'j()'
  def _repr_png_(self): return b'\\x89PNG'
  def _repr_jpeg_(self): return b'\\xff\\xd8'
  def _repr_pdf_(self): return b'%PDF'
  def __repr__(self): return 'text'
All()`
  const { results: [one] } = await run(code)
  assert.deepEqual([one.text, one.html, one.markdown, one.svg, one.latex, one.javascript], ['text', '<i>h</i>', '# m', '<svg/>', '$l$', 'j()'])
  assert.deepEqual(one.json, { j: [1, null] })
  assert.deepEqual([one.png, one.jpeg, one.pdf].map((each) => Buffer.from(each, 'base64').toString('latin1')), ['\x89PNG', '\xff\xd8', '%PDF'])
  assert.equal(one.isMainResult, true)
})

test('what is displayed on the way is no main result', async () => {
  const { results } = await run("class P:\n  def _repr_html_(self): return '<p>1</p>'\ndisplay(P())\n2")
  assert.deepEqual(results.map((one) => one.isMainResult), [false, true])
  assert.equal(results[0].html, '<p>1</p>')
})

test('what IPython displays is displayed', async () => {
  const { results, logs } = await run("from IPython.display import display, HTML\ndisplay(HTML('<p>1</p>'))")
  assert.deepEqual(results.map((one) => one.html), ['<p>1</p>'])
  assert.deepEqual(logs.stdout, [])
})

test('typescript keeps its variables, and javascript is not typescript', async () => {
  assert.equal((await run('interface P { n: number }\nconst p: P = { n: 1 }\np.n + 20', { language: 'typescript' })).text, '21')
  assert.equal((await run('enum E { A = 4 }\n(E.A as number) + p.n', { language: 'ts' })).text, '5')
  const bad = await box.runCode('const n: number = 1', { language: 'javascript' })
  assert.equal(bad.error.name, 'SyntaxError', 'types are no JavaScript')
  const context = await box.createCodeContext({ language: 'typescript' })
  assert.equal(context.language, 'typescript')
  assert.equal((await run('const q: string = "own"; q', { context })).text, 'own')
})

test('top-level await, imports and objects of javascript', async () => {
  assert.equal((await run('await Promise.resolve(5)', { language: 'javascript' })).text, '5')
  assert.equal((await run("import { basename } from 'node:path'\nbasename('/a/b')", { language: 'javascript' })).text, 'b')
  assert.match((await run('({ a: [1, 2] })', { language: 'javascript' })).text, /a: \[ 1, 2 \]/)
})

test('the interpreter takes no name from javascript', async () => {
  const names = 'const fs = require("fs"), fd = 1, h = 2, b = 3, n = 4, s = 5; typeof fs.readFileSync + n'
  assert.equal((await run(names, { language: 'javascript' })).text, 'function4')
})

test('shell escapes in python', async () => {
  assert.equal((await run('!echo from-shell')).logs.stdout.join('').trim(), 'from-shell')
})

test('the number comes first and counts each context', async () => {
  const context = await box.createCodeContext({ language: 'python' })
  for (const [code, number] of [['1', 1], ['print("x")', 2], ['1/0', 3], ['def :', 4], ['None', 5]]) {
    const lines = (await (await post({ code, context_id: context.id })).text()).trimEnd().split('\n').map((one) => JSON.parse(one))
    assert.deepEqual(lines[0], { type: 'number_of_executions', execution_count: number }, code)
    assert.equal(lines.filter((one) => one.type === 'number_of_executions').length, 1)
    assert.equal(lines.at(-1).type, 'end_of_execution')
  }
  if (box.restartCodeContext) {
    await box.restartCodeContext(context)
    assert.equal((await box.runCode('1', { context })).executionCount, 1)
  }
})

test('the number is told while the code still runs', async () => {
  const response = await post({ code: 'import time\nprint("now", flush=True)\ntime.sleep(3)' })
  const reader = response.body.getReader()
  const first = new TextDecoder().decode((await reader.read()).value).split('\n')[0]
  assert.equal(JSON.parse(first).type, 'number_of_executions')
  await reader.cancel()
})

test('executions of one context wait for each other, others do not', async () => {
  const other = await box.createCodeContext({ language: 'python' })
  const slow = run('import time; time.sleep(1.5); "slow"')
  const queued = run('"queued"')
  assert.equal((await run('"beside"', { context: other })).text, 'beside')
  assert.deepEqual([(await slow).text, (await queued).text], ['slow', 'queued'])
})

test('long output of code arrives whole and in order', async () => {
  const { logs } = await run('for i in range(20000): print(i)')
  assert.equal(logs.stdout.join(''), Array.from({ length: 20000 }, (_, i) => `${i}\n`).join(''))
})

test('an interpreter that dies is told, and the next run works', async () => {
  const died = await box.runCode('import os; os._exit(7)')
  assert.ok(died.error, 'the end of the interpreter is an error')
  assert.equal((await box.runCode('"alive"')).text, 'alive')
  const context = await box.createCodeContext({ language: 'python' })
  assert.ok((await box.runCode('import os; os.kill(os.getpid(), 9)', { context })).error)
  assert.equal((await run('"alive"', { context })).text, 'alive')
  for (const [language, death, life] of [['javascript', 'process.exit(3)', '"ali" + "ve"'], ['bash', 'exit 3', 'echo alive']]) {
    assert.ok((await box.runCode(death, { language })).error)
    const next = await box.runCode(life, { language })
    assert.equal(next.text ?? next.logs.stdout.join('').trim(), 'alive', language)
  }
})
