import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { type FaultProxy, isLocking, isReleasing, isRenewing, type Passing } from '../../support/fault-proxy.ts';
import type { Gateway } from '../../support/gateways/gateways.ts';
import { leaveOut } from '../../support/left-out.ts';
import { type Product, programOf, type ReverseProxy, startReverseProxy } from '../../support/reverse-proxy.ts';
import type { Job } from '../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../support/runner/step.ts';
import { ask } from '../../support/running-service.ts';
import { locking, type Place, unlocking } from '../scenarios/place.ts';
import { type KilledService, startKilledService } from './killed-service.ts';

/**
 * Each operation while the service behind the gateway is killed and started again. The two configurations, each with a
 * service of its own, are tested at once.
 */
export function testOutages({ name, plain, hiding }: Gateway): void {
  describe.concurrent(`while the service is killed behind ${name}`, () => testOperations(plain, 1));
  // After a 404, a release is sent again at once, in another spelling of its path: this is no retry yet.
  describe.concurrent(`while the service is killed behind ${name}, which answers 404 for it`, () =>
    testOperations(hiding, 2));
}

const hero = 'Content/Hero.uasset';

/** Enough for a service that starts slowly on a busy machine. */
const patiently = { retries: '20' };

const isLook = ({ method }: Passing): boolean => method === 'GET';

/** One outage after the other. */
const inTurn = { concurrent: false };

function testOperations(product: Product, answered: number): void {
  const open = useGateway(product, answered);

  test('a lock step acquires its lock, and the post-step releases it', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    const step = await outageAt(isLocking).during(await job.step(locking(hero, patiently)));
    expect(step.conclusion, step.log).toBe('success');
    expectNothingWrong(step);
    const [told] = JSON.parse(step.outputs['locks'] ?? '[]');
    expect(await place.locks()).toMatchObject([{ path: hero, id: told.id }]);
    await expectAllReleased(place, job);
  });

  test('a waiting step acquires the lock once its holder releases it', inTurn, async (context) => {
    const { place, job, outageAt, kill } = await open(context);
    const holder = await place.job();
    await holder.run(locking(hero));
    const step = await job.step(locking(hero, { ...patiently, wait: '10m' }));
    await step.waitForLog('Waiting');
    const outage = outageAt(isLocking);
    await kill();
    const waiting = outage.during(step);
    await outage.ended;
    await expectGoodEnd(holder);
    const result = await waiting;
    expect(result.conclusion, result.log).toBe('success');
    expectNothingWrong(result);
    await expectAllReleased(place, job);
  });

  test('a lock that is renewed stays the same lock', inTurn, async (context) => {
    const { place, proxy, job, outageAt } = await open(context);
    // Renewed after eight seconds at the latest, it lasts for longer than a service takes to start on a busy machine.
    await job.run(locking(hero, { renew: 'true', ttl: '24s' }));
    const [first] = await place.locks();
    const before = proxy.passed.length;
    await outageAt(isRenewing).ended;
    const isRenewed = () => proxy.passed.slice(before).some((one) => isRenewing(one) && one.status === 200);
    await context.expect.poll(isRenewed, { timeout: 30_000 }).toBe(true);
    expect(await place.locks()).toMatchObject([{ id: first?.id, fence: first?.fence }]);
    await expectAllReleased(place, job);
  });

  test('a check says that the lock is kept', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    await job.run(locking(hero));
    const step = await outageAt(isLook).during(await job.step({ with: { operation: 'check', ...patiently } }));
    expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { status: 'kept' } });
    expectNothingWrong(step);
    await expectAllReleased(place, job);
  });

  test('an unlock releases the lock, and says so', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    await job.run(locking(hero));
    const step = await outageAt(isReleasing).during(await job.step(unlocking({ path: hero, ...patiently })));
    expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
    expectNothingWrong(step);
    await expectAllReleased(place, job);
  });

  test('a post-step releases the lock, and says so', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    await job.run(locking(hero, patiently));
    const post = await outageAt(isReleasing).during(await job.nextPost());
    expect(post.conclusion, post.log).toBe('success');
    expectNothingWrong(post);
    expect(await place.locks()).toEqual([]);
  });
}

interface Outage {
  /** Settled when the service is back. */
  readonly ended: Promise<void>;
  /** Plays the step to its end. The service is back then, even if the step has given up before. */
  during(step: RunningStep | undefined): Promise<StepResult>;
}

interface Scene {
  readonly place: Place;
  /** In front of the gateway. */
  readonly proxy: FaultProxy;
  readonly job: Job;
  kill(): Promise<void>;
  /**
   * The service is killed when the first of these requests comes. It is back when the gateway has answered as many of them
   * as `useGateway` says, and gets the next one.
   */
  outageAt(isMeant: (passing: Passing) => boolean): Outage;
}

/** The service behind the real program, for the tests that follow. Each of them gets a workspace of its own. */
function useGateway(product: Product, answered: number): (context: TestContext) => Promise<Scene> {
  let service: KilledService;
  let gateway: ReverseProxy;
  const isInstalled = programOf(product) !== undefined;

  beforeAll(async () => {
    if (!isInstalled) return;
    service = await startKilledService();
    gateway = await startReverseProxy(product, { servicePort: service.port });
  });
  afterAll(async () => {
    await gateway?.stop();
    await service?.stop();
  });
  beforeEach((context) => {
    if (!isInstalled) leaveOut(context, `${product.name} is not installed.`);
  });

  return async ({ expect: expectHere, onTestFinished }) => {
    await service.start();
    // Those that check the health of the service learn a little later that it is back.
    const isReached = async () => (await ask(`http://127.0.0.1:${gateway.port}`, 'GET', '/healthz')).status;
    await expectHere.poll(isReached, { timeout: 20_000, interval: 100 }).toBe(200);
    const place = await service.place(gateway.port, (cleanUp) => onTestFinished(cleanUp));
    const proxy = await place.proxy();
    return {
      ...{ place, proxy, job: await place.job(), kill: service.kill },
      outageAt(isMeant) {
        const { promise: ended, resolve: end } = Promise.withResolvers<void>();
        let requests = 0;
        let killed = Promise.resolve();
        async function comeBack(): Promise<void> {
          proxy.meet(() => undefined);
          await killed;
          await service.start();
          end();
        }
        proxy.meet((passing) => {
          if (!isMeant(passing)) return undefined;
          requests += 1;
          if (requests === 1) killed = service.kill();
          return { kind: 'held-back', until: requests <= answered ? killed : comeBack() };
        });
        return {
          ended,
          async during(step) {
            if (step === undefined) throw new Error('There is no such step.');
            const result = await step.finished;
            await comeBack();
            return result;
          },
        };
      },
    };
  };
}

/** What the service alone can say of a lock, no step says because of a gateway. */
export function expectNothingWrong({ log, annotations }: StepResult): void {
  expect(log).not.toMatch(/gone already|lost|not locked|absent|left alone/i);
  expect(annotations, log).toEqual([]);
}

async function expectGoodEnd(job: Job): Promise<void> {
  for (const post of await job.post()) {
    expect(post.conclusion, post.log).toBe('success');
    expectNothingWrong(post);
  }
}

async function expectAllReleased(place: Place, job: Job): Promise<void> {
  await expectGoodEnd(job);
  expect(await place.locks()).toEqual([]);
}
