import type { BranchName } from '../../interface/branch-name.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type BranchHeads, type Mirror, removeLeftovers } from './bare-repository.ts';
import type { Limits } from './run-git.ts';

/** Coordinates the work that writes to mirrors. */
export function createMirrorWrites(mirrorOf: (workspace: string) => Mirror) {
  const writers = new Map<string, number>();
  /** Branches that are being fetched, as `workspace branch`. */
  const fetching = new Map<string, Promise<void>>();
  const keyOf = (workspace: string, branch: BranchName): string => `${workspace} ${branch}`;

  /** Failed work leaves files, for example on a full disk. They are removed once nothing else writes to the mirror. */
  async function writePacks<T>(workspace: string, work: (mirror: Mirror) => Promise<T>): Promise<T> {
    const mirror = mirrorOf(workspace);
    const count = (change: 1 | -1): void => void writers.set(workspace, (writers.get(workspace) ?? 0) + change);
    count(1);
    try {
      return await work(mirror);
    } finally {
      count(-1);
      if (writers.get(workspace) === 0) {
        writers.delete(workspace);
        await removeLeftovers(mirror.repository);
      }
    }
  }

  /** Runs fetches of a branch one at a time: all write its ref, and each finds the objects of the last one. */
  async function fetchInTurn<T>(
    workspace: string,
    { signal }: Limits,
    branches: readonly BranchName[],
    work: (mirror: Mirror) => Promise<T>,
  ): Promise<T> {
    const keys = branches.map((branch) => keyOf(workspace, branch));
    const busy = (): Promise<void> | undefined => keys.map((key) => fetching.get(key)).find((fetch) => fetch);
    for (let before = busy(); before !== undefined; before = busy()) {
      await (signal === undefined ? before : unlessAborted(before, signal));
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const key of keys) fetching.set(key, promise);
    try {
      return await writePacks(workspace, work);
    } finally {
      for (const key of keys) fetching.delete(key);
      resolve();
    }
  }

  /**
   * Fetches the free branches together, and then the others, waiting for one of them at a time: to wait until none of
   * them is being fetched could take as long as there are syncs.
   */
  async function fetchEachInTurn(
    workspace: string,
    limits: Limits,
    heads: BranchHeads,
    fetch: (mirror: Mirror, heads: BranchHeads) => Promise<void>,
  ): Promise<void> {
    let waiting = [...heads];
    while (waiting.length > 0) {
      const free = waiting.filter(([branch]) => !fetching.has(keyOf(workspace, branch)));
      const next = new Map(free.length > 0 ? free : waiting.slice(0, 1));
      await fetchInTurn(workspace, limits, [...next.keys()], (mirror) => fetch(mirror, next));
      waiting = waiting.filter(([branch]) => !next.has(branch));
    }
  }

  return { writePacks, fetchInTurn, fetchEachInTurn };
}
