import type { Dialect } from './storage.ts';

export interface Spelling {
  readonly byteOrder: string;
  readonly sequence: string;
  /** Id of the workspace in the first URL `…/workspaces/ID/…` of a text; null without one. */
  readonly addressedWorkspace: (text: string) => string;
  /** Rejects changes to existing rows of a table. */
  readonly appendOnly: (table: string) => readonly string[];
  /** Rejects the removal of audit entries, except those older than the retention that maintenance has applied. */
  readonly removableAudit: readonly string[];
  /** Rejects new rows that replace another row or are not at the end. */
  readonly insertAtEnd: (table: string) => readonly string[];
}

const onlyGrows = 'The audit only grows.';
const removableBefore = `coalesce((select value from quotas where name = 'auditRemovableBefore'), 0)`;

/** SQL that differs between the two databases. Both compare paths byte by byte. */
export const spelling: Readonly<Record<Dialect, Spelling>> = {
  sqlite: {
    byteOrder: '',
    sequence: 'integer primary key autoincrement',
    addressedWorkspace(text) {
      const prefix = '/workspaces/';
      const rest = `substr(${text}, instr(${text}, '${prefix}') + ${prefix.length})`;
      return `case when instr(${text}, '${prefix}') > 0 then substr(${rest}, 1, instr(${rest}, '/') - 1) end`;
    },
    appendOnly: (table) =>
      ['update', 'delete'].map(
        (change) =>
          `create trigger ${table}_refuses_${change} before ${change} on ${table} begin select raise(abort, '${onlyGrows}'); end`,
      ),
    removableAudit: [
      'drop trigger audit_refuses_delete',
      `create trigger audit_refuses_delete before delete on audit when old.at >= ${removableBefore} begin select raise(abort, '${onlyGrows}'); end`,
    ],
    // REPLACE removes the conflicting row without a delete trigger (https://www.sqlite.org/lang_conflict.html).
    insertAtEnd: (table) => [
      `create trigger ${table}_refuses_replace before insert on ${table} when exists (select 1 from ${table} where sequence = new.sequence) begin select raise(abort, '${onlyGrows}'); end`,
      `create trigger ${table}_refuses_insert_between after insert on ${table} when new.sequence < 1 or new.sequence < (select max(sequence) from ${table}) begin select raise(abort, '${onlyGrows}'); end`,
    ],
  },
  postgres: {
    byteOrder: 'collate "C"',
    sequence: 'bigint generated always as identity primary key',
    addressedWorkspace: (text) => `substring(${text} from '/workspaces/([^/]+)/')`,
    appendOnly: (table) => [
      `create function ${table}_refuses() returns trigger language plpgsql as $$ begin raise exception '${onlyGrows}'; end $$`,
      `create trigger ${table}_only_grows before update or delete or truncate on ${table} for each statement execute function ${table}_refuses()`,
    ],
    removableAudit: [
      'drop trigger audit_only_grows on audit',
      'create trigger audit_only_grows before update or truncate on audit for each statement execute function audit_refuses()',
      `create function audit_keeps() returns trigger language plpgsql as $$ begin
        if old.at >= ${removableBefore} then raise exception '${onlyGrows}'; end if;
        return old;
      end $$`,
      'create trigger audit_refuses_delete before delete on audit for each row execute function audit_keeps()',
    ],
    // Not needed: a conflicting insert is an update here, which is rejected, and the database generates the sequence.
    insertAtEnd: () => [],
  },
};
