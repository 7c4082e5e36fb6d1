// An agent's day with the official E2B packages, unchanged, against Atoll. See docs/guides/e2b.md for the variables.
//
//   npm install e2b @e2b/code-interpreter && node agent.mjs
import { Sandbox } from '@e2b/code-interpreter'
import { Template, Volume } from 'e2b'

// A volume outlives the sandboxes that mount it.
const volume = await Volume.create(`example-${Date.now()}`)
await volume.writeFile('/numbers.csv', 'n\n1\n2\n3\n')

const sandbox = await Sandbox.create({ timeoutMs: 120_000, metadata: { example: 'agent' }, volumeMounts: { '/mnt/data': volume } })
console.log('sandbox', sandbox.sandboxId)

// Variables survive between runs, as in a notebook.
await sandbox.runCode('import csv; numbers = [int(row["n"]) for row in csv.DictReader(open("/mnt/data/numbers.csv"))]')
const execution = await sandbox.runCode('sum(numbers)')
console.log('sum', execution.text)

// Files and commands.
await sandbox.files.write('/mnt/data/report.txt', `the sum is ${execution.text}\n`)
const { stdout } = await sandbox.commands.run('cat /mnt/data/report.txt')
process.stdout.write(stdout)

// A server inside, seen from outside by its host name.
await sandbox.commands.run('python3 -m http.server 8080 --directory /mnt/data', { background: true })
console.log('served at', sandbox.getHost(8080))
await sandbox.kill()

// What was written is still there.
console.log('kept:', (await volume.readFile('/report.txt')).trim())
await Volume.destroy(volume.volumeId)

// A template: built once, then every sandbox starts from it.
const name = `example-${Date.now()}`
await Template.build(Template().fromBaseImage().setEnvs({ GREETING: 'hello' }).runCmd('echo "$GREETING" > /home/user/greeting'), name)
const made = await Sandbox.create(name, { timeoutMs: 60_000 })
console.log('template says', (await made.files.read('/home/user/greeting')).trim())
await made.kill()
