// The runner of Deno: executes cells of TypeScript and JavaScript in one global scope and tells results, errors and the
// end on a private descriptor. Runs as a function of (fd, libc, load, main) in a realm of its own, as the Node runner does:
// cells may change the Array, Promise or JSON of their realm. Of that realm (`main`) and of Deno it uses what it took before
// the first cell ran.
//
// V8's REPL mode evaluates the cells, as in Deno's own REPL and Jupyter kernel: `await` works at the top, and a later cell
// may declare a name again. Deno refuses descriptors that it did not open itself, so functions of the C library (`libc`)
// read and write this one.
'use strict';
const { Deno, process } = main;
const { apply } = Reflect;
const { defineProperty } = Object;
const { inspect } = Deno;
const bound = (object, name) => {
  const method = object[name];
  return (...words) => apply(method, object, words);
};
const Module = process.getBuiltinModule('node:module');
const { Session } = process.getBuiltinModule('node:inspector');
const { Script } = process.getBuiltinModule('node:vm');
const { types: { isNativeError, isPromise, isUint8Array } } = process.getBuiltinModule('node:util');
const getVariable = bound(Deno.env, 'get'), setVariable = bound(Deno.env, 'set'), deleteVariable = bound(Deno.env, 'delete');
const readFileSync = bound(Deno, 'readFileSync');
const writeError = bound(Deno.stderr, 'writeSync');
const encodeInto = bound(new main.TextEncoder(), 'encodeInto');
const decode = bound(new main.TextDecoder('utf-8', { ignoreBOM: true }), 'decode');
const toBase64 = bound(main, 'btoa');
const TheirPromise = main.Promise;
const { then: theirThen } = TheirPromise.prototype;
const { preventDefault } = main.Event.prototype;

const TEXT_MAX = 1 << 20;
const RESULT_MAX = 32 << 20;  // of all forms of one value; the host takes no message of twice that
const MSG_NOSIGNAL = 0x4000;
const exit = (status) => libc._exit(status);
let count = 0;
let mark = '';            // of the running execution: said with every message about it
let busy = null;          // how to end the running execution early
let queue = Promise.resolve();

// ---- messages to the host

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
    const sent = Number(libc.send(fd, data.subarray(at), data.length - at, MSG_NOSIGNAL));
    if (sent <= 0) exit(0);
    at += sent;
  }
}
function message(kind, payload) {
  return joined([bytes(`${kind} ${payload.length} ${mark}\n`), payload]);
}
function field(text) {
  const data = bytes(text);
  return joined([bytes(`${data.length}\n`), data]);
}
function tell(text) {
  try {
    writeError(bytes(`${text}\n`));
  } catch {
    // standard error is closed
  }
}

// A cell can break what Deno itself needs, and every cell after it would fail.
function giveUp(problem) {
  tell(`the interpreter cannot go on: ${plain(problem)}`);
  exit(1);
}

// A promise of the cells' realm, heard by the method that they may have replaced since.
function settled(promise) {
  if (!isPromise(promise)) return promise;
  return new Promise((yes, no) => { apply(theirThen, promise, [yes, no]); });
}
// What cells get is a promise of their own realm.
function theirs(work) {
  return new TheirPromise((yes, no) => { work().then(yes, no); });
}

// ---- results

