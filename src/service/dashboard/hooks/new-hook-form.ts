import { html } from 'hono/html';
import { type HookFormat, hookEvents, hookFormats } from '../../../interface/resources.ts';
import { newFormId } from '../access/form-id.ts';
import { choice, group, marked, problemBeside, problemId } from '../elements/fields.ts';
import type { Markup } from '../elements/markup.ts';
import { formField, type View } from '../layout.ts';
import type { PageCall } from '../page.ts';
import { type Field, fields, type Problems, type Typed } from './read-new-hook.ts';
import { eventMeanings, formatNames } from './words.ts';

const titles: Readonly<Record<Field, string>> = {
  url: 'Address',
  events: 'Events',
  branches: 'Branches',
  format: 'Format',
  secret: 'Secret',
  headers: 'Extra headers',
};

const formatMeanings: Readonly<Record<HookFormat, Markup | string>> = {
  standard: 'JSON with what happened, signed by the Standard Webhooks specification. For programs of your own.',
  github: html`Starts workflows of a GitHub repository that run on <code>repository_dispatch</code>. The address is
    <code>https://api.github.com/repos/OWNER/REPO/dispatches</code>; a header <code>Authorization: Bearer …</code> has a
    token of GitHub.`,
  buildkite: html`Creates a build of the branch. The address is
    <code>https://api.buildkite.com/v2/organizations/ORG/pipelines/PIPELINE/builds</code>; a header
    <code>Authorization: Bearer …</code> has a token of Buildkite. For syncs only.`,
};

/** What a control of its own is described by, and whether it is wrong. */
const described = (field: Field, problems: Problems): Markup =>
  html`aria-describedby="${field}-hint${problems[field] === undefined ? '' : ` ${problemId(field)}`}"${marked(problems[field] !== undefined)}`;

interface Control {
  readonly field: Field;
  readonly problems: Problems;
  readonly control: Markup;
  readonly hint: Markup | string;
}

const field = ({ field: name, problems, control, hint }: Control): Markup => html`<div class="field">
    <label for="${name}">${titles[name]}</label>
    ${control}
    ${problemBeside(name, problems[name])}
    <p class="hint" id="${name}-hint">${hint}</p>
  </div>`;

const groupOf = (name: Field, problems: Problems, content: readonly Markup[]): Markup =>
  group({ id: name, title: titles[name], problem: problems[name], content });

const eventChoices = (typed: Typed, wrong: boolean): readonly Markup[] =>
  hookEvents.map((event, index) =>
    choice({
      type: 'checkbox',
      name: 'event',
      value: event,
      checked: typed.events.includes(event),
      label: html`<code>${event}</code>`,
      hint: eventMeanings[event],
      wrong: wrong && index === 0,
    }),
  );

const formatChoices = (typed: Typed): readonly Markup[] =>
  hookFormats.map((format) =>
    choice({
      type: 'radio',
      name: 'format',
      value: format,
      checked: typed.format === format,
      label: formatNames[format],
      hint: formatMeanings[format],
    }),
  );

/** The address as it was typed, but for a password in it, which is one of the mistakes. */
function shownAgain(url: string): string {
  const parsed = URL.parse(url.trim());
  if (parsed === null || (parsed.username === '' && parsed.password === '')) return url;
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

/** Their names, to which the values have to be given anew. */
const namesOf = (headers: string): string =>
  headers
    .split('\n')
    .map((line) => (line.includes(':') ? `${line.slice(0, line.indexOf(':'))}: ` : ''))
    .filter((line) => line !== '')
    .join('\n');

function summary(problems: Problems, { secret, headers }: Typed): Markup | string {
  const wrong = fields.filter((name) => problems[name] !== undefined);
  if (wrong.length === 0) return '';
  const links = wrong.map((name, index) => html`${index === 0 ? '' : ', '}<a href="#${name}">${titles[name]}</a>`);
  const lost = secret === '' && headers === '' ? '' : ' The secret and the values of headers have to be given again.';
  return html`<p class="warning" role="alert">No webhook was registered. Look at ${links}.${lost}</p>`;
}

export function newHookForm(call: PageCall, workspace: string, typed: Typed, problems: Problems): View {
  const list = `/workspaces/${workspace}/hooks`;
  const main = html`${summary(problems, typed)}
    <form method="post" action="${list}" class="narrow" novalidate>
      ${formField(call)}
      <input type="hidden" name="form_id" value="${newFormId(call)}">
      ${field({
        field: 'url',
        problems,
        control: html`<input type="url" id="url" name="url" value="${shownAgain(typed.url)}" required autocomplete="off" spellcheck="false" ${described('url', problems)}>`,
        hint: html`Where deliveries are sent, such as <code>https://ci.example.com/hooks/workspace</code>. An address that this
          workspace has already is not registered twice: what you give here replaces what it had.`,
      })}
      ${groupOf('events', problems, eventChoices(typed, problems.events !== undefined))}
      ${field({
        field: 'branches',
        problems,
        control: html`<textarea id="branches" name="branches" rows="2" spellcheck="false" autocapitalize="none" ${described('branches', problems)}>
${typed.branches}</textarea>`,
        hint: 'One a line; of all branches when empty. For syncs only: locks have no branch.',
      })}
      ${groupOf('format', problems, formatChoices(typed))}
      ${field({
        field: 'headers',
        problems,
        control: html`<textarea id="headers" name="headers" rows="2" spellcheck="false" autocapitalize="none" autocomplete="off" ${described('headers', problems)}>
${namesOf(typed.headers)}</textarea>`,
        hint: html`Sent with every delivery, such as <code>Authorization: Bearer …</code>, one a line. Their values are never shown again.`,
      })}
      ${field({
        field: 'secret',
        problems,
        control: html`<input type="password" id="secret" name="secret" autocomplete="off" spellcheck="false" ${described('secret', problems)}>`,
        hint: html`Signs deliveries: <code>whsec_</code> and base64 of 24 to 64 random bytes. When empty, a new webhook gets one, which is
          shown once, and one that is replaced keeps its own.`,
      })}
      <div class="actions"><button class="primary">Register the webhook</button> <a class="button" href="${list}">Cancel</a></div>
    </form>`;
  const place = { section: 'workspaces', workspace, tab: 'hooks' } as const;
  return { title: 'Add a webhook', place, main };
}
