import { onTestFinished } from 'vitest';
import { type Job, type JobOptions, openJob } from './job.ts';

/** A job for the current test; it is ended, and its folders are removed, when the test has finished. */
export async function startJob(options: JobOptions = {}): Promise<Job> {
  const job = await openJob(options);
  onTestFinished(() => job.end());
  return job;
}
