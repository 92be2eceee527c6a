/** An error whose message is shown to the user without a stack trace. */
export class DemoFailure extends Error {}

/** The reason why the demo stops early. */
export type Cause =
  | { readonly kind: 'signal'; readonly name: NodeJS.Signals }
  /** The reader of the output closed the pipe. */
  | { readonly kind: 'nobody-reads' }
  | { readonly kind: 'failure'; readonly sentence: string };

export interface Ending {
  /** Aborted as soon as there is a cause. */
  readonly signal: AbortSignal;
  cause(): Cause | undefined;
  /** The first cause counts. */
  end(cause: Cause): void;
  /** Rejects if the demo stops before the work is done. The work itself continues. */
  orEnd<T>(work: Promise<T>): Promise<T>;
}

export function createEnding(): Ending {
  const controller = new AbortController();
  const { signal } = controller;
  let first: Cause | undefined;
  return {
    signal,
    cause: () => first,
    end(cause) {
      if (first !== undefined) return;
      first = cause;
      controller.abort();
    },
    async orEnd(work) {
      const { promise, reject } = Promise.withResolvers<never>();
      const stop = (): void => reject(signal.reason);
      signal.addEventListener('abort', stop);
      try {
        if (signal.aborted) stop();
        return await Promise.race([work, promise]);
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}
