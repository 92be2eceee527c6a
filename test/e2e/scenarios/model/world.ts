import { expect } from 'vitest';
import { type Fault, type FaultProxy, isLocking, type Manner, type Passing } from '../../../support/fault-proxy.ts';
import { fasterTime } from '../../../support/preload.ts';
import type { Job, StepOptions } from '../../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../../support/runner/step.ts';
import { locking, openStage, type Stage, unlocking } from '../stage.ts';

/** A lock that somebody counts on: its service must have it, and nobody else. */
interface Counted {
  readonly path: string;
  readonly id: string;
  readonly step: number;
  readonly autoRelease: boolean;
}

interface Player {
  job: Job;
  readonly origin: () => string;
  steps: number;
  /** Paths that its steps have asked for. */
  asked: Set<string>;
  /** What its steps have got and not given back. */
  counted: Counted[];
}

const origin = (runId: string): string => `https://github.com/octo-games/dragon/actions/runs/${runId}/attempts/1`;

const env = { NODE_OPTIONS: fasterTime(10) };

/** Several jobs, a stranger, a service and the network between them, and what has to hold whatever they do. */
export interface World {
  readonly players: number;
  lock(player: number, paths: readonly string[], wait: string, autoRelease: boolean): Promise<void>;
  /** Kills the step when the service has been asked so often; before or after it has done what it was asked. */
  killed(player: number, paths: readonly string[], atRequest: number, done: boolean): Promise<void>;
  cancelled(player: number, paths: readonly string[], atRequest: number): Promise<void>;
  unlock(player: number, path: string): Promise<void>;
  /** One waits for what the other holds, and the other's job ends. */
  waitFor(player: number, other: number): Promise<void>;
  expire(path: string): Promise<void>;
  stranger(path: string): Promise<void>;
  network(faults: readonly Fault[]): void;
  endJob(player: number): Promise<void>;
  /** What has to hold after each of these. */
  check(): Promise<void>;
  /** Lets all jobs end, and checks once more. */
  end(): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(players: number, manner: Manner): Promise<World> {
  const cleanUps: (() => Promise<void>)[] = [];
  const stage: Stage = await openStage((cleanUp) => cleanUps.push(cleanUp));
  const proxy: FaultProxy = await stage.proxy({ ...manner, retryAfter: 0.5 });
  const outsider = await stage.service.token({ name: 'stranger', scopes: ['locks:write'] });
  const strangers = new Map<string, string>();
  const finished: string[] = [];
  /** Handed on by jobs that have ended. */
  const outliving = new Set<string>();
  let runs = 0;

  const newJob = async (): Promise<{ job: Job; origin: () => string }> => {
    runs += 1;
    const runId = `${runs}`;
    return { job: await stage.job({ run: { runId } }), origin: () => origin(runId) };
  };
  const all: Player[] = [];
  for (let number = 0; number < players; number += 1)
    all.push({ ...(await newJob()), steps: 0, asked: new Set(), counted: [] });

  const playerOf = (number: number): Player => {
    const player = all[number];
    if (player === undefined) throw new Error('There is no such player.');
    return player;
  };

  let coming: Fault[] = [];
  let watch: ((passing: Passing) => Fault | undefined) | undefined;
  proxy.meet((passing) => watch?.(passing) ?? coming.shift());

  const held = (path: string): boolean =>
    strangers.has(path) || all.some(({ counted }) => counted.some((lock) => lock.path === path));

  /** What a step says of its end is what its job goes by. */
  async function believe(player: Player, result: StepResult, autoRelease: boolean): Promise<void> {
    const { acquired, locks = '[]' } = result.outputs;
    if (acquired !== 'true') return;
    for (const told of JSON.parse(locks)) {
      const lock = await stage.lockOn(told.path);
      expect(lock, `the lock on ${told.path} that a step has just told of`).toMatchObject({ origin: player.origin() });
      const id = lock?.id ?? '';
      if (told.id !== undefined) expect(told.id).toBe(id);
      player.counted.push({ path: told.path, id, step: player.steps, autoRelease });
    }
  }

  const withInputs = (paths: readonly string[], wait: string, autoRelease: boolean): StepOptions => ({
    ...locking(paths, { wait, 'auto-release': String(autoRelease) }),
    env,
  });

  /** Stops a step by whatever means once the service has been asked so often; it may be done before. */
  async function stopped(
    { player, paths, atRequest, fault }: { player: Player; paths: readonly string[]; atRequest: number; fault: Fault },
    stop: (step: RunningStep) => Promise<StepResult>,
  ): Promise<void> {
    const reached = Promise.withResolvers<void>();
    let asked = 0;
    watch = (passing) => {
      if (!isLocking(passing)) return undefined;
      asked += 1;
      if (asked < atRequest) return undefined;
      reached.resolve();
      return fault;
    };
    player.steps += 1;
    for (const path of paths) player.asked.add(path);
    const step = await player.job.step(withInputs(paths, '0s', true));
    await Promise.race([reached.promise, step.finished]);
    if (fault.kind === 'done-then-silence' && asked >= atRequest) {
      await expect.poll(() => proxy.passed.at(-1)?.status ?? proxy.passed.findLast(isLocking)?.status).toBeDefined();
    }
    const stopping = stop(step);
    watch = undefined;
    const result = await stopping;
    // It may have got all its locks before it was stopped: then it has them until its job ends.
    await believe(player, result, true);
  }

  async function endJob(player: Player): Promise<void> {
    const posts = await player.job.post();
    for (const { conclusion, exitCode, annotations } of posts) {
      // Nothing fails a job at its end but a lock that was lost.
      const lost = annotations.some(({ level }) => level === 'error');
      expect({ conclusion, exitCode }).toEqual(
        lost ? { conclusion: 'failure', exitCode: 1 } : { conclusion: 'success', exitCode: 0 },
      );
    }
    for (const { autoRelease, id } of player.counted) if (!autoRelease) outliving.add(id);
    finished.push(player.origin());
    await player.job.end();
    Object.assign(player, await newJob(), { steps: 0, asked: new Set(), counted: [] });
  }

  const world: World = {
    players,
    async lock(number, paths, wait, autoRelease) {
      const player = playerOf(number);
      const free = !paths.some(held) && !(await stage.locks()).some(({ path }) => paths.includes(path));
      const calm = coming.length === 0;
      player.steps += 1;
      for (const path of paths) player.asked.add(path);
      const result = await player.job.run(withInputs(paths, wait, autoRelease));
      if (calm) expect(result.conclusion, result.log).toBe(free ? 'success' : 'failure');
      await believe(player, result, autoRelease);
    },
    killed: (number, paths, atRequest, done) =>
      stopped(
        { player: playerOf(number), paths, atRequest, fault: { kind: done ? 'done-then-silence' : 'silence' } },
        (step) => step.kill(),
      ),
    cancelled: (number, paths, atRequest) =>
      stopped({ player: playerOf(number), paths, atRequest, fault: { kind: 'done-then-silence' } }, (step) =>
        step.cancel(),
      ),
    async unlock(number, path) {
      const player = playerOf(number);
      // Of a path that a job never asked for, an unlock means whatever lock is there.
      if (!player.asked.has(path)) return;
      const result = await player.job.run({ ...unlocking({ path }), env });
      const ours = player.counted.some((lock) => lock.path === path);
      if (result.conclusion === 'success' && ours) expect(result.outputs['status']).toBe('released');
      if (result.conclusion === 'success') player.counted = player.counted.filter((lock) => lock.path !== path);
    },
    async waitFor(number, other) {
      const waiting = playerOf(number);
      const holding = playerOf(other);
      const [lock] = holding.counted.filter(({ autoRelease }) => autoRelease);
      if (lock === undefined || waiting === holding) return;
      waiting.steps += 1;
      waiting.asked.add(lock.path);
      const step = await waiting.job.step(withInputs([lock.path], '10m', true));
      await Promise.race([step.waitForLog('Waiting'), step.finished]);
      await endJob(holding);
      const result = await step.finished;
      expect(result.conclusion, result.log).toBe('success');
      await believe(waiting, result, true);
    },
    async expire(path) {
      await stage.expire(path);
      strangers.delete(path);
      for (const player of all) player.counted = player.counted.filter((lock) => lock.path !== path);
    },
    async stranger(path) {
      if (await stage.lockOn(path)) return;
      const { id } = await stage.take(path, { token: outsider.secret, origin: 'https://stranger.example.com' });
      strangers.set(path, id);
    },
    network(faults) {
      coming = [...faults];
    },
    endJob: (number) => endJob(playerOf(number)),
    async check() {
      const locks = await stage.locks();
      const idOn = (path: string) => locks.find((lock) => lock.path === path)?.id;
      for (const [path, id] of strangers) expect(idOn(path), `the stranger's lock on ${path}`).toBe(id);
      for (const { counted } of all) {
        for (const { path, id } of counted) expect(idOn(path), `a lock on ${path} that a job counts on`).toBe(id);
      }
      const left = locks.filter((lock) => finished.includes(lock.origin ?? '') && !outliving.has(lock.id));
      expect(left, 'locks of jobs that have ended').toEqual([]);
      const granted = proxy.passed.filter((one) => isLocking(one) && one.status === 201);
      const fences = new Map<number, string>();
      for (const { answer } of granted) {
        const { id, fence } = JSON.parse(answer);
        expect(fences.get(fence) ?? id, 'one lock for each fence').toBe(id);
        fences.set(fence, id);
      }
    },
    async end() {
      coming = [];
      for (const player of all) await endJob(player);
      await world.check();
    },
    async close() {
      for (const cleanUp of cleanUps) await cleanUp();
    },
  };
  return world;
}
