import { parseBaseUrl } from '../../client/access.ts';
import { joinFirst } from '../../interface/format.ts';
import { readLockWorkspaces } from '../../locks/ledger/history.ts';
import { ledgerFile, openLedger } from '../../locks/ledger/ledger.ts';
import { parseHandoff, parseHandoffFile } from './parse.ts';
import type { FromLedger, RawInputs } from './table.ts';

/** The service and workspace of this job's locks, for a `check` or `unlock` that does not name both. */
export function findJobWorkspace(raw: RawInputs, temporaryFolder: string): FromLedger {
  // The ledger is only read, so nothing needs to be redacted.
  const ledger = openLedger(ledgerFile(temporaryFolder), (text) => text);
  // Unreadable locks are reported for their own input.
  const handoff = raw.locks === '' ? parseHandoffFile(raw['locks-file']) : parseHandoff(raw.locks);
  const service = parseBaseUrl(raw['base-url'], true, '');
  const named = handoff.ok ? handoff.value.map(({ path, lock }) => ({ path, ...lock })) : [];
  const refs = readLockWorkspaces(ledger, named).filter(
    (ref) =>
      (!service.ok || ref.service === service.value) && (raw.workspace === '' || ref.workspace === raw.workspace),
  );
  const services = distinct(refs.map((ref) => ref.service));
  const workspaces = distinct(refs.map((ref) => ref.workspace));
  const values = {
    ...(services.length === 1 && { 'base-url': services[0] }),
    ...(workspaces.length === 1 && { workspace: workspaces[0] }),
  };
  if (refs.length > 0) {
    const places = joinFirst(refs.map((ref) => `${ref.workspace} on ${ref.service}`));
    return {
      values,
      missing: `This job has locks in several places: ${places}. Use one step for each, and name its service and workspace.`,
    };
  }
  const reason =
    named.length > 0
      ? 'This job did not take all locks that the step names'
      : 'No step of this job has locked anything that this one could mean';
  return { values, missing: `${reason}, so name the service, such as ${example}, and the workspace of the locks.` };
}

const example = 'https://workspaces.example.com/v1';

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
