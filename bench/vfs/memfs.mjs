// The same operations on npm's memfs. Prints one line per figure: subject<TAB>operation<TAB>value<TAB>unit.
import { createRequire } from 'node:module';
const require = createRequire(process.argv[2] + '/');
const { Volume } = require('memfs');

const files = 100_000, directories = 1000;
const volume = new Volume();
const content = Buffer.alloc(1024, 'some text of a file that an agent writes, ');
const pad = (n, width) => String(n).padStart(width, '0');
const name = (i) => `/d${pad(i % directories, 3)}/file${pad(i, 5)}.txt`;
const seconds = (run) => {
  // Processor time, user and system, as the other side measures.
  const start = process.cpuUsage();
  run();
  const spent = process.cpuUsage(start);
  return (spent.user + spent.system) / 1e6;
};
const say = (operation, value, unit) => console.log(`memfs\t${operation}\t${value.toPrecision(4)}\t${unit}`);

const paths = Array.from({ length: files }, (_, i) => name(i));
for (let i = 0; i < directories; i++) volume.mkdirSync(`/d${pad(i, 3)}`);
let sum = 0;
say('create and write 1 KB', files / seconds(() => { for (const path of paths) volume.writeFileSync(path, content); }), 'files/s');
say('read 1 KB', files / seconds(() => { for (const path of paths) sum += volume.readFileSync(path).length; }), 'files/s');
say('stat', files / seconds(() => { for (const path of paths) sum += volume.statSync(path).size; }), 'calls/s');
say('list a directory of 100', seconds(() => {
  for (let i = 0; i < directories; i++) sum += volume.readdirSync(`/d${pad(i, 3)}`).length;
}) / directories * 1e6, 'us');
say('walk and stat the tree', (files + directories) / seconds(() => {
  const pending = ['/'];
  while (pending.length > 0) {
    const at = pending.pop();
    for (const entry of volume.readdirSync(at, { withFileTypes: true })) {
      const child = (at === '/' ? '' : at) + '/' + entry.name;
      if (entry.isDirectory()) pending.push(child);
      sum += volume.lstatSync(child).size;
    }
  }
}), 'nodes/s');
say('rename a directory', directories / seconds(() => {
  for (let i = 0; i < directories; i++) volume.renameSync(`/d${pad(i, 3)}`, `/r${pad(i, 3)}`);
}), 'calls/s');
say('delete the tree', files / seconds(() => { volume.rmSync('/', { recursive: true, force: true }); }), 'files/s');
