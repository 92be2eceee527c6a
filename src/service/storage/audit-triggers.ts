import type { Dialect } from './storage.ts';

const onlyGrows = 'The audit only grows.';

/** Maintenance may remove entries older than the retention that it has applied. */
const removableBefore = `coalesce((select value from quotas where name = 'auditRemovableBefore'), 0)`;

/** Reject changes and the removal of audit entries, and new ones that are not at the end. */
export const auditTriggers: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: [
    refusal('update', 'before update on audit'),
    refusal('delete', `before delete on audit when old.at >= ${removableBefore}`),
    // REPLACE removes the conflicting row without a delete trigger (https://www.sqlite.org/lang_conflict.html).
    refusal('replace', 'before insert on audit when exists (select 1 from audit where sequence = new.sequence)'),
    refusal(
      'insert_between',
      'after insert on audit when new.sequence < 1 or new.sequence < (select max(sequence) from audit)',
    ),
  ],
  // A conflicting insert is an update here, which is rejected, and the database generates the sequence.
  postgres: [
    `create function audit_refuses() returns trigger language plpgsql as $$ begin raise exception '${onlyGrows}'; end $$`,
    'create trigger audit_only_grows before update or truncate on audit for each statement execute function audit_refuses()',
    `create function audit_keeps() returns trigger language plpgsql as $$ begin
      if old.at >= ${removableBefore} then raise exception '${onlyGrows}'; end if;
      return old;
    end $$`,
    'create trigger audit_refuses_delete before delete on audit for each row execute function audit_keeps()',
  ],
};

function refusal(name: string, when: string): string {
  return `create trigger audit_refuses_${name} ${when} begin select raise(abort, '${onlyGrows}'); end`;
}
