import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench, type Benchmark, type Figure } from './benchmark.ts';
import { type BenchDatabase, databasesOf } from './service/databases.ts';
import { type RunningService, startService } from './service/services.ts';
import { medianOf, percentilesOf } from './statistics.ts';

/** How long a path lies free between two jobs that want it. */

interface Plan {
  readonly rounds: number;
  readonly waiters: number;
  readonly holdMs: number;
}

const full: Plan = { rounds: 5, waiters: 40, holdMs: 50 };
const small: Plan = { rounds: 1, waiters: 5, holdMs: 10 };

const longestMs = 300;
const why = 'jobs that ask again now and then get it seconds later';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A client with connections of its own, as each job has them. */
function createClient({ baseUrl, token, workspace }: RunningService, signal: AbortSignal) {
  const agent = new Agent({ keepAlive: true });
  const send = (method: string, target: string, headers: Record<string, string> = {}, body = ''): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = request(
      `${baseUrl}/workspaces/${workspace}/locks${target}`,
      {
        method,
        agent,
        signal,
        headers: { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body), ...headers },
      },
      (answer) => {
        text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, body: read }), reject);
      },
    );
    sent.once('error', reject);
    sent.end(body);
    return promise;
  };
  return { send, close: () => agent.destroy() };
}

function expectStatus(answer: Answer, ...expected: readonly number[]): void {
  if (!expected.includes(answer.status)) throw new Error(`It was answered with ${answer.status}: ${answer.body}`);
}

/** Each gets the path once, holds it for a moment, and gives it to the next. */
async function handOvers(bench: Bench, service: RunningService, path: string, plan: Plan): Promise<readonly number[]> {
  const handOverMs: number[] = [];
  let releasedAt: number | undefined;

  async function waiter(): Promise<void> {
    const { send, close } = createClient(service, bench.signal);
    const wanted = JSON.stringify({ path, type: 'exclusive', ttl: '1h' });
    try {
      for (;;) {
        const taken = await send('POST', '', { 'content-type': 'application/json' }, wanted);
        expectStatus(taken, 201, 409);
        if (taken.status === 201) break;
        expectStatus(await send('GET', `?path=${path}`, { prefer: 'wait=30' }), 200);
      }
      if (releasedAt !== undefined) handOverMs.push(performance.now() - releasedAt);
      await sleep(plan.holdMs);
      expectStatus(await send('DELETE', `/${path}`), 204);
      releasedAt = performance.now();
    } finally {
      close();
    }
  }

  await Promise.all(Array.from({ length: plan.waiters }, waiter));
  return handOverMs;
}

async function measureOn(bench: Bench, { name, createUrl }: BenchDatabase, plan: Plan): Promise<Figure> {
  const databaseUrl = await createUrl();
  const service = await startService({ kind: 'as installed', databaseUrl, folder: join(bench.folder, name) });
  bench.atEnd(service.stop);
  const rounds: number[] = [];
  const all: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    bench.progress(`${name}: round ${round + 1} of ${plan.rounds}`);
    const times = await handOvers(bench, service, `handed-over-${round}`, plan);
    rounds.push(medianOf(times).median);
    all.push(...times);
  }
  return {
    name: `${name}: from the answer to a release until the next of ${plan.waiters} who wait has the lock, median`,
    value: medianOf(all).median,
    unit: 'ms',
    limit: bench.quick ? undefined : atMost(longestMs, why),
    details: [
      { kind: 'rounds', name: 'medians of the rounds', unit: 'ms', values: rounds },
      { kind: 'distribution', name: 'all', unit: 'ms', percentiles: percentilesOf(all, [50, 90, 99, 100]) },
    ],
  };
}

export const handOver: Benchmark = {
  name: 'hand-over',
  what: 'How long a path lies free between two jobs that want it, where they wait with Prefer.',
  async measure(bench) {
    const { databases, leftOut } = await databasesOf(bench);
    const figures: Figure[] = [];
    for (const database of databases) figures.push(await measureOn(bench, database, bench.quick ? small : full));
    return { figures, leftOut };
  },
};
