// The runner of JavaScript: executes cells in one global scope and tells results, errors and the end on a private
// descriptor. Runs as a function of (fd, require, load, main) in a realm of its own: its Array, Promise, JSON and RegExp
// are not those of the cells, which may do to theirs what they like. Of the cells' realm (`main`) and of Node's modules
// it uses what it took before the first cell ran.
'use strict';
const { writeSync } = require('fs');
const vm = require('vm');
const net = require('net');
const { inspect, types: { isNativeError, isPromise, isUint8Array } } = require('util');
const Module = require('module');
const { process, Buffer, TextEncoder, TextDecoder } = main;
const { apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty } = Reflect;
const bound = (object, name) => {
  const method = object[name];
  return (...words) => apply(method, object, words);
};
const encodeInto = bound(new TextEncoder(), 'encodeInto');
const decode = bound(new TextDecoder('utf-8', { ignoreBOM: true }), 'decode');
const { base64Slice } = Buffer.prototype;
const { then: theirThen } = main.Promise.prototype;
const exit = bound(process, typeof process.reallyExit === 'function' ? 'reallyExit' : 'exit');
const listen = bound(process, 'on');
const listeners = bound(process, 'listeners');
const cwd = bound(process, 'cwd');
const makeRequire = bound(Module, 'createRequire');
const stripBuiltin = Module.stripTypeScriptTypes;
const { Script } = vm;
const { runInThisContext } = Script.prototype;
const soon = bound(main, 'setImmediate');
const here = new Int32Array(new SharedArrayBuffer(4));

const TEXT_MAX = 1 << 20;
const LENGTHS_KEPT = 1000;
const RESULT_MAX = 32 << 20;  // of all forms of one value; the host takes no message of twice that
let count = 0;
let mark = '';            // of the running execution: said with every word about it
let busy = null;          // how to end the running execution early
let unwanted = '';        // the last execution that was to be interrupted
let queue = Promise.resolve();

// What a script that can be interrupted asks of the process; a cell that took these away would have no next one. Packages
// do put a method of their own in the place of emit.
for (const name of ['listeners', 'listenerCount', 'addListener', 'removeAllListeners', 'emit']) {
  let method = process[name];
  const set = (other) => { if (name === 'emit' && typeof other === 'function') method = other; };
  defineProperty(process, name, { __proto__: null, get: () => method, set, enumerable: false, configurable: false });
}

// Node calls listeners by their `apply`, and what a socket inherits by its `call`. Its functions would get these from the
// cells' realm, where they may be gone.
const { apply: theirApply, call: theirCall } = main.Function.prototype;
function shield(emitter) {
  for (const name of emitter.eventNames()) {
    for (const listener of emitter.rawListeners(name)) {
      if (!Object.hasOwn(listener, 'apply')) defineProperty(listener, 'apply', { __proto__: null, value: theirApply });
    }
  }
}
shield(process);
defineProperty(require('stream').Duplex.prototype.read, 'call', { __proto__: null, value: theirCall });

// ---- words for the host

function bytes(text) {
  const room = new Uint8Array(text.length * 3);
  return room.subarray(0, encodeInto(text, room).written);
}
function joined(parts) {
  let size = 0;
  for (const part of parts) size += part.length;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
function send(data) {
  for (let at = 0; at < data.length;) {
    try {
      at += writeSync(fd, data, at);
    } catch (problem) {
      if (problem.code !== 'EAGAIN') exit(0);
      Atomics.wait(here, 0, 0, 1);
    }
  }
}
function message(kind, payload) {
  return joined([bytes(`${kind} ${payload.length} ${mark}\n`), payload]);
}
function field(text) {
  const data = bytes(text);
  return joined([bytes(`${data.length}\n`), data]);
}

// ---- results

function plain(value) {
  let text;
  try {
    text = `${inspect(value, { depth: 4, maxArrayLength: 1000, maxStringLength: TEXT_MAX })}`;
  } catch {
    text = '<a value that cannot be shown>';
  }
  return text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) + '...' : text;
}
function mimeValue(value) {
  if (typeof value === 'string') return value;
  if (!isUint8Array(value)) return `${JSON.stringify(value)}`;
  const copy = new Uint8Array(value);
  return apply(base64Slice, copy, [0, copy.length]);
}
const bundleSymbol = Symbol.for('Jupyter.display');
function bundle(value) {
  const data = { 'text/plain': plain(value) };
  try {
    if (value !== null && typeof value === 'object') {
      const own = value[bundleSymbol];
      if (typeof own === 'function') Object.assign(data, apply(own, value, []));
    }
  } catch {
    // a representation that fails is none
  }
  return data;
}
function resultMessage(data, isMain) {
  const parts = [bytes(isMain ? '1' : '0')];
  let left = RESULT_MAX;
  for (const mime of Object.keys(data)) {
    const said = field(mimeValue(data[mime]));
    if (said.length > left) {
      tell(`${mime} of ${said.length} bytes was left out: one result holds ${RESULT_MAX}`);
      continue;
    }
    left -= said.length;
    parts.push(field(mime), said);
  }
  return message('R', joined(parts));
}
function display(value, options) {
  const raw = options && options.raw && value !== null && typeof value === 'object';
  send(resultMessage(raw ? value : bundle(value), false));
}
for (const [name, mime] of [['html', 'text/html'], ['markdown', 'text/markdown'], ['svg', 'image/svg+xml'],
  ['png', 'image/png'], ['jpeg', 'image/jpeg'], ['latex', 'text/latex'], ['json', 'application/json']])
  display[name] = (value) => display({ 'text/plain': typeof value === 'string' ? value : plain(value), [mime]: value }, { raw: true });

