import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import { foremostLocks } from '../../locks/list.ts';
import { type LockRow, lockOf } from '../../locks/lock-row.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import type { WorkspaceOverview } from '../../syncs/workspace-overview.ts';
import { shownUrl } from '../../webhooks/delivery-request.ts';
import { failingHooks, type HookOverview } from '../../webhooks/hook-overview.ts';
import { branchStatuses } from '../../workspaces/branch-state.ts';
import { plural } from '../assets/text.js';
import { hookState } from '../elements/hook.ts';
import { type Heading, htmlTable, link } from '../elements/list.ts';
import { pathLink } from '../elements/lock.ts';
import { listAddress } from '../elements/lock-list.ts';
import { addressText, countdown, literal, type Markup, time, userText } from '../elements/text.ts';
import type { PageCall, Site } from '../frame/page.ts';

/** The sections that the token may see. */
export async function overview(call: PageCall, site: Site, workspaces: readonly WorkspaceOverview[]): Promise<Markup> {
  const { scopes } = call.bearer;
  const [locks, failing] = await Promise.all([
    grants(scopes, 'locks:read') ? lockSections(call, site) : [],
    grants(scopes, 'hooks:write') ? failingSection(call, site) : '',
  ]);
  return html`<div class="overview">${locks}${failing}${behindSection(call, site, workspaces)}</div>`;
}

/** Items of all workspaces that need attention: the first few of each kind. */

const maxShown = 5;
const endingSoonMs = 60 * 60_000;

async function lockSections({ bearer, now }: PageCall, { storage }: Site): Promise<readonly Markup[]> {
  const [oldest, ending] = await Promise.all([
    foremostLocks(storage, bearer, { by: 'acquired_at', limit: maxShown }),
    foremostLocks(storage, bearer, { by: 'expires_at', within: endingSoonMs, limit: maxShown }),
  ]);
  const headings = (last: string) => ['Path', 'Workspace', 'Holder', last];
  return [
    section({
      id: 'held-longest',
      title: 'Held longest',
      headings: headings('Since'),
      rows: oldest.map((row) => lockRow(row, 'Since', time(asTimestamp(row.acquired_at), now))),
      empty: 'Nothing is locked.',
    }),
    section({
      id: 'ending-soon',
      title: 'Ending soon',
      headings: headings('Time left'),
      rows: ending.map((row) => lockRow(row, 'Time left', countdown(asTimestamp(row.expires_at), now))),
      empty: 'No lock ends within the next hour.',
    }),
  ];
}

const lockRow = (row: LockRow, name: string, when: Markup): Markup => {
  const { path, owner } = lockOf(row);
  const { workspace_id: workspace } = row;
  return html`<tr>
    <th scope="row">${pathLink(workspace, path)}</th>
    <td data-label="Workspace"><a href="${listAddress(workspace)}">${userText(workspace)}</a></td>
    <td data-label="Holder">${userText(owner)}</td>
    <td data-label="${name}" class="nowrap">${when}</td>
  </tr>`;
};

async function failingSection(call: PageCall, { storage }: Site): Promise<Markup> {
  const failing = await failingHooks(storage.read, call.bearer.workspaces, maxShown);
  return section({
    id: 'failing',
    title: 'Failing webhooks',
    headings: ['Address', 'Workspace', 'State'],
    rows: failing.map((hook) => failingRow(call, hook)),
    empty: 'No webhook is failing.',
  });
}

function failingRow({ now }: PageCall, hook: HookOverview & { readonly workspace: string }): Markup {
  const { workspace, id, last_error } = hook;
  return html`<tr>
    <th scope="row"><a href="/workspaces/${workspace}/hooks/${id}">${addressText(shownUrl(hook))}</a>${last_error === null ? '' : html`<p class="hint">${userText(last_error)}</p>`}</th>
    <td data-label="Workspace"><a href="/workspaces/${workspace}/hooks">${userText(workspace)}</a></td>
    <td data-label="State">${hookState(hook, now)}</td>
  </tr>`;
}

/** Lists only remotes that have answered. The page reloads this part when the others have. */
function behindSection({ now }: PageCall, { remoteMemory }: Site, workspaces: readonly WorkspaceOverview[]): Markup {
  const known = workspaces.map(({ id, stored, synced }) => ({ id, known: remoteMemory.known(stored), synced }));
  const behind = known
    .flatMap(({ id, known, synced }) => branchStatuses(known, synced).map((branch) => ({ workspace: id, ...branch })))
    .filter(({ state }) => state === 'behind')
    .sort((one, other) => (one.synced?.at ?? 0) - (other.synced?.at ?? 0));
  const unknown = known.filter(({ known: { listing } }) => listing === undefined).length;
  const others = behind.length - maxShown;
  return section({
    id: 'behind',
    title: 'Syncs behind',
    headings: ['Branch', 'Workspace', 'Last synced'],
    rows: behind.slice(0, maxShown).map(
      ({ workspace, name, synced }) => html`<tr>
        <th scope="row">${literal(name)}</th>
        <td data-label="Workspace">${link(`/workspaces/${workspace}/branches?show=behind`, workspace)}</td>
        <td data-label="Last synced">${synced === undefined ? '' : time(asTimestamp(synced.at), now)}</td>
      </tr>`,
    ),
    empty: unknown > 0 ? 'None known yet.' : 'Every synced branch is up to date.',
    more: [
      others > 0 ? `And ${plural(others, 'other branch', 'other branches')}.` : '',
      unknown > 0 ? `${plural(unknown, 'remote has', 'remotes have')} not answered yet.` : '',
    ]
      .join(' ')
      .trim(),
  });
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly rows: readonly Markup[];
  readonly empty: string;
  readonly more?: string;
}

const section = ({ id, title, headings, rows, empty, more = '' }: Section): Markup =>
  html`<section aria-labelledby="${id}" data-part="${id}">
    <h2 id="${id}">${title}</h2>
    ${rows.length === 0 ? html`<p class="faint">${empty}</p>` : htmlTable('cards clipped', headings, rows)}
    ${more === '' ? '' : html`<p class="hint">${more}</p>`}
  </section>`;
