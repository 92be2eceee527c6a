import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { splitLines } from './lines.ts';
import {
  controlsOf,
  endOf,
  type ProcessEnd,
  type StepProcess,
  type StepProcessOptions,
  track,
} from './step-process.ts';

/** What it has to import, in which folder, and all of its environment. */
export interface KeptStep {
  readonly entry: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Stands on both streams after a step, with its exit code behind it. */
const endOfStep = '\u0000end of step ';

export interface KeptProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Runs one more step, and gives its exit code; undefined where the process has ended first. */
  run(step: KeptStep, onText: (stream: 'stderr' | 'stdout', text: string) => void): Promise<number | undefined>;
  /** It ends by itself. */
  end(): void;
}

/** It is told of a step by a line, imports its entry anew, and writes the mark at its end. */
const script = `
import { fileURLToPath } from 'node:url';
const crash = (error) => {
  // The test run was killed: to report this would fail for the same reason, for ever.
  if (error?.code === 'EPIPE') process.exit();
  console.error(error);
  process.exitCode = 1;
};
process.on('uncaughtException', crash);
const home = process.cwd();
let number = 0;
async function run({ entry, folder, environment }) {
  process.argv[1] = fileURLToPath(entry);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  process.exitCode = 0;
  number += 1;
  await import(entry + '?step=' + number).catch(crash);
  // What was thrown at the end of the step comes out after it.
  await new Promise((resolve) => setImmediate(resolve));
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  // Windows does not remove a folder in which a process is.
  process.chdir(home);
  for (const stream of [process.stdout, process.stderr]) stream.write(${JSON.stringify(endOfStep)} + process.exitCode + '\\n');
}
let rest = '';
for await (const text of process.stdin.setEncoding('utf8')) {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) await run(JSON.parse(line));
}
process.exit();
`;

/**
 * A process that runs one step after the other, each from its beginning: most of the time of a short step is the start
 * of its process. What matters to the end of a process, such as a socket that is left open, does not show here.
 */
export function openKeptProcess(environment: NodeJS.ProcessEnv): KeptProcess {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    // It is no process of a job.
    env: { ...environment, RUNNER_TRACKING_ID: undefined },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  track(child);
  const closed = new Promise<undefined>((resolve) => child.once('close', () => resolve(undefined)));
  child.stdin.on('error', () => undefined);
  for (const stream of ['stdout', 'stderr'] as const) child[stream].setEncoding('utf8');

  /** What comes on one stream until the step has ended, as soon as a line is whole. */
  const read = (stream: 'stderr' | 'stdout', onText: (text: string) => void): Promise<number> =>
    new Promise((resolve) => {
      let rest = '';
      const take = (text: string): void => {
        rest += text;
        const end = rest.indexOf(endOfStep);
        const whole = end < 0 ? rest.lastIndexOf('\n') + 1 : end;
        if (whole > 0) onText(rest.slice(0, whole));
        rest = rest.slice(whole);
        if (end < 0 || !rest.endsWith('\n')) return;
        child[stream].off('data', take);
        resolve(Number(rest.slice(endOfStep.length)));
      };
      child[stream].on('data', take);
    });

  return {
    child,
    async run(step, onText) {
      const streams = Promise.all(
        (['stdout', 'stderr'] as const).map((stream) => read(stream, (text) => onText(stream, text))),
      );
      child.stdin.write(`${JSON.stringify({ ...step, entry: pathToFileURL(step.entry).href })}\n`);
      return Promise.race([streams.then(([code]) => code), closed]);
    },
    end: () => child.stdin.end(),
  };
}

interface Idle {
  /** What a process takes from its start: its entry, and the variables that Node itself looks at. */
  readonly key: string;
  readonly kept: KeptProcess;
  /** Each has left a copy of the bundle in its memory. */
  readonly steps: number;
}

const maxIdle = 4;
const maxSteps = 40;
let idle: readonly Idle[] = [];

/** One that is idle does not keep this process from ending. */
function hold({ child }: KeptProcess, held: boolean): void {
  // Its streams are pipes, which Node has as sockets.
  for (const each of [child, child.stdin, child.stdout, child.stderr] as readonly (typeof child | Socket)[]) {
    if (held) each.ref();
    else each.unref();
  }
}

function takeFor(key: string, environment: NodeJS.ProcessEnv): Idle {
  const found = idle.find(
    ({ key: its, kept: { child } }) => its === key && (child.exitCode ?? child.signalCode) === null,
  );
  if (found === undefined) return { key, kept: openKeptProcess(environment), steps: 0 };
  idle = idle.filter((one) => one !== found);
  hold(found.kept, true);
  return found;
}

function giveBack({ key, kept, steps }: Idle): void {
  hold(kept, false);
  idle = [...idle, { key, kept, steps: steps + 1 }];
  for (const one of idle) if (one.steps === maxSteps || one === idle.at(-maxIdle - 1)) one.kept.end();
  idle = idle.filter((one) => one.steps < maxSteps).slice(-maxIdle);
}

/** A step in a process that others have used before it, or will use after it. */
export function startInKeptProcess(options: StepProcessOptions): StepProcess {
  const { command, environment, workingFolder, delays, onLine } = options;
  const [, entry = ''] = command;
  const nodes = Object.entries(environment).filter(([name]) => name.startsWith('NODE_'));
  const taken = takeFor(JSON.stringify([entry, ...nodes]), environment);
  const { child } = taken.kept;
  const splitters = {
    stdout: splitLines((text) => onLine({ stream: 'stdout', text })),
    stderr: splitLines((text) => onLine({ stream: 'stderr', text })),
  };
  const run = async (): Promise<ProcessEnd> => {
    const code = await taken.kept.run({ entry, folder: workingFolder, environment }, (stream, text) =>
      splitters[stream].push(text),
    );
    for (const splitter of Object.values(splitters)) splitter.end();
    if (code !== undefined) {
      giveBack(taken);
      return { code };
    }
    return endOf(child.exitCode, child.signalCode);
  };
  return controlsOf(child, run(), delays);
}
