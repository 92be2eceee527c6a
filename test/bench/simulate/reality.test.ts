import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '../../../bench/simulate/chance.ts';
import { createClients } from '../../../bench/simulate/client.ts';
import { countConnections } from '../../../bench/simulate/connections.ts';
import { lockStep, postStep } from '../../../bench/simulate/job.ts';
import { createService } from '../../../bench/simulate/service.ts';
import { createVirtualTime } from '../../../bench/simulate/virtual-time.ts';
import { acquireLocks } from '../../../src/action/locks/acquire.ts';
import { openLockSession } from '../../../src/action/locks/session.ts';
import { createClient, parseWorkspaceId } from '../../../src/client/client.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { databaseKinds } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { shippedRateLimit } from '../../support/shipped-settings.ts';
import { measured } from '../../support/soak/measured.ts';
import { someTimes, someWorkload } from './some-service.ts';

/** Jobs that come at the same moment and want the same path: how long until the last of them has had it, in their time. */
interface Queue {
  readonly seconds: number;
  /** Requests for the lock. */
  readonly asked: number;
  /** Until the job in the middle got it. */
  readonly medianSeconds: number;
}

const jobs = runs(8, 32);
const holdMs = 2_000;
const waitSeconds = 3_600;

function parsed<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string }): T {
  if (!result.ok) throw new Error(result.why);
  return result.value;
}

const path = parsed(parseLockPath('Content/Hero.uasset'));
const ttl = parsed(parseTtl('1h'));

function queueOf(began: number, gotAt: readonly number[], ended: number, asked: number): Queue {
  const inTurn = gotAt.toSorted((one, other) => one - other);
  return {
    asked,
    seconds: (ended - began) / 1_000,
    medianSeconds: ((inTurn[Math.floor(inTurn.length / 2)] ?? Number.NaN) - began) / 1_000,
  };
}

/** The client and the steps of the action, over HTTP, for which time passes faster. */
async function really(times: number): Promise<Queue> {
  const sqlite = databaseKinds.find(({ name }) => name === 'SQLite');
  if (sqlite === undefined) throw new Error('There is no database to test with.');
  const service = await startTestService(sqlite);
  onTestFinished(() => service.stop());
  const { secret: token } = await service.token();
  const workspace = parsed(parseWorkspaceId(await service.workspace()));
  const { timeOrigin } = performance;
  const clock = (): number => timeOrigin + performance.now() * times;
  const sleep = (ms: number): Promise<void> => wait(ms / times);
  const baseUrl = `${service.baseUrl}/v1`;
  const gotAt: number[] = [];
  let asked = 0;

  async function job(): Promise<void> {
    const client = createClient({ baseUrl, token, userAgent: 'test', clock, sleep });
    const nothing = (): void => undefined;
    const context = { client, clock, sleep, random: Math.random };
    const session = openLockSession({
      ...context,
      step: 'step',
      origin: undefined,
      record: nothing,
      announce: nothing,
    });
    const { round } = await acquireLocks(
      {
        ...context,
        terms: { service: baseUrl, workspace, type: 'exclusive', ttl },
        session: {
          ...session,
          acquire(...request) {
            asked += 1;
            return session.acquire(...request);
          },
        },
        connection: { requestTimeout: { seconds: 30 } },
        signal: new AbortController().signal,
        log: { line: nothing, warn: nothing, debug: nothing, group: nothing },
      },
      [path],
      { seconds: waitSeconds },
    );
    if (round.kind !== 'acquired') throw new Error(`A job ended with ${round.kind}.`);
    gotAt.push(clock());
    await sleep(holdMs);
    for (const grant of round.grants) await session.release(grant, { deadline: clock() + 45_000 });
    client.dispose();
  }

  const began = clock();
  await Promise.all(Array.from({ length: jobs }, job));
  return queueOf(began, gotAt, clock(), asked);
}

async function simulated(seed: number): Promise<Queue> {
  const time = createVirtualTime(0);
  const service = createService({
    time,
    times: someTimes,
    instances: 1,
    rateLimit: shippedRateLimit,
    random: createRandom(seed, 0),
  });
  const clients = createClients(time);
  const connections = countConnections(time).ofAStep;
  const gotAt: number[] = [];
  let ended = 0;

  async function job(number: number): Promise<void> {
    const workload = { ...someWorkload, waitSeconds, ttlSeconds: ttl.seconds };
    const random = createRandom(seed, 1, number);
    const parts = { time, service, clients, connections, random, workload, token: 't', onAnswer: () => undefined };
    const locked = await lockStep(parts, { paths: [path] });
    gotAt.push(time.now());
    await time.sleep(holdMs);
    await postStep(parts, locked);
    ended = time.now();
  }

  for (let number = 0; number < jobs; number += 1) void job(number);
  await time.runUntil(waitSeconds * 1_000);
  expect(gotAt).toHaveLength(jobs);
  return queueOf(0, gotAt, ended, service.counts.polls + jobs);
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

test('what is simulated of jobs that wait for one path is of the size of what they really do', {
  timeout: 300_000,
}, async () => {
  const simulations: Queue[] = [];
  for (let seed = 0; seed < 20; seed += 1) simulations.push(await simulated(seed));
  const real = await really(runs(10, 4));
  for (const name of ['seconds', 'asked', 'medianSeconds'] as const) {
    const expected = mean(simulations.map((queue) => queue[name]));
    measured(
      'what is simulated of waiting jobs and what they really do, the larger by the smaller',
      Math.max(real[name] / expected, expected / real[name]),
      `${jobs} jobs, ${name}: ${expected.toFixed(0)} simulated, ${real[name].toFixed(0)} really.`,
    );
  }
});
