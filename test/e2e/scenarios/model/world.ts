import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Fault, isLocking, type Manner, type Passed } from '../../../support/fault-proxy.ts';
import type { OidcIssuer } from '../../../support/oidc-issuer.ts';
import type { StepOptions } from '../../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../../support/runner/step.ts';
import type { RunningService } from '../../../support/running-service.ts';
import { locking, openStage, type Stage, unlocking } from '../stage.ts';
import { type Book, type Broken, openBook } from './book.ts';
import { openEnds } from './ends.ts';
import { type Network, watchedNetwork } from './network.ts';
import { openOutside } from './outside.ts';
import { identifyJobs, openPlayers, type Player } from './players.ts';
import { env, faster, refusedRenewals, shortTtl, shortTtlMs, watchShortLocks } from './short-locks.ts';
import { type KilledAt, killed, type StopAt, signal, stopsAtRequests } from './stopping.ts';
import { type Naming, settleUnlock } from './unlocks.ts';

/** Inputs of a lock step in the model. */
export interface Taking {
  readonly paths: readonly string[];
  readonly wait: string;
  readonly autoRelease: boolean;
  readonly onLost: 'fail' | 'warn';
  readonly renew: boolean;
}

interface Stopping extends StopAt {
  readonly player: Player;
  readonly taking: Taking;
  /** Whether the step runs below a process that stands for the worker of the runner. */
  readonly isBelowWorker?: boolean;
}

const longTtl = '10h';

/** Audience of the services that trust jobs without a token. */
export const audience = 'https://workspaces.example.com';

export interface WorldOptions {
  readonly players: number;
  readonly paths: readonly string[];
  readonly manner: Manner;
  readonly service?: RunningService | undefined;
  /** Issuer of identity tokens for the jobs, which then have no API token. */
  readonly issuer?: OidcIssuer | undefined;
  /** Whether the end waits until all locks that are not renewed have expired. */
  readonly patient: boolean;
}

