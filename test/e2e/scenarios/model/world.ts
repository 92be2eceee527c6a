import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Fault, isLocking, type Manner } from '../../../support/fault-proxy.ts';
import { fasterTime } from '../../../support/preload.ts';
import type { Job, StepOptions } from '../../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../../support/runner/step.ts';
import type { RunningService } from '../../../support/running-service.ts';
import { locking, unlocking } from '../place.ts';
import { openStage, type Stage } from '../stage.ts';
import { type Account, type Book, type Broken, conclusionsOfPost, openBook, type Who } from './book.ts';
import { type Network, watchedNetwork } from './network.ts';
import { type Naming, settleUnlock } from './unlocks.ts';

/** What a lock step of the model is given. */
export interface Taking {
  readonly paths: readonly string[];
  readonly wait: string;
  readonly autoRelease: boolean;
  readonly onLost: 'fail' | 'warn';
}

interface Player extends Account {
  job: Job;
  origin: string;
  asked: Set<string>;
  /** Each has a post-step. */
  steps: { readonly number: number; readonly onLost: 'fail' | 'warn' }[];
}

const env = { NODE_OPTIONS: fasterTime(10) };

/** Several jobs, others, a service and the network between them, and what has to hold whatever they do. */
export interface World {
  lock(player: number, taking: Taking): Promise<void>;
  /** Kills the step when the service has been asked so often; before or after it has done what it was asked. */
  killed(player: number, paths: readonly string[], atRequest: number, done: boolean): Promise<void>;
  cancelled(player: number, paths: readonly string[], atRequest: number): Promise<void>;
  unlock(player: number, paths: readonly string[], naming: Naming): Promise<void>;
  /** One waits for what the other holds, and the other's job ends. */
  waitFor(player: number, other: number): Promise<void>;
  expire(path: string): Promise<void>;
  /** Takes the path if it is free, and gives it back if it is theirs. */
  meddle(path: string, who: Who): Promise<void>;
  /** The same, before the request of this number that comes next. */
  meddleAt(atRequest: number, path: string, who: Who): void;
  network(faults: readonly Fault[]): void;
  endJob(player: number): Promise<void>;
  /** What has to hold after each of these. */
  check(): Promise<void>;
  /** Lets all jobs end, and checks once more. */
  end(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly players: number;
  readonly paths: readonly string[];
  readonly manner: Manner;
  readonly service?: RunningService | undefined;
}

export async function openWorld({ players, paths: allPaths, manner, service }: WorldOptions): Promise<World> {
  const cleanUps: (() => Promise<void>)[] = [];
  const stage: Stage = await openStage((cleanUp) => cleanUps.push(cleanUp), service);
  const proxy = await stage.proxy({ ...manner, retryAfter: 0.5 });
  const network: Network = watchedNetwork(proxy);
  const finished: string[] = [];
  /** Handed on by jobs that have ended. */
  const outliving = new Set<string>();
  let runs = 0;

  async function newPlayer(): Promise<Player> {
    runs += 1;
    const runId = `${runs}`;
    const job = await stage.job({ run: { runId } });
    // Patterns mean files of the checkout.
    for (const path of allPaths) await writeFile(join(job.folders.workspace, path), '');
    const origin = `https://github.com/octo-games/dragon/actions/runs/${runId}/attempts/1`;
    return { job, origin, steps: [], asked: new Set(), counted: [], broken: [] };
  }
  const all: Player[] = [];
  for (let number = 0; number < players; number += 1) all.push(await newPlayer());
  const book: Book = openBook(all);

  const playerOf = (number: number): Player => {
    const player = all[number];
    if (player === undefined) throw new Error('There is no such player.');
    return player;
  };

  function begin(player: Player, { onLost = 'fail' as Taking['onLost'] } = {}): number {
    const number = player.steps.length;
    player.steps.push({ number, onLost });
    return number;
  }

  /** Whether its job had the path once more, if only for as long as it wanted others, too. */
  function tookAgain({ origin }: Player, { path, id }: Broken): boolean {
    const ids = proxy.passed
      .filter((one) => isLocking(one) && one.status === 201 && one.path === path && one.headers.referer === origin)
      .map(({ answer }): string => JSON.parse(answer).id);
    return ids.slice(ids.lastIndexOf(id) + 1).length > 0;
  }

  /** What a step says of its end is what its job goes by. */
  async function believe(player: Player, step: number, result: StepResult, autoRelease: boolean): Promise<void> {
    const { acquired, locks = '[]', status } = result.outputs;
    // What became of an earlier lock on a path, a later one hides.
    player.broken = player.broken.map((one) => (tookAgain(player, one) ? { ...one, certain: false } : one));
    if (acquired !== 'true') {
      expect([locks, status], result.log).not.toContain('acquired');
      return;
    }
    for (const told of JSON.parse(locks)) {
      const lock = await stage.lockOn(told.path);
      expect(lock, `the lock on ${told.path} that a step has just told of`).toMatchObject({ origin: player.origin });
      const id = lock?.id ?? '';
      if (told.id !== undefined) expect(told.id).toBe(id);
      player.counted.push({ path: told.path, id, step, autoRelease });
    }
  }

  function withInputs({ paths, wait, autoRelease, onLost }: Taking): StepOptions {
    const lost = onLost === 'warn' ? { 'on-lost': 'warn' } : {};
    return { ...locking(paths, { wait, 'auto-release': String(autoRelease), ...lost }), env };
  }

  const atOnce = (paths: readonly string[]): Taking => ({ paths, wait: '0s', autoRelease: true, onLost: 'fail' });

  function ask(player: Player, paths: readonly string[]): void {
    for (const path of paths) player.asked.add(path);
  }

  /** Stops a step by whatever means once the service has been asked so often; it may be done before. */
  async function stopped(
    { player, paths, atRequest, fault }: { player: Player; paths: readonly string[]; atRequest: number; fault: Fault },
    stop: (step: RunningStep) => Promise<StepResult>,
  ): Promise<void> {
    const reached = Promise.withResolvers<void>();
    let asked = 0;
    network.watch((passing) => {
      if (!isLocking(passing)) return undefined;
      asked += 1;
      if (asked < atRequest) return undefined;
      reached.resolve();
      return fault;
    });
    const number = begin(player);
    ask(player, paths);
    const step = await player.job.step(withInputs(atOnce(paths)));
    await Promise.race([reached.promise, step.finished]);
    if (fault.kind === 'done-then-silence' && asked >= atRequest) {
      await expect.poll(() => proxy.passed.at(-1)?.status ?? proxy.passed.findLast(isLocking)?.status).toBeDefined();
    }
    const stopping = stop(step);
    network.watch(undefined);
    const result = await stopping;
    // It may have got all its locks before it was stopped: then it has them until its job ends.
    await believe(player, number, result, true);
  }

  async function endJob(player: Player): Promise<void> {
    for (const step of player.steps.toReversed()) {
      const calm = network.isCalm();
      const before = conclusionsOfPost(player, step, await stage.locks());
      const post = await (await player.job.nextPost())?.finished;
      // A job that waits beside it may have taken a path meanwhile, or left it.
      const expected = [...before, ...conclusionsOfPost(player, step, await stage.locks())];
      const mayFail = expected.includes('failure') || (!calm && step.onLost === 'fail' && player.broken.length > 0);
      const possible = calm ? expected : ['success', ...(mayFail ? ['failure'] : [])];
      expect(possible, post?.log).toContain(post?.conclusion);
    }
    for (const { autoRelease, id, path } of player.counted) {
      if (autoRelease) continue;
      outliving.add(id);
      book.others.set(path, { id, who: 'ended job' });
    }
    finished.push(player.origin);
    await player.job.end();
    Object.assign(player, await newPlayer());
  }

  const world: World = {
    async lock(number, taking) {
      const { paths } = taking;
      const player = playerOf(number);
      const free = !paths.some(book.isHeld) && !(await stage.locks()).some(({ path }) => paths.includes(path));
      const calm = network.isCalm();
      const step = begin(player, taking);
      ask(player, paths);
      const result = await player.job.run(withInputs(taking));
      if (calm) expect(result.conclusion, result.log).toBe(free ? 'success' : 'failure');
      await believe(player, step, result, taking.autoRelease);
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
    async unlock(number, paths, naming) {
      const account = playerOf(number);
      const calm = network.isCalm();
      const before = await stage.locks();
      const from = proxy.passed.length;
      begin(account);
      const inputs = naming === 'path' ? { glob: 'false', path: paths.join('\n') } : { path: `[${paths.join('')}]` };
      const result = await account.job.run({ ...unlocking(inputs), env });
      const after = await stage.locks();
      settleUnlock({ account, paths, naming, before, after, passed: proxy.passed.slice(from), result, calm }, book);
    },
    async waitFor(number, other) {
      const waiting = playerOf(number);
      const holding = playerOf(other);
      const [lock] = holding.counted.filter(({ autoRelease }) => autoRelease);
      if (lock === undefined || waiting === holding) return;
      network.calm();
      const taking: Taking = { ...atOnce([lock.path]), wait: '10m' };
      const began = begin(waiting, taking);
      ask(waiting, taking.paths);
      const step = await waiting.job.step(withInputs(taking));
      await Promise.race([step.waitForLog('Waiting'), step.finished]);
      await endJob(holding);
      const result = await step.finished;
      expect(result.conclusion, result.log).toBe('success');
      await believe(waiting, began, result, true);
    },
    async expire(path) {
      const lock = await stage.lockOn(path);
      await stage.expire(path);
      if (lock !== undefined) book.broke(lock);
    },
    async meddle(path, who) {
      const token = who === 'stranger' ? stage.graces : stage.token;
      const address = `/v1/workspaces/${stage.workspace}/locks`;
      const theirs = book.others.get(path);
      if (theirs?.who === who) {
        const one = `${address}/${encodeURIComponent(path)}`;
        const { status } = await stage.service.ask('DELETE', one, { token, headers: { 'if-match': `"${theirs.id}"` } });
        // Where it was gone, whoever has ended it has to have a right to.
        if (status === 204) book.others.delete(path);
        return;
      }
      const { status, body } = await stage.service.ask('POST', address, {
        token,
        json: { path, type: 'exclusive', ttl: '1h' },
        headers: { referer: `https://${who}.example.com` },
      });
      if (status === 201) book.others.set(path, { id: body.id, who });
    },
    meddleAt(at, path, who) {
      network.interfere({ at, act: () => world.meddle(path, who) });
    },
    network: (faults) => network.fail(faults),
    endJob: (number) => endJob(playerOf(number)),
    async check() {
      const locks = await stage.locks();
      const idOn = (path: string) => locks.find((lock) => lock.path === path)?.id;
      for (const [path, { id, who }] of book.others) expect(idOn(path), `the lock of the ${who} on ${path}`).toBe(id);
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
      network.calm();
      for (const player of all) await endJob(player);
      await world.check();
    },
    async close() {
      for (const cleanUp of cleanUps) await cleanUp();
    },
  };
  return world;
}
