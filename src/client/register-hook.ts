import type { WorkspaceId } from './access.ts';
import { objectIn } from './answer.ts';
import { type ClientContext, expectSuccess, type Within } from './call.ts';
import { asObject, firstName, isObject, type JsonObject, nameIn } from './json.ts';
import { unusableThoughOptional } from './refusal.ts';
import { plainName } from './service-text.ts';

export interface HookRequest {
  readonly workspace: WorkspaceId;
  readonly url: string;
  readonly events?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  /** More members of the request; what is given by itself goes before. */
  readonly options?: JsonObject | undefined;
}

export interface RegisteredHook {
  readonly hook_id: string | undefined;
  /** The hook was there and has been replaced, where the service tells that apart. */
  readonly replaced: boolean;
  /** A secret that the service made, shown this one time: to be masked before anything is done with it. */
  readonly madeSecret: string | undefined;
}

const textsIn = (object: JsonObject): readonly string[] =>
  Object.values(object).filter((value) => typeof value === 'string');

/** What no error may repeat: the secret, and the values of headers, which are there for credentials. */
const secretsIn = (body: JsonObject): readonly string[] => [
  ...textsIn({ secret: body['secret'] ?? null }),
  ...textsIn(asObject(body['headers'])),
];

export const createRegisterHook =
  ({ call, addresses }: ClientContext) =>
  async ({ workspace, url, events, secret, options = {} }: HookRequest, within: Within): Promise<RegisteredHook> => {
    const body = { ...options, url, ...(events && { events }), ...(secret !== undefined && { secret }) };
    const result = await call(
      {
        method: 'POST',
        target: addresses.hooks(workspace),
        headers: { 'idempotency-key': crypto.randomUUID() },
        body,
        secrets: secretsIn(body),
      },
      within,
    );
    const { answer, texts, fail } = expectSuccess(result);
    const wrong = unusableThoughOptional(answer, texts);
    if (wrong !== undefined) throw fail(wrong);
    const said = objectIn(answer);
    const hook = [said['hook'], said['webhook'], said['data']].find(isObject) ?? said;
    const id = firstName(hook, ['id', 'hook_id', 'hookId', 'webhook_id']);
    const madeSecret = body.secret === undefined ? nameIn(hook['secret']) : undefined;
    return {
      hook_id: id === undefined ? undefined : plainName(id),
      replaced: answer.status === 200,
      madeSecret,
    };
  };
