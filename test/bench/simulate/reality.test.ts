import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createService } from '../../../bench/simulate/service.ts';
import { createClients, createSteps, type StepParts } from '../../../bench/simulate/steps.ts';
import { valueIn } from '../../../bench/simulate/workload.ts';
import { createClient } from '../../../src/client/client.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { randomOf } from '../../support/seed.ts';
import { shippedRateLimit } from '../../support/shipped-settings.ts';
import { measured } from '../../support/soak/measured.ts';
import { createVirtualTime } from '../../support/virtual-time.ts';
import { someTimes, someWorkload } from './some-service.ts';

const jobs = runs(8, 32);
const holdMs = 2_000;
const waitSeconds = 3_600;
const workload = { ...someWorkload, waitSeconds, ttlSeconds: 3_600 };
const path = valueIn(parseLockPath('Content/Hero.uasset'));

/** Jobs that come at the same moment and want the same path: how long until the last of them has had it, in their time. */
async function queueUp(
  parts: Omit<StepParts, 'workload'>,
  seed: number,
  untilEnded: (all: Promise<unknown>) => Promise<unknown>,
) {
  const { now, sleep } = parts;
  const steps = createSteps({ ...parts, workload });
  const began = now();
  const gotAfter: number[] = [];
  let ended = began;
  async function job(number: number): Promise<void> {
    const its = { token: 't', random: randomOf(seed, 1, number), onResponse: () => undefined };
    const locked = await steps.lock(its, { paths: [path] });
    expect(locked.round.kind).toBe('acquired');
    gotAfter.push(now() - began);
    await sleep(holdMs);
    await steps.release(its, locked);
    ended = now();
  }
  await untilEnded(Promise.all(Array.from({ length: jobs }, (_, number) => job(number))));
  expect(gotAfter).toHaveLength(jobs);
  // Whoever comes first has it first.
  return { seconds: (ended - began) / 1_000, medianSeconds: (gotAfter[Math.floor(jobs / 2)] ?? 0) / 1_000 };
}

/** The client and the steps of the action, over HTTP, for which time passes faster. */
async function really(times: number) {
  const sqlite = databaseKinds.find(({ name }) => name === 'SQLite') ?? expect.fail('There is always SQLite.');
  const service = await startTestService(sqlite, { rateLimit: shippedRateLimit });
  onTestFinished(() => service.stop());
  const { secret: token } = await service.token();
  // The one that simulated jobs know.
  const { storage } = service;
  await storage.commit('global', (db) => addWorkspace(db, storage.now, { id: 'game', remote: '/nowhere.git' }));
  const { timeOrigin } = performance;
  const now = (): number => timeOrigin + performance.now() * times;
  const sleep = (ms: number): Promise<void> => wait(ms / times);
  let asked = 0;
  const open: StepParts['open'] = () => {
    const client = createClient({
      baseUrl: `${service.baseUrl}/v1`,
      credentials: { kind: 'given', token },
      userAgent: 'test',
      clock: now,
      sleep,
    });
    const acquireLock: typeof client.acquireLock = (...request) => {
      asked += 1;
      return client.acquireLock(...request);
    };
    const call = () => expect.fail('Nothing is asked for but locks.');
    return { call, client: { ...client, acquireLock }, close: client.dispose };
  };
  const queue = await queueUp({ now, sleep, open }, 1, (all) => all);
  return { ...queue, asked };
}

async function simulated(seed: number) {
  const time = createVirtualTime(0);
  const random = randomOf(seed, 0);
  const service = createService({ time, times: someTimes, instances: 1, rateLimit: shippedRateLimit, random });
  const { open } = createClients(time, service);
  const queue = await queueUp({ ...time, open }, seed, () => time.runUntil(waitSeconds * 1_000));
  return { ...queue, asked: service.counts.polls + jobs };
}

test('what is simulated of jobs that wait for one path is of the size of what they really do', {
  timeout: 300_000,
}, async () => {
  const simulations: Awaited<ReturnType<typeof simulated>>[] = [];
  for (let seed = 0; seed < 20; seed += 1) simulations.push(await simulated(seed));
  const real = await really(runs(10, 4));
  for (const name of ['seconds', 'asked', 'medianSeconds'] as const) {
    const expected = simulations.reduce((sum, queue) => sum + queue[name], 0) / simulations.length;
    measured(
      'what is simulated of waiting jobs and what they really do, the larger by the smaller',
      Math.max(real[name] / expected, expected / real[name]),
      `${jobs} jobs, ${name}: ${expected.toFixed(0)} simulated, ${real[name].toFixed(0)} really.`,
    );
  }
});