function plain(value) {
  let text;
  try {
    text = `${inspect(value, { colors: false, depth: 4, iterableLimit: 1000, strAbbreviateSize: TEXT_MAX })}`;
  } catch {
    text = '<a value that cannot be shown>';
  }
  return text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) + '...' : text;
}
function base64(data) {
  let text = '';
  for (let at = 0; at < data.length; at += 30000)  // a multiple of three: no padding in between
    text += toBase64(String.fromCharCode(...data.subarray(at, at + 30000)));
  return text;
}
function mimeValue(value) {
  if (typeof value === 'string') return value;
  return isUint8Array(value) ? base64(new Uint8Array(value)) : `${JSON.stringify(value)}`;
}
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], JPEG = [0xff, 0xd8, 0xff];
function imageType(data) {
  if (PNG.every((byte, at) => data[at] === byte)) return 'image/png';
  return JPEG.every((byte, at) => data[at] === byte) ? 'image/jpeg' : null;
}
const displaySymbol = Symbol.for('Jupyter.display');
// The forms of a value that Deno's kernel knows: its own (Jupyter.display), images as bytes, canvases, elements of a page.
async function richForms(value) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return {};
  if (typeof value[displaySymbol] === 'function') return { ...await settled(value[displaySymbol]()) };
  if (isUint8Array(value)) {
    const copy = new Uint8Array(value), type = imageType(copy);
    return type === null ? {} : { [type]: base64(copy) };
  }
  if (typeof value.toDataURL === 'function') {
    const [, type, data] = /^data:(image\/\w+);base64,(.*)$/s.exec(`${value.toDataURL()}`) ?? [];
    return type === undefined ? {} : { [type]: data };
  }
  if (typeof value.outerHTML === 'string')
    return { [/^\s*<svg\b/i.test(value.outerHTML) ? 'image/svg+xml' : 'text/html']: value.outerHTML };
  return {};
}
async function bundle(value) {
  let rich = {};
  try {
    rich = await richForms(value);
  } catch {
    // a form that fails is none
  }
  return 'text/plain' in rich ? rich : { 'text/plain': plain(value), ...rich };
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

// ---- Deno.jupyter, which Deno itself has only in its own kernel

function displayable(forms) {
  return defineProperty(new main.Object(), displaySymbol, { __proto__: null, value: () => forms });
}
function tagged(mime) {
  return (texts, ...values) => displayable({ [mime]: String.raw({ raw: texts }, ...values) });
}
async function display(value, options) {
  send(resultMessage(options?.raw ? { ...value } : await bundle(value), false));
}
function image(from) {
  const data = new Uint8Array(isUint8Array(from) ? from : readFileSync(from));
  const type = imageType(data);
  if (type === null) throw new main.TypeError('Deno.jupyter.image takes PNG and JPEG images');
  return displayable({ [type]: base64(data) });
}
// Of the messages that Deno's kernel broadcasts, those that show something reach clients.
async function broadcast(type, content) {
  if (type === 'display_data' || type === 'update_display_data') send(resultMessage({ ...content?.data }, false));
}
Deno.jupyter = Object.assign(new main.Object(), {
  $display: displaySymbol,
  display: (value, options) => theirs(() => display(value, options)),
  broadcast: (type, content) => theirs(() => broadcast(type, content)),
  format: (value) => theirs(() => bundle(value)),
  md: tagged('text/markdown'), html: tagged('text/html'), svg: tagged('image/svg+xml'), image,
});

// ---- errors

// Every stack that cells see: without the runner, what it calls to evaluate them, and what calls it. Cells have the names
// that they have in other languages.
const theirErrorText = main.Error.prototype.toString;
const isOfDeno = (text) => /\((?:ext|node):|^(?:ext|node):|\$deno\$eval|^new Promise \(<anonymous>\)$/.test(text);
function usersFrames(frames) {
  const kept = [];
  let wasOwn = false;
  for (const frame of frames) {
    const text = `${frame}`;
    if (text.includes('atoll-runner')) {
      wasOwn = true;
      while (kept.length > 0 && isOfDeno(kept.at(-1))) kept.pop();
    } else if (!wasOwn || !isOfDeno(text)) {
      wasOwn = false;
      kept.push(text.replace(/\batoll-cell-(\d+)/g, '<cell $1>'));
    }
  }
  while (kept.length > 0 && isOfDeno(kept.at(-1))) kept.pop();
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
      const more = problem.cause !== undefined || problem.errors !== undefined;
      stack = more ? plain(problem) : `${problem.stack || `${name}: ${value}`}`;
    } else {
      value = plain(problem);
      stack = `Uncaught ${value}`;
    }
  } catch {
    stack = value;
  }
  return message('F', joined([field(name), field(value.slice(0, TEXT_MAX)), field(stack.slice(0, 65536))]));
}
class KeyboardInterrupt {
  name = 'KeyboardInterrupt';
  message = '';
  stack = 'KeyboardInterrupt';
}

// ---- how cells are read

