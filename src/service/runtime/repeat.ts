/** Repeats the work at an interval, one run at a time. Returns a function that stops it and waits for the last run. */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
  { atOnce = false } = {},
): () => Promise<void> {
  let running: Promise<void> | undefined;
  function run(): void {
    if (running !== undefined) return;
    running = work()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }
  const timer = setInterval(run, everyMs);
  if (atOnce) run();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
