// Answers the requests of bench/shell/run with npm's just-bash: the files of a directory are read into its memory.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Bash } from "just-bash";

const limits = { maxCommandCount: 1e9, maxLoopIterations: 1e9, maxCallDepth: 1000, maxAwkIterations: 1e9, maxSedIterations: 1e9, maxJqIterations: 1e9, maxGlobOperations: 1e9, maxStringLength: 1 << 30, maxArrayElements: 1e8 };
const files = {};
const load = (host, path) => {
  for (const entry of readdirSync(host, { withFileTypes: true })) {
    const from = join(host, entry.name), to = `${path}/${entry.name}`;
    if (entry.isDirectory()) load(from, to);
    else files[to] = readFileSync(from, "utf8");
  }
};
load(process.argv[2], "/home/user");
const bash = new Bash({ files, cwd: "/home/user", executionLimits: limits });

const create = async (count) => {
  globalThis.gc?.();
  const before = process.memoryUsage().rss, begin = performance.now();
  const alive = Array.from({ length: count }, () => new Bash({ executionLimits: limits }));
  const create_us = ((performance.now() - begin) * 1000) / count;
  const bytes = (process.memoryUsage().rss - before) / count;
  let best = Infinity;
  for (let i = 0; i < 200; ++i) {
    const start = performance.now();
    await alive[0].exec("echo hello");
    best = Math.min(best, (performance.now() - start) * 1000);
  }
  return { create_us, bytes, alive: alive.length, echo_us: best };
};

const run = async ({ script, rounds }) => {
  let ms = Infinity, out = "";
  for (let i = 0; i < rounds; ++i) {
    const start = performance.now();
    const done = await bash.exec(script);
    ms = Math.min(ms, performance.now() - start);
    out = done.stdout;
    if (ms > 20000) break;
  }
  return { ms, out };
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = request.create ? await create(request.create) : await run(request);
  } catch (error) {
    answer = { ms: NaN, out: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
