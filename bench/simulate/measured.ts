import type { Figure } from '../benchmark.ts';
import { pageBytesName, pageName, pageSize, pollsName } from '../polls.ts';
import { figuresOf, type Results } from '../results.ts';
import { ceilingName, takenName } from '../service.ts';
import { clientCounts, type Kind, kinds, type Load, type Measurements } from './service-times.ts';

/** What `npm run bench` has measured of the service, as far as the simulation needs it. */

export type Database = 'SQLite' | 'PostgreSQL';

const nameOf = (kind: Kind, database: Database, clients: number): string => {
  switch (kind) {
    case 'nothing':
      return ceilingName(clients);
    case 'poll':
      return pollsName(database, clients);
    case 'take':
      return takenName(database, clients);
  }
};

function percentile({ details = [] }: Figure, percent: number): number | undefined {
  const distribution = details.find((detail) => detail.kind === 'distribution');
  return distribution?.percentiles.find(([each]) => each === percent)?.[1];
}

/** Undefined when the last run has not measured all of it. */
export function measurementsIn(results: Results, database: Database): Measurements | undefined {
  const figures = new Map(results.benchmarks.flatMap(figuresOf).map((figure) => [figure.name, figure]));
  const loads: Load[] = [];
  for (const kind of kinds) {
    for (const clients of clientCounts) {
      const figure = figures.get(nameOf(kind, database, clients));
      const [p50Ms, p99Ms] = [50, 99].map((percent) => figure && percentile(figure, percent));
      if (figure === undefined || p50Ms === undefined || p99Ms === undefined) return undefined;
      loads.push({ kind, clients, perSecond: figure.value, p50Ms, p99Ms });
    }
  }
  const [page, bytes] = [pageName(database), pageBytesName(database)].map((name) => figures.get(name)?.value);
  if (page === undefined || bytes === undefined) return undefined;
  return { loads, page: { ms: page, locks: pageSize, bytes: bytes * 1_000 } };
}
