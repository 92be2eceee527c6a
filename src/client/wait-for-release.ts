import type { LockPath } from '../interface/lock-path.ts';
import { headerOf, isSuccess } from './answer.ts';
import type { ClientContext, Within } from './call.ts';
import { type KnownLock, readListedLock } from './known-lock.ts';
import { entriesOf } from './pages.ts';
import type { WorkspaceId } from './workspace-id.ts';

export interface WaitRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  /** For how long the service is asked to hold its answer back. */
  readonly seconds: number;
}

export type WaitResult =
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly holder: KnownLock }
  /** The service does not wait, or does not say what it has waited for. */
  | { readonly kind: 'unsupported' }
  /** There was no answer. */
  | { readonly kind: 'failed' };

/** RFC 7240 section 3: `wait` is among what the service says it has heeded. */
const waited = (applied: string | undefined): boolean => /(^|[,;\s])wait($|[=,;\s])/i.test(applied ?? '');

/** Asks the service to answer when a path comes free, or when the time is over (RFC 7240, `Prefer: wait`). */
export const createWaitForRelease =
  ({ call, addresses }: ClientContext) =>
  async ({ workspace, path, seconds }: WaitRequest, within: Within): Promise<WaitResult> => {
    const result = await call(
      {
        method: 'GET',
        target: `${addresses.locks(workspace)}?${new URLSearchParams({ path })}`,
        headers: { prefer: `wait=${seconds}` },
        attempts: 'once',
        answerDelayMs: seconds * 1_000,
      },
      within,
    );
    if (result.kind === 'given-up') return { kind: 'failed' };
    const { answer, texts } = result;
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, 'locks') : undefined;
    if (!isSuccess(answer) || !waited(headerOf(answer, 'preference-applied')) || entries === undefined) {
      return { kind: 'unsupported' };
    }
    const holder = entries.map((entry) => readListedLock(entry, texts)).find((lock) => lock?.path === path);
    return holder === undefined ? { kind: 'free' } : { kind: 'held', holder };
  };
