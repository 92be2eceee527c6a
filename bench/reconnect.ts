import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultProxy, startFaultProxy } from '../test/support/fault-proxy.ts';
import { startServiceProcess } from '../test/support/service-process.ts';
import { startJob } from './action-step.ts';
import { atMost, type Bench, type Benchmark, figure } from './benchmark.ts';
import { lockBody } from './service/load.ts';
import { openClient } from './service/request.ts';
import { newPlace } from './service/seed.ts';

const full = { rounds: 10, downMs: 2_000 };
const small = { rounds: 1, downMs: 200 };

export const reconnect: Benchmark = {
  name: 'reconnect',
  what: 'Time until a waiting step gets a path that is released right after a restart of the service.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const { data: folder } = await newPlace(bench);
    let service = await startServiceProcess({ folder });
    bench.atEnd(() => service.stop());
    const { token, workspace } = service;
    const port = Number(new URL(service.baseUrl).port);
    const proxy = await startFaultProxy(port);
    bench.atEnd(proxy.close);

    const acquiredMs: number[] = [];
    for (let round = 0; round < plan.rounds; round += 1) {
      bench.progress(`round ${round + 1} of ${plan.rounds}`);
      const path = `awaited-${round}`;
      const restart = async (): Promise<void> => {
        // Alternately like a deployment and like a crash.
        await (round % 2 === 0 ? service.stop() : service.kill());
        await sleep(plan.downMs);
        service = await startServiceProcess({ folder, port });
      };
      acquiredMs.push(await measureRound(bench, { target: { ...service, token, workspace }, proxy, path, restart }));
    }
    return [
      figure(
        'slowest time from a release right after a restart until the waiting step has the lock',
        'ms',
        Math.max(...acquiredMs),
        {
          limit: atMost(300, 'waiting jobs must notice a restarted service at once'),
        },
      ),
    ];
  },
};

interface Round {
  readonly target: { readonly baseUrl: string; readonly token: string; readonly workspace: string };
  /** Between the step and the service. */
  readonly proxy: FaultProxy;
  readonly path: string;
  restart(): Promise<void>;
}

async function measureRound(bench: Bench, { target, proxy, path, restart }: Round): Promise<number> {
  const { token, workspace } = target;
  const request = async (method: 'POST' | 'DELETE', resource: string, statuses: readonly number[]): Promise<void> => {
    const { ask, close } = openClient(target, bench.signal);
    await ask({ method, path: resource, statuses, ...(method === 'POST' && { body: lockBody(path) }) }).finally(close);
  };
  await request('POST', '/locks', [201]);

  const waits = Promise.withResolvers<void>();
  proxy.meet(({ headers }) => {
    if (/wait=[1-9]/.test(String(headers['prefer']))) waits.resolve();
    return undefined;
  });
  const job = await startJob(bench, { secrets: [token] });
  const inputs = { operation: 'lock', 'base-url': proxy.baseUrl, token, workspace, path, wait: '5m' };
  const step = await job.step({ with: inputs });
  await Promise.race([waits.promise, step.finished]);
  await restart();
  await request('DELETE', `/locks/${path}`, [204]);
  const releasedAt = performance.now();
  const { log } = await step.finished;
  const acquired = proxy.passed.findLast((passed) => passed.path === path && passed.status === 201);
  if (acquired?.answeredAt === undefined) throw new Error(`The step did not get the lock:\n${log}`);
  await job.post();
  await job.end();
  return acquired.answeredAt - releasedAt;
}
