import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rateLimitIn } from '../../src/client/rate-limit.ts';
import { createThrottle, type Throttle } from '../../src/client/throttle.ts';
import { createRateLimiter } from '../../src/service/http/rate-limit.ts';
import { runs } from '../support/runs.ts';
import { randomOf } from '../support/seed.ts';

/** Number of connections of a client. */
const parallel = 16;

interface Load {
  readonly clients: number;
  readonly requestsEach: number;
  readonly perSecond: number;
  readonly latencyMs: number;
  readonly seed: number;
}

/** The default of the service: an idle token accumulates 20 s worth of requests. */
const burstOf = ({ perSecond }: Load): number => perSecond * 20;

const neededMs = (load: Load): number =>
  (Math.max(0, load.clients * load.requestsEach - burstOf(load)) / load.perSecond) * 1_000;

/**
 * Clients that share a token and send many requests, in virtual time. `tells`: all responses of the service have the
 * remaining rate limit, and not only rejections.
 */
function play(load: Load, tells = true) {
  const { clients, requestsEach, perSecond, latencyMs, seed } = load;
  let now = 0;
  const random = randomOf(seed);
  const events: { readonly at: number; readonly work: () => void }[] = [];
  const after = (ms: number, work: () => void): void => void events.push({ at: now + ms, work });
  const { admit, headersOf } = createRateLimiter({ perSecond, burst: burstOf(load) }, () => now);
  const ask = () => ({ ...admit('token'), headers: headersOf('token') });
  const servedOf = Array.from({ length: clients }, () => 0);
  const lastServedAt = Array.from({ length: clients }, () => 0);
  let refused = 0;
  /** Longest time that a client waited for its next successful response. */
  let longestGapMs = 0;
  let tookMs = 0;

  function work(client: number, throttle: Throttle): void {
    let left = requestsEach;
    let running = 0;
    let waits = false;

    function response(sentAt: number, { kind, headers, ...more }: ReturnType<typeof ask>): void {
      running -= 1;
      throttle.onEnd();
      const status = tells ? rateLimitIn(headers, now) : undefined;
      if (status !== undefined) throttle.observe(status, now);
      if (kind === 'refused') {
        refused += 1;
        left += 1;
        throttle.onRefusal(sentAt, 'retryAfterSeconds' in more ? more.retryAfterSeconds * 1_000 : undefined, now);
      } else {
        throttle.onUnlimited();
        servedOf[client] = (servedOf[client] ?? 0) + 1;
        longestGapMs = Math.max(longestGapMs, now - (lastServedAt[client] ?? 0));
        lastServedAt[client] = now;
        tookMs = now;
      }
      go();
    }

    function go(): void {
      while (!waits && left > 0 && running < parallel) {
        const delayMs = throttle.delayMs(now);
        if (delayMs > 0) {
          waits = true;
          after(delayMs, () => {
            waits = false;
            go();
          });
          return;
        }
        left -= 1;
        running += 1;
        throttle.onSend(now);
        const sentAt = now;
        const half = () => latencyMs * (0.25 + random() / 2);
        after(half(), () => {
          const admission = ask();
          after(half(), () => response(sentAt, admission));
        });
      }
    }
    go();
  }

  for (let client = 0; client < clients; client += 1) work(client, createThrottle(random));
  while (events.length > 0) {
    const next = events.reduce((first, event) => (event.at < first.at ? event : first));
    events.splice(events.indexOf(next), 1);
    now = next.at;
    next.work();
  }
  expect(servedOf).toEqual(servedOf.map(() => requestsEach));
  return { refused, tookMs, longestGapMs };
}

const load: fc.Arbitrary<Load> = fc.record({
  clients: fc.integer({ min: 1, max: 8 }),
  requestsEach: fc.integer({ min: 1, max: 200 }),
  perSecond: fc.constantFrom(1, 5, 20, 100, 1_000),
  latencyMs: fc.integer({ min: 1, max: 100 }),
  seed: fc.integer(),
});

