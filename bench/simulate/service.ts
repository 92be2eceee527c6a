import type { ClientResponse } from '../../src/client/response.ts';
import { createRateLimiter } from '../../src/service/http/rate-limit.ts';
import { createLockWaiters, type ReleasedLock } from '../../src/service/locks/waiters.ts';
import { maxGroupSize } from '../../src/service/storage/commit-group.ts';
import type { Random } from '../../test/support/seed.ts';
import type { VirtualTime } from '../../test/support/virtual-time.ts';
import { type Changed, createLockTable, rateLimited, stillRunning, type TakeRequest } from './lock-table.ts';
import { logNormal, type Workload } from './workload.ts';

/** The service as a queue: instances with one thread each, and changes of one workspace that share commits, in turn. */

export type Asked =
  | ({ readonly kind: 'take' } & TakeRequest)
  | { readonly kind: 'release'; readonly path: string; readonly match: string | undefined }
  /** For the path to come free (`Prefer: wait`). */
  | { readonly kind: 'wait'; readonly path: string; readonly seconds: number }
  /** Who holds the path now: the client asks after a 404. */
  | { readonly kind: 'look'; readonly path: string }
  /** A page of a list, with so many locks in it. */
  | { readonly kind: 'page'; readonly locks: number };

/** What the service's work costs, in milliseconds. The simulation knows nothing else of the machine. */
export interface ServiceTimes {
  /** Of every request: to read it, to know its token, to answer. */
  readonly requestMs: number;
  /** A path taken, or released. */
  readonly writeMs: number;
  /** A path asked for that somebody holds. */
  readonly refuseMs: number;
  /** Once for each group of changes. */
  readonly groupMs: number;
  /** Once more for a group in which something was written: until it is on disk. */
  readonly flush: { readonly medianMs: number; readonly sigma: number };
  /** One lock in a list. */
  readonly listedMs: number;
  readonly listedBytes: number;
  /** There and back, and the client's own work. */
  readonly wireMs: number;
}

export interface ServiceOptions extends Pick<Workload, 'instances' | 'rateLimit'> {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly times: ServiceTimes;
}

const newCounts = () => ({
  /** Attempts that arrived. */
  requests: 0,
  /** Asked for a path that somebody holds. */
  polls: 0,
  rateLimited: 0,
  /** That would have been, had everybody had the same token. */
  rateLimitedOfOneToken: 0,
  listedBytes: 0,
  groups: 0,
  changes: 0,
  /** In which the writer was at work: there is one for the workspace, over all instances. */
  writerMs: 0,
  /** In which a thread was at work, all instances together. */
  threadMs: 0,
});

export type ServiceCounts = Readonly<ReturnType<typeof newCounts>>;

type Reply = (response: ClientResponse) => void;

const workspace = 'game';
const cleanUpEveryMs = 60_000;
const page: ClientResponse = { status: 200, headers: {}, body: { kind: 'empty' } };
const neverGone = new AbortController().signal;

