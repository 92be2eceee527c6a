import { html } from 'hono/html';
import { formatSpan } from '../../../interface/duration.ts';
import { actorOf } from '../../access/caller.ts';
import { findToken, lifetimeOf, rotateToken, type Token } from '../../tokens/tokens.ts';
import { buttonLink, choices, group, postForm } from '../elements/fields.ts';
import { pointInTime, time, userText } from '../elements/text.ts';
import { filledIn } from '../frame/form.ts';
import { addAction, addPage, type PageCall, type Site, type View } from '../frame/page.ts';
import { createdTokenView, serviceOrigin, workspaceIds } from './created-token.ts';
import { noSuchToken, tokenFacts, tokenIdOf } from './tokens.ts';

const route = { path: '/tokens/:token/rotate', access: 'admin' } as const;
const hourMs = 3_600_000;

/** Time for which the old secret stays valid, by the value in the form. */
const keepTimes: ReadonlyMap<string, { readonly ms: number; readonly text: string; readonly hint?: string }> = new Map([
  ['now', { ms: 0, text: 'not at all', hint: 'For a secret that someone else may know. Jobs that use it now fail.' }],
  ['1h', { ms: hourMs, text: 'for 1 hour' }],
  ['1d', { ms: 24 * hourMs, text: 'for 1 day' }],
  ['7d', { ms: 7 * 24 * hourMs, text: 'for 7 days' }],
]);

const defaultKeep = '1d';

export function addRotationPages(site: Site): void {
  const { storage } = site;

  addPage(site, route, async (call) => {
    const token = await findToken(storage.read, storage.now, tokenIdOf(call));
    if (token === undefined) throw noSuchToken();
    if (token.state !== 'active' || token.replaced_by !== null) return inactiveView(token);
    return form(call, token);
  });

  addAction(site, route, async (call) => {
    const id = tokenIdOf(call);
    const kept = keepTimes.get(call.form.text('keep'));
    const token = await findToken(storage.read, storage.now, id);
    if (token === undefined) throw noSuchToken();
    const origin = serviceOrigin(call, site.publicUrl());
    if (kept === undefined) {
      return { ...form(call, token, 'Choose how long the old secret stays valid.'), status: 422 };
    }
    const rotation = await storage.commit('global', (db) =>
      rotateToken(db, storage.now, actorOf(call.c), { id, keepMs: kept.ms }),
    );
    switch (rotation.kind) {
      case 'unknown':
        throw noSuchToken();
      case 'over':
        return { ...inactiveView(rotation.token), status: 409 };
      case 'rotated': {
        const [workspace] = rotation.token.workspaces ?? (await workspaceIds(storage));
        const ends = kept.ms === 0 ? 'no longer valid' : html`valid until ${pointInTime(rotation.oldValidUntil)}`;
        const result = html`The token ${userText(rotation.token.name)} was rotated; the old secret is ${ends}.`;
        return createdTokenView({ ...rotation, result, origin, workspace, now: call.now });
      }
    }
  });
}

function form(call: PageCall, token: Token, problem?: string): View {
  const lifetime = lifetimeOf(token);
  const end =
    lifetime === null
      ? 'It does not expire.'
      : `It expires after ${formatSpan(lifetime.seconds)}, as this one did when it was created.`;
  const main = html`
    <p>A new token with a new secret takes over, with the same name, owner and rights. ${end} Locks stay with their owner.</p>
    ${warnings(call, token)}
    ${tokenFacts(token, call.now)}
    ${postForm({
      action: `/tokens/${token.id}/rotate`,
      values: filledIn({ keep: defaultKeep }),
      fields: [keepField],
      errors: { keep: problem },
      button: 'Rotate token',
      cancel: buttonLink('/tokens', 'Cancel'),
    })}`;
  return { title: `Rotate the token ${token.name}?`, main };
}

const keepField = group('keep', 'The old secret stays valid', (values, wrong) =>
  choices(values, {
    type: 'radio',
    name: 'keep',
    wrong,
    options: [...keepTimes].map(([value, { text, hint }]) => [value, text, hint]),
  }),
);

function warnings({ bearer, now }: PageCall, { id, expires_at }: Token) {
  return html`
    ${id === bearer.id ? html`<p class="warning">You are signed in with this token. <strong>Your session ends with the old secret.</strong> Copy the new one, and sign in with it.</p>` : ''}
    ${expires_at === null ? '' : html`<p>The old secret expires ${time(expires_at, now)} by itself, and is valid no longer than that.</p>`}`;
}

const inactiveView = (token: Token): View => ({
  title: `The token ${token.name} cannot be rotated`,
  main: html`<p>It ${endedText(token)}. Nothing was changed.</p>
    ${token.replaced_by === null ? '' : html`<p><a href="/tokens#${token.replaced_by}">The token that took over</a>: if you did not keep its secret, <a href="/tokens/${token.replaced_by}/rotate">rotate it</a>.</p>`}
    <p><a href="/tokens">All tokens</a></p>`,
});

const endedText = ({ state, replaced_by }: Token): string => {
  if (replaced_by !== null) return 'was already rotated';
  return state === 'revoked' ? 'was revoked' : 'has expired';
};
