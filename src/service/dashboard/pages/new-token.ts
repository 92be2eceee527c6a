import { html } from 'hono/html';
import { parsePositiveDuration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { actorOf } from '../../access/caller.ts';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../contract/scopes.ts';
import { parseTokenName, parseTokenOwner, scopeLimitProblem, unknownWorkspaces } from '../../tokens/new-token.ts';
import { createToken, type Token } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { buttonLink, checkboxes, type FieldErrors, postForm, textInput } from '../elements/fields.ts';
import { faint, literal, literals, type Markup, time, userText } from '../elements/markup.ts';
import { allValues, textIn } from '../frame/form.ts';
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

  addPage(site, '/tokens/new', 'admin', async (call) => {
    const { preset } = queryOf(call, 'preset');
    const values = new URLSearchParams({ expires: '90d' });
    for (const scope of presets.get(preset)?.scopes ?? []) values.append('scope', scope);
    return tokenForm(values, {}, preset);
  });

  addAction(site, '/tokens', 'admin', async (call) => {
    const { form } = call;
    const read = allValues({
      name: parseTokenName(textIn(form, 'name')),
      owner: optional(textIn(form, 'owner'), undefined, parseTokenOwner),
      scope: readScopes(form.getAll('scope')),
      expires: optional(textIn(form, 'expires'), null, parsePositiveDuration),
      workspaces: optional(textIn(form, 'workspaces'), null, readWorkspaces),
    });
    if (!read.ok) return tokenForm(form, read.errors);
    const { scope, expires, ...values } = read.value;
    const limit = scopeLimitProblem(scope, values.workspaces);
    if (limit !== undefined) return tokenForm(form, { workspaces: `${limit} Leave it empty, or choose other scopes.` });
    const outcome = await storage.commit('global', async (db) => {
      const { unknown } = await unknownWorkspaces(db, values.workspaces ?? []);
      if (unknown.length > 0) return { unknown };
      return createToken(db, actorOf(call.c), { ...values, scopes: scope, lifetime: expires });
    });
    if ('unknown' in outcome) {
      return tokenForm(form, { workspaces: `There is no workspace ${outcome.unknown.join(', ')}.` });
    }
    return createdTokenView(call, outcome, html`The token ${userText(outcome.token.name)} was created.`);
  });
}

function tokenForm(values: URLSearchParams, errors: FieldErrors, preset = ''): View {
  const main = html`${presetLinks(preset)}${postForm({
    action: '/tokens',
    values,
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
    errors,
    button: 'Create token',
    more: buttonLink('/tokens', 'Cancel'),
  })}`;
  return { title: 'New token', main, status: Object.keys(errors).length === 0 ? 200 : 422 };
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

const optional = <Value, Default>(text: string, otherwise: Default, parse: (text: string) => Parsed<Value>) =>
  text === '' ? accepted<Value | Default>(otherwise) : parse(text);

function readWorkspaces(text: string): Parsed<readonly string[]> {
  const read = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(parseWorkspaceId);
  return read.find((id) => !id.ok) ?? accepted([...new Set(read.flatMap((id) => (id.ok ? [id.value] : [])))]);
}

function readScopes(texts: readonly string[]): Parsed<readonly Scope[]> {
  const chosen = [...new Set(texts.filter(isScope))];
  if (texts.some((text) => !isScope(text))) return refused('One of these scopes is unknown. Choose again.');
  return chosen.length === 0 ? refused('Choose at least one scope.') : accepted(chosen);
}

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
