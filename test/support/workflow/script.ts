import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../runner/step-process.ts';

/** actions/runner, `ScriptHandlerHelpers.cs`. The default shell is `bash -e` on a machine with bash. */
const shells: Readonly<Record<string, string>> = {
  '': 'bash -e {0}',
  bash: 'bash --noprofile --norc -eo pipefail {0}',
  sh: 'sh -e {0}',
};

/** Writes the text of `run:` into a file, as the runner does, and returns the command of its shell. */
export async function scriptCommand(text: string, shell: string | undefined, temp: string): Promise<Command> {
  const template = shells[shell ?? ''] ?? shell ?? '';
  if (!template.includes('{0}')) throw new Error(`The runner of the tests has no shell ${template}.`);
  const file = join(temp, `${randomUUID()}.sh`);
  await writeFile(file, `${text}\n`);
  const [program = '', ...values] = template.split(' ').map((part) => part.replace('{0}', () => file));
  return [program, ...values];
}
