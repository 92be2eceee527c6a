export interface WorkerOptions<Job> {
  readonly parallel: number;
  /** Interval of polling, for work from other instances, and for work that becomes due later. */
  readonly pollMs?: number | undefined;
  /** Claims the next job; undefined if there is none. */
  readonly claim: () => Promise<Job | undefined>;
  /** Runs a job. Must end soon after the signal. */
  readonly run: (job: Job, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Runs jobs that are stored as rows. Claims one after the other up to the limit, and another when a job ends. */
export function startWorker<Job>({ parallel, pollMs = 500, claim, run, onError }: WorkerOptions<Job>) {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let claiming: Promise<void> | undefined;
  let isWoken = false;

  async function claimAll(): Promise<void> {
    isWoken = false;
    while (running.size < parallel && !stopping.signal.aborted) {
      const job = await claim();
      if (job === undefined) return;
      const done = run(job, stopping.signal)
        .catch(onError)
        .finally(() => {
          running.delete(done);
          wake();
        });
      running.add(done);
    }
  }

  function wake(): void {
    if (stopping.signal.aborted) return;
    isWoken = true;
    claiming ??= claimAll()
      .catch(onError)
      .finally(() => {
        claiming = undefined;
        if (isWoken) wake();
      });
  }

  const timer = setInterval(wake, pollMs);
  wake();
  return {
    wake,
    /** Claims no further jobs, aborts the running ones, and waits for them. */
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await claiming;
      await Promise.all(running);
    },
  };
}
