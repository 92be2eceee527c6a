import { Refusal } from '../../contract/problem.ts';

export interface LivePageLimits {
  /** Each page holds a connection, and is sent every change. */
  readonly total: number;
  readonly perSession: number;
  /** So that the pages of one workspace leave room for those of all others. */
  readonly perWorkspace: number;
}

export const livePageLimits: LivePageLimits = { total: 256, perSession: 16, perWorkspace: 128 };

/** Takes a place for a page, and gives what frees it; refuses the page where there is none. */
export type LivePageQuota = (page: { readonly session: string; readonly workspace: string }) => () => void;

const againAfterSeconds = 30;

const full = (why: string): Refusal =>
  new Refusal('unavailable', `${why} This one shows what there was when it was opened.`, {
    headers: { 'retry-after': String(againAfterSeconds) },
  });

export function createLivePageQuota(limits: LivePageLimits = livePageLimits): LivePageQuota {
  const bySession = new Map<string, number>();
  const byWorkspace = new Map<string, number>();
  let total = 0;

  function add(counts: Map<string, number>, key: string, difference: 1 | -1): void {
    const count = (counts.get(key) ?? 0) + difference;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  }

  return ({ session, workspace }) => {
    if ((bySession.get(session) ?? 0) >= limits.perSession) {
      throw full(`At most ${limits.perSession} live pages can be open with one sign-in: close some.`);
    }
    if ((byWorkspace.get(workspace) ?? 0) >= limits.perWorkspace) {
      throw full(`At most ${limits.perWorkspace} live pages of one workspace can be open.`);
    }
    if (total >= limits.total) throw full(`At most ${limits.total} live pages can be open.`);
    const count = (difference: 1 | -1): void => {
      add(bySession, session, difference);
      add(byWorkspace, workspace, difference);
      total += difference;
    };
    count(1);
    let isOpen = true;
    return () => {
      if (isOpen) count(-1);
      isOpen = false;
    };
  };
}
