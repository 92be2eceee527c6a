import { makeSignInLink } from '../../sessions/sessions.ts';
import { publicUrl } from '../serve/settings.ts';
import { defaultOrigin, signInLines, signInUrl } from '../serve/urls.ts';
import { defineStorageCommand } from '../storage/storage-command.ts';

export const signIn = defineStorageCommand({
  name: 'sign-in',
  summary: 'print a one-time link that signs you in to the dashboard as an administrator',
  flags: { publicUrl },
  example: '--public-url https://assets.example.com',
  mayBeNew: 'in-folder',
  async run({ flags }, storage) {
    const link = signInUrl(flags.publicUrl ?? defaultOrigin, await makeSignInLink(storage));
    const unknown = `This link assumes that the service runs at ${defaultOrigin}. Set --public-url if it has another URL.`;
    return {
      document: { sign_in_link: link },
      lines: [...signInLines(link), ...(flags.publicUrl === undefined ? ['', unknown] : [])],
    };
  },
});
