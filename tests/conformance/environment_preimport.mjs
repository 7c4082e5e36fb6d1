// What a built code-interpreter-v1 has ready before anybody asks. Run by tests/env/run-long code-interpreter-v1.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, interpreter } from './harness.mjs'

test('a fresh interpreter has imported what most code imports', async () => {
  // The first sandboxes of a service begin before their zygote is ready.
  await eventually(async () => {
    const box = await interpreter.Sandbox.create()
    try {
      const ready = await box.runCode('import sys\n[name in sys.modules for name in ("numpy", "pandas", "PIL.Image")]')
      assert.deepEqual(ready.results[0].json, [true, true, true])
      const drawn = await box.runCode('import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()')
      assert.ok(drawn.results[0].png, drawn.error?.traceback)
      const saved = await box.runCode('from PIL import Image\nImage.new("RGB", (4, 4)).save("x.png")')
      assert.ok(saved.results[0].png, saved.error?.traceback)
    } finally {
      await box.kill()
    }
  }, 90_000)
})
