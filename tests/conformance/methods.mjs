// Which public methods the SDK has (by its own declarations), and which of them the suites called.
//
//   node methods.mjs SDK_DIR CALLED_DIR LEAST   fails when a public method was neither called nor is excused below, or
//                                               when fewer than LEAST are found
import { appendFileSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

// Why a method is not driven. Everything else must be.
const EXCUSED = {
  'Paginator#nextItems': 'abstract; its three kinds are driven',
}
const CLASSES = ['SandboxApi', 'Sandbox', 'Commands', 'CommandHandle', 'WatchHandle', 'Pty', 'Filesystem', 'Git', 'TemplateBase',
  'Volume', 'Secret', 'Paginator', 'SandboxPaginator', 'SnapshotPaginator', 'SecretPaginator', 'ReadyCmd', 'LogEntry',
  'Execution', 'Result']
const FUNCTIONS = ['getSignature', 'waitForFile', 'waitForPort', 'waitForProcess', 'waitForTimeout', 'waitForURL', 'defaultBuildLogger']

const seen = new Set()
function called(name) {
  if (!process.env.CALLED_DIR || seen.has(name)) return
  seen.add(name)
  appendFileSync(join(process.env.CALLED_DIR, String(process.pid)), name + '\n')
}

const marked = new Set()
function mark(holder, name) {
  if (marked.has(holder)) return
  marked.add(holder)
  for (const method of Object.getOwnPropertyNames(holder)) {
    const found = Object.getOwnPropertyDescriptor(holder, method)
    if (['constructor', 'prototype'].includes(method) || typeof found.value !== 'function' || !found.writable) continue
    const original = found.value
    holder[method] = function (...args) {
      called(name + method)
      const out = original.apply(this, args)
      if (typeof out?.then === 'function') out.then(watchInstance, () => {})
      else watchInstance(out)
      return out
    }
  }
}

// As it is declared: bundlers give names of their own where two would be the same.
const nameOf = (Class) => (Class?.name ?? '').replace(/^_/, '').replace(/\d+$/, '')

// Notes every call of a method of this class and of what it inherits from.
function markClass(Class) {
  for (; typeof Class === 'function' && Class !== Function.prototype; Class = Object.getPrototypeOf(Class)) {
    mark(Class, `${nameOf(Class)}.`)
    if (Class.prototype) mark(Class.prototype, `${nameOf(Class.prototype.constructor)}#`)
  }
}

// Classes that the package does not export are met on an instance.
export function watchInstance(instance) {
  // Not into what was read from a file: a hundred megabytes are as many values.
  if (!instance || typeof instance !== 'object' || ArrayBuffer.isView(instance)) return
  for (const value of [instance, ...Object.values(instance).flat()]) {
    if (value && typeof value === 'object' && CLASSES.includes(nameOf(value.constructor))) markClass(value.constructor)
  }
}

export function watch(sdk) {
  for (const value of Object.values(sdk)) {
    if (typeof value === 'function' && CLASSES.includes(nameOf(value))) markClass(value)
  }
  if (sdk.Template) {
    markClass(Object.getPrototypeOf(sdk.Template()).constructor)
    mark(sdk.Template, 'TemplateBase.')
  }
  const watched = { ...sdk }
  for (const name of FUNCTIONS) {
    if (sdk[name]) watched[name] = (...args) => (called(name), sdk[name](...args))
  }
  return watched
}

// Public methods of the classes above, as the declarations of a package have them.
function declared(file) {
  const found = new Set()
  let owner = ''
  const text = readFileSync(file, 'utf8')
  const indent = /^ {4}constructor\(/m.test(text) ? ' {4}' : ' {2}'  // two generations, two styles
  const declaration = new RegExp(`^${indent}(static )?(?:async )?(?:abstract )?([a-z]\\w*)[<(]`)
  for (const line of text.split('\n')) {
    const begin = line.match(/^(?:export )?declare (?:abstract )?class (\w+)/)
    if (begin) owner = CLASSES.includes(begin[1]) ? begin[1] : ''
    if (line === '}') owner = ''
    const method = owner && line.match(declaration)
    if (method && method[2] !== 'constructor') found.add(owner + (method[1] ? '.' : '#') + method[2])
    const name = line.match(/^declare function (\w+)/)?.[1]
    if (FUNCTIONS.includes(name)) found.add(name)
  }
  return found
}

function main([sdk, calledIn, least]) {
  const names = new Set()
  for (const name of ['e2b', '@e2b/code-interpreter']) {
    for (const method of declared(join(sdk, 'node_modules', name, 'dist/index.d.ts'))) names.add(method)
  }
  const driven = new Set(readdirSync(calledIn).flatMap((file) => readFileSync(join(calledIn, file), 'utf8').split('\n')))
  const missing = [...names].filter((name) => !driven.has(name) && !(name in EXCUSED)).sort()
  const excused = Object.keys(EXCUSED).filter((name) => names.has(name))
  const stale = excused.filter((name) => driven.has(name))
  console.log(`methods: ${names.size} public, ${names.size - missing.length - excused.length} driven`)
  for (const name of excused) console.log(`  not driven: ${name}: ${EXCUSED[name]}`)
  for (const name of missing) console.log(`  MISSING: ${name}`)
  for (const name of stale) console.log(`  STALE EXCUSE: ${name}`)
  const few = names.size < Number(least)
  if (few) console.log(`  too few methods found, at least ${least} are known: the declarations have another form`)
  process.exit(missing.length || stale.length || few ? 1 : 0)
}
if (process.argv[1] === new URL(import.meta.url).pathname) main(process.argv.slice(2))
