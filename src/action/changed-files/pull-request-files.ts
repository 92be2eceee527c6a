import { asObject, nameIn } from '../../client/json.ts';
import { count, grouped } from '../report/words.ts';
import type { GitHub } from './github.ts';
import { type ListedFile, readFiles } from './listed-file.ts';

/** GitHub lists no more of a pull request: docs.github.com, "List pull requests files". */
const mostListed = 3_000;

/** How often a list is begun anew that did not stay the same while it was read, or is behind the count. */
const mostTurns = 3;
const pauseMs = 1_000;

interface State {
  readonly commits: string;
  readonly changedFiles: number;
}

async function readState(github: GitHub, number: number): Promise<State> {
  const pull = asObject(await github.read('pulls/{number}', { number }));
  const head = nameIn(asObject(pull['head'])['sha']);
  const base = nameIn(asObject(pull['base'])['sha']);
  const changedFiles = pull['changed_files'];
  if (head === undefined || base === undefined || typeof changedFiles !== 'number') {
    throw new Error('GitHub does not say of the pull request how many files it changes, and between which commits.');
  }
  return { commits: `${base}...${head}`, changedFiles };
}

/**
 * All files of a pull request as it is now. The list is held against the count that GitHub gives beside it, and read
 * anew where somebody has pushed meanwhile: its pages would not fit together.
 */
export async function pullRequestFiles(
  github: GitHub,
  number: number,
  pause: (ms: number) => Promise<void>,
): Promise<readonly ListedFile[]> {
  let seen = 'It did not stay the same while its files were listed.';
  for (let turn = 1; turn <= mostTurns; turn += 1) {
    if (turn > 1) await pause(pauseMs);
    const before = await readState(github, number);
    if (before.changedFiles > mostListed) {
      throw new Error(
        `It changes ${count(before.changedFiles, 'file')}, and GitHub lists ${grouped(mostListed)} at the most. Split it, or name the files with \`path\` instead.`,
      );
    }
    const files = new Map<string, ListedFile>();
    for await (const page of github.pages('pulls/{number}/files', { number, per_page: 100 })) {
      for (const file of readFiles(page)) files.set(file.name, file);
    }
    const after = await readState(github, number);
    if (after.commits !== before.commits || after.changedFiles !== before.changedFiles) continue;
    if (files.size >= after.changedFiles) return [...files.values()];
    seen = `GitHub says that it changes ${count(after.changedFiles, 'file')}, and lists ${grouped(files.size)}.`;
  }
  throw new Error(`${seen} Run the job again, or name the files with \`path\`.`);
}
