import type { KnownLock } from '../../client/client.ts';
import { timeCell } from '../../interface/format.ts';

/** A text, or a run URL, which is shown as a link with a name. */
export type Cell = string | { readonly run: string };

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** A link to the rows that do not fit into a summary. */
  readonly rest?: { readonly text: string; readonly url: string } | undefined;
}

/** The table of locks in a summary. It has a column for notes only if there are any. */
export function holderTable(
  locks: readonly { readonly path: string; readonly holder: KnownLock | undefined }[],
): Pick<Table, 'head' | 'rows'> {
  const hasNotes = locks.some(({ holder }) => holder?.note !== undefined);
  return {
    head: ['Path', 'Holder', 'Until', 'Run', ...(hasNotes ? ['Note'] : [])],
    rows: locks.map(({ path, holder }) => [
      path,
      holder?.owner ?? '',
      timeCell(holder?.expires_at),
      { run: holder?.origin ?? '' },
      ...(hasNotes ? [holder?.note ?? ''] : []),
    ]),
  };
}

/** The page of the dashboard with all locks of a workspace. */
export const locksPage = (service: string, workspace: string): NonNullable<Table['rest']> => ({
  text: `all locks of ${workspace}`,
  url: `${service.replace(/\/v1$/, '')}/workspaces/${encodeURIComponent(workspace)}/locks`,
});
