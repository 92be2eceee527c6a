import { html } from 'hono/html';
import { hostOrigin } from '../../http/request-target.ts';
import { lfsClientSettings, lfsWays } from '../../lfs/client-settings.ts';
import { copyable, type Markup } from '../elements/text.ts';
import { addWorkspacePage, type Site } from '../frame/page.ts';

export const gitLfsUrl = (workspace: string): string => `/workspaces/${workspace}/git-lfs`;

const placeholder = 'https://URL-OF-THE-SERVICE';

const unknownUrl = html`<p class="warning">The service has no public URL. Start it with <code>--public-url</code>, or
  write the URL in place of <code>${placeholder}</code>.</p>`;

/** The same settings as the output of `workspace lfs`, for people without access to the command line. */
export function addGitLfsPage(site: Site): void {
  addWorkspacePage(site, { path: '/git-lfs', access: 'locks:read' }, async (call) => {
    const origin = site.publicUrl() ?? hostOrigin(call.c.env.incoming);
    const { committed, perClone, forRemote } = lfsClientSettings(origin ?? placeholder, call.workspace.id);
    const main = html`${origin === undefined ? unknownUrl : ''}
      <p>Choose how clones find the service. Then everyone locks with <code>git lfs lock PATH</code>. When git asks for a user name
        and a password, any user name will do, and the password is the token.</p>
      ${way('per-clone', 'For one clone', `Run this in the clone. ${lfsWays.perClone}`, perClone.join('\n'))}
      ${way('committed', 'For every clone', `Commit this as .lfsconfig. ${lfsWays.committed}`, committed)}
      ${way('for-remote', 'For locks alone', `Commit this as .lfsconfig. ${lfsWays.forRemote}`, forRemote)}`;
    return { title: 'Git LFS setup', main };
  });
}

const way = (id: string, title: string, meaning: string, text: string): Markup => html`<h2>${title}</h2>
  <p>${meaning}</p>
  ${copyable(id, 'the settings', html`<pre id="${id}">${text}</pre>`)}`;
