import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Masks } from './masks.ts';
import type { StepLog } from './step-log.ts';

const fileCommands = ['env', 'output', 'path', 'state', 'step_summary'] as const;
type FileCommand = (typeof fileCommands)[number];

const prefixes: Readonly<Record<FileCommand, string>> = {
  env: 'set_env_',
  output: 'set_output_',
  path: 'add_path_',
  state: 'save_state_',
  step_summary: 'step_summary_',
};

export type CommandFiles = Awaited<ReturnType<typeof createCommandFiles>>;

/**
 * New, empty files for a main or a post. Facts about them and their format: actions/runner, `FileCommandManager.cs`. On
 * Windows a CR LF ends a line too; elsewhere the CR belongs to the line, as here.
 */
export async function createCommandFiles(runnerTemp: string) {
  const folder = join(runnerTemp, '_runner_file_commands');
  const suffix = randomUUID();
  const pathOf = (kind: FileCommand): string => join(folder, prefixes[kind] + suffix);
  await mkdir(folder, { recursive: true });
  for (const kind of fileCommands) await writeFile(pathOf(kind), '');
  return {
    /** The variables with the paths. */
    variables: Object.fromEntries(fileCommands.map((kind) => [`GITHUB_${kind.toUpperCase()}`, pathOf(kind)])),
    /** The content of one file; empty if the step has deleted it. */
    async read(kind: FileCommand): Promise<string> {
      return readFile(pathOf(kind), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '';
        throw error;
      });
    },
  };
}

/** The lines of a text, each with whether it has a line end. */
function* linesOf(text: string): Generator<{ readonly line: string; readonly ended: boolean }, undefined> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n', from);
    yield end < 0 ? { line: text.slice(from), ended: false } : { line: text.slice(from, end), ended: true };
    from = end < 0 ? text.length : end + 1;
  }
  return undefined;
}

function readHeredoc(lines: ReturnType<typeof linesOf>, delimiter: string): string {
  const value: string[] = [];
  for (let next = lines.next(); next.value !== undefined; next = lines.next()) {
    if (next.value.line === delimiter) return value.join('\n');
    if (!next.value.ended) throw new Error('Invalid value. EOF marker missing new line.');
    value.push(next.value.line);
  }
  throw new Error(`Invalid value. Matching delimiter not found '${delimiter}'`);
}

/**
 * The pairs in `name=value` and `name<<delimiter` form. A value that contains its own delimiter as a line ends there,
 * and the rest is read as further pairs: an injection if they can be parsed, an error if not. The pairs before a
 * mistake still count.
 */
export function* keyValuePairs(text: string): Generator<readonly [name: string, value: string]> {
  const lines = linesOf(text);
  for (let next = lines.next(); next.value !== undefined; next = lines.next()) {
    const { line } = next.value;
    if (line === '') continue;
    const [, name = '', operator, rest = ''] = /^(.*?)(=|<<)(.*)$/s.exec(line) ?? [];
    if (operator === undefined) throw new Error(`Invalid format '${line}'`);
    if (name === '') throw new Error(`Invalid format '${line}'. Name must not be empty`);
    if (operator === '=') {
      yield [name, rest];
    } else {
      if (rest === '') throw new Error(`Invalid format '${line}'. Delimiter must not be empty`);
      yield [name, readHeredoc(lines, rest)];
    }
  }
}

/** actions/runner, `FileCommandManager.cs`: a larger summary is rejected. */
const largestSummary = 1024 * 1024;

/** The runner ignores case in the names of outputs and saved state; the first spelling stays. */
function put(into: Map<string, string>, name: string, value: string): void {
  const known = [...into.keys()].find((key) => key.toLowerCase() === name.toLowerCase());
  into.set(known ?? name, value);
}

function summaryOf(raw: string, log: StepLog, masks: Masks): string {
  const size = Buffer.byteLength(raw);
  if (size > largestSummary) {
    log.say(
      'error',
      `$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of ${largestSummary / 1024}k, got ${Math.floor(size / 1024)}k.`,
    );
    return '';
  }
  // Line by line, as in `CreateStepSummaryCommand`.
  return raw
    .split(/\r\n|\r|\n/)
    .map((line) => masks.apply(line))
    .join('\n');
}

/**
 * Reads the files of a step that has ended in any way: the runner also accepts the data of a killed process
 * (`ActionRunner.cs`). Adds to `state`.
 */
export async function readWhatIsLeft(step: {
  readonly files: CommandFiles;
  readonly masks: Masks;
  readonly state: Map<string, string>;
  readonly log: StepLog;
}) {
  const { files, masks, state, log } = step;
  const outputs = new Map<string, string>();
  const env = new Map<string, string>();
  let failed = false;

  const readPairs = async (kind: 'env' | 'output' | 'state', take: (name: string, value: string) => void) => {
    const text = await files.read(kind);
    try {
      for (const [name, value] of keyValuePairs(text)) take(name, value);
    } catch (error) {
      failed = true;
      log.say('error', `Unable to process file command '${kind}' successfully.`);
      log.say('error', error instanceof Error ? error.message : String(error));
    }
  };
  await readPairs('env', (name, value) => {
    env.set(name, value);
  });
  const rawSummary = await files.read('step_summary');
  const summary = summaryOf(rawSummary, log, masks);
  await readPairs('state', (name, value) => put(state, name, value));
  await readPairs('output', (name, value) => put(outputs, name, value));
  return { outputs, env, rawSummary, summary, failed };
}
