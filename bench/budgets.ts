/** What a start may cost, and what is downloaded for it. A kilobyte is 1,000 bytes. */
export const budgets = {
  /** `dist/index.js`: what is read before the inputs are known to be right. */
  entryBytes: 200_000,
  /** The archive of a tag, gzipped. */
  archiveBytes: 400_000,
  /** Until a wrong input is told, over a Node that does nothing. */
  wrongInputRatio: 1.9,
  /** Until one request to a server on this machine is answered and told, over the same. */
  oneRequestRatio: 2.2,
  /** A loop of curl with one lock a call, over the action: at least. */
  locksRatio: 5,
  /** What a path costs among ten times as many. */
  growthRatio: 1.25,
  /** The slowest of eight jobs that lock 3,000 paths each with one token, and end. */
  slowestJobSeconds: 120,
  /** Locks a second of the service on SQLite with 32 clients, over one commit for each request: at least. */
  groupedCommitsRatio: 3,
  /** Locks a second of 64 clients in eight workspaces of four instances on a PostgreSQL at 1 ms, over those of 64 in one: at least. */
  workspacesRatio: 3,
  /** A sync into an empty mirror, over a plain `git fetch` of the same. */
  syncRatio: 1.1,
} as const;
