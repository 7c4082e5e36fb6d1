// Section 4 of the wire, line by line.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventually, interpreter, plane, sandbox } from './harness.mjs'

let box
before(async () => {
  box = await sandbox({ envs: { OF_SANDBOX: 'seen' } }, interpreter.Sandbox)
})
const ask = (method, path, message, options = {}) => plane(box, path, { method, port: 49999, body: message === undefined ? undefined : JSON.stringify(message),
  headers: { 'content-type': 'application/json' }, ...options })
async function execute(message) {
  const answer = await ask('POST', '/execute', message)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  assert.ok(text.endsWith('\n') && !text.includes('\n\n'), 'no line is empty')
  return text.trimEnd().split('\n').map((line) => JSON.parse(line))
}
const of = (lines, type) => lines.filter((one) => one.type === type)
const MEMBERS = ['type', 'is_main_result', 'text', 'html', 'markdown', 'svg', 'png', 'jpeg', 'pdf', 'latex', 'json', 'javascript', 'data', 'chart', 'extra']

test('events have the members they must have', async () => {
  const lines = await execute({ code: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n"quoted"' })
  assert.deepEqual([lines[0].type, lines.at(-1)], ['number_of_executions', { type: 'end_of_execution' }])
  for (const type of ['stdout', 'stderr']) {
    const [line] = of(lines, type)
    assert.deepEqual(Object.keys(line).sort(), ['text', 'timestamp', 'type'])
    assert.match(line.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)
  }
  assert.deepEqual(of(lines, 'result'), [{ type: 'result', is_main_result: true, text: 'quoted' }])
  const [error] = of(await execute({ code: 'def f():\n  raise ValueError("bad")\nf()' }), 'error')
  assert.deepEqual(Object.keys(error).sort(), ['name', 'traceback', 'type', 'value'])
  assert.deepEqual([error.name, error.value], ['ValueError', 'bad'])
  assert.doesNotMatch(error.traceback, /\u001b\[/)
  // What is nothing has no result.
  assert.deepEqual(of(await execute({ code: 'None' }), 'result'), [])
})

test('one pair of quotes is taken from texts', async () => {
  for (const [code, text] of [["'it'", 'it'], ['"a\'b"', "a'b"], ["\"'x'\"", "'x'"], ['["q"]', "['q']"], ["''", '']]) {
    assert.deepEqual(of(await execute({ code }), 'result').map((one) => one.text), [text], code)
  }
})

test('what is of no known kind is an extra', async () => {
  const code = `class Odd:
  def _repr_mimebundle_(self, **_): return {'text/plain': 'odd', 'application/x-own': 'own', 'text/markdown': '# m'}
Odd()`
  const [one] = of(await execute({ code }), 'result')
  assert.deepEqual([one.text, one.markdown, one.extra], ['odd', '# m', { 'application/x-own': 'own' }])
  for (const name of Object.keys(one)) assert.ok(MEMBERS.includes(name), name)
})

test('a silent run is kept alive', async () => {
  const lines = await execute({ code: 'import time; time.sleep(6)' })
  assert.deepEqual(lines.map((one) => one.type), ['number_of_executions', 'keepalive', 'end_of_execution'])
})

test('contexts are made, listed in order, started again and removed', async () => {
  const list = async () => (await ask('GET', '/contexts')).json()
  const before = await list()
  for (const language of ['python', 'javascript']) assert.equal(before.filter((one) => one.language === language && one.cwd === '/home/user').length, 1, language)
  const made = []
  for (const message of [{}, { language: 'javascript', cwd: '/tmp' }, { language: 'bash' }, { language: null, cwd: null }]) {
    const answer = await ask('POST', '/contexts', message)
    assert.equal(answer.status, 200)
    made.push(await answer.json())
    assert.deepEqual(Object.keys(made.at(-1)).sort(), ['cwd', 'id', 'language'])
  }
  assert.deepEqual(made.map((one) => [one.language, one.cwd]), [['python', '/home/user'], ['javascript', '/tmp'], ['bash', '/home/user'], ['python', '/home/user']])
  assert.deepEqual((await list()).slice(-4), made)
  const [first] = made
  await execute({ code: 'kept = 1', context_id: first.id })
  const restarted = await ask('POST', `/contexts/${first.id}/restart`)
  assert.deepEqual([restarted.status, await restarted.json()], [200, null])
  assert.equal(of(await execute({ code: 'kept', context_id: first.id }), 'error')[0].name, 'NameError')
  for (const one of made) {
    const removed = await ask('DELETE', `/contexts/${one.id}`)
    assert.deepEqual([removed.status, await removed.json()], [200, null])
    for (const gone of [ask('DELETE', `/contexts/${one.id}`), ask('POST', `/contexts/${one.id}/restart`), ask('POST', '/execute', { code: '1', context_id: one.id })]) {
      const answer = await gone
      assert.deepEqual([answer.status, await answer.text()], [404, `Context ${one.id} not found`])
      assert.match(answer.headers.get('content-type') ?? 'text/plain', /^text\/plain/)
    }
  }
  assert.deepEqual(await list(), before)
  for (const [message, status] of [[{ language: 'cobol' }, 400], [{ cwd: '/no/such' }, 500], [{ language: 7 }, 400]]) assert.equal((await ask('POST', '/contexts', message)).status, status, JSON.stringify(message))
  for (const body of ['{', '[]']) assert.equal((await plane(box, '/execute', { method: 'POST', port: 49999, body, headers: { 'content-type': 'application/json' } })).status, 400)
})

test('languages have their other names, and nulls are none', async () => {
  for (const language of ['js', 'javascript', 'ts', 'typescript']) assert.equal(of(await execute({ code: '6 * 7', language, context_id: null, env_vars: null }), 'result')[0].text, '42', language)
  assert.equal(of(await execute({ code: 'echo $((6*7))', language: 'bash' }), 'stdout').map((one) => one.text).join(''), '42\n')
  assert.equal(of(await execute({ code: '6 * 7', language: null }), 'result')[0].text, '42')
})

test('variables of the sandbox are seen, those of a run only in it', async () => {
  const value = async (code, message = {}) => of(await execute({ code, ...message }), 'result')[0]?.text ?? 'none'
  const code = 'import os; os.environ.get("OF_SANDBOX", "") + os.environ.get("OF_RUN", "")'
  assert.equal(await value(code), 'seen')
  assert.equal(await value(code, { env_vars: { OF_RUN: '+run', OF_SANDBOX: 'changed' } }), 'changed+run')
  assert.equal(await value(code), 'seen')
  const js = '(process.env.OF_SANDBOX ?? "") + (process.env.OF_RUN ?? "")'
  assert.equal(await value(js, { language: 'js', env_vars: { OF_RUN: '+run' } }), 'seen+run')
  assert.equal(await value(js, { language: 'js' }), 'seen')
})

test('a client that leaves interrupts, in every language', async () => {
  for (const [language, code, next, text] of [['python', 'import time\nprint("on", flush=True)\ntime.sleep(300)', '"back"', 'back'], ['javascript', 'console.log("on"); await new Promise((done) => setTimeout(done, 300000))', '"ba" + "ck"', 'back'],
    ['bash', 'echo on; sleep 300', 'echo back', 'back\n']]) {
    const gone = new AbortController()
    const answer = await ask('POST', '/execute', { code, language }, { signal: gone.signal })
    const reader = answer.body.getReader()
    await eventually(async () => assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /"on\\n"|"on/))
    gone.abort()
    const begun = Date.now()
    const lines = await execute({ code: next, language })
    assert.equal(of(lines, 'result')[0]?.text ?? of(lines, 'stdout').map((one) => one.text).join(''), text, language)
    assert.ok(Date.now() - begun < 20_000, `${language} is free again within seconds`)
  }
})

test('charts tell their ticks and scales', async () => {
  const chart = async (code) => of(await execute({ code: `import matplotlib.pyplot as plt\n${code}\nplt.show()` }), 'result').find((one) => one.chart).chart
  const line = await chart('plt.plot([1, 10, 100], [1, 2, 3], label="l")\nplt.xscale("log")\nplt.xlabel("f (Hz)")')
  assert.deepEqual(Object.keys(line).sort(), ['elements', 'title', 'type', 'x_label', 'x_scale', 'x_tick_labels', 'x_ticks', 'x_unit', 'y_label', 'y_scale', 'y_tick_labels', 'y_ticks', 'y_unit'])
  assert.deepEqual([line.x_scale, line.y_scale, line.x_unit, line.y_label, line.title], ['log', 'linear', 'Hz', null, null])
  const dates = await chart('import datetime\nplt.plot([datetime.datetime(2026, 1, day) for day in (1, 2)], [1, 2])')
  assert.equal(dates.x_scale, 'datetime')
  const words = await chart('plt.plot(["a", "b"], [1, 2])')
  assert.equal(words.x_scale, 'categorical')
  const bars = await chart('plt.bar(["a", "b"], [1, 2], label="g")')
  assert.deepEqual(bars.elements, [{ label: 'a', group: 'g', value: 1 }, { label: 'b', group: 'g', value: 2 }].map((one) => ({ ...one, value: bars.elements.find((each) => each.label === one.label).value })))
  const boxes = await chart('plt.boxplot([[1, 2, 3, 4, 5]])')
  assert.deepEqual(Object.keys(boxes.elements[0]).sort(), ['first_quartile', 'label', 'max', 'median', 'min', 'outliers', 'third_quartile'])
  const pie = await chart('plt.pie([1, 1], labels=["a", "b"])')
  assert.deepEqual(Object.keys(pie.elements[0]).sort(), ['angle', 'label', 'radius'])
})
