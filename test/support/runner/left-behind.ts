import { type CommandFiles, keyValuePairs, pathLines } from './file-commands.ts';
import type { Masks } from './masks.ts';
import type { StepLog } from './step-log.ts';

/** actions/runner, `FileCommandManager.cs`: a larger summary is rejected. */
const largestSummary = 1024 * 1024;

/** A variable of the block list in `FileCommandManager.cs`. */
const blocked = (name: string): boolean => name.toUpperCase() === 'NODE_OPTIONS';

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
  const paths = new Set<string>();
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
  for (const line of pathLines(await files.read('path'))) {
    paths.delete(line);
    paths.add(line);
  }
  await readPairs('env', (name, value) => {
    if (blocked(name)) log.say('error', `Can't store ${name} output parameter using '$GITHUB_ENV' command.`);
    else env.set(name, value);
  });
  const rawSummary = await files.read('step_summary');
  const summary = summaryOf(rawSummary, log, masks);
  await readPairs('state', (name, value) => put(state, name, value));
  await readPairs('output', (name, value) => put(outputs, name, value));
  return { outputs, env, paths: [...paths], rawSummary, summary, failed };
}
