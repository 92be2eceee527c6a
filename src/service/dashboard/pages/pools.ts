import { html } from 'hono/html';
import { withoutSecrets } from '../../../interface/resources.ts';
import { toLock } from '../../locks/find.ts';
import type { QueuedRequest } from '../../locks/line.ts';
import { findPools, type Seat, type StoredPool, seatsOf } from '../../pools/pools.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { holderCell, lockCells, mayLock, newLockUrl, pathLink } from '../elements/lock.ts';
import { empty, faint, liveState, type Markup, time, userText } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, type Site } from '../frame/page.ts';

export const poolsUrl = (workspace: string): string => `/workspaces/${workspace}/pools`;

export function addPoolsPage(site: Site): void {
  const { storage, locks } = site;

  addWorkspacePage(site, { path: '/pools', access: 'locks:read' }, async (call) => {
    const workspace = call.workspace.id;
    const [pools, queue] = await Promise.all([findPools(storage.read, { workspace }), locks.queue({ workspace })]);
    const lines = Map.groupBy(queue, ({ path }) => path);
    const sections = pools.map(async (pool) => poolSection(call, pool, await seatsOf(locks, pool, call.bearer), lines));
    const main =
      pools.length === 0
        ? noPools
        : html`${liveState(call.now)}<div data-part="pools">${await Promise.all(sections)}</div>`;
    return { title: 'Pools', main };
  });
}

const noPools = empty(
  'This workspace has no pools.',
  html`A pool is a name for lock paths, such as license seats. A job locks one that is free. An operator adds one with <code>workspace-service pool add</code>.`,
);

type Lines = ReadonlyMap<string, readonly QueuedRequest[]>;

function poolSection(call: PageCall, { name, workspace }: StoredPool, seats: readonly Seat[], lines: Lines): Markup {
  const free = seats.filter(({ lock }) => lock === undefined).length;
  const rows = seats.map((seat) => seatRow(call, workspace, seat, lines.get(seat.item.path) ?? []));
  return html`<section><h2>${userText(name)} <span class="faint">${free} of ${seats.length} free</span></h2>${htmlTable(rows)}</section>`;
}

function seatRow({ bearer, now }: PageCall, workspace: string, seat: Seat, line: readonly QueuedRequest[]): Row {
  const { path, properties, secret } = withoutSecrets(seat.item);
  const texts = [
    ...Object.entries(properties).map((pair) => pair.join('=')),
    ...secret.map((name) => `${name} (secret)`),
  ];
  const lockIt = mayLock(bearer) ? html`<a href="${newLockUrl(workspace, path)}">Lock it</a>` : '';
  const lock = seat.lock && toLock(seat.lock);
  return [
    ['Item', pathLink(workspace, path), 'head'],
    ['Properties', html`${texts.map((text) => html`${userText(text)}<br>`)}`],
    ['Holder', lock === undefined ? html`${faint('free')} ${lockIt}` : holderCell(lock)],
    ...(lock === undefined
      ? (['Since', 'Time left'] as const).map((name) => [name, ''] as const)
      : lockCells(lock, now)),
    ['Waiting', waitingText(line, now)],
  ];
}

/** The page of the path has all of them. */
const maxShown = 3;

const waitingText = (line: readonly QueuedRequest[], now: number): Markup =>
  line.length === 0
    ? faint('nobody')
    : html`${line
        .slice(0, maxShown)
        .map(({ owner, since }) => html`${userText(owner)} <span class="faint">${time(since, now)}</span><br>`)}${
        line.length > maxShown ? faint(`and ${line.length - maxShown} more`) : ''
      }`;
