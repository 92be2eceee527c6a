/** Each takes memory, also when nothing comes over it. */
const mostOfAll = 20_000;

/** Open files that are no connections of clients: databases, git with its pipes, deliveries, what Node itself needs. */
const forTheRest = 256;

/**
 * How many connections are taken at once, by the limit of open files. Without this, clients that hold connections could
 * leave none for git and the database, which the requests of all the others need.
 */
export const mostConnections = (openFiles: number): number =>
  Math.min(mostOfAll, Math.max(Math.floor(openFiles / 4), openFiles - forTheRest));

/** Of this process. Node raises it to what the system allows when it starts. */
export function openFilesLimit(): number {
  // Otherwise the report would look up names of addresses. Node's types do not know the setting.
  Object.assign(process.report, { excludeNetwork: true });
  // Nor what is in a report. Windows has no such limit, and so no such part.
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isNaN(soft) ? Number.POSITIVE_INFINITY : soft;
}