/** The locks that a request acquired, with a lease or alone. */
function grantedBy(one: Passed): readonly { readonly path: string; readonly id: string; readonly fence: number }[] {
  if (!isLocking(one) || one.status !== 201) return [];
  const answer = JSON.parse(one.response);
  return answer.locks ?? [answer];
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Several jobs and other clients, with a service, the network, and the invariants that always hold. */
export async function openWorld(options: WorldOptions) {
  const { players: count, paths: allPaths, manner, service, issuer, patient } = options;
  const { givesNoProof = false, looksAlike = false, ignoresConditions = false } = manner;
  const cleanUps: (() => Promise<void>)[] = [];
  const stage: Stage = await openStage((cleanUp) => cleanUps.push(cleanUp), service);
  const proxy = await stage.proxy({ ...manner, faster, retryAfter: 0.5 });
  const network: Network = watchedNetwork(proxy);
  const identified = issuer && (await identifyJobs(stage.service, issuer));
  const players = await openPlayers(stage, count, allPaths, identified);
  const { all } = players;
  const playerOf = players.of;
  const book: Book = openBook(all);
  const short = watchShortLocks(stage, book);
  const runUntil = stopsAtRequests(network, proxy);
  const hidesEnds = looksAlike || ignoresConditions;
  const outside = openOutside({ stage, proxy, network, players, book, short, hidesEnds });
  const ends = openEnds({ stage, proxy, network, players, book, short, givesNoProof });
  /** Whether no interference is pending, and no lock of the job or on these paths may expire. */
  const isCalm = ({ origin }: Player, paths: readonly string[]): boolean =>
    network.isCalm() && short.areKept(origin, paths);

  function begin(player: Player, { onLost = 'fail' as Taking['onLost'] } = {}): number {
    const number = player.steps.length;
    player.steps.push({ number, onLost });
    return number;
  }

  /** Whether its job has since held the path again, even if only temporarily. */
  function tookAgain({ origin }: Player, { path, id }: Broken): boolean {
    const ids = proxy.passed
      .filter(({ headers }) => headers.referer === origin)
      .flatMap(grantedBy)
      .flatMap((lock) => (lock.path === path ? [lock.id] : []));
    return ids.slice(ids.lastIndexOf(id) + 1).length > 0;
  }

  /** Records the outputs of a step, since its job relies on them. */
  async function believe(player: Player, step: number, result: StepResult, taking: Taking): Promise<void> {
    const { acquired, locks = '[]', status } = result.outputs;
    // A later lock on a path hides what happened to an earlier one.
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
      player.counted.push({ path: told.path, id, step, autoRelease: taking.autoRelease, renewed: isRenewed(taking) });
    }
  }

  /** A service without ids and ETags cannot renew locks. */
  const isRenewed = ({ renew }: Taking): boolean => renew && !givesNoProof;

  function withInputs(taking: Taking): StepOptions {
    const { paths, wait, autoRelease, onLost, renew } = taking;
    const inputs = {
      ...{ audience, wait, 'auto-release': String(autoRelease), ttl: isRenewed(taking) ? shortTtl : longTtl },
      ...(onLost === 'warn' && { 'on-lost': 'warn' }),
      ...(renew && { renew: 'true' }),
    };
    return { ...locking(paths, inputs), env };
  }

  function ask(player: Player, paths: readonly string[]): void {
    for (const path of paths) player.asked.add(path);
  }

  /** Stops a step below a worker of its own at that request, and ends its job. */
  async function endsAfter(
    number: number,
    taking: Taking,
    atRequest: number,
    stop: (step: RunningStep) => Promise<StepResult>,
  ): Promise<void> {
    const player = playerOf(number);
    const fault = { kind: 'done-then-silence' } as const;
    await stopped({ player, taking, atRequest, fault, isBelowWorker: true }, stop);
    await ends.endJob(player);
  }

  /** Stops a step when the service receives the request with this number, unless the step ends earlier. */
  async function stopped(
    { player, taking, atRequest, fault, isBelowWorker = false }: Stopping,
    stop: (step: RunningStep) => Promise<StepResult>,
  ): Promise<void> {
    const { paths } = taking;
    await short.look();
    const number = begin(player);
    ask(player, paths);
    const options: StepOptions = { ...withInputs(taking), ...(isBelowWorker && { worker: 'ends' }) };
    const result = await runUntil({ player, options, paths, atRequest, fault }, stop);
    // The step may have got all its locks before it was stopped; then it holds them until its job ends.
    await believe(player, number, result, taking);
  }

  const world = {
    ...outside,
    async lock(number: number, taking: Taking): Promise<void> {
      const { paths } = taking;
      const player = playerOf(number);
      await expect.poll(stage.hasLine).toBe(false);
      await short.look();
      const free = !paths.some(book.isHeld) && !(await stage.locks()).some(({ path }) => paths.includes(path));
      const calm = isCalm(player, paths);
      const step = begin(player, taking);
      ask(player, paths);
      const result = await player.job.run(withInputs(taking));
      if (calm) expect(result.conclusion, result.log).toBe(free ? 'success' : 'failure');
      await believe(player, step, result, taking);
    },
    /** Kills the step at the request with this number, before or after the service has processed it. */
    killed: (number: number, taking: Taking, at: KilledAt) =>
      stopped({ player: playerOf(number), taking, ...killed(at) }, (step) => step.kill()),
    cancelled: (number: number, taking: Taking, atRequest: number) =>
      stopped({ player: playerOf(number), taking, atRequest, fault: { kind: 'done-then-silence' } }, (step) =>
        step.cancel(),
      ),
    /** Stops the step at that request for longer than a short ttl, while everything else continues. */
    wedged: (number: number, taking: Taking, atRequest: number) =>
      stopped(
        { player: playerOf(number), taking, atRequest, fault: { kind: 'done-then-silence' } },
        async ({ pid, finished }) => {
          signal(pid, 'SIGSTOP');
          await sleep(shortTtlMs + 1_000);
          signal(pid, 'SIGCONT');
          return finished;
        },
      ),
    /** Cancels the step at that request without a signal, as in a container, and ends its job while it lives on. */
    survives: (number: number, taking: Taking, atRequest: number) =>
      endsAfter(number, taking, atRequest, (step) => step.disconnect()),
    /** Kills the worker of the runner at that request, and ends its job. */
    orphaned: (number: number, taking: Taking, atRequest: number) =>
      endsAfter(number, taking, atRequest, (step) => step.kill()),
    /** Unlocks the paths. With `killedAt`, the step is killed at that request, before or after it is processed. */
    async unlock(number: number, named: readonly string[], naming: Naming, killedAt?: KilledAt): Promise<void> {
      const account = playerOf(number);
      const isOthers = (path: string): boolean =>
        all.some((other) => other !== account && other.counted.some((lock) => lock.path === path));
      // Where locks look alike, a job whose lock was released by another job would take a later one for its own.
      const paths = looksAlike ? named.filter((path) => !isOthers(path)) : named;
      if (paths.length === 0) return;
      await short.look();
      const calm = isCalm(account, paths) && killedAt === undefined;
      const before = await stage.locks();
      const from = proxy.passed.length;
      begin(account);
      const inputs = naming === 'path' ? { glob: 'false', path: paths.join('\n') } : { path: `[${paths.join('')}]` };
      const options = { ...unlocking({ audience, ...inputs }), env };
      const result =
        killedAt === undefined
          ? await account.job.run(options)
          : await runUntil({ player: account, options, paths, ...killed(killedAt) }, (step) => step.kill());
      const after = await stage.locks();
      const passed = proxy.passed.slice(from);
      settleUnlock({ account, paths, naming, before, after, passed, result, calm, showsOrigin: !looksAlike }, book);
      const begun = account.counted.filter(({ unlockBegun }) => unlockBegun);
      short.mayEnd(after.filter(({ id }) => begun.some((lock) => lock.id === id)));
    },
    /** One job waits for a lock of the other, may be canceled and end, which the proxy hides, and the other job ends. */
    async waitFor(
      number: number,
      other: number,
      { renew, isCanceled }: { readonly renew: boolean; readonly isCanceled: boolean },
    ): Promise<void> {
      const waiting = playerOf(number);
      const holding = playerOf(other);
      await short.look();
      const [lock] = holding.counted.filter(({ autoRelease, id }) => autoRelease && short.isKept(id));
      // Without proof and ledger, the post-step leaves its locks alone.
      const staysHeld = holding.ledgerGone && givesNoProof;
      if (lock === undefined || waiting === holding || staysHeld) return;
      network.calm();
      const taking: Taking = { paths: [lock.path], wait: '10m', autoRelease: true, onLost: 'fail', renew };
      const began = begin(waiting, taking);
      ask(waiting, taking.paths);
      const step = await waiting.job.step(withInputs(taking));
      await Promise.race([step.waitForLog('Waiting'), step.finished]);
      if (isCanceled) {
        await believe(waiting, began, await step.cancel(), taking);
        await ends.endJob(waiting);
      }
      await ends.endJob(holding);
      if (isCanceled) return;
      const result = await step.finished;
      expect(result.conclusion, result.log).toBe('success');
      await believe(waiting, began, result, taking);
    },
    /** Kills the renewal process of the job. */
    killRenewers: (number: number) => ends.killRenewers(playerOf(number)),
    /** Stops the renewal process of the job until its locks have expired. */
    blockRenewers: (number: number) => ends.blockRenewers(playerOf(number)),
    deleteLedger: (number: number) => ends.deleteLedger(playerOf(number)),
    damageLedger: (number: number) => ends.damageLedger(playerOf(number)),
    /** Kills the job, without any post-step. */
    loseMachine: (number: number) => ends.loseMachine(playerOf(number)),
    /** Resolves when all locks that are not renewed have expired. */
    shortLocksEnded: () => short.ended(),
    /** Expires the tokens of jobs that authenticate with their identity. */
    endTokens: async () => identified?.endTokens(),
    network: (faults: readonly Fault[]) => network.fail(faults),
    endJob: (number: number) => ends.endJob(playerOf(number)),
    /** Checks the invariants that hold after each event. */
    async check(): Promise<void> {
      await short.look();
      const locks = await stage.locks();
      const idOn = (path: string) => locks.find((lock) => lock.path === path)?.id;
      for (const [path, { id, who }] of book.others) expect(idOn(path), `the lock of the ${who} on ${path}`).toBe(id);
      for (const { counted } of all) {
        for (const { path, id } of counted) {
          if (short.isKept(id)) expect(idOn(path), `a lock on ${path} that a job counts on`).toBe(id);
        }
      }
      const left = ends
        .leftBy(locks)
        .map(({ path, acquired_at, origin }) => ({ path, acquired_at, log: ends.logOf(origin) }));
      expect(left, `locks of jobs that have ended: ${JSON.stringify(left)}`).toEqual([]);
      for (const { job } of all) {
        const refused = refusedRenewals(job);
        expect(
          locks.filter(({ id }) => refused.has(id)),
          'locks that a ledger has as lost',
        ).toEqual([]);
      }
      const fences = new Map<number, string>();
      for (const { id, fence } of proxy.passed.flatMap(grantedBy)) {
        expect(fences.get(fence) ?? id, 'one lock for each fence').toBe(id);
        fences.set(fence, id);
      }
    },
    /** Ends all jobs, and checks once more. */
    async end(): Promise<void> {
      network.calm();
      for (const player of all) await ends.endJob(player);
      await world.check();
      if (!patient) return;
      await short.ended();
      await world.check();
    },
    async close(): Promise<void> {
      for (const cleanUp of cleanUps) await cleanUp();
    },
  };
  return world;
}
