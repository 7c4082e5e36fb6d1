// What clients of E2B's code interpreter expect of it, as its own live tests do: each check says which of their subjects it is about.
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
const contextsOf = async (target) => (await plane(target, '/contexts', { port: 49999 })).json()
const createContext = async (target, body) =>
  plane(target, '/contexts', { port: 49999, method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

// ---- magics

test('times are told, and what was timed has its value', async () => {
  const line = await run('x = 20\n%time x + 1')
  assert.equal(line.text, '21')
  assert.match(line.logs.stdout.join(''), /^CPU times: user .*, sys: .*, total: .*\nWall time: .*\n$/)
  const cell = await run('%%time\ny = x * 2\ny + 2')
  assert.equal(cell.text, '42')
  assert.match(cell.logs.stdout.join(''), /Wall time: /)
  assert.match((await run('%timeit -n 10 -r 3 x + 1')).logs.stdout.join(''), /per loop \(mean ± std\. dev\. of 3 runs, 10 loops each\)/)
  assert.match((await run('%%timeit -n2 -r2 z = 5\nz + 1')).logs.stdout.join(''), /of 2 runs, 2 loops each/)
  const wrong = await box.runCode('%%time\n1 / 0')
  assert.equal(wrong.error.name, 'ZeroDivisionError')
  assert.match(wrong.error.traceback, /line 2/)
})

test('a cell is captured, shown as what it says, or run from a file', async () => {
  assert.deepEqual((await run('%%capture kept\nprint("quiet")')).logs.stdout, [])
  assert.equal((await run('kept.stdout.strip()')).text, 'quiet')
  const shown = await run('%%html\n<b>bold</b>')
  assert.equal(shown.results[0].html, '<b>bold</b>')
  await run('%%writefile /tmp/given.py\nimport sys\nmade = sys.argv[1:]')
  await run('%run /tmp/given.py one "two three"')
  assert.equal((await run('made')).text, "['one', 'two three']")
  assert.equal((await run('%pwd')).text, '/home/user')
  assert.match((await run('%who')).logs.stdout.join(''), /made/)
  assert.match((await run('%lsmagic')).logs.stdout.join(''), /%timeit .*%%capture/)
  assert.match((await box.runCode('%nothing')).error.value, /there is no %nothing here/)
})

// ---- indentation

test('a cell may be indented as a whole', async () => {
  assert.equal((await run('\n    x = 1\n    x')).text, '1')
  assert.equal((await run('\n\n\t\ty = 2\n\n\t\tif y:\n\t\t\ty += 1\n\t\ty\n')).text, '3')
  assert.equal((await run('    # a comment first\n    z = 4\n    z\n    ')).text, '4')
  assert.deepEqual((await run('\n    !echo shell\n    print("python")')).logs.stdout.join(''), 'shell\npython\n')
  assert.equal((await run('    %%bash\n    echo cell')).logs.stdout.join(''), 'cell\n')
  assert.equal((await run('\n    await_me = 5\n    import asyncio\n    await asyncio.sleep(0)\n    await_me')).text, '5')
  const wrong = await box.runCode('\n    a = 1\n  b = 2')
  assert.equal(wrong.error.name, 'IndentationError')
  const line = await box.runCode('\n    first = 1\n    1/0')
  assert.match(line.error.traceback, /line 3/, 'lines are those of the cell that was sent')
})

// The measure is the real one: python3-ipython, inside the same sandbox.
test('indentation is taken away as IPython does it', async () => {
  const cells = ['    out = 1', '\n    out = 1\n    out += 1', '\t out = "tab and space"\n\t out += "!"', '  if 1:\n    out = 2\n  else:\n    out = 3',
    '    out = """a\n    b\n  c\n        d"""', '    out = [\n  1,\n    2]', '\n   \n\t\n    out = 4', '    out = 5\n\n\n    out = 6', '    out = 1\n  out = 2', '  out = 1\n    out = 2',
    '\tout = 1\n        out = 2', '    def f():\n        """text\n        more"""\n        return f.__doc__\n    out = f()', 'out = 1\n    out = 2', '', '   ', '    # only a comment',
    '    out = 1\r\n    out += 1', '    out = "a\\\n    b"', '\x0c    out = 7', '    out = (1 +\n    2)', '  @staticmethod\n  def g(): return 1\n  out = g()']
  const expected = `import json
from IPython.core.inputtransformer2 import TransformerManager
told = []
for cell in json.loads(${JSON.stringify(JSON.stringify(cells))}):
    names = {}
    try:
        exec(compile(TransformerManager().transform_cell(cell), 'cell', 'exec'), names)
        told.append(repr(names.get('out')))
    except Exception as problem:
        told.append(type(problem).__name__)
print(json.dumps(told))`
  const told = JSON.parse((await run(expected)).logs.stdout.join(''))
  assert.equal(told.length, cells.length)
  for (const [at, cell] of cells.entries()) {
    await run('globals().pop("out", None)\nNone')
    const done = await box.runCode(cell)
    const ours = done.error ? done.error.name : (await run('print(repr(globals().get("out")), end="")')).logs.stdout.join('')
    assert.equal(ours, told[at], JSON.stringify(cell))
  }
})

// ---- contexts

test('contexts are listed in the order of their creation, the default ones first', async () => {
  const fresh = await sandbox({}, Sandbox)
  const made = await (await createContext(fresh, {})).json()
  const second = await (await createContext(fresh, { language: 'js', cwd: '/tmp' })).json()
  const listed = await contextsOf(fresh)
  assert.deepEqual(listed.map((one) => one.language), ['python', 'javascript', 'python', 'javascript'])
  assert.deepEqual(listed.slice(2).map((one) => one.id), [made.id, second.id])
  assert.deepEqual(listed.map((one) => one.cwd), ['/home/user', '/home/user', '/home/user', '/tmp'])
  await fresh.runCode('echo', { language: 'bash' })
  assert.deepEqual((await contextsOf(fresh)).map((one) => one.language), ['python', 'javascript', 'python', 'javascript', 'bash'])
  assert.deepEqual((await contextsOf(fresh)).slice(0, 4), listed, 'and that stays')
})

test('a context may be made in a directory of root', async () => {
  const fresh = await sandbox({}, Sandbox)
  const made = await createContext(fresh, { language: 'python', cwd: '/root' })
  const body = await made.text()
  assert.equal(made.status, 200, body)
  const context = JSON.parse(body)
  assert.equal(context.cwd, '/root')
  assert.deepEqual((await contextsOf(fresh)).at(-1), context)
  const there = await fresh.runCode('import os\nopen("mine", "w").write("x")\nprint(os.getcwd(), os.listdir(), os.getuid())', { context })
  assert.equal(there.error, undefined, there.error?.traceback)
  assert.match(there.logs.stdout.join(''), /^\/root \[.*'mine'.*\] 1000\n$/, 'its user is the template\'s, and may work there')
  const again = await createContext(fresh, { language: 'bash', cwd: '/root' })
  assert.equal(again.status, 200)
  const missing = await createContext(fresh, { cwd: '/nowhere' })
  assert.equal(missing.status, 500)
  assert.match(await missing.text(), /\/nowhere does not exist/)
})

test('a restarted context has forgotten its variables', async () => {
  const { id } = await (await createContext(box, {})).json()
  await box.runCode('x = 1', { context: { id } })
  await plane(box, `/contexts/${id}/restart`, { port: 49999, method: 'POST' })
  const { error } = await box.runCode('x', { context: { id } })
  assert.deepEqual([error.name, error.value], ['NameError', "name 'x' is not defined"])
})

test('languages are named in any case', async () => {
  for (const [language, code, text] of [['Python', '6 * 7', '42'], [' JS ', '6 * 7', '42'], ['TypeScript', 'const n: number = 42; n', '42'], ['R', '42', '[1] 42']])
    assert.equal((await run(code, { language })).text, text, language)
})

// ---- images, lists and dicts

const image = 'import numpy\n    from PIL import Image\n    image = Image.fromarray((numpy.random.rand(16, 16, 3) * 255).astype("uint8")).convert("RGBA")'
const isPicture = (one) => Buffer.from(one.png, 'base64').subarray(1, 4).toString() === 'PNG'

test('an image is shown by show(), as the last value, and when it is saved', async () => {
  const shown = await run(`\n    ${image}\n    image.show()\n    print("shown")`)
  assert.deepEqual(shown.results.map((one) => [isPicture(one), one.isMainResult]), [[true, false]])
  assert.equal(shown.logs.stdout.join(''), 'shown\n')
  const last = await run(`\n    ${image}\n    image`)
  assert.deepEqual(last.results.map((one) => [isPicture(one), one.isMainResult]), [[true, true]])
  const saved = await run(`\n    ${image}\n    image.save("test.png")\n    print("saved")`)
  assert.deepEqual(saved.results.map((one) => [isPicture(one), one.isMainResult]), [[true, false]])
  assert.equal((await box.files.getInfo('/home/user/test.png')).name, 'test.png')
  const quiet = await run(`\n    ${image}\n    import io\n    image.save(io.BytesIO(), "PNG")`)
  assert.equal(quiet.results.length, 0, 'only what gets a name')
})

test('images of workers do not disturb', async () => {
  const code = `
    from PIL import Image
    import concurrent.futures, os
    def save(n): Image.new("RGB", (64, 64)).save(f"/tmp/of-{n}.png"); return n
    with concurrent.futures.ThreadPoolExecutor(8) as pool: threads = sum(pool.map(save, range(40)))
    child = os.fork()
    if child == 0:
        save("child")
        os._exit(0)
    os.waitpid(child, 0)
    threads, os.path.exists("/tmp/of-child.png")`
  const { results, text } = await run(code)
  assert.equal(text, '(780, True)')
  assert.equal(results.filter((one) => one.png).length, 40)
})

test('lists and dicts have a form in JSON', async () => {
  const json = async (code) => (await run(code)).results[0].json
  assert.deepEqual(await json('[1, "ü", None, True, 2.5, [3]]'), [1, 'ü', null, true, 2.5, [3]])
  assert.deepEqual(await json('{"a": {"b": [1]}, 2: "two"}'), { a: { b: [1] }, 2: 'two' })
  assert.deepEqual(await json('import datetime, numpy, enum, dataclasses, collections\n[datetime.date(2026, 1, 2), numpy.arange(3), numpy.float64(1.5), float("nan"), (1, 2), collections.OrderedDict(a=1)]'),
    ['2026-01-02', [0, 1, 2], 1.5, null, [1, 2], { a: 1 }])
  assert.equal((await run('{"a": 1}')).text, "{'a': 1}", 'and their text')
  for (const code of ['[object()]', '{(1, 2): 3}', 'a = []; a.append(a); a', '(1, 2)', '{1, 2}', 'list(range(1000000))'])
    assert.equal(await json(code), undefined, code)
})

// ---- charts

const chartOf = async (code) => {
  const { error, results } = await box.runCode(`\n    import matplotlib.pyplot as plt\n    import numpy as np\n    ${code.replaceAll('\n', '\n    ')}\n    plt.show()`)
  assert.ok(results[0], error?.traceback)
  return results[0].chart
}

test('angles of pies are rounded', async () => {
  const pie = await chartOf('plt.pie([90, 10], labels=["No", "No, in blue"], autopct="%1.1f%%", startangle=90)')
  assert.deepEqual(pie.elements, [{ label: 'No', angle: 324, radius: 1 }, { label: 'No, in blue', angle: 36, radius: 1 }])
})

test('what was drawn before an error is shown', async () => {
  const code = `
    import datetime
    import matplotlib.pyplot as plt
    plt.figure()
    plt.plot([datetime.date(2026, 9, day) for day in (1, 2)], [1, 2, 3])
    plt.show()`
  const { error, results: [{ chart }] } = await box.runCode(code)
  assert.equal(error.name, 'ValueError')
  assert.deepEqual([chart.type, chart.x_scale, chart.y_scale, chart.elements], ['line', 'datetime', 'linear', []])
})

test('scales, units, groups and lines that only lead across', async () => {
  const words = await chartOf('plt.plot([1, 2, 3], ["A", "B", "C"])')
  assert.deepEqual([words.type, words.x_scale, words.y_scale], ['line', 'linear', 'categorical'])
  const log = await chartOf('plt.plot([1, 2], [10, 1000], label="e")\nplt.yscale("log")\nplt.ylabel("Y-axis (log scale)")\nplt.axhline(100)\nplt.grid(True)')
  assert.deepEqual([log.y_scale, log.y_unit, log.elements.map((one) => one.label)], ['log', 'log scale', ['e']])
  const bars = await chartOf('plt.barh(["a", "b"], [1, 2])\nplt.ylabel("who")\nplt.xlabel("how many [pieces]")')
  assert.deepEqual([bars.x_label, bars.y_label, bars.y_unit], ['who', 'how many [pieces]', 'pieces'])
  assert.deepEqual(bars.elements.map((one) => [one.label, one.group, one.value]), [['a', 'Group 0', 1], ['b', 'Group 0', 2]])
  assert.deepEqual((await chartOf('plt.plot([1, 2])')).elements[0].label, 'Line 0')
  const boxes = await chartOf(`data = {"A": [85, 90, 78, 92, 88], "B": [95, 89, 76, 91, 84, 87]}
fig, ax = plt.subplots()
ax.boxplot(data.values(), labels=data.keys())
ax.boxplot(data.values(), labels=data.keys(), patch_artist=True)
ax.legend()`)
  assert.equal(boxes.type, 'box_and_whisker')
  assert.deepEqual(boxes.elements.map((one) => [one.label, one.min, one.first_quartile, one.median, one.third_quartile, one.max, one.outliers]),
    [['A', 78, 85, 88, 90, 92, []], ['B', 84, 84.75, 88, 90.5, 95, [76]]])
  const circles = await chartOf('fig, ax = plt.subplots()\nax.add_artist(plt.Circle((0, 0), 1))\nplt.title("c")')
  assert.deepEqual([circles.type, circles.title, circles.elements], ['unknown', 'c', []])
})

// ---- variables, directories, output

const named = { python: ['import os; os.getenv("V")', undefined], js: ['process.env.V', undefined], r: ['cat(Sys.getenv("V"))', ''],
  java: ['System.getProperty("V")', 'null'], bash: ['echo -n $V', ''] }
const told = (done) => done.text ?? (done.logs.stdout.length ? done.logs.stdout.join('') : undefined)

test('variables of the sandbox, and of one run over them, in every language', async () => {
  const with_v = await sandbox({ envs: { V: 'supertest' } }, Sandbox)
  for (const [language, [code, none]] of Object.entries(named)) {
    const say = async (target, envs) => told(await target.runCode(code, { language, envs }))
    assert.equal(await say(with_v), 'supertest', language)
    assert.equal(await say(with_v, { V: 'overwrite' }), 'overwrite', language)
    assert.equal(await say(with_v), 'supertest', language)
    assert.equal(await say(box, { V: 'bar' }), 'bar', language)
    assert.equal((await say(box)) ?? '', none ?? '', language)
  }
  assert.equal((await run('System.getProperty("V", "default")', { language: 'java' })).text, 'default')
  assert.equal((await run('System.getenv("V") == null', { language: 'java' })).text, 'true')
})

test('every language begins in the home of the user', async () => {
  for (const [language, code, text] of [['python', 'from pathlib import Path; print(Path.cwd())', '/home/user\n'], ['js', 'process.cwd()', '/home/user'], ['ts', 'process.cwd()', '/home/user'],
    ['r', 'getwd()', '[1] "/home/user"'], ['java', 'System.getProperty("user.dir")', '/home/user'], ['bash', 'pwd', '/home/user\n']])
    assert.equal(told(await run(code, { language })), text, language)
  assert.equal((await run('!pwd')).logs.stdout.join(''), '/home/user\n')
})

test('messages of output are cut as those of the original', async () => {
  assert.deepEqual((await run('console.log("Hello World!")', { language: 'js' })).logs.stdout, ['Hello World!\n'])
  assert.deepEqual((await run('print("Hello, World!")', { language: 'r' })).logs.stdout, ['[1] "Hello, World!"\n'])
  // R writes a line in pieces: an unfinished line waits a moment for its rest, and no longer.
  assert.deepEqual((await run('cat("a"); cat("b\\nc"); cat("d")', { language: 'r' })).logs.stdout, ['ab\n', 'cd'])
  assert.deepEqual((await run('cat("early"); Sys.sleep(1.5); cat("late")', { language: 'r' })).logs.stdout, ['early', 'late'])
  assert.deepEqual((await run('print("hello")')).logs.stdout, ['hello\n'])
  assert.deepEqual((await run('System.out.println("Hello, World!")', { language: 'java' })).logs.stdout, ['Hello, World!', '\n'])
  const context = await (await createContext(box, { language: 'java' })).json()
  assert.deepEqual((await box.runCode('System.out.println("a\\n\\nb"); System.out.print("c");', { context })).logs.stdout.join('|'), 'a|\n|\n|b|\n|c')
})

test('a form that is displayed raw is the only one', async () => {
  const { results } = await run("from IPython.display import display\ndisplay({'text/latex': r'\\text{Custom}'}, raw=True)")
  assert.deepEqual([...results[0].formats()], ['latex'])
})

test('what is shown comes before the value, each once', async () => {
  const seen = []
  await run('\n    import matplotlib.pyplot as plt\n    import numpy as np\n    x = np.linspace(0, 20, 100)\n    plt.plot(x, np.sin(x))\n    plt.show()\n\n    x\n    ', { onResult: (one) => seen.push(one.isMainResult) })
  assert.deepEqual(seen, [false, true])
})
