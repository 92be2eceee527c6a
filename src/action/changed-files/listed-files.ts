import { asObject, isArray, type Json, nameIn } from '../../client/json.ts';
import { formatNumber, pluralize } from '../../interface/format.ts';
import { retryAdvice } from './change.ts';
import type { GitHub } from './github.ts';

/** A changed, added or removed file in a list from GitHub. */
export interface ListedFile {
  readonly name: string;
  /** The previous name of a renamed file. */
  readonly before: string | undefined;
}

/** The maximum number of files that GitHub lists for a pull request: docs.github.com, "List pull requests files". */
const maxPullRequestFiles = 3_000;

/** The attempts to read a list that changes meanwhile, or has fewer files than the count. */
const maxAttempts = 3;
const pauseMs = 1_000;

/**
 * The current files of a pull request. The list is compared with GitHub's count, and read again if someone has pushed
 * meanwhile: its pages would be inconsistent.
 */
export async function pullRequestFiles(
  github: GitHub,
  number: number,
  pause: (ms: number) => Promise<void>,
): Promise<readonly ListedFile[]> {
  let reason = 'It changed while its files were listed.';
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (attempt > 1) await pause(pauseMs);
    const before = await readState(github, number);
    if (before.changedFiles > maxPullRequestFiles) {
      throw new Error(
        `It changes ${pluralize(before.changedFiles, 'file')}, and GitHub lists at most ${formatNumber(maxPullRequestFiles)}. Split it, or name the files with \`path\` instead.`,
      );
    }
    const files = new Map<string, ListedFile>();
    for await (const page of github.pages('pulls/{number}/files', { number, per_page: 100 })) {
      for (const file of readFiles(page)) files.set(file.name, file);
    }
    const after = await readState(github, number);
    if (after.commits !== before.commits || after.changedFiles !== before.changedFiles) continue;
    if (files.size >= after.changedFiles) return [...files.values()];
    reason = `GitHub reports ${pluralize(after.changedFiles, 'changed file')}, but lists ${formatNumber(files.size)}.`;
  }
  throw new Error(`${reason} ${retryAdvice}`);
}

async function readState(github: GitHub, number: number) {
  const pull = asObject(await github.read('pulls/{number}', { number }));
  const head = nameIn(asObject(pull['head'])['sha']);
  const base = nameIn(asObject(pull['base'])['sha']);
  const changedFiles = pull['changed_files'];
  if (head === undefined || base === undefined || typeof changedFiles !== 'number') {
    throw new Error(
      `GitHub did not return the commits and the number of changed files of the pull request. ${retryAdvice}`,
    );
  }
  return { commits: `${base}...${head}`, changedFiles };
}

/** Fails on an unreadable entry: no file must be overlooked. */
export function readFiles(list: Json | undefined): readonly ListedFile[] {
  const files = isArray(list) ? list.map(readFile) : [undefined];
  if (!files.every((file) => file !== undefined))
    throw new Error(`GitHub sent a list of files that cannot be read. ${retryAdvice}`);
  return files;
}

function readFile(entry: Json): ListedFile | undefined {
  const { filename, status, previous_filename } = asObject(entry);
  const name = nameIn(filename);
  // Copying a file does not change the original.
  const before = status === 'copied' ? undefined : nameIn(previous_filename);
  return name === undefined ? undefined : { name, before };
}
