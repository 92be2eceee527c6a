import { readFileSync } from 'node:fs';
import type { LockPath } from '../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../interface/parsed.ts';
import { findSource, type GitHubPlace } from './changed-files/source.ts';
import type { PathLine } from './inputs/path-lines.ts';
import type { ListLocksTask, LockTask, Task, UnlockTask } from './inputs/task.ts';
import { readJobLocks } from './ledger/job-locks.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type HandedLock, readHandedLocks } from './locks/handed-locks.ts';
import { asForced, asHanded, type MeantLock, meantIn } from './locks/meant-lock.ts';

import type { LockExtent } from './operations/lock-extent.ts';
import { resolvePaths } from './paths/resolve-paths.ts';

/** A task with everything looked up that needs no request. */
export type Prepared =
  | Exclude<Task, LockTask | UnlockTask | ListLocksTask>
  | { readonly operation: 'lock'; readonly task: LockTask; readonly paths: readonly LockPath[] }
  | { readonly operation: 'unlock'; readonly task: UnlockTask; readonly toRelease: readonly MeantLock[] }
  | { readonly operation: 'list-locks'; readonly task: ListLocksTask; readonly extent: LockExtent };

export type Preparation =
  | { readonly ok: true; readonly prepared: Prepared }
  | { readonly ok: false; readonly problems: readonly string[] };

interface Place {
  readonly checkout: string;
  readonly service: string;
  readonly ledger: Ledger;
  readonly github: GitHubPlace;
}

async function withPaths(
  lines: readonly PathLine[],
  { checkout }: Place,
  make: (paths: readonly LockPath[]) => Prepared,
): Promise<Preparation> {
  const resolved = await resolvePaths(lines, { checkout });
  return resolved.ok ? { ok: true, prepared: make(resolved.paths.map(({ path }) => path)) } : resolved;
}

function readText(file: string): Parsed<string> {
  try {
    return accepted(readFileSync(file, 'utf8'));
  } catch (error) {
    return refused(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function locksIn(file: string): Parsed<readonly HandedLock[]> {
  const text = readText(file);
  return text.ok ? readHandedLocks(text.value) : text;
}

async function prepareUnlock(task: UnlockTask, place: Place): Promise<Preparation> {
  const { target, workspace } = task;
  const ready = (toRelease: readonly MeantLock[]): Prepared => ({ operation: 'unlock', task, toRelease });
  switch (target.kind) {
    case 'paths': {
      const jobLocks = readJobLocks(place.ledger, place.service, workspace);
      const lockedPaths = [...jobLocks.held.keys()];
      const resolved = await resolvePaths(target.paths, { checkout: place.checkout, lockedPaths });
      if (!resolved.ok) return resolved;
      return { ok: true, prepared: ready(resolved.paths.map(task.force ? asForced : meantIn(jobLocks))) };
    }
    case 'locks':
      return { ok: true, prepared: ready(target.locks.map(asHanded)) };
    case 'locks-file': {
      const locks = locksIn(target.file);
      if (locks.ok) return { ok: true, prepared: ready(locks.value.map(asHanded)) };
      return { ok: false, problems: [`Input \`locks-file\` is ${JSON.stringify(target.file)}. ${locks.why}`] };
    }
  }
}

async function prepareListLocks(task: ListLocksTask, place: Place): Promise<Preparation> {
  const { scope } = task;
  const ready = (extent: LockExtent): Prepared => ({ operation: 'list-locks', task, extent });
  switch (scope.kind) {
    case 'paths':
      return withPaths(scope.paths, place, (paths) =>
        ready(paths.length === 0 ? { kind: 'workspace' } : { kind: 'paths', paths }),
      );
    case 'changed-files': {
      const source = findSource(place.github, { token: scope.githubToken, allowHttp: scope.allowHttp });
      if (source.ok) return { ok: true, prepared: ready({ kind: 'changed-files', source: source.value }) };
      return { ok: false, problems: [`Input \`changed-files\` is "true". ${source.why}`] };
    }
  }
}

/** What can be wrong with a step is found out here, before its first request. */
export async function prepare(task: Task, place: Place): Promise<Preparation> {
  switch (task.operation) {
    case 'lock':
      return withPaths(task.paths, place, (paths) => ({ operation: 'lock', task, paths }));
    case 'unlock':
      return prepareUnlock(task, place);
    case 'list-locks':
      return prepareListLocks(task, place);
    default:
      return { ok: true, prepared: task };
  }
}
