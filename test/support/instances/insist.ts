import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, ask, type Reply } from '../running-service.ts';

export interface Settled {
  readonly reply: Reply;
  /** How many attempts before it may have been done or not: their answers were lost. */
  readonly lost: number;
}

/** Counts of all requests of a run. */
export interface Traffic {
  requests: number;
  lostAnswers: number;
  /** What had been done by an attempt whose answer was lost, as its key proved. */
  proven: number;
}

const attemptMs = 20_000;
const patienceMs = 120_000;

/** An answer that leaves open whether the request was done, or says that an earlier attempt is still under way. */
const isOpen = ({ status, body }: Reply): boolean =>
  status >= 500 || (status === 409 && body?.type?.endsWith(':request-in-progress') === true);

/** Sends a request, again and again as it is, until it is known what became of it. */
export async function insist(
  traffic: Traffic,
  base: string,
  method: string,
  path: string,
  request: Ask,
): Promise<Settled> {
  const until = performance.now() + patienceMs;
  for (let lost = 0; ; lost += 1) {
    traffic.requests += 1;
    let why: string;
    try {
      const reply = await ask(base, method, path, { ...request, signal: AbortSignal.timeout(attemptMs) });
      if (reply.headers.has('idempotency-replayed')) traffic.proven += 1;
      if (!isOpen(reply)) return { reply, lost };
      why = `${reply.status} ${reply.text}`;
    } catch (error) {
      why = String(error);
    }
    traffic.lostAnswers += 1;
    if (performance.now() > until) throw new Error(`${method} ${path} has had no answer for too long: ${why}`);
    await sleep(100);
  }
}
