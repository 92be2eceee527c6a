import { html } from 'hono/html';
import { parsePositiveDuration } from '../../../interface/duration.ts';
import { accepted, type Parse, type Parsed, refused } from '../../../interface/parsed.ts';
import { actorOf } from '../../access/caller.ts';
import { invalid, type Refusal } from '../../contract/response.ts';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../contract/scopes.ts';
import { parseTokenName, parseTokenOwner, scopeLimitProblem, unknownWorkspaces } from '../../tokens/new-token.ts';
import { createToken, type Token } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { buttonLink, checkboxes, postForm, textInput } from '../elements/fields.ts';
import { faint, literal, literals, type Markup, time, userText } from '../elements/markup.ts';
import { readFields } from '../frame/form.ts';
import type { PageCall, View } from '../frame/layout.ts';
import { addAction, addPage, queryOf, type Site } from '../frame/page.ts';

/** Scopes for common purposes, by the name in the URL. */
const presets: ReadonlyMap<string, { readonly title: string; readonly scopes: readonly Scope[] }> = new Map([
  ['artist', { title: 'Artist', scopes: ['locks:write', 'contents:read'] }],
  ['ci', { title: 'CI job', scopes: ['sync', 'locks:write'] }],
  ['read-only', { title: 'Read only', scopes: ['locks:read', 'contents:read'] }],
  ['metrics', { title: 'Metrics', scopes: ['locks:read'] }],
]);

export function addNewTokenPages(site: Site): void {
  const { storage } = site;

  addPage(site, '/tokens/new', 'admin', tokenForm);

  addAction(site, '/tokens', 'admin', tokenForm, async (call) => {
    const { form } = call;
    const { scope, expires, ...values } = readFields(form, {
      name: parseTokenName,
      owner: optional(parseTokenOwner, undefined),
      scope: readScopes,
      expires: optional(parsePositiveDuration, null),
      workspaces: optional(readWorkspaces, null),
    });
    const limit = scopeLimitProblem(scope, values.workspaces);
    if (limit !== undefined) throw wrongWorkspaces(`${limit} Leave it empty, or choose other scopes.`);
    const created = await storage.commit('global', async (db) => {
      const { unknown } = await unknownWorkspaces(db, values.workspaces ?? []);
      if (unknown.length > 0) throw wrongWorkspaces(`There is no workspace ${unknown.join(', ')}.`);
      return createToken(db, actorOf(call.c), { ...values, scopes: scope, lifetime: expires });
    });
    return createdTokenView(call, created, html`The token ${userText(created.token.name)} was created.`);
  });
}

const wrongWorkspaces = (detail: string): Refusal => invalid({ pointer: '#/workspaces', detail });

async function tokenForm(call: PageCall): Promise<View> {
  const { preset } = queryOf(call, 'preset');
  const defaults = new URLSearchParams({ expires: '90d' });
  for (const scope of presets.get(preset)?.scopes ?? []) defaults.append('scope', scope);
  const main = html`${presetLinks(preset)}${postForm({
    action: '/tokens',
    defaults,
    sent: call,
    fields: [
      textInput('name', 'Name', {
        hint: 'A name for the token, such as "dragon ci".',
        attributes: html` required`,
      }),
      textInput('owner', 'Owner', {
        hint: 'The owner of its locks; case-sensitive (default: the name of the token).',
      }),
      checkboxes(
        'scope',
        'Scopes',
        scopes.map((scope) => [scope, html`<code>${scope}</code>`, hintOf(scope)]),
      ),
      textInput('expires', 'Expires', {
        hint: 'How long the token is valid, such as 12h or 90d (default: no expiry).',
      }),
      textInput('workspaces', 'Workspaces', { hint: 'Their ids, such as game,film (default: all).' }),
    ],
    button: 'Create token',
    more: buttonLink('/tokens', 'Cancel'),
  })}`;
  return { title: 'New token', main };
}

const presetLinks = (current: string): Markup =>
  html`<nav class="row" aria-label="Presets">Preset: <ul>${[...presets].map(
    ([name, { title }]) =>
      html`<li><a href="/tokens/new?preset=${name}"${name === current ? html` aria-current="page"` : ''}>${title}</a></li>`,
  )}</ul></nav>`;

function hintOf(scope: Scope): Markup | string {
  const text = scopeMeanings[scope];
  const meaning = `${text[0]?.toUpperCase()}${text.slice(1)}.`;
  if (scope === 'admin') {
    return html`${meaning} <strong>It grants all permissions, including tokens for others.</strong> It is for
      people who run the service, not for workflows.`;
  }
  const implied = scopes.filter((other) => other !== scope && grants([scope], other));
  return implied.length === 0 ? meaning : html`${meaning} Includes ${implied.join(' and ')}.`;
}

const optional =
  <Value, Default>(parse: Parse<Value>, otherwise: Default): Parse<Value | Default> =>
  (text) =>
    text === '' ? accepted(otherwise) : parse(text);

function readWorkspaces(text: string): Parsed<readonly string[]> {
  const read = wordsIn(text).map(parseWorkspaceId);
  return read.find((id) => !id.ok) ?? accepted([...new Set(read.flatMap((id) => (id.ok ? [id.value] : [])))]);
}

function readScopes(text: string): Parsed<readonly Scope[]> {
  const chosen = wordsIn(text);
  if (!chosen.every(isScope)) return refused('One of these scopes is unknown. Choose again.');
  return chosen.length === 0 ? refused('Choose at least one scope.') : accepted([...new Set(chosen)]);
}

const wordsIn = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean);

interface CreatedToken {
  readonly token: Token;
  readonly secret: string;
}

/** The only page that ever shows the secret of the token. `result` is a sentence. */
export function createdTokenView(call: PageCall, { token, secret }: CreatedToken, result: Markup): View {
  const main = html`
    <p class="notice" role="status">${result} <strong>Copy its secret now: it is never shown again.</strong></p>
    <pre id="secret">${secret}</pre>
    ${tokenFacts(token, call.now)}
    <p><a href="/tokens">All tokens</a></p>`;
  return { title: 'Copy this token', main };
}

export const tokenFacts = (token: Token, now: number, more: Markup | string = ''): Markup =>
  html`<dl class="facts">
    <dt>Token</dt><dd>${userText(token.name)} <span class="faint">${literal(token.id)}</span></dd>
    <dt>Owner</dt><dd>${userText(token.owner)}</dd>
    <dt>Scopes</dt><dd>${scopeList(token)}</dd>
    <dt>Workspaces</dt><dd>${workspaceList(token)}</dd>
    <dt>Expires</dt><dd>${expiryText(token, now)}</dd>
    ${more}
  </dl>`;

export const scopeList = ({ scopes }: Token): Markup => (scopes.length === 0 ? faint('none') : literals(scopes));

export const workspaceList = ({ workspaces }: Token): Markup =>
  workspaces === null ? html`all` : literals(workspaces);

export const expiryText = ({ expires_at }: Token, now: number): Markup =>
  expires_at === null ? html`never` : time(expires_at, now);
