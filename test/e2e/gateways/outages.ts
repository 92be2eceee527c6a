import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { type FaultProxy, isLocking, isReleasing, isRenewing, type Passing } from '../../support/fault-proxy.ts';
import { leaveOut } from '../../support/left-out.ts';
import { type Product, programOf, type ReverseProxy, startReverseProxy } from '../../support/reverse-proxy.ts';
import type { Job } from '../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../support/runner/step.ts';
import { ask } from '../../support/running-service.ts';
import { locking, type Place, unlocking } from '../scenarios/place.ts';
import type { Gateway } from './gateways.ts';
import { type KilledService, startKilledService } from './killed-service.ts';

/**
 * Tests each operation while the service behind the gateway is killed and restarted. The two configurations are tested
 * concurrently, each with its own service.
 */
export function testOutages({ name, plain, hiding }: Gateway): void {
  describe.concurrent(`while the service is killed behind ${name}`, () => testOperations(plain, 1));
  // After a 404, a release is sent again at once with another spelling of its path, which is not a retry.
  describe.concurrent(`while the service is killed behind ${name}, which answers 404 for it`, () =>
    testOperations(hiding, 2));
}

const hero = 'Content/Hero.uasset';

/** Enough retries for a service that starts slowly on a busy machine. */
const patiently = { retries: '20' };

const isLook = ({ method }: Passing): boolean => method === 'GET';

/** Runs the outages sequentially. */
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

  test('a renewed lock stays the same lock', inTurn, async (context) => {
    const { place, proxy, job, outageAt } = await open(context);
    // Renewed every eight seconds, it lasts longer than the start of the service on a busy machine.
    await job.run(locking(hero, { renew: 'true', ttl: '24s' }));
    const [first] = await place.locks();
    const before = proxy.passed.length;
    await outageAt(isRenewing).ended;
    const isRenewed = () => proxy.passed.slice(before).some((one) => isRenewing(one) && one.status === 200);
    await context.expect.poll(isRenewed).toBe(true);
    expect(await place.locks()).toMatchObject([{ id: first?.id, fence: first?.fence }]);
    await expectAllReleased(place, job);
  });

  test('a check reports the lock as kept', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    await job.run(locking(hero));
    const step = await outageAt(isLook).during(await job.step({ with: { operation: 'check', ...patiently } }));
    expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { status: 'kept' } });
    expectNothingWrong(step);
    await expectAllReleased(place, job);
  });

  test('an unlock step reports that it released the lock', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    await job.run(locking(hero));
    const step = await outageAt(isReleasing).during(await job.step(unlocking({ path: hero, ...patiently })));
    expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
    expectNothingWrong(step);
    await expectAllReleased(place, job);
  });

  test('a post-step reports that it released the lock', inTurn, async (context) => {
    const { place, job, outageAt } = await open(context);
    await job.run(locking(hero, patiently));
    const post = await outageAt(isReleasing).during(await job.nextPost());
    expect(post.conclusion, post.log).toBe('success');
    expectNothingWrong(post);
    expect(await place.locks()).toEqual([]);
  });
}

interface Outage {
  /** Resolves when the service is back. */
  readonly ended: Promise<void>;
  /** Waits for the end of the step, and for the service if the step gives up earlier. */
  during(step: RunningStep | undefined): Promise<StepResult>;
}

interface Scene {
  readonly place: Place;
  /** The proxy in front of the gateway. */
  readonly proxy: FaultProxy;
  readonly job: Job;
  kill(): Promise<void>;
  /**
   * Kills the service at the first of these requests. It is restarted when the gateway has answered the number of them
   * passed to `useGateway` and receives the next one.
   */
  outageAt(isMeant: (passing: Passing) => boolean): Outage;
}

/** Starts the service behind the gateway program for the following tests. Each test gets its own workspace. */
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
    // A gateway with health checks notices a little later that the service is back.
    const isReached = async () => (await ask(`http://127.0.0.1:${gateway.port}`, 'GET', '/healthz')).status;
    await expectHere.poll(isReached, { interval: 100 }).toBe(200);
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

/** Expects that the step makes no claims about locks that only the service itself can make. */
export function expectNothingWrong({ log, annotations }: StepResult): void {
  expect(log).not.toMatch(/already gone|lost|not locked|absent|left alone/i);
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
