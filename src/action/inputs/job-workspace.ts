import { parseBaseUrl } from '../../client/access.ts';
import { readLockWorkspaces } from '../../locks/ledger/history.ts';
import { ledgerFile, openLedger } from '../../locks/ledger/ledger.ts';
import { parseHandoff, parseHandoffFile } from './handoff.ts';
import type { RawInputs } from './table.ts';

/** The inputs of `check` or `unlock`, with the service and workspace of this job's locks, if each is only one. */
export function withJobWorkspace(raw: RawInputs, temporaryFolder: string): RawInputs {
  const ledger = openLedger(ledgerFile(temporaryFolder));
  // Unreadable locks are reported later, for their own input.
  const handoff = raw.locks === '' ? parseHandoffFile(raw['locks-file']) : parseHandoff(raw.locks);
  const given = parseBaseUrl(raw['base-url'], true, '');
  const named = handoff.ok ? handoff.value.map(({ grant }) => ({ ...grant.lock, path: grant.path })) : [];
  const refs = readLockWorkspaces(ledger, named).filter(
    ({ service, workspace }) =>
      (!given.ok || service === given.value) && (raw.workspace === '' || workspace === raw.workspace),
  );
  return {
    ...raw,
    'base-url': raw['base-url'] || only(refs.map(({ service }) => service)),
    workspace: raw.workspace || only(refs.map(({ workspace }) => workspace)),
  };
}

/** Empty if there are none, or several different texts. */
function only(texts: readonly string[]): string {
  const [one = '', ...others] = new Set(texts);
  return others.length === 0 ? one : '';
}