describe('clients that share a rate-limited token', () => {
  const forAnyLoad = (check: (load: Load) => void): void =>
    fc.assert(fc.property(load, check), { numRuns: runs(60, 2_000) });

  test('are all served, with few refusals at the start, in little more time than the limit requires', () => {
    forAnyLoad((its) => {
      const { refused, tookMs, longestGapMs } = play(its);
      // Requests in progress when the first responses arrived, and occasional later ones.
      expect(refused).toBeLessThanOrEqual(2 * parallel * its.clients + 0.25 * its.clients * its.requestsEach);
      expect(tookMs).toBeLessThan(2 * neededMs(its) + 20_000);
      // With less than one request in two seconds per client, the longest gap is a matter of chance.
      if (its.perSecond >= its.clients / 2) expect(longestGapMs).toBeLessThan(120_000);
    });
  });

  test('are all served even if the service announces its limit only in refusals', () => {
    forAnyLoad((its) => {
      const { refused, tookMs } = play(its, false);
      expect(refused).toBeLessThanOrEqual(4 * parallel * its.clients + 4 * its.clients * its.requestsEach);
      expect(tookMs).toBeLessThan(3 * neededMs(its) + 20_000);
    });
  });

  test('do not wait while they stay within the limit', () => {
    forAnyLoad((its) => {
      const burst = burstOf(its);
      fc.pre(its.clients * its.requestsEach <= burst / 2 && burst >= 2 * parallel * its.clients);
      const { refused, tookMs } = play(its);
      expect(refused).toBe(0);
      expect(tookMs).toBeLessThanOrEqual((its.requestsEach / parallel + 1) * its.latencyMs * 1.5);
    });
  });
});

describe('a throttle', () => {
  const second = 1_000;
  const throttle = () => createThrottle(() => 0);

  test('pauses all requests after one refusal, for as long as the service asks', () => {
    const its = throttle();
    for (let request = 0; request < 100; request += 1) {
      expect(its.delayMs(0)).toBe(0);
      its.onSend(0);
    }
    its.onRefusal(0, 5 * second, 100);
    expect(its.delayMs(100)).toBe(5 * second);
    // Requests rejected at the same time add no information.
    its.onRefusal(0, 5 * second, 150);
    expect(its.delayMs(150)).toBe(5 * second);
    expect(its.delayMs(5_150)).toBe(0);
    // Then it starts again, one request after the other.
    its.onSend(5_150);
    expect(its.delayMs(5_150)).toBe(200);
  });

  test('pauses longer after each consecutive refusal, and starts over after a success', () => {
    const its = throttle();
    const delayAfterRefusal = (now: number): number => {
      its.onRefusal(now, undefined, now);
      return its.refusedUntil() - now;
    };
    const holds = [0, 1, 2, 3].map((turn) => delayAfterRefusal(turn * 60 * second));
    expect(holds).toEqual([250, 500, 1_000, 2_000]);
    its.onUnlimited();
    expect(delayAfterRefusal(600 * second)).toBe(250);
  });

  test('waits for the reset if the service reports that nothing remains', () => {
    const its = throttle();
    its.observe({ remaining: 0, resetMs: 7 * second, policy: undefined }, 0);
    expect(its.delayMs(0)).toBe(7 * second);
    expect(its.delayMs(7 * second)).toBe(0);
    expect(its.refusedUntil()).toBe(Number.NEGATIVE_INFINITY);
  });

  test('spreads the remaining requests, the wider the fewer remain', () => {
    const policy = { quota: 1_000, windowMs: 10 * second };
    const spacing = (remaining: number): number => {
      const its = throttle();
      its.onSend(0);
      its.onEnd();
      its.observe({ remaining, resetMs: 0, policy }, 0);
      return its.delayMs(0);
    };
    expect([900, 101, 100, 99, 50, 10].map(spacing)).toEqual([0, 0, 0, 100 / 9.9, 20, 100]);
  });

  test('pauses for at most five seconds between requests, however slowly a service restores its limit', () => {
    const its = throttle();
    its.onSend(0);
    its.onEnd();
    its.observe({ remaining: 1, resetMs: 0, policy: { quota: 100, windowMs: 3_600 * second } }, 0);
    expect(its.delayMs(0)).toBe(5 * second);
  });
});
