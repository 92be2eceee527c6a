import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileCommands = ['env', 'output', 'path', 'state', 'step_summary'] as const;

export type CommandFiles = Awaited<ReturnType<typeof createCommandFiles>>;

/** New, empty files for a main or a post. Facts about them and their format: actions/runner, `FileCommandManager.cs`. */
export async function createCommandFiles(runnerTemp: string) {
  const folder = join(runnerTemp, '_runner_file_commands', crypto.randomUUID());
  await mkdir(folder, { recursive: true });
  for (const kind of fileCommands) await writeFile(join(folder, kind), '');
  return {
    /** The variables with the paths. */
    variables: Object.fromEntries(fileCommands.map((kind) => [`GITHUB_${kind.toUpperCase()}`, join(folder, kind)])),
    /** The content of one file; empty if the step has deleted it. */
    read: (kind: (typeof fileCommands)[number]): Promise<string> =>
      readFile(join(folder, kind), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '';
        throw error;
      }),
  };
}

/**
 * The pairs in `name=value` and `name<<delimiter` form. A value that contains its own delimiter as a line ends there,
 * and the rest is read as further pairs: an injection if they can be parsed, an error if not. The pairs before a
 * mistake still count.
 */
export function* keyValuePairs(text: string): Generator<readonly [name: string, value: string]> {
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line === '') continue;
    const [, name = '', operator, rest = ''] = /^(.*?)(=|<<)(.*)$/s.exec(line) ?? [];
    if (operator === undefined || name === '') throw new Error(`Invalid format '${line}'`);
    if (operator === '=') {
      yield [name, rest];
      continue;
    }
    const end = rest === '' ? -1 : lines.indexOf(rest, at + 1);
    if (end < 0) throw new Error(`Invalid value. Matching delimiter not found '${rest}'`);
    yield [name, lines.slice(at + 1, end).join('\n')];
    at = end;
  }
}
