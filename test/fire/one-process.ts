import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyValuePairs } from '../support/runner/file-commands.ts';
import { openKeptProcess } from '../support/runner/kept-process.ts';

export interface ShortStep {
  readonly stage: 'main' | 'post';
  /** The complete environment of the step, except for the files of the runner. */
  readonly env: Readonly<Record<string, string>>;
  /** Existing files, by their paths below the runner's temporary folder. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
  /** Keeps the runner's temporary folder and the saved state of the previous step. */
  readonly goesOn?: boolean;
}

export interface ShortResult {
  readonly exitCode: number;
  /** All bytes that it wrote to its log, as UTF-8. */
  readonly log: string;
  /** The files of the runner after the step. */
  readonly output: string;
  readonly state: string;
  readonly summary: string;
  /** Uncaught errors with their stacks, and warnings of Node.js. */
  readonly crashes: readonly string[];
}

const entryOf = (stage: 'main' | 'post'): string =>
  fileURLToPath(new URL(`../../src/action/${stage}.ts`, import.meta.url));

const variables = { output: 'GITHUB_OUTPUT', state: 'GITHUB_STATE', summary: 'GITHUB_STEP_SUMMARY' } as const;
const names = ['output', 'state', 'summary'] as const;

export type OneProcess = ReturnType<typeof startOneProcess>;

/**
 * Main and post of the action from their sources, each time from the beginning. All modules except the entry are loaded
 * only once: a step takes a few milliseconds, so that thousands of them can be tested.
 */
export function startOneProcess(env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'one-process-'));
  const [temp, workspace] = [join(folder, 'temp'), join(folder, 'workspace')];
  const own = { PATH: process.env['PATH'] ?? '', ...env };
  const { child, run, end } = openKeptProcess(own);
  const read = (name: (typeof names)[number]): string => readFileSync(join(folder, name), 'utf8');

  async function runNext({ stage, env: given, files = {}, goesOn = false }: ShortStep): Promise<ShortResult> {
    const saved = goesOn ? [...keyValuePairs(read('state'))].map(([name, value]) => [`STATE_${name}`, value]) : [];
    if (!goesOn) rmSync(temp, { recursive: true, force: true, maxRetries: 3 });
    for (const made of [temp, workspace]) mkdirSync(made, { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(temp, path)), { recursive: true });
      writeFileSync(join(temp, path), content);
    }
    for (const name of names) writeFileSync(join(folder, name), '');
    const runner = Object.fromEntries(names.map((name) => [variables[name], join(folder, name)]));
    const written = { stdout: '', stderr: '' };
    const exitCode = await run(
      {
        entry: entryOf(stage),
        folder: workspace,
        environment: {
          ...own,
          ...Object.fromEntries(saved),
          ...given,
          RUNNER_TEMP: temp,
          GITHUB_WORKSPACE: workspace,
          ...runner,
        },
      },
      (stream, text) => {
        written[stream] += text;
      },
    );
    if (exitCode === undefined) throw new Error(`The process ended during a step. ${written.stderr}`);
    return {
      exitCode,
      log: written.stdout,
      output: read('output'),
      state: read('state'),
      summary: read('summary'),
      crashes: written.stderr === '' ? [] : [written.stderr],
    };
  }

  let before: Promise<unknown> = Promise.resolve();
  return {
    run(step: ShortStep): Promise<ShortResult> {
      const result = before.then(() => runNext(step));
      before = result.catch(() => undefined);
      return result;
    },
    async end(): Promise<void> {
      const ended = new Promise((resolve) => child.once('close', resolve));
      end();
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
