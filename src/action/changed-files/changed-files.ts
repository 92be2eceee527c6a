import type { Within } from '../../client/call.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { tellRetries } from '../connect.ts';
import type { Parts } from '../operations/parts.ts';
import { adviceOn } from './advice.ts';
import { type Change, nameOf } from './change.ts';
import { filesBetween, filesSince } from './compared-files.ts';
import { type GitHub, openGitHub } from './github.ts';
import { openGitHubCall } from './github-call.ts';
import type { ListedFile } from './listed-file.ts';
import { pullRequestFiles } from './pull-request-files.ts';
import type { ChangeSource } from './source.ts';

export interface ChangedFiles {
  /** Such as "pull request #7". */
  readonly of: string;
  readonly files: number;
  /** Each once, of a renamed file both names; without those that cannot be locked. */
  readonly paths: readonly LockPath[];
}

type Pause = (ms: number) => Promise<void>;

async function filesOf(change: Change, github: GitHub, pause: Pause): Promise<readonly ListedFile[]> {
  switch (change.kind) {
    case 'pull-request':
      return pullRequestFiles(github, change.number, pause);
    case 'push':
      return filesBetween(github, change.before, change.after);
    case 'new-ref':
      return filesSince(github, change.defaultBranch, change.after);
    case 'deleted-ref':
      return [];
    case 'merge-group':
      return filesBetween(github, change.base, change.head);
  }
}

type LookUpParts = Pick<Parts, 'clock' | 'sleep' | 'random' | 'signal' | 'log' | 'requestTimeoutMs' | 'retries'>;

/** Looks up at GitHub which files the pull request or the push changes: all of them, or an error says why not. */
export async function lookUpChangedFiles(
  { change, repository, apiUrl, token }: ChangeSource,
  parts: LookUpParts,
  within: Within,
): Promise<ChangedFiles> {
  const { log, signal } = parts;
  const tell = tellRetries(log);
  const { call, close } = openGitHubCall({
    ...parts,
    apiUrl: new URL(apiUrl),
    token,
    onRetry: (retry) => tell({ ...retry, why: `GitHub: ${retry.why}` }),
  });
  const of = nameOf(change);
  try {
    const github = openGitHub({ apiUrl, repository, token, call, within });
    const files = await filesOf(change, github, (ms) => parts.sleep(ms, signal));
    const paths = new Set<LockPath>();
    for (const name of new Set(files.flatMap(({ name, before }) => (before === undefined ? name : [name, before])))) {
      const path = parseHeldPath(name);
      if (path.ok) paths.add(path.value);
      else log.debug(`Passed over ${JSON.stringify(name)}, which cannot be locked. ${path.why}`);
    }
    return { of, files: new Set(files.map(({ name }) => name)).size, paths: [...paths] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const where = `${repository.owner}/${repository.repo}`;
    throw new Error(`The files of ${of} of ${where} could not be looked up. ${why}${adviceOn(error, change)}`);
  } finally {
    close();
  }
}
