import type { MarksStore } from '../../client/client.ts';
import type { Ledger, Recorder } from './ledger.ts';

/** Facts about a service that all steps and processes of the job share. */
export const marksIn = (ledger: Pick<Ledger, 'read'>, record: Recorder, service: string): MarksStore => ({
  read: () => ledger.read().entries.some((entry) => entry.kind === 'marks' && entry.service === service),
  write: () => record({ kind: 'marks', service, at: new Date().toISOString() }),
});
