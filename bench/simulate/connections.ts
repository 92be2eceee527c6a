import { createServer } from 'node:http';
import type { VirtualTime } from './virtual-time.ts';

/** How long a server of Node keeps a connection that nobody uses, unless it is told otherwise; src/service does not. */
const keptMs = createServer().keepAliveTimeout;

/** Connections as a client keeps them: used again while they are kept, and closed with the step. */
export interface ConnectionsOfAStep {
  readonly open: () => { readonly done: () => void };
  readonly closeAll: () => void;
}

/** Counts how many connections the service has at once. */
export function countConnections({ after }: VirtualTime) {
  let count = 0;
  let max = 0;
  return {
    max: () => max,
    resetMax(): void {
      max = count;
    },
    ofAStep(): ConnectionsOfAStep {
      /** What keeps each idle connection from being closed, the last used last. */
      const idle: (() => void)[] = [];
      const close = (keep: (() => void) | undefined): void => {
        keep?.();
        count -= 1;
      };
      return {
        open() {
          const keep = idle.pop();
          keep?.();
          if (keep === undefined) count += 1;
          max = Math.max(max, count);
          const done = (): void => void idle.push(after(keptMs, () => close(idle.shift())));
          return { done };
        },
        closeAll: () => idle.splice(0).forEach(close),
      };
    },
  };
}
