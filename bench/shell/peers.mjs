// Answers the requests of bench/shell/run with a peer from npm: one JSON line in, one out. The files of a directory are
// read into its memory first.
// usage: node serve.mjs just-bash|bashkit DIRECTORY
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [peer, directory] = process.argv.slice(2);
const files = {};
const load = (host, path) => {
  for (const entry of readdirSync(host, { withFileTypes: true })) {
    const from = join(host, entry.name), to = `${path}/${entry.name}`;
    if (entry.isDirectory()) load(from, to);
    else files[to] = readFileSync(from, "utf8");
  }
};
load(directory, "/home/user");

const justBash = async () => {
  const { Bash } = await import("just-bash");
  const limits = { maxCommandCount: 1e9, maxLoopIterations: 1e9, maxCallDepth: 1000, maxAwkIterations: 1e9, maxSedIterations: 1e9, maxJqIterations: 1e9, maxGlobOperations: 1e9, maxStringLength: 1 << 30, maxArrayElements: 1e8 };
  const make = (options) => new Bash({ ...options, executionLimits: limits });
  const shell = make({ files, cwd: "/home/user" });
  return { make, shellFor: () => shell, run: (shell, script) => shell.exec(script) };
};

const bashkit = async () => {
  const { Bash } = await import("@everruns/bashkit");
  const make = (options) => new Bash({ ...options, maxCommands: 1e9, maxLoopIterations: 1e9, maxTotalLoopIterations: 1e9, maxMemory: 1e9 });
  const shell = make({ cwd: "/home/user" });
  for (const [path, text] of Object.entries(files)) {
    try {
      shell.fs().mkdir(path.slice(0, path.lastIndexOf("/")), true);
      shell.fs().writeFile(path, text);
    } catch {
      // Beyond what it may hold: scripts that need the file answer otherwise, and are marked.
    }
  }
  // It counts commands over its whole life, and stops: scripts that need no files get a shell of their own.
  const needsFiles = /text|small|docs|tree/;
  const shellFor = (script) => (needsFiles.test(script) ? shell : make({ cwd: "/home/user" }));
  return { make, shellFor, run: (one, script) => one.executeSync(script) };
};

const engine = await { "just-bash": justBash, bashkit }[peer]();

const create = async (count) => {
  globalThis.gc?.();
  const before = process.memoryUsage().rss, begin = performance.now();
  const alive = Array.from({ length: count }, () => engine.make({}));
  const create_us = ((performance.now() - begin) * 1000) / count;
  const bytes = (process.memoryUsage().rss - before) / count;
  return { create_us, bytes, alive: alive.length };
};

// At most five times a round: bashkit answers a thousand scripts and no more.
const run = async ({ script, least }) => {
  let ms = Infinity, cpu_ms = Infinity, out = "", spent = 0, runs = 0;
  do {
    const shell = engine.shellFor(script), cpu = process.cpuUsage(), start = performance.now();
    const done = await engine.run(shell, script);
    const wall = performance.now() - start, used = process.cpuUsage(cpu);
    ms = Math.min(ms, wall);
    cpu_ms = Math.min(cpu_ms, (used.user + used.system) / 1000);
    spent += wall;
    out = done.stdout;
  } while (spent < least && ++runs < 5);
  return { ms, cpu_ms, out };
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = request.create ? await create(request.create) : await run(request);
  } catch (error) {
    answer = { failed: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
