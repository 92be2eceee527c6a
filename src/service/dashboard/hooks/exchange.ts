import { html } from 'hono/html';
import type { LastAttempt } from '../../webhooks/delivery-list.ts';
import type { ReceiverAnswer } from '../../webhooks/receiver-answer.ts';
import type { ShownHeader, ShownRequest } from '../../webhooks/shown-request.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal } from '../elements/text.ts';
import { verbatim } from '../elements/verbatim.ts';

const hidden: Readonly<Record<Extract<ShownHeader, { hidden: string }>['hidden'], string>> = {
  secret: 'not shown',
  'of-each-attempt': 'the time of the attempt',
};

/** Names and values: the request's own and what a receiver has answered look alike. */
const headerLines = (headers: readonly (readonly [name: string, value: Markup])[]): Markup =>
  html`<dl class="facts headers">${headers.map(([name, value]) => html`<dt>${literal(name)}</dt><dd>${value}</dd>`)}</dl>`;

const headerValue = (header: ShownHeader): Markup =>
  'value' in header ? literal(header.value) : html`<span class="faint">${hidden[header.hidden]}</span>`;

export const requestSection = ({ method, url, headers, body, prettyBody }: ShownRequest): Markup => html`
  <p>${literal(`${method} ${url}`)}</p>
  ${headerLines(headers.map((header) => [header.name, headerValue(header)] as const))}
  ${verbatim(prettyBody)}
  <details><summary>The body exactly as it is sent</summary>${verbatim(body)}</details>`;

/** The status line, for all that is kept of an answer. */
const statusLine = ({ status }: ReceiverAnswer, { duration_ms }: LastAttempt): Markup =>
  html`<p>Status ${literal(String(status))}, after ${duration_ms.toLocaleString('en-US')} ms.</p>`;

function wholeAnswer({ headers, body, bodyIsCut }: Extract<ReceiverAnswer, { kept: 'whole' }>): Markup {
  const cut = bodyIsCut ? html`<p class="hint">The answer went on. Only how it begins is kept.</p>` : '';
  return html`${headerLines(Object.entries(headers).map(([name, value]) => [name, literal(value)] as const))}
    ${body === '' ? html`<p class="faint">${bodyIsCut ? 'Nothing of its body is kept.' : 'It had no body.'}</p>` : verbatim(body)}
    ${cut}`;
}

export function answerSection(attempt: LastAttempt | null, attempts: number, lastError: string | null): Markup {
  if (attempt === null) {
    return attempts === 0
      ? html`<p class="faint">No attempt was made yet.</p>`
      : html`<p class="faint">Of attempts by an earlier version of the service nothing is kept.</p>`;
  }
  const { answer } = attempt;
  if (answer === null) {
    return html`<p>There was none${lastError === null ? '.' : html`: ${given(lastError)}`}</p>`;
  }
  switch (answer.kept) {
    case 'status':
      return html`${statusLine(answer, attempt)}
        <p class="hint">Nothing else of it is kept: the receiver is inside a network that the operator of the service has allowed, and
          what is said there is not for everybody who can register webhooks.</p>`;
    case 'whole':
      return html`${statusLine(answer, attempt)}${wholeAnswer(answer)}`;
  }
}