const SPACE = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const WORD = /[\p{ID_Continue}$#@]+/uy;
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$\{|$)/y;
const BEFORE_PATTERN = /^(?:return|typeof|case|do|else|in|instanceof|new|void|delete|throw|yield|await|of|[^\w\p{ID_Continue}$#@"'`/)\]])$/u;

// The words, strings and marks of a cell, in which TypeScript may be: enough to find what is imported and exported.
function tokens(code) {
  const found = [], open = [];
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    return pattern.exec(code)?.[0];
  };
  const add = (text, kind) => {
    found.push({ text, kind, start: at, end: at + text.length, depth: open.length });
    at += text.length;
  };
  while (at < code.length) {
    const space = match(SPACE);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const one = code[at], resumes = one === '}' && open.at(-1) === '`';
    if (resumes) open.pop();
    if (one === '`' || resumes) {
      const start = at++;
      at += match(TEMPLATE).length;
      if (code.slice(at - 2, at) === '${' ) open.push('`');
      found.push({ text: '`', kind: 'template', start, end: at, depth: open.length });
      continue;
    }
    const text = match(WORD) ?? match(STRING);
    if (text !== undefined) {
      add(text, /^["']/.test(text) ? 'string' : 'word');
      continue;
    }
    const pattern = one === '/' && (found.length === 0 || BEFORE_PATTERN.test(found.at(-1).text)) ? match(PATTERN) : undefined;
    if (pattern !== undefined) {
      add(pattern, 'pattern');
      continue;
    }
    if (/[)\]}]/.test(one)) open.pop();
    add(one, 'mark');
    if (/[([{]/.test(one)) open.push(one);
  }
  return found;
}

const LOAD = 'globalThis[Symbol.for("atoll.import")]', KEPT = '(globalThis[Symbol.for("atoll.kept")])';

// The names of `{a, b as c, type D}`: [[name there, name here], ...], and the place behind it.
function namesIn(list, at) {
  const names = [];
  for (at += 1; at < list.length && list[at].text !== '}';) {
    let words = [];
    for (; at < list.length && list[at].text !== ',' && list[at].text !== '}'; at += 1) words.push(list[at].text);
    if (at < list.length && list[at].text === ',') at += 1;
    // `type` is a name of its own in {type} and {type as x}.
    const typed = words[0] === 'type' && words.length > 1 && !(words[1] === 'as' && words.length === 3);
    if (words.length > 0 && !typed) names.push([words[0], words.at(-1)]);
  }
  return [names, at + 1];
}

// import a, {b as c} from 'm'  ->  const {default: a, b: c} = await load('m')
// Gives the text and the number of tokens it stands for, or nothing where that is no import as we know it.
function importText(list, first, code) {
  let at = first + 1, space = null, names = [];
  const isType = list[at]?.text === 'type' && (list[at + 1]?.kind === 'word' ? list[at + 1].text !== 'from' || list[at + 2]?.text === 'from' : list[at + 1]?.text !== ',');
  if (isType) at += 1;
  const bare = list[at]?.kind === 'string';
  while (!bare && at < list.length && list[at].text !== 'from') {
    if (list[at].text === '*' && list[at + 1]?.text === 'as') {
      space = list[at + 2]?.text;
      at += 3;
    } else if (list[at].text === '{') {
      const [found, next] = namesIn(list, at);
      names.push(...found);
      at = next;
    } else if (list[at].text === ',') {
      at += 1;
    } else if (list[at].kind === 'word') {
      names.push(['default', list[at].text]);
      at += 1;
      if (list[at]?.text === '=') return null;  // import a = require('m')
    } else {
      return null;
    }
  }
  if (!bare) at += 1;
  if (list[at]?.kind !== 'string') return null;
  let call = `await ${LOAD}(${list[at].text}`;
  let last = at;
  if (list[at + 1]?.text === 'with' && list[at + 2]?.text === '{') {
    for (last = at + 2; last < list.length && !(list[last].text === '}' && list[last].depth === 0); last += 1);
    call += `, {with: ${code.slice(list[at + 2].start, list[last]?.end)}}`;
  }
  call += ')';
  if (isType) return { text: '', last };
  if (bare) return { text: `${call};`, last };
  const text = space === null ? '' : `const ${space} = ${call};`;
  const parts = names.map(([there, here]) => `${there}: ${here}`).join(', ');
  return { text: parts === '' && space !== null ? text : `${text}const {${parts}} = ${call};`, last };
}

// Where an export begins, what is to be left out of it: there is nobody to export to.
function exportEnd(list, first) {
  const next = list[first + 1];
  if (next?.text === 'default') return first + 1;
  if (next?.text !== '{' && next?.text !== '*') return first;
  let last = first + 1;
  if (next.text === '{') while (last < list.length - 1 && list[last].text !== '}') last += 1;
  for (let at = last + 1; at < list.length && at < last + 5; at += 1) {
    if (list[at].text !== 'from' && list[at].text !== 'as' && list[at].kind === 'mark') break;
    if (list[at].kind === 'string') return at;
  }
  return last;
}

// A script instead of a module. Lines keep their numbers.
function asScript(code) {
  if (!/\b(?:import|export)\b|\bawait\s+new\s+Promise\b/.test(code)) return code;
  const list = tokens(code), edits = [];
  for (let at = 0; at < list.length; at += 1) {
    const { text, kind, depth, start } = list[at], next = list[at + 1];
    if (text === 'Promise' && list[at - 1]?.text === 'new' && list[at - 2]?.text === 'await') edits.push([start, list[at].end, KEPT]);
    if (kind !== 'word' || (text !== 'import' && text !== 'export') || list[at - 1]?.text === '.') continue;
    if (text === 'import' && next?.text === '(') {
      edits.push([start, list[at].end, LOAD]);
    } else if (text === 'import' && depth === 0 && next?.text !== '.') {
      const found = importText(list, at, code);
      if (found === null) continue;
      edits.push([start, list[found.last].end, found.text]);
      at = found.last;
    } else if (text === 'export' && depth === 0 && next !== undefined && next.text !== ':') {
      const last = exportEnd(list, at);
      edits.push([start, list[last].end, '']);
      at = last;
    }
  }
  for (const [start, end, text] of edits.reverse()) {
    const lines = code.slice(start, end).split('\n').length - 1;
    code = code.slice(0, start) + text + '\n'.repeat(lines) + code.slice(end);
  }
  return code;
}

// Whether V8 can read it, as the body or the value of a function that may wait.
function isScript(text) {
  try {
    return new Script(text) !== null;
  } catch {
    return false;
  }
}
function syntaxError(said, shown, place) {
  return { name: 'SyntaxError', message: said, stack: `SyntaxError: ${said}${shown}\n    at <cell ${count}>:${place}` };
}
const strip = Module.stripTypeScriptTypes;
const WHERE = /^(?:SyntaxError: )?([^\n]*)([^]*?)\s+at file:\S*?:(\d+:\d+)$/;
// Types are blanked, so that everything stays where it is; only enums and the like become other code.
function withoutTypes(code) {
  try {
    return strip(code, { mode: 'strip' });
  } catch {
    if (isScript(`async () => {${code}\n}`)) return code;  // JavaScript that TypeScript refuses
  }
  try {
    return strip(code, { mode: 'transform' });
  } catch (problem) {
    const [, said, shown, place] = WHERE.exec(`${problem.message}`) ?? [];
    if (said === undefined) throw problem;
    throw syntaxError(said, shown, place);
  }
}
// {a: 1} is an object to whoever types it, and not a block with a label, if it can be one.
function asPlainScript(code) {
  const script = asScript(code);
  if (/^\s*\{[^]*[^;\s]\s*$/.test(script)) {
    try {
      const wrapped = strip(`(${script}\n)`, { mode: 'strip' });
      if (isScript(`async () => ${wrapped}`)) return wrapped;
    } catch {
      // it is a block
    }
  }
  return withoutTypes(script);
}

// ---- cells

let postTo;
function connect() {
  const session = new Session();
  session.connect();
  postTo = bound(session, 'post');
  disconnect = bound(session, 'disconnect');
}
let disconnect = () => {};
function post(method, parameters) {
  return new Promise((yes, no) => {
    postTo(method, parameters, (problem, answer) => (problem ? no(problem) : yes(answer)));
  });
}

// What the inspector names, as itself.
let taken;
let takerId = '';
async function begin() {
  connect();
  const name = 'atollTaker';
  defineProperty(main, name, { __proto__: null, value: (value) => { taken = value; }, configurable: true });
  takerId = (await post('Runtime.evaluate', { expression: name })).result.objectId;
  delete main[name];
}
const NUMBERS = { '-0': -0, NaN, Infinity, '-Infinity': -Infinity };
async function real(remote) {
  if (remote.objectId === undefined) {
    const odd = remote.unserializableValue;
    if (odd === undefined) return remote.value;
    return odd in NUMBERS ? NUMBERS[odd] : BigInt(odd.slice(0, -1));
  }
  await post('Runtime.callFunctionOn', { objectId: takerId, functionDeclaration: 'function (value) { this(value) }',
    arguments: [{ objectId: remote.objectId }] });
  const value = taken;
  taken = undefined;
  return value;
}

// V8 says where the syntax is wrong only beside the error.
function withPlace(problem, { lineNumber, columnNumber }) {
  if (!isNativeError(problem) || problem.name !== 'SyntaxError' || /\n\s+at /.test(`${problem.stack}`)) return problem;
  return syntaxError(problem.message, '', `${lineNumber + 1}:${columnNumber + 1}`);
}

// V8 tells when a promise that a cell waits for was collected, because nothing can settle it any more. Deno would tell a
// function of ours so, in the middle of the collection, and die of it. So the way in which cells wait for ever on
// purpose, `await new Promise(...)`, keeps its promise, and a cell that is left alone while it waits loses its session.
const kept = new Set();
let waits = false;
function keptPromise(executor) {
  const promise = new TheirPromise(executor), forget = () => { kept.delete(promise); };
  kept.add(promise);
  apply(theirThen, promise, [forget, forget]);
  return promise;
}
async function reconnect() {
  waits = false;
  disconnect();
  kept.clear();
  await begin();
}

async function runCell(code) {
  const expression = `${asPlainScript(code)}\n//# sourceURL=atoll-cell-${count}`;
  waits = true;
  const { result, exceptionDetails } = await post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true, objectGroup: 'cell' });
  waits = false;
  const value = await real(exceptionDetails?.exception ?? result).finally(() => post('Runtime.releaseObjectGroup', { objectGroup: 'cell' }));
  if (exceptionDetails !== undefined) throw withPlace(value, exceptionDetails);
  // A promise as the last value is waited for: what main() still says, and how it ends, belongs to the cell that called it.
  return { value: isPromise(value) ? await settled(value) : value };
}

function setVariables(changes) {
  const before = new Map();
  for (const change of changes) {
    const at = change.indexOf('='), key = change.slice(0, at);
    if (!before.has(key)) before.set(key, getVariable(key));
    setVariable(key, change.slice(at + 1));
  }
  return before;
}
function restoreVariables(before) {
  for (const [key, value] of before) {
    if (value === undefined) deleteVariable(key);
    else setVariable(key, value);
  }
}

async function execute(code, changes, its) {
  count += 1;
  mark = its;
  let ending = new Uint8Array(0), status = 0, before = new Map();
  try {
    before = setVariables(changes);
    const stopped = new Promise((_, reject) => { busy = reject; });
    const { value } = await Promise.race([runCell(code), stopped]);
    if (value !== undefined) ending = resultMessage(await bundle(value), true);
  } catch (problem) {
    status = 1;
    ending = errorMessage(problem);
  }
  busy = null;
  restoreVariables(before);
  if (waits) await reconnect();
  // The inspector keeps what was written to the console, and with it what it was about.
  await post('Runtime.discardConsoleEntries', {}).catch(giveUp);
  send(joined([ending, message('D', bytes(`${status} ${count}`))]));
}

// ---- what nobody asked for

function unheard(event, problem) {
  apply(preventDefault, event, []);
  if (busy !== null) busy(problem);
  else tell(`Uncaught ${plain(problem)}`);
}
main.addEventListener('error', (event) => unheard(event, event.error));
main.addEventListener('unhandledrejection', (event) => unheard(event, event.reason));
// The host says which cell it means. A signal does not, and may come when the next one runs: it is only kept from ending Deno.
Deno.addSignalListener('SIGINT', () => {});
function interrupt(its) {
  if (its === mark && busy !== null) busy(new KeyboardInterrupt());
}
defineProperty(main, Symbol.for('atoll.import'), { __proto__: null, value: load });
defineProperty(main, Symbol.for('atoll.kept'), { __proto__: null, value: keptPromise });

// Deno's own way to end does not work while the inspector evaluates a cell.
Deno.exit = (status) => exit(Number(status ?? Deno.exitCode));
process.reallyExit = (status) => exit(Number(status ?? 0));

// ---- messages from the host

let changes = [], named = '';
function take(kind, payload) {
  if (kind === 'X') {
    const code = decode(payload), now = changes, its = named;
    changes = [];
    queue = queue.then(() => execute(code, now, its));
  } else if (kind === 'A') {
    named = decode(payload);
  } else if (kind === 'V') {
    changes.push(decode(payload));
  } else if (kind === 'P') {
    const text = decode(payload), at = text.indexOf('=');
    setVariable(text.slice(0, at), text.slice(at + 1));
  } else if (kind === 'I') {
    interrupt(decode(payload));
  }
}
async function listen() {
  const room = new Uint8Array(1 << 16);
  let parts = [], held = 0, wanted = 0;  // what came and was not yet taken, its size, what the next message needs
  for (;;) {
    const size = Number(await settled(libc.receive(fd, room, room.length, 0)));
    if (size <= 0) exit(0);
    parts.push(room.slice(0, size));
    held += size;
    if (held < wanted) continue;
    let rest = parts.length === 1 ? parts[0] : joined(parts);
    for (;;) {
      const line = rest.indexOf(10);
      wanted = line < 0 ? 0 : line + 1 + Number(decode(rest.subarray(2, line)));
      if (line < 0 || rest.length < wanted) break;
      take(String.fromCharCode(rest[0]), rest.subarray(line + 1, wanted));
      rest = rest.subarray(wanted);
    }
    parts = [rest];
    held = rest.length;
  }
}
begin().then(() => {
  send(bytes('K 0\n'));
  return listen();
}).catch(giveUp);
