import { Agent } from 'node:http';
import { type Bench, inTurns } from '../benchmark.ts';
import { answerParent, startHelper } from '../process.ts';
import { ask } from './request.ts';

/** Many clients that each ask again as soon as they are answered, in a process of their own. */

/** A workspace, asked for at an instance of the service. */
export interface Target {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly workspace: string;
  readonly token: string;
}

export interface LoadPlan {
  /** The clients are spread evenly over them. */
  readonly targets: readonly Target[];
  readonly ask: 'for locks' | 'for locks, renewed and released' | 'for a held lock' | 'for syncs';
  /** The start of all paths and keys, which no other plan for the same service has. */
  readonly name: string;
  /** Each has a connection of its own. */
  readonly clients: number;
  /** What is asked at first does not count: code and caches are still cold. */
  readonly warmUpMs: number;
  readonly end:
    | { readonly kind: 'after'; readonly ms: number }
    | { readonly kind: 'requests'; readonly number: number };
}

export interface Load {
  /**
   * Each from the moment of asking to the end of the answer, of all that were answered in the time that counts. Of what is
   * asked one after the other only the first is among them.
   */
  readonly latenciesMs: readonly number[];
  /** The time that counts: from the end of the warm-up to the end of the plan. */
  readonly ms: number;
  /** In a second of the time that counts. */
  readonly rate: number;
  /** The different resources that the answers name: a thousand requests for a sync may have been given the same one. */
  readonly resources: readonly string[];
}

interface Question {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** Spread over folders as assets are. */
export const lockPath = (name: string, number: number): string =>
  `Content/Region-${number % 97}/${name}/Level-${number}.umap`;

/** The path that is asked for again and again, and that somebody holds. */
export const heldPath = 'Content/Held.umap';

/** What is asked one after the other: about the lock that the first has taken, where there is more. */
function questionsOf({ ask, name }: LoadPlan, workspace: string, number: number): readonly [Question, ...Question[]] {
  const prefix = `/v1/workspaces/${workspace}`;
  const lock = (path: string, status: number): Question => ({
    method: 'POST',
    path: `${prefix}/locks`,
    status,
    body: JSON.stringify({ path, type: 'exclusive', ttl: '1h' }),
  });
  const path = lockPath(name, number);
  switch (ask) {
    case 'for locks':
      return [lock(path, 201)];
    case 'for locks, renewed and released': {
      const release = `${prefix}/locks/${encodeURIComponent(path)}`;
      return [lock(path, 201), lock(path, 200), { method: 'DELETE', path: release, status: 204, body: '' }];
    }
    case 'for a held lock':
      return [lock(heldPath, 409)];
    case 'for syncs':
      return [{ method: 'POST', path: `${prefix}/sync`, status: 202, body: '{"branch":"main"}' }];
  }
}

export async function runLoad(plan: LoadPlan): Promise<Load> {
  const { clients, end, warmUpMs, name } = plan;
  const agent = new Agent({ keepAlive: true, maxSockets: clients, scheduling: 'fifo' });
  const latenciesMs: number[] = [];
  const resources = new Set<string>();
  const countFrom = performance.now() + warmUpMs;
  const countUntil = end.kind === 'after' ? countFrom + end.ms : Number.POSITIVE_INFINITY;
  let lastAt = countFrom;
  let next = 0;
  const isOver = (): boolean => (end.kind === 'requests' ? next >= end.number : performance.now() >= countUntil);

  async function client({ baseUrl, workspace, token }: Target): Promise<void> {
    const origin = new URL(baseUrl);
    const send = ({ status, ...question }: Question, key: string, etag?: string) =>
      ask({
        ...question,
        origin,
        token,
        agent,
        statuses: [status],
        // As the action does: it sends a key with every POST.
        headers: { 'idempotency-key': `${name}-${key}`, ...(etag !== undefined && { 'if-match': etag }) },
      });
    while (!isOver()) {
      const number = next;
      next += 1;
      const [first, ...more] = questionsOf(plan, workspace, number);
      const askedAt = performance.now();
      const { headers } = await send(first, String(number));
      const answeredAt = performance.now();
      if (plan.ask === 'for syncs' && headers.location !== undefined) resources.add(headers.location);
      for (const [index, question] of more.entries()) await send(question, `${number}-${index}`, headers.etag);
      if (answeredAt < countFrom || answeredAt > countUntil) continue;
      latenciesMs.push(answeredAt - askedAt);
      lastAt = answeredAt;
    }
  }

  try {
    const spread = Array.from({ length: clients }, (_, index) => plan.targets[index % plan.targets.length]);
    await Promise.all(spread.filter((target) => target !== undefined).map(client));
  } finally {
    agent.destroy();
  }
  const ms = (end.kind === 'after' ? countUntil : lastAt) - countFrom;
  return { latenciesMs, ms, rate: (latenciesMs.length / ms) * 1_000, resources: [...resources] };
}

export type Loader = (plan: Omit<LoadPlan, 'warmUpMs'> & { readonly warmUpMs?: number }) => Promise<Load>;

/** Runs one load after the other, in a process of its own. */
export function startLoader({ atEnd }: Pick<Bench, 'atEnd'>): Loader {
  const { ask, stop } = startHelper<LoadPlan, Load>(import.meta.filename);
  atEnd(stop);
  return (plan) => ask({ warmUpMs: 0, ...plan });
}

/** A load that is measured again in every round. */
export interface Series extends Pick<LoadPlan, 'targets' | 'ask' | 'clients'> {
  /** What was answered in a second, one number for each round. */
  readonly rates: number[];
  readonly latenciesMs: number[];
}

export const createSeries = (plan: Pick<LoadPlan, 'targets' | 'ask' | 'clients'>): Series => ({
  ...plan,
  rates: [],
  latenciesMs: [],
});

export interface SeriesPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly ms: number;
}

export async function measureSeries(bench: Bench, plan: SeriesPlan, all: readonly Series[]): Promise<void> {
  const load = startLoader(bench);
  await inTurns(bench, plan.rounds, [...all.entries()], async ([index, { rates, latenciesMs, ...series }], round) => {
    const end = { kind: 'after', ms: plan.ms } as const;
    const loaded = await load({ ...series, name: `${round}-${index}`, warmUpMs: plan.warmUpMs, end });
    rates.push(loaded.rate);
    for (const latency of loaded.latenciesMs) latenciesMs.push(latency);
  });
}

if (import.meta.main) answerParent(runLoad);
