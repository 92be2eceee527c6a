import { objectIn } from './answer.ts';
import { type ClientContext, expectSuccess, type Within } from './call.ts';
import { firstName } from './json.ts';
import { notUnderstood } from './refusal.ts';

/** Whose the locks of the token are. Throws a ServiceError. */
export const createGetOwner =
  ({ call, addresses }: ClientContext) =>
  async (within: Within): Promise<string> => {
    const { answer, texts, fail } = expectSuccess(await call({ method: 'GET', target: addresses.token }, within));
    const owner = firstName(objectIn(answer), ['owner']);
    if (owner !== undefined) return owner;
    throw fail(notUnderstood(answer, texts, 'it does not say whose the locks of the token are'));
  };
