import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { controlsOf, endOf, type StepProcessOptions, splitLines, track } from './step-process.ts';

/** Marks the end of a step on both streams, followed by its exit code. */
const endOfStep = '\u0000end of step ';

/** Text of one of the two streams of a process. */
type OnText = (stream: 'stderr' | 'stdout', text: string) => void;

/** Reads steps as lines, loads the files of each again, and writes the mark when it exits. */
const script = `
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
const crash = (error) => {
  // The test run was killed: reporting the error would fail for the same reason, forever.
  if (error?.code === 'EPIPE') exit();
  console.error(error);
  process.exitCode = 1;
};
process.on('uncaughtException', crash);
let end = () => {};
process.on('unhandledRejection', (error) => {
  if (error !== ended) crash(error);
  end();
});
// A step ends with this call.
const exit = process.exit.bind(process);
const ended = new Error('The step has ended.');
process.exit = (code = process.exitCode) => {
  process.exitCode = code;
  throw ended;
};
const home = process.cwd();
let number = 0;
async function run({ entry, folder, environment }) {
  process.argv[1] = fileURLToPath(entry);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  process.exitCode = 0;
  number += 1;
  // An id that no process has: each step ends, and a later one must not end the process that it shares.
  Object.defineProperty(process, 'pid', { value: 4_194_304 + number, configurable: true });
  const require = createRequire(entry);
  for (const file of Object.keys(require.cache)) delete require.cache[file];
  await new Promise((resolve) => {
    end = resolve;
    require(process.argv[1]);
  }).catch((error) => error === ended || crash(error));
  // An error thrown at the end of the step is printed after it.
  await new Promise((resolve) => setImmediate(resolve));
  for (const event of ['SIGINT', 'SIGTERM', 'beforeExit']) process.removeAllListeners(event);
  // Windows cannot remove the working directory of a process.
  process.chdir(home);
  for (const stream of [process.stdout, process.stderr]) stream.write(${JSON.stringify(endOfStep)} + process.exitCode + '\\n');
}
let rest = '';
for await (const text of process.stdin.setEncoding('utf8')) {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) await run(JSON.parse(line));
}
exit();
`;

/**
 * A process that runs one step after the other, each from its beginning: a short step spends most of its time starting
 * a process. Effects on the end of a process, such as an open socket, do not show here.
 */
function openKeptProcess(environment: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    // The process does not belong to a job.
    env: { ...environment, RUNNER_TRACKING_ID: undefined },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  track(child);
  const closed = new Promise<undefined>((resolve) => child.once('close', () => resolve(undefined)));
  child.stdin.on('error', () => undefined);
  for (const stream of ['stdout', 'stderr'] as const) child[stream].setEncoding('utf8');

  /** Reads complete lines of one stream until the step has ended. */
  const read = (stream: 'stderr' | 'stdout', onText: OnText): Promise<number> =>
    new Promise((resolve) => {
      let rest = '';
      const take = (text: string): void => {
        rest += text;
        const end = rest.indexOf(endOfStep);
        const whole = end < 0 ? rest.lastIndexOf('\n') + 1 : end;
        if (whole > 0) onText(stream, rest.slice(0, whole));
        rest = rest.slice(whole);
        if (end < 0 || !rest.endsWith('\n')) return;
        child[stream].off('data', take);
        resolve(Number(rest.slice(endOfStep.length)));
      };
      child[stream].on('data', take);
    });

  return {
    child,
    /** Runs one more step, and returns its exit code; undefined if the process ended first. */
    async run(entry: string, folder: string, env: NodeJS.ProcessEnv, onText: OnText): Promise<number | undefined> {
      const streams = Promise.all([read('stdout', onText), read('stderr', onText)]);
      child.stdin.write(`${JSON.stringify({ entry: pathToFileURL(entry).href, folder, environment: env })}\n`);
      return Promise.race([streams.then(([code]) => code), closed]);
    },
    /** Lets the process end by itself. */
    end: () => child.stdin.end(),
  };
}

interface Idle extends ReturnType<typeof openKeptProcess> {
  /** The variables that a process reads at its start: those of Node.js itself. */
  readonly key: string;
  /** The number of steps so far; each has left a copy of the bundle in memory. */
  readonly steps: number;
}

/** More than the tests that a file runs at the same time: otherwise, each of them would start processes again and again. */
const maxIdle = 6;
const maxSteps = 40;

declare global {
  /** For all test files of a worker. Module state would be lost with the test file. */
  var idleStepProcesses: readonly Idle[] | undefined;
}

/** Prevents an idle process from keeping this one alive. */
function hold({ child }: Idle, held: boolean): void {
  // The streams are pipes, which Node.js represents as sockets.
  for (const each of [child, child.stdin, child.stdout, child.stderr] as readonly (typeof child | Socket)[]) {
    if (held) each.ref();
    else each.unref();
  }
}

function takeFor(key: string, environment: NodeJS.ProcessEnv): Idle {
  const idle = globalThis.idleStepProcesses ?? [];
  const found = idle.find((one) => one.key === key && (one.child.exitCode ?? one.child.signalCode) === null);
  if (found === undefined) return { ...openKeptProcess(environment), key, steps: 0 };
  globalThis.idleStepProcesses = idle.filter((one) => one !== found);
  hold(found, true);
  return found;
}

function giveBack(used: Idle): void {
  hold(used, false);
  const idle = [...(globalThis.idleStepProcesses ?? []), { ...used, steps: used.steps + 1 }];
  for (const one of idle) if (one.steps === maxSteps || one === idle.at(-maxIdle - 1)) one.end();
  globalThis.idleStepProcesses = idle.filter((one) => one.steps < maxSteps).slice(-maxIdle);
}

/** Starts a step in a process that is shared with earlier or later steps. */
export function startInKeptProcess({ command, environment, workingFolder, patience, onLine }: StepProcessOptions) {
  const [, entry = ''] = command;
  const nodes = Object.entries(environment).filter(([name]) => name.startsWith('NODE_'));
  const taken = takeFor(JSON.stringify(nodes), environment);
  const splitters = { stdout: splitLines(onLine), stderr: splitLines(onLine) };
  const ended = taken
    .run(entry, workingFolder, environment, (stream, text) => splitters[stream].push(text))
    .then((code) => {
      for (const splitter of Object.values(splitters)) splitter.end();
      if (code === undefined) return endOf(taken.child.exitCode, taken.child.signalCode);
      giveBack(taken);
      return { code };
    });
  return controlsOf(taken.child, ended, patience);
}
