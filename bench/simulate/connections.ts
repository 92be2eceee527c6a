import { createServer } from 'node:http';

/** How long a server of Node keeps a connection that nobody uses, unless it is told otherwise; src/service does not. */
const keptMs = createServer().keepAliveTimeout;

interface Idle {
  readonly until: number;
  gone: boolean;
}

/** Connections as a client keeps them: used again while they are kept, and closed with the step. */
export interface ConnectionsOfAStep {
  readonly open: () => { readonly done: () => void };
  readonly closeAll: () => void;
}

/** Counts how many connections the service has at once. */
export function countConnections(now: () => number) {
  /** In the order in which their time ends. */
  let idle: Idle[] = [];
  let first = 0;
  let count = 0;
  let most = 0;

  function drop(one: Idle): void {
    if (!one.gone) count -= 1;
    one.gone = true;
  }

  function dropExpired(): void {
    for (let one = idle[first]; one !== undefined && one.until <= now(); one = idle[first]) {
      drop(one);
      first += 1;
    }
    if (first > 10_000) {
      idle = idle.slice(first);
      first = 0;
    }
  }

  return {
    ofAStep(): ConnectionsOfAStep {
      const own: Idle[] = [];
      return {
        open() {
          dropExpired();
          const kept = own.pop();
          if (kept === undefined || kept.gone) {
            own.length = 0;
            count += 1;
          } else kept.gone = true;
          most = Math.max(most, count);
          return {
            done() {
              const one = { until: now() + keptMs, gone: false };
              own.push(one);
              idle.push(one);
            },
          };
        },
        closeAll() {
          for (const one of own) drop(one);
          own.length = 0;
        },
      };
    },
    forgetMost(): void {
      most = count;
    },
    most: () => most,
  };
}