export function createService({ time, random, times, instances, rateLimit }: ServiceOptions) {
  const table = createLockTable(time.now);
  const ofOneToken = createRateLimiter(rateLimit, time.now);
  const counts = newCounts();
  const watchers = new Set<(lock: ReleasedLock) => void>();

  /**
   * On PostgreSQL the lock of the workspace that writers queue behind, the first of whom has it; one instance on SQLite never
   * finds it taken.
   */
  const writers: (() => void)[] = [];

  function createInstance() {
    const { admit } = createRateLimiter(rateLimit, time.now);
    const waiters = createLockWaiters({
      find: ({ path }) => new Promise((resolve) => time.fulfil(resolve, table.find(path))),
      watchOthers(onChange) {
        watchers.add(onChange);
        return () => watchers.delete(onChange);
      },
      after: (ms, work) => time.after(ms, () => time.fulfil(work, undefined)),
      ...{ onCount: () => undefined, onError: (error) => Promise.reject(error) },
    });
    const running = new Set<string>();
    const changes: { readonly make: () => Changed; readonly reply: Reply }[] = [];
    const arrived: (() => number)[] = [];
    let isAtWork = false;
    let hasRead = false;
    let writer: 'not asked for' | 'waited for' | 'ours' = 'not asked for';

    /** As the event loop goes round: all requests that have arrived, then one group of changes. */
    function work(): void {
      if (!isAtWork && writer === 'not asked for' && changes.length > 0 && (hasRead || arrived.length === 0)) {
        writer = 'waited for';
        const begin = (): void => {
          writer = 'ours';
          work();
        };
        if (writers.push(begin) === 1) begin();
      }
      if (isAtWork) return;
      if (writer === 'ours') commitGroup();
      else if (arrived.length > 0) readRound();
    }

    function workFor(ms: number, done = (): void => undefined): void {
      isAtWork = true;
      counts.threadMs += ms;
      time.after(ms, () => {
        isAtWork = false;
        done();
        work();
      });
    }

    function readRound(): void {
      hasRead = true;
      workFor(arrived.splice(0).reduce((ms, read) => ms + read(), 0));
    }

    function commitGroup(): void {
      hasRead = false;
      const group = changes.splice(0, maxGroupSize).map(({ make, reply }) => ({ ...make(), reply }));
      const written = group.filter(({ wrote }) => wrote).length;
      const work = times.groupMs + written * times.writeMs + (group.length - written) * times.refuseMs;
      const ms = work + (written === 0 ? 0 : logNormal(random, times.flush.medianMs, times.flush.sigma));
      counts.groups += 1;
      counts.changes += group.length;
      counts.writerMs += ms;
      workFor(ms, () => {
        for (const { response, reply } of group) reply(response);
        writer = 'not asked for';
        writers.shift();
        writers[0]?.();
      });
    }

    /** Does what can be done at once, and gives how long the thread was at work for it. */
    function read(asked: Asked, tokenId: string, response: Reply): number {
      // All releases are of one's own locks: no limit holds for those.
      const admission = asked.kind === 'release' ? undefined : admit(tokenId);
      // Clients pace themselves by these fields.
      const reply = (its: ClientResponse): void =>
        response({ ...its, headers: { ...its.headers, ...admission?.headers } });
      const ms = times.requestMs + (asked.kind === 'page' ? asked.locks * times.listedMs : 0);
      if (admission?.kind === 'refused') {
        counts.rateLimited += 1;
        time.after(times.requestMs, () => reply(rateLimited(admission.retryAfterSeconds)));
        return times.requestMs;
      }
      switch (asked.kind) {
        case 'take': {
          const { key } = asked;
          const known = running.has(key) ? stillRunning : table.replayed(key);
          if (known !== undefined) {
            reply(known);
            break;
          }
          running.add(key);
          changes.push({
            make: () => table.take(asked),
            reply(response) {
              if (response.status === 409) counts.polls += 1;
              running.delete(key);
              reply(response);
            },
          });
          break;
        }
        case 'release': {
          const { path, match } = asked;
          const id = match?.slice(1, -1) ?? '';
          changes.push({
            make: () => table.release(path, match),
            reply(response) {
              if (response.status === 204) for (const tell of watchers) tell({ workspace, path, id });
              reply(response);
            },
          });
          break;
        }
        case 'wait': {
          const { path, seconds } = asked;
          const waiting = waiters.wait({
            workspace,
            path,
            seconds,
            tokenId,
            owner: 'ci',
            origin: null,
            mayTake: true,
            gone: neverGone,
          });
          if (waiting === undefined) reply(table.listed(path));
          else void waiting.then(() => reply(table.waited(path, seconds)));
          break;
        }
        case 'look':
          reply(table.listed(asked.path));
          break;
        case 'page':
          counts.listedBytes += asked.locks * times.listedBytes;
          time.after(ms, () => reply(page));
      }
      return ms;
    }

    return (asked: Asked, token: string, reply: Reply): void => {
      counts.requests += 1;
      if (asked.kind !== 'release' && ofOneToken.admit('everybody').kind === 'refused')
        counts.rateLimitedOfOneToken += 1;
      arrived.push(() => read(asked, token, reply));
      work();
    };
  }

  const all = Array.from({ length: instances }, createInstance);
  let next = 0;

  function cleanUp(): void {
    table.removeExpired();
    time.after(cleanUpEveryMs, cleanUp);
  }
  time.after(cleanUpEveryMs, cleanUp);

  return {
    counts: counts as ServiceCounts,
    lockCount: table.size,
    /** Gives the request to the next instance; what it answers arrives after the time on the wire. */
    send(asked: Asked, token: string, reply: Reply): void {
      const instance = all[next];
      next = (next + 1) % all.length;
      const half = times.wireMs / 2;
      time.after(half, () => instance?.(asked, token, (response) => time.after(half, () => reply(response))));
    },
  };
}

export type SimulatedService = ReturnType<typeof createService>;
