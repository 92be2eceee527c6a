import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Many clients that each ask again as soon as they are answered. It runs in a process of its own: see load-generator.ts. */

/** A workspace, asked for at an instance of the service. */
export interface Target {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly workspace: string;
}

export interface LoadPlan {
  /** The clients are spread evenly over them. */
  readonly targets: readonly Target[];
  readonly token: string;
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
  /** The different resources that the answers name: a thousand requests for a sync may have been given the same one. */
  readonly resources: readonly string[];
}

interface Question {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** What is asked one after the other: about the lock that the first has taken, where there is more. */
type Questions = (number: number) => readonly [Question, ...Question[]];

/** Spread over folders as assets are. */
export const lockPath = (name: string, number: number): string =>
  `Content/Region-${number % 97}/${name}/Level-${number}.umap`;

/** The path that is asked for again and again, and that somebody holds. */
export const heldPath = 'Content/Held.umap';

function questionsOf({ ask, name }: LoadPlan, { workspace }: Target): Questions {
  const prefix = `/v1/workspaces/${workspace}`;
  const locks = `${prefix}/locks`;
  const lock = (number: number): Question => ({
    method: 'POST',
    path: locks,
    status: 201,
    body: JSON.stringify({ path: lockPath(name, number), type: 'exclusive', ttl: '1h' }),
  });
  switch (ask) {
    case 'for locks':
      return (number) => [lock(number)];
    case 'for locks, renewed and released':
      return (number) => [
        lock(number),
        { ...lock(number), status: 200 },
        { method: 'DELETE', path: `${locks}/${encodeURIComponent(lockPath(name, number))}`, status: 204, body: '' },
      ];
    case 'for a held lock': {
      const body = JSON.stringify({ path: heldPath, type: 'exclusive', ttl: '1h' });
      return () => [{ method: 'POST', path: locks, status: 409, body }];
    }
    case 'for syncs': {
      const body = JSON.stringify({ branch: 'main' });
      return () => [{ method: 'POST', path: `${prefix}/sync`, status: 202, body }];
    }
  }
}

export async function runLoad(plan: LoadPlan): Promise<Load> {
  const { clients, end, warmUpMs, name, token } = plan;
  const targets = plan.targets.map((target) => ({
    url: new URL(target.baseUrl),
    questions: questionsOf(plan, target),
  }));
  const agent = new Agent({ keepAlive: true, maxSockets: clients, scheduling: 'fifo' });
  const latenciesMs: number[] = [];
  const resources = new Set<string>();

  /** Gives the ETag of the answer. */
  async function ask(
    url: URL,
    { method, path, status, body }: Question,
    key: string,
    ifMatch?: string,
  ): Promise<string> {
    const headers: OutgoingHttpHeaders = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      // As the action does: it sends a key with every POST.
      'idempotency-key': `${name}-${key}`,
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const asked = request(new URL(path, url), { agent, method, headers }, (answer) => {
      if (answer.statusCode === status) {
        if (answer.headers.location !== undefined && plan.ask === 'for syncs') resources.add(answer.headers.location);
        answer
          .resume()
          .once('end', () => resolve(answer.headers.etag ?? ''))
          .once('error', reject);
      } else {
        text(answer).then(
          (said) => reject(new Error(`${path} was answered with ${answer.statusCode}: ${said}`)),
          reject,
        );
      }
    });
    asked.once('error', reject).end(body);
    return promise;
  }

  const countFrom = performance.now() + warmUpMs;
  const countUntil = end.kind === 'after' ? countFrom + end.ms : Number.POSITIVE_INFINITY;
  let lastAt = countFrom;
  let next = 0;
  const isOver = (): boolean => (end.kind === 'requests' ? next >= end.number : performance.now() >= countUntil);

  async function client(index: number): Promise<void> {
    const target = targets[index % targets.length];
    if (target === undefined) throw new Error('A load needs something to ask.');
    const { url, questions } = target;
    while (!isOver()) {
      const number = next;
      next += 1;
      const [first, ...more] = questions(number);
      const askedAt = performance.now();
      const etag = await ask(url, first, String(number));
      const answeredAt = performance.now();
      for (const [index, question] of more.entries()) await ask(url, question, `${number}-${index}`, etag);
      if (answeredAt < countFrom || answeredAt > countUntil) continue;
      latenciesMs.push(answeredAt - askedAt);
      lastAt = answeredAt;
    }
  }

  try {
    await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  } finally {
    agent.destroy();
  }
  const ms = (end.kind === 'after' ? countUntil : lastAt) - countFrom;
  return { latenciesMs, ms, resources: [...resources] };
}
