import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { type HookFormat, hookEvents, hookFormats } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import { Refusal } from '../../contract/problem.ts';
import { parseRequestPart } from '../../contract/validate.ts';
import { parseTarget } from '../../outbound/target.ts';
import type { HookRow } from '../../outbox/hook-row.ts';
import { shownUrl } from '../../webhooks/delivery-request.ts';
import { type HookRequest, hookRequestSchema } from '../../webhooks/registration.ts';
import { choices, field, group, problemSummary } from '../elements/fields.ts';
import { eventMeanings, formatNames } from '../elements/hook.ts';
import { addressText, type Markup } from '../elements/text.ts';
import { type Form, formField, newFormId } from '../frame/form.ts';
import { inWorkspace, type View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';

/** The form as typed and chosen. */
export interface Typed {
  readonly url: string;
  readonly events: readonly string[];
  /** One a line. */
  readonly branches: string;
  readonly format: string;
  readonly secret: string;
  /** `name: value`, one a line. */
  readonly headers: string;
}

export const untouched: Typed = {
  url: '',
  events: ['sync.succeeded'],
  branches: '',
  format: 'standard',
  secret: '',
  headers: '',
};

const titles = {
  url: 'Address',
  events: 'Events',
  branches: 'Branches',
  format: 'Format',
  headers: 'Extra headers',
  secret: 'Secret',
} as const;

type Field = keyof typeof titles;

/** A sentence for each wrong field. */
export type Problems = Partial<Readonly<Record<Field, string>>>;

/** For a new webhook, or for an existing one, which keeps its URL. */
export function newHookForm(
  call: PageCall,
  workspace: string,
  typed: Typed,
  problems: Problems,
  edited?: Pick<HookRow, 'id' | 'url' | 'format'>,
): View {
  const list = `/workspaces/${workspace}/hooks`;
  const page = edited === undefined ? list : `${list}/${edited.id}`;
  const isNew = edited === undefined;
  const labelled = (id: Field, hint: Markup | string, control: (aria: Markup) => Markup) =>
    field({ id, title: titles[id], problem: problems[id], hint, control });
  const grouped = (id: Field, content: Markup) => group({ id, title: titles[id], problem: problems[id], content });
  const addressField = labelled(
    'url',
    html`Where deliveries are sent, such as <code>https://ci.example.com/hooks/workspace</code>. If this
          workspace already has the address, what you enter here replaces its settings.`,
    (aria) =>
      html`<input type="url" id="url" name="url" value="${shownAgain(typed.url)}" required autocomplete="off" spellcheck="false"${aria}>`,
  );
  const main = html`${problemSummary(isNew ? 'No webhook was registered.' : 'Nothing was changed.', titles, problems, whatToRepeat(typed))}
    <form method="post" action="${isNew ? list : `${page}/edit`}" class="narrow" novalidate>
      ${formField(call)}
      <input type="hidden" name="form_id" value="${newFormId(call)}">
      ${
        edited === undefined
          ? addressField
          : html`<p id="url">Deliveries go to ${addressText(shownUrl(edited))}. To send them elsewhere, add another webhook.</p>`
      }
      ${grouped('events', eventChoices(typed.events, problems.events !== undefined, grants(call.bearer.scopes, 'admin')))}
      ${labelled(
        'branches',
        'One per line, or empty for all branches. For syncs only: locks have no branch.',
        (aria) => html`<textarea id="branches" name="branches" rows="2" spellcheck="false" autocapitalize="none"${aria}>
${typed.branches}</textarea>`,
      )}
      ${grouped('format', formatChoices(typed.format))}
      ${labelled(
        'headers',
        html`Sent with every delivery, such as <code>Authorization: Bearer …</code>, one per line. Values are never shown again${isNew ? '' : ': leave one empty to keep it'}.`,
        (
          aria,
        ) => html`<textarea id="headers" name="headers" rows="2" spellcheck="false" autocapitalize="none" autocomplete="off"${aria}>
${namesOf(typed.headers)}</textarea>`,
      )}
      ${labelled(
        'secret',
        html`Signs deliveries: <code>whsec_</code> and base64 of 24 to 64 random bytes. ${
          isNew
            ? 'If empty, a new webhook gets one, shown once, and an existing webhook keeps its own.'
            : 'If empty, it keeps its own.'
        }`,
        (aria) => html`<input type="password" id="secret" name="secret" autocomplete="off" spellcheck="false"${aria}>`,
      )}
      <div class="actions"><button class="primary">${isNew ? 'Register webhook' : 'Save'}</button> <a class="button" href="${page}">Cancel</a></div>
    </form>`;
  return { title: isNew ? 'Add a webhook' : 'Edit this webhook', location: inWorkspace(workspace, 'hooks'), main };
}

export const typedIn = (form: Form): Typed => ({
  url: form.text('url'),
  events: form.all('event'),
  branches: form.text('branches'),
  format: form.text('format'),
  secret: form.text('secret'),
  headers: form.text('headers'),
});

export type Reading =
  | { readonly kind: 'request'; readonly request: HookRequest }
  | { readonly kind: 'wrong'; readonly problems: Problems };

/** By the schema of the API. Reports all mistakes at once. */
export function readNewHook(typed: Typed): Reading {
  const headers = readHeaders(typed.headers);
  const target = parseTarget(typed.url);
  const reading = bySchema(asProgramsSendIt(typed, headers));
  const problems: Problems = {
    ...(!target.ok && { url: target.reason }),
    ...(!headers.ok && { headers: headers.reason }),
    ...(reading.kind === 'wrong' && reading.problems),
    // The API's sentence is about an optional field.
    ...(typed.events.length === 0 && { events: 'Choose at least one event.' }),
  };
  return Object.keys(problems).length === 0 ? reading : { kind: 'wrong', problems };
}

const eventChoices = (chosen: readonly string[], wrong: boolean, admin: boolean): Markup =>
  choices({
    type: 'checkbox',
    name: 'event',
    chosen,
    wrong,
    options: hookEvents
      .filter((event) => admin || event !== 'audit.recorded')
      .map((event) => [event, html`<code>${event}</code>`, eventMeanings[event]]),
  });

const formatMeanings: Readonly<Record<HookFormat, Markup | string>> = {
  standard: 'JSON with the event, signed as Standard Webhooks specifies. For your own programs.',
  github: html`Starts workflows of a GitHub repository that run on <code>repository_dispatch</code>. The address is
    ${addressText('https://api.github.com/repos/OWNER/REPO/dispatches')}, with a
    GitHub token in the header <code>Authorization: Bearer …</code>.`,
  buildkite: html`Creates a build of the branch. The address is
    ${addressText('https://api.buildkite.com/v2/organizations/ORG/pipelines/PIPELINE/builds')}, with a
    Buildkite token in the header <code>Authorization: Bearer …</code>. For syncs only.`,
  slack: 'Posts a sentence to a channel. The address is that of a Slack incoming webhook.',
  discord: 'Posts a sentence to a channel. The address is that of a Discord webhook.',
  teams:
    'Posts a sentence to a channel or chat. The address is that of a Teams workflow that posts when it receives a webhook request.',
};

const formatChoices = (chosen: string): Markup =>
  choices({
    type: 'radio',
    name: 'format',
    chosen: [chosen],
    options: hookFormats.map((format) => [format, formatNames[format], formatMeanings[format]]),
  });

/** The address as typed, without a password, which is one of the mistakes. */
function shownAgain(url: string): string {
  const parsed = URL.parse(url.trim());
  if (parsed === null || (parsed.username === '' && parsed.password === '')) return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

/** Their names; the values must be entered again. */
const namesOf = (headers: string): string =>
  headers
    .split('\n')
    .map((line) => (line.includes(':') ? `${line.slice(0, line.indexOf(':'))}: ` : ''))
    .filter((line) => line !== '')
    .join('\n');

const whatToRepeat = ({ secret, headers }: Typed): string =>
  secret === '' && headers === '' ? '' : 'Enter the secret and the values of headers again.';

/** The same name in another case is found later, by the schema. */
function readHeaders(text: string): Parsed<Readonly<Record<string, string>>> {
  const headers = new Map<string, string>();
  for (const [index, line] of linesOf(text).entries()) {
    const colon = line.indexOf(':');
    if (colon === -1) {
      return refused(`Header ${index + 1} has no colon. Write one "name: value" per line.`);
    }
    const name = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).replace(/^ +/, '');
    if (headers.has(name)) return refused(`Header ${index + 1} has the same name as an earlier one.`);
    headers.set(name, value);
  }
  return accepted(Object.fromEntries(headers));
}

const asProgramsSendIt = (typed: Typed, headers: Parsed<Readonly<Record<string, string>>>): unknown => {
  const branches = linesOf(typed.branches).map((line) => line.trim());
  return {
    url: typed.url,
    events: [...new Set(typed.events)],
    branches: branches.length === 0 ? null : branches,
    format: typed.format,
    ...(typed.secret !== '' && { secret: typed.secret }),
    ...(headers.ok && { headers: headers.value }),
  };
};

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

function bySchema(body: unknown): Reading {
  try {
    return { kind: 'request', request: parseRequestPart(hookRequestSchema, () => body) };
  } catch (error) {
    return { kind: 'wrong', problems: problemsIn(error) };
  }
}

/** The errors of the API, by field of the form. Throws on what has no field. */
export function problemsIn(error: unknown): Problems {
  const errors = error instanceof Refusal ? (error.extras.errors ?? []) : [];
  const problems = new Map<string, string>();
  for (const { pointer, detail } of errors) {
    const [, name = '', index] = pointer.split('/');
    if (!Object.hasOwn(titles, name)) throw error;
    const which = name === 'branches' && index !== undefined ? `Branch ${Number(index) + 1}: ` : '';
    if (!problems.has(name)) problems.set(name, which + detail);
  }
  if (problems.size === 0) throw error;
  return Object.fromEntries(problems);
}
