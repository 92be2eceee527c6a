import { parseBaseUrl } from '../../client/access.ts';
import { joinFirst } from '../../interface/format.ts';
import { readLockWorkspaces, type WorkspaceRef } from '../../locks/ledger/history.ts';
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
  const refs = readLockWorkspaces(ledger, handoff.ok ? handoff.value : []).filter(
    (ref) =>
      (!service.ok || ref.service === service.value) && (raw.workspace === '' || ref.workspace === raw.workspace),
  );
  if (refs.length === 0) return { values: {}, missing: missingTexts(raw, handoff.ok) };
  const services = distinct(refs.map((ref) => ref.service));
  const workspaces = distinct(refs.map((ref) => ref.workspace));
  return {
    values: {
      ...(services.length === 1 && { 'base-url': services[0] }),
      ...(workspaces.length === 1 && { workspace: workspaces[0] }),
    },
    missing: severalTexts(refs),
  };
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

const example = 'such as https://workspaces.example.com/v1';
function missingTexts(raw: RawInputs, isHandoff: boolean): FromLedger['missing'] {
  const scope = raw['base-url'] !== '' ? ' on this service' : raw.workspace !== '' ? ' in this workspace' : '';
  const reason = isHandoff
    ? 'Not all locks that the step names belong to this job, so it must also name their'
    : `No step of this job has locked anything${scope}, so the step must name the`;
  return {
    'base-url': `${reason} service, ${example}.`,
    workspace: `${reason} workspace. \`operation: list-workspaces\` lists the workspaces.`,
  };
}

function severalTexts(refs: readonly WorkspaceRef[]): FromLedger['missing'] {
  const texts = joinFirst(refs.map(({ service, workspace }) => `${workspace} on ${service}`));
  return {
    'base-url': `This job has locks on several services: ${texts}. Use one step for each, and name its service.`,
    workspace: `This job has locks in several workspaces: ${texts}. Use one step for each, and name its workspace.`,
  };
}
