import { randomUUID } from 'node:crypto';
import { Refusal } from '../../contract/problem.ts';
import { sealed, unsealed } from '../../sessions/secret.ts';
import type { ActionCall, PageCall } from '../page.ts';

/** Tells a form that is sent a second time from a second form. */
export const newFormId = ({ c }: PageCall): string => sealed(randomUUID(), c.get('session').secret);

export function formIdOf({ c, form }: ActionCall): string {
  const id = unsealed(form.text('form_id'), c.get('session').secret);
  if (id === undefined) {
    throw new Refusal('malformed-request', 'This form was not shown by this service. Open its page again.');
  }
  return id;
}
