// The calls that the provider e2b makes as well, by the official SDK.
import { pathToFileURL } from 'node:url'

const { Sandbox } = await import(
  pathToFileURL(`${process.env.PACKAGES}/node_modules/@e2b/code-interpreter/dist/index.mjs`).href)
const sandbox = await Sandbox.create({ timeoutMs: 60_000 })
const context = await sandbox.createCodeContext({ language: 'python' })
await sandbox.runCode('1', { context })
await sandbox.files.write('/home/user/a', 'x')
await sandbox.files.read('/home/user/a')
await sandbox.commands.run('true')
await sandbox.pause()
await sandbox.connect()
await sandbox.kill()
