import { remember } from '../runtime/remember.ts';

/** Budget of requests started in one turn of the event loop: about the cost of one flush to disk. */
export const maxMsPerTurn = 4;

/** Assumed cost of a request with an unknown key, and the minimum cost of a request. */
const defaultMs = 1;
const minMs = 0.25;

/**
 * The event loop accepts one new connection per turn (libuv's uv__server_io). While connections keep arriving, up to
 * this many turns in a row start no requests, so that a client that constantly opens connections does not block those
 * of others.
 */
const maxTurnsForConnections = 32;

/**
 * Requests that cost more than a turn start in at most every fifth turn. Most other requests take about that many
 * turns, and would otherwise be delayed by a costly one in each. The short turns in between hardly delay the costly
 * requests.
 */
export const turnsBetweenCostly = 4;

/** Weight of the latest measurement in the moving average of a key's cost. */
const weightOfLatest = 1 / 4;

const maxKeys = 10_000;

export type FairScheduler = ReturnType<typeof createFairScheduler>;

/**
 * Requests of one client over many connections arrive together, and would delay all others. Each turn of the event loop
 * therefore starts only a few requests, one key after the other: a client with few requests does not wait for all
 * requests of a busy one. A key with costly requests gets fewer turns. Started requests are no longer tracked, so that
 * requests that wait for a lock or a remote delay nobody.
 */
export function createFairScheduler(afterThisTurn: (work: () => void) => void = setImmediate) {
  /** Waiting requests by key, in the order of their turns. */
  const waiting = new Map<string, Set<{ readonly begin: () => void }>>();
  const costs = new Map<string, number>();
  /** Cost that a key must still make up for by letting others go first. */
  const debts = new Map<string, number>();
  let budget = maxMsPerTurn;
  let isIdle = true;
  let turnsUntilCostly = 0;
  let hasConnected = false;
  let turnsForConnections = 0;

  const costOf = (key: string): number => costs.get(key) ?? defaultMs;

  function letsOthersGoFirst(key: string): boolean {
    const debt = debts.get(key) ?? 0;
    if (debt >= defaultMs && waiting.size > 0) {
      debts.set(key, debt - defaultMs);
      return true;
    }
    // The remaining debt is below one default request, unless there was no other key to let go first.
    const debtAfter = Math.min(debt, defaultMs) + costOf(key) - defaultMs;
    if (debtAfter > 0) debts.set(key, debtAfter);
    else debts.delete(key);
    return false;
  }

  function hasStarted(cost: number): void {
    budget -= cost;
    if (cost > maxMsPerTurn) turnsUntilCostly = turnsBetweenCostly + 1;
  }

  /** False if the next key must wait for another turn. */
  function visitNext(): boolean {
    const [next] = waiting;
    if (next === undefined) return false;
    const [key, requests] = next;
    waiting.delete(key);
    const isHeld = costOf(key) > maxMsPerTurn && turnsUntilCostly > 0;
    if (!isHeld && !letsOthersGoFirst(key)) {
      hasStarted(costOf(key));
      const [first] = requests;
      if (first !== undefined) requests.delete(first);
      first?.begin();
    }
    if (requests.size > 0) waiting.set(key, requests);
    else debts.delete(key);
    return !isHeld;
  }

  function nextTurn(): void {
    isIdle = budget === maxMsPerTurn && waiting.size === 0;
    if (isIdle) return;
    afterThisTurn(nextTurn);
    if (hasConnected && turnsForConnections < maxTurnsForConnections) {
      hasConnected = false;
      turnsForConnections += 1;
      return;
    }
    turnsForConnections = 0;
    budget = maxMsPerTurn;
    turnsUntilCostly = Math.max(0, turnsUntilCostly - 1);
    for (let held = 0; budget > 0 && held < waiting.size; ) held = visitNext() ? 0 : held + 1;
  }

  return {
    /** Calls `begin` when it is the turn of the request. Returns a function that cancels a turn that has not started. */
    wait(key: string, begin: () => void): () => void {
      if (isIdle) {
        isIdle = false;
        afterThisTurn(nextTurn);
      }
      if (budget > 0 && waiting.size === 0 && (costOf(key) <= maxMsPerTurn || turnsUntilCostly === 0)) {
        hasStarted(costOf(key));
        begin();
        return () => undefined;
      }
      const requests = waiting.get(key) ?? new Set();
      const request = { begin };
      requests.add(request);
      waiting.set(key, requests);
      return () => {
        requests.delete(request);
        if (requests.size === 0 && waiting.get(key) === requests) waiting.delete(key);
      };
    },
    measured(key: string, ms: number): void {
      const before = costOf(key);
      remember(costs, key, before + weightOfLatest * (Math.max(minMs, ms) - before), maxKeys);
    },
    /** Must be called when a connection was accepted. */
    connected(): void {
      hasConnected = true;
    },
  };
}
