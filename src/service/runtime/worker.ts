export interface WorkerOptions<Job> {
  /** How many jobs this instance does at the same time. */
  readonly parallel: number;
  /** How often to look for work without being woken: that of other instances, and what becomes due later. */
  readonly pollMs: number;
  /** Claims the next job, if there is one. */
  readonly claim: () => Promise<Job | undefined>;
  /** Must end soon after the signal. */
  readonly run: (job: Job, signal: AbortSignal) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export interface Worker {
  /** There may be work now. */
  wake(): void;
  /** Takes no further job, interrupts those that run, and waits for them. */
  stop(): Promise<void>;
}

/** Does jobs that are rows: claims one after the other while there is room, and looks again when one ends. */
export function startWorker<Job>({ parallel, pollMs, claim, run, onError }: WorkerOptions<Job>): Worker {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let claiming: Promise<void> | undefined;
  let wokenMeanwhile = false;

  async function runOne(job: Job): Promise<void> {
    try {
      await run(job, stopping.signal);
    } catch (error) {
      onError(error);
    }
  }

  async function claimAll(): Promise<void> {
    while (running.size < parallel && !stopping.signal.aborted) {
      const job = await claim();
      if (job === undefined) return;
      const done = runOne(job).finally(() => {
        running.delete(done);
        wake();
      });
      running.add(done);
    }
  }

  function wake(): void {
    if (stopping.signal.aborted) return;
    if (claiming !== undefined) {
      wokenMeanwhile = true;
      return;
    }
    wokenMeanwhile = false;
    claiming = claimAll()
      .catch(onError)
      .finally(() => {
        claiming = undefined;
        if (wokenMeanwhile) wake();
      });
  }

  const timer = setInterval(wake, pollMs);
  wake();
  return {
    wake,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await claiming;
      await Promise.all(running);
    },
  };
}
