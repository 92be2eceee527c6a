import { ask, type RunningService } from './running-service.ts';

/** The longest wait for a response during `work`, in milliseconds. */
export async function slowestAnswerDuring(
  { baseUrl }: Pick<RunningService, 'baseUrl'>,
  work: () => Promise<unknown>,
): Promise<number> {
  let going = true;
  let slowest = 0;
  async function askAgainAndAgain(): Promise<void> {
    while (going) {
      const began = performance.now();
      await ask(baseUrl, 'GET', '/healthz');
      slowest = Math.max(slowest, performance.now() - began);
    }
  }
  const asking = askAgainAndAgain();
  try {
    await work();
  } finally {
    going = false;
    await asking;
  }
  return slowest;
}
