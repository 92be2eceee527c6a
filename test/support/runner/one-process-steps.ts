import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { keyValuePairs } from './file-commands.ts';
import type { ShortResult, ShortStep } from './one-process.ts';

/** What `startOneProcess` starts: it is told of a step by a message, runs it, and answers with what came of it. */

const folder = mkdtempSync(join(tmpdir(), 'one-process-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const entries = {
  main: new URL('../../../src/action/main.ts', import.meta.url).href,
  post: new URL('../../../src/action/post.ts', import.meta.url).href,
};
const temp = join(folder, 'temp');
const workspace = join(folder, 'workspace');
const commandFiles = { output: 'GITHUB_OUTPUT', state: 'GITHUB_STATE', summary: 'GITHUB_STEP_SUMMARY' } as const;
const fileOf = (name: keyof typeof commandFiles): string => join(folder, name);

const ownEnvironment = { ...process.env };
let crashes: string[] = [];
let log: Buffer[] = [];
let number = 0;

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
process.on('uncaughtException', (error) => crashes.push(stackOf(error)));
process.on('warning', (warning) => crashes.push(stackOf(warning)));
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (bytes: string | Uint8Array): boolean => {
    log.push(Buffer.from(bytes));
    return true;
  };
}

function setEnvironment(env: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, ownEnvironment, env, { RUNNER_TEMP: temp, GITHUB_WORKSPACE: workspace });
  for (const [name, variable] of Object.entries(commandFiles)) process.env[variable] = join(folder, name);
}

const savedIn = (state: string): Record<string, string> =>
  Object.fromEntries([...keyValuePairs(state)].map(([name, value]) => [`STATE_${name}`, value]));

async function run({ stage, env, files = {}, goesOn = false }: ShortStep): Promise<ShortResult> {
  const state = goesOn ? savedIn(readFileSync(fileOf('state'), 'utf8')) : {};
  if (!goesOn) rmSync(temp, { recursive: true, force: true, maxRetries: 3 });
  for (const made of [temp, workspace]) mkdirSync(made, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(temp, path)), { recursive: true });
    writeFileSync(join(temp, path), content);
  }
  for (const name of ['output', 'state', 'summary'] as const) writeFileSync(fileOf(name), '');
  setEnvironment({ ...state, ...env });
  crashes = [];
  log = [];
  process.exitCode = 0;
  number += 1;
  try {
    await import(`${entries[stage]}?step=${number}`);
  } catch (error) {
    crashes.push(stackOf(error));
  }
  // What was thrown at the end of the step comes out after it.
  await new Promise((resolve) => setImmediate(resolve));
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  const text = (name: keyof typeof commandFiles): string => readFileSync(fileOf(name), 'utf8');
  const exitCode = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return {
    exitCode,
    log: Buffer.concat(log).toString(),
    output: text('output'),
    state: text('state'),
    summary: text('summary'),
    crashes,
  };
}

process.on('message', async (step) => {
  // The other side sends nothing else.
  process.send?.(await run(step as ShortStep));
});
process.on('disconnect', () => process.exit());
