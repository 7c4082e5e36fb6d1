// The JavaScript kernel: executes cells in one global scope and tells results, errors and the end on a private
// descriptor. Runs inside a function of (fd, require, load); what it needs is taken before user code can change it.
'use strict';
const fs = require('fs');
const vm = require('vm');
const net = require('net');
const util = require('util');
const Module = require('module');
const { performance } = require('perf_hooks');
const { writeSync } = fs;
const { inspect } = util;
const { stringify } = JSON;
const { concat, from: bytesOf } = Buffer;
const exit = process.exit.bind(process);
const here = new Int32Array(new SharedArrayBuffer(4));
const pause = Atomics.wait;

const TEXT_MAX = 1 << 20;
let acorn = null;
let topLevelAwait = null;
try {
  acorn = require('internal/deps/acorn/acorn/dist/acorn');
  topLevelAwait = require('internal/repl/await').processTopLevelAwait;
} catch {
  // Without them a cell with await runs as the body of a function: its declarations do not outlive it.
}

let count = 0;
let busy = null;          // how to end the running execution early
let queue = Promise.resolve();
let typescript = false;
let stripTypes = () => { throw new Error('nothing here can strip types from TypeScript'); };

function send(data) {
  for (let at = 0; at < data.length;) {
    try {
      at += writeSync(fd, data, at);
    } catch (problem) {
      if (problem.code !== 'EAGAIN') exit(0);
      pause(here, 0, 0, 1);
    }
  }
}
function message(kind, payload) {
  return concat([bytesOf(`${kind} ${payload.length}\n`), payload]);
}
function field(text) {
  const data = typeof text === 'string' ? bytesOf(text) : text;
  return concat([bytesOf(`${data.length}\n`), data]);
}

// ---- results

function plain(value) {
  let text;
  try {
    text = inspect(value, { depth: 4, maxArrayLength: 1000, maxStringLength: TEXT_MAX });
  } catch (problem) {
    text = '<a value that cannot be shown>';
  }
  return text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) + '...' : text;
}
function mimeValue(value) {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return bytesOf(value).toString('base64');
  return stringify(value);
}
const bundleSymbol = Symbol.for('Jupyter.display');
function bundle(value) {
  const data = { 'text/plain': plain(value) };
  try {
    if (value !== null && typeof value === 'object') {
      const own = value[bundleSymbol];
      if (typeof own === 'function') Object.assign(data, own.call(value));
    }
  } catch {
    // a representation that fails is none
  }
  return data;
}
function resultMessage(data, isMain) {
  const parts = [bytesOf(isMain ? '1' : '0')];
  for (const mime of Object.keys(data)) parts.push(field(mime), field(mimeValue(data[mime])));
  return message('R', concat(parts));
}
function display(value, options) {
  const raw = options && options.raw && value !== null && typeof value === 'object';
  send(resultMessage(raw ? value : bundle(value), false));
}
for (const [name, mime] of [['html', 'text/html'], ['markdown', 'text/markdown'], ['svg', 'image/svg+xml'],
  ['png', 'image/png'], ['jpeg', 'image/jpeg'], ['latex', 'text/latex'], ['json', 'application/json']])
  display[name] = (value) => display({ 'text/plain': typeof value === 'string' ? value : plain(value), [mime]: value }, { raw: true });

// ---- errors

function errorMessage(problem) {
  let name = 'Error', value = '', stack = '';
  try {
    if (problem instanceof Error || (problem && typeof problem === 'object' && 'stack' in problem)) {
      name = String(problem.name || 'Error');
      value = String(problem.message);
      if (problem.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') name = 'KeyboardInterrupt', value = '';
      stack = String(problem.stack || `${name}: ${value}`);
    } else {
      value = plain(problem);
      stack = `Uncaught ${value}`;
    }
    stack = stack.split('\n').filter((line) => !/^\s+at .*(atoll-runner|node:|internal\/|\(<anonymous>\)$)/.test(line))
      .join('\n').replace(/\batoll-runner\b/g, '');
    if (name === 'KeyboardInterrupt') stack = 'KeyboardInterrupt';
  } catch {
    stack = value;
  }
  return message('F', concat([field(name), field(value.slice(0, TEXT_MAX)), field(stack.slice(0, 65536))]));
}

// ---- cells

// import a, {b as c} from 'm'  ->  const {default: a, b: c} = await import('m')
function importText(node) {
  const source = node.source.raw;
  if (node.specifiers.length === 0) return `await import(${source});`;
  const names = [];
  let space = null;
  for (const item of node.specifiers) {
    if (item.type === 'ImportNamespaceSpecifier') space = item.local.name;
    else if (item.type === 'ImportDefaultSpecifier') names.push(`default: ${item.local.name}`);
    else names.push(`${item.imported.name ?? stringify(item.imported.value)}: ${item.local.name}`);
  }
  let text = '';
  if (space !== null) text += `const ${space} = await import(${source});`;
  if (names.length > 0) text += `const {${names.join(', ')}} = await import(${source});`;
  return text;
}

// A script in which what the cell declares can be declared again by a later one.
function prepare(code) {
  if (acorn === null) return { code, waits: /\bawait\b/.test(code) };
  let tree;
  try {
    tree = acorn.parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowAwaitOutsideFunction: true,
      allowReturnOutsideFunction: false, allowHashBang: true });
  } catch {
    return { code, waits: false };  // V8 says what is wrong
  }
  const edits = [];
  for (const node of tree.body) {
    if (node.type === 'ImportDeclaration') edits.push([node.start, node.end, importText(node)]);
    else if (node.type === 'ExportNamedDeclaration' && node.declaration) edits.push([node.start, node.declaration.start, '']);
  }
  const waits = edits.some((edit) => edit[2].includes('await')) || topWaits(tree);
  if (!waits) {
    for (const node of tree.body) {
      const one = node.type === 'ExportNamedDeclaration' && node.declaration ? node.declaration : node;
      if (one.type === 'VariableDeclaration' && one.kind !== 'var') edits.push([one.start, one.start + one.kind.length, 'var']);
      else if (one.type === 'ClassDeclaration') edits.push([one.start, one.start, `var ${one.id.name} = `], [one.end, one.end, ';']);
    }
  }
  edits.sort((a, b) => b[0] - a[0]);
  for (const [start, end, text] of edits) code = code.slice(0, start) + text + code.slice(end);
  return { code, waits };
}

