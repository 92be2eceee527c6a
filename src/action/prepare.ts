import { readFileSync } from 'node:fs';
import type { LockPath } from '../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../interface/parsed.ts';
import type { PathLine } from './inputs/path-lines.ts';
import type { ListLocksTask, LockTask, Task, UnlockTask } from './inputs/task.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type HandedLock, readHandedLocks } from './locks/handed-locks.ts';
import { asHanded, asNamed, type MeantLock, meantIn } from './locks/meant-lock.ts';

import { resolvePaths } from './paths/resolve-paths.ts';

/** A task with everything looked up that needs no request. */
export type Prepared =
  | Exclude<Task, LockTask | UnlockTask | ListLocksTask>
  | { readonly operation: 'lock'; readonly task: LockTask; readonly paths: readonly LockPath[] }
  | { readonly operation: 'unlock'; readonly task: UnlockTask; readonly toRelease: readonly MeantLock[] }
  | { readonly operation: 'list-locks'; readonly task: ListLocksTask; readonly paths: readonly LockPath[] };

export type Preparation =
  | { readonly ok: true; readonly prepared: Prepared }
  | { readonly ok: false; readonly problems: readonly string[] };

interface Place {
  readonly checkout: string;
  readonly service: string;
  readonly ledger: Ledger;
}

async function withPaths(
  lines: readonly PathLine[],
  { checkout }: Place,
  make: (paths: readonly LockPath[]) => Prepared,
): Promise<Preparation> {
  const resolved = await resolvePaths(lines, checkout);
  return resolved.ok ? { ok: true, prepared: make(resolved.paths) } : resolved;
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
      // With force, it does not matter whose lock is there.
      const meant = task.force ? asNamed : meantIn(place.ledger, place.service, workspace);
      return withPaths(target.paths, place, (paths) => ready(paths.map(meant)));
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

/** What can be wrong with a step is found out here, before its first request. */
export async function prepare(task: Task, place: Place): Promise<Preparation> {
  switch (task.operation) {
    case 'lock':
      return withPaths(task.paths, place, (paths) => ({ operation: 'lock', task, paths }));
    case 'unlock':
      return prepareUnlock(task, place);
    case 'list-locks':
      if (task.changedFiles) {
        return {
          ok: false,
          problems: [
            'Input `changed-files` is "true". This version cannot look up changed files yet: name the paths with `path`.',
          ],
        };
      }
      return withPaths(task.paths, place, (paths) => ({ operation: 'list-locks', task, paths }));
    default:
      return { ok: true, prepared: task };
  }
}
