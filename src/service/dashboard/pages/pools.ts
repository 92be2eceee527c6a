import { html } from 'hono/html';
import { withoutSecrets } from '../../../interface/resources.ts';
import { toLock } from '../../locks/find.ts';
import { countWaiting } from '../../locks/queue.ts';
import { findPools, type Seat, seatsOf } from '../../pools/pools.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { holderCell, mayLock, pathLink, urls, waitingLink } from '../elements/lock.ts';
import { empty, faint, htmlTable, liveState, type Markup, type Row, time, userText } from '../elements/markup.ts';
import { addWorkspacePage, type Site, type WorkspaceCall } from '../frame/page.ts';

export function addPoolsPage(site: Site): void {
  const { storage } = site;

  addWorkspacePage(site, '/pools', 'locks:read', async (call) => {
    const { id } = call.workspace;
    const pools = await seatsOf(storage.read, id, await findPools(storage.read, id), call.bearer);
    const held = pools.flatMap(({ seats }) => seats.flatMap(({ lock }) => lock ?? []));
    const waiting = await countWaiting(storage.read, held);
    const sections = pools.map(({ pool, seats }) => poolSection(call, pool.name, seats, waiting));
    const main = html`${liveState(call.now)}<div data-part="pools">${pools.length === 0 ? noPools : sections}</div>`;
    return { title: 'Pools', main };
  });
}

const noPools = empty(
  'This workspace has no pools.',
  html`A pool is a name for lock paths, such as license seats. A job locks one that is free. An operator adds one with <code>workspace-service pool add</code>.`,
);

type Waiting = ReadonlyMap<string, number>;

function poolSection(call: WorkspaceCall, name: string, seats: readonly Seat[], waiting: Waiting): Markup {
  const free = seats.filter(({ lock }) => lock === undefined).length;
  const rows = seats.map((seat) => seatRow(call, seat, waiting));
  return html`<section><h2>${userText(name)} <span class="faint">${free} of ${seats.length} free</span></h2>${htmlTable(rows)}</section>`;
}

function seatRow({ workspace: { id }, bearer, now }: WorkspaceCall, { item, lock }: Seat, waiting: Waiting): Row {
  const { path, properties, secret } = withoutSecrets(item);
  const texts = [
    ...Object.entries(properties).map((pair) => pair.join('=')),
    ...secret.map((name) => `${name} (secret)`),
  ];
  const name = pathLink(id, path);
  const cells = (item: Markup, holder: Markup, until: Markup | string): Row => [
    ['Item', item, 'head'],
    ['Properties', html`${texts.map((text) => html`${userText(text)}<br>`)}`],
    ['Holder', holder],
    ['Until', until],
  ];
  if (lock === undefined) {
    const lockIt = mayLock(bearer) ? html` <a href="${urls.newLock(id, path)}">Lock it</a>` : '';
    return cells(name, html`${faint('free')}${lockIt}`, '');
  }
  const line = waitingLink(id, path, waiting.get(lock.id) ?? 0, false);
  return cells(html`${name}${line}`, holderCell(toLock(lock)), time(asTimestamp(lock.expires_at), now));
}