// await, or for await, outside of any function.
function topWaits(tree) {
  const open = [tree];
  while (open.length > 0) {
    const node = open.pop();
    if (node === null || typeof node !== 'object') continue;
    if (Array.isArray(node)) {
      for (const item of node) open.push(item);
      continue;
    }
    if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)) return true;
    if (/Function|MethodDefinition|PropertyDefinition/.test(node.type || '')) continue;
    for (const key of Object.keys(node)) if (key !== 'type') open.push(node[key]);
  }
  return false;
}

const loader = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
function runScript(code, name) {
  const script = new vm.Script(code, { filename: name, importModuleDynamically: loader || ((what) => load(what)) });
  return script.runInThisContext({ breakOnSigint: true, displayErrors: false });
}

// What processTopLevelAwait makes declares with let and var in front; a later cell must be able to do so again.
function redeclarable(code) {
  return code.replace(/^((?:let|var) [^;]*; )+/, (head) => head.replace(/let /g, 'var '));
}

async function runCell(code, name) {
  if (typescript) code = stripTypes(code);
  const prepared = prepare(code);
  if (!prepared.waits) return { value: runScript(prepared.code, name) };
  const wrapped = topLevelAwait === null ? null : topLevelAwait(prepared.code);
  if (wrapped === null) return { value: await runScript(`(async () => {${prepared.code}\n})()`, name) };
  return (await runScript(redeclarable(wrapped), name)) || {};
}

async function execute(code, changes) {
  count += 1;
  const before = new Map();
  for (const change of changes) {
    const at = change.indexOf('=');
    const key = change.slice(0, at);
    if (!before.has(key)) before.set(key, process.env[key]);
    process.env[key] = change.slice(at + 1);
  }
  let ending = Buffer.alloc(0);
  let status = 0;
  try {
    const stopped = new Promise((_, reject) => { busy = reject; });
    const { value } = await Promise.race([runCell(code, `<cell ${count}>`), stopped]);
    if (value !== undefined) ending = resultMessage(bundle(value), true);
  } catch (problem) {
    status = 1;
    ending = errorMessage(problem);
  }
  busy = null;
  for (const [key, value] of before) {
    if (value === undefined) delete process.env[key];
    else process.env[key] = value;
  }
  send(concat([ending, message('D', bytesOf(`${status} ${count}`))]));
}

process.on('SIGINT', () => {
  if (busy !== null) {
    const interrupted = new Error('');
    interrupted.code = 'ERR_SCRIPT_EXECUTION_INTERRUPTED';
    busy(interrupted);
  }
});
const unheard = (problem) => {
  if (busy !== null) busy(problem);
  else process.stderr.write(`Uncaught ${plain(problem)}\n`);
};
process.on('uncaughtException', unheard);
process.on('unhandledRejection', unheard);

// ---- the scope of cells

globalThis.require = Module.createRequire(process.cwd() + '/cell.js');
globalThis.module = { exports: {} };
globalThis.exports = globalThis.module.exports;
globalThis.__dirname = process.cwd();
globalThis.__filename = process.cwd() + '/cell.js';
globalThis.display = display;

// ---- messages

let pending = Buffer.alloc(0);
let changes = [];
function take(kind, payload) {
  if (kind === 'X') {
    const code = payload.toString(), now = changes;
    changes = [];
    queue = queue.then(() => execute(code, now));
  } else if (kind === 'V') {
    changes.push(payload.toString());
  } else if (kind === 'P') {
    const text = payload.toString(), at = text.indexOf('=');
    process.env[text.slice(0, at)] = text.slice(at + 1);
  } else if (kind === 'T') {
    typescript = true;
    const builtin = Module.stripTypeScriptTypes;
    const module = { exports: {} };
    if (payload.length > 0) {
      new Function('module', 'exports', 'require', payload.toString())(module, module.exports, require);
      stripTypes = (code) => module.exports.transformSync(code, { mode: 'transform', sourceMap: false }).code;
    } else if (typeof builtin === 'function') {
      stripTypes = (code) => builtin(code, { mode: 'strip' });
    }
  }
}
const control = new net.Socket({ fd, readable: true, writable: true });
control.on('data', (data) => {
  pending = pending.length === 0 ? data : concat([pending, data]);
  for (;;) {
    const line = pending.indexOf(10);
    if (line < 0) return;
    const size = Number(pending.toString('latin1', 2, line));
    if (pending.length < line + 1 + size) return;
    const kind = String.fromCharCode(pending[0]);
    const payload = pending.subarray(line + 1, line + 1 + size);
    pending = pending.subarray(line + 1 + size);
    take(kind, payload);
  }
});
control.on('end', () => exit(0));
control.on('error', () => exit(0));
send(bytesOf('K 0\n'));
