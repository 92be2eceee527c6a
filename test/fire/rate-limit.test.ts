import { expect, test } from 'vitest';
import { measured } from '../soak/measured.ts';
import { fasterTime } from '../support/preload.ts';
import { type EndedJob, jobsTogether } from '../support/runner/jobs-together.ts';
import { ask } from '../support/running-service.ts';
import { runs } from '../support/runs.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { lockedPathsIn } from '../support/stored-rows.ts';
import { startService } from './service-calls.ts';

const soak = process.env['SOAK'] === '1';

/** In the short run, time passes faster for service and steps, but not so fast that the machine becomes the limit. */
const nodeOptions = soak ? undefined : fasterTime(4);

/** Reads the locks without HTTP: a request to the service could be refused, too. */
const lockedPaths = ({ folder }: ServiceProcess): Promise<readonly string[]> => lockedPathsIn(folder);

const endingsOf = (jobs: readonly EndedJob[]): readonly string[] =>
  jobs.map(({ lock, posts }, number) => {
    const lines = [lock, ...posts].flatMap(({ log }) => log.split('\n').slice(-3));
    return `job ${number}: ${lines.join(' | ').slice(0, 600)}`;
  });

/** The number of requests that an idle token may send at once. */
async function burstOf({ baseUrl, token }: ServiceProcess): Promise<number> {
  const { headers } = await ask(baseUrl, 'GET', '/workspaces', { token });
  return Number(/;q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '')?.[1]);
}

const refusalsOf = (jobs: readonly EndedJob[]): number => jobs.reduce((sum, { refusals }) => sum + refusals, 0);

function expectGoodEnds(jobs: readonly EndedJob[]): void {
  for (const { posts } of jobs) expect(posts).toMatchObject([{ conclusion: 'success', annotations: [] }]);
}

test('jobs that exceed the rate limit of their token leave no lock behind, however their steps end', {
  timeout: runs(120_000, 15 * 60_000),
}, async () => {
  const environment = { ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }) };
  const service = await startService({ args: ['--rate-limit', '5/s'], environment });
  const wanted = { jobs: runs(3, 6), pathsEach: runs(200, 300) };
  expect(wanted.jobs * wanted.pathsEach).toBeGreaterThan(await burstOf(service));
  const jobs = await jobsTogether({
    ...service,
    ...wanted,
    given: { wait: '1m' },
    ...(nodeOptions !== undefined && { nodeOptions }),
  });
  const left = await lockedPaths(service);
  measured('locks left behind by jobs that exceed the rate limit of their token', left.length, endingsOf(jobs));
  expectGoodEnds(jobs);
});

test('two jobs with one token get all their locks at the default rate limit, and leave none behind', {
  timeout: runs(120_000, 5 * 60_000),
}, async () => {
  const service = await startService();
  const jobs = await jobsTogether({ ...service, jobs: 2, pathsEach: runs(1_000, 3_000) });
  const left = await lockedPaths(service);
  measured('locks left behind by jobs that share a token', left.length, endingsOf(jobs));
  measured('rejected requests of jobs that share a token', refusalsOf(jobs));
  for (const { lock } of jobs) expect(lock.conclusion, lock.log).toBe('success');
  expectGoodEnds(jobs);
});
