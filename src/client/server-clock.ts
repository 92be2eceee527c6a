import type { IncomingHttpHeaders } from 'node:http';
import { timestamp } from './timestamp.ts';

/** Milliseconds since 1970. */
export type Clock = () => number;

const startedAt = Date.now() - process.uptime() * 1_000;

/** Does not jump when somebody sets the clock of the machine. `performance` does not either, and takes longer to load. */
export const steadyClock: Clock = () => startedAt + process.uptime() * 1_000;

/**
 * When the answer was made, by the clock of the server: RFC 9110 section 6.6.1, and 9111 section 5.1 for a cache's. A
 * time that no timestamp can tell is none: what is reckoned from it could not be written down.
 */
export function dateOf(headers: IncomingHttpHeaders): number | undefined {
  const date = Date.parse(headers.date ?? '');
  if (Number.isNaN(date)) return undefined;
  const [age = '0'] = /^\d{1,9}$/.exec(headers.age ?? '') ?? [];
  const told = date + Number(age) * 1_000;
  return timestamp(told) === undefined ? undefined : told;
}

export interface ServerClock {
  readonly now: Clock;
  saw(headers: IncomingHttpHeaders): void;
}

/** The clock of the server, as its last answer told; that of this machine until there was one. */
export function createServerClock(clock: Clock): ServerClock {
  let ahead = 0;
  return {
    now: () => clock() + ahead,
    saw: (headers) => {
      const date = dateOf(headers);
      if (date !== undefined) ahead = date - clock();
    },
  };
}
