import { parseBaseUrl } from '../../client/access.ts';
import { joinFirst } from '../../interface/format.ts';
import { readLockWorkspaces } from '../../locks/ledger/history.ts';
import { ledgerFile, openLedger } from '../../locks/ledger/ledger.ts';
import { parseHandoff, parseHandoffFile } from './parse.ts';
import type { RawInputs } from './table.ts';

/**
 * For a `check` or `unlock` that does not name both: the inputs with the service and workspace of this job's locks, as
 * far as there is only one, and the reason why they must be given otherwise.
 */
export function findJobWorkspace(raw: RawInputs, temporaryFolder: string) {
  // The ledger is only read, so nothing needs to be redacted.
  const ledger = openLedger(ledgerFile(temporaryFolder), (text) => text);
  // Unreadable locks are reported for their own input.
  const handoff = raw.locks === '' ? parseHandoffFile(raw['locks-file']) : parseHandoff(raw.locks);
  const given = parseBaseUrl(raw['base-url'], true, '');
  const named = handoff.ok ? handoff.value.map(({ grant }) => ({ ...grant.lock, path: grant.path })) : [];
  const refs = readLockWorkspaces(ledger, named).filter(
    ({ service, workspace }) =>
      (!given.ok || service === given.value) && (raw.workspace === '' || workspace === raw.workspace),
  );
  const found: RawInputs = {
    ...raw,
    'base-url': raw['base-url'] || only(refs.map(({ service }) => service)),
    workspace: raw.workspace || only(refs.map(({ workspace }) => workspace)),
  };
  if (refs.length > 0) {
    const places = joinFirst(refs.map(({ service, workspace }) => `${workspace} on ${service}`));
    const missing = `This job has locks in several places: ${places}. Use one step for each, and name its service and workspace.`;
    return { raw: found, missing };
  }
  const reason =
    named.length > 0
      ? 'This job did not take all locks that the step names'
      : 'No step of this job has locked anything that this one could mean';
  const missing = `${reason}, so name the service, such as https://workspaces.example.com/v1, and the workspace of the locks.`;
  return { raw: found, missing };
}

/** Empty if there are none, or several different ones. */
function only(texts: readonly string[]): string {
  const [one = '', ...others] = new Set(texts);
  return others.length === 0 ? one : '';
}