// ---- errors

// Every stack that cells see: without the runner, what it calls to run them, and what calls it.
const theirErrorText = main.Error.prototype.toString;
const lengths = new Map();  // of cells that stand in a function of ours, which is called on the line behind them
const isOfNode = (frame) => `${frame.getFileName()}`.startsWith('node:');
const isOwn = (frame) => frame.getFileName() === 'atoll-runner' || frame.getLineNumber() > (lengths.get(frame.getFileName()) ?? Infinity);
function usersFrames(frames) {
  const kept = [];
  let wasOwn = false;
  for (let at = 0; at < frames.length; at += 1) {
    if (isOwn(frames[at])) {
      wasOwn = true;
      while (kept.length > 0 && isOfNode(kept.at(-1))) kept.pop();
    } else if (!wasOwn || !isOfNode(frames[at])) {
      wasOwn = false;
      kept.push(frames[at]);
    }
  }
  return kept;
}
main.Error.prepareStackTrace = (error, frames) => {
  let text = 'Error';
  try {
    text = `${apply(theirErrorText, error, [])}`;
    for (const frame of usersFrames(frames)) text += `\n    at ${frame}`;
  } catch {
    // what cannot be shown ends here
  }
  return text;
};

function errorMessage(problem) {
  let name = 'Error', value = '', stack = '';
  try {
    if (isNativeError(problem) || (problem && typeof problem === 'object' && 'stack' in problem)) {
      name = `${problem.name || 'Error'}`;
      value = `${problem.message}`;
      if (problem.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') name = 'KeyboardInterrupt', value = '';
      const more = problem.cause !== undefined || problem.errors !== undefined;
      stack = more ? plain(problem) : `${problem.stack || `${name}: ${value}`}`;
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
  return message('F', joined([field(name), field(value.slice(0, TEXT_MAX)), field(stack.slice(0, 65536))]));
}

// ---- how cells are read

// Node's own parser and its rewriting of await, made anew in this realm; else as Node has them; else nothing, and a
// cell with await runs as the body of a function: its declarations do not outlive it.
let acorn;
let topLevelAwait = null;
let sources = null;
try {
  const { internalBinding } = require('internal/test/binding');
  sources = internalBinding('builtins').natives ?? process.binding('natives');
} catch {
  // then as Node has them
}
// The names by which Node's modules call what belongs to a realm: ArrayPrototypePush, ObjectKeys, SyntaxError.
const realm = { Array, Function, JSON, Map, Number, Object, Reflect, RegExp, Set, String, SyntaxError };
const primordials = new Proxy({}, { get(_, name) {
  const [, owner, prototype, symbol, rest] = /^(SyntaxError|[A-Z][a-z]+(?:Exp)?|JSON)(Prototype)?(Symbol)?(\w*)$/.exec(name);
  const holder = prototype ? realm[owner].prototype : realm[owner];
  if (rest === '') return holder;
  const key = rest[0].toLowerCase() + rest.slice(1);
  const method = holder[symbol ? Symbol[key] : key];
  return prototype ? (self, ...words) => apply(method, self, words) : (...words) => apply(method, holder, words);
} });
const known = new Map();
function ownModule(id) {
  if (!known.has(id)) {
    const module = { exports: {} };
    const needs = (other) => {
      if (other === 'internal/repl') return { Recoverable: SyntaxError };
      return other.startsWith('internal/deps/acorn/') ? ownModule(other) : require(other);
    };
    new Function('exports', 'require', 'module', 'primordials', sources[id])(module.exports, needs, module, primordials);
    known.set(id, module.exports);
  }
  return known.get(id);
}
function loadParser() {
  for (const from of [ownModule, require]) {
    try {
      acorn = from('internal/deps/acorn/acorn/dist/acorn');
      topLevelAwait = from('internal/repl/await').processTopLevelAwait;
      return;
    } catch {
      acorn = null;
    }
  }
}

// import a, {b as c} from 'm'  ->  const {default: a, b: c} = await import('m')
function importText(node) {
  const source = node.source.raw;
  if (node.specifiers.length === 0) return `await import(${source});`;
  const names = [];
  let space = null;
  for (const item of node.specifiers) {
    if (item.type === 'ImportNamespaceSpecifier') space = item.local.name;
    else if (item.type === 'ImportDefaultSpecifier') names.push(`default: ${item.local.name}`);
    else names.push(`${item.imported.name ?? JSON.stringify(item.imported.value)}: ${item.local.name}`);
  }
  let text = '';
  if (space !== null) text += `const ${space} = await import(${source});`;
  if (names.length > 0) text += `const {${names.join(', ')}} = await import(${source});`;
  return text;
}

// A script in which what the cell declares can be declared again by a later one.
function prepare(code) {
  if (!/\b(?:let|const|class|import|export|await)\b|\\u/.test(code)) return { code, waits: false };
  if (acorn === undefined) loadParser();
  if (acorn === null) return { code, waits: /\bawait\b/.test(code) };
  let tree;
  try {
    tree = acorn.parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowAwaitOutsideFunction: true,
      allowReturnOutsideFunction: false, allowHashBang: true });
  } catch (problem) {
    return { code, waits: false, problem };  // V8 says what is wrong, if it comes that far
  }
  const edits = [];
  for (const node of tree.body) {
    if (node.type === 'ImportDeclaration') edits.push([node.start, node.end, importText(node)]);
    else if (/^Export(Named|Default)Declaration$/.test(node.type) && !node.source)  // there is nobody to export to
      edits.push([node.start, node.declaration ? node.declaration.start : node.end, '']);
  }
  const waits = edits.some((edit) => edit[2].includes('await')) || topWaits(tree);
  for (const node of tree.body) {
    const one = node.declaration ?? node;
    if (waits) {  // what follows a class would be read as a part of the expression that it becomes
      if (one.type === 'ClassDeclaration') edits.push([one.end, one.end, ';']);
    } else {
      if (one.type === 'VariableDeclaration' && one.kind !== 'var') edits.push([one.start, one.start + one.kind.length, 'var'.padEnd(one.kind.length)]);
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

// What processTopLevelAwait makes declares with let and var in front; a later cell must be able to do so again.
// The cell begins on a line of its own, where it is told to have begun.
function redeclarable(code) {
  return code.replace(/^((?:let|var) [^;]*; )+/, (head) => head.replace(/let /g, 'var ')).replace(ASYNC + ' ', ASYNC + '\n');
}

// ---- types

const stripperNeeds = { util: { TextDecoder, TextEncoder }, 'node:buffer': { Buffer: { from: bound(Buffer, 'from') } } };
let stripperText = '';
let stripper = null;
function syntaxError({ message: text, snippet, startLine }, name) {
  const problem = new SyntaxError(`${text}`);
  problem.stack = `${name}:${startLine}\n${snippet}\nSyntaxError: ${text}`;
  return problem;
}
function stripTypes(code, name) {
  if (stripper === null && stripperText !== '') {
    const module = { exports: {} };
    new Function('module', 'exports', 'require', stripperText)(module, module.exports, (name) => stripperNeeds[name]);
    stripper = (text, mode) => module.exports.transformSync(text, { mode, sourceMap: false }).code;
    stripperText = '';
  }
  if (stripper !== null) {
    try {
      return stripper(code, 'strip-only');  // everything stays where it is
    } catch (problem) {
      if (problem.code !== 'UnsupportedSyntax') throw syntaxError(problem, name);
    }
    return stripper(code, 'transform');  // enums and the like become code
  }
  if (typeof stripBuiltin === 'function') return stripBuiltin(code, { mode: 'strip' });
  throw new Error('nothing here can strip types from TypeScript');
}

// ---- cells

const ASYNC = '(async () => {';
const loader = vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
// A script that can be interrupted has the signal for its time; before and after it Node lets the signal end the process for a
// moment. Taken for good, it never does: who only waits is told by the host. A cell that listens for the signal itself has it
// while scripts do not run.
let watchdog = null;
let isForeign = false;   // a cell may have it now
let isUnderWay = false;  // one was sent that may not have been taken yet: leaving waits for it
try {
  const { startSigintWatchdog: take, stopSigintWatchdog: leave } = require('internal/test/binding').internalBinding('contextify');
  take();
  watchdog = { take, leave };
} catch {
  // then by a listener of our own
}
listen('newListener', (name) => { if (name === 'SIGINT') isForeign = true; });
function retakeSignal() {
  if (watchdog === null) return;
  watchdog.leave();
  watchdog.take();
  isForeign = false;
}
function runScript(code, name, lineOffset = 0) {
  const script = new Script(code, { __proto__: null, filename: name, lineOffset, importModuleDynamically: loader || ((what) => load(what)) });
  const isShared = watchdog !== null && listeners('SIGINT').length > 0;
  if (isShared) watchdog.leave();
  try {
    return apply(runInThisContext, script, [{ __proto__: null, breakOnSigint: true, displayErrors: false }]);
  } finally {
    if (isShared) watchdog.take();
  }
}

// A promise of the cells' realm, heard by the method that they may have replaced.
function settled(promise) {
  if (!isPromise(promise)) return promise;
  return new Promise((yes, no) => { apply(theirThen, promise, [yes, no]); });
}

// A promise as the last value is waited for: what main() still says, and how it ends, belongs to the cell that called it.
async function kept(found) {
  return isPromise(found.value) ? { value: await settled(found.value) } : found;
}

// In a script V8 complains of the first await or import, and not of what is wrong.
function runAtOnce({ code, problem }, name) {
  try {
    return runScript(code, name);
  } catch (said) {
    if (!problem || !problem.loc || !isNativeError(said) || !/\b(?:await|import|export)\b/.test(`${said.message}`)) throw said;
    const { line, column } = problem.loc, text = problem.message.replace(/ \(\d+:\d+\)$/, '');
    const better = new SyntaxError(text);
    better.stack = `${name}:${line}\n${code.split('\n')[line - 1]}\n${' '.repeat(column)}^\n\nSyntaxError: ${text}`;
    throw better;
  }
}

async function runCell(code, name, typed) {
  const prepared = prepare(typed ? stripTypes(code, name) : code);
  if (!prepared.waits) return kept({ value: runAtOnce(prepared, name) });
  lengths.set(name, prepared.code.split('\n').length);
  if (lengths.size > LENGTHS_KEPT) lengths.delete(lengths.keys().next().value);
  const wrapped = topLevelAwait === null ? null : topLevelAwait(prepared.code + '\n');
  if (wrapped === null) return { value: await settled(runScript(`${ASYNC}\n${prepared.code}\n})()`, name, -1)) };
  return kept((await settled(runScript(redeclarable(wrapped), name, -1))) || {});
}

function setVariables(changes) {
  const before = new Map();
  for (const change of changes) {
    const at = change.indexOf('=');
    const key = change.slice(0, at);
    if (!before.has(key)) before.set(key, process.env[key]);
    process.env[key] = change.slice(at + 1);
  }
  return before;
}
function restoreVariables(before) {
  for (const [key, value] of before) {
    if (value === undefined) delete process.env[key];
    else process.env[key] = value;
  }
}

// Node hears of a signal after everything else that came meanwhile. One that was sent to the cell before is nobody's.
const heardAll = () => new Promise((go) => { soon(() => { soon(go); }); });

async function execute(code, changes, typed, its) {
  await heardAll();
  if (isForeign || isUnderWay) retakeSignal();
  isUnderWay = unwanted === its;
  if (count === 0) defineScope();
  count += 1;
  mark = its;
  let ending = new Uint8Array(0);
  let status = 0;
  let before = new Map();
  try {
    hear();
    before = setVariables(changes);
    const stopped = new Promise((_, reject) => { busy = reject; });
    if (unwanted === its) throw interruption();
    const { value } = await Promise.race([runCell(code, `<cell ${count}>`, typed), stopped]);
    if (value !== undefined) ending = resultMessage(bundle(value), true);
  } catch (problem) {
    status = 1;
    ending = errorMessage(problem);
    if (!isSound()) giveUp(problem);
  }
  busy = null;
  if (isForeign) retakeSignal();
  try {
    restoreVariables(before);
  } catch {
    // a cell that replaced process.env keeps what it has
  }
  send(joined([ending, message('D', bytes(`${status} ${count}`))]));
}

// Whether scripts can be run at all. A cell can break what Node needs for that (it froze `process`, say), and its error would
// be that of every cell after it.
function isSound() {
  try {
    hear();
    return runScript('1', 'atoll-runner') === 1;
  } catch {
    return false;
  }
}
function giveUp(problem) {
  try {
    writeSync(2, bytes(`the interpreter cannot go on: ${plain(problem)}\n`));
  } finally {
    exit(1);
  }
}

// ---- what is not asked for

function interruption() {
  const problem = new Error('');
  problem.code = 'ERR_SCRIPT_EXECUTION_INTERRUPTED';
  return problem;
}
function interrupted() {
  if (busy !== null) busy(interruption());
}
function unheard(problem) {
  if (busy !== null) return busy(problem);
  tell(`Uncaught ${plain(problem)}`);
}
function tell(text) {
  try {
    writeSync(2, bytes(`${text}\n`));
  } catch {
    // nobody to tell
  }
}
// Before every cell: the one before may have removed all that listen.
function hear() {
  for (const [name, listener] of [['SIGINT', interrupted], ['uncaughtException', unheard], ['unhandledRejection', unheard]])
    if ((name !== 'SIGINT' || watchdog === null) && !Array.prototype.includes.call(listeners(name), listener)) listen(name, listener);
}
hear();

// ---- the scope of cells

// Before the first cell: after the program that it was started with, Node puts modules of its own under their names there.
const exported = new main.Object();
const scope = { require: makeRequire(cwd() + '/cell.js'), exports: exported, __dirname: cwd(), __filename: cwd() + '/cell.js',
  module: Object.assign(new main.Object(), { exports: exported }), display };
function defineScope() {
  for (const name of ownKeys(scope))
    defineProperty(main, name, { __proto__: null, value: scope[name], writable: true, enumerable: true, configurable: true });
}

// ---- messages

let parts = [];           // what came and was not yet taken
let held = 0;             // bytes of them
let wanted = 0;           // bytes that the next message needs
let changes = [], named = '';
function take(kind, payload) {
  if (kind === 'X' || kind === 'Y') {
    const code = decode(payload), now = changes, its = named;
    changes = [];
    queue = queue.then(() => execute(code, now, kind === 'Y', its));
  } else if (kind === 'A') {
    named = decode(payload);
  } else if (kind === 'V') {
    changes.push(decode(payload));
  } else if (kind === 'P') {
    const text = decode(payload), at = text.indexOf('=');
    process.env[text.slice(0, at)] = text.slice(at + 1);
  } else if (kind === 'T') {
    stripperText = decode(payload);
  } else if (kind === 'I') {
    unwanted = decode(payload);
    isUnderWay = true;
    if (unwanted === mark) interrupted();
  }
}
const control = new net.Socket({ fd, readable: true, writable: true });
// Its methods as its own: cells can change the prototypes that it got them from.
for (let from = getPrototypeOf(control); from !== main.Object.prototype; from = getPrototypeOf(from)) {
  for (const key of ownKeys(from)) {
    if (key !== 'constructor' && !Object.hasOwn(control, key))
      defineProperty(control, key, { ...getOwnPropertyDescriptor(from, key), enumerable: false });
  }
}
control.on('data', (data) => {
  parts.push(new Uint8Array(data));
  held += parts.at(-1).length;
  if (held < wanted) return;
  let rest = parts.length === 1 ? parts[0] : joined(parts);
  for (;;) {
    const line = rest.indexOf(10);
    wanted = line < 0 ? 0 : line + 1 + Number(decode(rest.subarray(2, line)));
    if (line < 0 || rest.length < wanted) break;
    const kind = String.fromCharCode(rest[0]), payload = rest.subarray(line + 1, wanted);
    rest = rest.subarray(wanted);
    take(kind, payload);
  }
  parts = [rest];
  held = rest.length;
});
for (const name of ['end', 'error', 'close']) control.on(name, () => exit(0));
shield(control);
// Cells find it among the handles of the process. It does not listen to them, or ends with what they wanted to end.
for (const name of ['pause', 'unref', 'off', 'removeListener', 'removeAllListeners'])
  defineProperty(control, name, { __proto__: null, value: () => control });
for (const name of ['end', 'destroy', 'destroySoon']) defineProperty(control, name, { __proto__: null, value: () => exit(0) });
send(bytes('K 0\n'));
