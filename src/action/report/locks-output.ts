import { fitsVariable } from './outcome.ts';

interface ListedLock {
  readonly path: string;
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

/**
 * The output `locks`, in its short form if the complete one is too long. The reporter leaves the output empty if the
 * short form is too long as well.
 */
export function locksOutput(locks: readonly ListedLock[], asJson: (locks: readonly ListedLock[]) => string): string {
  const complete = asJson(locks);
  if (fitsVariable(complete)) return complete;
  const short = locks.map(shortForm).filter((lock) => lock !== undefined);
  return short.length === locks.length ? asJson(short) : complete;
}

/**
 * The path and the proof. An ETag that is the quoted id is left out: without an ETag, a release sends the quoted id.
 * Lists have ids, but rarely ETags.
 */
function shortForm({ path, id, etag }: ListedLock): ListedLock | undefined {
  if (id === undefined && etag === undefined) return undefined;
  return { path, id, etag: etag === `"${id}"` ? undefined : etag };
}
