import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { type Bench, inTurns } from '../benchmark.ts';
import { type Asked, openClient, type Target } from './request.ts';

/** Load of many clients. Each of them sends its next request as soon as it has the last response. */

export interface LoadPlan {
  /** Clients are spread evenly over the targets. */
  readonly targets: readonly Target[];
  readonly ask: 'for locks' | 'for locks over Git LFS' | 'for locks, renewed and released';
  /** Part of all paths and idempotency keys. It must be unique among the plans for one service. */
  readonly name: string;
  /** Each client has its own connection. */
  readonly clients: number;
  /** Requests during the warm-up do not count: code and caches are still cold. */
  readonly warmUpMs: number;
  /** Measured time, after the warm-up. */
  readonly ms: number;
}

/** Spreads paths over folders, like those of assets. */
export const lockPath = (name: string, number: number): string =>
  `Content/Region-${number % 97}/${name}/Level-${number}.umap`;

export const lockBody = (path: string): string => JSON.stringify({ path, type: 'exclusive', ttl: '1h' });

/** Requests to send one after the other. The first acquires a lock, and any others concern that lock. */
function questionsOf({ ask, name }: LoadPlan, number: number): readonly [Asked, ...Asked[]] {
  const path = lockPath(name, number);
  const lock = (status: number): Asked => ({
    method: 'POST',
    path: '/locks',
    statuses: [status],
    body: lockBody(path),
  });
  switch (ask) {
    case 'for locks':
      return [lock(201)];
    case 'for locks over Git LFS':
      return [{ ...lock(201), path: '/lfs/locks', body: JSON.stringify({ path }) }];
    case 'for locks, renewed and released':
      return [lock(201), lock(200), { method: 'DELETE', path: `/locks/${encodeURIComponent(path)}`, statuses: [204] }];
  }
}

/**
 * Returns the latencies of all requests that were answered within the measured time, from sending the request to the
 * end of the response, and their number per second. Only the first of several consecutive requests counts.
 */
export async function runLoad(plan: LoadPlan) {
  const { clients, warmUpMs, ms, name, targets } = plan;
  const latenciesMs: number[] = [];
  const countFrom = performance.now() + warmUpMs;
  const countUntil = countFrom + ms;
  let next = 0;

  async function client(target: Target): Promise<void> {
    const { ask, close } = openClient(target);
    const send = (asked: Asked, key: string, etag?: string) => {
      // Like the action, which sends a key with every POST.
      const headers = { 'idempotency-key': `${name}-${key}`, ...(etag !== undefined && { 'if-match': etag }) };
      return ask({ ...asked, headers });
    };
    while (performance.now() < countUntil) {
      const number = next;
      next += 1;
      const [first, ...more] = questionsOf(plan, number);
      const askedAt = performance.now();
      const { headers } = await send(first, String(number));
      const answeredAt = performance.now();
      for (const [index, asked] of more.entries()) await send(asked, `${number}-${index}`, headers.etag);
      if (answeredAt >= countFrom && answeredAt <= countUntil) latenciesMs.push(answeredAt - askedAt);
    }
    close();
  }

  const spread = Array.from({ length: clients }, (_, index) => targets[index % targets.length]);
  await Promise.all(spread.filter((target) => target !== undefined).map(client));
  return { latenciesMs, rate: (latenciesMs.length / ms) * 1_000 };
}

/** A load that is measured again in every round. */
export interface SeriesPlan extends Pick<LoadPlan, 'ask' | 'clients'> {
  readonly targets: (round: number) => readonly Target[] | Promise<readonly Target[]>;
  readonly afterRound?: (round: number) => Promise<void>;
}

export interface Series extends SeriesPlan {
  /** Responses per second, one number for each round. */
  readonly rates: number[];
  readonly latenciesMs: number[];
}

export const createSeries = (plan: SeriesPlan): Series => ({ ...plan, rates: [], latenciesMs: [] });

export async function measureSeries(
  bench: Bench,
  { rounds, ...times }: Pick<LoadPlan, 'warmUpMs' | 'ms'> & { readonly rounds: number },
  all: readonly Series[],
): Promise<void> {
  // Clients run in their own thread: they share no event loop with the servers and proxies of the benchmark.
  const clients = new Worker(import.meta.filename);
  bench.atEnd(() => clients.terminate());
  await inTurns(bench, rounds, [...all.entries()], async ([index, series], round) => {
    const { targets, afterRound, rates, latenciesMs, ...plan } = series;
    const asked = (await targets(round)).map(({ baseUrl, workspace, token }) => ({ baseUrl, workspace, token }));
    clients.postMessage({ ...times, ...plan, targets: asked, name: `${round}-${index}` });
    // The thread sends no other messages. If it fails, `once` rejects.
    const [one] = (await once(clients, 'message')) as [Awaited<ReturnType<typeof runLoad>>];
    await afterRound?.(round);
    rates.push(one.rate);
    for (const latency of one.latenciesMs) latenciesMs.push(latency);
  });
}

if (import.meta.main) parentPort?.on('message', async (plan) => parentPort?.postMessage(await runLoad(plan)));
