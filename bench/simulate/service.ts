import type { Answer } from '../../src/client/answer.ts';
import { createRateLimiter, type RateLimit } from '../../src/service/http/rate-limit.ts';
import { maxGroupSize } from '../../src/service/storage/commit-group.ts';
import { logNormal, type Random } from './chance.ts';
import { type Changed, createLockTable, rateLimited, stillRunning, type TakeRequest } from './lock-table.ts';
import type { ServiceTimes } from './service-times.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The service as a queue: instances with one thread each, and changes that share commits, one group at a time. */

export type Asked =
  | ({ readonly kind: 'take' } & TakeRequest)
  | { readonly kind: 'release'; readonly path: string; readonly match: string | undefined }
  /** A page of a list, with so many locks in it. */
  | { readonly kind: 'page'; readonly locks: number };

export interface ServiceOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly times: ServiceTimes;
  readonly instances: number;
  readonly rateLimit: RateLimit;
}

/** What the service counts. All of it only grows. */
export interface ServiceCounts {
  /** Attempts that arrived. */
  requests: number;
  /** Asked for a path that somebody holds. */
  polls: number;
  rateLimited: number;
  /** That would have been, had everybody had the same token. */
  rateLimitedOfOneToken: number;
  listedBytes: number;
  groups: number;
  changes: number;
  /** In which the writer was at work: there is one, over all instances. */
  writerMs: number;
  /** In which a thread was at work, all instances together. */
  threadMs: number;
}

interface Change {
  readonly costMs: (changed: Changed) => number;
  readonly make: () => Changed;
  readonly answer: (answer: Answer) => void;
}

const tidyEveryMs = 60_000;

/** All releases are of one's own locks: no limit holds for those. */
const isLimited = ({ kind }: Asked): boolean => kind !== 'release';

const page: Answer = { status: 200, headers: {}, body: { kind: 'empty' } };

export function createService({ time, random, times, instances, rateLimit }: ServiceOptions) {
  const table = createLockTable(time.now);
  const ofOneToken = createRateLimiter(rateLimit, time.now);
  const counts: ServiceCounts = {
    requests: 0,
    polls: 0,
    rateLimited: 0,
    rateLimitedOfOneToken: 0,
    listedBytes: 0,
    groups: 0,
    changes: 0,
    writerMs: 0,
    threadMs: 0,
  };

  /** On PostgreSQL the lock that all writers queue behind; one instance on SQLite never finds it taken. */
  const queuedWriters: (() => void)[] = [];
  let writing = false;

  function enterWriter(go: () => void): void {
    if (writing) {
      queuedWriters.push(go);
      return;
    }
    writing = true;
    go();
  }

  function leaveWriter(): void {
    const next = queuedWriters.shift();
    if (next === undefined) writing = false;
    else next();
  }

  function createInstance() {
    const { admit } = createRateLimiter(rateLimit, time.now);
    const running = new Set<string>();
    let arrived: (() => number)[] = [];
    const changes: Change[] = [];
    let atWork = false;
    let hasRead = false;
    let writer: 'not asked for' | 'waited for' | 'ours' = 'not asked for';

    /** As the event loop goes round: all requests that have arrived, then one group of changes. */
    function work(): void {
      if (atWork) return;
      if (writer === 'not asked for' && changes.length > 0 && (hasRead || arrived.length === 0)) {
        writer = 'waited for';
        enterWriter(() => {
          writer = 'ours';
          work();
        });
        if (atWork) return;
      }
      if (writer === 'ours') commitGroup();
      else if (arrived.length > 0) readRound();
    }

    function readRound(): void {
      atWork = true;
      hasRead = true;
      const round = arrived;
      arrived = [];
      let ms = 0;
      for (const read of round) ms += read();
      counts.threadMs += ms;
      time.after(ms, () => {
        atWork = false;
        work();
      });
    }

    function commitGroup(): void {
      atWork = true;
      hasRead = false;
      const group = changes.splice(0, maxGroupSize);
      let ms = times.groupMs;
      let wrote = false;
      const answers = group.map(({ make, costMs, answer }) => {
        const changed = make();
        ms += costMs(changed);
        wrote ||= changed.wrote;
        return () => answer(changed.answer);
      });
      if (wrote) ms += logNormal(random, times.flush.medianMs, times.flush.sigma);
      counts.groups += 1;
      counts.changes += group.length;
      counts.writerMs += ms;
      counts.threadMs += ms;
      time.after(ms, () => {
        for (const answer of answers) answer();
        atWork = false;
        writer = 'not asked for';
        leaveWriter();
        work();
      });
    }

    function change(make: () => Changed, answer: (answer: Answer) => void): void {
      changes.push({ make, costMs: ({ wrote }) => (wrote ? times.writeMs : times.refuseMs), answer });
    }

    function take(asked: TakeRequest, answer: (answer: Answer) => void): void {
      if (running.has(asked.key)) {
        answer(stillRunning);
        return;
      }
      const before = table.recall(asked.key);
      if (before !== undefined) {
        answer(before);
        return;
      }
      running.add(asked.key);
      change(
        () => {
          const changed = table.take(asked);
          if (changed.answer.status === 409) counts.polls += 1;
          return changed;
        },
        (told) => {
          running.delete(asked.key);
          answer(told);
        },
      );
    }

    /** Does what can be done at once, and gives how long the thread was at work for it. */
    function read(asked: Asked, token: string, answer: (answer: Answer) => void): number {
      if (!isLimited(asked)) return readAdmitted(asked, answer);
      const admission = admit(token);
      // Clients pace themselves by these fields.
      const answerWithLimit = (told: Answer): void =>
        answer({ ...told, headers: { ...told.headers, ...admission.headers } });
      if (admission.kind === 'admitted') return readAdmitted(asked, answerWithLimit);
      counts.rateLimited += 1;
      time.after(times.requestMs, () => answerWithLimit(rateLimited(admission.retryAfterSeconds)));
      return times.requestMs;
    }

    function readAdmitted(asked: Asked, answer: (answer: Answer) => void): number {
      switch (asked.kind) {
        case 'take':
          take(asked, answer);
          return times.requestMs;
        case 'release':
          change(() => table.release(asked.path, asked.match), answer);
          return times.requestMs;
        case 'page': {
          const ms = times.requestMs + asked.locks * times.listedMs;
          counts.listedBytes += asked.locks * times.listedBytes;
          time.after(ms, () => answer(page));
          return ms;
        }
      }
    }

    return (asked: Asked, token: string, answer: (answer: Answer) => void): void => {
      counts.requests += 1;
      if (isLimited(asked) && ofOneToken.admit('everybody').kind === 'refused') counts.rateLimitedOfOneToken += 1;
      arrived.push(() => read(asked, token, answer));
      work();
    };
  }

  const all = Array.from({ length: instances }, createInstance);
  let next = 0;

  const tidy = (): void => {
    table.tidy();
    time.after(tidyEveryMs, tidy);
  };
  time.after(tidyEveryMs, tidy);

  return {
    counts: counts as Readonly<ServiceCounts>,
    lockCount: table.count,
    /** Gives the request to the next instance; what it answers arrives after the time on the wire. */
    send(asked: Asked, token: string, answer: (answer: Answer) => void): void {
      const instance = all[next];
      next = (next + 1) % all.length;
      const half = times.wireMs / 2;
      time.after(half, () => instance?.(asked, token, (told) => time.after(half, () => answer(told))));
    },
  };
}

export type SimulatedService = ReturnType<typeof createService>;
